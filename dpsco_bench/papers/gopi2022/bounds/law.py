"""Laws by quadrature beside which chains of the regularised exponential mechanism are put."""

from __future__ import annotations

from dpsco_bench.claims.bounds.context import BoundContext
from dpsco_bench.claims.bounds.registry import bound
from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw
from dpsco_bench.papers.gopi2022.laws.radial import RadialLaw
from dpsco_bench.privacy.temperature import Temperature


def _parameters(c: BoundContext) -> tuple[float, float]:
    """Temperature k and the curvature ``k mu coef`` of the regulariser of a norm with 1 < p <= 2."""
    k, mu = Temperature.of(c.schedule).at(c.scales["draw"])
    return k, 0.5 * k * mu / (c.constants.norm - 1.0)


@bound("gopi2022_law.axis", "gap, of the target law by quadrature")
def axis_gap(c: BoundContext) -> float:
    """``E[1 - x_1]`` where the losses are linear along the first axis."""
    k, curvature = _parameters(c)
    return AxisLaw(c.constants.norm, c.d, k, curvature).mean_gap()


@bound("gopi2022_law.radial", "radius, of the target law by quadrature")
def mean_radius(c: BoundContext) -> float:
    """``E ||x||`` where the losses are a norm."""
    return RadialLaw(c.d, *_parameters(c)).mean()
