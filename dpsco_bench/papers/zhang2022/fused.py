"""Compiled runs of the methods of Zhang, Tran, Cutkosky 2022: Algorithm 1 with its learners, and the baselines."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import numpy as np

from dpsco_bench.algorithms.info import Info
from dpsco_bench.fused.compiled import WIDTH, added, compiled, exact_piece, lanes_at, no_lanes, piece, put_lanes, summed
from dpsco_bench.fused.descent import descending, launch_steps, phased_run, projected_sgd_run, projecting, steps_of
from dpsco_bench.fused.pieces import general_length, largest_of, lp_length, power, scale_by, slope
from dpsco_bench.fused.registry import fused
from dpsco_bench.fused.tiles import on_device
from dpsco_bench.papers.zhang2022 import learners
from dpsco_bench.papers.zhang2022.algorithms.baselines import dp_sgd
from dpsco_bench.papers.zhang2022.algorithms.parameter_free import confidence_of
from dpsco_bench.papers.zhang2022.algorithms.reduction import NODE, learner_setting, node_units, weights
from dpsco_bench.papers.zhang2022.learners import RATE, TINY, LpFtrl, ParameterFree, get_learner
from dpsco_bench.papers.zhang2022.observers import SUMS, Rounds
from dpsco_bench.problems.data import CONSTANT, NO_SLOPE

fused("zhang2022.bftt19_noisy_sgd", supports=descending, device=projecting, module=__name__)(projected_sgd_run)
fused("zhang2022.dp_sgd", supports=descending, device=projecting, module=__name__)(
    partial(dp_sgd, descend=projected_sgd_run)
)
fused("zhang2022.fkt20_phased_sgd", supports=descending, device=projecting, module=__name__)(phased_run)


OGD_FIXED, OGD_ADAGRAD, OSD, FTRL, LP_FTRL, OPTIMISTIC_FTRL, OPTIMISTIC_OMD, PARAMETER_FREE = range(8)
CLASSES = (
    *(learners.OgdFixed, learners.OgdAdagrad, learners.Osd, learners.FtrlAdagrad),
    *(LpFtrl, learners.OptimisticFtrl, learners.OptimisticOmd, ParameterFree),
)
KINDS = {cls: kind for kind, cls in enumerate(CLASSES)}
"""Class of a learner -> its number."""
FIXED, PRINTED, TIGHT = range(3)
"""Sources of the nodes' units: before the run, by equation (6), or as the least that are enough."""
KERNELS = Path(__file__).with_suffix(".cu")
_UNSEEN = np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0), np.zeros((0, 0))


@piece
def inverse_root(total):
    return 1.0 / math.sqrt(max(total, TINY))


@piece
def copy_to(kept, values):
    """``kept[:] = values`` of one length: to Numba that is a question of shapes, and a second of compiling."""
    for j in range(values.size):
        kept[j] = values[j]


@exact_piece
def add_to(total, values):
    """Add to a sum, entry by entry."""
    for j in range(values.size):
        total[j] += values[j]


@piece
def onto_ball(w, radius):
    """Nearest point of the l2 ball, in place."""
    length = lp_length(w, 2.0)
    if length > radius:
        scale_by(w, radius / length)


@piece
def step_onto_ball(w, origin, eta, along, radius):
    """Nearest point of the l2 ball to ``origin - eta along``, to w."""
    whole, squares, square = w.size - w.size % WIDTH, no_lanes(), 0.0
    for j in range(0, whole, WIDTH):
        moved = added(lanes_at(origin, j), -eta, lanes_at(along, j))
        put_lanes(w, j, moved)
        squares = added(squares, moved, moved)
    for j in range(whole, w.size):
        moved = origin[j] - eta * along[j]
        w[j] = moved
        square += moved * moved
    square += summed(squares)
    if square > radius * radius:
        scale_by(w, radius / math.sqrt(square))


@piece
def square_of(x):
    """``||x||_2^2``."""
    whole, squares, square = x.size - x.size % WIDTH, no_lanes(), 0.0
    for j in range(0, whole, WIDTH):
        squares = added(squares, lanes_at(x, j), lanes_at(x, j))
    for j in range(whole, x.size):
        square += x[j] * x[j]
    return square + summed(squares)


