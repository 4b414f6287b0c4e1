"""Quantities of Remark 1 of Su, Zhao, Wang 2023 about a run, as extras of its rows."""

from __future__ import annotations

from typing import Any

from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.execution.run import RoundObserver, round_observer
from dpsco_bench.problems.objective import Objective


@round_observer("su2023.cover")
class Cover(RoundObserver):
    """Notes ``moved = ||P(x + H) - x||^2`` for the minimiser x with noise H, and ``unprojected = ||H||^2``."""

    def __call__(self, objective: Objective, **state: Any) -> None:
        """See the minimiser, the noisy and the projected point, ``(R, d)`` each."""
        x = to_numpy(state["minimiser"])
        for name, key in (("moved", "projected"), ("unprojected", "noisy")):
            self.noted[name] = ((to_numpy(state[key]) - x) ** 2).sum(axis=-1)
