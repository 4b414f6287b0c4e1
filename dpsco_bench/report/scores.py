"""The scoreboard: one line per (claim, part, calibration), the verdict beside everything that limits it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.analysis.bootstrap import expected_chance_deviations
from dpsco_bench.analysis.ordering import OPEN, compared
from dpsco_bench.analysis.outward import outward
from dpsco_bench.analysis.verdict import CONFIRMING, Verdict
from dpsco_bench.claims.kinds import COMMON_WORDS, Field, Kind, get_kind
from dpsco_bench.claims.model import RISK, Part
from dpsco_bench.report.address import address
from dpsco_bench.report.inputs import ClaimResults, Inputs
from dpsco_bench.report.ledger import Privacy, charged_cells
from dpsco_bench.report.numbers import NOTHING, exponent, interval, is_number, number, plain, slope, span, with_interval
from dpsco_bench.report.tables import Column, Raw, Table
from dpsco_bench.report.wording import QUALIFIED, TONES, epsilon_text, meanings, quantity_label, symbols


@dataclass(frozen=True)
class Score:
    """One verdict with its claim and the privacy of the runs behind it."""

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
    def privacy(self) -> Privacy:
        return charged_cells(self.results, self.row.part, self.row.calibration)

    @property
    def quantity(self) -> str:
        """What was measured: ``excess risk``, the measure of its methods, or what runs noted."""
        if self.part.quantity != RISK:
            return quantity_label(self.part.quantity, self.results.paper)
        known = self.results.parts
        parts = [self.part, *(known[used] for used in self.part.uses if used in known)]
        measures = {get_algorithm(method.algorithm).measure for part in parts for method in part.methods}
        return measures.pop().replace("_", " ") if len(measures) == 1 else "excess risk"

    @property
    def verdict(self) -> str:
        """The verdict in words, with Greek letters and superscripts."""
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
        """Whether it was measured, and says something for or against, or leaves it open."""
        return self.row.word not in COMMON_WORDS and not self.row.skipped and self.row.meaning.outcome != "shown"

    @property
    def measured(self) -> str:
        """What was measured: a slope with its interval, the worst ratio, the real epsilon or ratios of medians.

        Of an audit it is its own lower bound, and not the accountant's epsilon, which it is held against.
        """
        row = self.row
        if is_number(row.slope):
            return f"slope {self.slope}"
        if is_number(row.worst_ratio):
            return f"ratio {number(row.worst_ratio)}"
        if self.kind.aside and is_number((row.own or {}).get("epsilon_lower")):
            return f"ε {epsilon_text(self.own('epsilon_lower'), 'lower')}"
        if is_number(row.epsilon_real):
            return f"ε {epsilon_text(row.epsilon_real, row.epsilon_real_kind or '')}"
        return self._orderings or self._own or NOTHING

    @property
    def slope(self) -> str:
        return with_interval(self.row.slope, None if self.kind.counts else self.row.ci)

    @property
    def _orderings(self) -> str:
        """Ratios of medians in short; `papers.orderings_table` has them one by one."""
        ratios = list((self.row.ratio or {}).values())
        return f"{len(ratios)} ratios {span(ratios)}" if ratios else ""

    @property
    def _own(self) -> str:
        """The first number among the fields that only its kind has."""
        found = ((field.title, self.own(name)) for name, field in self.kind.own_fields.items())
        return next((f"{title} {number(value)}" for title, value in found if is_number(value)), "")

    def own(self, name: str) -> Any:
        """A field that only its kind has; None for a row of another kind."""
        return self.row.own.get(name) if name in self.kind.own_fields else None

    @property
    def reason(self) -> str:
        """Why this verdict, as its sentence ends; of what is skipped it stands in the remarks."""
        return NOTHING if self.row.skipped else symbols(self.kind.why(self.row) or NOTHING)

    def comparison(self, name: str) -> str:
        """Word of one comparison of an ordering, from its interval."""
        low, high = (self.row.ratio_ci or {}).get(name) or (None, None)
        if not (is_number(low) and is_number(high)):
            return OPEN
        return compared(low, high)

    @property
    def compared_with(self) -> str:
        """What it is held against: the slope of the bound, 1, a band or the claimed epsilon."""
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
        return NOTHING if most != most else f"risk ≤ {number(most, 2)}" if most > 0 else "risk 0"

    @property
    def remarks(self) -> str:
        """Notes of the verdict, reservations first and none twice."""
        skipped = [self.row.reason] if self.row.skipped else []
        notes = [*skipped, *self.row.reservations, *self.row.notes, *self._warnings]
        text = "; ".join(dict.fromkeys(symbols(note) for note in notes if note))
        return text[:1].upper() + text[1:] if re.match(r"[a-z]{2,}(?![a-z(])", text) else text

    @property
    def _warnings(self) -> list[str]:
        """Conditions of the theorem that runs do not meet; those that differ in a number are told once."""
        alike: dict[str, list[str]] = {}
        for cell in self.privacy.cells:
            for warning in cell.warnings:
                alike.setdefault(re.sub(r"\d[\d.e+-]*", "#", warning), []).append(warning)
        more = {kind: f", and alike in {len(found) - 1} more" * (len(found) > 1) for kind, found in alike.items()}
        said = RANGE if self.kind.judges_noise else "outside the theorem:"
        return [found[0].replace(OUTSIDE, said) + more[kind] for kind, found in alike.items()]

    @property
    def has_interval(self) -> bool:
        """Whether the verdict rests on a slope with a 95 % interval."""
        return self.kind.has_interval and bool(interval(self.row.ci))


OUTSIDE = "outside_theorem:"
"""How a plan's warning begins where a cell does not meet a condition of its theorem."""
RANGE = "outside a range that the paper states:"
"""Of privacy: the condition may be one of another theorem, on the risk."""


