"""Tables of one's own: every format gives the same bits; what cannot be used, or does not fit, is named."""

import bz2
import gzip
import lzma
import os

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from dpsco_bench.datasets import tables
from dpsco_bench.errors import InputError
from dpsco_bench.problems.registry import get_problem

CALLED = ("CustomerID", "custID", "custid", "customer", "account_number", "accountNo", "postalCode", "KEY", "id2", "nr")
QUANTITIES = (
    *("account_balance", "humid", "paid", "PAID", "grid", "casino", "orders"),
    *("number_of_items", "decode", "monkey"),
)
SCATTERED = 7919 * np.arange(30) % 100_003
NAMES = ("age", "income", "height")


def content(rows, seed):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((rows, 3)) * 10.0 ** rng.integers(-3, 4, (rows, 3))
    features[rng.random((rows, 3)) < 0.3] = 0.0
    features[0] = 1.5, -2.0, 0.25  # every column occurs in a sparse file
    return features, rng.integers(0, 2, rows).astype(float)


def csv_text(features, labels, header=True, delimiter=","):
    lines = [delimiter.join((*NAMES, "label"))] if header else []
    lines += [delimiter.join(map(repr, map(float, (*row, y)))) for row, y in zip(features, labels, strict=True)]
    return "\n".join(lines) + "\n"


def libsvm_text(features, labels):
    lines = []
    for row, y in zip(features, labels, strict=True):
        pairs = (f"{j + 1}:{float(row[j])!r}" for j in np.flatnonzero(row))
        lines.append(" ".join((f"{y:+g}", *pairs)))
    return "\n".join(lines) + "\n"


def write_all(folder, features, labels):
    """The same records in every format; path and label option of each."""
    text = csv_text(features, labels)
    table = pa.table({**{name: features[:, j] for j, name in enumerate(NAMES)}, "label": labels})
    writers = {
        "a.csv": lambda p: p.write_text(text),
        "a.tsv": lambda p: p.write_text(csv_text(features, labels, delimiter="\t")),
        "bare.csv": lambda p: p.write_text(csv_text(features, labels, header=False)),
        "a.csv.gz": lambda p: p.write_bytes(gzip.compress(text.encode())),
        "a.csv.bz2": lambda p: p.write_bytes(bz2.compress(text.encode())),
        "a.parquet": lambda p: pq.write_table(table, p),
        "a.libsvm": lambda p: p.write_text(libsvm_text(features, labels)),
        "a.csv.zst": lambda p: p.write_bytes(pa.compress(text.encode(), "zstd", asbytes=True)),
        "a.tsv.gz": lambda p: p.write_bytes(gzip.compress(csv_text(features, labels, delimiter="\t").encode())),
        "a.svm.zst": lambda p: p.write_bytes(pa.compress(libsvm_text(features, labels).encode(), "zstd", asbytes=True)),
        "a.csv.xz": lambda p: p.write_bytes(lzma.compress(text.encode())),
        "a.svm.gz": lambda p: p.write_bytes(gzip.compress(libsvm_text(features, labels).encode())),
    }
    for name, write in writers.items():
        write(folder / name)
        yield folder / name, None if "svm" in name else -1 if name == "bare.csv" else "label"


@pytest.mark.parametrize(("rows", "seed"), [(1, 0), (2, 1), (40, 2), (300, 3)])
def test_all_formats_give_the_same_bits(tmp_path, rows, seed):
    features, labels = content(rows, seed)
    for path, label in write_all(tmp_path, features, labels):
        records = tables.read(path, label)
        np.testing.assert_array_equal(records.features, features, err_msg=path.name)
        np.testing.assert_array_equal(records.labels, labels, err_msg=path.name)
        assert records.features.dtype == records.labels.dtype == np.float64
        assert not records.features.flags.writeable and not records.labels.flags.writeable


