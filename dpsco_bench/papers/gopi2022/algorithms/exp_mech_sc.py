"""The exponential mechanism for strongly convex losses (Gopi, Lee, Liu, Shen, Tian 2022, Theorems 5 and 6)."""

from __future__ import annotations

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.errors import InputError
from dpsco_bench.papers.gopi2022.algorithms.setting import (
    NEEDS,
    PAPER,
    VARIANTS,
    checked_setting,
    draw,
    draw_plan,
    sampler_parts,
)
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.privacy.queries import Temperature
from dpsco_bench.problems.base import Trait

SOURCE = f"{PAPER}, Theorems 5 and 6"


@algorithm(
    "gopi2022.exp_mech_sc",
    source=SOURCE,
    needs=(*NEEDS, Trait.STRONGLY_CONVEX),
    variants=VARIANTS,
    least_norm=1.0,
    parts=sampler_parts,
)
def plan(given: Setting, *, sampler: str = "auto", sweeps: int | None = None, accountant: str = "theorem") -> Plan:
    """Single draw from exp(-k F_D), k = (n t/S)^2 mu, for mu-strongly convex losses.

    Parameters
    ----------
    given : Setting
        G, S and mu in the norm of the domain; delta below 1/2.
    variant : str
        ``printed``: S = G and t = eps/sqrt(2 ln(1/(2 delta))), not private (erratum E1). ``replace_one``: the S that
        the problem proves and the exact t.
    sampler : str
        ``auto``: an exact one, or a refusal; ``axis_exact`` (quadratic losses on an l_2 ball), ``radial_exact`` or
        ``hit_and_run``.
    sweeps : int, optional
        Length of the chains of ``hit_and_run``, 1000 by default.
    accountant : str
        ``theorem``: Theorem 2, an upper bound. ``pairs``: by quadrature of the laws on neighbouring data sets, where
        the theorem leaves the claim open; from below, of a pair of data sets on an axis. Of ``axis_exact``.
    """
    s, c = checked_setting(given, SOURCE), given.constants
    if c.strong_convexity <= 0:
        raise InputError("strong_convexity", c.strong_convexity, "> 0", SOURCE)
    if c.diameter > 2.0 * c.lipschitz / c.strong_convexity * (1.0 + 1e-12):
        largest = 2.0 * c.lipschitz / c.strong_convexity
        raise InputError("diameter", c.diameter, f"at most 2 G/mu = {largest:g}: G and mu contradict it", SOURCE)
    return draw_plan(
        s,
        Temperature("strongly_convex", s.n, s.d, c.lipschitz, s.loss_range, convexity=c.strong_convexity),
        sampler,
        sweeps,
        accountant,
    )


plan.run(draw)
