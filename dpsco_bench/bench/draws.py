"""Draws (G1, G7, report noisy max), mean gradients (G6, P8) and projections (P10) against NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from dpsco_bench.bench.measure import AT_LEAST, AT_MOST, BenchCase, NotMeasurable, Pair, goal
from dpsco_bench.fused.compiled import available
from dpsco_bench.fused.gradients import mean_gradient, one_pass
from dpsco_bench.geometry.norms import project_l2
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import NoisyMinimumQuery, make_plan
from dpsco_bench.problems.glm import RidgeLogistic
from dpsco_bench.problems.objective import Objective
from dpsco_bench.rng.streams import Stream, stream_key

VALUES = 1 << 16
NOISE_LIMIT = "ten rounds of words, a logarithm and a root, as fast as the vectors of this core are wide"
NOISE_SHAPES = ((8, 64, 128), (16, 256, 16), (64, 102, 10))
"""Steps, replicates, dimension: about 64k values; ten is no multiple of a block of four."""
SIZES = ((64, 4096, 128), (256, 16384, 128), (64, 4096, 512))  # replicates, records, dimension
GENERALISED_LIMIT = "a row has a radius of its own, with words, a root and a power, which rows of four share among four"
GENERALISED_SHAPES = ((64, 256, 4), (16, 256, 16), (8, 64, 128), (1, 64, 1024))  # as above
SCORE_SIZES = ((256, 64), (256, 256), (64, 1024), (256, 1024))
"""Replicates, dimension: there are 2d scores. The first size is too small to be lazy about."""
RANGE = 0.9  # of the scores, in noise scales; at epsilon = 1 Frank-Wolfe has 0.2 to 0.9
STEPS = 8
PART = (200_000, 54)  # records and dimension of a part of Figures 1 and 2: Covertype
ALONE = 2
PART_ROWS = (2, 8, 24)
"""Replicates of a step: of the reference implementation, of a cell of Figure 2, and of one of Figure 1 in full."""
BALL_SIZES = ((12, 8), (64, 128), (512, 128))
RADIUS = 1.0


@goal("G1", "the noise layer")
def noise_cases() -> Iterator[BenchCase]:
    """Both kinds of noise in blocks of 64k."""
    for kind, shape in product(("normal", "laplace"), NOISE_SHAPES):
        case, peer = f"{kind} noise, rows of {shape[2]}", "standard_normal, float32, blocks of 64k"
        yield BenchCase("G1", case, peer, "value", AT_MOST, 0.17, partial(_noise_pair, kind, shape), NOISE_LIMIT)


def _noise_pair(kind: str, shape: tuple[int, int, int]) -> Pair:
    draw = getattr(Stream(stream_key(0, "bench", kind)), kind)
    steps, replicates, dim = shape
    generator, block = np.random.default_rng(0), np.empty(VALUES, dtype=np.float32)
    peer = partial(generator.standard_normal, out=block, dtype=np.float32)
    return Pair(lambda: draw(0, steps, 0, replicates, dim), peer, steps * replicates * dim, VALUES)


@goal("G7", "generalised Gaussian draws against gamma and power in NumPy")
def generalised_cases() -> Iterator[BenchCase]:
    """In blocks of 64k, for exponents that p = 1.5 and p = 1 with large dimensions lead to."""
    for r, shape in product((3.0, 10.0), GENERALISED_SHAPES):
        case, build = f"GG draws, r = {r:g}, rows of {shape[2]}", partial(_generalised_pair, r, shape)
        yield BenchCase("G7", case, "gamma and power in NumPy", "value", AT_LEAST, 5.0, build, GENERALISED_LIMIT)


def _generalised_pair(r: float, shape: tuple[int, int, int]) -> Pair:
    stream, generator = Stream(stream_key(0, "bench", "generalised")), np.random.default_rng(0)
    steps, replicates, dim = shape
    ours = partial(stream.generalised_gaussian, 0, steps, 0, replicates, dim, r)
    peer, values = partial(gamma_and_power, generator, steps * replicates, dim, r), steps * replicates * dim
    return Pair(ours, peer, values, values)


def gamma_and_power(generator: np.random.Generator, rows: int, dim: int, r: float) -> np.ndarray:
    """Vectors ``(rows, dim)`` of density ``~ exp(-||z||_r^2/2)`` as a careful script draws them."""
    magnitude = generator.standard_gamma(1.0 + 1.0 / r, (rows, dim))
    magnitude **= 1.0 / r
    uniform = generator.random((rows, dim))
    uniform *= 2.0
    uniform -= 1.0
    magnitude *= uniform
    norm = np.sum(np.abs(magnitude) ** r, axis=-1, keepdims=True) ** (1.0 / r)
    magnitude *= np.sqrt(generator.chisquare(dim, (rows, 1))) / norm
    return magnitude


@goal("noisy_max", "report noisy max from few draws against all noise")
def minimum_cases() -> Iterator[BenchCase]:
    """Shown without goals."""
    peers = (("eager", partial(_released, lazy=False)), ("NumPy", _numpy))
    for (replicates, d), (name, peer) in product(SCORE_SIZES, peers):
        case, build = f"noisy max, {name}, R/d = {replicates}/{d}", partial(_minimum_pair, replicates, d, peer)
        yield BenchCase("noisy_max", case, "all 2d Laplace variates", "score", AT_LEAST, None, build)


def _minimum_pair(replicates: int, d: int, peer: Callable[[np.ndarray], None]) -> Pair:
    scores = RANGE * np.random.default_rng(0).random((replicates, 2 * d))
    work = STEPS * scores.size
    return Pair(lambda: _released(scores), lambda: peer(scores), work, work)


def _released(scores: np.ndarray, lazy: bool = True) -> None:
    """Release the same scores in all steps of a fresh mechanism."""
    query = NoisyMinimumQuery("vertex", 1.0, STEPS, lazy=lazy)
    mechanism = Mechanism(make_plan(query, gradient_evaluations=0), {"vertex": 1.0}, "bench", 0, 0, len(scores))
    for step in range(STEPS):
        mechanism.release("vertex", scores, step)


def _numpy(scores: np.ndarray) -> None:
    generator = np.random.default_rng(0)
    for _ in range(STEPS):
        np.argmin(scores + generator.laplace(size=scores.shape), axis=-1)


@goal("G6", "full-batch gradients against their matrix products")
def cases() -> Iterator[BenchCase]:
    """Yield the full-batch gradient of `ridge_logistic` in float64."""
    for replicates, n, d in SIZES:
        case, build = f"mean gradient, float64, R/n/d = {replicates}/{n}/{d}", partial(_pair, replicates, n, d)
        limit = "between the products all margins go through tanh, in a pass of its own"
        yield BenchCase("G6", case, "its two matrix products", "margin", AT_LEAST, 0.8, build, limit)


def _pair(replicates: int, n: int, d: int) -> Pair:
    problem = RidgeLogistic(d)
    data = problem.draw(n, lambda name: Stream(stream_key(0, "bench", name)))
    objective = Objective(problem, data, replicates)
    x = np.random.default_rng(0).standard_normal((replicates, d))
    slopes = problem.slope(x @ data.features.T, data.labels)
    margins, gradient, work = np.empty_like(slopes), np.empty_like(x), replicates * n

    def products() -> None:  # both of a gradient, into arrays that are there already, from slopes that are given
        np.matmul(x, data.features.T, out=margins)
        np.matmul(slopes, data.features, out=gradient)

    return Pair(lambda: objective.mean_gradient(x), products, work, work)


@goal("P8", "full-batch steps of Figures 1 and 2 against cells one after the other at R = 2")
def part_cases() -> Iterator[BenchCase]:
    """Yield the mean gradient of DP-GD against the reference's with two replicates; time of one replicate."""
    for rows in PART_ROWS:
        case = f"mean gradient of DP-GD, R/n/d = {rows}/{PART[0]}/{PART[1]}"
        several = f"reference implementation: a step of {rows} against steps of {ALONE}"
        peer = several if rows != ALONE else f"its reference implementation, R = {ALONE}"
        yield BenchCase("P8", case, peer, "margin", AT_LEAST, None, partial(_part_pair, rows))


