import hashlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.datasets import store

CONTENT = b"thirty metres of forest" * 1000
DIGEST = hashlib.sha256(CONTENT).hexdigest()


def serve(content):
    def downloader(url, path, pooch):
        Path(path).write_bytes(content)

    return downloader


def fail(error):
    def downloader(url, path, pooch):
        Path(path).write_bytes(CONTENT[:100])
        raise error

    return downloader


REMOTE = store.RemoteFile("forest.bin", "https://example.invalid/forest.bin", DIGEST)


def test_download_verifies_and_gives_the_final_name(tmp_path):
    path = store.download(REMOTE, tmp_path / "root" / "forest", downloader=serve(CONTENT))
    assert path == tmp_path / "root" / "forest" / "forest.bin"
    assert path.read_bytes() == CONTENT
    assert [p.name for p in path.parent.iterdir()] == ["forest.bin"]


@pytest.mark.parametrize(
    ("downloader", "reason"),
    [
        (fail(ConnectionError(SimpleNamespace(), OSError("Name or service not known"))), "Name or service not known"),
        (fail(OSError("404 Client Error")), "404 Client Error"),
        (serve(CONTENT[:-1]), "does not match the known hash"),
    ],
)
def test_failed_download_leaves_nothing_and_says_in_one_line_where_the_file_belongs(tmp_path, downloader, reason):
    with pytest.raises(store.FetchError, match="could not fetch https") as caught:
        store.download(REMOTE, tmp_path / "forest", downloader=downloader)
    assert reason in str(caught.value) and "\n" not in str(caught.value)
    assert str(caught.value).endswith(f"by hand, it belongs in {tmp_path / 'forest' / 'forest.bin'}")
    assert list((tmp_path / "forest").iterdir()) == []


def test_failed_download_leaves_the_old_file_and_its_neighbours(tmp_path):
    (tmp_path / "forest.bin").write_bytes(b"old")
    (tmp_path / "other").write_bytes(b"mine")
    with pytest.raises(store.FetchError):
        store.download(REMOTE, tmp_path, downloader=serve(b"new"))
    assert sorted((p.name, p.read_bytes()) for p in tmp_path.iterdir()) == [
        ("forest.bin", b"old"),
        ("other", b"mine"),
    ]


def test_a_file_of_another_content_is_removed(tmp_path):
    def check(path):
        raise store.DataCorrupt(path, "wrong trees")

    with pytest.raises(store.FetchError, match="wrong trees"):
        store.download(store.RemoteFile("forest.bin", REMOTE.url), tmp_path, check=check, downloader=serve(CONTENT))
    assert list(tmp_path.iterdir()) == []


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
