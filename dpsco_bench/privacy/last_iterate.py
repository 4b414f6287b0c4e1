"""The declaration that a plan releases the last iterate of its noisy gradient steps, and nothing else."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.problems.constants import Constants

RELEASES = ("sequence", "output")
"""Values of the option ``release``: what the accounted calibration charges."""
_ROUNDING = 1.0 + 1e-12


@dataclass(frozen=True)
class LastIterate:
    """Declaration that the T releases of one query, with normal noise Z on the mean gradient, stay unseen.

    The run is ``x <- P(x - step (grad F(x) + Z))``, F convex, a regulariser's gradient included, and returns the last
    x alone: no average, no momentum, no uniformly drawn iterate. Constants hold for every data set of the domain. See
    `accountants.last_iterate`.

    Attributes
    ----------
    step : float or tuple of float, eta, at most ``2/smoothness``; one of each release where they differ
    smoothness, strong_convexity : float, M > 0 and mu >= 0 of F
    lipschitz : float, of P (a projection, a proximal map), in (0, 1]
    diameter : float, of the set that P projects onto; infinite without one
    calibrates : bool, whether the accounted calibration charges the output in place of the sequence
    """

    step: float | tuple[float, ...]
    smoothness: float
    strong_convexity: float = 0.0
    lipschitz: float = 1.0
    diameter: float = math.inf
    calibrates: bool = False

    def __post_init__(self) -> None:
        steps, M, mu = self.steps, self.smoothness, self.strong_convexity
        if not 0.0 < M < math.inf:
            raise InputError("smoothness of the last iterate", M, "a finite number > 0")
        if not (steps.size and (steps > 0.0).all() and (steps <= 2.0 / M * _ROUNDING).all()):
            raise InputError("step of the last iterate", self.step, f"in (0, 2/M] with 2/M = {2 / M:.6g}")
        for key, most in (("strong_convexity", M * _ROUNDING), ("lipschitz", 1.0), ("diameter", math.inf)):
            value = getattr(self, key)
            if not 0.0 <= value <= most or (value == 0.0 and key != "strong_convexity"):
                raise InputError(f"{key} of the last iterate", value, f"in {'[' if mu == value else '('}0, {most:g}]")
        if steps.size > 1 and self.diameter < math.inf:
            raise InputError("diameter of the last iterate", self.diameter, "left out where steps differ")

    @property
    def steps(self) -> np.ndarray:
        """Steps ``(T,)``, or the one of all, ``(1,)``."""
        return np.atleast_1d(np.asarray(self.step, dtype=np.float64))

    @property
    def contractions(self) -> np.ndarray:
        """Largest factor ``(T,)`` or ``(1,)``, at most 1, by which a step without noise changes a distance."""
        ends = np.abs(1.0 - self.steps * self.strong_convexity), np.abs(1.0 - self.steps * self.smoothness)
        return self.lipschitz * np.minimum(np.maximum(*ends), 1.0)

    @property
    def attainable(self) -> bool:
        """Tell whether a quadratic of curvature mu contracts as slowly as that."""
        largest = self.smoothness + self.strong_convexity
        return self.lipschitz == 1.0 and self.diameter == math.inf and bool((self.steps * largest <= 2.0).all())


def last_iterate(constants: Constants, step: float, release: str, source: str) -> LastIterate | None:
    """Declare the last iterate of steps on the whole space; None if the objective is not known to be convex.

    Raises InputError for an unknown ``release``, and Refusal for ``output`` where the objective is not known to be
    strongly convex, so that the output is charged what the sequence is.
    """
    if release not in RELEASES:
        raise InputError("release", release, "one of " + ", ".join(RELEASES), source)
    mu = constants.strong_convexity if constants.curvature == "strong" else 0.0
    if release == "output" and mu == 0.0:
        reason = "it gains nothing: steps bring points together only where the objective is strongly convex"
        raise Refusal("release = output", reason, source)
    if constants.curvature == "any":
        return None
    return LastIterate(step, constants.total_smoothness, mu, calibrates=release == "output")