def test_a_file_is_what_its_content_tells_whatever_its_name(tmp_path):
    text = b"a,y\n1,2\n"
    packed = (gzip.compress(text), lzma.compress(text), bz2.compress(text), pa.compress(text, "zstd", asbytes=True))
    for name in ("t.csv", "t.csv.gz", "T.CSV.XZ"):
        for content in (text, *packed):
            (tmp_path / name).write_bytes(content)
            assert tables.read(tmp_path / name, "y").features.tolist() == [[1.0]]
    pq.write_table(pa.table({"a": [1.0], "y": [2.0]}), tmp_path / "t.csv")
    assert tables.read(tmp_path / "t.csv", "y").labels.tolist() == [2.0]


def test_types_that_are_numbers(tmp_path):
    table = pa.table(
        {
            "whole": pa.array([1, 2], pa.uint8()),
            "yes": [True, False],
            "exact": pa.array([1, 2], pa.decimal128(5, 2)),
            "single": pa.array([0.5, 1.5], pa.float32()),
            "y": pa.array(["no", "yes"]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    records = tables.read(tmp_path / "t.parquet", "y")
    np.testing.assert_array_equal(records.features, [[1, 1, 1, 0.5], [2, 0, 2, 1.5]])
    assert records.labels.tolist() == ["no", "yes"] and records.names == ("whole", "yes", "exact", "single")


@pytest.mark.parametrize(
    ("text", "header", "rows", "names"),
    [
        ("a,b,y\n1,2,3\n", None, 1, ("a", "b")),
        ("1,2,3\n4,5,6\n", None, 2, ("f0", "f1")),
        ("5.1,3.5,setosa\n4.9,3.0,virginica\n", None, 2, ("f0", "f1")),
        ("2019,2020,y\n1,2,3\n", True, 1, ("2019", "2020")),
        ("﻿a,b,y\r\n1,2,3\r\n", None, 1, ("a", "b")),
        ("True,False,yes\nTrue,True,no\n", None, 2, ("f0", "f1")),
        ("2,1,yes\n3,0,yes\n", None, 2, ("f0", "f1")),
        ("1,2,3\n", None, 1, ("f0", "f1")),
        ("a,b,y\r1,2,3\r3,4,5\r", None, 2, ("a", "b")),  # as on old Macs
    ],
)
def test_header(tmp_path, text, header, rows, names):
    (tmp_path / "t.csv").write_bytes(text.encode())
    records = tables.read(tmp_path / "t.csv", -1, header)
    assert records.names == names and len(records.labels) == rows


def test_the_index_that_pandas_writes_is_left_out_by_its_position(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join([",b,a+b,y", *(f"{i},{i * i % 7},1,{i % 2}" for i in range(30))]) + "\n")
    with pytest.raises(InputError, match=r"column 1 \(without a name\) of t.csv = '0, 1, 2, .*: left out with drop=0"):
        tables.read(path, "y")
    assert tables.read(path, "y", drop=("0",)).names == ("b", "a+b")
    assert tables.read(path, "y", drop=("-4", "-2")).names == ("b",)


def test_a_name_that_is_a_number_goes_before_a_position(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("1,2,3,4,0\n5,6,7,8,9\n")
    for label, name in (("1", "1"), (1, "1"), (0, "0"), (-4, "2")):
        assert tables.read(path, label, header=True).label == name
    path.write_text("10,20,0\n5,6,7\n")
    assert tables.read(path, 20, header=True).label == "20" and tables.read(path, 1, header=True).label == "20"


def test_a_changed_file_is_read_again(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,2\n")
    assert tables.read(path, "y") is tables.read(path, "y")
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    path.write_text("a,y\n1,3\n")
    os.utime(path, ns=times)
    assert tables.read(path, "y").labels.tolist() == [3.0], "of the same size and time"


BAD = [
    ("t.csv", "a,b\n1,2\n", {}, "label is missing: .*: a, b; or a position from -2"),
    ("t.csv", "a,b\n1,2\n", {"label": "c"}, "label = 'c': must be one of"),
    ("t.csv", "a,b\n1,2\n", {"label": 2}, "label = 2: must be one of"),
    ("t.csv", "b,a,a\n1,2,3\n", {"label": "b"}, "column a of t.csv = 'columns 2 and 3'"),
    ("t.csv", "a,b\n1,2\n3,\n", {"label": "a"}, "record 2 of column b of t.csv is missing"),
    ("t.csv", "a,b\n1,2\n3,4\n5,NA\n", {"label": "a"}, "record 3 of column b of t.csv is missing"),
    ("t.csv", "a,b\n1,2\n3,nan\n", {"label": "a"}, "record 2 of column b of t.csv is missing"),
    ("t.csv", "a,b\n1,2\ninf,3\n", {"label": "b"}, "column a of t.csv = 'inf' .record 2.: must be a finite number"),
    ("t.csv", "a,b\n1,2\n1e400,3\n", {"label": "b"}, "'inf' .record 2.: .* too large for a double"),
    ("t.csv", "a,b\n1,2\n3,4\nx,5\n", {"label": "b"}, "'x' .record 3.: must be a number .*nearly all .*, or drop=a$"),
    ("t.csv", "a,b\n1,2\n2,3\n1_000,4\n", {"label": "b"}, "column a of t.csv = '1_000' .record 3"),
    ("t.csv", "a,day\n1,2020-01-01\n", {"label": "a"}, "column day of t.csv = '2020-01-01' .record 1"),
    ("t.csv", "a,y\n1,yes\n2,no\n3,\n", {"label": "y"}, "record 3 of column y of t.csv is missing: .*'no' and 'yes'"),
    ("t.csv", "a,b\n", {"label": "b"}, "path = .*t.csv': must be a table with records"),
    ("t.csv", "a\n1\n", {"label": "a"}, "path = .*t.csv': must be a table with records"),
    ("t.csv", "", {"label": 0}, "path = .*t.csv': must be a readable csv file"),
    ("t.csv", "a,b\n1,2\n3,4,5\n", {"label": "b"}, "t.csv': must be a readable csv file .*Row #3"),
    ("t.csv", b"a,b\n1,\xff\xfe\n", {"label": 0}, "path = .*t.csv': must be a readable csv file"),
    ("t.csv", "a,b\n1,2,3\n", {"label": 0}, "first line of t.csv = 'a,b': .* has 2 fields, and the next line 3"),
    ("t.csv", "a,b,2024,y\n1,2,3,4\n", {"label": "y"}, "header is missing"),
    ("t.csv", "a,b\n1,2\n", {"label": 0, "header": "yes"}, "header = 'yes'"),
    ("t.parquet", "PAR1", {"label": 0, "header": True}, "header = True"),
    ("t.parquet", "nothing", {"label": 0}, "t.parquet': must be a parquet file; its content is text"),
    ("t.txt", "a,b\n", {"label": 0}, "path = .*t.txt': must be a file ending in .csv"),
    ("t.csv", "a,b\n", {"label": 0, "form": "excel"}, "format = 'excel': must be one of csv, parquet, libsvm"),
    ("t.csv", "a,b\n1,2\n", {"label": "b", "drop": ("2",)}, "drop = '2': must be .* positions from -2 to 1"),
    ("t.csv", "a,b\n1,2\n", {"label": "b", "drop": ("-1",)}, "drop = '-1': .* other than its label"),
    ("t.csv", "a,b\n1,2\n", {"label": "b", "drop": ("c",)}, "drop = 'c'"),
    ("t.csv", "a,b\n1,2\n", {"label": "b", "drop": ("a",)}, "drop = 'a': must be some of the columns"),
    ("t.svm", "1 1:2\n", {"drop": ("a",)}, "drop = 'a': must be left out for LIBSVM"),
    ("t.svm", "1 1:2\n", {"label": 0}, "label = 0: must be left out for LIBSVM"),
    ("t.svm", "\n", {}, "must be a file with records"),
    ("t.svm", "1 1:2\n\nx 1:3\n", {}, "column label of t.svm = 'x' .record 2"),
    ("t.svm", "1 1:1\nnan 1:3\n", {}, "record 2 of column label of t.svm is missing"),
    ("t.svm", "1 1:2\n1 2:abc\n", {}, "column 2 of t.svm = 'abc' .record 2"),
    ("t.svm", "1 1:1_0\n", {}, "column 1 of t.svm = '1_0' .record 1"),
    ("t.svm", "1 1:nan\n", {}, "record 1 of column 1 of t.svm is missing"),
    ("t.svm", "1 1:2 3\n", {}, "entry of t.svm = '3' .record 1.: must be index:value"),
    ("t.svm", "1 1:2 3:\n4 :5\n", {}, "entry of t.svm = '3:' .record 1"),
    ("t.svm", "1 1:1\n1 qid:3 1:2\n", {}, "entry of t.svm = 'qid:3' .record 2"),
    ("t.svm", "1 1.5:2\n", {}, "index in t.svm = '1.5' .record 1.: must be an integer from 1 to"),
    ("t.svm", "1 1:2\n1 0:2\n", {}, "index in t.svm = '0' .record 2"),
    ("t.svm", "1 1:2\n1 1e30:2\n", {}, "index in t.svm = '1e.30' .record 2"),
    ("t.svm", "1 1:2\n1 3:1 2:4 3:5\n", {}, "index in t.svm = 3: must be given once in record 2"),
    ("t.svm", "1 1:2\n1 2:-1e200\n", {}, "column 2 of t.svm = '-1e.200' .record 2.: must be at most"),
    ("t.svm", "1 1:2\n2 1:3\n-1e200 2:1\n", {}, "column label of t.svm = '-1e.200' .record 3"),
    ("t.csv", "a,b\n1,2\n3,-1e200\n5,1e201\n", {"label": "a"}, "column b of t.csv = '-1e.200' .record 2.: .* at most"),
    # contents of another format than the name says
    ("t.csv", b"PK\x03\x04" + bytes(40), {"label": 0}, "it is a zip archive or a spreadsheet: unpack it"),
    ("t.csv.zip", b"PK\x03\x04" + bytes(40), {"label": 0}, "it is a zip archive or a spreadsheet: unpack it"),
    ("t.csv", b"PAR1" + bytes(40), {"label": 0}, "must be a readable parquet file"),
    ("t.csv", "a,y\n1,2\n".encode("utf-16"), {"label": 0}, "it is not UTF-8: save it as UTF-8"),
    ("t.csv", "a,y\n\xe9,1\n".encode("latin-1"), {"label": 0}, "it is not UTF-8: save it as UTF-8"),
    ("t.csv", b"1;2\n3;4\n", {"label": 0}, "this one has semicolons"),
    ("t.csv", b" 1 2\n 3 4\n", {"label": 0}, "this one has blanks"),
    ("t.csv", b"sep=,\na,b,y\n1,2,3\n", {"label": 0}, "first line of t.csv = 'sep=,'"),
]


@pytest.mark.parametrize(("name", "text", "options", "message"), BAD, ids=[f"{entry[0]}: {entry[3]}" for entry in BAD])
def test_what_cannot_be_used_is_named_in_one_line(tmp_path, name, text, options, message):
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=message) as caught:
        tables.read(tmp_path / name, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "values", "refused"),
    [
        ("a", np.arange(30), "0, 1, 2, ... from record 1 on"),
        ("a", np.random.default_rng(0).permutation(30) + 1, "from record 1 on"),
        ("customer_id", 7919 * np.arange(30) % 100_003, "0, 7919, 15838"),
        ("a", 7919 * np.arange(30), ""),
        ("cost_per_item", 7919 * np.arange(30), ""),
        ("a", np.arange(30) % 29, ""),
        ("a", np.arange(30) + 0.5, ""),
        ("a", np.arange(19), ""),
        ("idle", 3 * np.arange(30), ""),
        *((name, SCATTERED, "0, 7919, 15838") for name in CALLED),
        *((name, SCATTERED, "") for name in QUANTITIES),
        ("a", np.arange(1000, 1030), "1000, 1001, 1002"),
        ("year", np.arange(1990, 2020), ""),
        ("AgeInYears_age", np.arange(20, 50), ""),
        ("year", np.arange(30), "0, 1, 2"),
    ],
)
def test_record_numbers_are_no_features(tmp_path, name, values, refused):
    path = tmp_path / "t.csv"
    path.write_text("\n".join([f"b,{name},y", *(f"{i * i % 7},{v},{i % 2}" for i, v in enumerate(values))]) + "\n")
    if refused:
        with pytest.raises(InputError, match=f"column {name} of t.csv = '.*{refused}.*': must be no record"):
            tables.read(path, "y")
        assert tables.read(path, "y", ids=True).names == ("b", name)
        assert tables.read(path, "y", drop=(name,)).names == ("b",)
        assert tables.read(path, name).names == ("b", "y")  # as a label they are numbers
    else:
        assert tables.read(path, "y").names == ("b", name)


def test_comments_and_endings_in_capitals_are_read(tmp_path):
    text = "# by hand\n1 1:2 # first\n-1 1:3 2:x:y\n".replace(" 2:x:y", "#2:x:y")
    marked = b"\xef\xbb\xbf" + text.encode()
    for name, content in (("T.SVM", text.encode()), ("T.LibSVM.GZ", gzip.compress(text.encode())), ("m.svm", marked)):
        (tmp_path / name).write_bytes(content)
        records = tables.read(tmp_path / name)
        assert records.features.tolist() == [[2.0], [3.0]] and records.labels.tolist() == [1.0, -1.0]
    for name, content in (("T.CSV", b"a,y\n1,2\n"), ("T.TSV.GZ", gzip.compress(b"a\ty\n1\t2\n", mtime=0))):
        (tmp_path / name).write_bytes(content)
        assert tables.read(tmp_path / name, "y").features.tolist() == [[1.0]]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()], ids=str
)
def test_labels_of_text_in_every_type(tmp_path, kind):
    words = ["no", "yes"] if "string" in str(kind) else [b"no", b"yes"]
    pq.write_table(pa.table({"a": [1.0, 2.0], "y": pa.array(words, kind)}), tmp_path / "t.parquet")
    assert tables.read(tmp_path / "t.parquet", "y").labels.tolist() == ["no", "yes"]


@pytest.mark.parametrize("column", [[b"a", b"\xff"], [[1], [2]]], ids=str)
def test_other_columns_are_no_labels(tmp_path, column):
    pq.write_table(pa.table({"a": [1.0, 2.0], "y": column}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="column y of t.parquet = .*: must be a number or text"):
        tables.read(tmp_path / "t.parquet", "y")


HINTS = [
    ("645,100", "signs between thousands"),
    ("1 645 100", "signs between thousands"),
    ("12%", "a percent sign"),
    ("3,25", "a decimal comma"),
    ("5;2", "no comma between two fields"),
    ("12 kg", "a unit"),
    ("$12.5", "a unit"),
    ("2020-01-31", "a time"),
    ("12:30", "a time"),
    ("1\u00a0", "a no-break space"),
    ("?", "encode"),
]


@pytest.mark.parametrize(("entry", "hint"), HINTS)
def test_a_hint_fits_the_entry(tmp_path, entry, hint):
    (tmp_path / "t.csv").write_text(f'a,b,y\n"{entry}",1,2\n"{entry}",3,4\n')
    with pytest.raises(InputError, match=rf"column a of t.csv = .*\({hint}.*, or drop=a$"):
        tables.read(tmp_path / "t.csv", "y")


def test_all_columns_that_are_wrong_are_told_at_once(tmp_path):
    (tmp_path / "t.csv").write_text("id,a,b,c,y\n" + "".join(f"{i},12%,{i / 7},,\n" for i in range(30)))
    with pytest.raises(InputError) as caught:
        tables.read(tmp_path / "t.csv", "y")
    for told in ("column id ", "column a ", "column c ", "column y of", "drop=a\n"):
        assert told in str(caught.value)
    assert "column b " not in str(caught.value) and str(caught.value).count("\n  ") == 3
    for more in (0, 1, 3):
        names = [f"c{i}" for i in range(tables.MOST + more)]
        (tmp_path / "t.csv").write_text(",".join([*names, "y\n"]) + "x," * len(names) + "1\n")
        with pytest.raises(InputError) as caught:
            tables.read(tmp_path / "t.csv", "y")
        assert str(caught.value).count("\n  ") == tables.MOST - 1
        assert (f"and so on, {more} more columns" in str(caught.value)) == (more > 0)


@pytest.mark.parametrize("name", ["Unnamed: 0", "__index_level_0__", "rownames", "row.names", "level_1", "...1"])
def test_names_that_tools_write_for_an_index_are_record_numbers(tmp_path, name):
    pq.write_table(pa.table({"a": [0.5, 1.5, 2.5], name: [7, 7, 3], "y": [0, 1, 0]}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="must be no record numbers"):
        tables.read(tmp_path / "t.parquet", "y")
    assert tables.read(tmp_path / "t.parquet", "y", ids=True).names == ("a", name)


@pytest.mark.parametrize(
    ("entries", "labels"),
    [
        (["01", "1"], ["01", "1"]),
        (["9007199254740993", "9007199254740992"], ["9007199254740993", "9007199254740992"]),
        (["1.0", "1"], [1.0, 1.0]),
        (["true", "false"], [1.0, 0.0]),
        ([" no", " yes"], [" no", " yes"]),
    ],
)
def test_labels_stay_apart(tmp_path, entries, labels):
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"0.5,{entry}\n" for entry in entries))
    assert tables.read(tmp_path / "t.csv", "y").labels.tolist() == labels
    if entries[0].isdigit() and len(entries[0]) > 15:
        pq.write_table(pa.table({"a": [0.5, 0.5], "y": list(map(int, entries))}), tmp_path / "t.parquet")
        assert tables.read(tmp_path / "t.parquet", "y").labels.tolist() == labels


def test_a_path_starts_at_the_working_directory_or_else_at_the_data_root(tmp_path, monkeypatch):
    (tmp_path / "work").mkdir()
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    root = tmp_path / "data"
    (root / "t.csv").write_text("there")
    assert tables.find("t.csv", root).read_text() == "there"
    (tmp_path / "work" / "t.csv").write_text("here")
    assert tables.find("t.csv", root).read_text() == "here"
    assert tables.find(str(root / "t.csv"), root).read_text() == "there"
    for absent in ("none.csv", "", None, 3, "."):
        with pytest.raises(InputError, match="^path = "):
            tables.find(absent, root)


def test_a_file_of_very_many_columns_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path, width = tmp_path / "wide.csv", 300_000
    path.write_text(",".join(map("c{}".format, range(width))) + ",y\n" + ("0.5," * width + "1\n") * 3)
    monkeypatch.setattr(tables, "available_memory", lambda: 2e9)

    def never(*arguments, **more):
        raise AssertionError("it was read")

    monkeypatch.setattr(pyarrow.csv, "read_csv", never)
    with pytest.raises(InputError, match="columns of wide.csv = 300001: must be at most 198098 with about 3 records"):
        tables.read(path, "y")


def test_many_records_count_too(tmp_path, monkeypatch):
    path = tmp_path / "long.csv"
    path.write_text("a,b,c,y\n" + "0.5,1.5,2.5,1\n" * 100_000)
    monkeypatch.setattr(tables, "available_memory", lambda: 1e7)
    with pytest.raises(InputError, match=r"columns of long.csv = 4: must be at most 3 with about 100000 records"):
        tables.read(path, "y")


@pytest.mark.parametrize("version", [1, 2])
def test_a_control_group_may_allow_less_than_the_machine_has(tmp_path, monkeypatch, version):
    meminfo, groups, mount = tmp_path / "meminfo", tmp_path / "cgroup", tmp_path / "mount"
    meminfo.write_text("MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\n")
    groups.write_text("4:cpuset:/other\n3:memory:/outer/inner\n" if version == 1 else "0::/outer/inner\n")
    limit, used = (
        ("memory.limit_in_bytes", "memory.usage_in_bytes") if version == 1 else ("memory.max", "memory.current")
    )
    outer = mount / ("memory/outer" if version == 1 else "outer")
    (outer / "inner").mkdir(parents=True)
    endless = str(2**63 - 4096) if version == 1 else "max"
    for folder, most in ((outer, "3000000000"), (outer / "inner", endless), (tmp_path, "1600000000")):
        (folder / limit).write_text(most + "\n")
        (folder / used).write_text("1000000000\n")
        (folder / "memory.stat").write_text("cache 7\ninactive_file 500000000\n")
    for name, path in (("MEMINFO", meminfo), ("GROUPS", groups), ("MOUNT", mount)):
        monkeypatch.setattr(tables, name, path)
    assert tables.available_memory() == 2.5e9, "a folder above the mount is no group"
    (outer / limit).write_text("max\n")
    assert tables.available_memory() == 8000000 * 1024
    groups.unlink()
    assert tables.available_memory() == 8000000 * 1024


def test_a_matrix_of_columns_by_columns_that_does_not_fit_is_refused(tmp_path, monkeypatch):
    path, rng = tmp_path / "square.csv", np.random.default_rng(0)
    lines = [",".join([*map(str, row), str(number % 2)]) for number, row in enumerate(rng.normal(size=(20, 30)))]
    path.write_text("\n".join([",".join([*map("c{}".format, range(30)), "y"]), *lines]) + "\n")
    problem = get_problem("data_file", path=str(path), label="y", clip=1.0)
    assert problem.draw(20, None).features.shape == (20, 30)  # the file stays in memory
    monkeypatch.setattr(tables, "available_memory", lambda: 8.0 * tables.SQUARES * 29**2)
    with pytest.raises(InputError, match="columns of square.csv = 30: must be at most 29: the minimum needs 8 m"):
        problem.draw(20, None)
    monkeypatch.setattr(tables, "available_memory", lambda: 8.0 * tables.SQUARES * 399**2)
    wide = pa.table({f"c{j}": rng.normal(size=3) for j in range(400)} | {"y": [0, 1, 0]})
    for name, write in (("a.csv", pyarrow.csv.write_csv), ("a.parquet", pq.write_table)):
        write(wide, tmp_path / name)
        with pytest.raises(InputError, match=f"columns of {name} = 400: must be at most 399"):
            tables.read(tmp_path / name, "y")
        assert len(tables.read(tmp_path / name, "y", drop=("c3",)).names) == 399


def test_a_large_index_is_refused_before_it_makes_a_table(tmp_path):
    path = tmp_path / "wide.libsvm"
    path.write_text("1 1:0.5\n-1 2:1 2000000000:1\n")
    with pytest.raises(InputError, match=r"columns of wide.libsvm = '2000000000' \(record 2\): must be at most"):
        tables.read(path, None)


def test_arrays_are_read_as_a_file_of_them(tmp_path):
    x, y = np.arange(6.0).reshape(3, 2) / 7, np.array([1.0, 0.0, 1.0])
    for labels in (y, y[:, None]):
        found = tables.read(tables.write_records(x, labels, tmp_path), tables.LABEL)
        assert found.labels.tolist() == y.tolist() and found.features.tolist() == x.tolist()
        assert found.names == ("f0", "f1")
