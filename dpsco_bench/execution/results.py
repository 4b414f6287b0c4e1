"""The result table: one schema, written atomically."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
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
CERTIFIED = "minimiser certified"
"""How a row's warning begins that says how exact a minimiser is."""
FINAL = -1
"""Value of ``checkpoint`` for the final output."""


def build_block(columns: Mapping[str, Any]) -> pa.Table:
    """Rows in schema order from columns: arrays of equal length, or one value for all rows."""
    length = next(len(value) for value in columns.values() if isinstance(value, np.ndarray))
    arrays = [
        pa.array(columns[name], type=kind)
        if isinstance(columns[name], np.ndarray)
        else pa.repeat(pa.scalar(columns[name], type=kind), length)
        for name, kind in RESULT_FIELDS
    ]
    return pa.table(arrays, schema=RESULT_SCHEMA)


def join_blocks(blocks: Sequence[pa.Table], metadata: Mapping[str, Any]) -> pa.Table:
    """Blocks one after the other, with JSON metadata under ``dpsco.<key>``."""
    joined = pa.concat_tables(blocks).combine_chunks() if blocks else RESULT_SCHEMA.empty_table()
    return _with_metadata(joined, metadata)


def _with_metadata(table: pa.Table, metadata: Mapping[str, Any]) -> pa.Table:
    entries = {f"dpsco.{key}": dumps_canonical(value) for key, value in metadata.items()}
    entries["dpsco.schema"] = SCHEMA_VERSION
    return table.replace_schema_metadata(entries)


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
    return table, _decoded(table.schema)


def read_metadata(path: Path) -> dict[str, Any]:
    """The decoded ``dpsco.*`` metadata of a result table."""
    return _decoded(pq.read_schema(path))


def _decoded(schema: pa.Schema) -> dict[str, Any]:
    raw = schema.metadata or {}
    metadata = {k.decode()[6:]: v.decode() for k, v in raw.items() if k.startswith(b"dpsco.")}
    return {k: v if k == "schema" else loads(v) for k, v in metadata.items()}
