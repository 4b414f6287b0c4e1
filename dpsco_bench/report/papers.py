"""Tables per paper and claim: exponents claimed beside measured, rebuilt tables, measured cells, orderings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpsco_bench.claims.bounds.glossary import errata_letters
from dpsco_bench.claims.erratum import CHANGES, WEIGHTIEST, Erratum
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
from dpsco_bench.report.tables import Column, Columns, Table, leads_to
from dpsco_bench.report.wording import parameter_symbol, symbols

RATE_NOTE = (
    "Bound: slope of the full bound formula, logarithms included, over the same grid and with the same weights. Under "
    "accounted noise ε/√l is replaced by the Gaussian-DP parameter of (ε, δ), whose exponent in ε is below 1."
)


@dataclass(frozen=True)
class Sweep:
    """Verdicts of one sweep by calibration."""

    scores: Mapping[str, Score]

    @property
    def first(self) -> Score:
        """Any of them, for what they share."""
        return next(iter(self.scores.values()))

    @property
    def part(self) -> tuple[str, str]:
        """Claim and part."""
        return self.first.results.id, self.first.row.part


def sweeps(claims: Iterable[ClaimResults]) -> list[Sweep]:
    found: dict[tuple[str, str], dict[str, Score]] = {}
    for claim in claims:
        for score in claim_scores(claim):
            if score.kind.measures_slope:
                found.setdefault((claim.id, score.row.part), {})[score.row.calibration] = score
    return [Sweep(scores) for scores in found.values()]


RATES: Columns = {
    "Claim": Column("first.results.id", raw="claim", kind="code", link=leads_to("first.results.id")),
    "Part": Column("first.row.part", kind="code", link=leads_to("first.results.id", "first.row.part")),
    "In": Column("first.row.parameter", parameter_symbol),
    "Paper": Column("first.row.claimed_exponent", exponent, numeric=True),
}


def rates_table(inputs: Inputs, paper: str, title: str) -> Table:
    """Tabulate the exponents of a paper, claimed beside measured."""
    found = sweeps(inputs.of_paper(paper))
    columns = dict(RATES)
    for calibration in judged_calibrations(found):
        columns |= _rate_columns(calibration)
    columns["Noise off"] = Column("first.noise_off", raw={"noise_off_slope": "first.row.noise_off_slope"}, numeric=True)
    return Table(f"{paper}.rates", f"{title}: exponents claimed and measured", columns, found, RATE_NOTE)


def _rate_columns(calibration: str) -> Columns:
    name, score = calibration_title(calibration), f"scores.{calibration}"
    return {
        f"Bound, {name}": Column(f"{score}.row.bound_slope", shown_slope, f"bound_slope_{calibration}", numeric=True),
        f"Measured, {name}": Column(
            f"{score}.slope",
            raw={f"slope_{calibration}": f"{score}.row.slope", f"ci_{calibration}": f"{score}.row.ci"},
            numeric=True,
        ),
        f"Verdict, {name}": verdict_column(calibration),
    }


def verdict_column(calibration: str, sweep: str = "") -> Column:
    """Make the column of a sweep's verdicts under a calibration; the sweep stands at a path of the row."""
    score = f"{sweep}scores.{calibration}"
    raw = {f"verdict_{calibration}": f"{score}.row.verdict"}
    return Column(f"{score}.verdict", raw=raw, kind="verdict", tone=f"{score}.tone")


def shown_slope(value: float | None) -> str:
    """Show a slope; nothing where there is no verdict."""
    return "" if value is None else slope(value)


def judged_calibrations(found: Iterable[Sweep]) -> list[str]:
    return ["paper", "accounted", *(["none"] if any("none" in sweep.scores for sweep in found) else [])]


def calibration_title(calibration: str) -> str:
    return "noise off" if calibration == "none" else calibration


def cells_frame(scores: Iterable[Score]) -> list[dict[str, Any]]:
    """Take the cells out of verdicts: a row per judged cell."""
    rows = []
    for score in scores:
        row = score.row
        names = row.parameters or (row.parameter,) * len(row.values)
        for name, value, mean, stderr, bound in zip(names, row.values, row.mean, row.stderr, row.bound, strict=False):
            known = is_number(mean) and is_number(bound) and bound
            numbers = {"mean": mean, "stderr": stderr, "bound": bound, "ratio": mean / bound if known else None}
            rows.append({"score": score, "parameter": name, "value": value, **numbers})
    return rows


