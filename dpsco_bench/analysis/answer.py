"""Answer the two questions that a reader asks of a theorem.

Does it show, and is its printed noise private? Each is answered by one of `WORDS`: yes, no, open, not tested. What
limits a word is a mark with a number, which `site.content` explains.

A claim states a risk, the privacy of noise, a count, or a law; the last three have one of the two answers. The claim
that states a risk names the claims on its noise and its count (`Claim.noise_of`, `Claim.count_of`), and one table row
shows them together.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from dpsco_bench.analysis.noise import Noise, number
from dpsco_bench.analysis.rounding import outward
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import COMMON_WORDS, get_kind
from dpsco_bench.claims.parsing import expected_words
from dpsco_bench.plain import Plain

YES, NO, OPEN, UNTESTED = WORDS = ("yes", "no", "open", "not tested")
QUESTIONS = {
    "printed": "Shows with the printed noise",
    "noise": "Is that noise private",
    "private": "Shows with private noise",
    "silent": "Without noise",
}
"""Column of an answer -> the question that it answers."""
RATE, BOUND, COUNT, ORDERING = "rate", "bound", "count", "ordering"
ABOUT = {"explicit": BOUND, "lower_bound": "lower bound"}
"""Kind -> what an answer calls it; others go by their title."""
VERBS = {YES: "is proven", NO: "is refuted", OPEN: "is open"}
MOST_NAMED = 3
"""Parts that an answer names; of more it tells the number."""
BY_SCHEDULE = 0.6
"""Share of the risk that is there without noise from which on a rate may be the schedule's."""
PLACES = ("n", "d", "eps", "kappa")
"""Parameters in the order in which they are named; others follow by name."""


class Reading(NamedTuple):
    """One row's word, `YES`, `NO` or `OPEN`, and what it is about: a ``rate`` in a place, or a ``bound``."""

    word: str
    about: str
    place: str
    row: Verdict
    schedule: float | None = None


@dataclass(frozen=True)
class AnswerCell:
    """The answer to one question: a word of `WORDS`, marks with their numbers in words, and what it is about."""

    word: str = UNTESTED
    marks: Mapping[str, str] = field(default_factory=dict)
    why: str = ""

    @property
    def short(self) -> str:
        """The word with its marks: ``yes (s .83)``."""
        marks = ", ".join(f"{mark} {value}".strip() for mark, value in self.marks.items())
        return f"{self.word} ({marks})" if marks else self.word

    @property
    def text(self) -> str:
        return f"{self.short}{': ' if self.why[:3] in ('eps', 'c =') else ', '}{self.why}" if self.why else self.short


@dataclass(frozen=True)
class Answer:
    """The answers of one claim, by the questions that its subject has, and remarks beside them."""

    subject: str
    cells: Mapping[str, AnswerCell]
    remarks: Sequence[str] = ()

    @property
    def word(self) -> str:
        return next(iter(self.cells.values())).word

    @property
    def text(self) -> str:
        """All of it, a sentence for each question, in ASCII."""
        said = [f"{question_of(self.subject, key)}: {cell.text}." for key, cell in self.cells.items()]
        return " ".join([*said, *self.remarks])


def question_of(subject: str, key: str) -> str:
    """Name a cell's question; a count or law is asked as it is stated."""
    if subject in ("count", "law"):
        return "With private noise" if key == "private" else "As stated"
    return QUESTIONS[key] if subject == "risk" else "Is the printed noise private"


def says(row: Verdict, law: bool = False) -> Reading | None:
    """Read one row; None where it says nothing of its claim.

    Parameters
    ----------
    law : bool, whether the computed law that the row names (`RatePart.law`) holds
    """
    kind, outcome = get_kind(row.kind), row.meaning.outcome
    of_noise = kind.judges_noise and row.states != COUNT  # that a tree counts right shows in what it is charged
    silent = not row.counted or not kind.answers or of_noise or row.word in COMMON_WORDS
    if silent or outcome in ("shown", "vacuous"):
        return None
    if kind.measures_slope and not kind.counts:
        return _rate(row, law)
    word = {"confirms": YES, "better": YES, "contradicts": NO}.get(outcome, OPEN)
    word = OPEN if row.scope else word
    about = "count" if kind.counts else ABOUT.get(row.kind, kind.title)
    return Reading(word, about, row.part if about == ORDERING else "", row)


