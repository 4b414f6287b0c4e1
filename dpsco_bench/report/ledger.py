"""The privacy of what was run: one summary per verdict, and the ledger of all calibrated mechanisms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dpsco_bench.analysis.evidence import NOT_CHARGED, CellEvidence
from dpsco_bench.analysis.noise import Noise
from dpsco_bench.analysis.outward import outward
from dpsco_bench.execution.calibrated import CalibratedCell
from dpsco_bench.execution.cell import Cell
from dpsco_bench.privacy.ledger import SEVERITY, SIGNS, STATUS_WORDS
from dpsco_bench.report.address import address
from dpsco_bench.report.inputs import ClaimResults, Inputs
from dpsco_bench.report.numbers import NOTHING, count, is_number, number, plain, span
from dpsco_bench.report.tables import Column, Table
from dpsco_bench.report.wording import epsilon_text, options_text, symbols


@dataclass(frozen=True)
class Charged:
    """One calibrated cell: what was claimed and what an accountant says."""

    cell: Cell
    calibrated: CalibratedCell
    calibration: str

    @property
    def real(self) -> float:
        """Epsilon of the accountant; NaN where none covers the cell."""
        return self.calibrated.epsilon_real

    @property
    def law(self) -> float:
        """Of a draw: epsilon of its target law; NaN for all others."""
        return self.calibrated.epsilon_law

    @property
    def kind(self) -> str:
        return self.calibrated.epsilon_real_kind

    @property
    def status(self) -> str:
        return self.calibrated.privacy_status

    @property
    def claimed(self) -> float:
        return float(self.cell.epsilon)

    @property
    def noise(self) -> Noise:
        """What is said of it."""
        return Noise.of(self.calibrated, self.claimed, self.cell.n)

    @property
    def excess(self) -> float:
        """Real over claimed epsilon; of a draw without a proof that of its target law."""
        return (self.law if math.isnan(self.real) else self.real) / self.claimed

    @property
    def doubt(self) -> str:
        """Why a bound that there may be shows nothing; empty for every status but ``unproven``."""
        if self.status != "unproven":
            return ""
        if self.calibrated.constants.status == "nominal":
            return f"the constants of {self.cell.problem} are nominal: declared, not true on the whole domain"
        if math.isnan(self.real):
            return "no accountant covers it"
        if self.kind == "lower":
            return "a lower bound that does not exceed the claim"
        return "an upper bound above the claim"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Conditions of the theorem that the cell does not meet."""
        return self.calibrated.warnings

    @property
    def delta_large(self) -> bool:
        """Whether delta >= 1/n, which the papers use and a careful user would not."""
        return float(self.cell.delta) >= 1.0 / float(self.cell.n)


@dataclass(frozen=True)
class Privacy:
    """Privacy behind one verdict: all cells of its jobs, summarised by the worst."""

    cells: tuple[Charged, ...]

    @property
    def status(self) -> str:
        """Worst status of the cells; empty where nothing was charged."""
        return max((cell.status for cell in self.cells), key=SEVERITY.index, default="")

    @property
    def worst(self) -> Charged | None:
        """Of the cells with the worst status, the one of largest real over claimed epsilon."""
        return max(self.cells, key=lambda cell: cell.noise.severity, default=None)

    @property
    def text(self) -> str:
        """Such as ``exceeds the claim: ε ≥ 1.46×10⁴, claimed 1``."""
        cell = self.worst
        if cell is None:
            return NOTHING
        words = STATUS_WORDS[self.status] + cell.noise.elsewhere
        if self.status == "none":
            return words
        if math.isnan(cell.real) and not math.isnan(cell.law):
            return f"{words}: target law ε\u00a0{epsilon_text(cell.law, 'upper')}, claimed\u00a0{plain(cell.claimed)}"
        if math.isnan(cell.real):
            return f"{words}: no accountant covers it"
        flag = "; δ\u00a0≥\u00a01/n" if any(cell.delta_large for cell in self.cells) else ""
        real = f"ε {epsilon_text(cell.real, cell.kind)}".replace(" ", "\u00a0")
        why = " (the constants are nominal)" if cell.noise.nominal else ""
        return f"{words}: {real}, claimed\u00a0{plain(cell.claimed)}{why}{flag}"

    @property
    def remark(self) -> str:
        """In a few words what falls short of the claim; empty where nothing does."""
        return symbols(self.worst.noise.shortfall) if self.worst else ""


def charged_evidence(cells: Iterable[CellEvidence], calibration: str) -> Privacy:
    charged = (Charged(cell.entry, cell.calibrated, calibration) for cell in cells)
    return Privacy(tuple(cell for cell in charged if cell.calibrated.accountant != NOT_CHARGED))


