"""Numbers and words of findings, read from the results: a cell of a verdict row, of a board, or a count."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dpsco_bench.analysis.ranking import Standing
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.errors import InputError, nearest
from dpsco_bench.report.inputs import NOT_MEASURED, ClaimResults
from dpsco_bench.site.content import Content

Value = float | str
FORMS = ("claim", "rows", "board", "wins", "points", "errata", "over")
"""The first key of a reference says what it reads."""
TAKES: Mapping[str, Callable[[Sequence[float]], float]] = {"min": min, "max": max, "sum": math.fsum}


class NotMeasured(Exception):
    """What a reference reads is no part of this profile, or could not be run here."""


def value_of(content: Content, reference: Mapping[str, Any], known: Mapping[str, Value], where: str) -> Value:
    """What a reference reads.

    Parameters
    ----------
    reference : mapping
        ``claim`` (with ``part`` or ``parts``, ``calibration``, ``column``; of several cells the one ``at`` a value of
        the swept parameter, or the least or largest by ``take``; ``error: percent`` of a ratio, how far it is from 1);
        ``rows``: how many verdicts have a ``kind``, and of ``words``, ``calibration`` and ``reserved`` what is given;
        ``board`` (with ``instance``, ``at`` a point, ``methods``, ``column``, ``take``); ``wins`` and ``points``: at
        how many decided points of a board's ``instances`` a method of ``methods`` has the least mean risk, and how many
        such points there are; ``errata`` a paper or ``all``; ``over``: two names of
        values before it, whose ratio it is.
    known : mapping, the values before it
    where : str, what an error names

    Raises
    ------
    InputError
        If the results have a claim or board, and not what is read of it.
    NotMeasured
        If the profile does not have it.
    """
    form = next((key for key in FORMS if key in reference), None)
    if form is None:
        raise InputError(where, dict(reference), f"a reference with one of {', '.join(FORMS)}")
    if form == "claim":
        return _of_claim(content, reference, where)
    if form == "rows":
        return _count(content, reference["rows"])
    if form == "board":
        return _of_board(content, reference, where)
    if form in ("wins", "points"):
        return _points(content, reference, str(reference[form]), form == "wins")
    if form == "errata":
        papers = content.inputs.papers if reference["errata"] == "all" else [reference["errata"]]
        return float(sum(len(content.errata.get(paper, ())) for paper in papers))
    above, below = (known[name] for name in reference["over"])
    if isinstance(above, str) or isinstance(below, str) or not below:
        raise InputError(where, reference["over"], "two numbers, the second of them not 0")
    return above / below


def _of_claim(content: Content, reference: Mapping[str, Any], where: str) -> Value:
    claim = next((claim for claim in content.inputs.claims if claim.id == reference["claim"]), None)
    if claim is None:
        raise NotMeasured(f"{reference['claim']} is not in profile {content.inputs.profile}")
    if reference["column"] == "standing":
        return content.claims[claim.id].standing
    parts = reference.get("parts") or [reference.get("part", "")]
    rows = [_row(claim, part, str(reference.get("calibration", "paper")), where) for part in parts]
    found = [value for row in rows for value in _cells(row, reference, where)]
    return _taken(found, reference, where)


def _cells(row: Verdict, reference: Mapping[str, Any], where: str) -> list[Any]:
    """The entries of a row that are meant: all cells, or the one at a value of the swept parameter."""
    found = _entry(row, str(reference["column"]), where)
    listed = list(found) if isinstance(found, tuple | list) else [found]
    if "at" not in reference:
        return listed
    here = [entry for entry, value in zip(listed, row.values, strict=False) if math.isclose(value, reference["at"])]
    if not here:
        raise NotMeasured(f"{row.id} {row.part} has no cell at {reference['at']:g} in profile {row.profile}")
    return here


def _count(content: Content, wanted: Mapping[str, Any]) -> float:
    """How many verdicts of the statements there are; those beside them do not count."""
    rows = [score.row for score in content.scores if not score.row.beside and score.row.kind == wanted["kind"]]
    tests = {
        "words": lambda row: row.word in wanted["words"],
        "calibration": lambda row: row.calibration == wanted["calibration"],
        "reserved": lambda row: wanted["reserved"] in row.reserved,
    }
    return float(sum(all(test(row) for key, test in tests.items() if key in wanted) for row in rows))


def _points(content: Content, reference: Mapping[str, Any], id: str, won: bool) -> float:
    """Decided points of a board, or those of them at which one of some methods has the least mean risk."""
    boards = [board for board in content.inputs.boards if board.id == id]
    rows = [row for board in boards for row in board.rows if isinstance(row, Standing)]
    wanted = set(reference.get("instances", ())) or {row.instance for row in rows}
    here = [row for row in rows if row.instance in wanted and row.runner_up is not None and not row.contenders]
    if not here or not wanted <= {row.instance for row in here}:
        raise NotMeasured(f"{id} has not all of these instances in profile {content.inputs.profile}")
    return float(sum(row.winner in reference["methods"] for row in here) if won else len(here))


def _row(claim: ClaimResults, part: str, calibration: str, where: str) -> Verdict:
    known = {(row.part, row.calibration): row for row in claim.rows}
    row = known.get((part, calibration))
    if row is None:
        names = [" ".join(key) for key in known]
        raise InputError(
            f"{where}: part of {claim.id}", f"{part} {calibration}", nearest(f"{part} {calibration}", names)
        )
    if row.skipped or row.verdict == NOT_MEASURED:
        raise NotMeasured(f"{claim.id} {part} is {row.word}")
    return row


def _entry(row: Verdict, column: str, where: str) -> Any:
    """An entry of a row by its name, that of a mapping or an object behind a dot: ``noise.epsilon_real``."""
    found: Any = row.word if column == "verdict" else None
    if found is None:
        found = row
        for name in column.split(".", 1):
            if isinstance(found, Mapping) and name not in found:
                raise NotMeasured(f"{row.id} {row.part} has no {name} in profile {row.profile}")
            found = found[name] if isinstance(found, Mapping) else getattr(found, name, None)
    if found is None:
        raise InputError(f"{where}: column of {row.id} {row.part}", column, "one that this row has")
    return found


def _taken(found: Sequence[Any], reference: Mapping[str, Any], where: str) -> Value:
    """The one value, the one of an index, or the least or largest of several."""
    take: Any = reference.get("take")
    if reference.get("error") == "percent":
        return 100.0 * abs(float(found[0]) - 1.0)
    if isinstance(take, int):
        return float(found[take])
    if take is None and len(found) == 1:
        return found[0] if isinstance(found[0], str) else float(found[0])
    if take not in TAKES:
        raise InputError(f"{where}: take", take, f"an index or one of {', '.join(TAKES)}, for {len(found)} values")
    numbers = [float(value) for value in found if value is not None and not math.isnan(value)]
    if not numbers:
        raise InputError(where, dict(reference), "a reference to numbers")
    return TAKES[take](numbers)


def _of_board(content: Content, reference: Mapping[str, Any], where: str) -> Value:
    boards = [board for board in content.inputs.boards if board.id == reference["board"]]
    rows = [row for board in boards for row in board.rows if isinstance(row, Standing)]
    here = [row for row in rows if row.instance == reference["instance"] and _lies_at(row, reference.get("at", {}))]
    if not here:
        raise NotMeasured(f"{reference['board']} has no such point in profile {content.inputs.profile}")
    column = str(reference["column"])
    if "methods" not in reference:
        return _taken([getattr(row, column) for row in here], reference, where)
    wanted = set(reference["methods"])
    found = [getattr(method, column) for row in here for method in row.methods if method.method in wanted]
    if not found:
        raise NotMeasured(f"{', '.join(sorted(wanted))} did not run there")
    return _taken(found, reference, where)


def _lies_at(row: Standing, point: Mapping[str, float]) -> bool:
    return all(math.isclose(getattr(row, key), value) for key, value in point.items())