def _mean_text(cell: Mapping[str, Any]) -> str:
    return count(cell["mean"]) if cell["score"].kind.counts else with_error(cell["mean"], cell["stderr"])


PART: Columns = {
    "Part": Column("score.row.part", kind="code"),
    "Noise": Column("score.row.calibration"),
}
RISK_KIND = Column("score.row.risk_kind")
CELLS: Columns = {
    **PART,
    "In": Column("parameter", parameter_symbol),
    "Value": Column("value", plain, numeric=True),
    "Risk": RISK_KIND,
    "Mean ± s.e.": Column(_mean_text, raw={"mean": "mean", "stderr": "stderr"}, numeric=True),
    "Bound or reference": Column("bound", number, numeric=True),
    "Mean / bound": Column("ratio", number, numeric=True),
}


def cells_table(claim: ClaimResults) -> Table:
    """Tabulate the cells of a claim."""
    return Table(f"{claim.id}.cells", f"Cells of {claim.id}", CELLS, cells_frame(claim_scores(claim)))


def _comparisons(score: Score) -> Iterator[dict[str, Any]]:
    intervals = score.row.ratio_ci or {}
    for name, ratio in (score.row.ratio or {}).items():
        ci = intervals.get(name) or (None, None)
        pair = " over ".join(score.part.pair).replace("_", " ")
        said = {"says": score.comparison(name), "pair": pair}
        yield {"score": score, "comparison": name, "ratio": ratio, "ci": ci, **said}


ORDERINGS: Columns = {
    **PART,
    "Medians of": Column("pair"),
    "Where": Column("comparison", symbols),
    "Ratio": Column("ratio", number, numeric=True),
    "95 % interval": Column(
        "ci",
        lambda ci: f"[{number(ci[0])}, {number(ci[1])}]",
        {"ci_low": "ci.0", "ci_high": "ci.1"},
        numeric=True,
    ),
    "Risk": RISK_KIND,
    "Says": Column("says"),
}
ORDERING_NOTE = (
    "Ratio of median excess risks, the first method over the second, with its 95 % interval; below 1 the claim holds."
)


def orderings_table(claim: ClaimResults) -> Table:
    """Tabulate every comparison of a claim's orderings."""
    rows = [row for score in claim_scores(claim) for row in _comparisons(score)]
    return Table(f"{claim.id}.orderings", f"Comparisons of {claim.id}", ORDERINGS, rows, ORDERING_NOTE)


ERRATA: Columns = {
    "Entry": Column(lambda entry: f"{entry.paper}.{entry.id}", raw="id", link=leads_to("paper", "id")),
    "What": Column("title", symbols),
    "Changes": Column("changes", kind="code"),
    "Printed": Column("printed", symbols),
    "Calculation": Column("calculation", symbols),
    "What follows": Column("consequence", symbols),
    "Check": Column("check", raw={"command": "command"}, kind="code"),
}


def errata_table(errata: Sequence[Erratum]) -> Table:
    """Tabulate the errata ledger."""
    meanings = " ".join(f"{word}: {symbols(change.meaning)}" for word, change in CHANGES.items())
    return Table("errata", "Errata ledger", ERRATA, errata, f"{errata_note(errata)} {meanings} {WEIGHTIEST}")


def errata_note(errata: Sequence[Erratum]) -> str:
    """Say what a reader of the ledger should know, the letters of the papers among it."""
    papers = {e.paper: [other for other in errata if other.paper == e.paper] for e in errata}
    letters = [symbols(errata_letters(paper, entries)) for paper, entries in papers.items()]
    return " ".join([ERRATA_NOTE, *filter(None, letters)])


ERRATA_NOTE = (
    "The texts used here are conversions, in which a symbol can get lost. A rate usually survives a wrong constant. "
    "An entry that is only loose says so. Each can be checked, most of them with a command."
)
