"""What a claim's file may say under `expected`: the verdict of the specification's study, or else the author's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpsco_bench.algorithms.registry import CALIBRATIONS
from dpsco_bench.claims.kinds import Kind
from dpsco_bench.errors import InputError

OR = " or "


def check_expected(text: str, kind: Kind, calibrations: Sequence[str], where: str) -> None:
    """Check what is expected of a part.

    Raises InputError for another text.

    Parameters
    ----------
    text : str
        A verdict of the kind, several with ``or`` between them where the study calls it borderline, or
        ``<calibration> <verdict>, ...``; empty for no expectation.
    """
    entries = list(_entries(text))
    named = [calibration for calibration, _ in entries]
    told_apart = len(set(named)) == len(named) and set(named) <= set(calibrations)
    verdicts = [word for _, verdict in entries for word in verdict.split(OR)]
    if entries and not ((named == [""] or told_apart) and set(verdicts) <= set(kind.words)):
        allowed = f"empty, or for kind {kind.name} one of {', '.join(kind.words)}"
        if len(calibrations) > 1:
            allowed += f", or one for each calibration: '{calibrations[0]} {next(iter(kind.words))}, ...'"
        raise InputError(f"{where}: expected", text, allowed)


def expected_words(text: str, calibration: str) -> tuple[str, ...]:
    """The verdicts that are expected of a part under a calibration; nothing where none is."""
    found = dict(_entries(text))
    return tuple(word for word in found.get(calibration, found.get("", "")).split(OR) if word)


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """(calibration or nothing, verdict) of each entry."""
    for entry in text.split(", ") if text else ():
        first, _, rest = entry.partition(" ")
        yield (first, rest) if first in CALIBRATIONS else ("", entry)
