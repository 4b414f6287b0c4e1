"""Files of others: how they are fetched, verified and read."""

import gzip
import hashlib
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.datasets import distribution, store
from dpsco_bench.datasets.distribution import ADULT, KDDCUP99
from dpsco_bench.errors import DataAbsent

from .conftest import PACKED, ROOT, refused

ADULT_TEXTS = (b"-1 2:1 10:1\n+1 0:1 122:1 7:1\n", b"-1 5:1 122:0\n")
NUMBERS = "0," * 16 + "8,8,0.00,0.00,0.00,0.00,1.00,0.00,0.00,9,9,1.00,0.00,0.11,0.00,0.00,0.00,0.00,0.00"
NORMAL = f"0,tcp,http,SF,181,5450,{NUMBERS},normal.\n".encode()
ATTACK = f"5,icmp,ecr_i,SF,1032,0,{NUMBERS},smurf.\n".encode()


def known(source, texts):
    digests = [hashlib.sha256(text).hexdigest() for text in texts]
    changed = zip(source.files, digests, strict=True)
    return replace(source, files=tuple(replace(one, sha256=None, text_sha256=digest) for one, digest in changed))


def packed(source, texts):
    return [PACKED[Path(one.name).suffix](text) for one, text in zip(source.files, texts, strict=True)]


def write(folder, source, texts):
    folder.mkdir(parents=True)
    for one, content in zip(source.files, packed(source, texts), strict=True):
        (folder / one.name).write_bytes(content)


def test_adult_counts_columns_from_zero_and_ends_with_its_test_file(tmp_path):
    source = known(ADULT, ADULT_TEXTS)
    write(tmp_path / "adult", source, ADULT_TEXTS)
    table = source.load(tmp_path)
    assert table.features.shape == (3, 123) and table.labels.tolist() == [-1, 1, -1]
    assert [np.flatnonzero(row).tolist() for row in table.features] == [[2, 10], [0, 7, 122], [5]]
    np.testing.assert_allclose(np.linalg.norm(table.features, axis=1), 1.0)


def test_records_of_kdd_count_once_and_depend_on_no_other():
    largest = distribution.parse_kddcup(NORMAL.replace(b"0,tcp", b"99999999999,tcp")).features[0]
    assert largest.max() == largest[0] and largest.min() == 0, "numbers stay within their scale"
    table = distribution.parse_kddcup(NORMAL + ATTACK + NORMAL)
    assert table.features.shape == (2, distribution.KDD_COLUMNS) == (2, 118) and table.labels.tolist() == [-1, 1]
    np.testing.assert_allclose(np.linalg.norm(table.features, axis=1), 1.0)
    np.testing.assert_array_equal(distribution.parse_kddcup(ATTACK).features[0], table.features[1])


def test_fetch_gets_what_is_missing_and_then_only_verifies(tmp_path, served):
    source = known(ADULT, ADULT_TEXTS)
    contents = packed(source, ADULT_TEXTS)
    served |= {one.url: (content, None) for one, content in zip(source.files, contents, strict=True)}
    first = source.fetch(tmp_path / "root")
    assert (first["fetched"], first["rows"], first["positive"]) == (True, 3, 1)
    served.clear()
    assert source.fetch(tmp_path / "root") == {**first, "fetched": False}


@pytest.mark.parametrize("damage", [lambda packed: packed[:-3], lambda packed: gzip.compress(b"other\n")])
def test_what_is_not_the_data_set_is_refused_in_one_line(tmp_path, damage):
    source = known(KDDCUP99, [NORMAL])
    write(tmp_path / "kddcup99", source, [NORMAL])
    path = tmp_path / "kddcup99" / "kddcup.data_10_percent.gz"
    path.write_bytes(damage(path.read_bytes()))
    with refused(store.DataCorrupt) as error:
        source.load(tmp_path)
    assert str(error.value).startswith(str(path))


@pytest.mark.parametrize(
    ("source", "rows", "columns", "positive"), [(ADULT, 48_842, 123, 11_687), (KDDCUP99, 145_586, 118, 57_754)]
)
def test_the_real_files_hold_what_is_known_of_them(source, rows, columns, positive):
    try:
        found = source.verify(ROOT)
    except DataAbsent:
        pytest.skip(f"data absent: {source.name} is neither in DPSCO_DATA_ROOT nor in data/")
    assert (found["rows"], found["columns"], found["positive"]) == (rows, columns, positive)


CONTENT = b"thirty metres of forest" * 1000
DIGEST = hashlib.sha256(CONTENT).hexdigest()
REMOTE = store.RemoteFile("forest.bin", "https://example.invalid/forest.bin", DIGEST)


def download(served, folder, content, error=None):
    """Download the file into a folder, where the network answers so."""
    served[REMOTE.url] = content, error
    store.download(REMOTE, folder, Path.read_bytes)


def test_download_verifies_and_gives_the_final_name(tmp_path, served):
    path = tmp_path / "root" / "forest" / "forest.bin"
    download(served, path.parent, CONTENT)
    assert path.read_bytes() == CONTENT and [p.name for p in path.parent.iterdir()] == ["forest.bin"]
    with pytest.raises(store.FetchError):
        (path.parent / "other").write_bytes(b"mine")
        path.write_bytes(b"old")
        download(served, path.parent, b"new")
    assert {p.name: p.read_bytes() for p in path.parent.iterdir()} == {"forest.bin": b"old", "other": b"mine"}


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionError(SimpleNamespace(), OSError("Name or service not known")), "Name or service not known"),
        (OSError("404 Client Error"), "404 Client Error"),
        (None, "does not match the known hash"),
    ],
)
def test_failed_download_leaves_nothing_and_says_in_one_line_where_the_file_belongs(tmp_path, served, error, reason):
    with refused(store.FetchError, "could not fetch https", reason) as caught:
        download(served, tmp_path / "forest", CONTENT[:-1], error)
    assert str(caught.value).endswith(f"by hand, it belongs in {tmp_path / 'forest' / 'forest.bin'}")
    assert list((tmp_path / "forest").iterdir()) == []


def test_find_file_prefers_the_order_of_names_to_that_of_folders(tmp_path):
    for folder, name in (("b", "first"), ("a", "second")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).touch()
    assert store.find_file(tmp_path, ("a", "b"), ("first", "second")) == tmp_path / "b" / "first"
    assert store.find_file(tmp_path, ("a", "b"), ("third",)) is None


def test_array_digest_depends_on_values_only():
    values = np.arange(12, dtype=np.int16).reshape(3, 4)
    expected = hashlib.sha256(values.astype("<i2").tobytes()).hexdigest()
    assert store.sha256_of_array(values) == expected
    assert store.sha256_of_array(values.astype(">i2")) == expected
    assert store.sha256_of_array(np.asfortranarray(values)) == expected


def test_columns_of_kdd_by_hand():
    row, scales = distribution.parse_kddcup(ATTACK + NORMAL).features[1], [1e9, 1e9, 511, 511, 255, 255]
    counts = np.log1p([181, 5450, 8, 8, 9, 9]) / np.log1p(scales)
    service = 41 + distribution.CATEGORIES[2].split().index("http")
    expected = dict(zip((1, 2, 19, 20, 28, 29), counts, strict=True)) | {25: 1.0, 30: 1.0, 32: 0.11}
    expected |= {39: 1.0, service: 1.0, 116: 1.0}
    norm = math.sqrt(sum(value**2 for value in expected.values()))
    assert {int(j): row[j] * norm for j in np.flatnonzero(row)} == pytest.approx(expected)
