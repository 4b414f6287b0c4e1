"""Tables per paper and claim, and a paper's own comparison tables, rebuilt: claimed beside measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product, zip_longest

import numpy as np

from dpsco_bench.analysis.cells import OPEN, compared, ratios_to
from dpsco_bench.analysis.evidence import MeasuredCell
from dpsco_bench.analysis.judge import uncertified
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.bounds.registry import errata_letters, get_bound
from dpsco_bench.claims.catalogue import CHANGES, COMMON_N, WEIGHTIEST, Erratum, TableRow, TableText, table_texts
from dpsco_bench.claims.files import slug
from dpsco_bench.claims.model import RISK, Part
from dpsco_bench.errors import failing_as
from dpsco_bench.execution.jobs import Job
from dpsco_bench.problems.registry import problem_class
from dpsco_bench.registry import Registry
from dpsco_bench.report.inputs import ClaimResults, Inputs, grouped
from dpsco_bench.report.numbers import NOTHING, count, exponent, is_number, number, plain, slope, span, with_error
from dpsco_bench.report.tables import Column, Columns, Number, ReportTable, at, if_known, leads_to
from dpsco_bench.report.verdicts import claim_file_table, measured_parts, noise_off, slope_text
from dpsco_bench.report.wording import noise_title, options_text, privacy_text, setting, symbols, tone

RATE_NOTE = (
    "Bound: slope of the full bound formula, logarithms included, over the same grid and with the same weights. Under "
    "accounted noise ε/√l is replaced by the Gaussian-DP parameter of (ε, δ), whose exponent in ε is below 1."
)
UTILITY, GRADIENTS = "utility", "gradients"
CALIBRATIONS = ("paper", "accounted", "none")
SPENT = "value_queries"  # the count that is a column of its own
UNSPLIT = "unsplit"  # ending of the names of bounds before their terms are split, which stand beside the printed ones
Nearest = tuple[tuple[float, float, float], MeasuredCell | None]
"""Value of the swept parameter, mean and standard error of a cell, and its evidence."""
Compute = Callable[[TableText, Inputs], ReportTable]
COMPUTED: Registry[Compute] = Registry("computed table", "tables")


@dataclass(frozen=True)
class Sweep:
    """Verdicts of one sweep by calibration."""

    claim: ClaimResults
    part: Part
    rows: dict[str, Verdict]

    @property
    def first(self) -> Verdict:
        return next(iter(self.rows.values()))


def sweeps(claims: Iterable[ClaimResults]) -> list[Sweep]:
    found: dict[tuple[str, str], Sweep] = {}
    for claim in claims:
        for row in (row for row in claim.rows if row.rules.measures_slope):
            found.setdefault((claim.id, row.part), Sweep(claim, claim.part(row), {})).rows[row.calibration] = row
    return [*found.values()]


def rates_table(inputs: Inputs, paper: str, title: str) -> ReportTable:
    found = sweeps(inputs.of_paper(paper))
    columns = {
        "Claim": Column("claim.id", raw="claim", kind="code", link=leads_to("claim.id")),
        "Part": Column("part.id", raw="part", kind="code", link=leads_to("claim.id", "part.id")),
        "In": Column("first.parameter", symbols),
        "Paper": Number("first.claimed_exponent", exponent),
    }
    for calibration in judged_calibrations(found):
        name, row = noise_title(calibration), f"rows.{calibration}"
        raw = {f"slope_{calibration}": f"{row}.slope", f"ci_{calibration}": f"{row}.ci"}
        columns[f"Bound, {name}"] = Number(f"{row}.bound_slope", if_known(slope), f"bound_slope_{calibration}")
        columns[f"Measured, {name}"] = Number(row, if_known(slope_text), raw)
        columns[f"Verdict, {name}"] = verdict_column(calibration)
    columns["Noise off"] = Number(
        lambda sweep: noise_off(sweep.claim, sweep.first), raw={"noise_off_slope": "first.noise_off_slope"}
    )
    return ReportTable(f"{paper}.rates", f"{title}: exponents claimed and measured", columns, found, RATE_NOTE)


def verdict_column(calibration: str, sweep: str = "") -> Column:
    """Make the column of a sweep's verdicts under a calibration; the sweep stands at a path of the row."""
    verdict = f"{sweep}rows.{calibration}"
    raw, look = {f"verdict_{calibration}": f"{verdict}.verdict"}, lambda row: tone(at(row, verdict))
    return Column(f"{verdict}.said", if_known(symbols), raw, kind="verdict", tone=look)


