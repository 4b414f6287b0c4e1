"""The sentence that answers a claim: a clause for each noise; rows, reasons and counts stand in the table below it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dpsco_bench.analysis.heard import BY_SCHEDULE, NO, UNDECIDED, VACUOUS, WEIGHT, YES, Regime, Row
from dpsco_bench.analysis.noise import LAW_NEITHER, Noise
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import get_kind
from dpsco_bench.privacy.ledger import STATUS_CLAUSES

TOLD = (YES, BY_SCHEDULE, VACUOUS, UNDECIDED, NO)
"""Answers in the order of a sentence."""
LONGEST = 45
"""Words of an answer where it can be; a longer one leaves out what is vacuous in a yes, and asides on privacy."""
MOST_NAMED = 3
"""Of more parts than this the number is told, and not their names."""
MOST_PLACES = 5
"""Of more parameters after one word the number is told."""
ROWS = re.compile(r"(?<=\d) rows(?=\)| vacuous\))")
"""What `_share` counts, behind its numbers."""
BY_DESIGN = "Only our noise was checked; it is private by construction, which confirms nothing."
Clause = tuple[Sequence[Row], str]
"""Rows, and the noise that they ran with in words."""


def words(text: str) -> int:
    """How many words a text has; signs alone are none."""
    return len(re.findall(r"\S*\w\S*", text))


def shown(rows: Iterable[Verdict]) -> str:
    """Of a claim that nothing is judged of, and why: as the words of its rows say."""
    why = {row.meaning.meaning.rpartition(": ")[2] for row in rows if row.meaning.outcome == "shown"}
    return sentence(": ".join(filter(None, ("shown, not judged", ", and ".join(sorted(why))))))


def with_others(said: str, reasons: Sequence[str]) -> str:
    """A sentence that also tells what most of the rows beside the statement are, where there are any."""
    most = max(sorted(set(reasons)), key=reasons.count, default="")
    return f"{said.removesuffix('.')}; {most.partition(':')[0]}." if most else said


def with_contrary(said: str, rows: int) -> str:
    """A sentence that tells of rows beside the statement that go against it."""
    told = "1 row beside it contradicts" if rows == 1 else f"{rows} rows beside it contradict"
    return f"{said.removesuffix('.')}; {told}."


def by_noise(printed: Regime, ours: Regime, others: Sequence[Row], scopes: Mapping[str, str]) -> str:
    """What each noise shows, and whether it is private; that ours is stands in what it is called.

    ``Rate yes in n with the printed noise, which is not private (eps >= 9, claimed 1); with private noise undecided.``

    Parameters
    ----------
    scopes : mapping of str to str
        Values that alone were run -> what speaks of no others, of `kinds_scoped`.
    """
    found, of_paper = "", printed_noise(printed.recalled)
    for brief in (False, True):
        silent = [row for row in others if row.verdict.calibration == "none"]
        clauses = [
            (printed.rows, f"with {of_paper}{_which(printed, brief)}" if printed.run_with else "as printed"),
            (ours.rows, _called(ours, brief)),
            (silent, "without noise"),
        ]
        told = _told_together([(rows, phrase) for rows, phrase in clauses if rows], brief)
        found = sentence(_rows_told_once("; ".join([*told, *_limits(scopes)])))
        if words(found) <= LONGEST:
            break
    return found


def printed_noise(recalled: bool) -> str:
    """What noise of the calibration ``paper`` is called; ``recalled`` as of `Verdict`."""
    return "the noise recalled of its source" if recalled else "the printed noise"


def on_privacy(judged: Sequence[Row], says: str, noise: Noise | None, whose: str, scopes: Mapping[str, str]) -> str:
    """Of a claim on privacy alone, such as ``No: in 1 of 3 parts (a) the printed noise is not private``."""
    own = [row for row in judged if row.says == says]
    where = f"in {len(own)} of {len(judged)} parts{_names(own)} " if len(own) < len(judged) else ""
    return sentence("; ".join([f"{says}: {where}{whose} {_is(noise, says == YES)}", *_limits(scopes)]))


def sentence(text: str) -> str:
    """With a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


def counted(counts: Mapping[str, int]) -> str:
    """Of audits, such as ``Of 4 audits 1 refutes the claimed eps, 2 do not and 1 says nothing``."""
    told = [f"{counts[word]} {_AUDITS[word][counts[word] != 1]}" for word in _AUDITS if counts.get(word)]
    told += [f"{count} {'is' if count == 1 else 'are'} {word}" for word, count in counts.items() if word not in _AUDITS]
    if counts.get("refuted") and counts.get("not refuted"):
        told[1] = told[1].removesuffix(f" refute {_CLAIMED}")
    total = sum(counts.values())
    return f"Of {total} audit{'s' * (total != 1)} {_listed(told)}."


_CLAIMED = "the claimed eps"
_AUDITS = {
    "refuted": (f"refutes {_CLAIMED}", f"refute {_CLAIMED}"),
    "not refuted": (f"does not refute {_CLAIMED}", f"do not refute {_CLAIMED}"),
    "says nothing": ("says nothing", "say nothing"),
}
"""Word of an audit -> what one and several of them do."""


