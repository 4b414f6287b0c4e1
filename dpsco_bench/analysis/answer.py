"""What a claim's verdicts come to: its standing, one word of a small vocabulary, and what answers it.

A claim counts once, however many rows it has. Every row says yes, no, undecided or vacuous under the noise that it ran
with: the paper's own, ours, or none (`answer_rows`). Rows that only show something, controls, and what could not be run
say nothing. Nor does a row that is beside the statement (`Part.beside`).

The privacy of accounted noise is true by construction, so that such a row says as little as a vacuous one. Beside rows
of other kinds, a row on privacy says whether their noise is private, and nothing else. The epsilon of a sentence is
that of the worst cell which its rows ran, with its n and d; where a row on privacy alone has a worse status, that is
told after it. A rate of which at least half of the risk is there without noise counts as one without noise; so does a
row of a statement that asks for no private noise (`Part.noiseless`), such as a moment. Under one noise, a no outweighs
all, then undecided, then yes, then vacuous; where parts differ, it is told how many of them.

The standing is the first that applies:

1. ``not run``, ``audited``, ``shown``: no row says anything, since some could not be run, all are audits, or none was
   to say anything.
2. ``fails``: no under the paper's own noise, or without noise.
3. ``undecided``: so without noise.
4. ``holds as printed``: yes under the paper's own noise, which is proven private; not by counts alone. Where the paper
   cites the noise of a source, and its constants are from memory (`Verdict.recalled`), it is ``holds as recalled``.
   Where an erratum here corrects the noise, or some of it (`Verdict.corrected`), it is ``holds as corrected``.
5. ``holds with private noise``: yes under ours, proven private, by every kind of row that the paper's noise has, and
   not by counts alone. Kinds whose rows are all vacuous are not asked for. Where ours lacks a kind that the paper's
   noise has, a yes under the paper's noise leads to 6 or 7, and what is undecided under it to 9.
6. ``holds, not shown private``: as 4 or 5, with noise that nothing proves private and nothing refutes.
7. ``holds, not private``: as 4 or 5, with noise whose epsilon is known to be above the claim.
8. ``fails``: no under ours; not where these are counts alone, and those of the printed method a yes.
9. ``undecided``: so under one of the two.
10. ``holds without noise``: yes by counts, by runs without noise, or where at least half of the risk is the schedule's.
11. ``vacuous``: nothing is left but bounds that no run could exceed.
12. ``by construction``: nothing is left but the privacy of accounted noise.

Where counts alone are judged and risks are shown beside them, the answer says that the risk is not judged.

What would hold is ``undecided`` where the profile runs only some of the values that the statement names
(`Verdict.scope`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dpsco_bench.analysis import answer_rows, answer_text
from dpsco_bench.analysis.answer_rows import NO, YES, AnswerRow, NoiseAnswer, weightiest, worst_of
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import COMMON_WORDS, Word, get_kind
from dpsco_bench.plain import Plain

AS_PRINTED, AS_RECALLED, WITH_OURS = "holds as printed", "holds as recalled", "holds with private noise"
AS_CORRECTED = "holds as corrected"
NOT_SHOWN, NOT_PRIVATE = "holds, not shown private", "holds, not private"
WITHOUT_NOISE, FAILS, UNDECIDED, VACUOUS = "holds without noise", "fails", answer_rows.UNDECIDED, answer_rows.VACUOUS
BY_CONSTRUCTION = "by construction"
SHOWN, AUDITED, NOT_RUN = "shown", "audited", "not run"
STANDINGS: dict[str, Word] = {
    AS_PRINTED: Word("confirms", "it holds with the paper's own noise, which is proven private"),
    AS_RECALLED: Word(
        "confirms",
        "it holds with the noise of a source that the paper cites, proven private, whose constants are from memory",
    ),
    AS_CORRECTED: Word(
        "confirms", "it holds with the paper's own noise as an erratum here corrects it, proven private; not as printed"
    ),
    WITH_OURS: Word(
        "confirms",
        "it holds with accounted noise, proven private; with the paper's own it does not show, or its privacy does not",
    ),
    NOT_SHOWN: Word(
        "confirms",
        "it holds only with noise that nothing proves private, and nothing refutes on the data that it ran on",
    ),
    NOT_PRIVATE: Word("confirms", "it holds only with noise whose real epsilon is known to be above the claim"),
    WITHOUT_NOISE: Word(
        "confirms",
        "it holds by counts, without noise, where at least half of the risk is there without noise, or it is a law or "
        "moment that asks for no private noise",
    ),
    FAILS: Word(
        "contradicts",
        "a row contradicts it under the paper's own noise or without noise, or under ours where nothing else holds",
    ),
    UNDECIDED: Word("open", "no row contradicts it, and not all that would confirm it are decided, or run at all"),
    VACUOUS: Word("open", "every bound that was tested is above the starting risk, which confirms nothing"),
    BY_CONSTRUCTION: Word("open", "only noise of ours was checked, which is made to be private: it confirms nothing"),
    SHOWN: Word(
        "open", "measured values are shown and not judged: no criterion was set, or the bound has no constants"
    ),
    AUDITED: Word(
        "open", "it states nothing of the paper's: its runs are audited, which can refute privacy and not prove it"
    ),
    NOT_RUN: Word("absent", "it could not be run here"),
}
"""Standing of a claim -> what it says of the claim and when it is said, the best first."""


@dataclass(frozen=True)
class Answer:
    """What a claim's verdicts come to.

    Attributes
    ----------
    text : str, a sentence for each noise, in ASCII
    """

    standing: str
    text: str


def answer(rows: Sequence[Verdict]) -> Answer:
    """Standing and sentence of one claim from its verdicts, all parts under all calibrations.

    Parameters
    ----------
    rows : sequence of Verdict, of one claim and profile, in any order
    """
    stated = [AnswerRow(row) for row in rows if not row.beside]
    scopes = answer_text.kinds_scoped(stated)
    found = _of_the_statement(stated, scopes)
    contrary = sum(AnswerRow(row).says == NO for row in rows if row.beside)
    if found.standing == SHOWN:
        found = replace(found, text=answer_text.with_others(found.text, [row.beside for row in rows if row.beside]))
    if _risk_is_shown(rows, stated):
        found = replace(found, text=f"{found.text} The risk is shown, not judged.")
    if found.standing == NOT_RUN and not stated and rows:
        found = replace(found, text=answer_text.others_alone([row.beside for row in rows if row.beside]))
    if contrary and STANDINGS[found.standing].outcome == "confirms":
        found = replace(found, text=answer_text.with_contrary(found.text, contrary))
    partly = scopes and STANDINGS[found.standing].outcome == "confirms"
    return replace(found, standing=UNDECIDED) if partly else found


def _risk_is_shown(rows: Sequence[Verdict], stated: Sequence[AnswerRow]) -> bool:
    """Whether counts alone are judged, and risks stand beside them without a criterion."""
    said = [row for row in stated if row.says]
    shown = any(row.word == SHOWN and row.noise for row in rows)
    return bool(said) and all(row.counts for row in said) and shown


def _of_the_statement(rows: Sequence[AnswerRow], scopes: Mapping[str, str]) -> Answer:
    said = [row for row in rows if row.says]
    if not said:
        return _silence([row.verdict for row in rows])
    if all(row.judges_noise for row in said):
        return _on_privacy(said, scopes)
    others = [row for row in said if not row.judges_noise]
    printed, ours = (NoiseAnswer(said, others, name) for name in ("paper", "accounted"))
    silent = weightiest(row.says for row in others if row.noiseless)
    return Answer(_standing(printed, ours, silent), answer_text.by_noise(printed, ours, others, scopes))


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
        {**row.to_json(), "standing": found[row.id].standing, "answer": found[row.id].text} for row in rows
    ]  # fmt: skip


def counted(standings: Iterable[str]) -> dict[str, int]:
    """Standing -> how many claims have it, in the order of `STANDINGS`; those that occur."""
    found = Counter(standings)
    return {standing: found[standing] for standing in STANDINGS if found[standing]}


def headline(standings: Iterable[str]) -> str:
    """The counts in words, such as ``of 107 theorems, rows and figures 20 hold with the paper's own noise ...``.

    What is audited is no statement of a paper.
    """
    found = Counter(standing for standing in standings if standing != AUDITED)
    printed, recalled, ours = found[AS_PRINTED], found[AS_RECALLED], found[WITH_OURS]
    cited = f"{recalled} as recalled of its source; " if recalled else ""
    cited += f"{found[AS_CORRECTED]} as corrected; " if found[AS_CORRECTED] else ""
    first = f"{printed} {_hold(printed)} with the paper's own noise, proven private; {cited}{ours} with ours alone"
    silent = found[WITHOUT_NOISE]
    first += f"{_unproven(found)}. {silent} {_hold(silent)} {_SILENT}" if silent else _unproven(found)
    others = [f"{found[word]} {text[found[word] != 1]}" for word, text in _COUNTED if found[word]]
    rest = f". Of the others {', '.join(others)}" if others else ""
    return f"of {found.total()} theorems, rows and figures {first}{rest}"


def _unproven(found: Counter[str]) -> str:
    """Those that hold only with noise that is not proven private, and how many of these with noise that is refuted."""
    refuted = found[NOT_PRIVATE]
    count = found[NOT_SHOWN] + refuted
    of_them = f", {refuted} of them with noise that is refuted" if refuted else ""
    return f". {count} {_hold(count)} only with noise that is not shown to be private{of_them}" if count else ""


def _hold(count: int) -> str:
    return "holds" if count == 1 else "hold"


_SILENT = "where at least half of what is judged is there without noise"
_COUNTED = (
    (FAILS, ("fails", "fail")),
    (UNDECIDED, ("is undecided", "are undecided")),
    (VACUOUS, ("is vacuous", "are vacuous")),
    (BY_CONSTRUCTION, ("is private by construction", "are private by construction")),
    (SHOWN, ("is only shown", "are only shown")),
    (NOT_RUN, ("was not run", "were not run")),
)


def _standing(printed: NoiseAnswer, ours: NoiseAnswer, silent: str) -> str:
    """See the module."""
    if NO in (printed.says, silent):
        return FAILS
    if silent == UNDECIDED:
        return UNDECIDED
    holds = [own for own in (printed, ours) if own.says == YES and own.topics and printed.topics <= own.topics]
    for own in holds:
        if own.private:
            return WITH_OURS if own is ours else _with_own(printed.recalled, printed.corrected)
    if not holds and printed.says != YES and ours.says == YES and ours.topics and not ours.private:
        holds = [ours]
    if holds:
        return NOT_PRIVATE if all(own.refuted for own in holds) else NOT_SHOWN
    if ours.says == NO and not (printed.says == YES and ours.counts_alone):
        return FAILS
    if UNDECIDED in (printed.says, ours.says):
        return UNDECIDED
    if YES in (printed.says, ours.says, silent):
        return WITHOUT_NOISE
    return VACUOUS


def _with_own(recalled: bool, corrected: str) -> str:
    """Standing of what holds with private noise of the paper's."""
    return AS_CORRECTED if corrected else AS_RECALLED if recalled else AS_PRINTED


