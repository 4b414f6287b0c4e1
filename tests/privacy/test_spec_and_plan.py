import math

import pytest

from dpsco_bench.errors import InputError
from dpsco_bench.privacy.plan import GaussianQuery, make_plan
from dpsco_bench.privacy.records import Full, Poisson, SingleIndex
from dpsco_bench.privacy.spec import PrivacySpec


@pytest.mark.parametrize("epsilon", [0, -1, math.inf, math.nan, "1", None, True])
def test_epsilon_out_of_range(epsilon):
    with pytest.raises(InputError, match="^epsilon = .*: must be a finite number > 0$"):
        PrivacySpec(epsilon, 1e-5)


@pytest.mark.parametrize("delta", [0, 1, -1e-9, 2.0, math.nan, "small"])
def test_delta_out_of_range(delta):
    with pytest.raises(InputError, match=r"^delta = .*: must be in \(0, 1\)$"):
        PrivacySpec(1.0, delta)


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


def test_plans_copy_and_pickle():
    import copy
    import pickle

    plan = make_plan(GaussianQuery("gradient", 0.5, 3), gradient_evaluations=12, steps=3)
    assert copy.deepcopy(plan) == plan == pickle.loads(pickle.dumps(plan))


def test_one_record_contributes_half_of_what_a_replacement_changes():
    assert GaussianQuery("x", 3.0, 1, Poisson(0.1)).contribution == 1.5


@pytest.mark.parametrize("sensitivity", [0, -1, math.inf, math.nan])
def test_sensitivities_out_of_range(sensitivity):
    with pytest.raises(InputError, match="^sensitivity of x = "):
        GaussianQuery("x", sensitivity, 1)


def test_releases_and_rates_out_of_range():
    with pytest.raises(InputError, match="^releases of x = 0"):
        GaussianQuery("x", 1.0, 0)
    for rate in (0.0, 1.2, -0.5, math.nan):
        with pytest.raises(InputError, match=r"^rate = .*: must be in \(0, 1\]$"):
            Poisson(rate)
    assert isinstance(GaussianQuery("x", 1.0, 1).records, Full) and SingleIndex(5).population == 5