class Group(NamedTuple):
    """Cells of one part: its id, its parameter and how many."""

    part: str
    parameter: str
    cells: int


def measured_parts(score: Score) -> list[Group]:
    """The parts whose cells a row judges, in the order of its cells."""
    found: list[Group] = []
    for used in score.part.uses:
        job = score.results.job(used, score.row.calibration)
        if job is not None and job.cells:
            signals = {cell.signal for cell in job.cells}  # a grid of them makes one cell
            found.append(Group(used, str(job.cells[0].parameter), len(job.cells) // len(signals)))
    return found


def scores(inputs: Inputs) -> list[Score]:
    """Every verdict of the profile, in the order of plan and claim files."""
    return [Score(claim, row) for claim in inputs.claims for row in claim.rows]


def claim_scores(claim: ClaimResults) -> list[Score]:
    return [Score(claim, row) for row in claim.rows]


def intervals(rows: Iterable[Score]) -> int:
    """Number of 95 % intervals that verdicts rest on: slopes, and each comparison of an ordering."""
    return sum(row.has_interval + len(row.row.ratio_ci or {}) for row in rows)


def chance_text(rows: Iterable[Score]) -> str:
    """How many deviations chance alone is expected to cause."""
    count = intervals(rows)
    expected = expected_chance_deviations(count)
    return (
        f"These verdicts rest on {count} intervals of 95 %; if every one of them were exact, about "
        f"{expected:.1f} would miss the true value by chance alone."
    )


def counts(rows: Iterable[Score]) -> list[tuple[str, str, int]]:
    """(word, tone, how many), in the order of `wording.meanings`, only words that occur."""
    rows = list(rows)
    found = Counter(row.row.counted_as for row in rows)
    tones = {row.row.counted_as: row.tone for row in rows}
    order = {word: number for number, (word, *_) in enumerate(meanings())}
    words = sorted(found, key=lambda word: (order.get(word.partition(",")[0], len(order)), word))
    return [(word, tones[word], found[word]) for word in words]


def counts_table(rows: Iterable[Score]) -> Table:
    rows = list(rows)
    found = Counter((row.row.kind, row.row.counted_as) for row in rows)
    kinds = sorted({kind for kind, _ in found})
    columns = [Column("Kind", lambda kind: get_kind(kind).title, {"kind": lambda kind: kind})]
    for word, _, _ in counts(rows):
        columns.append(_count_column(found, word))
    return Table("counts", "Verdicts by kind", columns, kinds)


def _count_column(found: Mapping[tuple[str, str], int], word: str) -> Column:
    name = word.replace(", ", "_").replace(" ", "_")
    return Column(
        word, lambda kind: str(found.get((kind, word), "·")), {name: lambda kind: found.get((kind, word), 0)}, True
    )


def _raw(*keys: str) -> Raw:
    return {key: attrgetter(f"row.{key}") for key in keys}


def _end(which: int) -> Any:
    return lambda score: score.row.ci[which]


def _worst(attribute: str) -> Any:
    return lambda score: getattr(score.privacy.worst, attribute, None)


CLAIM = Column(
    "Claim",
    lambda score: score.results.id,
    {"claim": lambda score: score.results.id},
    kind="code",
    link=lambda score: address(score.results.id),
)
PART = Column(
    "Part",
    lambda score: score.row.part,
    _raw("part"),
    kind="code",
    link=lambda score: address(score.results.id, score.row.part),
)
CALIBRATION = Column("Noise", lambda score: score.row.calibration, _raw("calibration", "profile"))
KIND = Column("Kind", lambda score: score.kind.title, _raw("kind"))
VERDICT = Column(
    "Verdict",
    lambda score: score.verdict,
    {**_raw("verdict"), "qualified": lambda score: bool(score.row.reservations)},
    kind="verdict",
    style=lambda score: score.mark,
)
MEASURED = Column(
    "Measured [95 %]",
    lambda score: score.measured,
    {**_raw("slope"), "ci_low": _end(0), "ci_high": _end(1), **_raw("worst_ratio")},
    numeric=True,
)
COMPARED = Column("Bound", lambda score: score.compared_with, _raw("bound_slope", "tolerance"), numeric=True)
CLAIMED = Column(
    "Paper's exponent",
    lambda score: exponent(score.row.claimed_exponent),
    _raw("claimed_exponent"),
    numeric=True,
)
NOISE_OFF = Column("Noise off", lambda score: score.noise_off, _raw("noise_off_slope"), numeric=True)
PRIVACY = Column(
    "Privacy",
    lambda score: score.privacy.text,
    {
        "privacy_status": lambda score: score.privacy.status,
        "epsilon_claimed": _worst("claimed"),
        "epsilon_real": _worst("real"),
        "epsilon_real_kind": _worst("kind"),
    },
)


def own_columns(rows: Iterable[Score]) -> list[Column]:
    """A column for each field that only the kind of some row has; rows of other kinds leave it empty."""
    kinds = dict.fromkeys(row.row.kind for row in rows)
    fields = {name: field for kind in kinds for name, field in get_kind(kind).own_fields.items()}
    return [_own_column(name, field) for name, field in fields.items()]


def _own_column(name: str, field: Field) -> Column:
    def show(score: Score) -> str:
        value = score.own(name)
        items = value if isinstance(value, list | tuple) else [value]
        if name.endswith("_lower"):  # it stays a bound
            items = [outward(item, "lower") if is_number(item) else item for item in items]
        return ", ".join(number(item) if field.is_number else NOTHING if item is None else str(item) for item in items)

    return Column(field.title, show, {name: lambda score: score.own(name)}, field.is_number)


EXPECTED = Column("Expected", lambda score: score.row.expected or NOTHING, _raw("expected"))
REASON = Column("Reason", lambda score: score.reason, _raw("reason"))
REMARKS = Column(
    "Remarks",
    lambda score: score.remarks,
    {"notes": lambda score: "; ".join((*score.row.reservations, *score.row.notes)), **_raw("replicates", "key")},
)


def scoreboard(inputs: Inputs) -> Table:
    rows = scores(inputs)
    columns = (
        *(CLAIM, PART, CALIBRATION, KIND, VERDICT, MEASURED, COMPARED, CLAIMED, NOISE_OFF, PRIVACY),
        *(*own_columns(rows), EXPECTED, REMARKS),
    )
    group = lambda score: (f"{score.results.id} · {symbols(score.results.claim.title)}", score.results.id)  # noqa: E731
    return Table("scoreboard", f"Scoreboard, profile {inputs.profile}", columns, rows, chance_text(rows), group)


def claim_file_table(claim: ClaimResults) -> Table:
    """A claim's verdicts as they are written to files."""
    shown = claim_table(claim)
    columns = shown.columns if PRIVACY in shown.columns else (*shown.columns, PRIVACY)
    return replace(shown, id=f"{claim.id}.verdicts", columns=columns)


def claim_table(claim: ClaimResults) -> Table:
    rows = claim_scores(claim)
    measured = (PART, CALIBRATION, VERDICT, MEASURED, COMPARED, CLAIMED, NOISE_OFF)
    columns = (*measured, *own_columns(rows), REASON, EXPECTED, REMARKS)
    return Table(claim.id, f"Verdicts of {claim.id}", columns, rows)
