"""Kind `audit`: its words, its parts, and the claims that ship."""

import math
from operator import attrgetter
from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.audit import auditor
from dpsco_bench.audit.auditor import CONFIDENCE, FAMILY, FAMILY_CONFIDENCE, INSTANCES, Audit, make_audit_cell
from dpsco_bench.audit.canaries import trials
from dpsco_bench.claims.catalogue import read_claims
from dpsco_bench.claims.kinds import get_kind
from dpsco_bench.claims.parsing import parse_claim
from dpsco_bench.errors import InputError
from dpsco_bench.execution.calibration import calibrate_cell, calibrate_job
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.job import execute
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.results import read_extras
from dpsco_bench.kinds.audit import SAYS_SOMETHING

AUDITS = [(claim, part) for claim in read_claims() if claim.id.endswith(".audit") for part in claim.parts]


def test_every_audit_that_is_listed_is_a_part_of_a_claim():
    """Beside them are the settings at which a chapter calls a printed calibration not private."""
    names = attrgetter("algorithm", "variant", "calibration", "problem", "n", "d", "epsilon", "fused")
    listed = {names(trial) for trial in trials() if not trial.reason}
    found = {
        (m.algorithm, m.variant, c, part.problem, part.fixed["n"], part.fixed["d"], part.sweep.values["full"][0], fused)
        for _, part in AUDITS
        for m in part.methods
        for c in part.calibrations
        for fused in (part.evaluation == "output",)
    }
    own = [part for _, part in AUDITS if part.note]
    assert listed <= found and len(own) == 5
    assert {audit[:2] for audit in found - listed} <= {(m.algorithm, m.variant) for part in own for m in part.methods}


@pytest.mark.parametrize("profile", ["ci", "full"])
def test_the_confidence_is_that_of_the_family(profile):
    """Bonferroni: two tests of so many audits, cells included, at the confidence of one."""
    audits = sum(len(part.sweep.values.get(profile, [])) * len(part.calibrations) for _, part in AUDITS)
    assert 0 < 2 * audits <= FAMILY and math.isclose(FAMILY * (1 - CONFIDENCE), 1 - FAMILY_CONFIDENCE)


def test_every_audit_is_part_of_full_and_says_what_it_cannot_show():
    assert all("full" in part.replicates for _, part in AUDITS)
    assert all(claim.statement.rstrip().endswith("it never proves one.") for claim, _ in AUDITS)


def job_of(calibration, runs, **keys):
    place = {"n": 50, "epsilon": 1.0, "delta": 1e-5, "d": 2, "parameter": "epsilon", "value": 1.0}
    cells = (Cell("wang2017.dp_accmd", "canary_curved", **place, **keys),)
    given = {"claim": "mine.audit", "part": "one", "kind": "audit", "evaluation": "audit", "seed": 3}
    return Job(**given, calibration=calibration, replicates=runs, cells=cells)


def judged(cells):
    return get_kind("audit").judge(SimpleNamespace(cells=cells))


CALIBRATIONS = [("paper", {"variant": "literal"}), ("accounted", {})]


@pytest.mark.parametrize(("calibration", "keys"), CALIBRATIONS)
def test_a_job_has_one_row_with_the_bound(calibration, keys):
    job, refuted = job_of(calibration, 600, **keys), float(calibration == "paper")
    table = execute(job, calibrate_job(job))
    extras = read_extras(table)
    assert table.num_rows == 1 and extras["audit_refuted"].tolist() == [refuted]
    assert (table["risk"].to_numpy()[0] > 1.0) == bool(refuted) and 0 <= extras["audit_power"][0] <= 1
    assert "canary_curved n=50 d=2: canary" in table["warnings"].to_pylist()[0]
    assert table.equals(execute(job, calibrate_job(job)))


@pytest.mark.parametrize(("calibration", "keys"), CALIBRATIONS)
def test_no_more_runs_are_made_than_a_power_of_99_percent_needs(calibration, keys):
    runs = 20_000
    job = job_of(calibration, runs, **keys)
    audit = Audit(job.cells[0], calibrate_job(job)[0], runs, CONFIDENCE, seed=3)
    found = [audit.result(sparing) for sparing in (True, False)]
    assert 1000 <= found[0].runs < found[1].runs == runs and runs % found[0].runs == 0
    assert min(one.power for one in found) >= 0.99 and found[0].verdict == found[1].verdict
    if calibration == "paper":
        assert found[0].promised >= 0.9 * found[1].promised and found[0].epsilon_lower > 1.0


