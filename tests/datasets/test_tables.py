"""Tables of one's own: every format gives the same bits; what cannot be used, or does not fit, is named."""

import gzip
import os

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from dpsco_bench.datasets import tables
from dpsco_bench.errors import InputError
from dpsco_bench.problems.registry import get_problem

from .conftest import PACKED

CALLED = ("CustomerID", "custID", "custid", "customer", "account_number", "accountNo", "postalCode", "KEY", "id2", "nr")
ITEMS = "number_of_items"
QUANTITIES = ("account_balance", "humid", "paid", "PAID", "grid", "casino", "orders", ITEMS, "decode", "monkey")
OF_TOOLS = ("Unnamed: 0", "__index_level_0__", "rownames", "row.names", "level_1", "...1")
SCATTERED = 7919 * np.arange(30) % 100_003
NAMES = ("age", "income", "height")


@pytest.fixture
def file(tmp_path):
    """Write a text, bytes or columns, and give the path."""

    def write(content, name="t.csv"):
        path = tmp_path / name
        if isinstance(content, dict):
            pq.write_table(pa.table(content), path)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def content(rows, seed):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((rows, 3)) * 10.0 ** rng.integers(-3, 4, (rows, 3))
    features[rng.random((rows, 3)) < 0.3] = 0.0
    features[0] = 1.5, -2.0, 0.25  # every column occurs in a sparse file
    return features, rng.integers(0, 2, rows).astype(float)


def csv_text(header, rows, delimiter=","):
    return "\n".join([header, *(delimiter.join(map(str, row)) for row in rows)]) + "\n"


def libsvm_text(table):
    """Write rows that end with their label as LIBSVM has them."""
    rows = ([f"{y:+g}", *(f"{j}:{x!r}" for j, x in enumerate(row, 1) if x)] for *row, y in table)
    return "\n".join(map(" ".join, rows)) + "\n"


@pytest.mark.parametrize(("rows", "seed"), [(1, 0), (2, 1), (40, 2), (300, 3)])
def test_all_formats_give_the_same_bits(file, rows, seed):
    features, labels = content(rows, seed)
    columns = {name: features[:, j] for j, name in enumerate(NAMES)} | {"label": labels}
    table = np.column_stack([features, labels]).tolist()
    csv, tsv = csv_text(",".join(columns), table), csv_text("\t".join(columns), table, "\t")
    paths = {file(columns, "a.parquet"): "label", file(csv.partition("\n")[2], "bare.csv"): -1}
    for text, ending, label in ((csv, "csv", "label"), (tsv, "tsv", "label"), (libsvm_text(table), "svm", None)):
        paths |= {file(pack(text.encode()), f"a.{ending}{end}"): label for end, pack in PACKED.items()}
    for path, label in paths.items():
        records = tables.read(path, label)
        np.testing.assert_array_equal(records.features, features, err_msg=path.name)
        np.testing.assert_array_equal(records.labels, labels, err_msg=path.name)
        assert records.features.dtype == records.labels.dtype == np.float64
        assert not records.features.flags.writeable and not records.labels.flags.writeable


def test_a_file_is_what_its_content_tells_whatever_its_name(file):
    for name in ("t.csv", "t.csv.gz", "T.CSV.XZ"):
        for pack in PACKED.values():
            assert tables.read(file(pack(b"a,y\n1,2\n"), name), "y").features.tolist() == [[1.0]]
    assert tables.read(file({"a": [1.0], "y": [2.0]}), "y").labels.tolist() == [2.0]
    for form, text, label in (("csv", "a,y\n1,2\n", "y"), ("libsvm", "2 1:1\n", None)):
        assert tables.read(file(text, "t.dat"), label, form=form).labels.tolist() == [2.0]


def test_types_that_are_numbers(file):
    columns = {
        "whole": pa.array([1, 2], pa.uint8()),
        "yes": [True, False],
        "exact": pa.array([1, 2], pa.decimal128(5, 2)),
        "single": pa.array([0.5, 1.5], pa.float32()),
        "y": pa.array(["no", "yes"]).dictionary_encode(),
    }
    records = tables.read(file(columns, "t.parquet"), "y")
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
def test_header(file, text, header, rows, names):
    records = tables.read(file(text), -1, header)
    assert records.names == names and len(records.labels) == rows


def test_the_index_that_pandas_writes_is_left_out_by_its_position(file):
    path = file(csv_text(",b,a+b,y", ((i, i * i % 7, 1, i % 2) for i in range(30))))
    with pytest.raises(InputError, match=r"column 1 \(without a name\) of t.csv = '0, 1, 2, .*: left out with drop=0"):
        tables.read(path, "y")
    assert tables.read(path, "y", drop=("0",)).names == ("b", "a+b")
    assert tables.read(path, "y", drop=("-4", "-2")).names == ("b",)