def judged_calibrations(found: Iterable[Sweep]) -> list[str]:
    return ["paper", "accounted", *["none"] * any("none" in sweep.rows for sweep in found)]


def number_tables(claim: ClaimResults) -> list[ReportTable]:
    """Tabulate a claim's verdicts, cells and comparisons for files; tables without rows are left out."""
    return [table for table in (claim_file_table(claim), cells_table(claim), orderings_table(claim)) if table.rows]


def cells_table(claim: ClaimResults) -> ReportTable:
    rows = []
    for row in claim.rows:
        names = row.parameters or (row.parameter,) * len(row.values)
        for name, value, mean, stderr, bound in zip(names, row.values, row.mean, row.stderr, row.bound, strict=False):
            known = is_number(mean) and is_number(bound) and bound
            shown = count(mean) if row.rules.counts else with_error(mean, stderr)
            numbers = {"mean": mean, "stderr": stderr, "bound": bound, "ratio": mean / bound if known else None}
            rows.append({"row": row, "parameter": name, "value": value, "shown": shown, **numbers})
    return ReportTable(f"{claim.id}.cells", f"Cells of {claim.id}", CELLS, rows)


PART: Columns = {"Part": Column("row.part", kind="code"), "Noise": Column("row.calibration")}
RISK_KIND = Column("row.risk_kind")
CELLS: Columns = {
    **PART,
    "In": Column("parameter", symbols),
    "Value": Number("value", plain),
    "Risk": RISK_KIND,
    "Mean ± s.e.": Number("shown", raw={"mean": "mean", "stderr": "stderr"}),
    "Bound or reference": Number("bound", number),
    "Mean / bound": Number("ratio", number),
}


def orderings_table(claim: ClaimResults) -> ReportTable:
    rows = []
    for row in claim.rows:
        pair = " over ".join(claim.part(row).pair).replace("_", " ")
        for name, ratio in (row.ratio or {}).items():
            ci = (row.ratio_ci or {}).get(name) or (None, None)
            says = compared(*ci) if all(map(is_number, ci)) else OPEN
            rows.append({"row": row, "comparison": name, "ratio": ratio, "ci": ci, "says": says, "pair": pair})
    return ReportTable(f"{claim.id}.orderings", f"Comparisons of {claim.id}", ORDERINGS, rows, ORDERING_NOTE)


ORDERINGS: Columns = {
    **PART,
    "Medians of": Column("pair"),
    "Where": Column("comparison", symbols),
    "Ratio": Number("ratio", number),
    "Interval": Number("ci", lambda ci: f"[{number(ci[0])}, {number(ci[1])}]", {"ci_low": "ci.0", "ci_high": "ci.1"}),
    "Risk": RISK_KIND,
    "Says": Column("says"),
}
ORDERING_NOTE = (
    "Ratio of median excess risks, the first method over the second, with its interval; below 1 the claim holds."
)


def parts_table(claim: ClaimResults) -> ReportTable:
    """Tabulate how each part of a claim is measured: method, instance, grid, bound and tolerance."""
    rows = [_part(claim, part) for part in claim.parts.values()]
    columns = {title: Column(title, numeric=title in ("Replicates", "Tolerance")) for title in rows[0]}
    columns["Part"] = Column("Part", kind="code")
    return ReportTable(f"{claim.id}.parts", f"How {claim.id} is measured", columns, rows)


def _part(claim: ClaimResults, part: Part) -> dict[str, str]:
    """Describe a part by the first of its jobs: all have the same cells but for variants; some have none."""
    job = next((job for job in claim.jobs if job.part == part.id and job.cells), None)
    tolerance = part.rules.tolerance_of(part)
    swept, methods = part.sweep.parameter.partition(".")[2] if part.sweep else "", dict[str, str]()
    for cell in job.cells if job else ():
        options = options_text({key: value for key, value in cell.options.items() if key != swept})
        methods.setdefault(cell.method, f"{cell.method} ({', '.join(filter(None, (cell.variant, options)))})")
    measured = dict.fromkeys(("Method", "Instance", "Swept", "Replicates"), NOTHING)
    if job:
        values = ", ".join(map(plain, sorted({cell.value for cell in job.cells})))
        measured = {
            "Method": "; ".join(methods.values()),
            "Instance": _instance(job, part),
            "Swept": f"{symbols(job.cells[0].parameter)}: {values}",
            "Replicates": {"plan_only": NOTHING, "closed_form": "exact"}.get(
                job.evaluation, count(job.replicates * job.data_sets)
            ),
        }
    if part.uses:
        measured["Method"] = f"cells of {', '.join(_named(claim, name) for name in part.uses)}"
    return {
        "Part": part.id,
        "Kind": part.rules.title,
        **measured,
        "Bound": symbols(get_bound(part.bound).text) if part.bound else NOTHING,
        "Tolerance": tolerance if isinstance(tolerance, str) else plain(tolerance),
    }


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
    papers = grouped(errata, lambda entry: entry.paper)
    letters = [symbols(errata_letters(paper, entries)) for paper, entries in papers.items()]
    return " ".join([ERRATA_NOTE, *filter(None, letters)])


