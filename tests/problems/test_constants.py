import pytest

from dpsco_bench.errors import InputError
from dpsco_bench.problems.base import Constants, Problem, Trait, domain_traits
from dpsco_bench.problems.registry import get_problem, list_problems, problem, problem_class

OWN = Constants(1.0, 0.25, strong_convexity=0.1, regularisation=0.1, initial_gap=0.1)


def test_no_strong_convexity_above_the_smoothness():
    assert OWN.override(strong_convexity=OWN.total_smoothness).status == "nominal"
    with pytest.raises(InputError, match=r"strong_convexity = 0.36: must be at most .* = 0.35"):
        OWN.override(strong_convexity=0.36)
    with pytest.raises(InputError, match="strong_convexity = 0.1"):
        OWN.override(smoothness=1e-9, regularisation=0.0)
    assert Constants(1.0, 0.0, strong_convexity=0.1).smoothness == 0  # none is declared: nothing to compare with


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, "global"),
        ({"lipschitz": 2.0}, "global"),
        ({"lipschitz": 0.5}, "nominal"),
        ({"smoothness": 1.0}, "global"),
        ({"smoothness": 0.2}, "nominal"),
        ({"strong_convexity": 0.05}, "global"),
        ({"strong_convexity": 0.2}, "nominal"),
        ({"regularisation": 0.2}, "nominal"),
        ({"initial_gap": 1e-3}, "global"),
        ({"initial_gap": 10.0, "smoothness": 1.0}, "global"),
        ({"lipschitz": 2.0, "strong_convexity": 0.2}, "nominal"),
    ],
)
def test_an_override_that_claims_more_than_is_proved_is_nominal(changes, status):
    new = OWN.override(**changes)
    assert new.status == status
    for key, value in changes.items():
        assert getattr(new, key) == value


def test_domains():
    assert OWN.ball is None
    ball = Constants(1.0, 1.0, diameter=3.0, domain="l1_ball")
    assert (ball.ball.name, ball.ball.radius) == ("l1_ball", 1.5)
    assert ball.override(diameter=4.0).status == "global" and ball.override(diameter=2.0).status == "nominal"
    with pytest.raises(InputError, match="^diameter = 2.0: must be 0, the domain being the whole space"):
        OWN.override(diameter=2.0)
    with pytest.raises(InputError, match="^diameter = 0.0: must be a finite number > 0"):
        ball.override(diameter=0.0)
    with pytest.raises(InputError, match="^problem constant = 'domain'"):
        ball.override(domain="space")


def test_problems_take_constants_by_key():
    entry = get_problem("ridge_logistic", 5, constants={"smoothness": 1.0, "initial_gap": 1.0})
    assert entry.constants.condition_number == 10 and entry.constants.status == "global"
    with pytest.raises(InputError, match="problem constant = 'mu'"):
        get_problem("ridge_logistic", 5, constants={"mu": 1.0})


def test_ones_own_problem_is_registered_by_decorator():
    @problem
    class Mine(Problem):
        name = "mine"
        own_constants = OWN

    assert problem_class("mine") is Mine and "mine" in list_problems()
    assert isinstance(get_problem("mine", 2), Mine)
    with pytest.raises(InputError, match="name of problem Nameless"):

        @problem
        class Nameless(Problem):
            pass


@pytest.mark.parametrize(
    ("domain", "name", "traits"),
    [
        ("l1_ball", "l1_ball", {Trait.BALL, Trait.L1_BALL, Trait.LP_BALL, Trait.POLYTOPE, Trait.SYMMETRIC_SET}),
        ("lp_ball:1", "l1_ball", {Trait.BALL, Trait.L1_BALL, Trait.LP_BALL, Trait.POLYTOPE, Trait.SYMMETRIC_SET}),
        ("lp_ball:2.0", "l2_ball", {Trait.BALL, Trait.L2_BALL, Trait.LP_BALL, Trait.SYMMETRIC_SET}),
        ("lp_ball:1.5", "lp_ball:1.5", {Trait.LP_BALL, Trait.SYMMETRIC_SET}),
        ("lp_ball:inf", "linf_ball", {Trait.LP_BALL, Trait.SYMMETRIC_SET}),
        ("k_support_ball:2", "k_support_ball:2", {Trait.SYMMETRIC_SET}),
        ("group_ball:2", "group_ball:2", {Trait.SYMMETRIC_SET}),
        ("subspace_ball:2", "subspace_ball:2", {Trait.SYMMETRIC_SET}),
    ],
)
def test_sets_by_name(domain, name, traits):
    constants = Constants(1.0, 1.0, diameter=6.0, domain=domain)
    assert constants.domain == constants.ball.name == name and constants.ball.radius == 3.0
    assert domain_traits(constants.domain) == traits


@pytest.mark.parametrize(
    ("declared", "status"),
    [
        ({"norm": 1.5}, "nominal"),
        ({"gauge_convexity": 0.2}, "nominal"),
        ({"gauge_convexity": 0.05}, "global"),
        ({"gradient_deviation": 0.5}, "nominal"),
        ({"gradient_deviation": 2.0}, "global"),
        ({"gradient_range": 1.0}, "nominal"),
        ({"gradient_range": 3.0}, "global"),
        ({"loss_range": 1.0}, "nominal"),
        ({"loss_range": 3.0}, "global"),
        ({"hessian_rank": 0}, "nominal"),
    ],
)
def test_declared_constants_that_claim_more_are_nominal(declared, status):
    own = Constants(1.0, 1.0, gauge_convexity=0.1, gradient_deviation=1.0)
    assert own.gradient_difference == 2.0 and own.override(**declared).status == status


def test_a_member_of_a_family_has_constants_of_its_own():
    found = 0
    for name in list_problems():
        cls = problem_class(name)
        if cls.at is Problem.at or cls.needs_data_root:
            continue
        known, fresh = cls(), cls()
        assert known.constants == fresh.constants
        for place in ((64, 0.5, 1e-4), (8192, 4.0, 1e-6)):
            assert known.at(*place).constants == fresh.at(*place).constants
            found += known.at(*place).constants != known.constants
    assert found > 0
