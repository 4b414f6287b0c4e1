"""Tables per paper and claim: exponents claimed beside measured, cells, orderings, how parts are measured, errata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dpsco_bench.analysis.ordering import OPEN, compared
from dpsco_bench.claims.bounds.registry import errata_letters, get_bound
from dpsco_bench.claims.catalogue import CHANGES, WEIGHTIEST, Erratum
from dpsco_bench.claims.model import Part
from dpsco_bench.execution.jobs import Job
from dpsco_bench.problems.registry import problem_class
from dpsco_bench.report.inputs import ClaimResults, Inputs
from dpsco_bench.report.numbers import NOTHING, count, exponent, is_number, number, plain, slope, span, with_error
from dpsco_bench.report.scores import Score, claim_file_table, claim_scores
from dpsco_bench.report.tables import Column, Columns, ReportTable, leads_to
from dpsco_bench.report.wording import options_text, parameter_symbol, setting, symbols

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
        return next(iter(self.scores.values()))

    @property
    def part(self) -> tuple[str, str]:
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


def rates_table(inputs: Inputs, paper: str, title: str) -> ReportTable:
    found = sweeps(inputs.of_paper(paper))
    columns = dict(RATES)
    for calibration in judged_calibrations(found):
        columns |= _rate_columns(calibration)
    columns["Noise off"] = Column("first.noise_off", raw={"noise_off_slope": "first.row.noise_off_slope"}, numeric=True)
    return ReportTable(f"{paper}.rates", f"{title}: exponents claimed and measured", columns, found, RATE_NOTE)


def _rate_columns(calibration: str) -> Columns:
    name, score = calibration_title(calibration), f"scores.{calibration}"
    bound = Column(
        f"{score}.row.bound_slope",
        lambda value: "" if value is None else slope(value),
        f"bound_slope_{calibration}",
        numeric=True,
    )
    return {
        f"Bound, {name}": bound,
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


def judged_calibrations(found: Iterable[Sweep]) -> list[str]:
    return ["paper", "accounted", *(["none"] if any("none" in sweep.scores for sweep in found) else [])]


def calibration_title(calibration: str) -> str:
    return "noise off" if calibration == "none" else calibration


def number_tables(claim: ClaimResults) -> list[ReportTable]:
    """Tabulate a claim's verdicts, cells and comparisons for files; tables without rows are left out."""
    return [table for table in (claim_file_table(claim), cells_table(claim), orderings_table(claim)) if table.rows]


def cells_table(claim: ClaimResults) -> ReportTable:
    rows = []
    for score in claim_scores(claim):
        row = score.row
        names = row.parameters or (row.parameter,) * len(row.values)
        for name, value, mean, stderr, bound in zip(names, row.values, row.mean, row.stderr, row.bound, strict=False):
            known = is_number(mean) and is_number(bound) and bound
            shown = count(mean) if score.kind.counts else with_error(mean, stderr)
            numbers = {"mean": mean, "stderr": stderr, "bound": bound, "ratio": mean / bound if known else None}
            rows.append({"score": score, "parameter": name, "value": value, "shown": shown, **numbers})
    return ReportTable(f"{claim.id}.cells", f"Cells of {claim.id}", CELLS, rows)


PART: Columns = {"Part": Column("score.row.part", kind="code"), "Noise": Column("score.row.calibration")}
RISK_KIND = Column("score.row.risk_kind")
CELLS: Columns = {
    **PART,
    "In": Column("parameter", parameter_symbol),
    "Value": Column("value", plain, numeric=True),
    "Risk": RISK_KIND,
    "Mean ± s.e.": Column("shown", raw={"mean": "mean", "stderr": "stderr"}, numeric=True),
    "Bound or reference": Column("bound", number, numeric=True),
    "Mean / bound": Column("ratio", number, numeric=True),
}


def orderings_table(claim: ClaimResults) -> ReportTable:
    rows = []
    for score in claim_scores(claim):
        pair = " over ".join(score.part.pair).replace("_", " ")
        for name, ratio in (score.row.ratio or {}).items():
            ci = (score.row.ratio_ci or {}).get(name) or (None, None)
            says = compared(*ci) if all(map(is_number, ci)) else OPEN
            rows.append({"score": score, "comparison": name, "ratio": ratio, "ci": ci, "says": says, "pair": pair})
    return ReportTable(f"{claim.id}.orderings", f"Comparisons of {claim.id}", ORDERINGS, rows, ORDERING_NOTE)


ORDERINGS: Columns = {
    **PART,
    "Medians of": Column("pair"),
    "Where": Column("comparison", symbols),
    "Ratio": Column("ratio", number, numeric=True),
    "Interval": Column(
        "ci", lambda ci: f"[{number(ci[0])}, {number(ci[1])}]", {"ci_low": "ci.0", "ci_high": "ci.1"}, numeric=True
    ),
    "Risk": RISK_KIND,
    "Says": Column("says"),
}
ORDERING_NOTE = (
    "Ratio of median excess risks, the first method over the second, with its interval; below 1 the claim holds."
)


