"""Kinds of queries for l_p geometry, for solvers that stop early, and for draws; the plain kinds are in `plan`."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from dpsco_bench.errors import InputError, checked_count
from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.plan import Charge, GaussianQuery, NoisyMinimumQuery, ObjectiveQuery, Query

RULES = ("erm", "sco", "strongly_convex")
SAMPLER_STATUSES = ("exact", "proven_tv", "target_law_only")
"""Knowledge of a sampler: exact draws whatever the data, a proven total variation distance, or neither."""


@dataclass(frozen=True)
class Temperature:
    """The schedules of Theorems 3 to 6: k and mu from the scale ``sigma = S/(G t)``, never from the data.

    Here S is the Lipschitz constant of a difference of losses that the schedule believes in and t the Gaussian-DP
    parameter. With the true S, the law's parameter is ``(S_true/G)/sigma``. Source: Gopi, Lee, Liu, Shen, Tian 2022,
    Theorems 3 to 6. `rule` is ``erm`` (Theorem 3), ``sco`` (Theorem 4) or ``strongly_convex`` (Theorems 5 and 6), d the
    ambient dimension.
    """

    rule: str
    n: int
    d: int
    lipschitz: float
    loss_range: float
    theta: float = 0.0
    convexity: float = 0.0

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise InputError("rule", self.rule, "one of " + ", ".join(RULES))

    @classmethod
    def of(cls, schedule: Schedule) -> Temperature:
        """Read the temperature from a plan's schedule; further entries are ignored."""
        return cls(**{f.name: schedule[f.name] for f in fields(cls)})

    @property
    def entries(self) -> Schedule:
        """Return the entries that `of` reads."""
        return asdict(self)

    def parameter(self, scale: float) -> float:
        """``t = S/(G sigma)``; infinite for scale 0."""
        return self.loss_range / (self.lipschitz * scale) if scale > 0 else math.inf

    def at(self, scale: float) -> tuple[float, float]:
        """Inverse temperature k and weight mu of ``exp(-k (F + mu r))`` for a scale >= 0; at 0 k is infinite."""
        unit = self.lipschitz * scale / self.n  # S/(n t)
        if self.rule == "strongly_convex":
            return (self.convexity / unit**2 if scale > 0 else math.inf), self.convexity
        if self.rule == "erm":
            root = math.sqrt(self.d / self.theta)
            return (root / unit if scale > 0 else math.inf), root * unit
        if scale == 0:
            return math.inf, math.sqrt(self.loss_range * self.lipschitz / (self.n * self.theta))
        c2 = self.n * self.loss_range / (self.lipschitz * scale**2)  # G n t^2/S
        k = math.sqrt((self.d + c2) / self.theta) / unit
        return k, unit**2 * k


@dataclass(frozen=True, kw_only=True)
class GeneralisedGaussianQuery(Query):
    """A vector ``(R, d)`` plus generalised Gaussian noise of density ``~ exp(-||z||_r^2/(2 scale^2))``.

    The sensitivity is measured in the l_q norm that is dual to ``smooth.p``. One release is
    ``(sqrt(kappa) s/scale)``-GDP (docs/accounting.md); for r = 2 the noise is normal, and this is exact. Source:
    Bassily, Guzman, Nandi 2021, Definition 7 and Proposition 8. `smooth` is the norm ``||.||_r``, with its kappa. The
    noise is the mean of `draws` independent draws, each of the query's scale. A shift s of the mean is a shift of s in
    each draw, and the mean is post-processing of the draws: the cost is `draws` times that of one.
    """

    smooth: SmoothNorm
    draws: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_count("draws", self.draws)

    @property
    def is_normal(self) -> bool:
        return self.smooth.r == 2.0

    @property
    def law(self) -> str:
        if self.draws > 1:
            return "generalised_gaussian_mean"
        return "normal" if self.is_normal else "generalised_gaussian"

    @property
    def law_parameters(self) -> tuple[float, ...]:
        if self.draws > 1:
            return self.smooth.r, self.draws
        return () if self.is_normal else (self.smooth.r,)

    @property
    def norm(self) -> float:
        return self.smooth.q

    @property
    def norm_kappa(self) -> float:
        return self.draws * self.smooth.kappa


