"""What the proofs of Bassily, Guzman, Nandi 2021 say about a run on linear losses, as extras of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.execution.rounds import RoundObserver, round_observer
from dpsco_bench.problems.objective import Objective


def _means(objective: Objective, rows: int) -> np.ndarray:
    """Mean record of each row, shape ``(rows, d)``: minus the gradient of the risk, everywhere."""
    means: np.ndarray = objective.problem.means
    return np.repeat(means, rows // len(means), axis=0)


@round_observer("bassily2021.estimates")
class Estimates(RoundObserver):
    """Notes ``first_error`` and ``last_error``: dual norms of gradient estimate less gradient (Lemmas 6 and 17)."""

    def __init__(self) -> None:
        self._errors: dict[str, np.ndarray] = {}

    def __call__(self, objective: Objective, *, estimate: Any) -> None:
        error = to_numpy(estimate) + _means(objective, len(estimate))
        self._errors["last_error"] = objective.problem.dual_norm(error)
        self._errors.setdefault("first_error", self._errors["last_error"])

    def finish(self, objective: Objective, output: Any) -> Mapping[str, Any]:
        return self._errors


@round_observer("bassily2021.distance")
class Distance(RoundObserver):
    """Notes for Claim 20 ``distance = ||x - x*||_p``, the output's excess ``alpha`` and ``mean_norm = ||z||_q``."""

    def finish(self, objective: Objective, output: Any) -> Mapping[str, Any]:
        x, means, problem = to_numpy(output), _means(objective, len(output)), objective.problem
        best = objective.domain.minimise_linear(-means)
        norm = problem.dual_norm(means)
        distance = np.linalg.norm(x - best, ord=problem.p, axis=-1)
        return {"distance": distance, "alpha": norm - (means * x).sum(axis=-1), "mean_norm": norm}
