"""Diagnostics that the chains of this paper's samplers keep beside their last states."""

from __future__ import annotations

import numpy as np

from dpsco_bench.papers.gopi2022.algorithms.target import Target
from dpsco_bench.samplers.evidence import ChainTrace


class ChainWatch:
    """Called with the states ``(R, d)`` after each sweep; keeps their excess risks, for a measurement only."""

    def __init__(self, target: Target, sweeps: int) -> None:
        self.target, self.trace = target, ChainTrace(sweeps)

    def __call__(self, x: np.ndarray) -> None:
        if self.trace.due:
            self.trace.add(self.target.excess(x))
        else:
            self.trace.skip()

    def note_evidence(self) -> None:
        """Keep R-hat, effective sample size and the mean excess risk of each chain beside the result."""
        self.target.info.extras |= self.trace.evidence()