def _rate(row: Verdict, law: bool) -> Reading | None:
    """Read a slope: a law decides it, a growing ratio contradicts an O(), and far below the bound it says nothing."""
    word = {"match": YES, "faster": YES, "fails": NO if row.grows else OPEN}.get(row.word, OPEN)
    if row.law_limit is not None and law:
        return Reading(YES if math.isfinite(row.law_limit) else NO, RATE, place_of(row), row)
    allowed = max(2.0 * row.tolerance, 0.5 * abs(row.bound_slope))
    too_far = row.word == "faster" and abs(row.slope - row.bound_slope) > allowed and not row.loose
    if row.word == "not_observable" or too_far:
        return None
    share, asks = row.noise_off_share or 0.0, row.calibration != "none" and not (row.noiseless or row.sampling)
    alike = abs(row.noise_off_slope - row.bound_slope) <= row.tolerance  # it gives the exponent too
    by_schedule = word == YES and share >= BY_SCHEDULE and alike and asks
    return Reading(word, RATE, place_of(row), row, share if by_schedule else None)


def place_of(row: Verdict) -> str:
    name = row.parameter.removeprefix("problem.").removeprefix("algorithm.")
    return {"epsilon": "eps", "norm_kappa": "kappa_q"}.get(name, name)


def together(said: Sequence[Reading]) -> AnswerCell:
    """Answer one question from all rows under one noise.

    No, else open, else yes where an exponent, ordering or law is met, or a bound alone.
    """
    firm = [one for one in said if one.about != BOUND]
    words = [one.word for one in said]
    word = next((word for word in (NO, OPEN, YES) if word in words), UNTESTED)
    shares = [one.schedule for one in firm if one.about == RATE]
    marks: dict[str, str] = {}
    if word == YES and shares and None not in shares:
        marks["s"] = f"{min(filter(None, shares)):.2f}".lstrip("0")
    if word == YES and not firm and not said[0].row.noiseless:
        marks["b"] = f"{max(one.row.worst_ratio or 0.0 for one in said):.2g}".removeprefix("0")
    if any(one.row.noise and (one.row.noise.nominal or one.row.noise.declared) for one in said):
        marks["*"] = ""
    return AnswerCell(word, marks, _about(firm or said, word))


def _about(said: Sequence[Reading], word: str) -> str:
    """Say what an answer is about, the weightiest word first: ``open in d (-0.26, bound 1.09); yes in n``."""
    told: list[str] = []
    used: set[tuple[str, str]] = set()
    for one_word in (NO, OPEN, YES):
        own = [one for one in said if one.word == one_word]
        own.sort(key=lambda one: ((*PLACES, one.place).index(one.place), one.place))
        topics = dict.fromkeys(topic for one in own if (topic := (one.about, one.place)) not in used)
        used |= topics.keys()
        rates = [_slopes(place, own) for about, place in topics if about == RATE]
        parts = [f"in {listed(rates)}"] * bool(rates)
        for about in dict.fromkeys(about for about, _ in topics if about != RATE):
            names = [name for of, name in topics if of == about and name]
            more = f" and {len(names) - MOST_NAMED} more" * (len(names) > MOST_NAMED)
            parts.append(f"the {about}" + f" ({', '.join(names[:MOST_NAMED])}{more})" * bool(names))
        scopes = list(dict.fromkeys(one.row.scope for one in own if one.row.scope))
        if parts:
            told.append(f"{one_word} " * (one_word != word) + listed(parts) + f" at {listed(scopes)}" * bool(scopes))
    return "; ".join(told)