def kinds_scoped(rows: Iterable[Row]) -> dict[str, str]:
    """Values that alone were run -> title of the kind that speaks of no others."""
    stated = [row.verdict for row in rows]
    return {row.scope: get_kind(row.kind).title for row in stated if row.scope and not row.skipped}


def _limits(scopes: Mapping[str, str]) -> list[str]:
    """What has not been measured of the statement."""
    return [f"the {of} is measured at {at}" for at, of in scopes.items()]


def _called(ours: Regime, brief: bool) -> str:
    """Our noise in words; its epsilon is the claim's, and needs no telling."""
    if not ours.run_with:
        return "in the private version"
    if brief and ours.run_with.nominal:
        return "with noise accounted for nominal constants"
    return "with private noise" if ours.private else f"with the accounted noise{_which(ours, brief)}"


def _which(regime: Regime, brief: bool) -> str:
    """Whether the noise that rows ran with is private, and that of rows on privacy where it is worse."""
    own, most = regime.run_with, regime.noise
    told = f"is {own.status_told}" if own and regime.calibration == "accounted" else _is(own, False)
    if brief:
        return f", which {told.replace(LAW_NEITHER, STATUS_CLAUSES['unproven'])}"
    worse = own and most and own.status != most.status
    return f", which {told}{f' and elsewhere {_is(most, False)}' if worse else ''}"


def _is(noise: Noise | None, private: bool) -> str:
    """``is not private (eps >= 12,900, claimed 1)``."""
    if noise is None:
        return f"is {STATUS_CLAUSES['proven' if private else 'unproven']}"
    return f"is {(replace(noise, status='proven') if private else noise).told}"


def _told_together(clauses: Sequence[Clause], brief: bool) -> list[str]:
    """The clauses, those with one answer as one; the first begins with what it answers."""
    same: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for rows, phrase in clauses:
        same.setdefault(tuple(_answers(rows, brief)), []).append(phrase)
    told: list[str] = []
    topic = ""
    for answers, phrases in same.items():
        noise = _listed(phrases, "," * any("," in phrase for phrase in phrases))
        topics = {of for of, _ in answers}
        said = _answered(answers, "" if told and topics == {topic} else None)
        if told:
            told.append(f"{noise}{',' * (',' in noise)} {said}")
        else:
            told.append(f"{said}{',' * (len(answers) > 1)} {noise}")
            topic = topics.pop() if len(topics) == 1 else ""
    return told


def _answered(answers: Sequence[tuple[str, str]], topic: str | None) -> str:
    """``rate yes in d, undecided in n, and explicit bound yes``; without the topic where there is one alone."""
    told: list[str] = []
    last = topic
    for of, said in answers:
        if last is not None and (of == last or topic is not None):
            told.append(said)
        else:
            told.append(f"{'and ' * (of == answers[-1][0] and bool(told))}{of} {said}")
        last = of
    return ", ".join(told)


def _rows_told_once(text: str) -> str:
    """Of what there are so many, as in ``(1 of 2 rows)``, is said at the first of them alone."""
    first = ROWS.search(text)
    return text if first is None else text[: first.end()] + ROWS.sub("", text[first.end() :])


def _answers(rows: Sequence[Row], brief: bool) -> list[tuple[str, str]]:
    """Topic and answer, such as ``rate`` and ``yes in d``; a topic with several answers comes several times."""
    topics: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.order):
        topics.setdefault(row.topic, []).append(row)
    return [(topic, said) for topic, found in topics.items() for said in _of_topic(found, brief)]


def _of_topic(rows: Sequence[Row], brief: bool) -> list[str]:
    places: dict[str, list[Row]] = {}
    for row in rows:
        places.setdefault(row.place, []).append(row)
    told: dict[str, list[tuple[str, str]]] = {}
    for place, own in places.items():
        worst = min((row.says for row in own), key=WEIGHT.index)
        told.setdefault(worst, []).append((place, "" if brief and worst == YES else _share(worst, own)))
    return [_told(said, told[said]) for said in TOLD if said in told]


def _share(said: str, rows: Sequence[Row]) -> str:
    """How many rows an answer comes from; of a yes, how many are vacuous."""
    own = [row for row in rows if row.says == (VACUOUS if said == YES else said)]
    return f"({len(own)} of {len(rows)} rows{' vacuous' * (said == YES)})" if 0 < len(own) < len(rows) else ""


def _names(rows: Sequence[Row]) -> str:
    """Names of parts in brackets; nothing for many, or for rows without names."""
    parts = [row.verdict.part for row in sorted(rows, key=lambda row: row.order)]
    return f" ({', '.join(parts)})" if len(parts) <= MOST_NAMED and all(parts) else ""


def _told(said: str, places: Sequence[tuple[str, str]]) -> str:
    """``yes in n and d``; of a kind without places ``no (1 of 13 rows)``."""
    named = [" ".join(filter(None, pair)) for pair in places if pair[0]]
    if not named:
        return " ".join(filter(None, (said, *(share for _, share in places))))
    return f"{said} in {_listed(named) if len(named) <= MOST_PLACES else f'{len(named)} parameters'}"


def _listed(names: Sequence[str], comma: str = "") -> str:
    """``a, b and c``, or with a comma before the last."""
    return ", ".join(names[:-1]) + f"{comma} and " * (len(names) > 1) + names[-1]
