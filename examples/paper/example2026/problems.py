"""The instance of Example 2026: the mean of biased random signs."""

from __future__ import annotations

import numpy as np

from dpsco_bench import Constants, Data, Problem, Trait, problem


@problem
class SignMean(Problem):
    """``f(x, a) = ||x - a||^2/2`` over the unit ball; entries of the records are ``1/sqrt(d)`` three times out of four.

    Else they are ``-1/sqrt(d)``, so that the optimum is half the ball's radius away from the start.
    """

    name, summary, source = (
        "sign_mean",
        "mean of biased random sign vectors on the unit sphere",
        "Example 2026, Theorem 1",
    )
    default_dimension = 8
    traits = frozenset(
        {
            Trait.CONVEX,
            Trait.SMOOTH,
            Trait.LIPSCHITZ,
            Trait.STRONGLY_CONVEX,
            Trait.POLYAK_LOJASIEWICZ,
            Trait.TWICE_DIFFERENTIABLE,
        }
    )
    own_constants = Constants(
        2.0, 1.0, strong_convexity=1.0, diameter=2.0, domain="l2_ball", gradient_range=2.0, initial_gap=0.5
    )

    def draw(self, n, streams):
        """``n`` rows; record i depends on i alone."""
        signs = streams("signs").uniform(0, 1, 0, n, self.dimension)[0] < 0.25
        return Data(n, np.where(signs, -1.0, 1.0) / np.sqrt(self.dimension), np.zeros(n))

    def mean_gradient(self, x, data):
        """``x`` less the mean of the records, ``(R, d)``."""
        return x - data.features.mean(axis=0)

    def batch_gradient(self, x, batch, weights):
        """Weighted sum of ``x - a`` over each replicate's batch, ``(R, d)``."""
        return (weights[..., None] * (x[:, None, :] - batch.features)).sum(axis=1)

    def risk(self, x, data):
        """``mean ||x - a||^2/2``, ``(R,)``; every record has norm 1."""
        gradient = self.mean_gradient(x, data)
        return 0.5 * (gradient * gradient).sum(axis=-1) + self.optimal_risk(data)

    def optimal_risk(self, data):
        """At the mean of the records, which lies in the ball."""
        mean = data.features.mean(axis=0)
        return float(0.5 * (1.0 - (mean * mean).sum()))

    def domain_records(self, count, seed):
        """Vectors of signs, the two opposite ones first."""
        signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(count, self.dimension))
        signs[0], signs[1:2] = 1.0, -1.0
        return Data(count, signs / np.sqrt(self.dimension), np.zeros(count))

    def opposed_records(self, distance, order):
        """Two opposite vectors of signs: wherever x is, their gradients differ by 2 in l2."""
        corner = np.full(self.dimension, 1.0 / np.sqrt(self.dimension))
        return Data(2, np.stack([corner, -corner]), np.zeros(2)) if (distance, order) == (2.0, 2.0) else None