@piece
def average(x, w, share, previous, away, features, i):
    """Move x to ``x + share (w - x)``, what it was to previous, and ``w - x`` to away; its square, and both margins."""
    whole, squares, heres, theres = x.size - x.size % WIDTH, no_lanes(), no_lanes(), no_lanes()
    square, here, there = 0.0, 0.0, 0.0
    for j in range(0, whole, WIDTH):
        old, record = lanes_at(x, j), lanes_at(features, (i, j))
        gap = added(lanes_at(w, j), -1.0, old)
        new = added(old, share, gap)
        put_lanes(previous, j, old)
        put_lanes(away, j, gap)
        put_lanes(x, j, new)
        squares, heres, theres = added(squares, gap, gap), added(heres, new, record), added(theres, old, record)
    for j in range(whole, x.size):
        previous[j], away[j] = x[j], w[j] - x[j]
        x[j] += share * away[j]
        square += away[j] * away[j]
        here += x[j] * features[i, j]
        there += previous[j] * features[i, j]
    return square + summed(squares), here + summed(heres), there + summed(theres)


@piece
def predict(w, kind, centre, along, expected, errors, radius, first):
    """``w_t`` of the optimistic learners, to w; of the others it is there already."""
    if kind == OPTIMISTIC_FTRL:
        eta = radius * inverse_root(errors)
        for j in range(w.size):
            w[j] = centre[j] - eta * (along[j] + expected[j])
        onto_ball(w, radius)
    elif kind == OPTIMISTIC_OMD:
        eta = 0.0 if first else 2.0 * radius * inverse_root(errors)
        for j in range(w.size):
            w[j] = along[j] - eta * expected[j]
        if not first:
            onto_ball(w, radius)


@piece
def update(w, kind, centre, along, expected, errors, loss, radius, p, size):
    """Suffer a loss: moves w (of mirror descent ``along``); returns the new sum of squares or errors.

    ``size`` is the step of learners that do not adapt; ``along`` the sum of losses, of mirror descent its y.
    """
    if kind in (OGD_FIXED, OSD):
        if kind == OSD:
            errors += 0.5 * size * square_of(loss)
        step_onto_ball(w, w, size, loss, radius)
    elif kind == OGD_ADAGRAD:
        errors += square_of(loss)
        step_onto_ball(w, w, math.sqrt(2.0) * radius * inverse_root(errors), loss, radius)
    elif kind == FTRL:
        errors += square_of(loss)
        for j in range(w.size):
            along[j] += loss[j]
        step_onto_ball(w, centre, radius * inverse_root(errors), along, radius)
    elif kind == LP_FTRL:
        errors += lp_length(loss, p / (p - 1.0)) ** 2
        for j in range(w.size):
            along[j] += loss[j]
        leader(w, along, radius, p, errors)
    else:
        eta = 2.0 * radius * inverse_root(errors)
        for j in range(w.size):
            expected[j] = loss[j] - expected[j]
        errors += lp_length(expected, 2.0) ** 2
        if kind == OPTIMISTIC_FTRL:
            eta = -1.0
        for j in range(w.size):
            along[j] -= eta * loss[j]
            expected[j] = loss[j]
        if kind == OPTIMISTIC_OMD:
            onto_ball(along, radius)
    return errors


@piece
def bet(w, centre, direction, outside, numbers, loss, radius, bound):
    """Update as `learners.ParameterFree` does: moves w, direction and outside; overwrites the loss.

    ``numbers``: the sum of squares, another's, and fraction, wealth, curvature and clips.
    """
    length = math.sqrt(square_of(loss)) / bound
    numbers[5] += 1.0 if length > 1.0 else 0.0
    shrink = 1.0 / (bound * max(length, 1.0))
    away = math.sqrt(square_of(outside))
    pull = min(length, 1.0) / away if away > 0.0 else 0.0
    gain, square = 0.0, 0.0
    for j in range(w.size):
        g = 0.5 * (shrink * loss[j] + pull * outside[j])
        loss[j] = g
        gain += g * direction[j]
        square += g * g
    factor = 1.0 - gain * numbers[2]
    steep = gain / factor
    numbers[3] *= factor
    numbers[4] += steep * steep
    numbers[2] = min(0.5, max(-0.5, numbers[2] - RATE * steep / numbers[4]))
    numbers[0] += square
    eta, staked = inverse_root(numbers[0]), numbers[2] * numbers[3]
    step_onto_ball(direction, direction, eta, loss, 1.0)
    for j in range(w.size):
        w[j] = centre[j] + staked * direction[j]
        outside[j] = w[j]
    onto_ball(w, radius)
    for j in range(w.size):
        outside[j] -= w[j]


