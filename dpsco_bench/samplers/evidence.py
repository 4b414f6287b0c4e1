"""Evidence that Markov chains have converged: split R-hat and effective sample size of a traced quantity.

It is about utility alone: N draws resolve a total variation distance of about N^(-1/2), a privacy proof needs 1e-7.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

Array = np.ndarray
MOST_KEPT = 4096
"""Most states of a chain whose traced quantity is kept."""
LEAST_KEPT = 8
LARGEST_RHAT, LEAST_ESS = 1.01, 400.0
NOT_CERTIFIED = "chains not certified"
"""Beginning of every sentence that says so."""


class ChainTrace:
    """Values of one quantity along R chains, every m-th beyond `MOST_KEPT` steps; the second half counts.

    ``measure`` maps a state to its values ``(R,)``; it is asked for those alone that are kept.
    """

    def __init__(self, steps: int, measure: Callable[[Array], Array]) -> None:
        self._every, self._seen, self._measure = max(1, -(-steps // MOST_KEPT)), 0, measure
        self._values: list[Array] = []

    def __call__(self, state: Array) -> None:
        """See the next state."""
        if self._seen % self._every == 0:
            self._values.append(np.array(self._measure(state), dtype=np.float64))
        self._seen += 1

    @property
    def values(self) -> Array:
        """Return all kept values, ``(K, R)``."""
        return np.stack(self._values)

    @property
    def settled(self) -> Array:
        """Return the values of the second half."""
        return self.values[len(self._values) // 2 :]

    def evidence(self) -> dict[str, Array | float]:
        """``rhat`` and ``ess`` of the block of chains (NaN for very short ones), ``chain_risk`` of each chain."""
        settled = self.settled
        rhat, ess = split_rhat_and_ess(settled) if len(settled) >= LEAST_KEPT else (math.nan, math.nan)
        return {"rhat": rhat, "ess": ess, "chain_risk": settled.mean(axis=0)}

    def relaxation(self, mean: float | None) -> float:
        """Count steps until the mean over the chains has gone ``1 - 1/e`` of its way to ``mean``; NaN if it has not.

        None stands for the mean of the second half, which should then be long.
        """
        error = self.values.mean(axis=1) - (self.settled.mean() if mean is None else mean)
        target = error[0] / math.e
        below = np.flatnonzero(np.sign(error[0]) * (error - target) <= 0)
        if not below.size or below[0] == 0:
            return math.nan
        last = below[0]
        part = (error[last - 1] - target) / (error[last - 1] - error[last])
        return float(self._every * (last - 1 + part))


def unsettled(rhat: float, ess: float) -> str:
    """Say why chains are not to be trusted; empty if they have settled (NaN: constant or very short ones)."""
    if rhat <= LARGEST_RHAT and ess >= LEAST_ESS:
        return ""
    found = f"R-hat up to {rhat:.3f} (at most {LARGEST_RHAT}), effective sample size from {ess:.0f}"
    return f"{NOT_CERTIFIED}: {found} (at least {LEAST_ESS:.0f})"


def split_rhat_and_ess(values: Array) -> tuple[float, float]:
    """R-hat over half chains, and effective sample size by Geyer's initial monotone sequence.

    Source: Gelman et al., Bayesian Data Analysis, third edition, section 11.4 and 11.5. ``values (K, R)`` are K >= 4
    states of each chain. Both are NaN if nothing varies.
    """
    half = len(values) // 2
    chains = np.concatenate([values[:half], values[len(values) - half :]], axis=1)
    within = chains.var(axis=0, ddof=1).mean()
    if not within > 0:
        return math.nan, math.nan
    pooled = (half - 1) / half * within + chains.mean(axis=0).var(ddof=1)
    centred = chains - chains.mean(axis=0)
    spectrum = np.abs(np.fft.rfft(centred, n=2 * half, axis=0)) ** 2
    covariance = np.fft.irfft(spectrum, axis=0)[:half].mean(axis=1) / half
    correlation = 1.0 - (within - covariance * half / (half - 1)) / pooled
    correlation[0] = 1.0
    pairs = correlation[: half - half % 2].reshape(-1, 2).sum(axis=1)
    positive = pairs[: np.argmax(pairs <= 0)] if np.any(pairs <= 0) else pairs
    time = max(2.0 * np.minimum.accumulate(positive).sum() - 1.0, 1.0 / math.log10(chains.size + 10.0))
    return math.sqrt(pooled / within), chains.size / time
