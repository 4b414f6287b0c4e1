"""Your own method on batches: DP-SGD whose every step looks at each record with probability ``rate``."""

from dpsco_bench import GaussianQuery, Poisson, Trait, algorithm, make_plan


@algorithm(
    "mine.dp_sgd", source="docs/own.md", needs=(Trait.CONVEX, Trait.LIPSCHITZ, Trait.SMOOTH), order_invariant=False
)
def plan(given, *, steps: int = 200, rate: float = 0.05):
    """Steps 1/(2 (L + lambda)) on Poisson batches; no theorem states a noise, so that the accountant chooses it."""
    c, n = given.constants, given.n
    query = GaussianQuery("gradient", sensitivity=2 * c.lipschitz / (rate * n), releases=steps, records=Poisson(rate))
    evaluations = round(steps * rate * n)
    return make_plan(query, gradient_evaluations=evaluations, n=n, steps=steps, step=0.5 / c.total_smoothness)


@plan.run
def dp_sgd(objective, plan, mechanism):
    x = objective.start
    for t in range(plan.steps):
        batch = mechanism.sample("gradient", t)  # the records that the accountant charges for
        gradient = mechanism.release("gradient", objective.batch_gradient(x, batch), t)
        x = objective.project(x - plan.step * (gradient + objective.regulariser_gradient(x)))
        objective.observe(x)
    return x