def _slopes(place: str, said: Sequence[Reading]) -> str:
    """Name a parameter, with both slopes of the row that is furthest from its bound where none matches it."""
    rows = [one.row for one in said if one.about == RATE and one.place == place]
    if any(row.word == "match" for row in rows) or rows[0].law_limit is not None:  # or a computed law decides
        return place
    worst = max(rows, key=lambda row: abs(row.slope - row.bound_slope))
    return f"{place} (its slope {worst.slope:.2f}, bound {worst.bound_slope:.2f})"


def listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def noise_says(noise: Noise) -> str:
    """Read the privacy of noise: what is released decides, and nominal constants refute nothing.

    A law or an exact minimiser that the statement is about is proven by its law, unless a bound on that is too large.
    """
    if noise.status == "proven" or (noise.status == "target_law_only" and not noise.above):
        return YES
    return NO if noise.status == "exceeds_claim" else OPEN


def noise_answer(judging: Sequence[Verdict], behind: Sequence[Verdict], of: str = "") -> AnswerCell:
    """Answer whether the printed noise is private.

    Parameters
    ----------
    judging : rows on the privacy of the printed noise, of the claim and of those that it names
    behind : rows on risk with printed noise, whose noise answers where nothing judges it
    of : str, the claim; where another one's row refutes the noise, that is named
    """
    rows = [row for row in judging if row.noise and row.word not in COMMON_WORDS]
    tested = [row for row in rows if not row.outside]
    if rows and not tested:
        return AnswerCell(why=f"outside of {listed(list(dict.fromkeys(str(row.outside) for row in rows)))}")
    tested = tested or [row for row in behind if row.noise and not row.outside]
    tested = [row for row in tested if not row.corrected] or tested
    if not tested:
        return AnswerCell()
    constants = {row.open_value for row in tested if row.open_value is not None}
    fixed = [row for row in tested if row.open_value is None]
    if constants and not any(row.noise and noise_says(row.noise) == NO for row in fixed):
        found = _some_constant(tested, constants)
        ranges = listed(list(dict.fromkeys(str(row.outside) for row in rows if row.outside)))
        return replace(found, why=f"{found.why}; not tested outside of its range ({ranges})") if ranges else found
    return _worst_noise(fixed or tested, of)


def _worst_noise(rows: Sequence[Verdict], of: str = "") -> AnswerCell:
    """Answer from rows on one noise: no, else open, else yes."""
    read = [(noise_says(row.noise), row.noise, row) for row in rows if row.noise]
    word = next(word for word in (NO, OPEN, YES) if any(own == word for own, *_ in read))
    own = [(noise, row) for found, noise, row in read if found == word]
    worst, judged = max(own, key=lambda one: (one[0].shown_severity, one[0].epsilon_real_kind, one[0].place))
    marks = {"r": ""} if all(row.recalled for row in rows) else {}
    marks |= {erratum: "" for erratum in dict.fromkeys(row.corrected for row in rows if row.corrected)}
    if word == OPEN and worst.sequence_exceeds:
        marks["q"] = worst.shown
    elif worst.nominal or worst.declared:
        marks["*"] = ""
    elsewhere = judged.id.partition(".")[2] if of and judged.id != of and word == NO else ""
    where = "; ".join(filter(None, (judged.for_class, elsewhere)))
    return AnswerCell(word, marks, worst.measured + f" ({where})" * bool(where))


def _some_constant(rows: Sequence[Verdict], constants: Iterable[float]) -> AnswerCell:
    """Answer for a theorem that leaves a constant open: yes if one value serves every row."""
    found = {c: _worst_noise([row for row in rows if row.open_value == c]) for c in sorted(constants)}
    proven = [c for c, cell in found.items() if cell.word == YES]
    told = "; ".join(
        f"c = {number(c)} {VERBS[cell.word]} ({cell.why})"
        for c, cell in found.items()
        if cell.word != YES or c in proven[:1]
    )
    if proven:
        return AnswerCell(YES, {"c": f">= {number(proven[0])}", **found[proven[0]].marks}, told)
    return AnswerCell(OPEN, found[max(found)].marks, told)