def charged_cells(claim: ClaimResults, part: str, calibration: str) -> Privacy:
    """Privacy of what a (part, calibration) judges."""
    cells = []
    for job in claim.sources(part, calibration):
        pairs = zip(job.cells, claim.calibrations(job), strict=False)
        cells += [Charged(cell, found, calibration) for cell, found in pairs if isinstance(found, CalibratedCell)]
    return Privacy(tuple(cell for cell in _distinct(cells) if cell.calibrated.accountant != NOT_CHARGED))


def _distinct(cells: Iterable[Charged]) -> Iterator[Charged]:
    """Cells of which no other differs in nothing but a signal, which the noise rarely depends on."""
    seen = set()
    for cell in cells:
        if cell.cell.signal is not None:
            told = (cell.cell.method, cell.cell.value, repr(cell.real), cell.kind, cell.status, cell.warnings)
            if told in seen:
                continue
            seen.add(told)
        yield cell


@dataclass(frozen=True)
class LedgerRow:
    """Cells that differ in n, d and problem only."""

    cells: tuple[Charged, ...]

    @property
    def first(self) -> Charged:
        """Any of them, for what they share."""
        return self.cells[0]

    def values(self, key: str) -> list[Any]:
        """Distinct values of a cell's key, sorted."""
        return sorted({getattr(cell.cell, key) for cell in self.cells})


def ledger_rows(inputs: Inputs) -> list[LedgerRow]:
    """Every private mechanism that the profile calibrated, grouped by what its noise is claimed to give."""
    groups: dict[tuple[Any, ...], list[Charged]] = {}
    for cell in _all_charged(inputs):
        groups.setdefault(_identity(cell), []).append(cell)
    return [LedgerRow(tuple(groups[key])) for key in sorted(groups)]


def _all_charged(inputs: Inputs) -> Iterator[Charged]:
    for claim, job in inputs.all_jobs():
        if job.calibration == "none":
            continue
        yield from (c for c in charged_cells(claim, job.part, job.calibration).cells)


def _identity(cell: Charged) -> tuple[Any, ...]:
    entry = cell.cell
    return (
        entry.algorithm,
        cell.calibrated.variant,
        ("paper", "accounted").index(cell.calibration) if cell.calibration in ("paper", "accounted") else 2,
        noise_options(entry),
        float(entry.delta),
        float(entry.epsilon),
        SEVERITY.index(cell.status),
        cell.kind,
        cell.noise.elsewhere,
        cell.calibrated.accountant,
    )


SCHEDULE_OPTIONS = ("epochs", "inner_steps", "step", "step_rule", "steps", "theta")
"""Options that set lengths and steps; a row of the ledger spans them."""


def noise_options(entry: Cell) -> str:
    """Options of a cell that say how its noise is made, in words."""
    return options_text({k: v for k, v in entry.options.items() if k not in SCHEDULE_OPTIONS})


NOT_TOLD = ("constants", "norm_kappa", "p", "signal", "unit")
"""Options of a problem that are not listed as such: p and constants stand apart, the noise ignores the signal."""


def charged_on(cells: Iterable[Charged]) -> str:
    """Problems that cells were charged on, with p of their norms and the options that were given, in words."""
    found: dict[str, list[Charged]] = {}
    for cell in cells:
        found.setdefault(str(cell.cell.problem), []).append(cell)
    return "; ".join(_problem_text(name, found[name]) for name in sorted(found))


def _problem_text(name: str, cells: Sequence[Charged]) -> str:
    given: dict[str, set[Any]] = {}
    for cell in cells:
        options = dict(cell.cell.problem_options)
        told = {key: value for key, value in options.items() if key not in NOT_TOLD}
        declared = {f"declared {key}": value for key, value in (options.get("constants") or {}).items()}
        for key, value in {**told, **declared}.items():
            given.setdefault(key, set()).add(value)
    norms = {cell.calibrated.constants.norm for cell in cells}
    texts = [f"{key.replace('_', ' ')} {_values_text(values)}" for key, values in sorted(given.items())]
    return ", ".join([name, *([f"p\u00a0=\u00a0{_values_text(norms)}"] if norms else []), *texts])


def _values_text(values: Iterable[Any]) -> str:
    """Up to three numbers one by one, more of them as a range; words one by one."""
    values = list(values)
    if all(is_number(value) for value in values):
        return " or ".join(map(plain, sorted(values))) if len(values) < 4 else span(values, plain)
    return " or ".join(sorted(map(str, values)))


