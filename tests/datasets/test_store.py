import hashlib
import http.client
import io
import urllib.error

import numpy as np
import pytest

from dpsco_bench.datasets import store

CONTENT = b"thirty metres of forest" * 1000
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Response(io.BytesIO):
    def __init__(self, content, announced=None):
        super().__init__(content)
        self.headers = {"Content-Length": str(len(content) if announced is None else announced)}


def serve(content, announced=None):
    return lambda url, timeout: Response(content, announced)


def fail(error):
    def opener(url, timeout):
        raise error

    return opener


class Interrupted(Response):
    """Gives one piece of the file, then fails."""

    def __init__(self, error):
        super().__init__(CONTENT)
        self.error = error

    def read(self, size=-1):
        if self.tell():
            raise self.error
        return super().read(100)


REMOTE = store.RemoteFile("forest.bin", "https://example.invalid/forest.bin", DIGEST)


def test_download_verifies_and_gives_the_final_name(tmp_path):
    path = store.download(REMOTE, tmp_path / "root" / "forest", opener=serve(CONTENT))
    assert path == tmp_path / "root" / "forest" / "forest.bin"
    assert path.read_bytes() == CONTENT
    assert [p.name for p in path.parent.iterdir()] == ["forest.bin"]


@pytest.mark.parametrize(
    ("opener", "reason"),
    [
        (fail(urllib.error.URLError("Name or service not known")), "no answer"),
        (fail(urllib.error.HTTPError("u", 404, "Not Found", None, None)), "HTTP 404 Not Found"),
        (fail(TimeoutError()), "TimeoutError"),
        (fail(http.client.BadStatusLine("?")), "?"),
        (serve(CONTENT[:-1], announced=len(CONTENT)), "connection closed after"),
        (serve(CONTENT[:-1]), "not the expected one"),
        (lambda url, timeout: Interrupted(ConnectionResetError("reset by peer")), "reset by peer"),
    ],
)
def test_failed_download_leaves_nothing_and_says_why_in_one_line(tmp_path, opener, reason):
    with pytest.raises(store.FetchError, match="could not fetch https") as caught:
        store.download(REMOTE, tmp_path / "root" / "forest", opener=opener)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_interrupted_download_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        store.download(REMOTE, tmp_path / "root", opener=lambda url, timeout: Interrupted(KeyboardInterrupt()))
    assert list(tmp_path.iterdir()) == []


def test_failed_download_leaves_the_old_file_and_its_neighbours(tmp_path):
    (tmp_path / "forest.bin").write_bytes(b"old")
    (tmp_path / "other").write_bytes(b"mine")
    with pytest.raises(store.FetchError):
        store.download(REMOTE, tmp_path, opener=serve(b"new"))
    assert sorted((p.name, p.read_bytes()) for p in tmp_path.iterdir()) == [
        ("forest.bin", b"old"),
        ("other", b"mine"),
    ]


def test_content_check_runs_before_the_final_name(tmp_path):
    def check(path):
        assert not (tmp_path / "forest.bin").exists()
        raise store.DataCorrupt(path, "wrong trees")

    remote = store.RemoteFile("forest.bin", REMOTE.url)
    with pytest.raises(store.FetchError, match="wrong trees"):
        store.download(remote, tmp_path, check=check, opener=serve(CONTENT))
    assert list(tmp_path.iterdir()) == []


def test_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "root").write_bytes(b"a file, not a folder")
    with pytest.raises(store.FetchError) as caught:
        store.download(REMOTE, tmp_path / "root" / "forest", opener=serve(CONTENT))
    assert "\n" not in str(caught.value)


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
