"""The verbs as functions: `run`, `account`, `audit`, `claim` and `leaderboard`, from plain keys to objects."""

from __future__ import annotations

import copyreg
import importlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dpsco_bench.algorithms.registry import Algorithm, get_algorithm
from dpsco_bench.cli.console import full_id, quoted
from dpsco_bench.errors import InputError
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.execution.cell import CalibratedCell, Cell, check_data_sets
from dpsco_bench.execution.job_results import risk_kind_of, standard_error
from dpsco_bench.execution.plugins import load_plugins
from dpsco_bench.execution.request import check_run, check_sampled, make_cell
from dpsco_bench.execution.run import replicate_blocks, run_block
from dpsco_bench.plain import Tabled, unboxed
from dpsco_bench.problems.base import Problem
from dpsco_bench.problems.registry import get_problem

__all__ = ["Result", "account", "audit", "claim", "get_algorithm", "get_problem", "leaderboard", "run"]

if TYPE_CHECKING:
    from dpsco_bench.analysis.verdict import Verdict
    from dpsco_bench.audit.auditor import AuditResult
    from dpsco_bench.cli.accounting import Account
    from dpsco_bench.leaderboard.standings import Skipped, Standing


def _algorithm(id: str, module: str) -> Algorithm:
    """Find an algorithm in another process, which may not have imported the module that registers it."""
    with suppress(ImportError):
        importlib.import_module(module)
    return get_algorithm(id)


def _told(entry: Problem) -> str:
    options = {key: getattr(entry, declared.name) for key, declared in entry.options.items()}
    given = [f"{key}={value!r}" for key, value in options.items() if value != entry.options[key].default]
    return f"{type(entry).__name__}({', '.join([f'd={entry.dimension}', *given])})"


# Here and not in the classes: their text is in the key of every result.
copyreg.pickle(Algorithm, lambda entry: (_algorithm, (entry.id, entry.module)))
Algorithm.__repr__ = lambda entry: f"Algorithm({entry.id}: {entry.source})"  # type: ignore
Problem.__repr__ = _told  # type: ignore


@dataclass(frozen=True, repr=False)
class Result(Tabled):
    """Risks and outputs of the replicates of one run.

    Attributes
    ----------
    risk : array (R,), excess risk of each replicate's output, empirical or of the population (see `risk_kind`)
    output : array (R, d), the outputs
    gradient_evaluations : array (R,), single-record gradients that were evaluated
    start_risk : float, excess risk of the starting point (the replicates' mean, where they have samples of their own)
    calibration : CalibratedCell
        Its attributes say what was charged: ``schedule``, ``scales``, ``epsilon_real``, ``privacy_status``, ...
    """

    risk: np.ndarray
    output: np.ndarray
    gradient_evaluations: np.ndarray
    start_risk: float
    calibration: CalibratedCell
    cell: Cell
    seed: int

    @property
    def risk_kind(self) -> str:
        """``excess empirical``, ``excess population``, or the label of what the theorem bounds instead."""
        return risk_kind_of(self.cell)

    @property
    def held_out(self) -> dict[str, np.ndarray]:
        """Loss and, of classes, accuracy of each output ``(R,)`` on the records that a file holds out; else empty."""
        return self.cell.problem_entry.beside(self.output, self.cell.draw_data(self.seed, 0))

    @property
    def mean(self) -> float:
        """Mean excess risk."""
        return float(self.risk.mean())

    @property
    def stderr(self) -> float:
        """Standard error of the mean; NaN for a single replicate."""
        return standard_error(self.risk)

    @property
    def table(self) -> pa.Table:
        """A row per replicate: risk, gradient evaluations, held-out numbers and the output."""
        columns = {"risk": self.risk, "gradient_evaluations": self.gradient_evaluations, **self.held_out}
        return pa.table({"replicate": range(len(self.risk)), **columns, "output": self.output.tolist()})

    def __repr__(self) -> str:
        cell, charged = self.cell, self.calibration
        where = f"n = {cell.n}, d = {self.output.shape[1]}, epsilon = {cell.epsilon:g}, delta = {cell.delta:g}"
        found = f"{self.risk_kind} risk {self.mean:.4g} +- {self.stderr:.2g} from a start of {self.start_risk:.4g}"
        privacy = f"real epsilon {charged.epsilon_real:.4g} ({charged.epsilon_real_kind}), {charged.privacy_status}"
        return f"Result({cell.algorithm} on {cell.problem}, {where}: {found}, {len(self.risk)} replicates; {privacy})"

    def plot(self) -> Any:
        """Draw the distribution of the replicates' risks, with the starting point's as a line; a Matplotlib figure."""
        from matplotlib.figure import Figure

        from dpsco_bench.report.drawing import displayed, style

        with style():
            drawn = Figure(figsize=(4.8, 2.4), layout="constrained")
            axes = drawn.add_subplot()
            axes.ecdf(self.risk, label=f"{len(self.risk)} replicates")
            axes.axvline(self.start_risk, linestyle="--", color="grey", label="starting point")
            axes.set(xlabel=f"{self.risk_kind} risk", ylabel="share of replicates")
            axes.legend()
        return displayed(drawn)


