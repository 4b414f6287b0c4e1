"""What a claim's verdicts come to: its standing, one word of a small vocabulary, and a sentence that answers it.

A claim counts once, however many rows it has. Every row says yes, no, undecided or vacuous under the noise that it ran
with: the paper's own, ours, or none. Rows that only show something, controls, and what could not be run say nothing.
Nor does a row that is beside the statement (`Part.beside`): the sentence counts it apart.

The privacy of accounted noise is true by construction, so that such a row is vacuous. Beside rows of other kinds, a row
on privacy says whether their noise is private, and nothing else. The epsilon of a sentence is that of the worst cell
which its rows ran, with its n and d; where a row on privacy alone has a worse status, that is told after it. A rate of
which at least half of the risk is there without noise counts as one without noise. Under one noise, a no outweighs all,
then undecided, then yes, then vacuous; where parts differ, they are named.

The standing is the first that applies:

1. ``not run``, ``audited``, ``shown``: no row says anything, since some could not be run, all are audits, or none was
   to say anything.
2. ``fails``: no under the paper's own noise, or without noise.
3. ``undecided``: so without noise.
4. ``holds as printed``: yes under the paper's own noise, which is proven private; not by counts alone.
5. ``holds with private noise``: yes under ours, proven private, by every kind of row that the paper's noise has, and
   not by counts alone. Kinds whose rows are all vacuous are not asked for. Where ours lacks a kind that the paper's
   noise has, a yes under the paper's noise leads to 6, and what is undecided under it to 8.
6. ``holds, not private``: yes under noise that is not proven private; or as printed, and no under ours.
7. ``fails``: no under ours.
8. ``undecided``: so under one of the two.
9. ``holds without noise``: yes by counts, by runs without noise, or where at least half of the risk is the schedule's.
10. ``vacuous``: nothing else is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite

from dpsco_bench.analysis.noise import Noise, worst
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import COMMON_WORDS, Word, get_kind
from dpsco_bench.plain import Plain
from dpsco_bench.privacy.ledger import STATUS_CLAUSES

AS_PRINTED, WITH_OURS, NOT_PRIVATE = "holds as printed", "holds with private noise", "holds, not private"
WITHOUT_NOISE, FAILS, UNDECIDED, VACUOUS = "holds without noise", "fails", "undecided", "vacuous"
SHOWN, AUDITED, NOT_RUN = "shown", "audited", "not run"
STANDINGS: dict[str, Word] = {
    AS_PRINTED: Word("confirms", "it holds with the paper's own noise, which is proven private"),
    WITH_OURS: Word("confirms", "it holds with accounted noise, proven private; with the paper's own it does not show"),
    NOT_PRIVATE: Word("confirms", "it holds only with noise that is not proven private"),
    WITHOUT_NOISE: Word(
        "confirms", "it holds by counts, without noise, or where at least half of the risk is there without noise"
    ),
    FAILS: Word(
        "contradicts",
        "a row contradicts it under the paper's own noise or without noise, or under ours where nothing else holds",
    ),
    UNDECIDED: Word("open", "no row contradicts it, and not all that would confirm it are decided"),
    VACUOUS: Word("open", "nothing that was found could have come out otherwise, which confirms nothing"),
    SHOWN: Word("open", "nothing definite is claimed: measured values are shown"),
    AUDITED: Word(
        "open", "it states nothing of the paper's: its runs are audited, which can refute privacy and not prove it"
    ),
    NOT_RUN: Word("absent", "it could not be run here"),
}
"""Standing of a claim -> what it says of the claim and when it is said, the best first."""
YES, NO = "yes", "no"
BY_SCHEDULE = "yes by the schedule (half of the risk or more)"
WEIGHT = (NO, UNDECIDED, YES, BY_SCHEDULE, VACUOUS)
"""Answers, the one first that outweighs the others."""
TOLD = (YES, BY_SCHEDULE, VACUOUS, UNDECIDED, NO)
"""Answers in the order of a sentence."""
SCHEDULE = "schedule"
"""The reservation that at least half of the risk is there without noise."""
MOST_NAMED = 3
"""Of more parts than this the number is told, and not their names."""


@dataclass(frozen=True)
class Answer:
    """What a claim's verdicts come to.

    Attributes
    ----------
    sentence : str, in ASCII, without a full stop
    """

    standing: str
    sentence: str


def answer(rows: Sequence[Verdict]) -> Answer:
    """Standing and sentence of one claim from its verdicts, all parts under all calibrations.

    Parameters
    ----------
    rows : sequence of Verdict, of one claim and profile, in any order
    """
    stated = [row for row in rows if not row.beside]
    found = _of_the_statement(stated)
    scopes = {row.scope: get_kind(row.kind).title for row in stated if row.scope and not row.skipped}
    found = replace(found, sentence="; ".join([found.sentence, *(f"the {of} is at {at}" for at, of in scopes.items())]))
    apart = [said for said in (_Row(row).says for row in rows if row.beside) if said]
    if not apart:
        return found
    counts = Counter(YES if said == BY_SCHEDULE else said for said in apart)
    told = ", ".join(f"{counts[said]} {said}" for said in TOLD if counts[said])
    return replace(found, sentence=f"{found.sentence}; beside the statement, not counted: {told}")


def _of_the_statement(rows: Sequence[Verdict]) -> Answer:
    said = [row for row in map(_Row, rows) if row.says]
    if not said:
        return _silence(rows)
    if all(row.verdict_on_noise for row in said):
        return _on_privacy(said)
    others = [row for row in said if not row.verdict_on_noise]
    printed, ours = (_Regime(said, others, name) for name in ("paper", "accounted"))
    silent = _weightiest(row.says for row in others if row.noiseless)
    return Answer(_standing(printed, ours, silent), _sentence(printed, ours, others))


def answers(rows: Iterable[Verdict]) -> dict[str, Answer]:
    """Id of each claim, in order of appearance -> its answer."""
    found: dict[str, list[Verdict]] = {}
    for row in rows:
        found.setdefault(row.id, []).append(row)
    return {id: answer(own) for id, own in found.items()}


def told(rows: Sequence[Verdict]) -> list[Plain]:
    """Rows as JSON, each with the ``standing`` and ``answer`` of its claim; all rows of a claim are given."""
    found = answers(rows)
    return [
        {**row.to_json(), "standing": found[row.id].standing, "answer": found[row.id].sentence} for row in rows
    ]  # fmt: skip


def counted(standings: Iterable[str]) -> dict[str, int]:
    """Standing -> how many claims have it, in the order of `STANDINGS`; those that occur."""
    found = Counter(standings)
    return {standing: found[standing] for standing in STANDINGS if found[standing]}


def headline(standings: Iterable[str]) -> str:
    """The counts in words, such as ``of 107 theorems and rows 40 hold with noise that is private. Of the others ...``.

    What is audited is neither a theorem nor a row.
    """
    found = Counter(standing for standing in standings if standing != AUDITED)
    private = found[AS_PRINTED] + found[WITH_OURS]
    whose = f"{found[AS_PRINTED]} with the paper's own, {found[WITH_OURS]} with ours"
    first = f"{private} {'holds' if private == 1 else 'hold'} with noise that is private ({whose})"
    others = [f"{found[word]} {text[found[word] != 1]}" for word, text in _COUNTED if found[word]]
    rest = f". Of the others {', '.join(others)}" if others else ""
    return f"of {found.total()} theorems and rows {first}{rest}"


_COUNTED = (
    (NOT_PRIVATE, ("holds only with noise that is not", "hold only with noise that is not")),
    (WITHOUT_NOISE, ("holds where noise plays no part", "hold where noise plays no part")),
    (FAILS, ("fails", "fail")),
    (UNDECIDED, ("is undecided", "are undecided")),
    (VACUOUS, ("is vacuous", "are vacuous")),
    (SHOWN, ("is only shown", "are only shown")),
    (NOT_RUN, ("was not run", "were not run")),
)


@dataclass(frozen=True)
class _Row:
    """A verdict and what it says of its claim."""

    verdict: Verdict

    @property
    def verdict_on_noise(self) -> bool:
        return get_kind(self.verdict.kind).judges_noise

    @cached_property
    def says(self) -> str:
        """One of `WEIGHT`; empty for a row that says nothing of the claim."""
        row = self.verdict
        outcome = row.meaning.outcome
        if outcome == "vacuous":
            return VACUOUS
        if outcome == "shown" or not get_kind(row.kind).answers or row.word in COMMON_WORDS:
            return ""
        if outcome not in ("confirms", "better"):
            return NO if outcome == "contradicts" else UNDECIDED
        if self.verdict_on_noise and row.calibration == "accounted":
            return VACUOUS
        return BY_SCHEDULE if SCHEDULE in row.reserved else YES

    @property
    def noiseless(self) -> bool:
        """Whether noise plays no part in it."""
        return self.verdict.calibration == "none" or self.says == BY_SCHEDULE

    @property
    def topic(self) -> str:
        return get_kind(self.verdict.kind).title

    @property
    def place(self) -> str:
        """What a slope is in, such as ``n``; nothing for other kinds, or where there is no slope."""
        kind = get_kind(self.verdict.kind)
        slope = self.verdict.slope
        if kind.counts and not (slope is not None and isfinite(slope)):
            return ""
        name = self.verdict.parameter.removeprefix("problem.").removeprefix("algorithm.")
        name = name.replace("norm_kappa", "kappa_q")
        return name if kind.measures_slope or kind.counts else ""


class _Regime:
    """The rows under one of the two noises."""

    def __init__(self, said: Iterable[_Row], others: Iterable[_Row], calibration: str) -> None:
        self.calibration = calibration
        self.rows = [row for row in others if row.verdict.calibration == calibration]
        self.says = _weightiest(row.says for row in self.rows if not row.noiseless)
        heard = said if calibration == "paper" or any(row.verdict.noise for row in self.rows) else ()
        self.noise = _worst_of(row for row in heard if row.verdict.calibration == calibration)
        self.run_with = _worst_of(self.rows)

    @property
    def topics(self) -> set[str]:
        """Kinds of rows on noise that was charged, counts left out, of those that could have come out otherwise."""
        rows = [row for row in self.rows if row.verdict.noise and not row.noiseless and row.says != VACUOUS]
        return {row.topic for row in rows if not get_kind(row.verdict.kind).counts}

    @property
    def private(self) -> bool | None:
        """Whether the noise is proven private; None where none was charged."""
        return None if self.noise is None else self.noise.status == "proven"


def _worst_of(rows: Iterable[_Row]) -> Noise | None:
    return worst(row.verdict.noise for row in rows if row.verdict.noise)


def _weightiest(answers: Iterable[str]) -> str:
    """The answer that outweighs the others, `BY_SCHEDULE` being a yes; empty for none."""
    found = {YES if said == BY_SCHEDULE else said for said in answers}
    return next((said for said in WEIGHT if said in found), "")


def _standing(printed: _Regime, ours: _Regime, silent: str) -> str:
    """See the module."""
    if NO in (printed.says, silent):
        return FAILS
    if silent == UNDECIDED:
        return UNDECIDED
    if printed.says == YES and printed.topics and printed.private:
        return AS_PRINTED
    if ours.says == YES and ours.topics and ours.private and printed.topics <= ours.topics:
        return WITH_OURS
    if printed.says == YES and (ours.says == NO or (printed.topics and printed.private is False)):
        return NOT_PRIVATE
    if ours.says == YES and ours.private is False:
        return NOT_PRIVATE
    if ours.says == NO:
        return FAILS
    if UNDECIDED in (printed.says, ours.says):
        return UNDECIDED
    if YES in (printed.says, ours.says, silent):
        return WITHOUT_NOISE
    return VACUOUS


def _silence(rows: Sequence[Verdict]) -> Answer:
    """Of a claim of which no row says anything."""
    absent = [row for row in rows if row.word in COMMON_WORDS]
    if rows and not absent and all(get_kind(row.kind).aside for row in rows):
        words = Counter(row.word for row in rows)
        return Answer(AUDITED, ", ".join(f"{count} {word}" for word, count in words.items()))
    if rows and not absent:
        return Answer(SHOWN, "nothing definite is claimed; measured values are shown")
    reasons = dict.fromkeys(row.reason.partition(":")[0] for row in absent if row.reason)
    return Answer(NOT_RUN, "not run" + (f": {', '.join(reasons)}" if reasons else ""))


def _on_privacy(rows: Sequence[_Row]) -> Answer:
    """Of a claim on nothing but the privacy of noise."""
    printed = [row for row in rows if row.verdict.calibration == "paper"]
    judged = printed or rows
    says = _weightiest(row.says for row in judged)
    noise = worst([row.verdict.noise for row in judged if row.says == says and row.verdict.noise])
    if says == VACUOUS:
        return Answer(VACUOUS, "our noise is private by construction, which confirms nothing")
    standing = {YES: AS_PRINTED if printed else WITH_OURS, NO: FAILS, UNDECIDED: UNDECIDED}[says]
    whose = "the printed noise" if printed else "the accounted noise"
    count = sum(row.says == says for row in judged)
    share = "" if count == len(judged) else f" in {count} of {len(judged)} parts"
    share += _names([row for row in judged if row.says == says], ", namely ") * bool(share)
    return Answer(standing, f"{says}: {whose} {_status(noise, says == YES)}{share}")


def _sentence(printed: _Regime, ours: _Regime, others: Sequence[_Row]) -> str:
    silent = [row for row in others if row.verdict.calibration == "none"]
    private = "with private noise" if ours.private else _under("with the accounted noise", ours)
    parts = [
        (printed.rows, _under("with the printed noise", printed) if printed.run_with else "as printed"),
        (ours.rows, private if ours.run_with else "in the private version"),
        (silent, "without noise"),
    ]
    found = [(rows, phrase) for rows, phrase in parts if rows]
    topics = list(dict.fromkeys(row.topic for row in others))
    if len(topics) > 1:
        return "; ".join(f"{phrase}: {_answers(rows)}" for rows, phrase in found)
    (rows, phrase), *more = found
    first = f"{_answers(rows)} {phrase}"
    told = [(f"{phrase}," if ", which" in phrase else phrase, _answers(rows)) for rows, phrase in more]
    return "; ".join([first, *(f"{phrase} {said.removeprefix(topics[0]).strip()}" for phrase, said in told)])


def _under(phrase: str, regime: _Regime) -> str:
    """The noise that rows ran with, and that of rows on privacy where it is worse."""
    own, most = regime.run_with, regime.noise
    elsewhere = f" and elsewhere {most.said}" if own and most and own.status != most.status else ""
    return f"{phrase}, which {_status(own, bool(own and own.status == 'proven'))}{elsewhere}"


def _status(noise: Noise | None, private: bool) -> str:
    """``is not private (eps >= 12,900 for 1)``."""
    if noise is None:
        return f"is {STATUS_CLAUSES['proven' if private else 'unproven']}"
    return f"is {(replace(noise, status='proven') if private else noise).said}"


def _answers(rows: Sequence[_Row]) -> str:
    """``rate yes in d, undecided in n (1 of 5), explicit bound yes``."""
    topics: dict[str, list[_Row]] = {}
    for row in rows:
        topics.setdefault(row.topic, []).append(row)
    return ", ".join(f"{topic} {_of_topic(found)}" for topic, found in topics.items())


def _of_topic(rows: Sequence[_Row]) -> str:
    places: dict[str, list[_Row]] = {}
    for row in rows:
        places.setdefault(row.place, []).append(row)
    told: dict[str, list[str]] = {}
    for place, own in places.items():
        worst = min((row.says for row in own), key=WEIGHT.index)
        told.setdefault(worst, []).append(" ".join(filter(None, (place, _share(worst, own)))))
    return ", ".join(_told(said, told[said]) for said in TOLD if said in told)


def _share(said: str, rows: Sequence[_Row]) -> str:
    """How many rows an answer comes from, and which part says what; of a yes, how many are vacuous."""
    own = [row for row in rows if row.says == (VACUOUS if said == YES else said)]
    if said == YES:
        return f"({len(own)} of {len(rows)} vacuous)" if own else ""
    if len(own) == len(rows):
        return ""
    named = rows if len(rows) <= MOST_NAMED else own
    return f"({len(own)} of {len(rows)}{_names(named, ': ', words=True)})"


def _names(rows: Sequence[_Row], before: str, words: bool = False) -> str:
    """Names of parts, on demand each with its word, after some text; nothing for many, or for rows without names."""
    parts = [row.verdict for row in rows]
    if len(parts) > MOST_NAMED or not all(part.part for part in parts):
        return ""
    return before + ", ".join(f"{part.part} {part.word.replace('_', ' ')}" if words else part.part for part in parts)


def _told(said: str, places: Sequence[str]) -> str:
    """``yes in n and d``; of a kind without places ``no (1 of 13)``."""
    named = [place for place in places if place]
    if not named:
        return said
    if len(named) == 1 and named[0].startswith("("):
        return f"{said} {named[0]}"
    return f"{said} in " + (", ".join(named[:-1]) + " and " if len(named) > 1 else "") + named[-1]
