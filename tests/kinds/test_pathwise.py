"""Bounds that hold by the replicate, or with a measured quantity in them: the worst signal and replicate decide."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.analysis.evidence import MeasuredCell, evidence_of
from dpsco_bench.analysis.looks import Look
from dpsco_bench.claims.bounds.registry import bound
from dpsco_bench.errors import InputError
from dpsco_bench.execution.cell import CalibratedCell, Cell
from dpsco_bench.kinds.explicit import Explicit, ExplicitPart, pathwise_verdict, replicate_bounds
from dpsco_bench.privacy.fingerprint import PlanRecord
from dpsco_bench.problems.base import Constants

CHARGED = PlanRecord({}, (), 0.0, (), "", (), None)
FIXED = CalibratedCell("paper", "standard", CHARGED, {}, 1.0, "exact", "made up", "proven",
                       Constants(1.0, 1.0), 4, signal_capped=False, warnings=())  # fmt: skip
MEASURED, ONE = bound("own.regret", "2 regret", {"regret": "extras.regret"}), bound("own.one", "1")


def evidence(risks, extras, quantity="risk", starts=(1.0, 1.0, 1.0)):
    """Cells at values 0, 1, ... with arrays ``(signals, data_sets, replicates)`` of the risk and of each extra."""
    cells = []
    for value, risk in enumerate(np.asarray(risks, dtype=float)):
        for signal, block in enumerate(risk):
            at = {"value": float(value), "signal": float(signal) if len(risk) > 1 else None, "cell": len(cells)}
            entry = Cell("made.up", "made_up", 8, 1.0, 1e-5, method="m", parameter="n", **at)
            noted = {name: np.asarray(values, dtype=float)[value, signal] for name, values in extras.items()}
            curve = (np.zeros_like(block[None]), block[None], starts[signal], False)
            cells.append(MeasuredCell(entry, FIXED, "paper", block, *curve, extras=noted))
    return evidence_of(cells, quantity)


def part(**more):
    return ExplicitPart("p", "explicit", ["paper"], uses=["q"], **{"bound": "p.b", **more})


@pytest.mark.parametrize(("starts", "word"), [((0.1, 0.5, 0.9), "vacuous"), ((0.1, 0.5, 3.0), "holds")])
def test_a_bound_between_the_starts_of_two_signals_can_fail(starts, word):
    risk = np.full((2, 3, 2, 4), 0.02)
    risk[:, 0] = 0.05  # the largest risk is not where the start's is
    cells = evidence(risk, {}, starts=starts)
    assert pathwise_verdict(part(statistic="max"), cells, ONE).word == word
    told = {"part": part(), "bound": ONE, "cells": cells, "printed": [1.0, 1.0], "dof": np.inf, "sources": ["q"]}
    told |= {"look_at": lambda source: Look(), "among": 0, "confidence": lambda early: 0.95}
    case = SimpleNamespace(**told, columns=([0.0, 1.0], [0.05, 0.05], [0.01, 0.01]))
    assert Explicit().judge(case).word == word


def test_a_quantity_takes_the_place_of_the_risk():
    rng = np.random.default_rng(0)
    risk, length = rng.random((2, 3, 2, 4)), rng.random((2, 3, 2, 4))
    for quantity, values in (("risk", risk), ("length", length)):
        for cell, expected in zip(evidence(risk, {"length": length}, quantity), values, strict=True):
            np.testing.assert_array_equal(cell.risks, expected)
            assert cell.signal == expected.mean(axis=(1, 2)).argmax() and len(cell.grid) == 3
            assert cell.context.extra("length") == pytest.approx(length[int(cell.value), int(cell.signal)].mean())
    with pytest.raises(InputError, match="quantity of m = 'width': must be one of risk, length"):
        evidence(risk, {"length": length}, "width")


def test_max_lets_no_replicate_exceed_the_bound():
    def largest(risk):
        return pathwise_verdict(part(statistic="max"), evidence(risk, {}), ONE)

    risk = np.full((2, 3, 2, 4), 0.5)
    found = largest(risk)
    assert (found.verdict, found.worst_ratio, found.stderr) == ("holds", 0.5, (0.0, 0.0))
    risk[1, 0, 1, 2] = 1.01
    risk[1, 2] = 0.9  # the signal of the largest mean is another one
    found = largest(risk)
    assert (found.verdict, found.worst_ratio, found.worst_value) == ("violated", 1.01, 1.0)
    assert largest(np.full((1, 1, 1, 3), 1 + 1e-12)).verdict == "holds"


def test_the_share_of_every_signal_counts():
    risk = np.full((1, 2, 1, 200), 0.5)
    stated = part(statistic="fraction", probability=0.95)
    assert pathwise_verdict(stated, evidence(risk, {}), ONE).verdict == "holds"
    risk[0, 0, 0, :60] = 1.5
    risk[0, 1] = 0.9
    risk[0, 1, 0, :5] = 9.0
    verdict = pathwise_verdict(stated, evidence(risk, {}), ONE)
    assert verdict.verdict == "violated" and "70 % of the 200 replicates" in verdict.reason


def test_measured_bounds_belong_to_their_replicate():
    risk, regret = [[[[1.0, 5.0, 3.0]]]], [[[[0.4, 4.0, 3.0]]]]
    (cell,) = evidence(risk, {"regret": regret})
    np.testing.assert_allclose(replicate_bounds(cell, MEASURED), [0.8, 8, 6])
    assert pathwise_verdict(part(statistic="max"), [cell], MEASURED).worst_ratio == pytest.approx(1.25)
    assert pathwise_verdict(part(statistic="mean"), [cell], ONE).mean == (3.0,)
    with pytest.raises(InputError, match="extra = 'regret'"):
        pathwise_verdict(part(statistic="max"), evidence(risk, {}), MEASURED)


def test_means_are_compared_with_the_bound_of_their_own_signal():
    rng = np.random.default_rng(3)
    risk = np.stack([rng.normal(1.0, 0.01, (1, 50)), rng.normal(5.0, 0.01, (1, 50))])[None]
    regret = np.stack([np.full((1, 50), 0.4), np.full((1, 50), 9.0)])[None]
    verdict = pathwise_verdict(part(), evidence(risk, {"regret": regret}), MEASURED)
    assert verdict.verdict == "violated" and verdict.bound == pytest.approx((0.8,))


@pytest.mark.parametrize(
    ("excess", "word"), [(0.0, "holds"), (-0.05, "holds"), (0.05, "violated"), (0.01, "inconclusive")]
)
def test_a_measured_bound_and_its_risk_are_compared_in_pairs(excess, word):
    """The regret varies by 30 %, and the risk with it: by itself it would say nothing of a twentieth."""
    rng = np.random.default_rng(5)
    regret = rng.gamma(10.0, 0.05, (1, 1, 1, 200))
    risk = 2 * regret + excess + (rng.normal(0.0, 0.1, regret.shape) if excess else 0.0)
    verdict = pathwise_verdict(part(), evidence(risk, {"regret": regret}), MEASURED)
    assert verdict.word == word
    assert verdict.stderr[0] == pytest.approx((risk - 2 * regret).std(ddof=1) / np.sqrt(200), abs=1e-12)


def test_without_noise_a_printed_formula_has_none():
    (cell,) = evidence(np.ones((1, 1, 1, 3)), {})
    assert cell.printed.calibration == "paper"
    assert replace(cell, calibration="none").printed.calibration == "none"
    assert replace(cell, calibration="accounted").printed.calibration == "paper"