def answer(rows: Sequence[Verdict], others: Mapping[str, Sequence[Verdict]] | None = None) -> Answer:
    """Answer a claim from its verdicts.

    Parameters
    ----------
    rows : sequence of Verdict, of one claim and profile, in any order
    others : mapping, id -> rows of claims that it may name (`noise_of`, `count_of`, `formula_of`)
    """
    if not rows:
        return Answer("risk", dict.fromkeys(("printed", "noise", "private"), AnswerCell()), ("It was not run.",))
    known, subject = others or {}, subject_of(rows)
    laws = {row.law: {of.word for of in rows if of.part == row.law} for row in rows if row.law}
    said = [one for row in rows if (one := says(row, laws.get(row.law or "", set()) == {"holds"}))]
    named = [other for id in rows[0].noise_of or () for other in known.get(id, ())]
    judging = [row for row in (*rows, *named) if on_printed_noise(row)]
    if subject == "audit":
        return Answer(subject, {}, (audits_text(rows),))
    if subject in ("count", "law"):
        return Answer(subject, _as_stated(said), _remarks(rows, known))
    printed = [row for row in rows if row.counted and row.calibration == "paper" and subject == "risk"]
    noise = _with_audits(noise_answer(judging, printed, rows[0].id), judging, known)
    if subject == "privacy":
        return Answer(subject, {"noise": noise}, _remarks(rows, known))
    risks = [one for one in said if one.about != COUNT]
    if rows[0].noise_outside:
        noise = AnswerCell(why=f"these runs are outside of {rows[0].noise_outside} (within it: {noise.short})")
    cells = {column: together([one for one in risks if column in noises_of(one.row)]) for column in QUESTIONS}
    cells |= {"noise": noise}
    if cells["silent"].word == UNTESTED:
        del cells["silent"]
    counts = [one for id in rows[0].count_of or () for row in known.get(id, ()) if (one := says(row))]
    counted = together([one for one in (*said, *counts) if one.about == COUNT and one.row.calibration != "accounted"])
    beside = _untested(rows, said)
    if counted.word != UNTESTED:
        beside.append(f"Gradient count as stated: {counted.word}.")
    ran = [row.open_value for row in rows if row.counted and not get_kind(row.kind).judges_noise]
    constants = [c for c in ran if c is not None]
    if constants and larger_constant(noise):
        beside.insert(0, f"The risk is run with the constant {number(min(constants))}: two noises.")
    return Answer(subject, cells, (*beside, *_remarks(rows, known)))


def _with_audits(found: AnswerCell, judging: Sequence[Verdict], known: Mapping[str, Sequence[Verdict]]) -> AnswerCell:
    """Let an audit of the output that refutes the printed noise answer, with what is known of it besides."""
    named = {place for row in judging for place in row.audited_by or ()}
    for row in (row for place in sorted(named) for row in known.get(place.partition(" ")[0], ())):
        if f"{row.id} {row.part}" in named and row.calibration == "paper" and row.meaning.outcome == "contradicts":
            lower = outward(float(str(row.own["epsilon_lower"])), "lower")
            claimed = row.noise.epsilon_claimed if row.noise else row.epsilon_claimed or math.nan
            at = f" at {row.noise.place}" if row.noise else ""
            why = f"eps >= {number(lower)} by an audit of the output{at}, claimed {number(claimed)}"
            return AnswerCell(NO, {}, f"{why}; {found.why}")
    return found


def noises_of(row: Verdict) -> tuple[str, ...]:
    """Columns that a row on risk belongs to: noise that an erratum corrects is never printed."""
    if row.calibration == "none" or row.noiseless:
        return ("silent",)
    if row.calibration == "accounted":
        return ("private",)
    proven = row.noise is not None and noise_says(row.noise) == YES
    return (*(["printed"] * (not row.corrected)), *(["private"] * proven))


