"""Linear losses ``f(x, z) = -<x, z>`` with a free signal strength, and their samples: the excess risk is exact.

Rows are signal-major: of ``S R`` rows, row i has signal ``i // R`` and replicate ``i % R``. All signals share their
random numbers. Arrays of records are made on the host, in float64.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, to_numpy
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.ball import Ball
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.problems.base import Constants, Draws, Problem, Trait, option
from dpsco_bench.problems.constants import Need
from dpsco_bench.problems.data import Kinds, Levels, Listed, axis_kinds, like
from dpsco_bench.problems.families import SignalFamily, SlopeLosses, consecutive
from dpsco_bench.problems.registry import problem

Array = Any

BLOCK_VALUES = 1 << 16
"""Record entries that are drawn at once."""
MOST_SUMMED = 1 << 14
"""Most record entries of one replicate that are drawn one by one for a mean."""
MOST_STORED = 1 << 24
"""Most record entries of one replicate that are kept for batches with replacement."""
_ONE_WAY = "records that a run looks at in one way only: sums of many are drawn by themselves"


class LinearSample:
    """Records of ``R`` replicates at ``S`` signals."""

    def __init__(self, n: int, d: int, draws: Draws, signals: int) -> None:
        self.n, self.d, self.signals = n, d, signals
        self.draws, self.replicates = draws, draws.replicates
        self._latest: tuple[tuple[int, int], np.ndarray] | None = None
        self._block: tuple[int, np.ndarray] = (0, np.empty((0, self.rows, d)))

    @property
    def rows(self) -> int:
        return self.signals * self.replicates

    def latest_mean(self, first: int, count: int) -> np.ndarray:
        """`mean`, kept until another one is asked for: a full-batch method asks for the same records every step."""
        if self._latest is None or self._latest[0] != (first, count):
            self._latest = ((first, count), self.mean(first, count))
        return self._latest[1]

    def mean(self, first: int, count: int) -> np.ndarray:
        """Mean of records ``first .. first + count - 1`` of every row, shape ``(S R, d)``."""
        return self.records(first, count).mean(axis=1)

    def records(self, first: int, count: int) -> np.ndarray:
        """Draw records ``first .. first + count - 1`` of every row, shape ``(S R, count, d)``."""
        return self.chosen(consecutive(self.rows, first, count))

    def single(self, index: int) -> np.ndarray:
        """Record ``index`` of every row, shape ``(S R, d)``; consecutive ones come from one draw."""
        first, block = self._block
        if not first <= index < first + len(block):
            count = min(self.n - index, max(1, BLOCK_VALUES // (self.rows * self.d)))
            first, block = self._block = index, self.drawn(index, count)
        return block[index - first]

    def drawn(self, first: int, count: int) -> np.ndarray:
        """Draw records ``first .. first + count - 1`` of every row, shape ``(count, S R, d)``."""
        return self.records(first, count).swapaxes(0, 1)

    def chosen(self, indices: np.ndarray) -> np.ndarray:
        """Draw records ``indices (S R, W)`` of every row, shape ``(S R, W, d)``."""
        raise InputError("sample", type(self).__name__, "a sample with records")

    def kinds(self, drawn: bool) -> Listed | None:
        """See `Problem.form_kinds`."""
        return None

    def uniform(self, name: str, first: int, count: int, dim: int) -> np.ndarray:
        """Uniform numbers of ``count`` records from ``first`` on, shape ``(count, R, dim)``."""
        return to_numpy(self.draws.stream(name).uniform(*self.draws.box(first, count, dim)))

    def per_row(self, signals: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the replicate of every row, and its value of ``signals (S,)``, both shaped ``(S R, 1, .., 1)``."""
        shape = (-1, *(1,) * width)
        replicate = np.tile(np.arange(self.replicates), self.signals)
        return replicate.reshape(shape), np.repeat(signals, self.replicates).reshape(shape)