@piece
def pull_back(loss, w, anchor, best, xi, nu, bound, sums):
    """Add the subgradient of ``xi ||w - x_0|| + nu ||w - x_0||^2`` to the loss, and facts about its values to sums.

    ``sums``: empty, or the sums and differences of its values at w and x*, and the largest loss over its bound.
    """
    square, reached, size, linear = 0.0, 0.0, 0.0, 0.0
    for j in range(w.size):
        square += (w[j] - anchor[j]) ** 2
    here = math.sqrt(square)
    factor = (xi / here if here > 0.0 else 0.0) + 2.0 * nu
    for j in range(w.size):
        more = factor * (w[j] - anchor[j])
        loss[j] += more
        size += loss[j] * loss[j]
        if sums.size > 0:
            reached += (best[j] - anchor[j]) ** 2
            linear += more * (w[j] - best[j])
    if sums.size > 0:
        now, then = xi * here + nu * square, xi * math.sqrt(reached) + nu * reached
        sums[3] += linear
        sums[5] += now + then
        sums[6] += now - then
        sums[7] = max(sums[7], math.sqrt(size) / bound)


@piece
def leader(w, total, radius, p, squares):
    """``u min(eta ||total||_q, r)``, u the minimiser of ``<total, u>`` on the unit l_p ball, to w."""
    q = p / (p - 1.0)
    largest, powers = largest_of(total), 0.0
    if largest == 0.0:
        for j in range(w.size):
            w[j] = 0.0
        return
    for j in range(w.size):
        ratio = abs(total[j]) / largest
        found = power(ratio, q - 1.0)
        powers += found * ratio
        w[j] = -math.copysign(found, total[j])
    length = radius * math.sqrt(p - 1.0) * inverse_root(squares) * (largest * powers ** (1.0 / q))
    scale_by(w, min(length, radius) / powers ** (1.0 / p))


@piece
def unit_of(t, mode, units, length, lipschitz, smoothness, largest, known):
    """``Delta_t``; ``known`` has the largest units of the blocks, a slot for each level."""
    if mode == FIXED:
        return units[0, t - 1]
    if mode == PRINTED:
        return units[0, t - 1] * (lipschitz + smoothness * largest)
    found, low, level = units[0, t - 1] + units[1, t - 1] * length, 1, 0
    while low < (t & -t):
        found = max(found, known[level])
        low, level = 2 * low, level + 1
    known[level] = found
    return found


@piece
def released_sum(t, value, unit, scale, noise, s, row, sums, noised):
    """Release the noised sum of records 1..t into value, which holds what record t adds; see `reduction.TreeSum`."""
    low, levels = 1, 0
    while low < (t & -t):
        low, levels = 2 * low, levels + 1
    above, slot, kept = t - low, 0, 0.0
    if above > 0:
        kept = 1.0
        while (above >> slot) & 1 == 0:
            slot += 1
    whole, factor = value.size - value.size % WIDTH, unit * scale
    for j in range(0, whole, WIDTH):
        total = lanes_at(value, j)
        for level in range(levels):
            total = added(total, 1.0, lanes_at(sums, (level, j)))
        put_lanes(sums, (levels, j), total)
        total = added(added(total, factor, lanes_at(noise, (s, row, j))), kept, lanes_at(noised, (slot, j)))
        put_lanes(noised, (levels, j), total)
        put_lanes(value, j, total)
    for j in range(whole, value.size):
        for level in range(levels):
            value[j] += sums[level, j]
        sums[levels, j] = value[j]
        value[j] += factor * noise[s, row, j] + kept * noised[slot, j]
        noised[levels, j] = value[j]


