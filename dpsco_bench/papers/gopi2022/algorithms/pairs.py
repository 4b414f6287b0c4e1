"""A draw whose law is that of an axis, charged by pairs of neighbouring data sets on the axis themselves."""

from __future__ import annotations

from dataclasses import dataclass

from dpsco_bench.papers.gopi2022.laws.neighbours import AxisNeighbours
from dpsco_bench.privacy.charge import Charge
from dpsco_bench.privacy.queries import DrawQuery


@dataclass(frozen=True, kw_only=True)
class AxisDrawQuery(DrawQuery):
    """`DrawQuery` of the law ``exp(kap x_1 - c ||x||_p^2)`` on a ball of radius R, records ``+-S/2`` along the axis.

    Attributes
    ----------
    p : float, in (1, 2], of the ball
    size : int, dimension of the law: d, or 1 where coordinates are independent
    curvatures : tuple of float
        Of ``F + mu r`` as multiples of ``||x||_p^2``: what mu multiplies, and what the losses have themselves.
    """

    p: float
    size: int
    curvatures: tuple[float, float]
    slope: float
    radius: float
    every_record: bool

    def attained(self, scale: float, delta: float) -> Charge:
        """Exact: the worst pair of all. Lower: the pair about the centre of the ball."""
        k, mu = self.temperature.at(scale)
        c = k * (mu * self.curvatures[0] + self.curvatures[1]) * self.radius**2
        laws = AxisNeighbours(self.p, self.size, c, k * self.slope * self.radius, self.temperature.n)
        if self.every_record:
            return Charge(laws.epsilon(delta), "exact", "worst pair of data sets on the axis, quadrature")
        return Charge(laws.centre_epsilon(delta), "lower", "pair of data sets on an axis, quadrature")
