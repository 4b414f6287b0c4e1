"""Numbers of accountants, audits, intervals and figures at some points, recorded: no change is unseen.

Closed forms and other accountants say elsewhere that the numbers are right; these are where neither reaches.
"""

import hashlib
import json
import math
from dataclasses import astuple
from pathlib import Path

import numpy as np

from dpsco_bench.analysis import bootstrap, sharing
from dpsco_bench.analysis.rates import lack_of_fit
from dpsco_bench.analysis.slopes import fit_rate
from dpsco_bench.audit import bounds
from dpsco_bench.leaderboard import phases
from dpsco_bench.privacy.accountants import allocation, fixed_size, gaussian, generalised, objective, pld, single_index
from dpsco_bench.privacy.accountants.zcdp import epsilon_each_for, subsampled_epsilon, zcdp_epsilon, zcdp_rho
from dpsco_bench.report.drawing import style
from tests.analysis.test_rates import made_up_sweeps
from tests.leaderboard.test_tables import ROWS, UNDECIDED, results

RECORD = Path(__file__).with_name("points.json")
N = np.array([256.0, 512.0, 1024.0, 2048.0, 4096.0])


def accountants():
    """Values at ordinary points and at extreme ones: much noise, little, a delta of 1e-30, one record, all records."""
    for shift, batches, part, delta in ((0.8, 50, 0.7, 1e-6), (3.0, 7, 0.99, 1e-5), (0.05, 400, 0.3, 1e-30)):
        yield f"allocation {shift}", allocation.allocation_epsilon(shift, batches, part, delta)
        yield f"allocated shift {batches}", allocation.largest_shift(1.0, delta, batches, part)
    for shift, size, steps, replacement in ((0.5, 20, 30, False), (1.5, 3, 200, True), (4.0, 60, 2, True)):
        yield f"batch {shift}", fixed_size.batch_epsilon(shift, 100, size, steps, 1e-6, replacement, 0.1)
        yield f"batch scale {size}", fixed_size.least_scale(1.0, 1e-6, 100, size, steps, replacement)
    copies = fixed_size.CopiesBound.of(1.5, 100, 20, 1e-12)
    yield "copies", [*copies.loss_range(1e-9), *copies.moments(1e-9), *copies.divergence(np.array([0.0, 0.5, 3.0]))]
    for pair in (pld.GaussianPair(1.3, 0.2, True), pld.GaussianPair(0.4, 1.0, False), pld.AnchoredPair(1.0, 0.1, 0.03)):
        first, upper, tilted = pair.rounded_losses(0.01, 1e-9)
        ends = first, upper @ np.arange(len(upper)), tilted.max()
        yield str(pair), [*pair.loss_range(1e-9), *pair.moments(1e-9), *ends]
    yield "several batches", pld.several_poisson_epsilon([(1.0, 0.1, 20), (2.0, 0.3, 5)], 1e-6, 0.2)
    yield "multipliers", [pld.solve_poisson_multiplier(e, 1e-6, 0.05, 100, 0.02) for e in (0.1, 1.0, 8.0)]
    yield "several multiplier", pld.solve_several_multiplier(1.0, 1e-6, [(1.0, 0.1, 20), (1.0, 0.3, 5)], 0.1)
    yield "limit of many", pld.clt_multiplier(0.5, 0.1, 1000)
    for shift, steps, records in ((0.3, 1000, 100), (6.0, 50, 20), (0.7, 3, 1)):
        found = [single_index.single_index_tests(shift, steps, records, 1e-6, anchor) for anchor in (0.0, 0.01)]
        yield f"single index {shift}", [value for one in found for value in one.values()]
        yield f"opposed {shift}", single_index.opposed_epsilon(shift, steps, 1.0 / records, 1e-6)
    for r, d in ((1.0, 3), (1.5, 20), (2.0, 5), (6.0, 200)):
        weights = (0.5, 0.3, 0.2)
        how = [generalised.counting_epsilon, generalised.coordinate_epsilon, generalised.spread_epsilon][: 2 + (r > 2)]
        yield f"generalised {r}", [one(0.9, 12, r, d, 1e-5, weights) for one in how]
    values, shares = generalised.stable_mixture(5.0, 30)
    yield "mixture", [len(values), values @ shares, np.log(values) @ shares]
    for epsilon, ratio in ((0.5, 3.0), (4.0, 0.4)):
        given = [objective.tail_epsilon(ratio, 0.2, 4.0), objective.tail_ratio(epsilon, 0.2, 4.0)]
        yield f"objective {epsilon}", [*given, objective.gamma_epsilon(ratio, 0.2), objective.gamma_ratio(epsilon, 0.2)]
        yield f"last iterates {epsilon}", gaussian.constant_mu(0.9, 40, epsilon, ratio)
        yield f"mixed noise {epsilon}", gaussian.total_epsilon(epsilon, 1e-9 * ratio, 1e-5)
    for rho in (1e-3, 0.5, 30.0):
        yield f"zcdp {rho}", [zcdp_epsilon(rho, d) for d in (1e-5, 1e-100)] + [zcdp_rho(rho, 1e-5)]
        yield f"subsampled {rho}", [subsampled_epsilon(rho, 0.1, 20, 1e-6), epsilon_each_for(rho, 1e-6, 30)]


