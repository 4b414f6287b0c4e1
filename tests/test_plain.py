"""Records and JSON conversions round-trip, files appear atomically, and what is kept beside a file is what it says."""

import errno
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_bench import jsonio
from dpsco_bench.errors import InputError
from dpsco_bench.jsonio import dumps_canonical, kept_beside, loads
from dpsco_bench.plain import IF_GIVEN, UNWRITTEN, Plain, Record


@dataclass(frozen=True)
class Point(Record):
    x: float
    name: str = field(default="", metadata=IF_GIVEN)


@dataclass(frozen=True)
class Nothing(Record):
    reason: str


@dataclass(frozen=True)
class Own(Record):
    value: int

    def to_json(self) -> Plain:
        return {"kind": "own", "value": self.value}

    @classmethod
    def from_json(cls, entry: Plain) -> "Own":
        return cls(entry["value"])


@dataclass(frozen=True)
class Everything(Record):
    points: tuple[Point | Nothing, ...]
    pair: tuple[float, float]
    by_name: Mapping[str, tuple[Point, ...]]
    listed: list[Point]
    own: Own
    either: list[float] | str
    place: Path
    perhaps: Point | None = None
    counts: tuple[int, ...] | None = None
    number: float | None = None
    made: object = field(default=None, compare=False, metadata=UNWRITTEN)


FULL = Everything(
    points=(Point(math.inf, "a"), Nothing("why")),
    pair=(1, math.pi),
    by_name={"b": (Point(2.0), Point(3.0))},
    listed=[Point(4.0)],
    own=Own(5),
    either=[6.0],
    place=Path("a/b"),
    perhaps=Point(7.0),
    counts=(8, 9),
    number=10.0,
    made=print,
)
BARE = Everything((), (0.0, 1.0), {}, [], Own(0), "text", Path())


@pytest.mark.parametrize("record", [FULL, BARE])
def test_a_record_is_itself_after_json(record):
    text = dumps_canonical(record)
    back = Everything.from_json(loads(text))
    assert back == record and dumps_canonical(back) == text and back.made is None
    assert [type(value) for value in vars(back).values()][:-1] == [type(value) for value in vars(record).values()][:-1]


def test_null_is_not_a_number_only_where_a_number_is_due():
    back = Everything.from_json({**loads(dumps_canonical(BARE)), "pair": [None, 1], "number": None})
    assert math.isnan(back.pair[0]) and back.pair[1] == 1 and back.number is None


def test_what_is_usual_may_be_left_out():
    assert loads(dumps_canonical(Point(1.0))) == {"x": 1.0} and Point.from_json({"x": 1.0}) == Point(1.0)
    assert "made" not in FULL.to_json()


@pytest.mark.parametrize("wrong", [{}, {"x": 1.0, "y": 2.0}, {"name": "a"}])
def test_keys_that_are_missing_or_unknown_are_named(wrong):
    with pytest.raises(InputError, match=r"^keys of Point = \['[xy]'\]: must be exactly x, name"):
        Point.from_json(wrong)


leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
plain = leaves.filter(lambda leaf: leaf not in ("inf", "-inf"))
names = st.text(max_size=4)
trees = st.recursive(plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner))


@given(trees)
def test_round_trip_keeps_every_value_infinities_included(tree):
    assert loads(dumps_canonical(tree)) == loads(jsonio.dumps_pretty(tree)) == tree


def test_canonical_text_is_sorted_compact_exact_and_strict():
    assert dumps_canonical({"b": [1, 0.1, True], "a": None}) == '{"a":null,"b":[1,0.1,true]}'
    assert dumps_canonical({"x": math.nan, "y": math.inf}) == '{"x":null,"y":"inf"}'


@dataclass
class Place:
    x: float
    y: tuple


def test_special_floats_numpy_and_dataclasses():
    value = {"p": Place(math.nan, (np.float32(0.5), np.int64(3))), "a": np.array([math.inf, -math.inf])}
    assert jsonio.to_jsonable(value) == {"p": {"x": None, "y": [0.5, 3]}, "a": ["inf", "-inf"]}
    assert jsonio.to_jsonable(Path("x/y")) == "x/y"
    assert jsonio.to_jsonable({1: np.bool_(True), "s": {3, 1}}) == {"1": True, "s": [1, 3]}


def test_values_without_a_json_form_and_invalid_texts_are_refused_in_one_line():
    for call, value in ((jsonio.to_jsonable, object()), (loads, "{"), (loads, "")):
        with pytest.raises(InputError) as caught:
            call(value)
        assert "\n" not in str(caught.value)


def test_who_reads_meanwhile_sees_the_old_state(tmp_path):
    """An atomic write makes parents, replaces, and leaves nothing behind."""
    target = tmp_path / "a" / "b.json"
    jsonio.write_atomic(target, "old " * 100)
    with target.open("rb") as reader:
        jsonio.write_atomic(target, "two é\n")
        assert reader.read() == b"old " * 100
    assert target.read_bytes() == "two é\n".encode()
    assert [path.name for path in target.parent.iterdir()] == ["b.json"]


@pytest.mark.parametrize("fails", ["write_bytes", "replace"])
def test_where_there_is_no_place_the_error_names_the_file(tmp_path, monkeypatch, fails):
    """The system names none, or the draft, which is gone by then."""
    target, full = tmp_path / "a" / "b.json", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
    monkeypatch.setattr(jsonio.os if fails == "replace" else jsonio.Path, fails, full)
    with pytest.raises(OSError, match="No space") as caught:
        jsonio.write_atomic(target, "x")
    assert caught.value.filename == str(target) and not list(target.parent.iterdir())


def test_a_file_that_is_filled_in_pieces_is_whole_or_not_there(tmp_path):
    target = tmp_path / "a" / "b.tar.gz"
    for error in (OSError("disk full"), KeyboardInterrupt()):
        with pytest.raises(type(error)), jsonio.whole(target) as draft:
            assert draft.name.endswith("b.tar.gz") and draft.parent == target.parent
            draft.write_bytes(b"half")
            raise error
        assert not list(target.parent.iterdir())
    with jsonio.whole(target) as draft:
        draft.write_bytes(b"all")
        assert not target.exists()
    assert [path.name for path in target.parent.iterdir()] == ["b.tar.gz"] and target.read_bytes() == b"all"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one")
    return path


@pytest.fixture
def reader():
    return Mock(side_effect=lambda content: {"text": content.decode()})


def test_a_file_is_read_once_for_each_content_and_salt(source, reader):
    for text, salt, calls in (("one", "", 1), ("one", "", 1), ("two", "", 2), ("two", "other", 3)):
        source.write_text(text)
        assert kept_beside(source, ".x", reader, salt=salt) == {"text": text} and reader.call_count == calls


@pytest.mark.parametrize("damage", ["", "x", "0\nnull"])
def test_what_is_damaged_is_read_again(source, reader, damage):
    kept_beside(source, ".x", reader)
    (kept,) = (source.parent / "__pycache__").iterdir()
    kept.write_text(damage)
    for _ in range(2):
        assert kept_beside(source, ".x", reader) == {"text": "one"} and reader.call_count == 2


def test_where_nothing_can_be_kept_it_is_read_each_time(source, reader):
    (source.parent / "__pycache__").write_text("a file in the folder's place")
    assert kept_beside(source, ".x", reader) == kept_beside(source, ".x", reader) == {"text": "one"}
    assert reader.call_count == 2
