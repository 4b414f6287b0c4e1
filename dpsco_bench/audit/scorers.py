"""One real score per run, by a rule that is fixed on runs that are not tested."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpsco_bench.audit.subject import Factory
from dpsco_bench.audit.transcript import BINS, NeighbourRun, Recording, log_ratio
from dpsco_bench.errors import NumericalFailure
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import NoisyMinimumQuery

Array = np.ndarray
Runs = tuple[Array, Array, Array]
"""Features ``(R, K)``, outputs ``(R, d)`` and ``(R,)`` of bool: no replay of the transcript explains the output."""
Normals = tuple[tuple[Array, Array], tuple[Array, Array]]
BLOCK_BYTES = 1 << 26
"""Memory for the transcripts of the replicates that run at once; with more of it steps leave the caches."""
RIDGE = 1e-9
STATISTICS = ("transcript", "output")
MOST_DIMENSIONS = 64  # most dimensions of outputs whose covariances are learned
ROWS, STRAY_ROWS = 10, 4
"""Outputs for each dimension from which a covariance is learned, and of those that no replay explains."""


def run_pairs(
    setting: NeighbourRun, statistic: str, side: int, stream: int, runs: int, seed: int, mechanism: Factory = Mechanism
) -> Iterator[Runs]:
    """Make runs on one data set of the pair, block by block; those of different streams, and sides, are independent.

    Nothing is recorded for the statistic ``output``: a compiled run stands in for a reference that has one.

    Raises NumericalFailure on non-finite outputs.
    """
    what = setting.cell.run_key(2 * stream + side)
    for first, count in blocks_of(setting, statistic, runs):
        source = mechanism(setting.plan, setting.scales, what, seed, first, count)
        recorder = Recording(source) if statistic == "transcript" else None
        output = setting.execute(setting.pair[side], recorder or source, count)
        if not np.isfinite(output).all():
            raise NumericalFailure(f"non-finite iterates: audit of {setting.cell.algorithm}")
        if recorder is None:
            yield output, output, np.zeros(count, dtype=bool)
        else:
            features, strays = log_ratio(setting, recorder, output)
            yield features, output, strays


def blocks_of(setting: NeighbourRun, statistic: str, runs: int) -> list[tuple[int, int]]:
    """Split runs into ``(first, count)`` blocks that hold a bounded transcript and a bounded number of margins."""
    queries, dimension = setting.plan.queries, setting.cell.problem_entry.dimension
    width = 2 * dimension if any(isinstance(q, NoisyMinimumQuery) for q in queries) else dimension
    kept = 1 + 2 * (1 + setting.hides_batches) if statistic == "transcript" else 0
    values = sum(q.releases for q in queries) * (kept * width + 4) + setting.cell.n * dimension + 8 * dimension
    size = max(1, min(runs, BLOCK_BYTES // (8 * values)))
    return [(first, min(size, runs - first)) for first in range(0, runs, size)]


@dataclass(frozen=True)
class Scorer:
    """A rule from features and outputs to one real number, learned on runs that are not tested.

    The ``weights (K,)`` of features are infinite where a sign decides. In place of the weighted sum stands, for all
    outputs (``curved``) or for those that no replay explains (``strays``), a log ratio of two normal densities.
    """

    label: str
    weights: Array
    curved: Normals | None = None
    strays: Normals | None = None

    def __call__(self, features: Array, outputs: Array, strays: Array) -> Array:
        """Score runs ``(R,)``; ``strays (R,)`` tells which outputs no replay explains."""
        if self.curved is not None:
            return _normal_ratio(outputs, *self.curved)
        if self.strays is None:
            return _weigh(features, self.weights)
        # not to be led to an output is no certainty either
        scores = _weigh(np.where(np.isinf(features), 0.0, features), self.weights)
        return np.where(strays, _normal_ratio(outputs, *self.strays), scores)


def candidate_scorers(statistic: str, sides: tuple[Runs, Runs]) -> list[Scorer]:
    """List rules to choose from, of what `run_pairs` gives of runs on either data set.

    The plain transcript statistic is the log density ratio of the declared mechanism; the plain output statistic is
    the projection on the difference of means. Beside it stands for outputs the ratio of two normal densities with their
    own covariances, and beside both the same ratio for outputs that no replay explains.
    """
    (features, outputs, strays), (others, other_outputs, other_strays) = sides
    weights = candidate_weights(statistic, features, others)
    found = [Scorer(*own) for own in zip((statistic, f"{statistic}, weighted"), weights, strict=False)]
    curved = normal_sides(outputs, other_outputs) if statistic == "output" else None
    if curved is not None:
        found.append(Scorer("output, density ratio", found[0].weights, curved))
    apart = normal_sides(outputs[strays], other_outputs[other_strays], STRAY_ROWS)
    if apart is not None:
        found.append(Scorer(f"{statistic}, unexplained outputs", found[0].weights, strays=apart))
    return found


def candidate_weights(statistic: str, features: Array, others: Array) -> list[Array]:
    """List weights to choose from: the plain statistic, and the linear discriminant learned from the features.

    The discriminant takes correlations into account and so finds, e.g., noise that is drawn once and used again.
    """
    with np.errstate(invalid="ignore"):  # infinities of both signs
        difference = features.mean(axis=0) - others.mean(axis=0)
    plain = np.ones(BINS) if statistic == "transcript" else difference
    if not np.isfinite(difference).all():
        return [plain]
    spread = 0.5 * (np.atleast_2d(np.cov(features.T)) + np.atleast_2d(np.cov(others.T)))
    scale = np.trace(spread) / len(spread)
    if scale == 0:
        return [plain]
    return [plain, np.linalg.solve(spread + RIDGE * scale * np.eye(len(spread)), difference)]


def normal_sides(outputs: Array, others: Array, rows: int = ROWS) -> Normals | None:
    """Means and inverse covariances of the outputs on either data set; None for too few runs, or no spread."""
    d = outputs.shape[1]
    if d > MOST_DIMENSIONS or min(len(outputs), len(others)) < rows * d:
        return None
    found = []
    for own in (outputs, others):
        spread = np.atleast_2d(np.cov(own.T))
        scale = np.trace(spread) / d
        if not scale > 0.0:
            return None
        found.append((own.mean(axis=0), np.linalg.inv(spread + RIDGE * scale * np.eye(d))))
    return found[0], found[1]


def _normal_ratio(outputs: Array, first: tuple[Array, Array], second: tuple[Array, Array]) -> Array:
    squares = [np.einsum("ri,ij,rj->r", outputs - m, inverse, outputs - m) for m, inverse in (first, second)]
    return np.asarray(0.5 * (squares[1] - squares[0]))


def _weigh(features: Array, weights: Array) -> Array:
    """Weighted sums; infinite features decide alone, and by their signs."""
    infinite = np.isinf(features)
    finite = np.where(infinite, 0.0, features) @ weights
    decided = np.sign(np.where(infinite, np.sign(features), 0.0).sum(axis=1))
    return np.where(decided == 0, finite, np.where(decided > 0, np.inf, -np.inf))