def _part_pair(rows: int) -> Pair:
    if not available():
        raise NotMeasurable("Numba is missing or switched off: the reference implementation runs")
    problem, (n, d) = RidgeLogistic(PART[1]), PART
    data = problem.draw(n, lambda name: Stream(stream_key(0, "bench", name)))
    x = np.random.default_rng(0).standard_normal((rows, d))
    ours, alone = Objective(problem, data, rows), Objective(problem, data, ALONE)

    def gradient() -> Any:
        return mean_gradient(ours, x) if one_pass(ours) else ours.mean_gradient(x)

    return Pair(gradient, lambda: alone.mean_gradient(x[:ALONE]), rows * n, ALONE * n)


def careless(x: np.ndarray) -> np.ndarray:
    """Shrink what lies outside; squares may overflow and vanish."""
    length = np.sqrt(np.einsum("ij,ij->i", x, x))
    return x * (RADIUS / np.maximum(length, RADIUS))[:, None]


@goal("P10", "the projection on an l2 ball against four calls of NumPy")
def projection_cases() -> Iterator[BenchCase]:
    """P10: rows inside and outside the ball, float64."""
    for replicates, d in BALL_SIZES:
        case, peer = f"project_l2, R/d = {replicates}/{d}", "einsum, sqrt, maximum, product"
        limit = "of an array so small the calls are seen, and one more asks whether squares may overflow"
        yield BenchCase("P10", case, peer, "entry", AT_MOST, 1.5, partial(_ball_pair, replicates, d), limit)


def _ball_pair(replicates: int, d: int) -> Pair:
    lengths = np.geomspace(0.1, 10.0, replicates)[:, None]
    x = np.random.default_rng(0).standard_normal((replicates, d)) * lengths / d**0.5
    return Pair(lambda: project_l2(x, RADIUS), lambda: careless(x), x.size, x.size)
