"""Tables per paper and claim: exponents claimed beside measured, rebuilt tables, measured cells, orderings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dpsco_bench.claims.bounds.glossary import errata_letters
from dpsco_bench.claims.erratum import CHANGES, WEIGHTIEST, Erratum
from dpsco_bench.report.address import address
from dpsco_bench.report.inputs import ClaimResults, Inputs
from dpsco_bench.report.numbers import (
    count,
    exponent,
    is_number,
    number,
    plain,
    slope,
    with_error,
)
from dpsco_bench.report.scores import Score, claim_scores
from dpsco_bench.report.tables import Column, Table
from dpsco_bench.report.wording import parameter_symbol, symbols

RATE_NOTE = (
    "Bound: slope of the full bound formula, logarithms included, over the same grid and with the same weights. Under "
    "accounted noise ε/√l is replaced by the Gaussian-DP parameter of (ε, δ), whose exponent in ε is below 1."
)


@dataclass(frozen=True)
class Sweep:
    """Verdicts of one sweep under all its calibrations."""

    scores: Sequence[Score]

    @property
    def first(self) -> Score:
        """Any of them, for what they share."""
        return self.scores[0]

    @property
    def part(self) -> tuple[str, str]:
        """Claim and part."""
        return self.first.results.id, self.first.row.part

    def under(self, calibration: str) -> Score | None:
        return next((s for s in self.scores if s.row.calibration == calibration), None)


def sweeps(claims: Iterable[ClaimResults]) -> list[Sweep]:
    found: dict[tuple[str, str], list[Score]] = {}
    for claim in claims:
        for score in claim_scores(claim):
            if score.kind.measures_slope:
                found.setdefault((claim.id, score.row.part), []).append(score)
    return [Sweep(scores) for scores in found.values()]


def rates_table(inputs: Inputs, paper: str, title: str) -> Table:
    """Exponents of a paper, claimed beside measured."""
    columns = [
        Column(
            "Claim",
            lambda s: s.first.results.id,
            {"claim": lambda s: s.first.results.id},
            kind="code",
            link=lambda s: address(s.first.results.id),
        ),
        Column(
            "Part",
            lambda s: s.first.row.part,
            {"part": lambda s: s.first.row.part},
            kind="code",
            link=lambda s: address(*s.part),
        ),
        Column("In", lambda s: parameter_symbol(s.first.row.parameter), {"parameter": _of("parameter")}),
        Column(
            "Paper", lambda s: exponent(_of("claimed_exponent")(s)), {"claimed_exponent": _of("claimed_exponent")}, True
        ),
    ]
    found = sweeps(inputs.of_paper(paper))
    for calibration in judged_calibrations(found):
        columns += _calibration_columns(calibration)
    columns.append(Column("Noise off", lambda s: s.first.noise_off, {"noise_off_slope": _of("noise_off_slope")}, True))
    return Table(f"{paper}.rates", f"{title}: exponents claimed and measured", columns, found, RATE_NOTE)


def judged_calibrations(found: Iterable[Sweep]) -> list[str]:
    return ["paper", "accounted", *(["none"] if any(sweep.under("none") for sweep in found) else [])]


def calibration_title(calibration: str) -> str:
    return "noise off" if calibration == "none" else calibration


def _of(key: str) -> Any:
    return lambda sweep: getattr(sweep.first.row, key)


def _calibration_columns(calibration: str) -> list[Column]:
    def value(key: str) -> Any:
        return lambda sweep: (score := sweep.under(calibration)) and getattr(score.row, key)

    def text(render: Any) -> Any:
        return lambda sweep: render(score) if (score := sweep.under(calibration)) else ""

    name = calibration_title(calibration)
    return [
        Column(
            f"Bound, {name}",
            text(lambda score: slope(score.row.bound_slope)),
            {f"bound_slope_{calibration}": value("bound_slope")},
            True,
        ),
        Column(
            f"Measured, {name}",
            text(lambda score: score.slope),
            {f"slope_{calibration}": value("slope"), f"ci_{calibration}": value("ci")},
            True,
        ),
        Column(
            f"Verdict, {name}",
            text(lambda score: score.verdict),
            {f"verdict_{calibration}": value("verdict")},
            kind="verdict",
            style=text(lambda score: score.tone),
        ),
    ]


def cells_table(claim: ClaimResults) -> Table:
    rows = []
    for score in claim_scores(claim):
        row = score.row
        cells = list(zip(row.values, row.mean, row.stderr, row.bound, strict=False))
        names = row.parameters or (row.parameter,) * len(cells)
        rows += [(score, *cell, name) for cell, name in zip(cells, names, strict=False)]
    return Table(f"{claim.id}.cells", f"Cells of {claim.id}", _CELLS, rows)


def _ratio(row: Any) -> float | None:
    _, _, mean, _, bound, _ = row
    return mean / bound if is_number(mean) and is_number(bound) and bound else None


def _mean_text(row: Any) -> str:
    if row[0].kind.counts:
        return count(row[2])
    return with_error(row[2], row[3])


_CELLS = (
    Column("Part", lambda row: row[0].row.part, {"part": lambda row: row[0].row.part}, kind="code"),
    Column("Noise", lambda row: row[0].row.calibration, {"calibration": lambda row: row[0].row.calibration}),
    Column(
        "In",
        lambda row: parameter_symbol(row[5]),
        {"parameter": lambda row: row[5]},
    ),
    Column("Value", lambda row: plain(row[1]), {"value": lambda row: row[1]}, True),
    Column("Risk", lambda row: row[0].row.risk_kind or "", {"risk_kind": lambda row: row[0].row.risk_kind}),
    Column("Mean ± s.e.", _mean_text, {"mean": lambda row: row[2], "stderr": lambda row: row[3]}, True),
    Column("Bound or reference", lambda row: number(row[4]), {"bound": lambda row: row[4]}, True),
    Column("Mean / bound", lambda row: number(_ratio(row)), {"ratio": _ratio}, True),
)


def orderings_table(claim: ClaimResults) -> Table:
    """Every comparison of a claim's orderings."""
    rows = []
    for score in claim_scores(claim):
        intervals = score.row.ratio_ci or {}
        for name, ratio in (score.row.ratio or {}).items():
            rows.append((score, name, ratio, intervals.get(name) or (None, None)))
    return Table(f"{claim.id}.orderings", f"Comparisons of {claim.id}", _ORDERINGS, rows, _ORDERING_NOTE)


