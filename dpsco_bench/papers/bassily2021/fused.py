"""Compiled runs of the methods of Bassily, Guzman, Nandi 2021."""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path

import numpy as np

from dpsco_bench.fused.compiled import compiled, exact_piece, piece, vector_piece
from dpsco_bench.fused.descent import descending, launch_steps, projected_sgd_run, projecting, steps_of
from dpsco_bench.fused.mirror import NO_MEAN, MirrorSteps, full_mirror_run, smooth_mirror
from dpsco_bench.fused.pieces import largest_of, margin_of, slope
from dpsco_bench.fused.registry import fused
from dpsco_bench.fused.tiles import Steps, on_device
from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.geometry.polytope import CrossPolytope
from dpsco_bench.papers.bassily2021.algorithms.frank_wolfe import towards
from dpsco_bench.privacy.records import Full
from dpsco_bench.problems.data import NO_SLOPE, form_of
from dpsco_bench.rng.counters import LAPLACE, ORDER
from dpsco_bench.samplers.draws import LEAST_SCORES

fused("bassily2021.noisy_sgd", supports=descending, device=projecting, module=__name__)(projected_sgd_run)
KERNELS = Path(__file__).with_suffix(".cu")


def takes_steps(objective, plan, mechanism):
    """Check that there is a step, and that each record's gradient is known where batches are drawn."""
    if plan.steps == 1:
        return False
    return isinstance(plan.query("gradient").records, Full) or form_of(objective.problem) is not None


@fused("bassily2021.noisy_smd", supports=takes_steps, form=False)
def noisy_smd(objective, plan, mechanism):
    """Run compiled; return the mean of x^1..x^T."""
    start, norm = objective.start, SmoothNorm(plan.p, objective.start.shape[-1], plan.norm_rule)
    geometry = smooth_mirror(norm, plan.p, objective.domain.radius)
    if isinstance(plan.query("gradient").records, Full):
        return (start + full_mirror_run(objective, mechanism, geometry, plan.step)) / plan.steps
    moved, steps = MirrorSteps(objective, geometry), Steps(objective, mechanism, "gradient", sampled=True)
    for _, scales, tile in steps.walk(moved.x, 0, plan.steps - 1):
        moved(tile, steps.form, NO_MEAN, scales, np.full(len(scales), plan.step), np.ones(len(scales)))
    return (start + moved.total) / plan.steps


with suppress(ImportError):  # then the reference implementations run
    from dpsco_bench.rng.kernels import _laplace_row, _new_row, _noisy_minimum


@vector_piece
def ordered(value):
    """Map to an integer in the order of the numbers; `number` inverts it: negative ones are turned over."""
    bits = np.float64(value).view(np.int64)
    return np.int64(bits ^ np.int64((bits >> np.int64(63)) & np.int64(0x7FFFFFFFFFFFFFFF)))


@vector_piece
def number(bits):
    """Invert `ordered`."""
    return np.int64(bits ^ np.int64((bits >> np.int64(63)) & np.int64(0x7FFFFFFFFFFFFFFF))).view(np.float64)


@exact_piece
def add_noise(scores, scale, noise, step, row):
    """Add noise of a step and row to ``scores``, in place; returns the least, by integers, which LLVM vectorises."""
    found = ordered(np.inf)
    for i in range(scores.size):
        score = scores[i] + scale * np.float64(noise[step, row, i])
        scores[i] = score
        found = min(found, ordered(score))
    return number(found)


@vector_piece
def first_of(values, found):
    """Find the first index of ``found`` by a look at all values: LLVM does not vectorise a loop that may end early."""
    last = values.size - 1
    place = last
    for i in range(values.size):
        place = min(place, i if values[i] == found else last)
    return place


@exact_piece
def vertex_work(count, lazy):
    """Allocate the arrays of `noisy_vertex` once for many steps: marks with their number, and a row of noise."""
    kept = count if lazy[0] >= 0.0 else 0
    noise, words = _new_row(kept)
    return np.zeros(kept + 1, np.int64), noise, words


@exact_piece
def noisy_vertex(scores, estimate, radius, noise, step, r, first, scale, lazy, work):
    """Index of the vertex ``v = +-radius e_j`` of least noisy score ``<v, estimate>``, of equal ones the first.

    Parameters
    ----------
    scores : array (2d,), overwritten
    noise : array (k, rows, 2d), or ``(1, 1, 2d)`` of zeros; not looked at where the answer is drawn here
    step, r, first : int, of the step within the tile, of the replicate, and of the tile's first replicate
    scale : float, of the noise
    lazy : tuple
        Range of the scores in noise scales up to which few noises are drawn (`samplers.draws`), or -1 for all
        of them always; the number of the tile's first step, of the run's first replicate, and the stream's key.
    work : tuple, from `vertex_work`
    """
    for j in range(estimate.size):
        scores[2 * j] = radius * estimate[j]
        scores[2 * j + 1] = -scores[2 * j]
    if lazy[0] < 0.0:
        drawn = 1 if noise.shape[0] > step else 0
        row = r - first if noise.shape[1] > r - first else 0
        return first_of(scores, add_noise(scores, scale, noise, step * drawn, row))
    largest = largest_of(estimate) * radius
    return drawn_vertex(scores, largest, step + lazy[1], r + lazy[2], scale, lazy[0], lazy[3:], work)


@exact_piece
def drawn_vertex(scores, largest, step, replicate, scale, threshold, key, work):
    """Find a vertex as `noisy_vertex` does, and draw noise here: as much as it takes if scores are close together."""
    seen, noise, words = work
    if 2.0 * largest <= scale * threshold:
        seen[scores.size] += 1
        return _noisy_minimum(
            scores, seen, seen[scores.size], -largest, scale, step, replicate, (ORDER, key[0], key[1])
        )
    _laplace_row(noise, words, step, replicate, (LAPLACE, key[0], key[1]))
    return first_of(scores, add_noise(scores, scale, noise.reshape(1, 1, -1), 0, 0))


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
    lazy : tuple, see `noisy_vertex`
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
    launch_steps(KERNELS, "vertex_steps", x, (before, estimate), tile, scale, float(eta), float(radius), float(lazy[0]))


def on_the_l1_ball(objective, plan, mechanism):
    """Check that vertices are those of the l1 ball, which have no list."""
    return getattr(objective.domain, "name", "") == "l1_ball"


@fused("bassily2021.poly_sfw", supports=on_the_l1_ball, device=on_the_l1_ball)
def poly_sfw(objective, plan, mechanism):
    """Run compiled; return the last iterate."""
    polytope, eta, N = CrossPolytope(objective.start.shape[-1], objective.domain.radius), plan.step, plan.steps
    before = objective.start
    estimate = objective.xp.ascontiguousarray(objective.range_gradient(before, 0, N))
    chosen = mechanism.release("vertex", polytope.scores(estimate), 0)
    x = towards(before, polytope.vertex(chosen, before.dtype), eta)
    width = polytope.count
    few = width >= LEAST_SCORES and mechanism.scales["vertex"] > 0
    steps = steps_of(objective, mechanism, "vertex", looks=2, dim=0 if few else width)
    threshold = math.log(max(1.0, width / 16)) if few else -1.0
    for t, scales, tile in steps.walk(x, 1, N, record=N, variates=not few):
        lazy = (threshold, t, *mechanism.address("vertex"))
        steps.run(vertex_steps, x, before, estimate, *steps.told(tile), scales, eta, polytope.radius, lazy)
    return x
