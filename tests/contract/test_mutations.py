"""The contract has teeth: faulty runs and understated sensitivities fail it."""

from dataclasses import replace

import numpy as np
import pytest

from dpsco_bench.algorithms.info import split
from dpsco_bench.audit.search import search
from dpsco_bench.audit.subject import no_neighbours
from dpsco_bench.errors import DpscoError
from dpsco_bench.execution.cell import AlgorithmError
from dpsco_bench.privacy.calibrate import charge
from dpsco_bench.privacy.records import Disjoint, Full, Nodes, RandomAllocation, WithReplacement

from .cases import LAWS, SHARP
from .checks import ROUNDING, evaluations, forced_outputs


class Tampered:
    """A mechanism seen through a fault: `release` is replaced, the rest passed on."""

    def __init__(self, mechanism, release):
        self._mechanism, self._release = mechanism, release

    def __getattr__(self, name):
        return getattr(self._mechanism, name)

    def release(self, name, value, step=0):
        return self._release(self._mechanism, name, value, step)


def tampered(case, release):
    """The case with a faulty release in place of the mechanism's."""
    honest = case.algorithm.run_function
    return case.altered(run=lambda objective, plan, source: honest(objective, plan, Tampered(source, release)))


def test_hidden_noise_is_caught(noisy_case):
    honest, rng = noisy_case.algorithm.run_function, np.random.default_rng(0)

    def run(objective, plan, source):
        x, _ = split(honest(objective, plan, source))
        return x + 1e-3 * rng.standard_normal(x.shape)

    assert not np.array_equal(*forced_outputs(noisy_case.altered(run=run)))


def test_a_forgotten_release_is_caught(law_case):
    last = max(law_case.plan.queries, key=lambda q: q.releases)

    def release(source, name, value, step):
        forgotten = name == last.name and step == last.releases - 1
        return last.answer(value, None) if forgotten else source.release(name, value, step)

    with pytest.raises(AlgorithmError, match=f"query {last.name} was released {last.releases - 1} times"):
        tampered(law_case, release).checks.check_counts()


def test_a_peek_at_the_data_is_caught(sharp_law_case):
    honest = sharp_law_case.algorithm.run_function

    def run(objective, plan, source):
        x, _ = split(honest(objective, plan, source))
        return x - 0.1 * objective.exact_gradient(x)

    assert search(sharp_law_case.altered(run=run).subject, rounds=0, neighbours=4, everywhere=False).leak > 0


def test_an_uncounted_gradient_is_caught(law_case):
    honest = law_case.algorithm.run_function

    def run(objective, plan, source):
        x, _ = split(honest(objective, plan, source))
        objective.exact_gradient(x)
        objective.evaluations = objective.evaluations - 1.0
        return x

    found = evaluations(law_case.altered(run=run))
    assert found.expected == pytest.approx(law_case.plan.gradient_evaluations - 1, rel=ROUNDING)


def test_less_noise_than_charged_is_caught(charged_case):
    halved = {name: 0.5 * scale for name, scale in charged_case.scales.items()}
    assert charge(charged_case.plan, halved, 1e-5).epsilon > 1.2 * charged_case.calibrated.charge.epsilon


def test_one_more_release_than_charged_is_caught(charged_case):
    def overcounted(query):
        """One release more, and no longer on a block of its own: more blocks would be free."""
        records = Full() if isinstance(query.records, Disjoint | RandomAllocation) else query.records
        return replace(query, releases=query.releases + 1, records=records)

    if any(isinstance(query.records, Nodes) for query in charged_case.plan.queries):
        with pytest.raises(DpscoError, match="releases of .*: must be the number of nodes"):  # they are counted
            tuple(map(overcounted, charged_case.plan.queries))
        return
    more = tuple(map(overcounted, charged_case.plan.queries))
    longer = charge(replace(charged_case.plan, queries=more), charged_case.scales, 1e-5)
    assert longer.epsilon > charged_case.calibrated.charge.epsilon


CAUGHT = 0.85
"""A sensitivity understated by this factor, or a smaller one, is caught on problems with sharp records."""
CAUGHT_LATER = {
    # Hessians of convex losses differ by at most L1, not by 2 L1, and a short run moves by half of what it may
    "bassily2021.noisy_sfw": 0.24,
    # scores on a centred ball change half as much as on any set of the same diameter
    "bassily2021.poly_sfw": 0.48,
    # gradients of least squares in the unit ball differ by .65 of what the constants allow
    "su2023.pda_dpmd": 0.64,
    # a record moves the average of n_i + 1 points, and the last phase has n_i = 1
    "su2023.phased_dp_sgd": 0.49,
    # the same phases, on losses whose gradients differ by half of 2 G: steps too long for the sharp records
    "zhang2022.fkt20_phased_sgd": 0.27,
    # equation (6) is at least twice what the first record does
    **{f"zhang2022.{name}-printed": 0.4 for name in ("dp_otb", "dp_otb_lp", "dp_otb_pure", "parameter_free")},
}
"""Algorithms, or variants, of which the search finds less: the largest factor that is still caught."""
PLACES = dict.fromkeys(("su2023.phased_dp_sgd", "zhang2022.fkt20_phased_sgd"), (0, 12, 18, 21))
"""Records at which the search looks, where not every one enters every query: one of each phase."""


def found(case):
    places = PLACES.get(case.algorithm.id, (0, case.n // 2, case.n - 1))
    return search(case.subject, places, neighbours=8, rounds=2, everywhere=False)


def test_an_understated_sensitivity_is_caught(sharp_law_case):
    case, seen = sharp_law_case, found(sharp_law_case)
    assert max(seen.ratios.values()) <= 1 + 1e-9 and seen.leak == 0 and not seen.misplaced
    name = case.algorithm.id
    factor = CAUGHT_LATER.get(f"{name}-{case.variant}", CAUGHT_LATER.get(name, CAUGHT))
    assert min(seen.ratios.values()) > factor


SEVERAL_COPIES = [
    case
    for case in LAWS
    if case.noisy
    and any(isinstance(q.records, WithReplacement) for q in case.plan.queries)
    and not no_neighbours(case.problem, case.plan, case.problem.constants.status)
]


@pytest.mark.parametrize("own", SEVERAL_COPIES, ids=lambda case: f"{case.algorithm.id}-{case.variant}")
def test_a_record_that_is_drawn_several_times_changes_as_much_for_each(own):
    seen = search(own.subject, range(0, own.n, 5), neighbours=4, rounds=1, everywhere=False)
    assert not seen.misplaced and seen.leak == 0


def test_the_search_measures_in_units_of_what_is_declared():
    case = next(c for c in SHARP if len(c.plan.queries) > 1)
    honest = found(case).ratios
    name = min(honest)
    halved = (replace(q, sensitivity=0.5 * q.sensitivity) if q.name == name else q for q in case.plan.queries)
    mutant = case.altered(plan=replace(case.plan, queries=tuple(halved)))
    assert found(mutant).ratios == pytest.approx({**honest, name: 2 * honest[name]})
