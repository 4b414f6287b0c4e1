"""Kind `privacy`: real against claimed epsilon."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.analysis.noise import Noise
from dpsco_bench.claims.catalogue import read_claim
from dpsco_bench.kinds.privacy import other_instance, privacy_verdict
from dpsco_bench.privacy.compared import Compared


def judged(*cells, **given):
    """Verdict on cells (real epsilon, kind, claimed epsilon)."""
    return privacy_verdict([Noise("unproven", *cell) for cell in cells], **given)


@pytest.mark.parametrize(
    ("real", "kind", "verdict"),
    [
        (0.9, "upper", "holds"),
        (0.9, "exact", "holds"),
        (1.0009, "exact", "holds"),
        (1.0011, "exact", "fails (real eps 1)"),
        (2.4, "exact", "fails (real eps 2.4)"),
        (14646.0, "lower", "fails (real eps 1.46e+04)"),
        (np.inf, "exact", "fails (real eps inf)"),
        (2.4, "upper", "unproven (upper bound 2.4)"),
        (np.inf, "upper", "unproven (upper bound inf)"),
        (0.9, "lower", "unproven (lower bound 0.9)"),
        (np.nan, "", "unproven (no accountant covers it)"),
    ],
)
def test_privacy_of_one_cell(real, kind, verdict):
    found = judged((real, kind, 1.0))
    assert (found.verdict, found.epsilon_real_kind) == (verdict, kind)
    assert found.epsilon_real == pytest.approx(real, rel=0.0, abs=0.0, nan_ok=True)


def test_worst_cell_decides_relative_to_its_claim():
    found = judged((0.5, "exact", 1.0), (3.0, "exact", 1.0), (7.0, "exact", 4.0), (9.0, "upper", 1.0))
    assert (found.verdict, found.epsilon_claimed) == ("fails (real eps 3)", 1.0)
    assert found.reason == "the real eps is 3 where 1 is claimed"
    assert judged((0.5, "exact", 1.0), (3.9, "upper", 4.0)).verdict == "holds"
    for other in ((0.5, "exact", 1.0), (np.nan, "", 1.0)):
        assert judged(other, (9.0, "upper", 1.0)).verdict == "unproven (upper bound 9)"


@pytest.mark.parametrize(("kind", "named"), [("exact", True), ("lower", True), ("upper", False)])
def test_what_fails_shows_the_instance_that_attains_it(kind, named):
    """Or the theorem alone, where no records of the instance do."""
    places = [("a", "n = 1"), ("b", "n = 2")]
    cells = (0.5, "exact", 1.0), (3.0, kind, 1.0)
    reason = judged(*cells, attained=lambda number: (Compared(), *places[number])).reason
    assert reason.endswith(": b, n = 2") == named and "3 where 1 is claimed" in reason
    if kind == "lower":
        other = judged(*cells, attained=lambda number: (Compared(), "", "n = 2")).reason
        assert other.endswith("for some records that the theorem admits: n = 2")


@pytest.mark.parametrize(("kind", "sign"), [("exact", "="), ("lower", ">=")])
def test_a_sequence_above_the_claim_leaves_the_output_open(kind, sign):
    noise = Noise("unproven", 3.0, kind, 1.0, epsilon_of="sequence", epsilon_sequence=3.0, epsilon_sequence_kind=kind)
    found = privacy_verdict([noise], attained=lambda number: (Compared("two records"), "", ""))
    assert found.verdict == f"unproven (query sequence {sign} 3)" and found.epsilon_of == "sequence"
    assert "that of the output is open" in found.reason and found.noise.pair == "two records"
    assert privacy_verdict([replace(noise, epsilon_of="output")]).word == "fails"


@pytest.mark.parametrize("kind", ["exact", "upper", "lower"])
def test_nothing_is_proven_where_proof_is_withheld(kind):
    found = judged((0.5, kind, 1.0), unproven="nominal constants")
    assert (found.word, found.reason) == ("unproven", "nominal constants")


def test_a_row_of_another_problem_than_the_risks_names_both():
    def said(id):
        claim = read_claim(id)
        (part, *_) = (part for part in claim.parts if part.kind == "privacy")
        return other_instance(SimpleNamespace(whole=SimpleNamespace(claim=claim), part=part))

    assert said("wang2017.table3.md_ttz14") == ", on ridge logistic, where the risks are of md linear"
    assert said("wang2017.table2.bst14") == said("gopi2022.thm3.privacy") == ""
