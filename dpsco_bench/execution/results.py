"""The result table, with one schema and written atomically."""

from __future__ import annotations

import io
import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dpsco_bench.errors import InputError
from dpsco_bench.jsonio import dumps_canonical, loads, write_atomic
from dpsco_bench.plain import Plain

SCHEMA_VERSION = "3"
Columns = Mapping[str, Any]
"""Columns of some rows by name: arrays, or one value for all of them."""

_TEXT = pa.string()
RESULT_FIELDS: tuple[tuple[str, pa.DataType], ...] = tuple(
    (name, kind)
    for kind, names in (
        (_TEXT, "claim part calibration"),
        (pa.int32(), "cell"),
        (_TEXT, "method algorithm variant problem"),
        (pa.int64(), "n"),
        (pa.int32(), "d"),
        (_TEXT, "parameter"),
        (pa.float64(), "value"),
        (pa.int32(), "data_set replicate checkpoint"),
        (pa.float64(), "gradient_evaluations planned_evaluations risk start_risk epsilon_claimed delta epsilon_real"),
        (_TEXT, "epsilon_real_kind epsilon_of"),
        (pa.float64(), "epsilon_output"),
        (_TEXT, "epsilon_output_kind"),
        (pa.float64(), "epsilon_sequence"),
        (_TEXT, "epsilon_sequence_kind privacy_status accountant"),
        (pa.bool_(), "delta_large"),
        (_TEXT, "warnings"),
        (pa.float64(), "epsilon_law tau"),
        (_TEXT, "sampler_status"),
    )
    for name in names.split()
)
"""Columns and their types, in the order of the table."""
NAMES = ("claim", "part")
"""Columns that say whose numbers these are."""
EXTRAS = "extras"
"""Column of what a run noted beside its risk: numbers by name, for final outputs only; empty for most algorithms."""
RESULT_SCHEMA = pa.schema([*RESULT_FIELDS, (EXTRAS, pa.map_(_TEXT, pa.float64()))])
NO_LAW = {"epsilon_law": None, "tau": None, "sampler_status": ""}
"""Columns of rows whose output is no draw of a sampler."""
CERTIFIED = "minimiser certified"
"""How a row's warning begins that says how exact a minimiser is."""
ROUNDED = f"{CERTIFIED} to rounding only, which is coarser than the accuracy alpha of the schedule"
"""Warning of a row whose minimiser is less exact than its plan says."""
DEMOTED = "target_law_only"
"""Privacy status of a draw whose law is not the one that was proven."""
FINAL = -1
"""Value of ``checkpoint`` for the final output."""


def build_block(columns: Columns) -> pa.Table:
    """Rows in schema order from columns: arrays of equal length, or one value for all rows.

    ``extras`` is a mapping of names to arrays of that length, and may be left out; a NaN there means none for the row.
    """
    length = next(len(value) for value in columns.values() if isinstance(value, np.ndarray))
    columns = {**NO_LAW, **columns}
    arrays = [
        pa.array(columns[name], type=kind)
        if isinstance(columns[name], np.ndarray)
        else pa.repeat(pa.scalar(columns[name], type=kind), length)
        for name, kind in RESULT_FIELDS
    ]
    return pa.table([*arrays, _extras(columns.get(EXTRAS, {}), length)], schema=RESULT_SCHEMA)


def _extras(noted: Mapping[str, np.ndarray], length: int) -> pa.Array:
    """Make a map per row, names in alphabetical order."""
    names = sorted(noted)
    values = np.array([noted[name] for name in names], dtype=np.float64).reshape(len(names), length).T
    known = ~np.isnan(values)
    offsets = pa.array(np.concatenate([[0], np.cumsum(known.sum(axis=1))]), type=pa.int32())
    keys = np.tile(np.array(names, dtype=object), (length, 1))[known]
    return pa.MapArray.from_arrays(offsets, pa.array(keys, type=_TEXT), pa.array(values[known]))


