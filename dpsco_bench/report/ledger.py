"""The frame of charged mechanisms: what an accountant says of every plan that was calibrated."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from typing import Any

from dpsco_bench.analysis.rounding import outward
from dpsco_bench.execution.cell import Cell
from dpsco_bench.privacy.ledger import OF, OUTPUT, SEVERITY, STATUS_WORDS
from dpsco_bench.report.inputs import Charged, Inputs, grouped
from dpsco_bench.report.numbers import NOTHING, count, is_number, number, plain, span
from dpsco_bench.report.tables import Column, Columns, Number, ReportTable, leads_to
from dpsco_bench.report.wording import epsilon_text, options_text, symbols


@dataclass(frozen=True)
class LedgerRow:
    """A row of the frame of charged mechanisms: cells that differ in n, d and problem only."""

    cells: tuple[Charged, ...]

    @property
    def first(self) -> Charged:
        return self.cells[0]

    @property
    def variant(self) -> str:
        return ", ".join(filter(None, (self.first.calibrated.variant, noise_options(self.first.cell))))

    def known(self, name: str) -> list[float]:
        """List an epsilon of `Noise` over the cells that have it."""
        values = (getattr(cell.noise, f"epsilon_{name}") for cell in self.cells)
        return [value for value in values if is_number(value)]

    def end(self, name: str, pick: Callable[..., float | None]) -> float | None:
        """Pick the least or the largest of an epsilon; None where it is not known."""
        return pick(self.known(name), default=None)

    @property
    def kind(self) -> str:
        kind = self.first.noise.epsilon_real_kind
        words = {"upper": "upper bound", "lower": "lower bound"}.get(kind, kind)
        return words + self.first.noise.elsewhere if kind else NOTHING

    @property
    def of_all_answers(self) -> str:
        """Epsilons of all answers, where that of the output alone is known too."""
        both = self.first.noise.epsilon_of == OUTPUT and self.known("sequence")
        return self.bounds("sequence") if both else ""

    @property
    def rank(self) -> tuple[int, float]:
        """Order rows for a reader: what exceeds its claim first, and the largest excess first."""
        severity, excess = max(cell.noise.severity for cell in self.cells)
        return -severity, -excess

    def bounds(self, name: str) -> str:
        kind = getattr(self.first.noise, f"epsilon_{name}_kind")
        return epsilon_text(None, kind, self.first.claimed, *self.known(name))


def ledger_rows(inputs: Inputs) -> list[LedgerRow]:
    """Group every private mechanism that the profile calibrated by what its noise is claimed to give."""

    def about(charged: Charged) -> tuple[Any, ...]:
        cell, calibrated, noise = charged.cell, charged.calibrated, charged.noise
        made = (cell.algorithm, calibrated.variant, charged.calibration == "accounted", noise_options(cell))
        claimed = (float(cell.delta), noise.epsilon_claimed)
        kinds = (noise.epsilon_real_kind, noise.epsilon_of, noise.epsilon_sequence_kind)
        return *made, *claimed, SEVERITY.index(noise.status), *kinds, noise.elsewhere, calibrated.accountant

    jobs = ((claim, job) for claim, job in inputs.all_jobs() if job.calibration != "none")
    groups = grouped((cell for claim, job in jobs for cell in claim.charged(job.part, job.calibration)), about)
    return [LedgerRow(tuple(groups[key])) for key in sorted(groups)]


SCHEDULE_OPTIONS = ("epochs", "inner_steps", "step", "step_rule", "steps", "theta")
"""Options that set lengths and steps; a row of the ledger spans them."""


def noise_options(entry: Cell) -> str:
    """Tell the options of a cell that say how its noise is made, in words."""
    return options_text({k: v for k, v in entry.options.items() if k not in SCHEDULE_OPTIONS})


NOT_TOLD = ("constants", "norm_kappa", "p", "signal", "unit")
"""Options of a problem that are not listed as such: p and constants stand apart, the noise ignores the signal."""


def charged_on(cells: Iterable[Charged]) -> str:
    """Tell the problems that cells were charged on, with p of their norms and the options that were given, in words."""
    told = []
    for name, own in sorted(grouped(cells, lambda cell: str(cell.cell.problem)).items()):
        given: dict[str, set[Any]] = {}
        for options in (cell.cell.problem_options for cell in own):
            declared = {f"declared {key}": value for key, value in (options.get("constants") or {}).items()}
            for key, value in {**options, **declared}.items():
                if key not in NOT_TOLD:
                    given.setdefault(key, set()).add(value)
        norms = _values_text({cell.calibrated.constants.norm for cell in own})
        texts = [f"{key.replace('_', ' ')} {_values_text(values)}" for key, values in sorted(given.items())]
        told.append(", ".join([name, f"p\u00a0=\u00a0{norms}", *texts]))
    return "; ".join(told)


def _values_text(values: Iterable[Any]) -> str:
    """Up to three numbers one by one, more of them as a range; words one by one."""
    values = list(values)
    if all(is_number(value) for value in values):
        return " or ".join(map(plain, sorted(values))) if len(values) < 4 else span(values, plain)
    return " or ".join(sorted(map(str, values)))


STATUS_TONES = {
    "proven": "good",
    "exceeds_claim": "bad",
    "unproven": "open",
    "target_law_only": "open",
    "none": "plain",
}
LEDGER_NOTE = (
    "Replace-one neighbours. A row spans the cells that share everything but n, d, the "
    "problem, its signal and the lengths of the schedule; “Charged on” names the problems, the p of their norms and "
    "the options that were given. Upper: the real ε "
    "is at most this value. Lower: at least. An upper bound above the claim refutes nothing. Where several answers are "
    "made into one output, the ε is of the output where an accountant covers it, else of all answers, which may "
    "reveal more than the output: above the claim, it leaves the output open. "
    "Steps of report-noisy-max are charged by the largest change of a score, as in the paper; centring "
    "that change in its range would halve the ε of every step. “Not shown” is also what rests on a "
    "Lipschitz constant that a problem only declares. Rows "
    "flagged δ ≥ 1/n repeat a setting of the papers that a careful user would not choose. A draw of an "
    "exponential mechanism is as private as its sampler is proven to be; the ε of its target law stands beside it."
)
LAW_TITLE = "ε of the target law, by theorem"
LAW_MEANING = (  # text above a table with that column
    f"“{LAW_TITLE}” is what the theorem's formula gives for an exact draw of an exponential mechanism, "
    "whatever the data. It is an upper bound. The real ε is of the run; computed for this instance, it can be smaller."
)
_sizes = partial(span, show=count)


def _ends(name: str) -> dict[str, Callable[[LedgerRow], float | None]]:
    """Name the least and the largest of an epsilon in the files."""
    return {f"epsilon_{name}_{end}": methodcaller("end", name, pick) for end, pick in (("min", min), ("max", max))}


COLUMNS: Columns = {
    "Algorithm": Column("first.cell.algorithm", kind="code", link=leads_to("first.cell.algorithm", kind="method")),
    "Variant, options": Column(
        "variant", raw={"variant": "first.calibrated.variant", "options": lambda row: noise_options(row.first.cell)}
    ),
    "Calibration": Column("first.calibration"),
    "Charged on": Column(lambda row: charged_on(row.cells), raw="charged_on"),
    "n": Number(lambda row: sorted({cell.cell.n for cell in row.cells}), _sizes, "n"),
    "d": Number(lambda row: sorted({cell.calibrated.dimension for cell in row.cells}), _sizes, "d"),
    "δ": Number("first.cell.delta", number),
    "ε claimed": Number("first.cell.epsilon", plain, "epsilon_claimed"),
    "ε real": Number(methodcaller("bounds", "real"), raw=_ends("real")),
    "It is": Column("first.noise.epsilon_of", lambda of: OF[of], "epsilon_of"),
    "ε of all answers": Number(
        "of_all_answers",
        raw={
            **_ends("output"),
            **_ends("sequence"),
            "epsilon_output_kind": "first.noise.epsilon_output_kind",
            "epsilon_sequence_kind": "first.noise.epsilon_sequence_kind",
        },
    ),
    LAW_TITLE: Number(
        methodcaller("known", "law"),
        lambda laws: f"≤ {span(outward(law, 'upper') for law in laws)}" if laws else "",
        {"epsilon_law_max": methodcaller("end", "law", max)},
    ),
    "Kind": Column("kind", raw={"epsilon_real_kind": "first.noise.epsilon_real_kind"}),
    "Status": Column(
        "first.noise.status",
        STATUS_WORDS.__getitem__,
        "privacy_status",
        kind="verdict",
        tone=lambda row: STATUS_TONES[row.first.noise.status],
    ),
    "Why not shown": Column(
        lambda row: "; ".join(dict.fromkeys(filter(None, (cell.doubt for cell in row.cells)))), raw="why_not_shown"
    ),
    "δ ≥ 1/n": Column(
        lambda row: any(cell.noise.delta_large for cell in row.cells),
        lambda large: "yes" if large else "",
        "delta_large",
    ),
    "Accountant": Column(lambda row: symbols(row.first.calibrated.accountant), raw="accountant"),
}


def privacy_table(inputs: Inputs) -> ReportTable:
    return ReportTable("privacy", "Privacy ledger", COLUMNS, ledger_rows(inputs), LEDGER_NOTE)
