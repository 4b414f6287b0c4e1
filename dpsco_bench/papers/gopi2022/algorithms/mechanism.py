"""A sampler of the regularised law as an algorithm of its own: the plan that all of them share.

The module of such an algorithm holds its sampler, (target, k, mu, draws) -> one point per row ``(R, d)`` of the density
``exp(-k (F_D + mu r))``; `mechanism` makes the plan of one draw by it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping

import numpy as np

from dpsco_bench.algorithms.registry import Algorithm, Setting, algorithm
from dpsco_bench.papers.gopi2022.algorithms.setting import (
    NEEDS,
    SWEEPS,
    VARIANTS,
    checked_setting,
    draw,
    draw_plan,
    regularised,
)
from dpsco_bench.privacy.plan import Plan

Sampler = Callable[..., np.ndarray]
_PARAMETERS = """
Parameters
----------
given, variant, schedule, theta_convention
    As for ``gopi2022.reg_exp_mech``.
"""
_SWEEPS = """sweeps : int
    Length of each chain, of which the second half counts as evidence: rhat, ess and chain_risk are kept beside the
    result, and where quadrature knows the law expected_gap and z_score. Nothing is proven about the distance from the
    target law.
"""


def mechanism(sampler: Sampler, source: str, variants: Mapping[str, tuple[str, ...]] = VARIANTS) -> Algorithm:
    """Register ``gopi2022.<name of the sampler>``: one draw by it with the schedule of Theorem 3 or 4.

    Parameters
    ----------
    sampler : callable, its docstring becomes the algorithm's; one in `setting.SWEEPS` has the option ``sweeps``
    source : str, where the law is defined
    variants : mapping, as of `registry.algorithm`
    """
    name = sampler.__name__

    chains = name in SWEEPS

    def plan(
        given: Setting,
        *,
        schedule: str = "erm",
        theta_convention: str = "centred",
        sweeps: int = SWEEPS.get(name, 0),
    ) -> Plan:
        s = checked_setting(given, source)
        return draw_plan(s, regularised(s, schedule, theta_convention), name, sweeps if chains else None)

    if not chains:
        options = inspect.signature(plan, eval_str=True).parameters
        kept = [parameter for key, parameter in options.items() if key != "sweeps"]
        plan.__signature__ = inspect.Signature(kept)  # type: ignore[attr-defined]
    plan.__module__ = sampler.__module__
    plan.__doc__ = f"{inspect.getdoc(sampler)}\n{_PARAMETERS}{_SWEEPS if chains else ''}"
    register = algorithm(f"gopi2022.{name}", source=source, needs=NEEDS, variants=variants, least_norm=1.0)
    entry = register(plan)
    entry.run(draw)
    return entry
