"""Marks of what was drawn: whatever is no longer what was written is seen, named and set aside."""

from __future__ import annotations

import pytest

from dpsco_bench.execution.drawn import drawing, stands
from dpsco_bench.execution.store import looking


@pytest.fixture
def drawn(tmp_path):
    """A mark, and two files that were drawn with it, one of them in another folder."""
    mark, files = tmp_path / "figures" / ".a.drawn", [tmp_path / "figures" / "a.svg", tmp_path / "page.html"]
    mark.parent.mkdir()
    with drawing(mark, "plan 1") as made:
        for path in files:
            path.write_text("drawn")
        made.files += files
    return mark, files


def test_what_was_drawn_without_something_is_drawn_anew_when_that_is_there(tmp_path, capsys):
    mark, page, table = tmp_path / ".mark", tmp_path / "page.html", tmp_path / "store" / "table.parquet"
    for absent in ([], [table]):
        with drawing(mark) as made:
            page.write_text("drawn")
            made.files.append(page)
            made.absent = absent
        assert stands(mark, [page])
    table.parent.mkdir()
    table.write_text("made anew")
    assert not stands(mark, [page]) and capsys.readouterr().err == ""


def test_what_was_drawn_stands_until_it_is_made_from_something_else(drawn, capsys):
    mark, files = drawn
    assert stands(mark, files, "plan 1") and stands(mark, files[:1], "plan 1")
    assert not stands(mark, files, "plan 2")
    assert not stands(mark, [*files, mark.with_name("b.svg")], "plan 1")
    assert capsys.readouterr().err == ""


def test_a_missing_file_is_drawn_anew_without_a_word(drawn, capsys):
    mark, files = drawn
    files[1].unlink()
    assert not stands(mark, files[:1], "plan 1") and capsys.readouterr().err == ""


@pytest.mark.parametrize("number", [0, 1])
def test_a_changed_file_is_named_and_set_aside(drawn, capsys, number):
    mark, files = drawn
    files[number].write_text("draw")
    with looking() as seen:
        assert not stands(mark, files, "plan 1") and seen == [files[number]]
    assert files[number].is_file() and "to be set aside" in capsys.readouterr().err
    assert not stands(mark, files, "plan 1")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"dpsco: {files[number]} is damaged (") and not files[number].exists()


def test_what_is_drawn_right_now_has_no_mark(drawn):
    mark, files = drawn
    with pytest.raises(KeyboardInterrupt), drawing(mark, "plan 1"):
        assert not stands(mark, files, "plan 1")
        raise KeyboardInterrupt
    assert not mark.exists()
    mark.write_text("damaged")
    assert not stands(mark, files, "plan 1") and not mark.exists()
