"""The contract has teeth: faulty runs fail it. Each mutant is a correct run with one fault put in."""

from dataclasses import replace

import numpy as np
import pytest

from dpsco_bench.algorithms.info import split
from dpsco_bench.audit.search import search
from dpsco_bench.errors import DpscoError
from dpsco_bench.privacy.calibrate import charge
from dpsco_bench.privacy.records import Disjoint, Full, Nodes, RandomAllocation

from .checks import ROUNDING, declared_counts, drawn_counts, evaluations, forced_outputs


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

    assert drawn_counts(tampered(law_case, release)) != declared_counts(law_case)


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
