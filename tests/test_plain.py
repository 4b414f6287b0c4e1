"""Records as JSON: what is written is read as it was, whatever the fields declare."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from dpsco_bench.errors import InputError
from dpsco_bench.jsonio import dumps_canonical, loads
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