def read_extras(table: pa.Table) -> dict[str, np.ndarray]:
    """Read what the rows of a result table noted.

    Returns a dict name -> array ``(rows,)``, NaN where a row has none.
    """
    maps = table[EXTRAS].combine_chunks()
    offsets = np.asarray(maps.offsets)
    row = np.repeat(np.arange(len(maps)), np.diff(offsets))
    noted = slice(offsets[0], offsets[-1]) if len(maps) else slice(0, 0)
    keys, numbers = maps.keys[noted].dictionary_encode(), np.asarray(maps.items[noted], dtype=np.float64)
    found = {}
    for code, name in enumerate(keys.dictionary.to_pylist()):
        here = np.asarray(keys.indices) == code
        found[name] = np.full(len(maps), math.nan)
        found[name][row[here]] = numbers[here]
    return found


def join_blocks(blocks: Sequence[pa.Table], metadata: Plain) -> pa.Table:
    """Blocks one after the other, with JSON metadata under ``dpsco.<key>``."""
    joined = pa.concat_tables(blocks).combine_chunks() if blocks else RESULT_SCHEMA.empty_table()
    entries = {f"dpsco.{key}": dumps_canonical(value) for key, value in metadata.items()}
    return joined.replace_schema_metadata({**entries, "dpsco.schema": SCHEMA_VERSION})


def check_writable(key: str, path: Path) -> None:
    """Refuse a place where no table can be written, before anything is run, as InputError under ``key``."""
    check_replaceable(key, path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):  # what permissions say of /proc, or to root, is not what happens
            pass
    except OSError:
        raise InputError(key, str(path), "a file in a folder that can be written") from None


def check_replaceable(key: str, path: Path) -> None:
    """Refuse a place that is taken by anything but an earlier result table, as InputError under ``key``."""
    if not os.path.lexists(path):
        return
    found = "no file" if path.is_symlink() or not path.is_file() else "another file"
    with suppress(pa.ArrowException, OSError, ValueError):
        if found == "another file" and {"schema", "job"} <= set(read_metadata(path)):
            return
    raise InputError(key, str(path), f"the path of a new file, or of a result table to replace; this is {found}")


def table_bytes(table: pa.Table) -> bytes:
    """Write a table as Parquet; the same rows and metadata give the same bytes."""
    from pyarrow import parquet as pq  # most verbs read no table

    stream = io.BytesIO()
    pq.write_table(table, stream, compression="zstd")
    return stream.getvalue()


def parquet_table(source: Path | bytes) -> pa.Table:
    """Read the table of a Parquet file, or of the bytes of one, on this thread.

    Arrow's own readers of files start threads; a process that ends at once after one may abort (its issue 34314).
    """
    from pyarrow import parquet as pq

    content = source if isinstance(source, bytes) else source.read_bytes()
    return pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False)


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table whole or not at all."""
    write_atomic(path, table_bytes(table))


def without_names(table: pa.Table) -> pa.Table:
    """Strip names from a table: jobs of several claims may share its numbers."""
    return table.drop_columns(list(NAMES))


def with_names(table: pa.Table, claim: str, part: str) -> pa.Table:
    """Inverse of `without_names`."""
    for name, value in (("part", part), ("claim", claim)):
        table = table.add_column(0, pa.field(name, _TEXT), pa.repeat(pa.scalar(value, type=_TEXT), len(table)))
    return table


def join_parts(tables: Sequence[pa.Table]) -> pa.Table:
    """Join stored tables of blocks or shares: rows by cell, data set and replicate, checkpoints as they are."""
    stored = pa.schema([field for field in RESULT_SCHEMA if field.name not in NAMES], tables[0].schema.metadata)
    joined = pa.concat_tables(tables).cast(stored)  # Parquet has names of its own for the parts of a map
    order = np.lexsort([joined[name].to_numpy() for name in ("replicate", "data_set", "cell")])
    return joined.take(pa.array(order)).combine_chunks()


def read_table(path: Path) -> tuple[pa.Table, Plain]:
    """Read a result table and its decoded ``dpsco.*`` metadata."""
    return parquet_table(path), read_metadata(path)


def read_metadata(path: Path) -> Plain:
    """Read the decoded ``dpsco.*`` metadata of a result table alone."""
    from pyarrow import parquet as pq

    raw = pq.read_schema(path).metadata or {}
    metadata = {k.decode()[6:]: v.decode() for k, v in raw.items() if k.startswith(b"dpsco.")}
    return {k: v if k == "schema" else loads(v) for k, v in metadata.items()}
