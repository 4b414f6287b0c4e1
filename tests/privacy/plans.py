"""Small plans and queries, and what they are charged."""

import numpy as np

from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.privacy.calibrate import calibrate, charge
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import GaussianQuery, PrivacySpec, make_plan
from dpsco_bench.privacy.queries import DecayingNoisyMinimumQuery, GeneralisedGaussianQuery

DELTA = 1e-6
PRIVACY = PrivacySpec(1.0, DELTA)
SMOOTH, PLAIN = SmoothNorm(1.5, 4, "q"), SmoothNorm(2.0, 4)


def plan_of(*queries, n=100, **keywords):
    return make_plan(*queries, gradient_evaluations=1, n=n, **keywords)


def generalised(name="g", sensitivity=0.2, releases=1, smooth=SMOOTH, **keywords):
    return GeneralisedGaussianQuery(name, sensitivity, releases, smooth=smooth, **keywords)


def decaying(releases=40, **keywords):
    fields = {"decay": 0.9, "first": 0.5, "later": 0.3, "start": 0.4, "floor": 0.2, **keywords}
    return DecayingNoisyMinimumQuery("v", 0.5, releases, **fields)


class Halving(GaussianQuery):
    """Noise that halves from release to release."""

    def factors(self, first, steps):
        return 0.5 ** np.arange(first, first + steps)


def epsilon(plan, scales):
    return charge(plan, scales, DELTA).epsilon


def accounted(plan):
    return calibrate(plan, PRIVACY, "accounted")


def source(plan, scale, replicates=4, first=0, *, what="what", seed=1, kind=Mechanism, **keywords):
    """A mechanism with one scale for all queries, or one for each name."""
    scales = scale if isinstance(scale, dict) else {query.name: scale for query in plan.queries}
    return kind(plan, scales, what, seed, first, replicates, **keywords)