ERRATA_NOTE = (
    "The texts used here are conversions, in which a symbol can get lost. A rate usually survives a wrong constant. "
    "An entry that is only loose says so. Each can be checked, most of them with a command."
)


def computed(name: str) -> Callable[[Compute], Compute]:
    """Register a function of a table's file and the results as what computes the table (used as a decorator)."""
    return lambda compute: COMPUTED.add(name, compute, compute.__module__)


@dataclass(frozen=True)
class RebuiltRow:
    """One sweep, or one method of it, that measures a row of a paper's table."""

    entry: TableRow  # the row as the paper prints it
    sweep: Sweep
    method: str  # empty where there is one
    worst: Mapping[str, float]  # (``unsplit_``) calibration -> largest mean over a bound
    spent: Verdict | None  # the verdict on the part that counts value queries, which is a column and no row
    cells: Mapping[str, Nearest | None]  # by calibration the cell nearest to the common size; not in n, the last one
    claims: str  # the one of the row's entries that the sweep is about
    point: Mapping[str, float]  # n, d and epsilon of the cell that is shown; empty without one
    where: str  # the same in words, with the swept parameter
    schedule: str  # of the method there, with its flags
    evaluations: float | None  # gradients there: counted by its runs, else planned; None for what counts

    @property
    def part(self) -> str:
        """Claim without its paper, and part: a part's name alone is not unique."""
        return f"{self.sweep.claim.id.partition('.')[2]} {self.sweep.part.id}"

    @property
    def claimed(self) -> str:
        name, printed = self.sweep.part.bound, getattr(self.entry, self.claims) or NOTHING
        return f"{printed}; judged against {get_bound(name).text}" if name else str(printed)

    @property
    def instance(self) -> str:
        job = self.sweep.claim.job(self.sweep.part.id, self.sweep.first.calibration)
        return str(job.cells[0].problem if job else self.sweep.part.id)


def rebuilt_tables(inputs: Inputs, paper: str) -> list[ReportTable]:
    texts = [text for text in table_texts() if text.id.startswith(f"{paper}.")]
    return [computed_table(text, inputs) if text.computed else _rebuilt(inputs, text) for text in texts]


def computed_table(text: TableText, inputs: Inputs) -> ReportTable:
    """Compute the table of a file that names its function. Raises InputError for an unknown name."""
    compute = COMPUTED.get(text.computed)
    with failing_as(f"table {text.id}"):
        return compute(text, inputs)


def _rebuilt(inputs: Inputs, text: TableText) -> ReportTable:
    rows = [row for entry in text.rows for row in _rows(inputs, text, entry)]
    columns = dict(COLUMNS)
    for title in dict.fromkeys(title for entry in text.rows for title in entry.printed):
        printed = partial(lambda row, title: row.entry.printed.get(title, ""), title=title)
        columns[title] = Column(printed, raw=slug(title).replace("-", "_"))
    if any(row.entry.schedule for row in rows):
        columns["Schedule"] = Column("schedule")
    columns["Gradients"] = Number("evaluations", if_known(lambda mean: count(round(mean))), "gradient_evaluations")
    for calibration in judged_calibrations(row.sweep for row in rows):
        columns |= _measured_columns(calibration, text.lower_bound)
    for calibration, form in product(CALIBRATIONS, ("", f"{UNSPLIT}_")):
        path = form + calibration
        if any(path in row.worst for row in rows):  # what has explicit bounds in the table
            title = f"Worst risk / {form.replace('_', ' ')}bound, {noise_title(calibration)}"
            columns[title] = Number(f"worst.{path}", if_known(number), f"worst_ratio_{path}")
    if any(row.spent for row in rows):
        columns |= QUERIES
    note = symbols(f"{_NOTE} {text.note_line}".rstrip())
    return ReportTable(text.id, f"{text.title or text.id}, rebuilt", columns, rows, note)


