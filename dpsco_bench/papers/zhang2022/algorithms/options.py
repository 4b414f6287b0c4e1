"""Reductions of this paper as algorithms: their options, needs and run."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from typing import Any, get_type_hints

from dpsco_bench.algorithms.registry import Algorithm, Setting, algorithm
from dpsco_bench.papers.zhang2022.algorithms.reduction import dp_online_to_batch
from dpsco_bench.papers.zhang2022.learners.base import learner_parts
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.base import Trait

NEEDS = (Trait.LIPSCHITZ, (Trait.SMOOTH, Trait.LINEAR_LOSS))
"""No convexity: the theorems ask for it where they bound a risk, and the privacy of the nodes does not."""
VARIANTS = {"printed": ("paper",), "accounted": ("accounted",), "noise_off": ("none",)}


@dataclass(frozen=True)
class Reduction:
    """Options of a reduction, with their defaults; ``zhang2022.dp_otb`` says what they mean."""

    learner: str
    k: float = 1.0
    sensitivity: str | None = None
    radius: str = "adaptive"
    rho: float | None = None
    run_last_round: bool = False
    clip_differences: bool = False


ReductionPlan = Callable[[Setting, Reduction], Plan]


def reduction(
    id: str, source: str, ball: Trait, *, learner: str, least_norm: float = 2.0, without: tuple[str, ...] = ()
) -> Callable[[ReductionPlan], Algorithm]:
    """Register the decorated plan function, of a setting and its options, as a reduction.

    Parameters
    ----------
    learner : str, the default learner
    without : tuple of str, options of `Reduction` that it lacks
    """

    def register(function: ReductionPlan) -> Algorithm:
        def plan(given: Setting, **options: Any) -> Plan:
            return function(given, Reduction(**{"learner": learner, **options}))

        plan.__doc__, plan.__module__ = function.__doc__, function.__module__
        plan.__signature__ = _signature(learner, without)  # type: ignore[attr-defined]
        entry = algorithm(
            id,
            source=source,
            needs=(*NEEDS, ball),
            variants=VARIANTS,
            order_invariant=False,
            rounds="zhang2022",
            least_norm=least_norm,
            parts=lambda options: learner_parts(options.get("learner", learner)),
        )(plan)
        entry.run(dp_online_to_batch)
        return entry

    return register


def _signature(learner: str, without: tuple[str, ...]) -> inspect.Signature:
    """Build the signature of a plan function with the fields of `Reduction` as its options."""
    kinds, Parameter = get_type_hints(Reduction), inspect.Parameter
    found = [Parameter("given", Parameter.POSITIONAL_OR_KEYWORD, annotation=Setting)]
    for field in fields(Reduction):
        default = learner if field.default is MISSING else field.default
        if field.name not in without:
            found.append(Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=kinds[field.name]))
    return inspect.Signature(found)
