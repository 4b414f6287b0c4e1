"""What is kept beside a file is what reading it gives, whatever happens to the file, the kept text or the folder."""

import pytest

from dpsco_bench.jsonio import kept_beside


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one")
    return path


@pytest.fixture
def reader():
    """Counts its calls."""

    class Reader:
        calls = 0

        def __call__(self, content):
            self.calls += 1
            return {"text": content.decode()}

    return Reader()


def kept(source):
    (path,) = (source.parent / "__pycache__").iterdir()
    return path


def test_a_file_is_read_once_for_each_content_and_salt(source, reader):
    assert kept_beside(source, ".x", reader) == kept_beside(source, ".x", reader) == {"text": "one"}
    assert reader.calls == 1
    source.write_text("two")
    assert kept_beside(source, ".x", reader) == {"text": "two"} and reader.calls == 2
    kept_beside(source, ".x", reader, salt="other")
    assert reader.calls == 3


@pytest.mark.parametrize("damage", ["", "x", "0\nnull"])
def test_what_is_damaged_is_read_again(source, reader, damage):
    kept_beside(source, ".x", reader)
    kept(source).write_text(damage)
    assert kept_beside(source, ".x", reader) == {"text": "one"} and reader.calls == 2
    assert kept_beside(source, ".x", reader) == {"text": "one"} and reader.calls == 2


def test_where_nothing_can_be_kept_it_is_read_each_time(source, reader):
    (source.parent / "__pycache__").write_text("a file in the folder's place")
    assert kept_beside(source, ".x", reader) == kept_beside(source, ".x", reader) == {"text": "one"}
    assert reader.calls == 2


def test_values_that_json_changes_are_not_kept(source):
    assert kept_beside(source, ".x", lambda _: {1: "a"}) == {1: "a"}
    assert not (source.parent / "__pycache__").exists()
