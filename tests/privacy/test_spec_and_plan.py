import math

import pytest

from dpsco_bench.errors import InputError
from dpsco_bench.privacy.plan import GaussianQuery, PrivacySpec, make_plan
from dpsco_bench.privacy.records import Poisson


def test_log_inverse_delta_at_the_ends_of_the_range():
    assert PrivacySpec(1, 1e-5).log_inverse_delta == pytest.approx(5 * math.log(10), rel=1e-15)
    assert math.isfinite(PrivacySpec(1, 5e-324).log_inverse_delta)
    assert PrivacySpec(1, 1 - 1e-15).log_inverse_delta > 0


def test_a_plan_reads_like_its_schedule():
    query = GaussianQuery("gradient", 0.5, 3)
    plan = make_plan(query, gradient_evaluations=12, steps=3, step=0.1)
    assert (plan.steps, plan.step, plan.gradient_evaluations) == (3, 0.1, 12.0)
    assert plan.query("gradient") is query and plan.leaks == ()
    with pytest.raises(AttributeError, match="schedule has .'step', 'steps'"):
        plan.epochs  # noqa: B018
    with pytest.raises(InputError, match="^query = 'gradients': must be one of gradient$"):
        plan.query("gradients")


def test_one_record_contributes_half_of_what_a_replacement_changes():
    assert GaussianQuery("x", 3.0, 1, Poisson(0.1)).contribution == 1.5
