"""Hit-and-run chains with slices: for any log-concave density that can be evaluated, on any bounded convex set."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from dpsco_bench.errors import NumericalFailure
from dpsco_bench.samplers.draws import KeyedDraws

Array = np.ndarray
AT_ONCE, MOST_SHRINKS = 16, 1024


def sample_hit_and_run(
    draws: KeyedDraws,
    log_density: Callable[[Array, Array], Array],
    start: Array,
    outer_radius: float,
    steps: int,
    observe: Callable[[Array], None] = lambda x: None,
) -> Array:
    """Last states ``(rows, d)`` of chains, one per row.

    A direction is uniform on the sphere and a level lies an exponential variate below the present log density. The part
    of the line above the level is an interval, so that uniform candidates, which cut the line off where they fail, end
    with an exactly uniform point of it. Source: Chapter gopi2022, section 2.5.

    Parameters
    ----------
    log_density : callable, (points (m, d), their rows (m,)) -> log densities (m,); -inf outside the set
    start : array (rows, d), inside the set
    observe : callable, shown the state after each step
    """
    x, everyone = np.array(start), np.arange(len(start))
    value = log_density(x, everyone)
    for t in range(steps):
        z = ndtri(draws.uniform("direction", t, x.shape[1]))
        direction = z / np.linalg.norm(z, axis=1, keepdims=True)
        level = value + np.log(draws.uniform("level", t, 1)[:, 0])
        low, high = np.full(len(x), -2.0 * outer_radius), np.full(len(x), 2.0 * outer_radius)
        todo, new = everyone, np.array(x)
        for attempt in range(MOST_SHRINKS):
            if attempt % AT_ONCE == 0:
                u = draws.uniform("candidate", t, attempt + AT_ONCE)
            at = low[todo] + (high[todo] - low[todo]) * u[todo, attempt]
            candidates = x[todo] + at[:, None] * direction[todo]
            found = log_density(candidates, todo)
            accepted = found >= level[todo]
            new[todo[accepted]], value[todo[accepted]] = candidates[accepted], found[accepted]
            todo, at = todo[~accepted], at[~accepted]
            if not todo.size:
                break
            low[todo], high[todo] = np.where(at < 0, at, low[todo]), np.where(at < 0, high[todo], at)
        else:
            raise NumericalFailure(f"hit_and_run: no point of the slice in {MOST_SHRINKS} candidates at step {t}")
        x = new
        observe(x)
    return x