def _silence(rows: Sequence[Verdict]) -> Answer:
    """Of a claim of which no row says anything."""
    absent = [row for row in rows if row.word in COMMON_WORDS]
    if rows and not absent and all(get_kind(row.kind).aside for row in rows):
        counts = Counter(row.word.replace("_", " ") for row in rows)
        return Answer(AUDITED, answer_text.counted({word: counts[word] for word in sorted(counts)}))
    if rows and not absent:
        return Answer(SHOWN, answer_text.shown(rows))
    return Answer(NOT_RUN, answer_text.not_run(row.reason for row in absent))


def _on_privacy(rows: Sequence[AnswerRow], scopes: Mapping[str, str]) -> Answer:
    """Of a claim on nothing but the privacy of noise."""
    printed = [row for row in rows if row.verdict.calibration == "paper"]
    judged = printed or rows
    says = weightiest(row.says for row in judged)
    if says == VACUOUS:
        return Answer(BY_CONSTRUCTION, answer_text.BY_DESIGN)
    noise = worst_of(row for row in judged if row.says == says)
    recalled = any(row.verdict.recalled for row in printed)
    holds = _with_own(recalled, "") if printed else WITH_OURS
    standing = {YES: holds, NO: FAILS, UNDECIDED: UNDECIDED}[says]
    whose = answer_text.printed_noise(recalled) if printed else "the accounted noise"
    return Answer(standing, answer_text.on_privacy(judged, says, noise, whose, scopes))
