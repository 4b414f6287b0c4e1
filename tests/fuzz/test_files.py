"""Files of others as bytes: tables of records, and YAML that is none."""

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

from .calls import number_of_examples, own_folder

NUMBERS = ("0", "1", "-1", "0.5", "1e300", "1e-300", "nan", "inf")
CELLS = (*NUMBERS, "", " ", "x", "é", '"', '"a,b"', "1,5", "true", "9" * 40)
LIBSVM = ["1 1:0.5", "-1 2:1", "0 1:1 1:2", "1 0:1", "1 -1:1", "x 1:1"]
LIBSVM += ["1 1:nan", "1 99999:1", "", "1", "1 1:1e300 # x"]
NAMES = ("a", "b", "id", "", "é", "label", "1")
TYPES = (pa.float64(), pa.string(), pa.bool_(), pa.date32(), pa.null(), pa.list_(pa.int64()), pa.float16())
OPTIONS = {
    "label": st.sampled_from([None, "a", 0, -1, 99, "", True]),
    "drop": st.sampled_from(["a", "b", "a+b", "", 3]),
    "clip": st.sampled_from([None, 0.5, 0.0, -1.0, 1e-300, "x"]),
    "header": st.sampled_from([True, False, 1]),
    "format": st.sampled_from(["csv", "parquet", "libsvm", "x"]),
    "n": st.sampled_from([1, 10**6, None]),
}


@st.composite
def options(draw):
    """What a file is read with: as it is meant, but for at most two."""
    odd = draw(st.lists(st.sampled_from([*OPTIONS]), max_size=2, unique=True))
    usual = {"n": 24, "label": "label", "clip": 1.0, "regularisation": 0.1}
    return {**usual, **{key: draw(OPTIONS[key]) for key in odd}}


@st.composite
def files(draw):
    """Columns and a label in one of the formats; a few names and cells are odd, and the end may be lost."""
    form = draw(st.sampled_from(["csv", "csv", "csv.gz", "libsvm", "parquet"]))
    rows = draw(st.sampled_from([24, 30, 0]))
    names = ["a", "b", draw(st.sampled_from(["c", *NAMES])), "label"]
    cells = [[*(str((i * 7 + j * 3) % 5 / 4) for j in range(3)), str(i % 2)] for i in range(rows)]
    for _ in range(draw(st.integers(0, 2)) if rows else 0):
        cells[draw(st.integers(0, rows - 1))][draw(st.integers(0, 3))] = draw(st.sampled_from(CELLS))
    if form == "libsvm":
        whole = "\n".join(draw(st.lists(st.sampled_from(LIBSVM), max_size=8))).encode()
    elif form == "parquet":
        columns = [pa.nulls(rows, draw(st.sampled_from(TYPES))) for _ in range(draw(st.integers(0, 2)))]
        columns += [pa.array(np.arange(rows) % 2 * 1.0)] * (len(names) - len(columns))
        pyarrow.parquet.write_table(pa.Table.from_arrays(columns, names), sink := pa.BufferOutputStream())
        whole = sink.getvalue().to_pybytes()
    else:
        end = draw(st.sampled_from(["", "\n", "\n\n", "\r\n", ",", "\x00"]))
        whole = ("\n".join(map(",".join, [names, *cells])) + end).encode()
        whole = gzip.compress(whole) if form == "csv.gz" else whole
    return f"x.{form}", whole[: draw(st.sampled_from([len(whole)] * 3 + [len(whole) // 2, 4]))]


@number_of_examples(60)
@given(files() | st.binary(max_size=60).map(lambda data: ("x.tsv", data)), options())
def test_tables(content, options):
    name, data = content
    with own_folder():
        Path(name).write_bytes(data)
        try:
            found = run("wang2017.dp_gd_pl", "data_file", path=name, replicates=2, seed=1, steps=3, **options)
        except DpscoError as error:
            assert len(str(error)) < 1500
            return
    assert np.isfinite(found.risk).all() and np.isfinite(found.output).all()


YAML = ["a: 1", "b: &x [1, 2]", "c: *x", "c: [*x, *x]", "<<: *x", "- 1", "{", "d: ${a}", "d: ${b.0}", "d: ${d}"]
YAML += ["? [1]", "e: !!set {1}", "e: 2020-01-01", "e: !!binary aGVsbG8=", "\t", "---", "&y", "*y"]
YAML += ["f: |\n  x", "é: 'é'"]


@number_of_examples(60)
@given(st.lists(st.sampled_from(YAML), max_size=6).map("\n".join) | st.binary(max_size=40))
def test_yaml(text):
    with own_folder():
        Path("x.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
        try:
            read_yaml(Path("x.yaml"))
        except InputError as error:
            assert len(str(error)) < 1500
