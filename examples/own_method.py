"""Your own algorithm, problem and bound: noisy gradient descent, and logistic regression with flipped labels."""

from math import ceil, log, sqrt

import numpy as np

from dpsco_bench import Constants, Data, GaussianQuery, Logistic, Symbol, Trait, algorithm, bound, make_plan, problem


@algorithm("mine.noisy_gd", source="docs/own.md", needs=(Trait.SMOOTH, Trait.LIPSCHITZ, Trait.STRONGLY_CONVEX))
def plan(given, *, steps: int | None = None):
    """Gradient descent with step 1/(L + lambda) whose every gradient is released with Gaussian noise."""
    c, n = given.constants, given.n
    steps = steps or ceil(2 * c.total_smoothness / c.strong_convexity * log(n))
    noise = 2 * c.lipschitz * sqrt(2 * steps * log(1.25 / given.delta)) / (n * given.epsilon)
    query = GaussianQuery("gradient", sensitivity=2 * c.lipschitz / n, releases=steps, paper_scale=noise)
    return make_plan(query, gradient_evaluations=n * steps, n=n, steps=steps, step=1 / c.total_smoothness)


@plan.run
def noisy_gd(objective, plan, mechanism):
    x = objective.start  # (replicates, d)
    for t in range(plan.steps):
        gradient = mechanism.release("gradient", objective.mean_gradient(x), t) + objective.regulariser_gradient(x)
        x = objective.project(x - plan.step * gradient)
        objective.observe(x)
    return x


@problem
class FlippedLabels(Logistic):
    name, summary, source = "flipped_labels", "logistic loss, a tenth of the labels flipped", "docs/own.md"
    traits = Logistic.traits | {Trait.STRONGLY_CONVEX}
    own_constants = Constants(lipschitz=1, smoothness=0.25, strong_convexity=0.1, regularisation=0.1, initial_gap=0.7)

    def draw(self, n, streams):
        rows = streams("features").normal(0, 1, 0, n, self.dimension)[0].astype(np.float64)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        flipped = streams("flips").uniform(0, 1, 0, n, 1)[0, :, 0] < 0.1
        return Data(n, rows, np.where((rows[:, 0] > 0) ^ flipped, 1.0, -1.0))


bound(
    "mine.noisy_gd",
    "(L + lambda) d G^2 ln(n)/(mu n r)^2",
    {
        "L": "constants.smoothness",
        "lambda": "constants.regularisation",
        "G": "constants.lipschitz",
        "mu": "constants.strong_convexity",
        "r": Symbol("eps/sqrt(l)"),
    },
)