def parts_table(claim: ClaimResults) -> ReportTable:
    """Tabulate how each part of a claim is measured: method, instance, grid, bound and tolerance."""
    rows = [_part(claim, part) for part in claim.parts.values()]
    titles = ("Part", "Kind", "Method", "Instance", "Swept", "Replicates", "Bound", "Tolerance")
    columns = {title: Column(title, raw="", numeric=title in ("Replicates", "Tolerance")) for title in titles}
    columns["Part"] = Column("Part", raw="", kind="code")
    return ReportTable(f"{claim.id}.parts", f"How {claim.id} is measured", columns, rows)


def _part(claim: ClaimResults, part: Part) -> dict[str, str]:
    """Describe a part by the first of its jobs: all have the same cells but for variants; some have none."""
    job = next((job for job in claim.jobs if job.part == part.id and job.cells), None)
    tolerance = part.rules.tolerance_of(part)
    measured = {"Method": NOTHING, "Instance": NOTHING, "Swept": NOTHING, "Replicates": NOTHING}
    if job:
        values = ", ".join(map(plain, sorted({cell.value for cell in job.cells})))
        measured = {
            "Method": _methods(job, part.sweep.parameter.partition(".")[2] if part.sweep else ""),
            "Instance": _instance(job, part),
            "Swept": f"{parameter_symbol(job.cells[0].parameter)}: {values}",
            "Replicates": REPLICATES.get(job.evaluation) or count(job.replicates * job.data_sets),
        }
    if part.uses:
        measured["Method"] = f"cells of {', '.join(_named(claim, name) for name in part.uses)}"
    return {
        **{"Part": part.id, "Kind": part.rules.title},
        **measured,
        "Bound": symbols(get_bound(part.bound).text) if part.bound else NOTHING,
        "Tolerance": tolerance if isinstance(tolerance, str) else plain(tolerance),
    }


REPLICATES = {"plan_only": NOTHING, "closed_form": "exact"}  # evaluation -> what stands for the number of replicates


def _methods(job: Job, swept: str) -> str:
    shown: dict[str, str] = {}
    for cell in job.cells:
        options = options_text({key: value for key, value in cell.options.items() if key != swept})
        shown.setdefault(cell.method, f"{cell.method} ({', '.join(filter(None, (cell.variant, options)))})")
    return "; ".join(shown.values())


def _named(claim: ClaimResults, name: str) -> str:
    """Name a part; one that is short for what is swept, such as the constant of a norm, by the full name."""
    part = claim.parts.get(name)
    swept = part.sweep.parameter.rpartition(".")[2] if part and part.sweep else ""
    return swept if swept.endswith(f"_{name}") else name


def _instance(job: Job, part: Part) -> str:
    first = job.cells[0]
    varied = {first.parameter, problem_class(part.problem).signal_option}
    varied |= {key.split(".")[-1] for key in part.along}
    shown = {key: value for key in ("n", "d", "epsilon", "delta") if (value := getattr(first, key)) is not None}
    for key, value in first.problem_options.items():  # ``constants: {smoothness: 1}`` is ``smoothness: 1``
        shown |= value if isinstance(value, Mapping) else {key: value}
    fixed = setting({key: value for key, value in shown.items() if key not in varied})
    signals = {cell.signal for cell in job.cells if cell.signal is not None}
    grid = f"{len(signals)} signals {span(signals, plain)}" if signals else ""
    return ", ".join(filter(None, (part.problem, fixed, grid)))


ERRATA: Columns = {
    "Entry": Column(lambda entry: f"{entry.paper}.{entry.id}", raw="id", link=leads_to("paper", "id")),
    "What": Column("title", symbols),
    "Changes": Column("changes", kind="code"),
    "Printed": Column("printed", symbols),
    "Calculation": Column("calculation", symbols),
    "What follows": Column("consequence", symbols),
    "Check": Column("check", raw={"command": "command"}, kind="code"),
}


def errata_table(errata: Sequence[Erratum]) -> ReportTable:
    meanings = " ".join(f"{word}: {symbols(change.meaning)}" for word, change in CHANGES.items())
    return ReportTable("errata", "Errata ledger", ERRATA, errata, f"{errata_note(errata)} {meanings} {WEIGHTIEST}")


def errata_note(errata: Sequence[Erratum]) -> str:
    """Say what a reader of the ledger should know, the letters of the papers among it."""
    papers = {e.paper: [other for other in errata if other.paper == e.paper] for e in errata}
    letters = [symbols(errata_letters(paper, entries)) for paper, entries in papers.items()]
    return " ".join([ERRATA_NOTE, *filter(None, letters)])


ERRATA_NOTE = (
    "The texts used here are conversions, in which a symbol can get lost. A rate usually survives a wrong constant. "
    "An entry that is only loose says so. Each can be checked, most of them with a command."
)
