"""The interface of an online learner, and the learners by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from dpsco_bench.backend.namespace import array_namespace, row_norm
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.registry import Registry

Array = Any
TINY = 1e-200


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

    @property
    def leader_factor(self) -> Array:
        """``R^2/(2 r D)`` with R the largest distance from c: 1/4 where c is the centre; ``(R, 1)``.

        What the regulariser ``||u - c||^2/(2 eta)``, ``eta = r/sqrt(Q)``, adds to the regret against u, in units of
        ``D sqrt(Q)``.
        """
        return ((self.radius + row_norm(self.start)) / self.diameter) ** 2


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
        """Refuse a setting that the learner is not for.

        Raises InputError, Refusal with the reason. By default for norms other than l2.
        """
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


LEARNERS: Registry[type[Learner]] = Registry("learner", "learners")


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
    return LEARNERS.get(_short(name))


def learner_parts(name: str) -> tuple[str, ...]:
    """Find the module that defines a learner."""
    return (LEARNERS.module(_short(name)),)


def _short(name: str) -> str:
    return name.removeprefix("zhang2022.").removeprefix("zhang2022/")


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
