"""Online learners: their interface, and those of Zhang, Tran, Cutkosky 2022 by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from math import log, sqrt
from typing import Any, ClassVar

from dpsco_bench.backend.namespace import array_namespace, row_norm
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.geometry.norms import dual_exponent, lp_norm, minimise_linear_lp, nonzero
from dpsco_bench.registry import Registry

Array = Any
TINY = 1e-200
LEARNERS: Registry[type[Learner]] = Registry("learner", "learners")
RATE = 2.0 / (2.0 - log(3.0))


@dataclass(frozen=True)
class LearnerSetting:
    """Facts that a learner is told when it is made.

    Attributes
    ----------
    start : array (R, d), ``w_1``, the centre c of the learners that have one, in float64
    project : callable, Euclidean projection on the set of ``(R, d)``
    norm : float, p of N; losses are measured in l_q, ``1/p + 1/q = 1``
    loss_bound : float, lip, a bound on the norm of the losses; infinite where none is known
    """

    start: Array
    project: Callable[[Array], Array]
    radius: float
    norm: float
    k: float
    rounds: int
    lipschitz: float
    strong_convexity: float = 0.0
    loss_bound: float = math.inf
    initial_wealth: float = 0.01

    @property
    def diameter(self) -> float:
        """D."""
        return 2.0 * self.radius


class Learner:
    """Online convex optimisation with linear losses ``<g_t, w>`` over a ball, for R replicates at once.

    The reduction calls `predict`, then `update` once a round, then `hint` with what it takes for the next loss. A
    learner sees noised vectors only, so nothing that it does can cost privacy.

    Attributes
    ----------
    regulariser : str
        What the reduction adds to each loss for this learner: empty, or ``strongly_convex``, the gradient
        ``(beta_t mu/2)(w_t - x_t)`` of Lemma 7.
    needs_loss_bound : bool, whether it divides by `LearnerSetting.loss_bound`, which ``zhang2022.parameter_free`` knows
    """

    summary: ClassVar[str] = ""
    regulariser: ClassVar[str] = ""
    needs_loss_bound: ClassVar[bool] = False

    def __init__(self, setting: LearnerSetting) -> None:
        self.setting = setting
        self.w = setting.start

    @classmethod
    def check(cls, norm: float, k: float, strong_convexity: float) -> None:
        """Refuse a setting that the learner is not for, by default norms other than l2: InputError, Refusal."""
        if norm != 2.0:
            raise Refusal(f"learner in l_{norm:g}", "its regret bound is for the Euclidean norm")

    def predict(self) -> Array:
        """``w_t`` in the set, ``(R, d)``."""
        return self.w

    def update(self, g: Array) -> None:
        """Suffer the loss ``<g, w_t>``, ``g (R, d)``."""
        raise InputError("learner", type(self).__name__, "a learner with update")

    def hint(self, h: Array) -> None:
        """Hear a guess of the next loss, ``h (R, d)``; there is none before the first."""

    def regret_bound(self) -> Array | None:
        """Bound on the regret so far against every point of the set, ``(R, 1)``; None if none is declared."""
        return None


def learner(name: str) -> Callable[[type[Learner]], type[Learner]]:
    """Register a class as the learner of that name (used as a decorator)."""
    if not name.isidentifier():
        raise InputError("learner", name, "an identifier")

    def register(cls: type[Learner]) -> type[Learner]:
        cls.name = name  # type: ignore[attr-defined]
        return LEARNERS.add(name, cls, cls.__module__)

    return register


def get_learner(name: str) -> type[Learner]:
    """Find the class of a learner; ``zhang2022.name`` is accepted too. Raises InputError for an unknown name."""
    return LEARNERS.get(name.removeprefix("zhang2022.").removeprefix("zhang2022/"))


def squared_norm(g: Array) -> Array:
    """``||g||^2`` along the last axis, ``(..., 1)``."""
    xp = array_namespace(g)
    return xp.vecdot(g, g)[..., None] if hasattr(xp, "vecdot") else xp.sum(g * g, axis=-1, keepdims=True)


def inverse_root(total: Array) -> Array:
    """``1/sqrt(total)``, huge and finite at 0: a step of that size along a zero vector is none."""
    xp = array_namespace(total)
    return 1.0 / xp.sqrt(xp.maximum(total, xp.full_like(total, TINY)))


def project_ball(x: Array, radius: float) -> Array:
    """Nearest point of the l2 ball, for entries whose squares do not overflow; points of it are returned unchanged."""
    xp, length = array_namespace(x), row_norm(x)
    return x * (radius / xp.maximum(length, xp.full_like(length, radius)))


@learner("ogd_fixed")
class OgdFixed(Learner):
    """``w <- P(w - eta_t g_t)`` with ``eta_t = D/(G t^k sqrt t)``; it declares no regret bound."""

    summary = "projected gradient descent, steps D/(G t^k sqrt t): a control"
    t = 0

    def update(self, g: Array) -> None:
        self.t += 1
        eta = self.setting.diameter / (self.setting.lipschitz * self.t ** (self.setting.k + 0.5))
        self.w = self.setting.project(self.w - eta * g)


class Adaptive(Learner):
    """A learner whose steps follow ``Q_t = sum_{i<=t} ||g_i||^2``; its regret is at most ``c D sqrt(Q_t)``."""

    squares: Array = 0.0

    @property
    def factor(self) -> Any:
        """The constant c; here a leader's: ``1/4 + 2 sqrt 2`` where it starts at the centre of the ball, ``(R, 1)``.

        ``||u - c||^2/(2 eta)``, ``eta = r/sqrt(Q)``, adds ``R^2/(2 r D)`` of that, R the largest distance from c.
        """
        farthest = self.setting.radius + row_norm(self.setting.start)
        return (farthest / self.setting.diameter) ** 2 + 2.0 * sqrt(2.0)

    def regret_bound(self) -> Array:
        return self.factor * self.setting.diameter * self.squares**0.5


@learner("ogd_adagrad")
class OgdAdagrad(Adaptive):
    """``w <- P(w - eta_t g_t)`` with ``eta_t = D/sqrt(2 Q_t)``, ``Q_t = sum_{i<=t} ||g_i||^2``."""

    summary = "projected gradient descent, steps D/sqrt(2 sum ||g||^2)"
    factor = sqrt(2.0)

    def update(self, g: Array) -> None:
        self.squares = self.squares + squared_norm(g)
        self.w = self.setting.project(self.w - self.setting.diameter / sqrt(2.0) * inverse_root(self.squares) * g)


@learner("osd")
class Osd(Learner):
    """``w <- P(w - g_t/s_t)`` with ``s_t = sum_{i<=t} mu i^k/2``, on losses with the regulariser of Lemma 7.

    The regret is that of the ``(mu t^k/2)``-strongly convex losses whose subgradients it is given.
    """

    summary = "subgradient descent with steps 1/sum(mu t^k/2), for strongly convex losses"
    regulariser = "strongly_convex"
    t, convexity = 0, 0.0
    bound: Array = 0.0

    @classmethod
    def check(cls, norm: float, k: float, strong_convexity: float) -> None:
        super().check(norm, k, strong_convexity)
        if not strong_convexity > 0:
            raise InputError("strong_convexity", strong_convexity, "a finite number > 0 for the learner osd", "Lemma 7")

    def update(self, g: Array) -> None:
        self.t += 1
        self.convexity += 0.5 * self.setting.strong_convexity * self.t**self.setting.k
        self.bound = self.bound + squared_norm(g) / (2.0 * self.convexity)
        self.w = self.setting.project(self.w - g / self.convexity)

    def regret_bound(self) -> Array:
        """``sum_{i<=t} ||g_i||^2/(2 s_i)``."""
        return self.bound


@learner("ftrl_adagrad")
class FtrlAdagrad(Adaptive):
    """``w_{t+1} = P(c - eta_t sum_{i<=t} g_i)`` with ``eta_t = r/sqrt(Q_t)``, ``Q_t = sum_{i<=t} ||g_i||^2``."""

    summary = "leader with regulariser ||w - c||^2/(2 eta), eta = r/sqrt(sum ||g||^2)"
    total: Array = 0.0

    def update(self, g: Array) -> None:
        self.squares = self.squares + squared_norm(g)
        self.total = self.total + g
        eta = self.setting.radius * inverse_root(self.squares)
        self.w = self.setting.project(self.setting.start - eta * self.total)


@learner("lp_ftrl")
class LpFtrl(Adaptive):
    """Leader with regulariser ``||w||_p^2/(2 eta_t)``, which is known in closed form, cut at the sphere.

    ``w = u min(eta_t ||th||_q, r)`` with ``th = sum g``, u the minimiser of ``<th, u>`` on the unit ball and
    ``eta_t = r sqrt(p-1)/sqrt(Q_t)``, ``Q_t = sum ||g||_q^2``. It starts at the centre of the ball.
    """

    summary = "leader on l_p balls, 1 < p <= 2, eta = r sqrt(p - 1)/sqrt(sum ||g||_q^2)"
    total: Array = 0.0

    def __init__(self, setting: LearnerSetting) -> None:
        super().__init__(setting)
        self.w, self.q = 0.0 * setting.start, dual_exponent(setting.norm)

    @classmethod
    def check(cls, norm: float, k: float, strong_convexity: float) -> None:
        if not 1.0 < norm <= 2.0:
            raise InputError("norm", norm, "p in (1, 2] for the learner lp_ftrl", "erratum E13")

    def update(self, g: Array) -> None:
        p, r = self.setting.norm, self.setting.radius
        self.squares = self.squares + lp_norm(g, self.q) ** 2
        self.total = self.total + g
        length = (r * sqrt(p - 1.0)) * inverse_root(self.squares) * lp_norm(self.total, self.q)
        xp = array_namespace(length)
        self.w = minimise_linear_lp(self.total, p, 1.0) * xp.minimum(length, xp.full_like(length, r))

    @property
    def factor(self) -> float:
        return (0.25 + 2.0 * sqrt(2.0)) / sqrt(self.setting.norm - 1.0)


class Optimistic(Adaptive):
    """A learner that takes hints: ``Q_t = sum_{i<=t} ||g_i - h_i||^2``, h_i being 0 where none was heard."""

    expected: Array | None = None

    def __init__(self, setting: LearnerSetting) -> None:
        super().__init__(setting)
        self.squares = 0.0 * setting.start[:, :1]

    def hint(self, h: Array) -> None:
        self.expected = h

    def compare(self, g: Array) -> None:
        """Add what the hint missed of the loss."""
        self.squares = self.squares + squared_norm(g if self.expected is None else g - self.expected)
        self.expected = None


@learner("optimistic_ftrl")
class OptimisticFtrl(Optimistic):
    """``w_{t+1} = P(c - eta_t (sum_{i<=t} g_i + h_{t+1}))``, ``eta_t = r/sqrt(Q_t)``, ``Q_t = sum ||g_i - h_i||^2``."""

    summary = "leader that counts the hint as a loss, eta = r/sqrt(sum ||g - h||^2)"
    total: Array = 0.0

    def predict(self) -> Array:
        """Predict the leader as if the hint were the next loss."""
        eta = self.setting.radius * inverse_root(self.squares)
        expected = self.total if self.expected is None else self.total + self.expected
        return self.setting.project(self.setting.start - eta * expected)

    def update(self, g: Array) -> None:
        self.compare(g)
        self.total = self.total + g


@learner("optimistic_omd")
class OptimisticOmd(Optimistic):
    """``w_t = P(y_t - eta_t h_t)``, ``y_{t+1} = P(y_t - eta_t g_t)`` with ``eta_t = D/sqrt(Q_{t-1})``.

    ``Q_t = sum_{i<=t} ||g_i - h_i||^2``. The first step is infinite: y_2 is the point of the ball opposite g_1.
    """

    summary = "optimistic mirror descent, steps D/sqrt(sum ||g - h||^2) of the rounds before"
    factor = 0.5 + 2.0 * sqrt(2.0)

    def __init__(self, setting: LearnerSetting) -> None:
        super().__init__(setting)
        self.y = setting.start

    def predict(self) -> Array:
        """Predict as if the hint were the next loss."""
        return self.y if self.expected is None else self._moved(self.expected)

    def update(self, g: Array) -> None:
        self.y = self._moved(g)
        self.compare(g)

    def _moved(self, g: Array) -> Array:
        return self.setting.project(self.y - self.setting.diameter * inverse_root(self.squares) * g)


@learner("parameter_free")
class ParameterFree(Learner):
    """Betting fractions by online Newton steps, directions by adaptive gradient descent on the unit ball.

    ``u = x_0 + v W y`` and ``w = P(u)``. Losses are divided by Lip and clipped to norm 1; where w differs from u, half
    of each loss pulls u back. No regret bound is declared.

    Attributes
    ----------
    clips : array (R, 1), how often a loss was clipped

    References
    ----------
    Cutkosky, Orabona 2018, with the reduction of constraints of Cutkosky 2018.
    """

    summary = "coin betting: regret in proportion to the distance of x* from the start"
    needs_loss_bound = True

    def __init__(self, setting: LearnerSetting) -> None:
        super().__init__(setting)
        row = 0.0 * setting.start[:, :1]
        self.fraction, self.wealth, self.curvature = row, row + setting.initial_wealth, row + 1.0
        self.direction, self.squares, self.clips = 0.0 * setting.start, row, row
        self.outside = 0.0 * setting.start

    def update(self, g: Array) -> None:
        xp, g = array_namespace(g), g / self.setting.loss_bound
        length = row_norm(g)
        self.clips = self.clips + xp.where(length > 1.0, xp.ones_like(length), xp.zeros_like(length))
        g = g / xp.maximum(length, xp.ones_like(length))
        g = 0.5 * (g + row_norm(g) * (self.outside / nonzero(row_norm(self.outside))))
        gain = xp.sum(g * self.direction, axis=-1, keepdims=True)
        factor = 1.0 - gain * self.fraction
        slope = gain / factor
        self.wealth = self.wealth * factor
        self.curvature = self.curvature + slope * slope
        self.fraction = xp.clip(self.fraction - RATE * slope / self.curvature, -0.5, 0.5)
        self.squares = self.squares + squared_norm(g)
        self.direction = project_ball(self.direction - inverse_root(self.squares) * g, 1.0)
        free = self.setting.start + self.fraction * self.wealth * self.direction
        self.w = self.setting.project(free)
        self.outside = free - self.w
