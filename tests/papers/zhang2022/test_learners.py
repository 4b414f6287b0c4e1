"""Online learners: regret against adversaries, and one's own in a file outside the package."""

from __future__ import annotations

import numpy as np
import pytest

from dpsco_bench.geometry.ball import feasible_set
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.papers.zhang2022.learners import LearnerSetting, get_learner, project_ball

D_, ROUNDS, REPLICATES = 3, 120, 4
BOUNDED = ("ftrl_adagrad", "ogd_adagrad", "optimistic_ftrl", "optimistic_omd")
IN_L2 = [(name, 2.0, start) for name in BOUNDED for start in (None, (0.6, -1.2, 0.3))]
RADIUS = 1.5


def setting(norm=2.0, start=None, **keywords):
    ball = feasible_set("l2_ball" if norm == 2 else f"lp_ball:{norm}", RADIUS)
    project = (lambda x: project_ball(x, RADIUS)) if norm == 2 else ball.project
    start = np.zeros((REPLICATES, D_)) if start is None else np.tile(start, (REPLICATES, 1))
    values = dict(k=1.0, rounds=ROUNDS, lipschitz=1.0) | keywords
    return LearnerSetting(start=start, project=project, radius=RADIUS, norm=norm, **values)


ADVERSARIES = {
    "random": lambda t, w, v, rng: rng.standard_normal(w.shape),
    "steady": lambda t, w, v, rng: v,
    "growing": lambda t, w, v, rng: t**3 * (v + 0.3 * rng.standard_normal(w.shape)),
    "alternating": lambda t, w, v, rng: (-1.0) ** t * v,
    "pushing": lambda t, w, v, rng: w + 0.1 * rng.standard_normal(w.shape),
    "spikes": lambda t, w, v, rng: rng.standard_normal(w.shape) * 10.0 ** rng.integers(-6, 7),
    "silence, then a shock": lambda t, w, v, rng: (t >= 60) * rng.standard_normal(w.shape),
    "opposing": lambda t, w, v, rng: v * (1.0 if t <= ROUNDS // 2 else -2.0),
}
"""Losses of round t at the prediction w, by a vector v that is drawn at first; growing ones are as in the reduction."""


def losses_of(name, seed=0):
    rng = np.random.default_rng(seed)
    v = rng.standard_normal((REPLICATES, D_))
    return lambda t, w: ADVERSARIES[name](t, w, v, rng)


def play(made, adversary, hints=True):
    """Losses and predictions, each ``(ROUNDS, R, d)``; every prediction lies in the ball."""
    losses, points = [], []
    for t in range(1, ROUNDS + 1):
        w = made.predict()
        length = np.linalg.norm(w, ord=made.setting.norm, axis=-1)
        assert np.all(length <= RADIUS * (1 + 1e-12)) and np.isfinite(w).all()
        g = adversary(t, w)
        losses.append(g)
        points.append(w)
        made.update(g)
        if hints:
            made.hint(g)
    return np.array(losses), np.array(points)


def regret(losses, points, norm=2.0):
    """Against the best point of the ball, ``(R,)``: its loss is minus the radius times the dual norm of the sum."""
    best = RADIUS * np.linalg.norm(losses.sum(axis=0), ord=dual_exponent(norm), axis=-1)
    return np.sum(losses * points, axis=(0, 2)) + best


@pytest.mark.parametrize(("name", "p", "start"), [*IN_L2, *(("lp_ftrl", p, None) for p in (1.2, 1.5, 2.0))])
def test_no_adversary_found_exceeds_the_declared_regret(name, p, start):
    reached = []
    for number, adversary in enumerate(ADVERSARIES):
        made = get_learner(name)(setting(p, start))
        found = regret(*play(made, losses_of(adversary, number)), p)
        bound = made.regret_bound()
        assert bound.shape == (REPLICATES, 1)
        assert np.all(found <= bound[:, 0] * (1 + 1e-9)), adversary
        reached.append(np.max(found / bound[:, 0]))
    assert p < 2.0 or max(reached) > 0.1, reached


def test_in_l2_both_leaders_are_one():
    """The closed form of ``lp_ftrl`` is the projection of ``ftrl_adagrad`` for p = 2."""
    plays = [play(get_learner(name)(setting()), losses_of("growing"))[1] for name in ("lp_ftrl", "ftrl_adagrad")]
    np.testing.assert_allclose(plays[0], plays[1], atol=1e-12)


@pytest.mark.parametrize("k", [1.0, 3.0])
@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_strongly_convex_losses(k, adversary):
    """``osd`` on ``<a_t, w> + (mu t^k/4) ||w - y_t||^2``: regret of these losses, not of their linearisations."""
    mu, rng = 0.7, np.random.default_rng(4)
    made = get_learner("osd")(setting(k=k, strong_convexity=mu))
    attack, slopes, centres, points = losses_of(adversary, 4), [], [], []
    for t in range(1, ROUNDS + 1):
        w = made.predict()
        a, y = attack(t, w), project_ball(2 * rng.standard_normal(w.shape), RADIUS)
        made.update(a + 0.5 * mu * t**k * (w - y))
        slopes.append(a), centres.append(y), points.append(w)
    a, y, w = map(np.array, (slopes, centres, points))
    curve = (mu * np.arange(1, ROUNDS + 1) ** k / 4)[:, None, None]
    free = (np.sum(2 * curve * y, axis=0) - a.sum(axis=0)) / (2 * curve.sum())
    u = project_ball(free, RADIUS)
    gap = np.sum(a * (w - u) + curve * ((w - y) ** 2 - (u - y) ** 2), axis=(0, 2))
    assert np.all(gap <= made.regret_bound()[:, 0] * (1 + 1e-9))


@pytest.mark.parametrize("name", BOUNDED)
def test_scale_of_the_losses_does_not_matter(name):
    def losses(size):
        return lambda t, w: size * np.cos(t * np.arange(1.0, 13.0)).reshape(w.shape)

    small, large = (play(get_learner(name)(setting()), losses(size))[1] for size in (1.0, 2.0**20))
    np.testing.assert_array_equal(small, large)


def test_the_first_step_of_mirror_descent_is_infinite():
    """y_2 is the point of the ball opposite g_1, whatever its size; zero losses move nothing (0/0 := 0)."""
    for size in (1e-30, 1.0, 1e30):
        made = get_learner("optimistic_omd")(setting())
        made.update(size * np.ones((REPLICATES, D_)))
        np.testing.assert_allclose(made.predict(), -RADIUS / np.sqrt(D_) * np.ones((REPLICATES, D_)))
    for name in (*BOUNDED, "lp_ftrl", "ogd_fixed"):
        made = get_learner(name)(setting())
        made.update(np.zeros((REPLICATES, D_)))
        made.hint(np.zeros((REPLICATES, D_)))
        np.testing.assert_array_equal(made.predict(), 0.0)


@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_the_parameter_free_learner_loses_little_against_its_start(adversary):
    """Regret at x_0 of at most 2 eps0 Lip, pathwise, since its wealth stays positive and half of a loss pulls back."""
    bound, wealth, attack = 7.0, 0.3, losses_of(adversary, 5)

    def bounded(t, w):
        g = attack(t, w)
        return bound * g / np.maximum(np.linalg.norm(g, axis=-1, keepdims=True), 1e-300)

    start = np.array([0.6, -1.2, 0.3])
    made = get_learner("parameter_free")(setting(start=start, loss_bound=bound * (1 + 1e-12), initial_wealth=wealth))
    losses, points = play(made, bounded)
    assert np.all(made.clips == 0) and np.all(made.wealth > 0)
    assert np.all(np.sum(losses * (points - start), axis=(0, 2)) <= 2 * wealth * bound * (1 + 1e-9))


LEARNER = "examples/own_learner.py"
RUN = ("run", f"plugins=[{LEARNER}]", "algorithm=zhang2022/dp_otb", "problem=linear_ball", "n=512", "d=4", "--json")


def test_ones_own_learner_learns_and_keeps_the_contract(dpsco, examples):
    (row,) = dpsco(*RUN, "learner=normalised", "calibration=none").rows
    assert row["risk"] < 1e-3 * row["start_risk"]
    keys = ("problem=logistic_glm", "d=3", "learner=normalised", "--plugin", LEARNER, "--json")
    findings = dpsco("check", "zhang2022.dp_otb", *keys).rows
    assert all(finding["passed"] is not False for finding in findings)
    assert sum(finding["passed"] is True for finding in findings) >= 7


@pytest.mark.parametrize(("name", "factor"), [("optimistic_ftrl", 0.25), ("optimistic_omd", 0.5)])
def test_true_hints_leave_no_regret_to_pay_and_none_an_ordinary_learner(name, factor):
    made, single = get_learner(name)(setting()), get_learner(name)(setting())
    found = regret(*play(made, losses_of("steady")))
    single.update(losses_of("steady")(1, single.predict()))
    np.testing.assert_allclose(made.regret_bound(), single.regret_bound(), rtol=1e-12)
    assert np.all(found <= single.regret_bound()[:, 0])
    made = get_learner(name)(setting())
    losses, _ = play(made, losses_of("random", 1), hints=False)
    bound = (factor + 2 * np.sqrt(2)) * 2 * RADIUS * np.sqrt(np.sum(losses**2, axis=(0, 2)))
    np.testing.assert_allclose(made.regret_bound()[:, 0], bound)
