"""What the suite measures of a case. The tests say what must hold of it, the mutation tests what a fault changes."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.privacy.records import Poisson
from dpsco_bench.privacy.transcript import Recorder, Replay

ROUNDING = 1e-9


def forced_outputs(case):
    """Outputs of a run and of another one that is given the first one's released values and batches."""
    first = case.run(Recorder)
    return first.output, case.run(partial(Replay, first.mechanism.transcript)).output


@dataclass
class Evaluations:
    """Gradient evaluations of a run.

    Attributes
    ----------
    counted : array (R,)
        What the objective counted.
    explained : array (R,)
        The same as a constant plus a multiple of each Poisson query's drawn batch sizes.
    expected : float
        That at the expected batch sizes.
    spread : float
        Five standard deviations of the mean of ``counted``.
    """

    counted: np.ndarray
    explained: np.ndarray
    expected: float
    spread: float


def evaluations(case, replicates=32):
    """Counted evaluations, with the drawn sizes of Poisson batches taken into account."""
    outcome = case.run(Recorder, replicates=replicates)
    counted = to_numpy(outcome.objective.evaluations)
    random = [q for q in case.plan.queries if isinstance(q.records, Poisson)]
    if not random:
        return Evaluations(counted, np.full(replicates, counted[0]), float(counted[0]), 0.0)
    batches = outcome.mechanism.transcript.batches
    drawn = np.stack([sum(to_numpy(b.sizes) for b in batches[q.name].values()) for q in random], axis=1)
    design = np.column_stack([np.ones(replicates), drawn])
    fit = np.linalg.lstsq(design, counted, rcond=None)[0]
    mean = np.array([q.releases * case.n * q.records.rate for q in random])
    variance = np.array([q.releases * case.n * q.records.rate * (1 - q.records.rate) for q in random])
    spread = 5 * float(np.sqrt((fit[1:] ** 2) @ variance / replicates))
    return Evaluations(counted, design @ fit, float(fit[0] + mean @ fit[1:]), spread)
