"""Files of others as bytes: tables of records, and YAML that is none."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from hypothesis import given
from hypothesis import strategies as st

from dpsco_bench import run
from dpsco_bench.claims.files import read_yaml
from dpsco_bench.errors import DpscoError, InputError

from .calls import limited, number_of_examples, own_folder

CELLS = (
    *("0", "1", "-1", "0.5", "1e300", "1e-300", "nan", "inf"),
    *("", " ", "x", "é", '"', '"a,b"', "1,5", "true", "9" * 40),
)
LIBSVM = (
    *("1 1:0.5", "-1 2:1", "0 1:1 1:2", "1 0:1", "1 -1:1", "x 1:1"),
    *("1 1:nan", "1 99999:1", "", "1", "1 1:1e300 # x"),
)
NAMES = ("a", "b", "id", "a", "", "é", "label", "1")
TYPES = (pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.date32(), pa.null(), pa.list_(pa.int64()), pa.float16())
USUAL = {"label": "label", "clip": 1.0, "regularisation": 0.1}
OPTIONS = {
    "label": st.sampled_from([None, "a", 0, -1, 99, "", True]),
    "drop": st.sampled_from(["a", "b", "a+b", "", 3]),
    "clip": st.sampled_from([None, 0.5, 0.0, -1.0, 1e-300, "x"]),
    "header": st.sampled_from([True, False, 1]),
    "format": st.sampled_from(["csv", "parquet", "libsvm", "x"]),
}


@st.composite
def options(draw):
    """What a file is read with: as it is meant, but for at most two."""
    odd = draw(st.lists(st.sampled_from([*OPTIONS, "n"]), max_size=2, unique=True))
    n = draw(st.sampled_from([1, 10**6, None])) if "n" in odd else 24
    return {"n": n, **USUAL, **{key: draw(OPTIONS[key]) for key in odd if key != "n"}}


@st.composite
def csv_bytes(draw):
    """Columns and a label, in which a few names and cells may be odd."""
    width, rows = draw(st.integers(1, 4)), draw(st.sampled_from([24, 24, 30, 1, 0]))
    names = [*"abcd"[:width], "label"]
    for _ in range(draw(st.integers(0, 1))):
        names[draw(st.integers(0, width))] = draw(st.sampled_from(NAMES))
    cells = [[*(str((i * 7 + j * 3) % 5 / 4) for j in range(width)), str(i % 2)] for i in range(rows)]
    for _ in range(draw(st.integers(0, 2)) if rows else 0):
        row = draw(st.integers(0, rows - 1))
        cells[row][draw(st.integers(0, width))] = draw(st.sampled_from(CELLS))
    end = draw(st.sampled_from(["", "\n", "\n\n", "\r\n", ",", "\x00"]))
    return "x.csv", ("\n".join(",".join(line) for line in [names, *cells]) + end).encode()


@st.composite
def other_bytes(draw):
    form = draw(st.sampled_from(["libsvm", "parquet", "bytes", "gzip"]))
    if form == "libsvm":
        return "x.libsvm", "\n".join(draw(st.lists(st.sampled_from(LIBSVM), max_size=8))).encode()
    if form == "bytes":
        return draw(st.sampled_from(["x.csv", "x.parquet", "x.libsvm", "x.tsv"])), draw(st.binary(max_size=60))
    if form == "gzip":
        whole = gzip.compress(b"a,label\n" + b"0.5,1\n0.25,0\n" * 20)
        return "x.csv.gz", whole[: draw(st.integers(0, len(whole)))]
    rows = draw(st.integers(0, 6))
    columns = [pa.nulls(rows, draw(st.sampled_from(TYPES))) for _ in range(draw(st.integers(0, 2)))]
    columns += [pa.array(np.arange(rows) % 2 * 1.0)] * draw(st.integers(0, 2))
    sink = pa.BufferOutputStream()
    pyarrow.parquet.write_table(pa.Table.from_arrays(columns, list(NAMES[: len(columns)])), sink)
    whole = sink.getvalue().to_pybytes()
    return "x.parquet", whole[: draw(st.sampled_from([len(whole), len(whole) // 2, 4]))]


@number_of_examples(60)
@given(st.one_of(csv_bytes(), csv_bytes(), other_bytes()), options())
def test_tables(content, options):
    name, data = content
    with own_folder(), limited():
        Path(name).write_bytes(data)
        try:
            found = run("wang2017.dp_gd_pl", "data_file", path=name, replicates=2, seed=1, steps=3, **options)
        except DpscoError as error:
            assert len(str(error)) < 1500
            return
    assert np.isfinite(found.risk).all() and np.isfinite(found.output).all()


YAML = ("a: 1", "b: &x [1, 2]", "c: *x", "c: [*x, *x]", "<<: *x", "a: 1", "- 1", "{", "d: ${a}", "d: ${b.0}", "d: ${d}")
YAML += (
    "? [1]",
    "e: !!set {1}",
    "e: 2020-01-01",
    "e: !!binary aGVsbG8=",
    "\t",
    "---",
    "&y",
    "*y",
    "f: |\n  x",
    "é: 'é'",
)


@number_of_examples(60)
@given(st.lists(st.sampled_from(YAML), max_size=6).map("\n".join) | st.binary(max_size=40))
def test_yaml(text):
    with own_folder(), limited():
        Path("x.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
        try:
            read_yaml(Path("x.yaml"))
        except InputError as error:
            assert len(str(error)) < 1500