@dataclass(frozen=True, kw_only=True)
class DecayingNoisyMinimumQuery(NoisyMinimumQuery):
    """Report noisy max of a recursive estimate: a record's influence on the scores decays, and so does the noise.

    Release t has Laplace noise of scale ``scale * max(start decay^t, floor)``, release 0 of ``scale * start``. A record
    of the first batch changes any score of release t by up to ``decay^t first``; record ``i >= 1`` of those that enter
    one by one changes it by up to ``decay^(t - i) later`` from release i on. The sensitivity is the larger of both.
    `start` and `floor` are the printed sensitivities, which the noise follows; all are > 0, decay below 1. Source:
    Bassily, Guzman, Nandi 2021, Algorithm 1.
    """

    decay: float
    first: float
    later: float
    start: float
    floor: float
    lazy: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.decay < 1.0:
            raise InputError(f"decay of {self.name}", self.decay, "in (0, 1)")
        for key in ("first", "later", "start", "floor"):
            if not 0.0 < getattr(self, key) < math.inf:
                raise InputError(f"{key} of {self.name}", getattr(self, key), "a finite number > 0")

    def factors(self, first: int, steps: int) -> np.ndarray:
        t = np.arange(first, first + steps)
        return np.maximum(self.start * self.decay**t, np.where(t == 0, 0.0, self.floor))


@dataclass(frozen=True, kw_only=True)
class PerturbedObjectiveQuery(ObjectiveQuery):
    """Objective perturbation by normal ``b`` over a convex set, charged by the class of the loss.

    Source: Su, Zhao, Wang 2023, Algorithm 1. `loss_class`, one of `problems.constants.LOSS_CLASSES`, is that of the
    difference of two records' gradients as a function of the minimiser. ``linear``: it is constant, hence the release
    is one of a mean with Gaussian noise.
    """

    loss_class: str
    dimension: int
    closed_form: bool = False

    @property
    def exact_minimiser(self) -> bool:
        return not self.closed_form


class AnchoredQuery(GaussianQuery):
    """A difference of one record's gradients plus the exact mean gradient at an anchor, released as one vector.

    The sensitivity is that of the difference, ``4 G``; replacing the record moves the mean gradient by up to ``2 G/n``,
    against it. As the anchor is answered without noise of its own, a plan says that it leaks.
    """


class CoveringQuery(GaussianQuery):
    """Gaussian noise on an approximate minimiser; the sensitivity is twice its distance from the exact one.

    Given the exact minimiser, which an objective query of the same plan releases, nothing else depends on the data: so
    the pair is private although the solver stops early.
    """


@dataclass(frozen=True, kw_only=True)
class DrawQuery(Query):
    """One draw from ``exp(-k (F_D + mu r))``: the regularised exponential mechanism, `releases` of them independent.

    Between replace-one neighbours ``n F_D`` changes by a function of Lipschitz constant S; the sensitivity is ``S/G``.
    The scale sets the temperature: ``k, mu = temperature.at(scale)``, and one draw of the target law is
    ``(sensitivity/scale)``-GDP: an upper bound, which two Gaussians attain and other laws need not. Source: Gopi, Lee,
    Liu, Shen, Tian 2022, Theorem 2. `tau` is the total variation distance of a ``proven_tv`` sampler from the target
    law, 0 for the others; `target_delta` the delta at which the accounted calibration sets the target law; `dual` the
    order of the norm in which gradients are measured.
    """

    temperature: Temperature
    sampler_status: str
    target_delta: float
    tau: float = 0.0
    dual: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sampler_status not in SAMPLER_STATUSES:
            raise InputError(f"sampler_status of {self.name}", self.sampler_status, ", ".join(SAMPLER_STATUSES))
        if (self.tau > 0) != (self.sampler_status == "proven_tv"):
            raise InputError(f"tau of {self.name}", self.tau, "> 0 for proven_tv and 0 otherwise")

    law = "draw"

    @property
    def norm(self) -> float:
        return self.dual

    def attained(self, scale: float, delta: float) -> Charge | None:
        """Find the epsilon that neighbouring data sets attain, exact or from below; None if no pair is computed."""
        return None

    def answer(self, value: Any, noise: Any) -> Any:
        """Draw a point ``(R, d)`` with ``noise`` as source of randomness and scale; None gives the limit of scale 0.

        ``value`` has ``draw(k, mu, randomness)`` and ``minimiser(mu)``.
        """
        if noise is None:
            return value.minimiser(self.temperature.at(0.0)[1])
        scale, randomness = noise
        return value.draw(*self.temperature.at(scale), randomness)

    def exposed(self, value: Any, answer: Any) -> Any:
        """``n grad F_D/G`` at the drawn point: its change between neighbours is that of the exponent's slope."""
        return value.slopes(answer)