@piece
def add_up(sums, w, x, released, beta, best, mean, curvature):
    """Add a round's terms to the sums that `observers.SUMS` names, but for the learner's loss."""
    plain, left, square = 0.0, 0.0, 0.0
    for j in range(w.size):
        away, gradient = w[j] - best[j], mean[j]
        if curvature.size > 0:
            gradient += curvature[j] * x[j]
        plain += released[j] * away
        left += (beta * gradient - released[j]) * away
        square += away * away
    sums[0] += plain
    sums[1] += left
    sums[2] += abs(plain) + abs(left)
    sums[3] += plain
    sums[4] += beta * square


@exact_piece
def to_difference(loss, x, previous, here, there, after, before, i, records, form):
    """``after grad l(x) - before grad l(previous)`` of record i, whose margins are known, to loss."""
    features, labels = records[0], records[1]
    kind, a, b, hessian, centre = form
    now, then = 0.0, 0.0
    if kind != NO_SLOPE:
        now, then = after * slope(kind, a, b, here, labels[i]), before * slope(kind, a, b, there, labels[i])
    for j in range(loss.size):
        loss[j] = (now - then) * features[i, j]
    if hessian.size > 0:
        for j in range(loss.size):
            loss[j] += hessian[j] * (after * (x[j] - centre[j]) - before * (previous[j] - centre[j]))


@exact_piece
def add_regularisers(loss, w, x, beta, ridge, half, best, sums):
    """Add the gradients of the ridge at x and of Lemma 7's term; to the fourth sum, if any, what they say of w - x*."""
    further = 0.0
    for j in range(loss.size):
        more = beta * (ridge * x[j] + half * (w[j] - x[j]))
        loss[j] += more
        further += more * (w[j] - best[j])
    if sums.size > 0:
        sums[3] += further


@exact_piece
def rounds_of_row(row, place, chosen, first_round, told):
    """Run the rounds of one row, of a place in the tile's noise and among its records; ``told`` as `run_rounds` is."""
    state, numbers, slots, records, form, noise, scale, weights, units, learner, watched = told
    beta, total_weight, ridge, half = weights
    mode, parts, lipschitz, smoothness, clips = units
    kind, radius, p, sizes, starts, distance = learner
    best, mean, population, added = watched
    w, x, along, expected = state[row, 0], state[row, 1], state[row, 2], state[row, 3]
    start, counts, loss, previous = starts[row], numbers[row], np.empty(w.size), np.empty(w.size)
    watching, drawn = added.size > 0, 1 if noise.shape[0] == scale.size and noise.shape[1] > place else 0
    seen, optimum = added[row] if watching else added[0:0, 0], best[row] if watching else w
    for s in range(scale.size):
        t = first_round + s
        predict(w, kind, start, along, expected, counts[0], radius, t == 1)
        share, i = beta[t] / total_weight[t] if t > 1 else 0.0, records[2][s, chosen, 0] if form[0] != NO_SLOPE else 0
        square, here, there = average(x, w, share, previous, loss, records[0], i)
        length = 0.0
        if mode != FIXED or clips:
            length = math.sqrt(square) if p == 2.0 else general_length(loss, p)
        counts[1] = max(counts[1], length)
        unit = unit_of(t, mode, parts, length, lipschitz, smoothness, counts[1], slots[2][row])
        to_difference(loss, x, previous, here, there, beta[t], beta[t - 1], i, records, form)
        if clips:
            level = 0.5 * (parts[2, t - 1] + parts[3, t - 1] * length)
            scale_by(loss, min(1.0, level / max(lp_length(loss, p / (p - 1.0)), TINY)))
        if watching:
            add_to(state[row, 4], loss)
        released_sum(t, loss, unit, scale[s], noise, s * drawn, place * drawn, slots[0][row], slots[1][row])
        if watching:
            add_up(seen, w, x, loss, beta[t], optimum, mean[row], population)
            copy_to(state[row, 5], loss)
        if ridge > 0.0 or half > 0.0:
            add_regularisers(loss, w, x, beta[t], ridge, half, optimum, seen)
        if distance.size > 0:
            pull_back(loss, w, start, optimum, distance[0, t], distance[1, t], distance[2, t], seen)
        if watching:
            copy_to(state[row, 6], loss)
        if kind == PARAMETER_FREE:
            bet(w, start, along, expected, counts, loss, radius, sizes[t])
        else:
            counts[0] = update(w, kind, start, along, expected, counts[0], loss, radius, p, sizes[t])