def subject_of(rows: Sequence[Verdict]) -> str:
    """Say what a claim states, whether or not that answered: its file says it, or the kinds of its rows do."""
    if rows[0].states:
        return rows[0].states
    stated = [row for row in rows if row.counted] or list(rows)
    kinds = [get_kind(row.kind) for row in stated]
    for subject, has in (("audit", "aside"), ("privacy", "judges_noise"), ("count", "counts")):
        if all(getattr(kind, has) for kind in kinds):
            return subject
    laws = [bool(row.noiseless) or get_kind(row.kind).knows_the_law for row in stated]
    only = all(law or row.word == "shown" for law, row in zip(laws, stated, strict=True))
    return "law" if any(laws) and only else "risk"


def on_printed_noise(row: Verdict) -> bool:
    """Check whether a row judges the privacy of noise as the paper prints it, within its range or outside."""
    kind = get_kind(row.kind)
    own = kind.judges_noise and not kind.aside and row.calibration == "paper"
    return own and not (row.beside or row.control)


def _as_stated(said: Sequence[Reading]) -> dict[str, AnswerCell]:
    """Answer a count or a law for the printed schedule, and for private noise where that changes it."""
    ours = together([one for one in said if one.row.calibration == "accounted"])
    printed = together([one for one in said if one.row.calibration != "accounted"])
    if printed.word == UNTESTED:
        return {"printed": ours}
    return {"printed": printed} | ({"private": ours} if ours.word not in (UNTESTED, printed.word) else {})


def audits_text(rows: Sequence[Verdict]) -> str:
    """Count what audits found: ``Of 83 audits 16 refute the claimed eps, 1 does not and 66 say nothing.``."""
    found = Counter(row.word.replace("_", " ") for row in rows)
    said = AUDITS | {word: (word, word) for word in found if word not in AUDITS}
    told = [f"{found[word]} {said[word][found[word] != 1]}" for word in said if found[word]]
    return f"Of {len(rows)} audit{'s' * (len(rows) != 1)} {listed(told)}."


AUDITS = {
    "refuted": ("refutes the claimed eps", "refute the claimed eps"),
    "not refuted": ("does not", "do not"),
    "says nothing": ("says nothing", "say nothing"),
}
"""Word of an audit -> what one and several of them do."""


def _untested(rows: Sequence[Verdict], said: Sequence[Reading]) -> list[str]:
    """Name what was run and says nothing: exponents that no row answers, and why."""
    answered = {one.place for one in said if one.about == RATE}
    found: dict[str, str] = {}
    for row in rows:
        if row.counted and row.kind == RATE and place_of(row) not in answered and not row.skipped:
            faster = f"slope {row.slope:.2f}, bound {row.bound_slope:.2f}" if row.word == "faster" else ""
            found.setdefault(place_of(row), faster or row.word.replace("_", " "))
    told = [f"in {place} ({why})" for place, why in found.items()]
    ranges = dict.fromkeys(str(row.outside) for row in rows if row.outside)
    return [*([f"Not tested: {listed(told)}."] if told else []), *(f"Outside of the range: {text}." for text in ranges)]


def _remarks(rows: Sequence[Verdict], known: Mapping[str, Sequence[Verdict]]) -> list[str]:
    """Name controls that misbehave, corrected noise that is proven, and refutations of the same formula elsewhere."""
    told = [
        f"A control misbehaves: {row.part} ({row.said})."
        for row in rows
        if row.control and row.expected
        if not {row.word, row.verdict} & {*expected_words(row.expected, row.calibration)}
    ]
    corrected = defaultdict[str, list[Verdict]](list)
    for row in rows:
        if row.corrected and row.noise and get_kind(row.kind).judges_noise:
            corrected[row.corrected].append(row)
    found = {erratum: _worst_noise(own) for erratum, own in corrected.items()}
    told += [f"As {erratum} corrects it: {cell.why}." for erratum, cell in found.items() if cell.word == YES]
    for id in rows[0].formula_of or ():
        own = [row for row in known.get(id, ()) if on_printed_noise(row)]
        cell = noise_answer(own, ())
        if cell.word == NO:
            told.append(f"The same formula is refuted in {id}: {cell.why}.")
    return told