def privacy_table(inputs: Inputs) -> Table:

    def of(key: str) -> Any:
        return lambda row: getattr(row.first.cell, key)

    def reals(row: LedgerRow) -> list[float]:
        return [cell.real for cell in row.cells]

    columns = (
        Column(
            "Algorithm",
            of("algorithm"),
            {"algorithm": of("algorithm")},
            kind="code",
            link=lambda row: address("method", row.first.cell.algorithm),
        ),
        Column(
            "Variant, options",
            lambda row: ", ".join(filter(None, (row.first.calibrated.variant, noise_options(row.first.cell)))),
            {
                "variant": lambda row: row.first.calibrated.variant,
                "options": lambda row: noise_options(row.first.cell),
            },
        ),
        Column("Calibration", _calibration, {"calibration": _calibration}),
        Column("Charged on", _on, {"charged_on": _on}),
        Column("n", lambda row: span(row.values("n"), count), {"n": lambda row: row.values("n")}, numeric=True),
        Column("d", lambda row: span(_sizes(row), count), {"d": _sizes}, numeric=True),
        Column("δ", lambda row: number(of("delta")(row)), {"delta": of("delta")}, numeric=True),
        Column("ε claimed", lambda row: plain(row.first.claimed), {"epsilon_claimed": of("epsilon")}, numeric=True),
        Column(
            "ε real",
            _real,
            {"epsilon_real_min": lambda row: _least(reals(row)), "epsilon_real_max": lambda row: _most(reals(row))},
            numeric=True,
        ),
        Column(
            LAW_TITLE,
            lambda row: f"≤ {span(outward(cell.law, 'upper') for cell in row.cells)}" if drawn(row) else "",
            {"epsilon_law_max": lambda row: _most(cell.law for cell in row.cells)},
            numeric=True,
        ),
        Column("Kind", lambda row: _kind(row.first), {"epsilon_real_kind": lambda row: row.first.kind}),
        Column(
            "Status",
            lambda row: STATUS_WORDS[row.first.status],
            {"privacy_status": lambda row: row.first.status},
            kind="verdict",
            style=lambda row: STATUS_TONES[row.first.status],
        ),
        Column("Why not shown", _doubts, {"why_not_shown": _doubts}),
        Column(
            "δ ≥ 1/n",
            lambda row: "yes" if any(cell.delta_large for cell in row.cells) else "",
            {"delta_large": lambda row: any(cell.delta_large for cell in row.cells)},
        ),
        Column("Accountant", _accountant, {"accountant": _accountant}),
    )
    return Table(
        "privacy", "Privacy ledger", columns, ledger_rows(inputs), LEDGER_NOTE, lambda row: (of("algorithm")(row), "")
    )


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
    "is at most this value. Lower: at least. An upper bound above the claim refutes nothing. "
    "Steps of report-noisy-max are charged by the largest change of a score, as in the paper; centring "
    "that change in its range would halve the ε of every step. “Not shown” is also what rests on a "
    "Lipschitz constant that a problem only declares. Rows "
    "flagged δ ≥ 1/n repeat a setting of the papers that a careful user would not choose. A draw of an "
    "exponential mechanism is as private as its sampler is proven to be; the ε of its target law stands beside it."
)
LAW_TITLE = "ε of the target law, by theorem"
LAW_MEANING = (
    f"“{LAW_TITLE}” is what the theorem's formula gives for an exact draw of an exponential mechanism, "
    "whatever the data. It is an upper bound. The real ε is of the run; computed for this instance, it can be smaller."
)
"""What stands above a table with that column."""


def drawn(row: LedgerRow) -> bool:
    """Whether it is of a draw, which has a target law."""
    return any(not math.isnan(cell.law) for cell in row.cells)


def _calibration(row: LedgerRow) -> str:
    return row.first.calibration


def _accountant(row: LedgerRow) -> str:
    return symbols(row.first.calibrated.accountant)


def _sizes(row: LedgerRow) -> list[int]:
    """Dimensions, also of problems that have only one."""
    return sorted({cell.calibrated.dimension for cell in row.cells})


def _on(row: LedgerRow) -> str:
    return charged_on(row.cells)


def _doubts(row: LedgerRow) -> str:
    return "; ".join(dict.fromkeys(cell.doubt for cell in row.cells if cell.doubt))


def _kind(cell: Charged) -> str:
    if math.isnan(cell.real):
        return NOTHING
    kind = {"upper": "upper bound", "lower": "lower bound"}.get(cell.kind, cell.kind)
    return kind + cell.noise.elsewhere


def _real(row: LedgerRow) -> str:
    shown = span((outward(cell.real, cell.kind) for cell in row.cells), least=row.first.kind == "lower")
    return shown if shown == NOTHING else symbols(f"{SIGNS[row.first.kind]} {shown}")


def _least(values: Iterable[float]) -> float:
    return min((value for value in values if not math.isnan(value)), default=math.nan)


def _most(values: Iterable[float]) -> float:
    return max((value for value in values if not math.isnan(value)), default=math.nan)
