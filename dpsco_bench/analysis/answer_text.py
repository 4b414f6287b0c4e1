"""The sentences that answer a claim: short ones, a noise at a time; rows and reasons stand in the table below them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dpsco_bench.analysis.heard import (
    BY_CONSTRUCTION,
    BY_SCHEDULE,
    NO,
    UNDECIDED,
    VACUOUS,
    WEIGHT,
    YES,
    Regime,
    Row,
)
from dpsco_bench.analysis.noise import Noise
from dpsco_bench.claims.kinds import get_kind
from dpsco_bench.privacy.ledger import ELSEWHERE, STATUS_CLAUSES

TOLD = (YES, BY_SCHEDULE, BY_CONSTRUCTION, VACUOUS, UNDECIDED, NO)
"""Answers in the order of a sentence."""
LONGEST = 30
"""Words of a sentence."""
MOST_NAMED = 3
"""Of more parts than this the number is told, and not their names."""
MOST_PLACES = 5
"""Parameters after one word."""
BY_DESIGN = "Our noise is private by construction, which confirms nothing."
NOTHING_CLAIMED = "Nothing definite is claimed: measured values are shown."


def words(text: str) -> int:
    """How many words a text has; signs alone are none."""
    return len(re.findall(r"\S*\w\S*", text))


def by_noise(printed: Regime, ours: Regime, others: Sequence[Row]) -> list[str]:
    """What each noise shows, and whether it is private; that ours is stands in what it is called."""
    silent = [row for row in others if row.verdict.calibration == "none"]
    private = "with private noise" if ours.private else "with the accounted noise"
    own = private if ours.run_with else "in the private version"
    return [
        *_shown(printed.rows, "with the printed noise" if printed.run_with else "as printed"),
        *(_status(printed) if printed.rows and printed.run_with else []),
        *_shown(ours.rows, own),
        *(_status(ours) if ours.rows and ours.run_with and not ours.private else []),
        *_shown(silent, "without noise"),
    ]


def on_privacy(judged: Sequence[Row], says: str, noise: Noise | None, whose: str) -> list[str]:
    """Of a claim on nothing but the privacy of noise."""
    own = [row for row in judged if row.says == says]
    told = [_sentence(f"{says}: {whose} {_is(noise, says == YES)}")]
    if len(own) < len(judged):
        told.append(f"That is in {len(own)} of {len(judged)} parts{_names(own, ', namely ')}.")
    return told + _elsewhere(noise)


def limits(rows: Iterable[Row], scopes: Mapping[str, str]) -> list[str]:
    """What has not been measured of the statement, by kind, and what stands beside it."""
    told = [f"Not all of the statement is measured: the {of} is at {at}." for at, of in scopes.items()]
    apart = [BY_CONSTRUCTION if row.by_construction else row.says for row in rows]
    counts = Counter(YES if said == BY_SCHEDULE else said for said in apart if said)
    found = ", ".join(f"{counts[said]} {said}" for said in TOLD if counts[said])
    return [*told, *([f"Beside the statement, not counted: {found}."] if found else [])]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _shown(rows: Sequence[Row], phrase: str) -> list[str]:
    """``With the printed noise: rate yes in d, undecided in n (1 of 5), explicit bound yes.``, in as few sentences."""
    found: list[str] = []
    line, last = f"{phrase}:", ""
    for topic, said in _answers(rows):
        more = said if topic == last else f"{topic} {said}"
        joined = f"{line} {more}" if line.endswith(":") else f"{line}, {more}"
        if words(joined) > LONGEST and not line.endswith(":"):
            found.append(_sentence(line))
            joined = f"{topic} {said}"
        line, last = joined, topic
    return [*found, _sentence(line), *_deviating(rows)] if rows else []


def _status(regime: Regime) -> list[str]:
    """Whether the noise that rows ran with is private, and that of rows on privacy where it is worse."""
    own, most = regime.run_with, regime.noise
    told = [_sentence(f"this noise {_is(own, False)}"), *_elsewhere(own)]
    if own and most and own.status != most.status:
        told += [_sentence(f"elsewhere it {_is(most, False)}"), *_elsewhere(most)]
    return told


def _is(noise: Noise | None, private: bool) -> str:
    """``is not private (eps >= 12,900 for 1)``."""
    if noise is None:
        return f"is {STATUS_CLAUSES['proven' if private else 'unproven']}"
    return f"is {(replace(noise, status='proven') if private else noise).told}"


def _elsewhere(noise: Noise | None) -> list[str]:
    return [f"That is {ELSEWHERE}."] if noise and noise.elsewhere else []


def _answers(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Topic and answer, such as ``rate`` and ``yes in d``; a topic with several answers comes several times."""
    topics: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.order):
        topics.setdefault(row.topic, []).append(row)
    return [(topic, said) for topic, found in topics.items() for said in _of_topic(found)]


