"""The private online-to-batch conversion (Algorithm 1) with compiled rounds."""

from __future__ import annotations

import numpy as np

from dpsco_bench.algorithms.info import Info
from dpsco_bench.fused.descent import steps_of
from dpsco_bench.fused.registry import fused
from dpsco_bench.papers.zhang2022.algorithms.parameter_free import confidence_of
from dpsco_bench.papers.zhang2022.algorithms.reduction import NODE, learner_setting, node_units
from dpsco_bench.papers.zhang2022.algorithms.sensitivity import weights
from dpsco_bench.papers.zhang2022.fused import rounds
from dpsco_bench.papers.zhang2022.learners.base import get_learner
from dpsco_bench.papers.zhang2022.learners.leaders import FtrlAdagrad, LpFtrl
from dpsco_bench.papers.zhang2022.learners.optimistic import OptimisticFtrl, OptimisticOmd
from dpsco_bench.papers.zhang2022.learners.parameter_free import ParameterFree
from dpsco_bench.papers.zhang2022.learners.subgradient import OgdAdagrad, OgdFixed, Osd
from dpsco_bench.papers.zhang2022.observers import SUMS, Rounds
from dpsco_bench.problems.data import CONSTANT, NO_SLOPE

LEARNERS = {
    OgdFixed: rounds.OGD_FIXED,
    OgdAdagrad: rounds.OGD_ADAGRAD,
    Osd: rounds.OSD,
    FtrlAdagrad: rounds.FTRL,
    LpFtrl: rounds.LP_FTRL,
    OptimisticFtrl: rounds.OPTIMISTIC_FTRL,
    OptimisticOmd: rounds.OPTIMISTIC_OMD,
    ParameterFree: rounds.PARAMETER_FREE,
}


def known_learner(objective, plan, mechanism):
    """Check that the learner is one of those above, on its ball, and that an observer's sums are known."""
    cls, problem = get_learner(plan.learner), objective.problem
    observed = objective.round_observer is not None and hasattr(problem, "population_gradient")
    known = not observed or problem.record_form.slope in (CONSTANT, NO_SLOPE)
    return known and cls in LEARNERS and (plan.p == 2.0 or cls is LpFtrl)


def on_device(objective, plan, mechanism):
    """Check that kernels know the learner, in l2."""
    known = LEARNERS.get(get_learner(plan.learner)) not in (None, rounds.LP_FTRL, rounds.PARAMETER_FREE)
    return known and plan.p == 2.0


@fused("zhang2022.dp_otb", supports=known_learner, rounds=Rounds, device=on_device)
@fused("zhang2022.dp_otb_lp", "zhang2022.dp_otb_pure", supports=known_learner, rounds=Rounds)
def online_to_batch(objective, plan, mechanism):
    """Run the listing compiled; return ``x_n``."""
    learner = get_learner(plan.learner)(learner_setting(objective, plan))
    return converted(objective, plan, mechanism, learner, np.zeros((3, 0)))


@fused("zhang2022.parameter_free", supports=known_learner, rounds=Rounds)
def parameter_free(objective, plan, mechanism):
    """Run the listing compiled; its losses may have the distance from the start."""
    setting = learner_setting(objective, plan, loss_bound=plan.loss_bound, initial_wealth=plan.initial_wealth)
    learner, distance = ParameterFree(setting), np.zeros((3, 0))
    if plan.regulariser == "adaptive":
        terms, t = confidence_of(plan), np.arange(plan.n + 1.0)
        distance = np.array([[part(s) for s in t] for part in (terms.xi, terms.nu, terms.loss_bound)])
    output = converted(objective, plan, mechanism, learner, distance)
    return output, Info({"clips": learner.clips[:, 0]})


