"""Quantities of the proofs of Bassily, Guzman, Nandi 2021 on linear losses, as extras of a run's rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.execution.run import RoundObserver, round_observer
from dpsco_bench.problems.linear import LinearLosses
from dpsco_bench.problems.objective import Objective


def _linear(objective: Objective, rows: int) -> tuple[LinearLosses, np.ndarray]:
    """Return the problem and the mean record of each row, ``(rows, d)``: minus the risk's gradient, everywhere."""
    problem = cast(LinearLosses, objective.problem)
    return problem, np.repeat(problem.means, rows // len(problem.means), axis=0)


@round_observer("bassily2021.estimates")
class Estimates(RoundObserver):
    """Notes ``first_error`` and ``last_error``: dual norms of gradient estimate less gradient (Lemmas 6 and 17)."""

    def __call__(self, objective: Objective, **state: Any) -> None:
        """See the estimate ``(R, d)``."""
        estimate = to_numpy(state["estimate"])
        problem, means = _linear(objective, len(estimate))
        self.noted["last_error"] = problem.dual_norm(estimate + means)
        self.noted.setdefault("first_error", self.noted["last_error"])


@round_observer("bassily2021.distance")
class Distance(RoundObserver):
    """Notes for Claim 20 ``distance = ||x - x*||_p``, the output's excess ``alpha`` and ``mean_norm = ||z||_q``."""

    def finish(self, objective: Objective, output: Any) -> Mapping[str, Any]:
        x = to_numpy(output)
        problem, means = _linear(objective, len(x))
        norm = problem.dual_norm(means)
        distance = np.linalg.norm(x - objective.domain.minimise_linear(-means), ord=problem.p, axis=-1)
        return {"distance": distance, "alpha": norm - (means * x).sum(axis=-1), "mean_norm": norm}
