"""An adversarial search over neighbours, records and transcripts for the sensitivities of a case's queries."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from dpsco_bench.privacy.queries import CoveringQuery
from dpsco_bench.privacy.transcript import Recorder, Replay
from dpsco_bench.problems.base import Data

from .case import SEED

ONE_PASS = ("bassily2021.poly_sfw", "bassily2021.noisy_sfw")
"""Algorithms in which a record of the second half enters alone, so that the search looks at one of those too."""
PLACES = {"su2023.phased_dp_sgd": (0, 12, 18, 21)}
"""Records at which the search looks, where the first and the last do not enter every query: one of each phase."""
NOISE_FACTORS = (1.0, 1e4, 1e6)
"""Noise of the recorded runs in units of the calibrated one: large noise drives the iterates far apart."""


@dataclass
class Found:
    """What a search found.

    Attributes
    ----------
    ratios : dict of str to float
        Largest change of a released value between neighbours, in units of the declared sensitivity, by query.
    leak : float
        Largest difference of outputs on neighbours under one transcript: 0 if all else is post-processing.
    """

    ratios: dict
    leak: float


def search(case, records=12):
    """Search the neighbours of a few data sets; covering noise hides a solver's error, not data, and is left out."""
    searched = [query for query in case.plan.queries if not isinstance(query, CoveringQuery)]
    found = Found({query.name: 0.0 for query in searched}, 0.0)
    for recorded, on_neighbour in neighbouring_runs(case, records):
        first, second = recorded.mechanism.transcript, on_neighbour.mechanism.transcript
        for query in searched:
            change = first.largest_change(second, query.name, query.norm)
            found.ratios[query.name] = max(found.ratios[query.name], float(change.max()) / query.sensitivity)
        found.leak = max(found.leak, float(np.abs(on_neighbour.output - recorded.output).max()))
    return found


def neighbouring_runs(case, records):
    """Pairs of a run on D and its transcript forced on D'."""
    domain = case.problem.domain_records(records, SEED)
    for position in places(case):
        for first, factor in enumerate(NOISE_FACTORS):
            data = replaced(case.data, position, domain, first)
            scales = {name: factor * scale for name, scale in case.scales.items()}
            recorded = case.run(Recorder, data=data, scales=scales, first=first, replicates=8)
            replay = partial(Replay, recorded.mechanism.transcript)
            for other in range(records):
                neighbour = replaced(data, position, domain, other)
                yield recorded, case.run(replay, data=neighbour, scales=scales, first=first, replicates=8)
    recorded = case.run(Recorder, replicates=8)
    replay = partial(Replay, recorded.mechanism.transcript)
    for position in range(case.n):
        neighbour = replaced(case.data, position, domain, position % records)
        yield recorded, case.run(replay, data=neighbour, replicates=8)


def places(case):
    """Records of which all replacements are tried."""
    alone = (case.n // 2,) * (case.algorithm.id in ONE_PASS)
    return PLACES.get(case.algorithm.id, (0, *alone, case.n - 1))


def replaced(data, position, records, which):
    """The neighbour of ``data`` with one record replaced."""
    features, labels = data.features.copy(), data.labels.copy()
    features[position], labels[position] = records.features[which], records.labels[which]
    return Data(data.n, features, labels)
