"""docs/mutants.md: every seeded defect, the test that catches it, and about how long that takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.mutants.bench import STOPPED, Outcome
from tests.mutants.catalogue import LAYERS, ROOT

PAGE = ROOT / "docs" / "mutants.md"
STEPS = (5.0, 15.0, 60.0)
"""Upper ends of the times that are told, in seconds."""
TOLD = {f"< {end:.0f} s": end for end in STEPS}
LEEWAY = 2.0
"""A time that is told stays while the measured one is within this factor of its range: machines differ."""
INTRODUCTION = (
    "# Seeded defects\n\n"
    "{count} defects of a few lines, put into a copy of this repository one at a time. Each is caught by the test "
    "beside it.\n`make mutants` tries all of them and writes this page; `python -m tests.mutants NAME ...` tries "
    "some.\nThey lie in `tests/mutants/`, a file for each layer. The test suite checks that each still applies and "
    "that its test exists.\nA time is that of one process on one core.\n"
)


def told_times(page: str) -> dict[str, str]:
    """Id -> time as a page tells it."""
    return dict(re.findall(r"^\| `([\w-]+)` \|.*\| ([^|]+) \|$", page, re.M))


def time_text(seconds: float, before: str = "") -> str:
    """A time as the page tells it, unchanged where it is still about right."""
    found = next((text for text, end in TOLD.items() if seconds <= end), f"> {STEPS[-1]:.0f} s")
    ends = (0.0, *STEPS, float("inf"))
    if before in TOLD:
        place = list(TOLD).index(before)
        if ends[place] / LEEWAY <= seconds <= LEEWAY * ends[place + 1]:
            return before
    return found


def text_of(outcomes: Iterable[Outcome], before: Mapping[str, str]) -> str:
    """The page.

    Parameters
    ----------
    before : mapping, id -> time as the page tells it so far
    """
    found = list(outcomes)
    parts = [INTRODUCTION.format(count=len(found))]
    for layer in LAYERS:
        own = [outcome for outcome in found if outcome.mutant.layer == layer]
        if not own:
            continue
        parts.append(f"## {layer.capitalize()}\n\n| Defect | What it is | Caught by | Time |\n|---|---|---|---|")
        parts[-1] += "".join(f"\n| {_row(outcome, before.get(outcome.mutant.id, ''))} |" for outcome in own) + "\n"
    return "\n".join(parts)


def _row(outcome: Outcome, before: str) -> str:
    mutant = outcome.mutant
    place = mutant.test.removeprefix("tests/").partition("[")[0]
    took = "does not end" if outcome.word == STOPPED else time_text(outcome.seconds, before)
    return " | ".join((f"`{mutant.id}`", mutant.why.replace("|", "\\|"), f"`{place}`", took))


def write(outcomes: Iterable[Outcome], path: Path = PAGE) -> None:
    """Write the page."""
    before = told_times(path.read_text(encoding="utf-8")) if path.is_file() else {}
    path.write_text(text_of(outcomes, before), encoding="utf-8")
