"""Pairs of neighbouring data sets on which an audit compares an algorithm's runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from dpsco_bench.errors import Refusal
from dpsco_bench.execution.cell import Cell
from dpsco_bench.problems.base import Data, Problem
from dpsco_bench.problems.canary_huber import CANARIES, CanaryHuber

DOMAIN_RECORDS = 64


@dataclass(frozen=True)
class Neighbours:
    """Two data sets that differ in one record."""

    name: str
    cell: Cell
    data: Data
    other: Data
    record: int = 0


def candidate_pairs(cell: Cell, seed: int) -> Iterator[Neighbours]:
    """Pairs to choose from for a cell: both canaries on ``canary_huber`` (unless one is asked for), else one pair.

    Raises Refusal on a problem that has no neighbouring data sets.
    """
    problem = cell.problem_entry
    if problem.shares_records:
        raise Refusal(f"audit on {cell.problem}", "all its records are equal, so it has no neighbouring data sets")
    if problem.draws_per_replicate:
        raise Refusal(f"audit on {cell.problem}", "every run has a sample of its own, so no two are neighbours")
    if not isinstance(problem, CanaryHuber):
        yield _extreme_pair(cell, seed)
        return
    asked = cell.problem_options.get("canary")
    for canary in CANARIES if asked is None else (asked,):
        chosen = replace(cell, problem_options={**cell.problem_options, "canary": canary})
        canary_problem, data = chosen.problem_entry, chosen.draw_data(seed, 0)
        assert isinstance(canary_problem, CanaryHuber)
        name = f"{cell.problem} n={cell.n} d={problem.dimension}: {canary} canary and its mirror image"
        yield Neighbours(name, chosen, data, canary_problem.neighbour(data))


def _extreme_pair(cell: Cell, seed: int) -> Neighbours:
    """Replace record 0 of a drawn data set by the two domain records whose gradients at the start differ most."""
    problem, data = cell.problem_entry, cell.draw_data(seed, 0)
    domain = problem.domain_records(DOMAIN_RECORDS, seed)
    gradients = np.asarray(_record_gradients(problem, domain))
    distances = np.linalg.norm(gradients[:, None, :] - gradients[None, :, :], axis=-1)
    one, two = np.unravel_index(int(np.argmax(distances)), distances.shape)
    name = f"{cell.problem} n={cell.n} d={problem.dimension}: the two domain records that differ most at the start"
    return Neighbours(name, cell, _with_record(data, domain, int(one)), _with_record(data, domain, int(two)))


def _record_gradients(problem: Problem, domain: Data) -> np.ndarray:
    """Gradient of every domain record at the starting point, one record per replicate."""
    batch = Data(domain.n, domain.features[:, None, :], domain.labels[:, None])
    return problem.batch_gradient(np.tile(problem.start, (domain.n, 1)), batch, np.ones((domain.n, 1)))


def _with_record(data: Data, domain: Data, index: int) -> Data:
    features, labels = np.array(data.features), np.array(data.labels)
    features[0], labels[0] = domain.features[index], domain.labels[index]
    return Data(data.n, features, labels)