def run(
    algorithm: str | Algorithm,
    problem: str | type[Problem],
    n: int | None = None,
    d: int | None = None,
    *,
    epsilon: float = 1.0,
    delta: float = 1e-5,
    calibration: str = "accounted",
    replicates: int = 16,
    seed: int = 2017,
    data_set: int = 0,
    backend: str = "numpy",
    dtype: str = "float64",
    fused: bool = True,
    plugins: Sequence[str | Path] = (),
    **options: Any,
) -> Result:
    """Calibrate an algorithm on a problem and run it.

    Returns a Result with arrays ``risk (R,)`` and ``output (R, d)`` and the ``calibration``. Raises InputError or
    Refusal for a key or value out of range, or a combination that the source does not define. Raises NumericalFailure
    for non-finite iterates.

    Parameters
    ----------
    algorithm : str or Algorithm
        ``paper.name``, or ``name`` where one paper alone has it, or the object that ``@algorithm`` returned.
    problem : str or type of Problem, name, or the class that ``@problem`` returned
    n : int, number of records, >= 1; a file has all of its own by default
    d : int, optional, dimension; by default the problem's
    epsilon, delta : float
        Target (epsilon, delta)-differential privacy under replace-one neighbours; epsilon > 0, 0 < delta < 1.
    calibration : str
        ``accounted`` (least noise that the accountant accepts), ``paper`` (as the theorem states it) or ``none``.
    seed : int, root of all randomness, >= 0
    data_set : int, number of the data set, >= 0
    fused : bool, whether compiled steps may run in place of the reference implementation; they agree to 1e-10
    plugins : sequence of path-like, files of your own methods and problems
    **options
        ``variant``, schedule options, problem options and problem constants by plain name.
    """
    given = {"replicates": replicates, "seed": seed, "data_set": data_set}
    replicates, seed, data_set = unboxed(given).values()
    cell = _cell(algorithm, problem, plugins, n=n, d=d, epsilon=epsilon, delta=delta, **options)
    check_run(calibration, replicates, seed, data_set)
    check_sampled(cell)
    check_data_sets(cell.problem, data_set + 1)
    if not isinstance(fused, bool):
        raise InputError("fused", fused, "true or false")
    calibrated = calibrate_cell(cell, calibration, seed)
    data, plan = cell.draw_data(seed, data_set), calibrated.plan_for(cell)
    how: Any = {"root_seed": seed, "data_set": data_set, "backend": backend, "dtype": dtype, "fused": fused}
    blocks = [
        run_block(cell, plan, calibrated.scales, data, first_replicate=first, replicates=count, **how)
        for first, count in replicate_blocks(cell.problem_entry.row_size(cell.n), replicates)
    ]
    starts = np.concatenate([block.start_risk for block in blocks])
    start = float(starts[0]) if (starts == starts[0]).all() else float(starts.mean())
    risk, evaluations = (np.concatenate([getattr(b, name)[:, -1] for b in blocks]) for name in ("risk", "evaluations"))
    return Result(risk, np.concatenate([b.output for b in blocks]), evaluations, start, calibrated, cell, seed)


def _cell(algorithm: Any, problem: Any, plugins: Sequence[str | Path], **keys: Any) -> Cell:
    load_plugins(plugins)
    given = {key: value for key, value in keys.items() if value is not None}
    return make_cell(full_id(_name(algorithm, "id")), _name(problem, "name"), given)


