"""docs/mutants.md: every seeded defect, the test that catches it, and about how long that takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.mutants.bench import STOPPED, Outcome
from tests.mutants.catalogue import LAYERS, ROOT, Mutant

PAGE = ROOT / "docs" / "mutants.md"
STEPS = (5.0, 15.0, 60.0)
"""Upper ends of the times that are told, in seconds."""
TOLD = {f"< {end:.0f} s": end for end in STEPS}
NOT_TRIED, NO_END = "not tried", "does not end"
LEEWAY = 2.0
"""A time that is told stays while the measured one is within this factor of its range: machines differ."""
INTRODUCTION = (
    "# Seeded defects\n\n"
    "{count} defects of a few lines, put into a copy of this repository one at a time. Each is caught by the test "
    "beside it.\n`make mutants` tries all of them and writes this page, `python -m tests.mutants NAME ...` tries "
    "some.\nThey lie in `tests/mutants/`, a file for each layer. The test suite checks that each still applies and "
    "that its test exists.\nA time is that of one process on one core, in CPU seconds.\n"
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


def text_of(mutants: Iterable[Mutant], times: Mapping[str, str]) -> str:
    """The page.

    Parameters
    ----------
    times : mapping, id -> time as the page is to tell it; a defect without one has not been tried
    """
    found = list(mutants)
    parts = [INTRODUCTION.format(count=len(found))]
    for layer in LAYERS:
        own = [mutant for mutant in found if mutant.layer == layer]
        rows = [f"| {_row(mutant, times.get(mutant.id, NOT_TRIED))} |" for mutant in own]
        head = [f"## {layer.capitalize()}\n", "| Defect | What it is | Caught by | Time |", "|---|---|---|---|"]
        parts += ["\n".join([*head, *rows, ""])] * bool(own)
    return "\n".join(parts)


def _row(mutant: Mutant, time: str) -> str:
    place = mutant.test.removeprefix("tests/").partition("[")[0]
    return " | ".join((f"`{mutant.id}`", mutant.why.replace("|", "\\|"), f"`{place}`", time))


def times_of(outcomes: Iterable[Outcome], before: Mapping[str, str]) -> dict[str, str]:
    """Times as the page tells them: of what was tried, and as before of everything else."""
    tried = {
        found.mutant.id: NO_END if found.word == STOPPED else time_text(found.seconds, before.get(found.mutant.id, ""))
        for found in outcomes
    }
    return {**before, **tried}


def write(mutants: Iterable[Mutant], outcomes: Iterable[Outcome], path: Path = PAGE) -> None:
    """Write the page of all mutants, with the times of those that were tried."""
    before = told_times(path.read_text(encoding="utf-8")) if path.is_file() else {}
    path.write_text(text_of(mutants, times_of(outcomes, before)), encoding="utf-8")