def converted(objective, plan, mechanism, learner, distance):
    """Algorithm 1 with a learner, which is left in its last state; ``distance`` as for `rounds.run_rounds`."""
    n, (beta, total) = plan.n, weights(plan.k, plan.n)
    steps, run = steps_of(objective, mechanism, NODE, looks=2), _Run(objective, plan, learner, beta, distance)
    half, xp = 0.5 * plan.strong_convexity if learner.regulariser else 0.0, objective.xp
    losses = xp.asarray(beta), xp.asarray(total), float(objective.constants.regularisation), half
    ends, begun = n if plan.run_last_round else n - 1, 0
    for stop in Rounds.stops(n, ends) if run.watched else [ends]:
        for tile in steps.tiles(begun, stop - begun):
            first = begun + tile.steps.start
            scale = steps.scales(first, tile.steps.stop - tile.steps.start)
            noise = tile.noise
            if isinstance(noise, np.ndarray):  # as pure noise is drawn: the loop is compiled once
                noise = noise.astype(np.float64, copy=False)
            told = tile.rows, tile.records, steps.form, noise, scale
            state = run.state, run.numbers, run.slots
            steps.run(rounds.run_rounds, first + 1, *state, *told, losses, run.units, run.learner, run.seen)
        begun = stop
        run.tell(learner)
        if run.watched:
            sums = run.sums if distance.size else run.sums[:, :5]
            last = dict(x=run.x, gradient_sum=run.state[:, 4], released=run.state[:, 5], loss=run.state[:, 6])
            objective.round_observer.summed(objective, sums, beta[stop], t=stop, learner=learner, **last)
    objective.count(-1)  # round 1 looks at its record once
    if ends < n:
        run.x[:] += (learner.predict() - run.x) * (beta[n] / total[n])
    return run.x.copy()


_UNSEEN = np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0), np.zeros((0, 0))


class _Run:
    """State of all rows, and what compiled rounds are told of plan and learner."""

    def __init__(self, objective, plan, learner, beta, distance):
        xp, units = objective.xp, node_units(plan)
        start = xp.ascontiguousarray(learner.w)
        rows, d = start.shape
        levels = int(plan.n).bit_length()
        self.kind = LEARNERS[type(learner)]
        self.state = xp.zeros((rows, 7, d))
        self.state[:, 0] = self.state[:, 1] = start
        if self.kind == rounds.OPTIMISTIC_OMD:
            self.state[:, 2] = start
        self.numbers = xp.zeros((rows, 6))
        if self.kind == rounds.PARAMETER_FREE:
            self.numbers[:, 3:5] = learner.setting.initial_wealth, 1.0
        self.slots = xp.zeros((rows, levels, d)), xp.zeros((rows, levels, d)), xp.zeros((rows, levels))
        mode, parts, *more = _units(units, plan.clip_differences)
        self.units = mode, xp.asarray(parts), *more
        reference = objective.round_observer.reference(objective) if objective.round_observer else None
        self.watched = reference is not None
        seen = _UNSEEN if reference is None else (*reference, np.zeros((rows, len(SUMS))))
        self.seen = tuple(map(xp.asarray, seen))
        centre = xp.ascontiguousarray(learner.setting.start)
        sizes = xp.asarray(self._sizes(learner, beta), dtype=xp.float64)
        self.learner = self.kind, float(learner.setting.radius), float(plan.p), sizes, centre, distance

    @property
    def sums(self):
        """Compute the sums of `observers.SUMS`, ``(R, 8)``."""
        return self.seen[3]

    @property
    def x(self):
        """``x_t``, ``(R, d)``."""
        return self.state[:, 1]

    def _sizes(self, learner, beta):
        """Compute the steps of learners that do not adapt, or bounds on losses, ``(n + 1,)``."""
        given, t = learner.setting, np.arange(1, len(beta))
        if self.kind == rounds.OGD_FIXED:
            return np.append(0.0, given.diameter / (given.lipschitz * t ** (given.k + 0.5)))
        if self.kind == rounds.OSD:
            return np.append(0.0, 1.0 / np.cumsum(0.5 * given.strong_convexity * t**given.k))
        return np.full(len(beta), given.loss_bound if self.kind == rounds.PARAMETER_FREE else 0.0)

    def tell(self, learner):
        """Put the listing's learner in the state of the last round."""
        w, along, expected = self.state[:, 0], self.state[:, 2], self.state[:, 3]
        seen = self.numbers[:, :1]
        learner.w = w
        learner.squares = learner.errors = learner.bound = seen
        learner.total, learner.y, learner.expected = along, along, expected
        learner.clips = self.numbers[:, 5:]


def _units(units, clips):
    """Mode and parts of the units: see `rounds.run_rounds`."""
    a, b = units.parts
    if units.fixed:
        mode, parts = rounds.FIXED, (units.fixed_units, 0.0 * a, a + b * units.diameter, 0.0 * a)
    elif units.sensitivity == "eq6":
        mode, parts = rounds.PRINTED, (units.printed, 0.0 * a, a, b)
    else:
        mode, parts = rounds.TIGHT, (a, b, a, b)
    return mode, np.stack(parts), float(units.lipschitz), float(units.smoothness), bool(clips)
