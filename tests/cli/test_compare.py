import json

import pytest

from dpsco_bench.cli.verbs import compare, gate
from dpsco_bench.cli.verbs.plan import make_plan
from dpsco_bench.jsonio import dumps_canonical, sealed


def row(part, verdict):
    ids = {"id": "wang2017.thm6.1", "part": part, "calibration": "paper", "profile": "smoke"}
    return {**ids, "kind": "rate", "verdict": verdict}


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Write verdicts of a run and recorded ones."""
    recorded = tmp_path / "workflows" / "recorded" / "smoke.json"
    monkeypatch.setattr(gate, "recorded_path", lambda profile: recorded)

    def write(fresh, known=None):
        path = tmp_path / "results" / "smoke" / "verdicts" / "wang2017.thm6.1.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(sealed(dumps_canonical({"claim": "wang2017.thm6.1", "verdicts": fresh})))
        if known is not None:
            recorded.parent.mkdir(parents=True, exist_ok=True)
            recorded.write_text(json.dumps(known))
        return recorded

    return write


def test_only_a_changed_word_fails(dpsco, results):
    known = [row("a", "fails (real eps 12)"), row("b", "match"), row("c", "match"), row("d", "holds")]
    results([row("a", "fails (real eps 13)"), row("b", "match"), row("c", "skipped: data absent"), row("e", "holds")])
    assert dpsco("compare", "--profile", "smoke").code == 0  # nothing is recorded yet
    results([row("a", "fails (real eps 13)"), row("b", "match"), row("c", "skipped: data absent")], known[:3])
    assert dpsco("compare", "--profile", "smoke").code == 0
    results([row("a", "holds"), row("b", "match")], known[:2])
    outcome = dpsco("compare", "--profile", "smoke")
    assert outcome.code == 1 and "CHANGED" in outcome.out and "1 of 2 verdicts changed" in outcome.out


def test_a_moved_slope_and_a_longer_run_are_told_and_fail_nothing(dpsco, results, monkeypatch):
    known = {**row("a", "match"), "slope": -1.0, "ci": [-1.1, -0.9]}
    results([{**row("a", "match"), "slope": -1.5, "ci": [-1.6, -1.4]}, row("b", "match")], [known, row("b", "match")])
    monkeypatch.setattr(compare, "late", lambda *_: {("wang2017.thm6.1", "b.paper"): "9 s of CPU, recorded 4 s"})
    outcome = dpsco("compare", "--profile", "smoke")
    assert outcome.code == 0 and "slope -1 -> -1.5" in outcome.out and "9 s of CPU, recorded 4 s" in outcome.out
    first, second = json.loads(dpsco("compare", "--profile", "smoke", "--json").out)
    assert first["moved"] and not first["slower"] and second["slower"] and not (first["fails"] or second["fails"])


def test_recording_makes_the_comparison_pass(dpsco, results):
    path = results([row("a", "holds"), row("b", "match")], [row("a", "fails")])
    assert dpsco("compare", "--profile", "smoke", "--record").code == 0
    assert [entry["verdict"] for entry in json.loads(path.read_text())] == ["holds", "match"]
    assert dpsco("compare", "--profile", "smoke").code == 0


def test_recorded_verdicts_that_have_none_here_are_named(dpsco, results, tmp_path):
    known = [{**row(part, "holds"), "id": id} for id in ("wang2017.thm6.1", "wang2017.thm6.3") for part in ("a", "b")]
    results([row("a", "holds"), row("b", "holds")], known)
    plan = make_plan("smoke", (), ["wang2017.thm6.1", "wang2017.thm6.3"])
    plan.write(tmp_path / "results" / "smoke" / "plan.json")
    lost = "2 recorded verdicts have none here: of wang2017.thm6.3"
    for verb in ("compare", "gate"):
        outcome = dpsco(verb, "--profile", "smoke")
        assert outcome.code == 0 and lost in outcome.out
    assert lost not in dpsco("gate", "wang2017.thm6.1", "--profile", "smoke").out