def answers(rows: Iterable[Verdict], beside: Iterable[Verdict] = ()) -> dict[str, Answer]:
    """Id of each claim, in order of appearance -> its answer.

    Rows of other claims that these may name, such as recorded ones, stand ``beside``; those among ``rows`` count first.
    """
    found, others = defaultdict[str, list[Verdict]](list), defaultdict[str, list[Verdict]](list)
    for known, own in ((found, rows), (others, beside)):
        for row in own:
            known[row.id].append(row)
    return {id: answer(own, {**others, **found}) for id, own in found.items()}


def told(rows: Sequence[Verdict], beside: Iterable[Verdict] = ()) -> list[Plain]:
    """Rows as JSON, each with the ``answers`` and the ``answer`` of its claim; all rows of a claim are given."""
    found = answers(rows, beside)
    return [
        {
            **row.to_json(),
            "answers": {key: cell.short for key, cell in found[row.id].cells.items()},
            "answer": found[row.id].text,
        }
        for row in rows
    ]


def headline(found: Iterable[Answer]) -> str:
    """Count all answers, so that the counts add up."""
    rows = list(found)
    risks = [one.cells for one in rows if one.subject == "risk"]
    shown = [cells for cells in risks if cells["printed"].word == YES]
    by_schedule = sum("s" in cells["printed"].marks for cells in shown)
    of = Counter(cells["printed"].word for cells in risks)
    said = [
        f"Of {len(risks)} statements about risk, {len(shown)} show with the printed noise ({by_schedule} by the "
        f"schedule alone), {of[NO]} {'is' if of[NO] == 1 else 'are'} contradicted, {of[OPEN]} are open and "
        f"{of[UNTESTED]} are not tested with it"
    ]
    noises = [cells["noise"] for cells in shown]
    larger = sum(map(larger_constant, noises))
    sequence = sum("q" in cell.marks for cell in noises)
    words = Counter(cell.word for cell in noises)
    rest = words[OPEN] + words[UNTESTED] - sequence
    said += [
        f"Of the {len(shown)}, that noise is proven private for {words[YES] - larger}, for a larger constant for "
        f"{larger}, and refuted for {words[NO]}",
        (f"For {sequence} the query sequence exceeds and the output is open, for" if sequence else "For")
        + f" {rest} it is open or not tested",
    ]
    ours = [cells["private"] for cells in risks if cells["private"].word == YES]
    nominal = sum("*" in cell.marks for cell in ours)
    said.append(f"With private noise {len(ours)} of the {len(risks)} show ({nominal} with nominal constants)")
    for what, subjects in (("privacy theorems", ("privacy",)), ("counts and laws", ("count", "law"))):
        counts = Counter(one.word for one in rows if one.subject in subjects)
        told = ", ".join(f"{counts[word]} {word}" for word in WORDS)
        said += [f"Of {counts.total()} {what}: {told}"] * bool(counts)
    return ". ".join(said) + "."


def brief(found: Iterable[Answer]) -> str:
    """Count the statements about risk that show with the printed noise, and where that noise is private."""
    risks = [one.cells for one in found if one.subject == "risk"]
    noises = [cells["noise"] for cells in risks if cells["printed"].word == YES]
    private = sum(cell.word == YES and not larger_constant(cell) for cell in noises)
    said = f"{len(noises)} of {len(risks)} statements about risk show with the printed noise"
    return f"{said}; for {private} of these that noise is proven private."


def larger_constant(cell: AnswerCell) -> bool:
    """Check whether noise is private for a larger constant than 1 alone."""
    return cell.word == YES and float(cell.marks.get("c", ">= 1").removeprefix(">= ").replace(",", "")) > 1.0
