"""Mirror maps of the smooth norms and exact mirror steps over l_p balls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.mirror import shrunk_height
from dpsco_bench.geometry.norms import checked_exponent, largest, lp_norm, nonzero, square_gradient
from dpsco_bench.geometry.penalised import penalised_step

Array = Any


class MirrorNorm(Protocol):
    """What a squared norm needs to be a mirror map."""

    @property
    def r(self) -> float:
        """Exponent of the dual norm."""

    @property
    def dual(self) -> float:
        """s, exponent of the norm, in (1, 2]."""

    @property
    def kappa(self) -> float:
        """Twice its coefficient."""


@dataclass(frozen=True)
class SmoothMirror:
    """The mirror map ``Phi = (kappa/2) ||.||_s^2``, ``s = r/(r - 1)``, which is 1-strongly convex in the l_p norm.

    Source: Bassily, Guzman, Nandi 2021, Algorithm 2; Su, Zhao, Wang 2023, Algorithms 3, 4 and 7.
    """

    norm: MirrorNorm

    def gradient(self, x: Array) -> Array:
        """``grad Phi(x) = kappa ||x||_s^(2 - s) |x|^(s - 1) sign x`` of ``x (..., d)``; 0 at 0."""
        return square_gradient(x, self.norm.dual, self.norm.kappa)

    def inverse(self, y: Array) -> Array:
        """``grad Phi*(y) = ||y||_r^(2 - r) |y|^(r - 1) sign y/kappa`` of ``y (..., d)``; 0 at 0."""
        return square_gradient(y, self.norm.r, 1.0 / self.norm.kappa)

    def step(self, y: Array, p: float, radius: float) -> Array:
        """``argmax <y, x> - Phi(x)`` over ``||x||_p <= radius``, exactly, for finite ``y (..., d)`` and radius > 0.

        With ``y = grad Phi(x_t) - step g`` this is the mirror descent step from x_t along g. Raises InputError for p
        outside [1, s].
        """
        s, kappa = self.norm.dual, self.norm.kappa
        if not 1.0 <= checked_exponent(p) <= s:
            raise InputError("p", p, f"in [1, {s:g}], the exponent of the mirror map")
        if p == 1:
            return self._onto_l1(y, radius)
        free = self.inverse(y)
        if p < s:
            return penalised_step(y, free, p, s, kappa, radius)
        xp, length = array_namespace(y), lp_norm(free, p)  # the ball is a level set of Phi
        return xp.where(length > radius, free * (radius / nonzero(length)), free)

    def _onto_l1(self, y: Array, radius: float) -> Array:
        """``grad Phi*`` of y with the least threshold that fits into the l1 ball taken off its entries."""
        xp, top = array_namespace(y), largest(y)
        deficit = top - xp.abs(y)
        height = shrunk_height(deficit, top, self.norm.r, self.norm.kappa, radius)
        rest = xp.where(height < top, height - deficit, xp.abs(y))
        return xp.sign(y) * self.inverse(xp.where(rest > 0, rest, xp.zeros_like(rest)))