def _of_topic(rows: Sequence[Row]) -> list[str]:
    told: dict[str, list[str]] = {}
    for place, own in _places(rows).items():
        worst = min((row.says for row in own), key=WEIGHT.index)
        told.setdefault(worst, []).append(" ".join(filter(None, (place, _share(worst, own)))))
    return [
        _told(said, told[said][first : first + MOST_PLACES])
        for said in TOLD
        for first in range(0, len(told.get(said, ())), MOST_PLACES)
    ]


def _places(rows: Sequence[Row]) -> dict[str, list[Row]]:
    places: dict[str, list[Row]] = {}
    for row in rows:
        places.setdefault(row.place, []).append(row)
    return places


def _share(said: str, rows: Sequence[Row]) -> str:
    """How many rows an answer comes from; of a yes, how many are vacuous."""
    own = [row for row in rows if row.says == (VACUOUS if said == YES else said)]
    return f"({len(own)} of {len(rows)}{' vacuous' * (said == YES)})" if 0 < len(own) < len(rows) else ""


def _deviating(rows: Sequence[Row]) -> list[str]:
    """Which parts are not decided as their neighbours are, each with its word: ``Not observable: single_record-n.``."""
    named: list[Row] = []
    for topic in dict.fromkeys(row.topic for row in rows):
        for own in _places([row for row in rows if row.topic == topic]).values():
            worst = min((row.says for row in own), key=WEIGHT.index)
            deviating = [row for row in own if row.says == worst]
            named += deviating if worst in (NO, UNDECIDED) and len(deviating) < len(own) else []
    found: dict[str, list[Row]] = {}
    for row in sorted(named, key=lambda row: row.order):
        found.setdefault(row.verdict.word.replace("_", " "), []).append(row)
    told = [_names(own, f"{word}: ") for word, own in found.items()]
    return [_sentence(text) for text in told if text] if len(named) <= MOST_NAMED else []


def _names(rows: Sequence[Row], before: str) -> str:
    """Names of parts after some text; nothing for many, or for rows without names."""
    parts = [row.verdict.part for row in sorted(rows, key=lambda row: row.order)]
    return before + ", ".join(parts) if len(parts) <= MOST_NAMED and all(parts) else ""


def _told(said: str, places: Sequence[str]) -> str:
    """``yes in n and d``; of a kind without places ``no (1 of 13)``."""
    named = [place for place in places if place]
    if not named:
        return said
    if len(named) == 1 and named[0].startswith("("):
        return f"{said} {named[0]}"
    return f"{said} in " + (", ".join(named[:-1]) + " and " if len(named) > 1 else "") + named[-1]


def kinds_scoped(rows: Iterable[Row]) -> dict[str, str]:
    """Values that alone were run -> title of the kind that speaks of no others."""
    stated = [row.verdict for row in rows]
    return {row.scope: get_kind(row.kind).title for row in stated if row.scope and not row.skipped}