_ORDERING_NOTE = (
    "Ratio of median excess risks, the first method over the second, with its 95 % interval; below 1 the claim holds."
)


def _pair(row: Any) -> str:
    return " over ".join(row[0].part.pair).replace("_", " ")


_ORDERINGS = (
    Column("Part", lambda row: row[0].row.part, {"part": lambda row: row[0].row.part}, kind="code"),
    Column("Noise", lambda row: row[0].row.calibration, {"calibration": lambda row: row[0].row.calibration}),
    Column("Medians of", _pair, {"pair": _pair}),
    Column("Where", lambda row: symbols(row[1]), {"comparison": lambda row: row[1]}),
    Column("Ratio", lambda row: number(row[2]), {"ratio": lambda row: row[2]}, True),
    Column(
        "95 % interval",
        lambda row: f"[{number(row[3][0])}, {number(row[3][1])}]",
        {"ci_low": lambda row: row[3][0], "ci_high": lambda row: row[3][1]},
        True,
    ),
    Column("Risk", lambda row: row[0].row.risk_kind or "", {"risk_kind": lambda row: row[0].row.risk_kind}),
    Column("Says", lambda row: row[0].comparison(row[1]), {"says": lambda row: row[0].comparison(row[1])}),
)


def errata_table(errata: Sequence[Erratum]) -> Table:
    columns = (
        Column(
            "Entry",
            lambda e: f"{e.paper}.{e.id}",
            {"id": lambda e: f"{e.paper}.{e.id}"},
            link=lambda e: address(e.paper, e.id),
        ),
        Column("What", lambda e: symbols(e.title), {"title": lambda e: e.title}),
        Column("Changes", lambda e: e.changes, {"changes": lambda e: e.changes}, kind="code"),
        Column("Printed", lambda e: symbols(e.printed), {"printed": lambda e: e.printed}),
        Column("Calculation", lambda e: symbols(e.calculation), {"calculation": lambda e: e.calculation}),
        Column("What follows", lambda e: symbols(e.consequence), {"consequence": lambda e: e.consequence}),
        Column("Check", lambda e: e.check, {"command": lambda e: e.command}, kind="code"),
    )
    words = " ".join(f"{word}: {symbols(change.meaning)}" for word, change in CHANGES.items())
    return Table("errata", "Errata ledger", columns, errata, f"{errata_note(errata)} {words} {WEIGHTIEST}")


def errata_note(errata: Sequence[Erratum]) -> str:
    """What a reader of the ledger should know, the letters of the papers among it."""
    papers = {e.paper: [other for other in errata if other.paper == e.paper] for e in errata}
    letters = [symbols(errata_letters(paper, entries)) for paper, entries in papers.items()]
    return " ".join([ERRATA_NOTE, *filter(None, letters)])


ERRATA_NOTE = (
    "The texts used here are conversions, in which a symbol can get lost. A rate usually survives a wrong constant. "
    "An entry that is only loose says so. Each can be checked, most of them with a command."
)
