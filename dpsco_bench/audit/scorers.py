"""One real score per run, by a rule that is fixed on runs that are not tested."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpsco_bench.audit.replay import Recording
from dpsco_bench.audit.transcript import BINS, NeighbourRun, log_ratio
from dpsco_bench.errors import NumericalFailure
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import NoisyMinimumQuery

Array = np.ndarray
Runs = tuple[Array, Array, Array]
Normals = tuple[tuple[Array, Array], tuple[Array, Array]]
MechanismFactory = Callable[..., Any]
BLOCK_BYTES = 1 << 26
"""Memory for the transcripts of the replicates that run at once; with more of it steps leave the caches."""
RIDGE = 1e-9
STATISTICS = ("transcript", "output")
ATOM = 3
"""Equal outputs that make an atom: fewer may be chance."""
DIGITS = 9
"""Outputs that agree in so many digits are equal."""
FINITE = 1e12
"""Beside atoms, what an infinite score of another kind becomes."""
MOST_DIMENSIONS = 64
"""Of outputs whose covariances are learned."""
ROWS, STRAY_ROWS = 10, 4
"""Outputs for each dimension from which a covariance is learned, and of those that no replay explains."""


def run_pairs(
    setting: NeighbourRun,
    statistic: str,
    side: int,
    stream: int,
    runs: int,
    seed: int,
    mechanism: MechanismFactory = Mechanism,
) -> Iterator[tuple[Array, Array, Array]]:
    """Features and outputs of independent runs on one data set of the pair, block by block.

    Nothing is recorded for the statistic ``output``: a fused run stands in for a listing that has one.

    Raises NumericalFailure on non-finite outputs.

    Parameters
    ----------
    stream : int, runs of different streams, and of the two sides, are independent

    Yields
    ------
    arrays (R, K), (R, d), and (R,) of bool: whether no replay of the transcript explains the output
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

    Attributes
    ----------
    label : str
        What it looks at.
    weights : array (K,)
        Of the features. Infinite features decide alone, and by their signs.
    curved : pair of (mean, inverse covariance), or None
        Of the two sides: the log ratio of two normal densities in place of the weighted sum.
    atoms : dict of bytes to float
        Scores of outputs that occurred again and again: infinite for those of one side alone.
    strays : pair as `curved`, or None
        The same of outputs that no replay explains, which their log ratio decides.
    """

    label: str
    weights: Array
    curved: Normals | None = None
    atoms: dict[bytes, float] | None = None
    strays: Normals | None = None

    def __call__(self, features: Array, outputs: Array, strays: Array | None = None) -> Array:
        """Scores ``(R,)``; ``strays (R,)``: which outputs no replay explains, none by default."""
        if self.strays is not None and strays is not None:  # then not to be led to an output is no certainty either
            scores = _weigh(np.where(np.isinf(features), 0.0, features), self.weights)
            scores = np.where(strays, _normal_ratio(outputs, *self.strays), scores)
        elif self.curved is None:
            scores = _weigh(features, self.weights)
        else:
            scores = _normal_ratio(outputs, *self.curved)
        if not self.atoms:
            return scores
        scores = np.clip(scores, -FINITE, FINITE)  # an infinite score is an atom's alone
        for row, key in enumerate(_keys(outputs)):
            scores[row] = self.atoms.get(key, scores[row])
        return scores


def candidate_scorers(statistic: str, sides: tuple[Runs, Runs]) -> list[Scorer]:
    """Rules to choose from, of what `run_pairs` gives of runs on either data set.

    The plain transcript statistic is the log density ratio of the declared mechanism; the plain output statistic is
    the projection on the difference of means. Beside both stands the same with atoms, and for outputs the ratio of two
    normal densities with their own covariances, and with atoms: an estimate of the density ratio of the output.
    """
    (features, outputs, strays), (others, other_outputs, other_strays) = sides
    labels = (statistic, f"{statistic}, weighted")
    found = [
        Scorer(label, weights)
        for label, weights in zip(labels, candidate_weights(statistic, features, others), strict=False)
    ]
    atoms = find_atoms(outputs, other_outputs, one_sided=statistic == "transcript")
    if statistic == "output":
        curved = normal_sides(outputs, other_outputs)
        if curved is not None:
            found.append(Scorer("output, density ratio", found[0].weights, curved))
    apart = normal_sides(outputs[strays], other_outputs[other_strays], STRAY_ROWS)
    if apart is not None:
        found.append(Scorer(f"{statistic}, unexplained outputs", found[0].weights, strays=apart))
    if atoms:
        found += [replace(known, label=f"{known.label}, atoms", atoms=atoms) for known in (found[0], found[-1])]
    return found


def find_atoms(outputs: Array, others: Array, one_sided: bool) -> dict[bytes, float]:
    """Scores of outputs that occur `ATOM` times or more among runs on either data set.

    Infinite for those of one data set alone; of the others the log ratio of their counts, or nothing where a statistic
    that knows the densities (``one_sided``) says more of them.
    """
    counts: dict[bytes, list[int]] = {}
    for side, rows in enumerate((outputs, others)):
        for key in _keys(rows):
            counts.setdefault(key, [0, 0])[side] += 1
    found = {}
    for key, (here, there) in counts.items():
        if here + there < ATOM:
            continue
        if min(here, there) == 0:
            found[key] = np.inf if here else -np.inf
        elif not one_sided:
            found[key] = float(np.log((here + 0.5) / (there + 0.5)))
    return found


def _keys(outputs: Array) -> Iterator[bytes]:
    size = np.abs(outputs).max(initial=0.0, axis=-1, keepdims=True)
    unit = 10.0 ** np.floor(np.log10(np.where(size > 0.0, size, 1.0)))
    rounded = np.round(outputs / unit, DIGITS - 1) * unit + 0.0
    return (row.tobytes() for row in np.ascontiguousarray(rounded))


def candidate_weights(statistic: str, features: Array, others: Array) -> list[Array]:
    """Weights to choose from: the plain statistic, and the linear discriminant learned from the features.

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
    """Log ratio of two normal densities, up to a constant."""
    squares = [np.einsum("ri,ij,rj->r", outputs - m, inverse, outputs - m) for m, inverse in (first, second)]
    return np.asarray(0.5 * (squares[1] - squares[0]))


def _weigh(features: Array, weights: Array) -> Array:
    """Weighted sums; infinite features decide alone, and by their signs."""
    infinite = np.isinf(features)
    finite = np.where(infinite, 0.0, features) @ weights
    decided = np.sign(np.where(infinite, np.sign(features), 0.0).sum(axis=1))
    return np.where(decided == 0, finite, np.where(decided > 0, np.inf, -np.inf))
