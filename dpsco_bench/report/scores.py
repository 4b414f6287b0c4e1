"""The frame of verdicts, a row per (claim, part, calibration), the tables made of it, and the titles of figures."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.analysis.answer import NO, OPEN, UNTESTED, YES
from dpsco_bench.analysis.answer import answer as answer_of
from dpsco_bench.analysis.bootstrap import expected_chance_deviations
from dpsco_bench.analysis.rounding import outward
from dpsco_bench.analysis.verdict import CONFIRMING, Verdict
from dpsco_bench.claims.kinds import COMMON_WORDS, SKIPPED, Field, Kind, get_kind
from dpsco_bench.claims.model import GRID, RISK, Claim, Part
from dpsco_bench.report.inputs import ClaimResults, Inputs
from dpsco_bench.report.ledger import Charged, charged_cells
from dpsco_bench.report.numbers import (
    NOTHING,
    count,
    exponent,
    interval,
    is_number,
    number,
    plain,
    slope,
    span,
    with_interval,
)
from dpsco_bench.report.tables import Column, Columns, ReportTable, leads_to
from dpsco_bench.report.wording import (
    QUALIFIED,
    TONES,
    epsilon_text,
    meanings,
    parameter_symbol,
    privacy_text,
    quantity_label,
    symbols,
)

NOISE = {"paper": "printed noise", "accounted": "accounted noise", "none": "noise off"}
RUNS = "Runs that could refute privacy"
SHOWS = {YES: "shows", NO: "is contradicted", OPEN: "is open", UNTESTED: "is not tested"}
IS_PRIVATE = {YES: "is private", NO: "is not private", OPEN: "is open", UNTESTED: "is not tested"}
AS_STATED = {YES: "is as stated", NO: "is not as stated", OPEN: "is open", UNTESTED: "is not tested"}


@dataclass(frozen=True)
class Score:
    """A row of the frame: one verdict with its claim."""

    results: ClaimResults
    row: Verdict

    @property
    def kind(self) -> Kind:
        return get_kind(self.row.kind)

    @property
    def part(self) -> Part:
        """The part as the claim's file has it; bare for a row of a part that the plan does not know."""
        return self.results.parts.get(self.row.part) or Part(self.row.part, self.row.kind, [])

    @cached_property
    def charged(self) -> list[Charged]:
        return charged_cells(self.results, self.row.part, self.row.calibration)

    @property
    def quantity(self) -> str:
        """Say what was measured: ``excess risk``, the measure of its methods, or what runs noted."""
        if self.part.quantity != RISK:
            return quantity_label(self.part.quantity, self.results.paper)
        known = self.results.parts
        parts = [self.part, *(known[used] for used in self.part.uses if used in known)]
        measures = {get_algorithm(method.algorithm).measure for part in parts for method in part.methods}
        return measures.pop().replace("_", " ") if len(measures) == 1 else "excess risk"

    @property
    def verdict(self) -> str:
        return symbols(self.row.said)

    @property
    def tone(self) -> str:
        outcome = self.row.meaning.outcome
        return QUALIFIED if self.row.reservations and outcome in CONFIRMING else TONES[outcome]

    @property
    def mark(self) -> str:
        """Tone of its mark: grey beside the statement, where it counts for nothing."""
        return "plain" if self.row.beside else self.tone

    @property
    def judged(self) -> bool:
        """Check whether it was measured, and says something for or against, or leaves it open."""
        return self.row.word not in COMMON_WORDS and not self.row.skipped and self.row.meaning.outcome != "shown"

    @property
    def measured(self) -> str:
        """Say what was measured: a slope, worst ratio, real epsilon, ratios of medians, or an audit's own bound."""
        row = self.row
        if is_number(row.slope):
            return f"slope {self.slope}"
        if is_number(row.worst_ratio):
            return f"ratio {number(row.worst_ratio)}"
        if self.kind.aside and is_number((row.own or {}).get("epsilon_lower")):
            return f"ε {epsilon_text(self.own('epsilon_lower'), 'lower')}"
        if is_number(row.epsilon_real):
            return f"ε {epsilon_text(row.epsilon_real, row.epsilon_real_kind or '')}"
        if row.ratio:
            return f"{len(row.ratio)} ratios {span(row.ratio.values())}"
        numbers = ((field.title, self.own(name)) for name, field in self.kind.own_fields.items())
        return next((f"{title} {number(value)}" for title, value in numbers if is_number(value)), NOTHING)

    @property
    def slope(self) -> str:
        return with_interval(self.row.slope, None if self.kind.counts else self.row.ci)

    def own(self, name: str) -> Any:
        """Read a field that only its kind has; None for a row of another kind."""
        return self.row.own.get(name) if name in self.kind.own_fields else None

    @property
    def reason(self) -> str:
        """Why this verdict, as its sentence ends; of what is skipped it stands in the remarks."""
        return NOTHING if self.row.skipped else symbols(self.kind.why(self.row) or NOTHING)

    @property
    def compared_with(self) -> str:
        """Say what it is held against: the slope of the bound, 1, a band or the claimed epsilon."""
        row, slope_of_it = self.row, self.kind.compared_slope(self.row)
        if is_number(slope_of_it):
            return slope(slope_of_it) if self.kind.whose_exponent == "paper" else exponent(slope_of_it)
        if self.part.band:
            low, high = self.part.band
            return f"{number(low)} … {number(high)}"
        if is_number(row.epsilon_claimed):
            return f"≤ {plain(row.epsilon_claimed)}"
        return (self.kind.against or NOTHING) if self.measured != NOTHING else NOTHING

    @property
    def noise_off(self) -> str:
        """Slope with noise off; where the schedule leaves no risk to fit, how little it leaves."""
        if is_number(self.row.noise_off_slope) or not self.kind.companion:
            return slope(self.row.noise_off_slope)
        if self.row.calibration == "none":
            return NOTHING  # it is the row's own slope
        risks = [float(cell.final.mean()) for cell in self.results.evidence(self.row.part, "none") if cell.risks.size]
        most = max(risks, default=float("nan"))
        return NOTHING if math.isnan(most) else f"risk ≤ {number(most, 2)}" if most > 0 else "risk 0"

    @property
    def effort(self) -> str:
        """Say how many replicates were run, of how many where it was decided by stages, and the interval's level."""
        row = self.row
        if not row.replicates:
            return NOTHING
        of = f" of {count(row.stages[-1])}" if row.stages else ""
        return count(row.replicates) + of + (f", {100 * row.level:.4g} %" if row.level else "")

    @property
    def remarks(self) -> str:
        """Notes of the verdict, reservations first and none twice."""
        skipped = [self.row.reason] if self.row.skipped else []
        notes = [*skipped, *self.row.reservations, *self.row.notes, *self._warnings]
        text = "; ".join(dict.fromkeys(symbols(note) for note in notes if note))
        return text[:1].upper() + text[1:] if re.match(r"[a-z]{2,}(?![a-z(])", text) else text

    @property
    def _warnings(self) -> list[str]:
        """Conditions of the theorem that runs do not meet; of those that differ in a number, the worst cell's."""
        alike: dict[str, list[str]] = {}
        for cell in sorted(self.charged, key=lambda cell: cell.noise.severity, reverse=True):
            for warning in cell.calibrated.warnings:
                alike.setdefault(re.sub(r"\d[\d.e+-]*", "#", warning), []).append(warning)
        more = {kind: f", and alike in {len(found) - 1} more" * (len(found) > 1) for kind, found in alike.items()}
        said = RANGE if self.kind.judges_noise else "outside the theorem:"
        return [found[0].replace(OUTSIDE, said) + more[kind] for kind, found in alike.items()]