class SignSample(LinearSample):
    """Independent signs: ``z_j = scale`` with the signal's chance of coordinate j, else ``-scale``.

    The mean of many records is drawn as binomial counts, from a stream of its own: a run may look at such records in no
    other way. ``chances (S, d)`` are the probabilities of a plus; where they differ between signals, all in the same
    order.
    """

    def __init__(self, n: int, draws: Draws, chances: np.ndarray, scale: float) -> None:
        super().__init__(n, chances.shape[1], draws, chances.shape[0])
        self.chances, self.scale = chances, scale
        self._sums: dict[tuple[int, int], np.ndarray] = {}

    def mean(self, first: int, count: int) -> np.ndarray:
        if count == 1 or count * self.d <= MOST_SUMMED:
            self._refuse_summed(first, count)
            return self.single(first) if count == 1 else self.drawn(first, count).mean(axis=0)
        if (first, count) not in self._sums:
            if "_levels" in vars(self):
                raise InputError("records", f"{first}..{first + count - 1}", _ONE_WAY)
            pluses = binomial_quantile(self.uniform("sums", first, 1, self.d), count, self.chances[:, None, :])
            self._sums[first, count] = self.scale * (2.0 * pluses / count - 1.0).reshape(self.rows, self.d)
        return self._sums[first, count]

    def records(self, first: int, count: int) -> np.ndarray:
        """Return records as drawn, one after the other."""
        self._refuse_summed(first, count)
        return self.drawn(first, count).swapaxes(0, 1)

    def chosen(self, indices: np.ndarray) -> np.ndarray:
        replicate, rank = self.per_row(ranks(self.chances.sum(axis=1)), 1)
        return signed(self._levels[replicate, indices] > rank[:, :, None], self.scale)

    def kinds(self, drawn: bool) -> Levels | None:
        return Levels(self._levels, ranks(self.chances.sum(axis=1)), self.scale) if drawn else None

    def drawn(self, first: int, count: int) -> np.ndarray:
        u = self.uniform("records", first, count, self.d)
        signs = self.chances[:, None, :] - u[:, None]  # a plus where u is below the chance
        return np.copysign(self.scale, signs, out=signs).reshape(count, self.rows, self.d)

    @cached_property
    def _levels(self) -> np.ndarray:
        """Shape ``(R, n, d)``, a byte each."""
        self._refuse_summed(0, self.n)
        if self.n * self.d > MOST_STORED:
            raise InputError("n d", self.n * self.d, f"at most {MOST_STORED} for batches with replacement")
        levels = np.empty((self.replicates, self.n, self.d), dtype=np.uint8)
        size = max(1, BLOCK_VALUES // (self.replicates * self.d))
        for first in range(0, self.n, size):
            u = self.uniform("records", first, min(size, self.n - first), self.d).swapaxes(0, 1)
            levels[:, first : first + size] = sum((u < chance).view(np.uint8) for chance in self.chances)
        return levels

    def _refuse_summed(self, first: int, count: int) -> None:
        if any(start < first + count and first < start + length for start, length in self._sums):
            raise InputError("records", f"{first}..{first + count - 1}", _ONE_WAY)


class OneHotSample(LinearSample):
    """``z = e_J`` with the signal's chance ``(S,)``, else ``-e_J``; J uniform."""

    def __init__(self, n: int, d: int, draws: Draws, chances: np.ndarray) -> None:
        super().__init__(n, d, draws, len(chances))
        self.chances = chances
        self._places = to_numpy(draws.stream("places").integers(*draws.box(0, n, 1), high=d))[:, :, 0].T
        self._signs = self.uniform("signs", 0, n, 1)[:, :, 0].T

    def chosen(self, indices: np.ndarray) -> np.ndarray:
        replicate, chance = self.per_row(self.chances, 1)
        signs = signed(self._signs[replicate, indices] < chance)
        rows = np.zeros((*indices.shape, self.d))
        np.put_along_axis(rows, self._places[replicate, indices][:, :, None], signs[:, :, None], axis=2)
        return rows

    def kinds(self, drawn: bool) -> Kinds | None:
        axes = np.eye(self.d)
        return axis_kinds(self._places, self._signs >= self.chances[:, None, None], np.concatenate([axes, -axes]), None)


def signed(pluses: np.ndarray, scale: float = 1.0) -> np.ndarray:
    """``scale`` where that is true, else ``-scale``: a product, as random branches take four times as long."""
    found = np.multiply(pluses, 2.0 * scale)
    found -= scale
    return found


def ranks(strengths: np.ndarray) -> np.ndarray:
    """Rank the signals from the strongest to the weakest, uint8."""
    found = np.empty(len(strengths), dtype=np.uint8)
    found[np.argsort(-strengths, kind="stable")] = np.arange(len(strengths))
    return found


def binomial_quantile(u: np.ndarray, count: int, chance: np.ndarray) -> np.ndarray:
    """Find the least k with ``P(Bin(count, chance) <= k) >= u``, float64; chances of few values, broadcast with u."""
    u, chance = np.broadcast_arrays(u, chance)
    values, which = np.unique(chance, return_inverse=True)
    counts = np.empty(u.shape)
    for number, value in enumerate(values):
        here = which.reshape(u.shape) == number
        first, cumulative = _binomial_table(count, float(value))
        counts[here] = first + np.searchsorted(cumulative, u[here])
    return counts


def _binomial_table(count: int, chance: float) -> tuple[int, np.ndarray]:
    """Distribution function from a first count on, as far as its tails are above 1e-22: from ratios of neighbours."""
    if chance in (0.0, 1.0):
        return int(count * chance), np.ones(1)
    reach = 10.0 * np.sqrt(count * chance * (1.0 - chance)) + 50.0
    first = max(0, int(count * chance - reach))
    k = np.arange(first, min(count, int(count * chance + reach) + 1) + 1, dtype=np.float64)
    logs = np.concatenate([[0.0], np.cumsum(np.log((count - k[:-1]) / (k[1:]) * (chance / (1.0 - chance))))])
    masses = np.exp(logs - logs.max())
    return first, np.cumsum(masses / masses.sum())[:-1]


class LinearOracle(Problem):
    """``F(x) = -<c, x>`` for every record, c the `mean_record`, over the unit ball of l_p."""

    shares_records: ClassVar[bool] = True
    p: float

    def mean_record(self, data: Any = None) -> np.ndarray:
        """Return ``c``, shape ``(d,)``; by default ``e_1``."""
        return np.eye(1, self.dimension)[0]

    def mean_gradient(self, x: Array, data: Any) -> Array:
        return 0.0 * x - like(self.mean_record(data), x)

    def risk(self, x: Array, data: Any) -> Array:
        return -array_namespace(x).sum(like(self.mean_record(data), x) * x, axis=-1)

    def optimal_risk(self, data: Any) -> float:
        return -float(np.linalg.norm(self.mean_record(data), ord=dual_exponent(self.p)))


class LinearLosses(SlopeLosses, SignalFamily):
    """``f(x, z) = -<x, z>`` over the unit ball of l_p, with records z whose mean is set by a signal.

    The signal enters as ``min(1, signal * unit)``; subclasses choose the unit by the cell, so that the signal stays at
    the scale of the noise along a sweep (a fixed one decays faster than a bound and proves nothing).
    """

    sign: ClassVar[float] = -1.0
    p: float = option(2.0, "norm of the ball", within="[1, inf]")
    declared_smoothness: float = option(1.0, "the declared L1; the true one is 0", within="[0, inf)")

    @property
    def traits(self) -> frozenset[Trait]:  # type: ignore[override]
        """Linear; smooth for those who ask for a positive constant, where one is declared."""
        own = {Trait.CONVEX, Trait.LIPSCHITZ, Trait.LINEAR_LOSS}
        return frozenset(own | {Trait.SMOOTH} if self.declared_smoothness > 0 else own)

    def lacking(self, need: Need) -> str:
        declared = f"; declared_smoothness = {self.declared_smoothness:g}: must be > 0"
        return super().lacking(need) + declared * (need is Trait.SMOOTH)

    @property
    def means(self) -> np.ndarray:
        """Mean record of the population (of the sample, where it is fixed) at each signal, shape ``(S, d)``."""
        raise InputError("problem", self.name, "a problem with means")

    @property
    def own_constants(self) -> Constants:
        """L0 = 1 in l_p, the declared L1, M = 2."""
        return linear_constants(ball_name(self.p), self.p, self.declared_smoothness)

    def form_kinds(self, data: Any, drawn: bool) -> Listed | None:
        return data.kinds(drawn) if isinstance(data, LinearSample) else None

    def excess_risk(self, x: Array, data: Any) -> Array:
        return self.risk(x, data) - like(self.optimal_risk(data), x)

    def risk(self, x: Array, data: Any) -> Array:
        xp, means = array_namespace(x), self.means
        return -xp.sum(like(np.repeat(means, x.shape[0] // len(means), axis=0), x) * x, axis=-1)

    def optimal_risk(self, data: Any) -> np.ndarray:
        return -np.repeat(self.dual_norm(self.means), data.replicates)

    def dual_norm(self, vectors: np.ndarray) -> np.ndarray:
        """Largest ``<v, x>`` over the domain of each row of ``vectors (S, d)``."""
        return np.linalg.norm(vectors, ord=dual_exponent(self.p), axis=-1)


def linear_constants(domain: str, norm: float, smoothness: float = 0.0, **further: Any) -> Constants:
    """Compute the constants for records of dual norm 1 on a set of diameter 2: L0 = 1, and a declared L1."""
    given = {"initial_gap": 1.0, "initial_distance": 1.0, "diameter": 2.0, "hessian_rank": 0.0, **further}
    return Constants(1.0, smoothness, domain=domain, norm=norm, **given)


def ball_name(p: float) -> str:
    """Name the l_p ball."""
    return Ball(p, 1.0).name


@problem
class Onehot(LinearLosses):
    """``z = +-e_J`` with J uniform and ``P(+) = (1 + b)/2``, so that the mean is ``b/d`` everywhere.

    ``b = min(1, signal * unit)`` with ``unit = max{sqrt(d/n), d sqrt(l)/(eps n)}``, or its first term alone.
    """

    name = "onehot"
    summary = "linear losses with one-entry records on the unit l_p ball, p >= 2; population risk"
    source = "instance `onehot` for Bassily, Guzman, Nandi 2021, Proposition 13"
    default_dimension = 8
    p: float = option("inf", within="[2, inf]")
    unit_name: str = option(
        "both",
        "of the signal: both terms, or the first alone, for runs without noise",
        choices=("both", "statistical"),
        key="unit",
    )
    signal = option(1.0, "b = min(1, signal * unit)")

    @property
    def unit(self) -> float:
        n, d = self.count, self.dimension
        noise = d * math.sqrt(-math.log(self.delta)) / (self.epsilon * n) if self.unit_name == "both" else 0.0
        return max(math.sqrt(d / n), noise)

    @property
    def means(self) -> np.ndarray:
        return np.repeat(self.strengths[:, None] / self.dimension, self.dimension, axis=1)

    def sample(self, n: int, draws: Draws) -> Any:
        return OneHotSample(n, self.dimension, draws, 0.5 + 0.5 * self.strengths)
