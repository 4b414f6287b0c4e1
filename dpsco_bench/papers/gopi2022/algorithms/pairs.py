"""A draw of a known law, charged by pairs of neighbouring data sets themselves."""

from __future__ import annotations

from dataclasses import dataclass

from dpsco_bench.papers.gopi2022.laws.neighbours import AxisNeighbours
from dpsco_bench.papers.gopi2022.laws.plane import planar_epsilon
from dpsco_bench.privacy.plan import Charge
from dpsco_bench.privacy.queries import DrawQuery


@dataclass(frozen=True, kw_only=True)
class PairDrawQuery(DrawQuery):
    """`DrawQuery` of ``exp(-k (F + mu r))`` on an l_p ball of radius R, for records of dual norm S/2.

    Attributes
    ----------
    p : float, in (1, 2], of the ball
    size : int, dimension of the law: d, or 1 where coordinates are independent
    curvatures : tuple of float
        Of ``F + mu r`` as multiples of ``||x||_p^2``: what mu multiplies, and what the losses have themselves.
    slope, radius : float, S/2, R
    on_axis : bool, whether all records of the domain are ``+-S/2`` along the first axis
    """

    p: float
    size: int
    curvatures: tuple[float, float]
    slope: float
    radius: float
    on_axis: bool

    def attained(self, scale: float, delta: float) -> Charge:
        """Exact for records on an axis: the worst pair of all. Else lower: some pairs in a plane, or one at p = 2."""
        k, mu = self.temperature.at(scale)
        c = k * (mu * self.curvatures[0] + self.curvatures[1]) * self.radius**2
        reach, n = k * self.slope * self.radius, self.temperature.n
        if not self.on_axis and self.p < 2.0:
            epsilon = planar_epsilon(self.p, self.size, c, reach, n, delta)
            return Charge(epsilon, "lower", "pair of data sets in a plane, quadrature")
        laws = AxisNeighbours(self.p, self.size, c, reach, n)
        if self.on_axis:
            return Charge(laws.epsilon(delta), "exact", "worst pair of data sets of two points on an axis, quadrature")
        return Charge(laws.centre_epsilon(delta), "lower", "pair of data sets on an axis, quadrature")