@compiled
def run_rounds(first_round, state, numbers, slots, rows, records, form, noise, scale, weights, units, learner, watched):
    """Run rounds ``first_round ...`` of all rows.

    Parameters
    ----------
    state : array (S R, 7, d)
        Of each row w, x, the learner's sum or y, the hint, the sum of the exact gradients, and the released sum and the
        loss of the last round; the last three only where the rounds are watched.
    numbers : array (S R, 6), the learner's sum of squares or errors, the largest radius so far, and those of `bet`
    slots : tuple, a slot for each level of the tree: sums and noised sums ``(S R, levels, d)``, units ``(S R, levels)``
    rows, records, form, scale : as for `fused.descent.projected_steps`; so is noise, but of float64
    weights : tuple, ``beta (n + 1,)``, ``beta_{1:t} (n + 1,)``, the ridge and half of Lemma 7's modulus
    units : tuple
        Mode; ``(4, n)``: the two parts of Delta_t and of ``s_t``; G, H; whether differences are clipped.
    learner : tuple
        Kind, radius, p, ``sizes (n + 1,)`` of steps that do not adapt, or bounds on losses; ``starts (S R, d)``; and
        ``(3, n + 1)`` or ``(3, 0)``, xi, nu and the bound of the distance that is added to the losses.
    watched : tuple
        x*, ``m`` and ``h`` of the population's gradient, and the sums of `observers.SUMS`, ``(S R, 8)``; empty for none
    """
    first, last, replicates, copies = rows
    index, stride = records[2], records[5]
    for r in range(first, last):
        for copy in range(copies):
            place, chosen = r - first, (r - first) * (index.shape[1] > 1) + copy * stride
            told = state, numbers, slots, records, form, noise, scale, weights, units, learner, watched
            rounds_of_row(copy * replicates + r, place, chosen, first_round, told)


@on_device(run_rounds)
def launch_run_rounds(
    first_round, state, numbers, slots, rows, records, form, noise, scale, weights, units, learner, watched
):
    tile = (scale.size, rows, records, form, noise)
    kept, trees = (numbers, *slots, slots[0].shape[1]), (units[0], units[1], units[1].shape[1], *units[2:])
    kind, radius, _, sizes, starts, _ = learner
    best, mean, population, added = watched
    seen = added.size > 0, best, mean, population, population.size, added
    after = (*kept, scale, first_round, *weights, *trees, kind, radius, sizes, starts, *seen)
    launch_steps(KERNELS, "run_rounds", state, (), tile, *after)


def known_learner(objective, plan, mechanism):
    """Check that the learner is one of those above, on its ball, and that an observer's sums are known."""
    cls, problem = get_learner(plan.learner), objective.problem
    observed = objective.round_observer is not None and hasattr(problem, "population_gradient")
    known = not observed or problem.record_form.slope in (CONSTANT, NO_SLOPE)
    return known and cls in KINDS and (plan.p == 2.0 or cls is LpFtrl)


def kernels_know(objective, plan, mechanism):
    """Check that kernels know the learner, in l2."""
    return plan.p == 2.0 and get_learner(plan.learner) in CLASSES and get_learner(plan.learner) is not LpFtrl


@fused("zhang2022.dp_otb", supports=known_learner, rounds=Rounds, device=kernels_know)
@fused("zhang2022.dp_otb_lp", "zhang2022.dp_otb_pure", supports=known_learner, rounds=Rounds)
def online_to_batch(objective, plan, mechanism):
    """Run compiled; return ``x_n``."""
    learner = get_learner(plan.learner)(learner_setting(objective, plan))
    return converted(objective, plan, mechanism, learner, np.zeros((3, 0)))


