"""Compiled steps of the methods of Wang, Ye, Xu 2017."""

from __future__ import annotations

from functools import partial
from math import sqrt
from pathlib import Path

import numpy as np

from dpsco_bench.fused.compiled import compiled, piece
from dpsco_bench.fused.descent import (
    TOGETHER,
    add_records,
    descend,
    descending,
    launch_steps,
    projected_run,
    projecting,
    steps_of,
    to_batch_slopes,
)
from dpsco_bench.fused.mirror import averaged_run
from dpsco_bench.fused.pieces import margin_of, scale_by, shrink_onto, slope
from dpsco_bench.fused.registry import fused
from dpsco_bench.fused.sparse import mean_of_records
from dpsco_bench.fused.tiles import domain_of, on_device
from dpsco_bench.papers.wang2017.algorithms import svrg
from dpsco_bench.problems.data import NO_SLOPE

fused("wang2017.noisy_md_ttz14", form=False, module=__name__)(averaged_run)
KERNELS = Path(__file__).with_suffix(".cu")


@fused("wang2017.noisy_sgd_bst14", supports=descending, device=projecting)
def noisy_sgd(objective, plan, mechanism):
    """Run compiled: the last iterate of steps ``1/(mu t)`` or ``diam/sqrt(t (G^2 + d sigma^2))``."""
    x = objective.start
    spread = sqrt(plan.lipschitz**2 + x.shape[-1] * mechanism.scales["gradient"] ** 2)

    def step(t, k):
        numbers = np.arange(t + 1, t + k + 1)
        return 1 / (plan.curvature * numbers) if plan.curvature > 0 else plan.diameter / (np.sqrt(numbers) * spread)

    projected_run(objective, mechanism, x, objective.xp.zeros_like(x), step, 0.0)
    return x


@piece
def anchored(g, x, snapshot, v, features, labels, index, batch, share, form, room):
    """``v`` plus the batch's mean difference between the gradients at ``x`` and at the snapshot, to ``g (d,)``.

    ``batch`` and ``form`` as for `descent.batch_gradient`; ``room (3, 24)``.
    """
    step, row, count = batch
    kind, a, b, hessian, _ = form
    now, then, known = room[0], room[1], room[2]
    for j in range(x.size):
        g[j] = v[j]
    for low in range(0, count if kind != NO_SLOPE else 0, TOGETHER):
        part = step, row, low, min(TOGETHER, count - low)
        to_batch_slopes(then, known, snapshot, features, labels, index, part, kind, a, b)
        to_batch_slopes(now, known, x, features, labels, index, part, kind, a, b)
        for w in range(TOGETHER):
            now[w] -= then[w]
        add_records(g, now, share, features, index, part)
    if hessian.size > 0:
        for j in range(x.size):
            g[j] += count * share * hessian[j] * (x[j] - snapshot[j])


@piece
def finish_both(x, total, shrink, old, features, following):
    """Finish as `pieces.finish` does with weight 1, with the next record's margin at the snapshot ``old`` too."""
    now, then = 0.0, 0.0
    for j in range(x.size):
        moved = shrink * x[j]
        x[j] = moved
        total[j] += moved
        now += moved * features[following, j]
        then += old[j] * features[following, j]
    return now, then


@compiled
def inner_steps(x, total, snapshot, v, eta, rows, records, form, noise, scale, ridge, domain):
    """Make steps ``x <- P((x - eta (g + scale z))/(1 + eta ridge))`` of all rows, with the sum of the new iterates.

    Parameters
    ----------
    x, total, snapshot, v : array (S R, d), iterates and their sums, changed in place; snapshots, anchor gradients
    eta : array (S R,), step sizes; scale : array (k,)
    rows, records, form, noise, domain : as for `fused.descent.projected_steps`
    """
    first, last, replicates, copies = rows
    features, labels, index, counts, share, stride = records
    kind, a, b, hessian, _ = form
    ball, radius, _ = domain
    g, room, now, then = np.empty(x.shape[1]), np.zeros((3, TOGETHER)), 0.0, 0.0
    one = index.shape[2] == 1 and counts.size == 1 and counts[0, 0] == 1
    single = one and kind != NO_SLOPE and hessian.size == 0
    drawn = 1 if noise.shape[0] == scale.size and noise.shape[1] == last - first else 0
    for copy in range(copies):
        for r in range(first, last):
            i = copy * replicates + r
            point, sums, old, anchor = x[i], total[i], snapshot[i], v[i]
            chosen = (r - first) * (index.shape[1] > 1) + copy * stride
            shrunk = 1.0 / (1.0 + eta[i] * ridge)
            if single:
                now = margin_of(point, features, index[0, chosen, 0])
                then = margin_of(old, features, index[0, chosen, 0])
            for s in range(scale.size):
                record, weight = 0, 0.0
                if single:  # the record's own term goes into the step, without a pass of its own
                    record = index[s, chosen, 0]
                    before = slope(kind, a, b, then, labels[record])
                    weight = share * (slope(kind, a, b, now, labels[record]) - before)
                else:
                    count = counts[s, chosen] if counts.size > 1 else counts[0, 0]
                    batch = s, chosen, count
                    anchored(g, point, old, anchor, features, labels, index, batch, share, form, room)
                place, around = (s * drawn, (r - first) * drawn), anchor if single else g
                square = descend(point, around, weight, features, record, noise, *place, eta[i], scale[s], 0.0)
                if ridge > 0.0:
                    square *= shrunk * shrunk
                    scale_by(point, shrunk)
                following = index[s + 1, chosen, 0] if single and s + 1 < scale.size else 0
                shrink = shrink_onto(point, square, ball, radius)
                now, then = finish_both(point, sums, shrink, old, features, following)


@on_device(inner_steps)
def launch_inner_steps(x, total, snapshot, v, eta, rows, records, form, noise, scale, ridge, domain):
    tile = (scale.size, rows, records, form, noise)
    launch_steps(KERNELS, "inner_steps", x, (total, snapshot, v, eta), tile, scale, float(ridge), *domain[:2])


def compiled_loop(objective, plan, mechanism, x, snapshot, v, step, steps):
    """Run `svrg.inner_loop` compiled."""
    made, xp, x = steps_of(objective, mechanism, "inner", sampled=True, looks=2), objective.xp, x.copy()
    total, ridge, domain = xp.zeros_like(x), objective.problem.constants.regularisation, domain_of(objective)
    eta, v = xp.zeros(len(x)) + xp.reshape(xp.asarray(step, dtype=xp.float64), (-1,)), xp.ascontiguousarray(v)
    for _, scales, tile in made.walk(x, steps.start, len(steps)):
        made.run(inner_steps, x, total, snapshot, v, eta, *made.told(tile), scales, ridge, domain)
    return x, total / len(steps)


def ridge_alone(objective, plan, mechanism):
    """Compiled steps project, of regularisers they know the ridge, and a step makes one release."""
    answers = {query.name for query in plan.queries}.isdisjoint(("full", "output"))
    return answers and not objective.problem.l1 and projecting(objective, plan, mechanism)


@fused("wang2017.dp_svrg", supports=ridge_alone, device=ridge_alone)
def dp_svrg(objective, plan, mechanism):
    return svrg.dp_svrg(objective, plan, mechanism, partial(mean_of_records, objective), compiled_loop)


@fused("wang2017.dp_svrg_pp", supports=ridge_alone, device=ridge_alone)
def dp_svrg_pp(objective, plan, mechanism):
    return svrg.dp_svrg_pp(objective, plan, mechanism, partial(mean_of_records, objective), compiled_loop)