def audits():
    """Events of scores of 2,000 runs each, and what they bound."""
    draws = np.random.default_rng(5)
    likely, unlikely = draws.normal(0.5, 1.0, 2000), draws.normal(-0.5, 1.0, 2000)
    for exact in (False, True):
        found = bounds.events(likely, unlikely, exact)
        best = bounds.best_event(found, 5000, 0.75, 1e-3, 0.95)
        yield f"events {exact}", [len(found.thresholds), found.thresholds[best], best]
        yield f"power {exact}", bounds.predicted_power(found, 5000, 0.75, 1e-3, 0.95, seed=1)
    bound = bounds.lower_bound(likely, unlikely, 1e-3, 0.95)
    yield "bound", [value for value in astuple(bound) if isinstance(value, float)]
    yield "bound of a Gaussian", bounds.gdp_lower_bound(likely, unlikely, 0.95)
    yield "attainable", bounds.attainable_bound(5000, 1.0, 1e-3, 0.95)


def intervals():
    """Means, slopes and lacks of fit of made-up risks with few replicates, some with random numbers in common."""
    draws = np.random.default_rng(7)
    risks = [n**-0.7 * (1.0 + 0.2 * draws.standard_normal((3, 8)) ** 2) for n in N]
    for name, cell in (("nested", risks[0]), ("flat", risks[0][0]), ("constant", np.full((2, 4), 3.0))):
        yield f"summary {name}", [*astuple(bootstrap.summarise(cell))]
    for labels in ((), ((0,) * 5, (0,) * 5), ((0, 0, 1, 1, 1), (0, 1, 2, 3, 4))):
        replicates = sharing.Replicates.of(risks, **({"sharing": labels} if labels else {}))
        fit = fit_rate(N, replicates, ("points", str(labels)))
        yield f"fit {labels}", [fit.slope, fit.ci_low, fit.ci_high, fit.floored, *fit.weights, *fit.stderr, *fit.dof]
        lack = lack_of_fit(fit, N**-0.5, replicates)
        yield f"lack of fit {labels}", [value for value in astuple(lack) if isinstance(value, float)]


def texts():
    """Digests of what is said of sweeps that show nothing, and of all that stands in a board's figures."""
    said = []
    for _, regime in made_up_sweeps(range(-3, 13), 300):
        said += [regime.lacking(profile, key) for profile in ("ci", "full") for key in ("n", "d", "epsilon")]
    yield "sizes that are lacking", _digest(said)
    board = results([*ROWS, UNDECIDED])
    with style():
        for name, figure in phases.board_figures(board).items():
            yield f"figure {name}", _digest(map(_drawn, figure.findobj()))


def _drawn(artist):
    """Kind, text, place and colour of what is drawn, in short."""
    known = ["text", "xy", "width", "height", "facecolor", "edgecolor", "hatch", "color", "fontsize", "linewidth"]
    found = {key: getattr(artist, f"get_{key}")() for key in [*known, "data"] if hasattr(artist, f"get_{key}")}
    return type(artist).__name__, *(f"{key}={_plain(value)}" for key, value in found.items())


def _plain(value):
    if isinstance(value, str) or value is None:
        return value
    try:
        return np.round(np.asarray(value, dtype=float), 6).tolist()
    except (TypeError, ValueError):
        return str(value)


def _digest(parts):
    return hashlib.sha256(json.dumps([*parts], default=str).encode()).hexdigest()[:16]


PARTS = {part.__name__: part for part in (accountants, audits, intervals, texts)}


def fresh(part):
    """Points of a part by name: a text, or a list of numbers."""
    found = dict(PARTS[part]())
    return {name: v if isinstance(v, str) else np.atleast_1d(v).astype(float).tolist() for name, v in found.items()}


def differences(recorded, found):
    """Names of the points that are not as recorded, to six digits: machines round differently."""

    def same(was, now):
        if not (isinstance(was, list) and isinstance(now, list) and len(was) == len(now)):
            return was == now
        pairs = zip(was, now, strict=True)
        return all(math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-300) or (a != a and b != b) for a, b in pairs)

    return [name for name in {**recorded, **found} if not same(recorded.get(name), found.get(name))]


def compared(keep=False):
    """Names of all points that are not as recorded; with ``keep`` they are recorded."""
    now = {part: fresh(part) for part in PARTS}
    if keep:
        RECORD.write_text(json.dumps(now, indent=1) + "\n")
    was = json.loads(RECORD.read_text())
    return [f"{part}: {name}" for part in PARTS for name in differences(was[part], now[part])]
