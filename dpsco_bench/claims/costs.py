"""Predict the seconds of a cell: fitted by method and problem, else by a model of its steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from dpsco_bench.claims.files import read_shipped
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.predict import looked_at, predicted_seconds
from dpsco_bench.fused.registry import has_steps
from dpsco_bench.paths import conf_dir
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.data import form_of

LEAST_SECONDS = 1e-3
"""No cell takes less: its data, their optimum and a row for each replicate."""

Terms = Mapping[str, float]
"""Seconds of one unit of what a cell does, by the names of `amounts`."""


def amounts(cell: Cell, plan: Plan, replicates: int) -> dict[str, float]:
    """How much a cell does of everything that takes time, for so many replicates of all data sets.

    A ``row`` is a replicate, a ``step`` a release, ``seen`` the gradients that are looked at one by one: a problem may
    know the gradient of all its records by their sum. ``d``, ``dd`` and ``ddd`` are powers of the dimension.
    """
    problem, n = cell.problem_entry, cell.n
    d, rows = float(problem.dimension), float(replicates)
    steps, gradients = float(sum(query.releases for query in plan.queries)), float(plan.gradient_evaluations)
    seen = gradients * looked_at(cell)
    return {
        "cell": 1.0,
        "n d": n * d,
        "row": rows,
        "row n": rows * n,
        "row n d": rows * n * d,
        "row dd": rows * d * d,
        "row ddd": rows * d * d * d,
        "step": steps,
        "row step": rows * steps,
        "row step d": rows * steps * d,
        "row step dd": rows * steps * d * d,
        "gradient": gradients,
        "gradient d": gradients * d,
        "row gradient": rows * gradients,
        "row gradient d": rows * gradients * d,
        "row seen": rows * seen,
        "row seen d": rows * seen * d,
    }


def family(cell: Cell) -> str:
    """Return what a method's cost depends on: the problem, and the set on which its steps project."""
    return f"{cell.problem} on {cell.problem_entry.own_constants.domain}"


@dataclass(frozen=True)
class Costs:
    """Measured costs of cells, in CPU seconds a unit: by algorithm, and by `family` too where that was measured."""

    methods: Mapping[str, Terms] = field(default_factory=dict)
    families: Mapping[str, Mapping[str, Terms]] = field(default_factory=dict)


@cache
def costs() -> Costs:
    """Read ``conf/cost.yaml``."""
    return Costs(**read_shipped(conf_dir() / "cost.yaml"))


def expected_seconds(cell: Cell, plan: Plan, replicates: int, fused: bool = True) -> float:
    """CPU seconds of so many replicates of a cell; of the model, where the method was not measured as it is to run.

    What was measured ran fused where it could. So a method with compiled steps, on a loss that they do not know, is the
    model's unless that loss was measured.
    """
    known = costs()
    own = known.families.get(cell.algorithm, {}).get(family(cell))
    listed = has_steps(cell.algorithm) and (not fused or (own is None and form_of(cell.problem_entry) is None))
    terms = None if listed else own or known.methods.get(cell.algorithm)
    if terms is None:
        return predicted_seconds(cell, plan, replicates, fused)
    does = amounts(cell, plan, replicates)
    return max(sum(seconds * does[name] for name, seconds in terms.items()), LEAST_SECONDS)
