"""Whether printed noise that a claim runs with is refuted by another claim: by algorithm, variant and its options."""

from types import SimpleNamespace

import pytest

from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import get_kind
from dpsco_bench.execution.cell import Cell
from dpsco_bench.site.pages.claims import refuted_elsewhere


def cell(algorithm="gopi2022.reg_exp_mech", **options):
    return Cell(algorithm, "axis_linear", 64, 1.0, 1e-6, 4, variant="standard", options=options)


def claim(id, *cells, calibration="paper"):
    job = SimpleNamespace(calibration=calibration, charged=True, cells=cells)
    return SimpleNamespace(id=id, jobs=(job,), job=lambda part, asked: job)


def refuting(results, word="fails", calibration="paper", **more):
    row = Verdict(word, "privacy", id=results.id, part="a", calibration=calibration, **more)
    return SimpleNamespace(row=row, kind=get_kind("privacy"), results=results)


ATTAINED = cell(schedule="sco", sampler="axis_exact", accountant="pairs")
PRIVACY = claim("gopi2022.thm4.privacy", ATTAINED)


@pytest.mark.parametrize(
    ("ours", "found"),
    [
        (cell(schedule="sco"), True),
        (cell(schedule="sco", sampler="radial_exact", theta_convention="diameter"), True),
        (cell(), False),  # the schedule is erm by default
        (cell("gopi2022.exp_mech_sc"), False),
    ],
)
def test_a_method_is_the_same_by_what_its_noise_is_made_of(ours, found):
    own = claim("gopi2022.cor2.sco", ours)
    assert [row.id for row in refuted_elsewhere(own, [refuting(PRIVACY)])] == [PRIVACY.id] * found


def test_only_refuted_printed_noise_of_other_claims_counts_and_each_once():
    own = claim("gopi2022.cor2.sco", cell(schedule="sco"))
    others = [refuting(PRIVACY, "holds"), refuting(PRIVACY, calibration="accounted")]
    others += [refuting(PRIVACY, beside="another noise"), refuting(claim(own.id, ATTAINED))]
    assert refuted_elsewhere(own, others) == []
    twice = [refuting(PRIVACY), refuting(PRIVACY)]
    assert refuted_elsewhere(own, twice) == [twice[0].row]
    accounted = claim("gopi2022.cor2.sco", cell(schedule="sco"), calibration="accounted")
    assert refuted_elsewhere(accounted, twice) == []
