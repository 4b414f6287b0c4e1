"""The regularised exponential mechanism (Gopi, Lee, Liu, Shen, Tian 2022, Theorems 3 and 4, Corollaries 2 to 5)."""

from __future__ import annotations

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.papers.gopi2022.algorithms.setting import (
    NEEDS,
    PAPER,
    VARIANTS,
    checked_setting,
    draw,
    draw_plan,
    regularised,
    sampler_parts,
)
from dpsco_bench.privacy.plan import Plan

SOURCE = f"{PAPER}, Theorems 3 and 4, Corollaries 2 to 5"


@algorithm("gopi2022.reg_exp_mech", source=SOURCE, needs=NEEDS, variants=VARIANTS, least_norm=1.0, parts=sampler_parts)
def plan(
    given: Setting,
    *,
    schedule: str = "erm",
    sampler: str = "auto",
    theta_convention: str = "centred",
    sweeps: int | None = None,
    accountant: str = "theorem",
) -> Plan:
    """Single draw from exp(-k (F_D + mu r)); erm: k = n t sqrt(d/Theta)/S, mu = S sqrt(d/Theta)/(n t).

    sco: k = sqrt((d + C2)/C1), mu = S^2 k/(n t)^2 with C1 = S^2 Theta/(n t)^2, C2 = G n t^2/S. r is the geometry's:
    ||x||_p^2/(2(p-1)) for 1 < p <= 2, (e^2 ln d/2) ||x||_q^2 with q = 1 + 1/ln d for p = 1, ||x||_2^2/2 for p >= 2; for
    matrices the same on singular values.

    Parameters
    ----------
    given : Setting
        G and S in the norm of the domain, an l_p or Schatten ball; d is the ambient dimension; delta below 1/2.
    variant : str
        ``printed``: S = G and t = eps/sqrt(2 ln(1/(2 delta))), not private (erratum E1). ``replace_one``: the S that
        the problem proves (2G at most) and the exact t.
    schedule : str
        ``erm`` (Theorem 3) or ``sco`` (Theorem 4).
    sampler : str
        ``auto``: an exact one, or a refusal. ``cube_exact``, ``axis_exact``, ``lp_exact``, ``radial_exact``, ``gibbs``
        or ``hit_and_run``: that one, with the status that it has.
    theta_convention : str
        Range of r for a ball of radius R: ``centred`` with R, ``diameter`` with 2R, as the corollaries.
    sweeps : int, optional
        Length of the chains of ``gibbs`` and ``hit_and_run``, 1000 by default.
    accountant : str
        ``theorem``: Theorem 2, an upper bound. ``pairs``: by quadrature of the laws on neighbouring data sets, where
        the theorem leaves the claim open; exact for data sets of two points on an axis (``axis_linear``), from below
        for others, of which ``lp_exact`` compares some in the plane of two coordinates. Of the exact samplers.
    """
    s = checked_setting(given, SOURCE)
    return draw_plan(s, regularised(s, schedule, theta_convention), sampler, sweeps, accountant)


plan.run(draw)