@fused("zhang2022.parameter_free", supports=known_learner, rounds=Rounds)
def parameter_free(objective, plan, mechanism):
    """Run compiled; its losses may have the distance from the start."""
    setting = learner_setting(objective, plan, loss_bound=plan.loss_bound, initial_wealth=plan.initial_wealth)
    learner, distance = ParameterFree(setting), np.zeros((3, 0))
    if plan.regulariser == "adaptive":
        terms, t = confidence_of(plan), np.arange(plan.n + 1.0)
        distance = np.array([[part(s) for s in t] for part in (terms.xi, terms.nu, terms.loss_bound)])
    output = converted(objective, plan, mechanism, learner, distance)
    return output, Info({"clips": learner.clips[:, 0]})


def converted(objective, plan, mechanism, learner, distance):
    """Algorithm 1 with a learner, which is left in its last state; ``distance`` as for `run_rounds`."""
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
            steps.run(run_rounds, first + 1, *state, *told, losses, run.units, run.learner, run.seen)
        begun = stop
        run.tell(learner)
        if run.watched:
            sums = run.seen[3] if distance.size else run.seen[3][:, :5]
            last = dict(x=run.x, gradient_sum=run.state[:, 4], released=run.state[:, 5], loss=run.state[:, 6])
            objective.round_observer.summed(objective, sums, beta[stop], t=stop, learner=learner, **last)
    objective.count(-1)  # round 1 looks at its record once
    if ends < n:
        run.x[:] += (learner.predict() - run.x) * (beta[n] / total[n])
    return run.x.copy()


class _Run:
    """State of all rows, and what compiled rounds are told of plan and learner."""

    def __init__(self, objective, plan, learner, beta, distance):
        xp, kind, given, start = objective.xp, KINDS[type(learner)], learner.setting, learner.w
        (rows, d), levels = start.shape, int(plan.n).bit_length()
        self.state, self.numbers = xp.zeros((rows, 7, d)), xp.zeros((rows, 6))
        self.state[:, 0] = self.state[:, 1] = start
        if kind == OPTIMISTIC_OMD:
            self.state[:, 2] = start
        if kind == PARAMETER_FREE:
            self.numbers[:, 3:5] = given.initial_wealth, 1.0
        self.slots = xp.zeros((rows, levels, d)), xp.zeros((rows, levels, d)), xp.zeros((rows, levels))
        mode, parts, *more = _units(node_units(plan.schedule), plan.clip_differences)
        self.units = mode, xp.asarray(parts), *more
        reference = objective.round_observer.reference(objective) if objective.round_observer else None
        seen = _UNSEEN if reference is None else (*reference, np.zeros((rows, len(SUMS))))
        self.watched, self.seen = reference is not None, tuple(map(xp.asarray, seen))
        sizes = xp.asarray(_sizes(kind, given, len(beta)), dtype=xp.float64)
        self.learner = kind, float(given.radius), float(plan.p), sizes, xp.ascontiguousarray(given.start), distance

    @property
    def x(self):
        """``x_t``, ``(R, d)``."""
        return self.state[:, 1]

    def tell(self, learner):
        """Put the reference implementation's learner in the state of the last round."""
        learner.w, along, learner.expected = self.state[:, 0], self.state[:, 2], self.state[:, 3]
        learner.total = learner.y = along
        learner.squares = learner.bound = self.numbers[:, :1]
        learner.clips = self.numbers[:, 5:]


def _sizes(kind, given, count):
    """Compute the steps of learners that do not adapt, or bounds on losses, ``(n + 1,)``."""
    t = np.arange(1, count)
    if kind == OGD_FIXED:
        return np.append(0.0, given.diameter / (given.lipschitz * t ** (given.k + 0.5)))
    if kind == OSD:
        return np.append(0.0, 1.0 / np.cumsum(0.5 * given.strong_convexity * t**given.k))
    return np.full(count, given.loss_bound if kind == PARAMETER_FREE else 0.0)


def _units(units, clips):
    """Mode and parts of the units: see `run_rounds`."""
    a, b = units.parts
    if units.fixed:
        mode, parts = FIXED, (units.fixed_units, 0.0 * a, a + b * units.diameter, 0.0 * a)
    elif units.sensitivity == "eq6":
        mode, parts = PRINTED, (units.printed, 0.0 * a, a, b)
    else:
        mode, parts = TIGHT, (a, b, a, b)
    return mode, np.stack(parts), float(units.lipschitz), float(units.smoothness), bool(clips)
