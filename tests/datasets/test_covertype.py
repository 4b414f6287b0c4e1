from dataclasses import replace

import numpy as np
import pytest

from dpsco_bench.datasets import covertype, store
from dpsco_bench.datasets.covertype import one_class_rows
from dpsco_bench.datasets.distribution import ADULT, KDDCUP99
from dpsco_bench.errors import DataAbsent, InputError

from .conftest import ROOT, refused


def files_below(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("folder", covertype.FOLDERS)
@pytest.mark.parametrize("name", covertype.FILES)
def test_every_format_gives_the_same_content(tmp_path, source, folder, name):
    path = source.write(tmp_path / folder / name)
    features, labels = covertype.load(tmp_path)
    assert covertype.verify(tmp_path)["file"] == str(path)
    assert features.dtype == np.int16
    assert labels.dtype == np.uint8
    np.testing.assert_array_equal(features, source.features)
    np.testing.assert_array_equal(labels, source.labels)


@pytest.mark.parametrize("options", [{"number": "{:.0f}"}, {"labels": ("2", "1")}, {"labels": ("-1", "+1")}])
def test_libsvm_numbers_and_label_conventions(tmp_path, source, options):
    path = source.write(tmp_path / "covtype.libsvm.binary", **options)
    np.testing.assert_array_equal(covertype.read(path)[1], source.labels)


def test_a_file_may_be_unpacked_without_being_renamed(tmp_path, source):
    (tmp_path / "covtype.data.gz").write_bytes(source.uci_text())
    np.testing.assert_array_equal(covertype.read(tmp_path / "covtype.data.gz")[0], source.features)


@pytest.mark.parametrize("name", covertype.SCALED)
def test_scaled_file_is_refused(tmp_path, source, name):
    source.write(tmp_path / "covertype" / name, scale=4096)
    with refused(InputError, name, "unscaled"):
        covertype.load(tmp_path)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *((name, lambda text: text[: len(text) // 2]) for name in covertype.FILES),
        ("covtype.data", lambda text: text.replace(b"2", b"3", 1)),
        ("covtype.data", lambda text: text + text.splitlines()[0]),
        ("covtype.data", lambda text: text.replace(b",", b",99999,", 1)),
        ("covtype.data", lambda text: b"\n".join(line[:-2] for line in text.splitlines())),
        ("covtype.libsvm.binary", lambda text: text.replace(b"11:1", b"11:2", 1)),
        ("covtype.libsvm.binary", lambda text: text.replace(b" 11:", b" eleven:", 1)),
        ("covtype.libsvm.binary", lambda text: text.replace(b" 11:1", b" 11:100000", 1)),
        ("covtype.libsvm.binary", lambda text: text.replace(b"\n2 ", b"\n3 ", 1)),
    ],
)
def test_damaged_files_are_refused_in_one_line(tmp_path, source, name, damage):
    path = source.write(tmp_path / name)
    path.write_bytes(damage(path.read_bytes()))
    with refused(store.DataCorrupt, name):
        covertype.read(path)


WRONG = {
    "numeric": lambda array: array.T,
    "soil_type": lambda array: np.where(np.arange(len(array)) == 0, 41, array).astype(array.dtype),
    "wilderness_area": lambda array: np.where(np.arange(len(array)) == 0, 0, array).astype(array.dtype),
    "is_class_2": lambda array: array ^ (np.arange(len(array)) == 0),
}


@pytest.mark.parametrize("key", WRONG)
def test_compact_files_with_wrong_arrays_are_refused(tmp_path, source, key):
    path = source.write(tmp_path / "covtype.npz")
    with np.load(path) as arrays:
        content = dict(arrays)
    np.savez(path, **{**content, key: WRONG[key](content[key])})
    with refused(store.DataCorrupt):
        covertype.read(path)


COVERTYPE = (covertype.load, covertype.verify, lambda root: covertype.covertype(10, root))
OTHERS = [("adult", ADULT.find), ("kddcup99", KDDCUP99.find)]


@pytest.mark.parametrize(("name", "call"), [*(("covertype", call) for call in COVERTYPE), *OTHERS])
def test_absent_data_name_the_command(tmp_path, name, call):
    command = f"python -m dpsco_bench data {name}"
    with refused(DataAbsent, command) as error:
        call(tmp_path)
    assert error.value.command == command


def test_fetch_falls_back_and_then_only_verifies(tmp_path, source, served):
    served[covertype.REMOTE_FILES[1].url] = source.content("covtype.libsvm.binary.bz2"), None
    root = tmp_path / "root"
    first = covertype.fetch(root)
    assert first["fetched"] is True
    assert files_below(root) == ["covertype/covtype.libsvm.binary.bz2"]
    served.clear()
    assert covertype.fetch(root) == {**first, "fetched": False}
    assert first["class_2"] == int(source.labels.sum())


@pytest.mark.parametrize("known", [True, False])
def test_fetch_refuses_a_wrong_file(tmp_path, source, served, monkeypatch, known):
    served[covertype.REMOTE_FILES[0].url] = source.content("covtype.data.gz"), None
    if not known:
        monkeypatch.setattr(covertype, "REMOTE_FILES", [replace(one, sha256=None) for one in covertype.REMOTE_FILES])
        monkeypatch.setattr(covertype, "LABELS_SHA256", "another")
    with refused(store.FetchError, "does not match the known hash" if known else "not the expected one"):
        covertype.fetch(tmp_path / "root")
    assert files_below(tmp_path / "root") == []


def test_a_sample_is_the_beginning_of_a_fixed_order(tmp_path, source):
    source.write(tmp_path / "covertype" / "covtype.npz")
    large, small = (covertype.covertype(rows, tmp_path) for rows in (500, 60))
    np.testing.assert_array_equal(small.labels, large.labels[:60])
    chosen = store.permutation("covertype/rows", 600)[:60]
    np.testing.assert_array_equal(small.labels, np.where(source.labels[chosen] == 1, 1.0, -1.0))


ABSENT = store.find_file(ROOT, covertype.FOLDERS, covertype.FILES) is None


@pytest.mark.skipif(ABSENT, reason="data absent: Covertype is neither in DPSCO_DATA_ROOT nor in data/")
class TestRealData:
    def test_content_and_class_counts(self):
        facts = covertype.verify(ROOT)
        assert (facts["rows"], facts["columns"], facts["class_2"]) == (581_012, 54, 283_301)

    def test_paper_sample(self):
        sample = covertype.covertype(200_000, ROOT)
        assert sample.features.shape == (200_000, 54)
        assert np.linalg.matrix_rank(sample.features) == 53
        assert np.linalg.norm(sample.features, axis=1).max() == pytest.approx(1, abs=1e-14)

    def test_one_class_soil_types_of_erratum_e16(self):
        features, labels = covertype.load(ROOT)
        by_soil = features[:, 14:].astype(bool)
        sizes, class_2 = by_soil.sum(axis=0), by_soil[labels == 1].sum(axis=0)
        assert (np.flatnonzero(class_2 == 0) + 1).tolist() == [1, 5, 14, 15, 37]
        assert (np.flatnonzero(class_2 == sizes) + 1).tolist() == [7]
        sample = covertype.covertype(covertype.ROWS, ROOT)
        assert one_class_rows(sample.features, sample.labels).sum() == 5633
