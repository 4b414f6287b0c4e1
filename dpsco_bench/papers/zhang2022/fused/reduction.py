"""The private online-to-batch conversion (Algorithm 1) with compiled rounds."""

from __future__ import annotations

import numpy as np

from dpsco_bench.fused.registry import fused
from dpsco_bench.fused.tiles import Steps
from dpsco_bench.papers.zhang2022.algorithms.reduction import NODE, learner_setting, loss_regularisers, node_units
from dpsco_bench.papers.zhang2022.algorithms.sensitivity import weights
from dpsco_bench.papers.zhang2022.fused import rounds
from dpsco_bench.papers.zhang2022.learners.base import get_learner
from dpsco_bench.papers.zhang2022.learners.leaders import FtrlAdagrad, LpFtrl
from dpsco_bench.papers.zhang2022.learners.optimistic import OptimisticFtrl, OptimisticOmd
from dpsco_bench.papers.zhang2022.learners.subgradient import OgdAdagrad, OgdFixed, Osd

LEARNERS = {
    OgdFixed: rounds.OGD_FIXED,
    OgdAdagrad: rounds.OGD_ADAGRAD,
    Osd: rounds.OSD,
    FtrlAdagrad: rounds.FTRL,
    LpFtrl: rounds.LP_FTRL,
    OptimisticFtrl: rounds.OPTIMISTIC_FTRL,
    OptimisticOmd: rounds.OPTIMISTIC_OMD,
}


def known_learner(objective, plan, mechanism):
    """Whether the learner is one of those above, on the ball that it is for."""
    cls = get_learner(plan.learner)
    return cls in LEARNERS and (plan.p == 2.0 or cls is LpFtrl)


@fused("zhang2022.dp_otb", "zhang2022.dp_otb_lp", "zhang2022.dp_otb_pure", supports=known_learner, rounds=True)
def online_to_batch(objective, plan, mechanism):
    """As the listing; returns ``x_n``."""
    learner = get_learner(plan.learner)(learner_setting(objective, plan))
    regularisers, n = loss_regularisers(objective, plan, learner), plan.n
    beta, total = weights(plan.k, n)
    steps, run = Steps(objective, mechanism, NODE, looks=2), _Run(objective, plan, learner, beta)
    half = 0.5 * plan.strong_convexity if learner.regulariser else 0.0
    losses = beta, total, float(objective.constants.regularisation), half
    ends = n if plan.run_last_round else n - 1
    for tile in steps.tiles(0, ends, whole=objective.shows_rounds):
        first, scale = tile.steps.start + 1, steps.scales(tile.steps.start, tile.steps.stop - tile.steps.start)
        shown = np.empty((5, scale.size, *run.x.shape) if objective.shows_rounds else (0, 0, 0, 0))
        noise = tile.noise.astype(np.float64, copy=False)  # as pure noise is drawn: the loop is compiled once
        rounds.run_rounds(
            first, run.state, run.numbers, run.slots, tile.rows, tile.records, steps.form, noise, scale, losses,
            run.units, run.learner, shown,
        )  # fmt: skip
        if shown.size:
            run.tell(learner)
            w, x, exact, released, loss = shown
            objective.observe_rounds(
                first, beta[first : first + scale.size], {"learner": learner, "regularisers": regularisers}, w=w, x=x,
                gradient_sum=exact, released=released, loss=loss if regularisers else released,
            )  # fmt: skip
    objective.count(-1)  # round 1 looks at its record once
    if ends < n:
        run.tell(learner)
        run.x[:] += (learner.predict() - run.x) * (beta[n] / total[n])
    return run.x.copy()


class _Run:
    """State of all rows, and what compiled rounds are told of plan and learner."""

    def __init__(self, objective, plan, learner, beta):
        start, units = np.ascontiguousarray(learner.w), node_units(plan)
        rows, d = start.shape
        levels = int(plan.n).bit_length()
        self.kind = LEARNERS[type(learner)]
        self.state = np.zeros((rows, 5, d))
        self.state[:, 0] = self.state[:, 1] = start
        if self.kind == rounds.OPTIMISTIC_OMD:
            self.state[:, 2] = start
        self.numbers = np.zeros((rows, 2))
        self.slots = np.zeros((rows, levels, d)), np.zeros((rows, levels, d)), np.zeros((rows, levels))
        self.units = _units(units, plan.clip_differences)
        centre = np.ascontiguousarray(learner.setting.start)
        self.learner = self.kind, float(learner.setting.radius), float(plan.p), self._sizes(learner, beta), centre

    @property
    def x(self):
        """``x_t``, ``(R, d)``."""
        return self.state[:, 1]

    def _sizes(self, learner, beta):
        """Steps of the learners that do not adapt, ``(n + 1,)``."""
        given, t = learner.setting, np.arange(1, len(beta))
        if self.kind == rounds.OGD_FIXED:
            return np.append(0.0, given.diameter / (given.lipschitz * t ** (given.k + 0.5)))
        if self.kind == rounds.OSD:
            return np.append(0.0, 1.0 / np.cumsum(0.5 * given.strong_convexity * t**given.k))
        return np.zeros(len(beta))

    def tell(self, learner):
        """Put the listing's learner in the state of the last round."""
        w, along, expected = self.state[:, 0], self.state[:, 2], self.state[:, 3]
        seen = self.numbers[:, :1]
        learner.w = w
        learner.squares = learner.errors = learner.bound = seen
        learner.total, learner.y, learner.expected = along, along, expected


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