def test_outputs_that_tell_nothing_are_audited_at_an_instance_that_does():
    cell = make_audit_cell("wang2017.dp_gd_pl", None, {"steps": 14, "regularisation": 1.0})
    audit = Audit(cell, calibrate_cell(cell, "accounted", 1), 5000, 0.95, "output", seed=1)
    own, found = (audit.result(sparing=True, searched=keys) for keys in ((), INSTANCES))
    assert own.power < 0.1 and own.runs == 0 and own.instance == "regularisation = 1, steps = 14"
    assert found.power > 0.9 and found.runs and found.verdict == "not refuted"
    assert own.epsilon_real < 0.5 < found.epsilon_real <= 1.0 and found.instance != own.instance


def test_an_audit_without_power_stops_after_the_pilot_and_says_so():
    job = job_of("accounted", 200)
    table = execute(job, calibrate_job(job))
    extras = read_extras(table)
    assert extras["audit_runs"].tolist() == [0.0] == table["risk"].to_pylist() and 0 <= extras["audit_power"][0] < 0.5
    told = {"entry": job.cells[0], "calibrated": calibrate_job(job)[0], "value": 1.0}
    row = judged([SimpleNamespace(risks=np.zeros(1), extras=extras, **told)])
    assert row.verdict == "says nothing" and row.reason.startswith("stopped after the pilot")
    assert SAYS_SOMETHING == auditor.SAYS_SOMETHING


@pytest.mark.parametrize("attainable", [2.5, math.inf, None])
@pytest.mark.parametrize(
    ("refuted", "power", "word"),
    [
        ((0.0, 1.0, 0.0), (0.9, 0.9, 0.9), "refuted"),
        ((0.0, 0.0, 0.0), (0.9, 0.9, 0.9), "not refuted"),
        ((0.0, 0.0, 0.0), (0.9, 0.4, 0.9), "says nothing"),
        ((1.0, 0.0, 0.0), (0.1, 0.1, 0.1), "refuted"),
    ],
)
def test_one_refuted_cell_refutes_and_the_weakest_one_says_how_much_the_others_say(refuted, power, word, attainable):
    calibrated = SimpleNamespace(privacy_status="unproven", epsilon_real=3.0, epsilon_real_kind="upper")
    told = {"entry": SimpleNamespace(epsilon=1.0), "calibrated": calibrated}
    cells = []
    for lower, *numbers in zip((0.2, 1.7, 0.4), refuted, power, strict=True):
        extras = dict(zip(("audit_refuted", "audit_power"), numbers, strict=True)) | {"audit_promised": 1.25}
        if attainable is not None:  # a table keeps no NaN: no charge, so none to attain
            extras["audit_attainable"] = attainable
        extras = {name: np.full(1, value) for name, value in extras.items()}
        cells.append(SimpleNamespace(risks=np.full(1, lower), extras=extras, value=lower, **told))
    row = judged(cells)
    assert row.verdict == word and row.own["epsilon_lower"] == 1.7
    assert ("never proves" in row.reason) == ("predicted eps >= 1.2" in row.reason) == (word != "refuted")
    assert ("of a tight charge eps >= 2.5" in row.reason) == (word != "refuted" and attainable == 2.5)


@pytest.mark.parametrize(
    "change", [{"calibrations": ["none"]}, {"replicates": {"ci": 10}}, {"replicates": {}}], ids=lambda c: next(iter(c))
)
def test_parts_that_cannot_be_audited(change):
    part = {"id": "literal", "kind": "audit", "algorithm": "wang2017.dp_accmd", "problem": "canary_curved"}
    part |= {"calibrations": ["paper"], "variant": "literal", "fixed": {"n": 50, "d": 2, "delta": 1e-5}}
    part |= {"sweep": {"parameter": "epsilon", "values": {"ci": [0.5, 1.0]}}, "replicates": {"ci": 400}}
    claim = {"id": "mine.audit", "title": "", "source": "", "statement": "", "parts": [part]}
    assert parse_claim(claim)
    with pytest.raises(InputError, match=next(iter(change))):
        parse_claim({**claim, "parts": [part | change]})
