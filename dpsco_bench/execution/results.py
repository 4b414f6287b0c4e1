"""The result table: one schema, written atomically."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dpsco_bench.errors import InputError
from dpsco_bench.jsonio import dumps_canonical, loads

SCHEMA_VERSION = "1"

_TEXT = pa.string()
RESULT_FIELDS: tuple[tuple[str, pa.DataType], ...] = (
    ("claim", _TEXT),
    ("part", _TEXT),
    ("calibration", _TEXT),
    ("cell", pa.int32()),
    ("method", _TEXT),
    ("algorithm", _TEXT),
    ("variant", _TEXT),
    ("problem", _TEXT),
    ("n", pa.int64()),
    ("d", pa.int32()),
    ("parameter", _TEXT),
    ("value", pa.float64()),
    ("data_set", pa.int32()),
    ("replicate", pa.int32()),
    ("checkpoint", pa.int32()),
    ("gradient_evaluations", pa.float64()),
    ("planned_evaluations", pa.float64()),
    ("risk", pa.float64()),
    ("start_risk", pa.float64()),
    ("epsilon_claimed", pa.float64()),
    ("delta", pa.float64()),
    ("epsilon_real", pa.float64()),
    ("epsilon_real_kind", _TEXT),
    ("privacy_status", _TEXT),
    ("accountant", _TEXT),
    ("delta_large", pa.bool_()),
    ("warnings", _TEXT),
)
RESULT_SCHEMA = pa.schema(list(RESULT_FIELDS))
FINAL = -1
"""Value of ``checkpoint`` for the final output."""


def build_table(rows: Sequence[Mapping[str, Any]], metadata: Mapping[str, Any]) -> pa.Table:
    """Assemble rows in schema order with JSON metadata under ``dpsco.<key>``."""
    columns = {name: [row[name] for row in rows] for name, _ in RESULT_FIELDS}
    entries = {f"dpsco.{key}": dumps_canonical(value) for key, value in metadata.items()}
    entries["dpsco.schema"] = SCHEMA_VERSION
    return pa.table(columns, schema=RESULT_SCHEMA).replace_schema_metadata(entries)


def check_writable(key: str, path: Path) -> None:
    """Refuse a place where no table can be written, before anything is run.

    Raises
    ------
    InputError
        Under the name ``key``.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        free = os.access(path.parent, os.W_OK) and not path.is_dir()
    except OSError:
        free = False
    if not free:
        raise InputError(key, str(path), "a file in a folder that can be written")


def write_table(table: pa.Table, path: Path) -> None:
    """Write Parquet under a temporary name, then rename: a killed job leaves no partial result."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        pq.write_table(table, temporary, compression="zstd")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read_table(path: Path) -> tuple[pa.Table, dict[str, Any]]:
    """Read a result table and its decoded ``dpsco.*`` metadata."""
    table = pq.read_table(path)
    raw = table.schema.metadata or {}
    metadata = {k.decode()[6:]: v.decode() for k, v in raw.items() if k.startswith(b"dpsco.")}
    return table, {k: v if k == "schema" else loads(v) for k, v in metadata.items()}