def _measured_columns(calibration: str, lower_bound: str) -> Columns:
    """Make the columns of value at the common size, slope and verdict under one calibration.

    A table with a lower bound, whose constant its paper leaves open, has the risk over it too.
    """
    name, verdict = noise_title(calibration), f"sweep.rows.{calibration}"

    def mean_text(row: RebuiltRow) -> str:
        cell, _ = row.cells.get(calibration) or (None, None)
        if cell is None:
            return ""
        doubt = " (not certified)" * uncertified(row.sweep.rows[calibration])
        return count(cell[1]) if row.claims == GRADIENTS else with_error(cell[1], cell[2]) + doubt

    def over_lower_bound(row: RebuiltRow) -> float | None:
        cell, evidence = row.cells.get(calibration) or (None, None)
        if cell is None or evidence is None or row.claims == GRADIENTS:
            return None
        return cell[1] / get_bound(lower_bound).value(evidence.printed)

    values = {f"{key}_{calibration}": f"cells.{calibration}.0.{i}" for i, key in enumerate(("value", "mean", "stderr"))}
    certain = if_known(lambda row: NOTHING if uncertified(row) else slope_text(row))
    columns = {
        f"Measured, {name}": Number(mean_text, raw=values),
        f"Slope, {name}": Number(verdict, certain, {f"slope_{calibration}": f"{verdict}.slope"}),
        f"Verdict, {name}": verdict_column(calibration, "sweep."),
    }
    if lower_bound:
        title, raw = f"Risk / {get_bound(lower_bound).text}, {name}", f"over_lower_bound_{calibration}"
        columns[title] = Number(over_lower_bound, if_known(number), raw)
    return columns


def _first_count(values: Sequence[float] | None) -> str:
    return count(values[0]) if values else NOTHING


COLUMNS: Columns = {
    "Row": Column("entry.row", symbols),
    "Entry": Column("claims", raw="entry"),
    "Claimed": Column("claimed", symbols),
    "Part": Column(
        lambda row: f"{row.part} ({row.method})" if row.method else row.part,
        raw={"part": "part", "method": "method", "instance": "instance"},
        kind="code",
        link=leads_to("sweep.claim.id", "sweep.part.id"),
    ),
    "At": Column(
        "where", raw={"parameter": "sweep.first.parameter", "n": "point.n", "d": "point.d", "epsilon": "point.epsilon"}
    ),
    "Privacy of the paper's noise": Column(
        lambda row: privacy_text(verdict) if (verdict := row.sweep.rows.get("paper")) else NOTHING, raw="privacy"
    ),
}
QUERIES: Columns = {  # value queries of the row at the common point: the printed count, and the mean over the draws
    "Value queries claimed": Number("spent.bound", _first_count, {"value_queries_claimed": "spent.bound.0"}),
    "Counted": Number("spent.mean", _first_count, {"value_queries_counted": "spent.mean.0"}),
}
_NOTE = (
    "Risks with their standard errors and gradient evaluations stand at the size nearest to the common one of the "
    "table, or of the row. Evaluations beside a risk are those that its runs counted; rows of the entry “gradients” "
    "have the planned ones. Slopes with their intervals are in the named parameter over the whole sweep. The privacy "
    "of the paper's noise is the worst of the row's own sweep; rows without such a noise have none. The worst risk "
    "over a bound is the largest mean over a bound that the claim itself states, with its constants, of the row's own "
    "cells. Not certified: "
    "drawn by Markov chains that have not settled, or whose code no known law has checked."
)


def _rows(inputs: Inputs, text: TableText, entry: TableRow) -> Iterator[RebuiltRow]:
    """Find the sweeps of an entry's claims, by method where there are several; value queries are a column of theirs."""
    claims = [claim for claim in inputs.claims if claim.id in entry.claims]
    size = float(entry.common_n or text.common_n or COMMON_N)
    worst = {claim.id: _worst_ratios(claim) for claim in claims}
    found = [(claim.part(row), row) for claim in claims for row in claim.rows]
    spent = next((row for part, row in found if part.quantity == SPENT and row.mean), None)
    for sweep in sweeps(claims):
        row, claim = sweep.first, sweep.claim
        if sweep.part.quantity != SPENT and row.part in entry.parts.get(claim.id, (row.part,)):
            job = claim.job(row.part, row.calibration)
            labels = list(dict.fromkeys(cell.method for cell in job.cells)) if job else []
            values = (row.part in entry.every_cell and row.values) or [None]
            ratios = worst[claim.id].get(row.part, {})
            for method, value in product(labels if len(labels) > 1 else [""], values):
                nearest = {name: _nearest(claim, own, size, method, value) for name, own in sweep.rows.items()}
                yield _row(entry, sweep, method, ratios, spent, nearest)