OUTSIDE = "outside_theorem:"  # how a plan's warning begins where a cell does not meet a condition of its theorem
RANGE = "outside a range that the paper states:"
"""Prefix of a condition on privacy: it may be one of another theorem, on the risk."""


class Group(NamedTuple):
    """Cells of one part: its id, its parameter and how many."""

    part: str
    parameter: str
    cells: int


def measured_parts(score: Score) -> list[Group]:
    """List the parts whose cells a row judges, in the order of its cells."""
    found: list[Group] = []
    for used in score.part.uses:
        job = score.results.job(used, score.row.calibration)
        if job is not None and job.cells:
            signals = {cell.signal for cell in job.cells}  # a grid of them makes one cell
            found.append(Group(used, str(job.cells[0].parameter), len(job.cells) // len(signals)))
    return found


def scores(inputs: Inputs) -> list[Score]:
    """List every verdict of the profile, in the order of plan and claim files."""
    return [Score(claim, row) for claim in inputs.claims for row in claim.rows]


def claim_scores(claim: ClaimResults) -> list[Score]:
    return [Score(claim, row) for row in claim.rows]


def chance_text(rows: Iterable[Score]) -> str:
    """Count the intervals of slopes and comparisons, and how many deviations chance alone is expected to cause."""
    count = sum((row.kind.has_interval and bool(interval(row.row.ci))) + len(row.row.ratio_ci or {}) for row in rows)
    expected = expected_chance_deviations(count)
    return (
        f"These verdicts rest on {count} intervals that err as often as intervals of 95 %; if every one of them were "
        f"exact, about {expected:.1f} would miss the true value by chance alone."
    )


def counts_table(rows: Iterable[Score]) -> ReportTable:
    """Count verdicts by kind and word, words in the order of `wording.meanings`."""
    found: dict[str, Counter[str]] = {}
    for score in rows:
        found.setdefault(score.row.kind, Counter())[score.row.counted_as] += 1
    order = {word: place for place, (word, *_) in enumerate(meanings())}
    words = sorted(
        {word for own in found.values() for word in own},
        key=lambda word: (order.get(word.partition(",")[0], len(order)), word),
    )
    names = {word: word.replace(", ", "_").replace(" ", "_") for word in words}
    columns = {
        "Kind": Column("kind", lambda kind: get_kind(kind).title),
        **{word: Column(name, lambda number: str(number or "·"), numeric=True) for word, name in names.items()},
    }
    frame = [{"kind": kind, **{name: own[word] for word, name in names.items()}} for kind, own in sorted(found.items())]
    return ReportTable("counts", "Verdicts by kind", columns, frame)


COLUMNS: Columns = {  # every column of a table of verdicts but those that only rows of a kind have (`own_columns`)
    "Claim": Column("results.id", raw="claim", kind="code", link=leads_to("results.id")),
    "Part": Column("row.part", kind="code", link=leads_to("results.id", "row.part")),
    "Noise": Column("row.calibration", raw={"calibration": "row.calibration", "profile": "row.profile"}),
    "Kind": Column("kind.title", raw={"kind": "row.kind"}),
    "Verdict": Column(
        "verdict",
        raw={"verdict": "row.verdict", "qualified": lambda score: bool(score.row.reservations)},
        kind="verdict",
        tone="mark",
    ),
    "Measured [interval]": Column(
        "measured",
        raw={"slope": "row.slope", "ci_low": "row.ci.0", "ci_high": "row.ci.1", "worst_ratio": "row.worst_ratio"},
        numeric=True,
    ),
    "Bound": Column(
        "compared_with", raw={"bound_slope": "row.bound_slope", "tolerance": "row.tolerance"}, numeric=True
    ),
    "Replicates, level": Column("effort", raw={"level": "row.level"}, numeric=True),
    "Paper's exponent": Column("row.claimed_exponent", exponent, numeric=True),
    "Noise off": Column("noise_off", raw={"noise_off_slope": "row.noise_off_slope"}, numeric=True),
    "Privacy": Column(
        "row",
        privacy_text,
        raw={
            "privacy_status": "row.privacy_status",
            "epsilon_claimed": "row.noise.epsilon_claimed",
            "epsilon_real": "row.noise.epsilon_real",
            "epsilon_real_kind": "row.noise.epsilon_real_kind",
        },
    ),
    "Expected": Column("row.expected", lambda word: word or NOTHING),
    "Reason": Column("reason", raw={"reason": "row.reason"}),
    "Remarks": Column(
        "remarks",
        raw={
            "notes": lambda score: "; ".join((*score.row.reservations, *score.row.notes)),
            "replicates": "row.replicates",
            "key": "row.key",
        },
    ),
}
MEASURED = ("Verdict", "Measured [interval]", "Bound", "Paper's exponent", "Noise off")


def own_columns(rows: Iterable[Score]) -> Columns:
    """Make a column for each field that only the kind of some row has; rows of other kinds leave it empty."""
    kinds = dict.fromkeys(row.row.kind for row in rows)
    fields = {name: field for kind in kinds for name, field in get_kind(kind).own_fields.items()}
    return {field.title: _own_column(name, field) for name, field in fields.items()}


def _own_column(name: str, field: Field) -> Column:
    def show(value: Any) -> str:
        items = value if isinstance(value, list | tuple) else [value]
        if name.endswith("_lower"):  # it stays a bound
            items = [outward(item, "lower") if is_number(item) else item for item in items]
        return ", ".join(number(item) if field.is_number else NOTHING if item is None else str(item) for item in items)

    return Column(lambda score: score.own(name), show, name, field.is_number)


def chosen(titles: Iterable[str]) -> Columns:
    return {title: COLUMNS[title] for title in titles}


def scoreboard(inputs: Inputs) -> ReportTable:
    rows = scores(inputs)
    columns = {
        **chosen(("Claim", "Part", "Noise", "Kind", *MEASURED, "Privacy")),
        **own_columns(rows),
        **chosen(("Expected", "Remarks")),
    }
    return ReportTable("scoreboard", f"Scoreboard, profile {inputs.profile}", columns, rows, chance_text(rows))


def claim_table(claim: ClaimResults) -> ReportTable:
    rows = claim_scores(claim)
    numbers, words = ("Part", "Noise", *MEASURED, "Replicates, level"), ("Reason", "Expected", "Remarks")
    columns = {**chosen(numbers), **own_columns(rows), **chosen(words)}
    return ReportTable(claim.id, f"Verdicts of {claim.id}", columns, rows)


def claim_file_table(claim: ClaimResults) -> ReportTable:
    """Tabulate the verdicts of a claim for files, which have their privacy too."""
    shown = claim_table(claim)
    return replace(shown, id=f"{claim.id}.verdicts", columns={**shown.columns, **chosen(("Privacy",))})


def claim_title(claim: Claim, rows: Sequence[Verdict]) -> str:
    """Say what a claim's figure says: ``Theorem 4.2 shows with the printed noise, which is not private``."""
    answer = answer_of(rows)
    where, cells = place(claim), answer.cells
    if answer.subject == "audit":
        return RUNS
    if answer.subject == "privacy":
        return symbols(f"The printed noise of {where} {IS_PRIVATE[cells['noise'].word]}")
    if answer.subject in ("count", "law"):
        return symbols(f"The {answer.subject} of {where} {AS_STATED[cells['printed'].word]}")
    printed, ours = cells["printed"].word, cells["private"].word
    noise = {YES: ", which is private", NO: ", which is not private", OPEN: ", whose privacy is open"}
    private = "" if claim.noise_of else noise.get(cells["noise"].word, "")
    several = re.search(r"^\w+s\b|, rows\b", where)  # Theorems 8 and 15; Table 1, rows [9][8]
    shows = {
        word: re.sub("^shows", "show", re.sub("^is", "are", text)) if several else text for word, text in SHOWS.items()
    }
    said = f"{shows[printed]} with the printed noise{private}"
    if ours != UNTESTED:
        also = f"{shows[ours]} " * (ours != printed)
        said += f"{',' * (',' in said)} and {also}with private noise"
    risk = re.search(r"\b(?:empirical|population) risk\b", claim.title.lower())
    return symbols(f"{where}{f', {risk[0]},' if risk else ''} {said}")


def statement(claim: Claim) -> str:
    """Name a statement, its place once: ``Theorem 4.2: DP-SVRG reaches ...``, ``Table 1, row [6]: noisy SGD``."""
    where = place(claim)
    placed = re.match(r"Table \d|Comparison table|Section \d|Audits ", claim.title) or where in claim.title
    return claim.title if placed else f"{where}: {claim.title}"


def place(claim: Claim) -> str:
    """Say where a statement stands in its paper: ``Theorem 4.2``, ``Table 1, row [34]``, ``Corollary 5, part 1``."""
    if re.match(r"Table \d|Comparison table", claim.title):
        return claim.title.replace(":", ",").replace("Comparison table", "the comparison table")
    found = re.sub(r"^.*?\b(?:19|20)\d\d\b,?\s*", "", claim.source) or claim.source
    part = re.search(r"\((part \d+)", found)
    found = re.sub(r"\s+\([^)]*\)", "", found)
    found, _, aside = found.partition("; ")
    first, *more = found.split(", ")
    row = [piece for piece in more[:1] if piece.startswith(("row", "rows"))]
    first = re.sub(r" and (?!\d).*", "", first)
    said = ", ".join([first, *row, *([part[1]] if part else [])])
    return f"{said[:1].upper()}{said[1:]}{f' ({aside})' * bool(aside)}"


def panel_message(scores: Sequence[Score]) -> str:
    """Say what the verdicts of one part say, once where all calibrations say it."""
    first = scores[0]
    said: dict[str, list[str]] = {}
    for score in scores:
        said.setdefault(phrase(score), []).append(NOISE.get(score.row.calibration, score.row.calibration))
    has_place = first.kind.measures_slope and not first.kind.counts and first.row.parameter not in ("", GRID)
    name = first.row.parameter.removeprefix("problem.").removeprefix("algorithm.")
    name = name if name == "norm_kappa" else name.replace("_", " ")
    place = f"In {parameter_symbol(name)} " if has_place else ""
    if len(said) == 1:
        text = place + next(iter(said))
    else:
        text = "; ".join(f"{' and '.join(names)}: {words}" for words, names in said.items())
        text = f"{place.strip()}, {text}" if place else text
    return text[:1].upper() + text[1:]


def phrase(score: Score) -> str:
    """Say what a verdict says, as a clause."""
    row = score.row
    if row.word in COMMON_WORDS:
        return score.verdict if row.word == SKIPPED or row.skipped else "not measured"
    known = [score.kind.words[word].phrase for word in (row.form, row.word) if word in score.kind.words]
    found = next(filter(None, known), "")
    if not found:
        return f"{score.kind.title}: {score.verdict}"
    slopes = (score.row.bound_slope, score.row.slope, score.row.claimed_exponent)  # the bound's where it has one
    falls = next((value < 0 for value in slopes if is_number(value) and math.isfinite(value) and value), True)
    what = score.quantity.removeprefix("excess ")
    noun = re.split(r",| per | to | of ", what)[0]  # ``value queries per call`` take a verb in the plural
    one = "" if noun.endswith("s") and not noun.endswith("ss") else "s"
    words = {
        "what": f"the {what}",
        "counted": "gradient evaluations" if what == "risk" else what,
        "moves": ("fall" if falls else "grow") + one,
        "follows": f"follow{one}",
        "better": "faster" if falls else "more slowly",
        "worse": "more slowly" if falls else "faster",
    }
    return found.format_map(words)
