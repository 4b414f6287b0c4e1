"""Private stochastic Frank-Wolfe (Algorithm 1) over the l1 ball with compiled steps."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from dpsco_bench.fused.compiled import compiled, exact_piece, piece
from dpsco_bench.fused.descent import launch_steps, steps_of
from dpsco_bench.fused.pieces import margin_of, slope
from dpsco_bench.fused.registry import fused
from dpsco_bench.fused.tiles import on_device
from dpsco_bench.geometry.polytope import CrossPolytope
from dpsco_bench.papers.bassily2021.algorithms.lp_setup import towards
from dpsco_bench.papers.bassily2021.fused.vertices import noisy_vertex, vertex_work
from dpsco_bench.problems.data import NO_SLOPE
from dpsco_bench.samplers.draws import LEAST_SCORES

KERNELS = Path(__file__).with_name("poly_sfw.cu")


@exact_piece
def recurse(estimate, x, before, now, old, features, i, hessian, centre, eta):
    """``(1 - eta)(estimate + g(x) - g(before)) + eta g(x)`` in place, for one record; now and old are its slopes."""
    for j in range(x.size):
        new, last = now * features[i, j], old * features[i, j]
        if hessian.size > 0:
            new, last = new + hessian[j] * (x[j] - centre[j]), last + hessian[j] * (before[j] - centre[j])
        estimate[j] = (1.0 - eta) * (estimate[j] + new - last) + eta * new


@piece
def shrink_keeping(x, before, kept, features, following):
    """Keep ``x`` as ``before`` and multiply it; returns ``<a, x>`` and ``<a, before>`` for the record that follows."""
    now, then = 0.0, 0.0
    for j in range(x.size):
        old = x[j]
        before[j], x[j] = old, kept * old
        now += features[following, j] * (kept * old)
        then += features[following, j] * old
    return now, then


@exact_piece
def add_vertex(x, best, eta, radius):
    """Add the part eta of vertex ``best`` of the l1 ball; returns what was added, and to which entry."""
    added = eta * (radius if best % 2 == 0 else -radius)
    x[best // 2] += added
    return added, best // 2


@compiled
def vertex_steps(x, before, estimate, rows, records, form, noise, scale, eta, radius, lazy):
    """Make steps of all rows: estimate, least noisy score, towards its vertex.

    Parameters
    ----------
    x, before, estimate : array (S R, d), iterates, the ones before and estimates of the gradient, changed in place
    scale : array (k,), of the Laplace noise
    lazy : tuple, see `vertices.noisy_vertex`
    rows, records, form, noise : as for `fused.descent.projected_steps`
    """
    first, last, replicates, copies = rows
    features, labels, index, _, _, stride = records
    kind, a, b, hessian, centre = form
    scores, work = np.empty(2 * x.shape[1]), vertex_work(2 * x.shape[1], lazy)
    for copy in range(copies):
        for r in range(first, last):
            row = copy * replicates + r
            point, old, known = x[row], before[row], estimate[row]
            chosen = (r - first) * (index.shape[1] > 1) + copy * stride
            looks = kind != NO_SLOPE
            now = margin_of(point, features, index[0, chosen, 0]) if looks else 0.0
            then = margin_of(old, features, index[0, chosen, 0]) if looks else 0.0
            for s in range(scale.size):
                i = index[s, chosen, 0] if looks else 0
                new_slope = slope(kind, a, b, now, labels[i]) if looks else 0.0
                old_slope = slope(kind, a, b, then, labels[i]) if looks else 0.0
                recurse(known, point, old, new_slope, old_slope, features, i, hessian, centre, eta)
                best = noisy_vertex(scores, known, radius, noise, s, r, first, scale[s], lazy, work)
                following = index[s + 1, chosen, 0] if looks and s + 1 < scale.size else 0
                now, then = shrink_keeping(point, old, 1.0 - eta, features, following)
                added, place = add_vertex(point, best, eta, radius)
                now += added * features[following, place]


@on_device(vertex_steps)
def launch_vertex_steps(x, before, estimate, rows, records, form, noise, scale, eta, radius, lazy):
    tile = (scale.size, rows, records, form, noise)
    launch_steps(
        KERNELS,
        "vertex_steps",
        x,
        (
            before,
            estimate,
        ),
        tile,
        scale,
        float(eta),
        float(radius),
        float(lazy[0]),
    )


def on_the_l1_ball(objective, plan, mechanism):
    """Check that vertices are those of the l1 ball, which have no list."""
    return getattr(objective.domain, "name", "") == "l1_ball"


@fused("bassily2021.poly_sfw", supports=on_the_l1_ball, device=on_the_l1_ball)
def poly_sfw(objective, plan, mechanism):
    """Run the listing compiled; return the last iterate."""
    polytope, eta, N = CrossPolytope(objective.start.shape[-1], objective.domain.radius), plan.step, plan.steps
    before = objective.start
    estimate = objective.xp.ascontiguousarray(objective.range_gradient(before, 0, N))
    chosen = mechanism.release("vertex", polytope.scores(estimate), 0)
    x = towards(before, polytope.vertex(chosen, before.dtype), eta)
    width = polytope.count
    few = width >= LEAST_SCORES and mechanism.scales["vertex"] > 0
    steps = steps_of(objective, mechanism, "vertex", looks=2, dim=0 if few else width)
    threshold = math.log(max(1.0, width / 16)) if few else -1.0
    for t, k in steps.stretches(1, N):
        scales = steps.scales(t, k)
        for tile in steps.tiles(t, k, N + t - 1, variates=not few):
            s, told = tile.steps, (tile.rows, tile.records, steps.form, tile.noise)
            lazy = (threshold, t + s.start, *mechanism.address("vertex"))
            steps.run(vertex_steps, x, before, estimate, *told, scales[s], eta, polytope.radius, lazy)
        objective.observe(x)
    return x