def _name(entry: Any, attribute: str) -> str:
    return entry if isinstance(entry, str) else str(getattr(entry, attribute, entry))


def account(
    algorithm: str | Algorithm,
    problem: str | type[Problem],
    n: int | None = None,
    d: int | None = None,
    *,
    epsilon: float = 1.0,
    delta: float = 1e-5,
    seed: int = 2017,
    plugins: Sequence[str | Path] = (),
    **options: Any,
) -> Account:
    """Charge an algorithm's noise, the paper's and the accounted one, without running anything.

    Arguments are those of `run`. The result has ``paper`` and ``accounted``, each with ``noise``, ``epsilon_real``,
    ``privacy_status``, ``gradient_evaluations`` and more. Raises DpscoError where both are refused.
    """
    from dpsco_bench.cli.accounting import account as charged

    cell = _cell(algorithm, problem, plugins, n=n, d=d, epsilon=epsilon, delta=delta, **options)
    return charged(cell, *unboxed({"seed": seed}).values())


def audit(
    algorithm: str | Algorithm,
    problem: str | type[Problem] | None = None,
    n: int | None = None,
    d: int | None = None,
    *,
    calibration: str = "accounted",
    runs: int | None = None,
    confidence: float = 0.95,
    statistic: str | None = None,
    seed: int = 2017,
    plugins: Sequence[str | Path] = (),
    **options: Any,
) -> AuditResult:
    """Bound an algorithm's epsilon from below, by runs on two neighbouring data sets.

    Parameters
    ----------
    problem : str or type of Problem, optional, by default a worst case of the algorithm's own family
    runs : int, optional, >= 100 on each data set; by default as many as take a minute or so
    confidence : float, in (0, 1), of the bound
    statistic : str, optional, ``transcript`` (everything released) or ``output``
    **options
        ``epsilon`` (1), ``delta`` (1e-5) and further keys as in `run`.
    """
    from dpsco_bench.audit.auditor import INSTANCES, audit_cell, make_audit_cell

    load_plugins(plugins)
    keys = unboxed({key: value for key, value in {"n": n, "d": d, **options}.items() if value is not None})
    on = None if problem is None else _name(problem, "name")
    cell = make_audit_cell(full_id(_name(algorithm, "id")), on, keys, calibration)
    searched = () if problem else INSTANCES.keys() - {key.rpartition(".")[2] for key in keys}
    how = unboxed({"runs": runs, "confidence": confidence, "seed": seed})
    with np.errstate(over="ignore"):
        return audit_cell(cell, calibration, statistic=statistic, searched=searched, **how)


def claim(
    id: str,
    profile: str = "ci",
    *,
    seed: int = 2017,
    data_root: str | Path = "data",
    plugins: Sequence[str | Path] = (),
) -> list[Verdict]:
    """Run a claim end to end, and judge it; finished jobs are kept in ``results/store``.

    Returns a verdict for each part and calibration. Raises InputError for an unknown claim or profile.

    Parameters
    ----------
    id : str, of a claim that ships, or the file of one's own
    profile : str, ``smoke``, ``ci`` or ``full``
    """
    from dpsco_bench.claims.jobs import check_profile, claim_plan
    from dpsco_bench.cli.verbs.claim import asked_claims, run_claim
    from dpsco_bench.execution.layout import Layout

    check_profile(profile)
    ids, settings = asked_claims([str(id), *_settings(seed, data_root)], [*map(str, plugins)])
    measured = Layout(profile).measured
    return [row for one in ids for row in run_claim(claim_plan(one, profile, settings), measured)]


def leaderboard(
    id: str | None = None,
    profile: str = "ci",
    *,
    seed: int = 2017,
    data_root: str | Path = "data",
    plugins: Sequence[str | Path] = (),
) -> list[Standing | Skipped]:
    """Rank all methods on the instances of a board at equal (epsilon, delta); arguments are those of `claim`.

    Returns a standing for each instance and point, of all boards where none is named.
    """
    from dpsco_bench.cli.verbs.leaderboard import asked_boards, run_boards

    named = [str(id)] * (id is not None)
    ids, settings = asked_boards([*named, *_settings(seed, data_root)], [*map(str, plugins)])
    return run_boards(profile, ids, settings)


def _settings(seed: int, data_root: str | Path) -> list[str]:
    return [f"seed={seed}", f"data.root={quoted(data_root)}"]