def _nearest(claim: ClaimResults, row: Verdict, size: float, method: str, value: float | None) -> Nearest | None:
    """Find the cell of a method nearest to a size; not in n, the last of the sweep. A ``value`` asks for its own cell.

    Numbers of the verdict and evidence are both in the order of the sweep.
    """
    numbers = zip(row.values, row.mean, row.stderr, strict=False)
    both = zip_longest(numbers, claim.evidence(row.part, row.calibration))
    own = [(c, e) for c, e in both if c and is_number(c[1]) and value in (None, c[0])]
    own = [(c, e) for c, e in own if not method or (e is not None and e.entry.method == method)]
    if row.parameter == "n":
        return min(own, key=lambda found: abs(math.log(found[0][0] / size)), default=None)
    return own[-1] if own else None


def _row(
    entry: TableRow,
    sweep: Sweep,
    method: str,
    worst: Mapping[str, float],
    spent: Verdict | None,
    cells: Mapping[str, Nearest | None],
) -> RebuiltRow:
    """Say what is shown of the cell of the first noise that has one."""
    part, swept = sweep.part, sweep.first.parameter
    counts = part.rules.counts or part.quantity.endswith(("_queries", "_per_call"))
    cell, evidence = next((found for c in CALIBRATIONS if (found := cells.get(c))), (None, None))
    point: dict[str, float] = {}
    schedule = ""
    evaluations: float | None = None
    if evidence is not None:
        made, counted = evidence.calibrated, evidence.curve_evaluations
        # a cell leaves out the d of a problem that has only one
        sizes = {"n": evidence.entry.n, "d": made.dimension, "epsilon": evidence.entry.epsilon}
        point = {key: value for key, value in sizes.items() if is_number(value)}
        steps = {name: made.schedule[key] for name, key in entry.schedule.items() if key in made.schedule}
        said = {str(warning).partition(":")[0] for warning in made.warnings}
        schedule = ", ".join(filter(None, (_settings(steps), *(flag for flag in entry.flags if flag in said))))
        if not counts:
            evaluations = float(counted[-1].mean() if counted.size else made.gradient_evaluations)
    shown = point if cell is None or swept in point else {swept: cell[0], **point}
    where = _settings({symbols(key): value for key, value in shown.items()})
    claims = GRADIENTS if counts else UTILITY
    told = (point, where or NOTHING, schedule or NOTHING, evaluations)
    return RebuiltRow(entry, sweep, method, worst, spent, cells, claims, *told)


def _settings(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name}\u00a0=\u00a0{plain(value)}" for name, value in values.items())


def _worst_ratios(claim: ClaimResults) -> dict[str, dict[str, float]]:
    """Find the largest mean over an explicit bound, by part, and by calibration and form of the bound.

    Only bounds that the claim states itself count (`_stated`), and of them certified chains alone. Bounds named
    ``*_unsplit`` stand apart.
    """
    worst: dict[str, dict[str, float]] = {}
    for row in (row for row in _stated(claim) if is_number(row.worst_ratio) and not uncertified(row)):
        jobs = {group: claim.job(group.part, row.calibration) for group in measured_parts(claim, row)}
        cells = {group.part: group.cells for group, job in jobs.items() if job and job.has_run}  # a plan has none
        ratios = ratios_to(row.mean, row.bound)
        key = f"{UNSPLIT}_" * claim.part(row).bound.endswith(f"_{UNSPLIT}") + row.calibration
        if sum(cells.values()) == len(ratios):
            for part, own in zip(cells, np.split(ratios, np.cumsum(list(cells.values()))[:-1]), strict=True):
                known = worst.setdefault(part, {})
                known[key] = max(float(own.max()), known.get(key, -math.inf))
    return worst


def _stated(claim: ClaimResults) -> list[Verdict]:
    """Keep the bounds that a claim states itself: on the risk, or where it has none on its own quantity."""
    own = [row for row in claim.rows if row.rules.checks_bounds and not claim.part(row).beside]
    return [row for row in own if claim.part(row).quantity == RISK] or own