def test_a_name_that_is_a_number_goes_before_a_position(file):
    path = file("1,2,3,4,0\n5,6,7,8,9\n")
    for label, name in (("1", "1"), (1, "1"), (0, "0"), (-4, "2")):
        assert tables.read(path, label, header=True).label == name
    path = file("10,20,0\n5,6,7\n")
    assert tables.read(path, 20, header=True).label == "20" and tables.read(path, 1, header=True).label == "20"


def test_a_changed_file_is_read_again(file):
    path = file("a,y\n1,2\n")
    assert tables.read(path, "y") is tables.read(path, "y")
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    os.utime(file("a,y\n1,3\n"), ns=times)
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
    ("t.svm", "1 1:0.5\n-1 2:1 2000000000:1\n", {}, "columns of t.svm = '2000000000' .record 2.: must be at most"),
    ("t.parquet", {"a": [1, 2], "y": [b"a", b"\xff"]}, {"label": "y"}, "column y of t.parquet = .*: .* number or text"),
    ("t.parquet", {"a": [1, 2], "y": [[1], [2]]}, {"label": "y"}, "column y of t.parquet = .*: .* number or text"),
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
def test_what_cannot_be_used_is_named_in_one_line(file, name, text, options, message):
    with pytest.raises(InputError, match=message) as caught:
        tables.read(file(text, name), **options)
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
        *((name, np.array([7, 7, 3]), "7, 7, 3") for name in OF_TOOLS),
        ("a", np.arange(1000, 1030), "1000, 1001, 1002"),
        ("year", np.arange(1990, 2020), ""),
        ("AgeInYears_age", np.arange(20, 50), ""),
        *(("year", first + np.arange(30), f"{first}, {first + 1}, {first + 2}") for first in (0, 1)),
    ],
)
def test_record_numbers_are_no_features(file, name, values, refused):
    path = file(csv_text(f"b,{name},y", ((i * i % 7, v, i % 2) for i, v in enumerate(values))))
    if refused:
        with pytest.raises(InputError, match=f"column {name} of t.csv = '.*{refused}.*': must be no record"):
            tables.read(path, "y")
        assert tables.read(path, "y", ids=True).names == ("b", name)
        assert tables.read(path, "y", drop=(name,)).names == ("b",)
        assert tables.read(path, name).names == ("b", "y")  # as a label they are numbers
    else:
        assert tables.read(path, "y").names == ("b", name)


def test_comments_and_endings_in_capitals_are_read(file):
    text = b"# by hand\n1 1:2 # first\n-1 1:3#2:x:y\n"
    for name, content in (("T.SVM", text), ("T.LibSVM.GZ", gzip.compress(text)), ("m.svm", b"\xef\xbb\xbf" + text)):
        records = tables.read(file(content, name))
        assert records.features.tolist() == [[2.0], [3.0]] and records.labels.tolist() == [1.0, -1.0]
    for name, content in (("T.CSV", b"a,y\n1,2\n"), ("T.TSV.GZ", gzip.compress(b"a\ty\n1\t2\n", mtime=0))):
        assert tables.read(file(content, name), "y").features.tolist() == [[1.0]]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()], ids=str
)
def test_labels_of_text_in_every_type(file, kind):
    words = ["no", "yes"] if "string" in str(kind) else [b"no", b"yes"]
    path = file({"a": [1.0, 2.0], "y": pa.array(words, kind)}, "t.parquet")
    assert tables.read(path, "y").labels.tolist() == ["no", "yes"]


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
def test_a_hint_fits_the_entry(file, entry, hint):
    with pytest.raises(InputError, match=rf"column a of t.csv = .*\({hint}.*, or drop=a$"):
        tables.read(file(f'a,b,y\n"{entry}",1,2\n"{entry}",3,4\n'), "y")


def test_all_columns_that_are_wrong_are_told_at_once(file):
    with pytest.raises(InputError) as caught:
        tables.read(file(csv_text("id,a,b,c,y", ((i, "12%", i / 7, "", "") for i in range(30)))), "y")
    for told in ("column id ", "column a ", "column c ", "column y of", "drop=a\n"):
        assert told in str(caught.value)
    assert "column b " not in str(caught.value) and str(caught.value).count("\n  ") == 3
    for more in (0, 1, 3):
        names = [f"c{i}" for i in range(tables.MOST + more)]
        with pytest.raises(InputError) as caught:
            tables.read(file(csv_text(",".join([*names, "y"]), [[*("x" for _ in names), 1]])), "y")
        assert str(caught.value).count("\n  ") == tables.MOST - 1
        assert (f"and so on, {more} more columns" in str(caught.value)) == (more > 0)


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
def test_labels_stay_apart(file, entries, labels):
    assert tables.read(file(csv_text("a,y", ((0.5, entry) for entry in entries))), "y").labels.tolist() == labels
    if entries[0].isdigit() and len(entries[0]) > 15:
        path = file({"a": [0.5, 0.5], "y": list(map(int, entries))}, "t.parquet")
        assert tables.read(path, "y").labels.tolist() == labels


