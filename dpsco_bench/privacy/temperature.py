"""Inverse temperature and regularisation weight of an exponential mechanism, as functions of its noise scale."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields

from dpsco_bench.errors import InputError
from dpsco_bench.plain import Schedule

RULES = ("erm", "sco", "strongly_convex")


@dataclass(frozen=True)
class Temperature:
    """The schedules of Theorems 3 to 6: k and mu from the scale ``sigma = S/(G t)``, never from the data.

    Here S is the Lipschitz constant of a difference of losses that the schedule believes in and t the Gaussian-DP
    parameter. With the true S, the law's parameter is ``(S_true/G)/sigma``. Source: Gopi, Lee, Liu, Shen, Tian 2022,
    Theorems 3 to 6.

    Attributes
    ----------
    rule : str, ``erm`` (Theorem 3), ``sco`` (Theorem 4) or ``strongly_convex`` (Theorems 5 and 6)
    n, d : int, records, ambient dimension
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
        """Inverse temperature and weight for a scale >= 0; in the limit 0 k is infinite.

        Returns
        -------
        k, mu : float
            The target law is ``exp(-k (F + mu r))``; for ``strongly_convex`` ``exp(-k F)`` with mu the losses' own.
        """
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
