"""Panels over several parts: which parts belong together, and the map of explicit bounds."""

from types import SimpleNamespace

import numpy as np

from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import get_kind
from dpsco_bench.claims.model import MeasuredPart, Method
from dpsco_bench.report.figures import grouped_parts, variant_groups


def evidence(slope, scale):
    spread = scale * np.array([[0.9, 1.0, 1.1]])
    made = [{"value": x, "risks": spread * x**slope, "entry": {"method": "m"}} for x in (64.0, 128.0, 256.0)]
    return [SimpleNamespace(**one, numerical_error=None) for one in made]


def score(part, calibration="none", problem="quad", parameter="n"):
    results = SimpleNamespace(paper="p", evidence=lambda part, calibration: evidence(-0.5, 1.0))
    numbers = {"values": (64.0, 128.0, 256.0), "mean": (1.0, 0.5, 0.25), "bound": (2.0, 1.0, 0.5), "slope": -0.5}
    found = Verdict("match", "rate", part=part, calibration=calibration, parameter=parameter, **numbers)
    made = MeasuredPart(part, "rate", [calibration], methods=[Method("p.a")], problem=problem, fixed={"d": 2})
    told = {"verdict": found.said, "tone": "good", "quantity": "excess risk"}
    return SimpleNamespace(row=found, kind=get_kind("rate"), part=made, results=results, **told)


def test_variants_of_one_sweep_belong_together():
    found = [score(f"stat_n-{name}") for name in ("ogd", "omd", "ftrl")]
    groups = variant_groups([*found, score("priv_n-ogd"), score("priv_n-omd"), score("alone")])
    assert {key: len(scores) for key, scores in groups.items()} == {("stat_n", "none", "excess risk"): 3}
    assert grouped_parts(found) == {"stat_n-ogd", "stat_n-omd", "stat_n-ftrl"}


def test_sweeps_in_different_parameters_or_on_different_instances_stay_apart():
    shared = [score("n-a"), score("n-b"), score("n-c")]
    shared[0].quantity = "threshold signal"
    assert not variant_groups(shared), "what is measured in other units has another axis"
    assert not variant_groups([score("quad-n"), score("quad-d", parameter="d"), score("quad-e", parameter="epsilon")])
    assert not variant_groups([score("n-a"), score("n-b", problem="other"), score("n-c")])