def test_a_path_starts_at_the_working_directory_or_else_at_the_data_root(tmp_path, monkeypatch):
    work, root = tmp_path / "work", tmp_path / "data"
    work.mkdir()
    root.mkdir()
    monkeypatch.chdir(work)
    (root / "t.csv").write_text("there")
    assert tables.find("t.csv", root).read_text() == "there"
    (work / "t.csv").write_text("here")
    assert tables.find("t.csv", root).read_text() == "here"
    assert tables.find(str(root / "t.csv"), root).read_text() == "there"
    for absent in ("none.csv", "", None, 3, "."):
        with pytest.raises(InputError, match="^path = "):
            tables.find(absent, root)


WIDE = ",".join(map("c{}".format, range(300_000))) + ",y\n" + ("0.5," * 300_000 + "1\n") * 3
LONG = "a,b,c,y\n" + "0.5,1.5,2.5,1\n" * 100_000
LARGE = [
    (WIDE, 2e9, "columns of t.csv = 300001: must be at most 198098 with about 3 records"),
    (LONG, 1e7, "t.csv = 4: must be at most 3 with about 100000 records"),
]


@pytest.mark.parametrize(("text", "memory", "message"), LARGE, ids=["columns", "records"])
def test_a_file_that_does_not_fit_is_refused_before_it_is_read(file, monkeypatch, text, memory, message):
    monkeypatch.setattr(tables, "available_memory", lambda: memory)
    monkeypatch.setattr(pyarrow.csv, "read_csv", None)
    with pytest.raises(InputError, match=message):
        tables.read(file(text), "y")


FIRST = ("4:cpuset:/other\n3:memory:/outer/inner\n", "memory/outer", "limit_in_bytes", "usage_in_bytes", 2**63 - 4096)
SECOND = ("0::/outer/inner\n", "outer", "max", "current", "max")


@pytest.mark.parametrize(("group", "place", "limit", "used", "endless"), [FIRST, SECOND], ids=["v1", "v2"])
def test_a_control_group_may_allow_less_than_the_machine_has(tmp_path, monkeypatch, group, place, limit, used, endless):
    meminfo, groups, mount = tmp_path / "meminfo", tmp_path / "cgroup", tmp_path / "mount"
    meminfo.write_text("MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\n")
    groups.write_text(group)
    outer = mount / place
    (outer / "inner").mkdir(parents=True)
    for folder, most in ((outer, "3000000000"), (outer / "inner", endless), (tmp_path, "1600000000")):
        (folder / f"memory.{limit}").write_text(f"{most}\n")
        (folder / f"memory.{used}").write_text("1000000000\n")
        (folder / "memory.stat").write_text("cache 7\ninactive_file 500000000\n")
    for name, path in (("MEMINFO", meminfo), ("GROUPS", groups), ("MOUNT", mount)):
        monkeypatch.setattr(tables, name, path)
    assert tables.available_memory() == 2.5e9, "a folder above the mount is no group"
    (outer / f"memory.{limit}").write_text("max\n")
    assert tables.available_memory() == 8000000 * 1024
    groups.unlink()
    assert tables.available_memory() == 8000000 * 1024


def test_a_matrix_of_columns_by_columns_that_does_not_fit_is_refused(file, monkeypatch):
    rng = np.random.default_rng(0)
    rows = [[*row, number % 2] for number, row in enumerate(rng.normal(size=(20, 30)))]
    path = file(csv_text(",".join([*map("c{}".format, range(30)), "y"]), rows), "square.csv")
    problem = get_problem("data_file", path=str(path), label="y", clip=1.0)
    assert problem.draw(20, None).features.shape == (20, 30)  # the file stays in memory
    monkeypatch.setattr(tables, "available_memory", lambda: 8.0 * tables.SQUARES * 29**2)
    with pytest.raises(InputError, match="columns of square.csv = 30: must be at most 29: the minimum needs 8 m"):
        problem.draw(20, None)
    monkeypatch.setattr(tables, "available_memory", lambda: 8.0 * tables.SQUARES * 399**2)
    wide = {f"c{j}": rng.normal(size=3) for j in range(400)} | {"y": [0, 1, 0]}
    text = csv_text(",".join(wide), zip(*wide.values(), strict=True))
    for path in (file(text, "a.csv"), file(wide, "a.parquet")):
        with pytest.raises(InputError, match=f"columns of {path.name} = 400: must be at most 399"):
            tables.read(path, "y")
        assert len(tables.read(path, "y", drop=("c3",)).names) == 399


def test_arrays_are_read_as_a_file_of_them(tmp_path):
    x, y = np.arange(6.0).reshape(3, 2) / 7, np.array([1.0, 0.0, 1.0])
    for labels in (y, y[:, None]):
        found = tables.read(tables.write_records(x, labels, tmp_path), tables.LABEL)
        assert found.labels.tolist() == y.tolist() and found.features.tolist() == x.tolist()
        assert found.names == ("f0", "f1")
