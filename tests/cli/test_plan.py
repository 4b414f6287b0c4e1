"""Verbs of the workflow: plan, compare, gate, data, site and gc."""

import json
import os
import time
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock, call

import pytest

from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.plan import WorkPlan
from dpsco_bench.cli.verbs import gate
from dpsco_bench.cli.verbs import plan as planning
from dpsco_bench.cli.verbs.gate import closing
from dpsco_bench.cli.verbs.gc import FRESH_SECONDS
from dpsco_bench.cli.verbs.plan import DRAWN_IN, SHOWN_IN, drawing_digest, make_plan, site_digest
from dpsco_bench.datasets import registry
from dpsco_bench.execution.layout import Layout
from dpsco_bench.jsonio import dumps_canonical, is_draft, sealed, whole
from dpsco_bench.leaderboard import board
from dpsco_bench.registry import modules_in, papers
from dpsco_bench.report.own_figures import FIGURES, METHOD_STYLES, PANELS
from dpsco_bench.report.rebuilt import COMPUTED
from dpsco_bench.report.wording import LABELS
from tests.execution.parts import PART

PLAN = Path("results/smoke/plan.json")
LATER = {"sweep": {"parameter": "n", "values": {"full": [32, 64]}}, "replicates": {"full": 3}}
OWN = {"id": "mine.later", "title": "t", "source": "s", "statement": "x", "parts": [PART | LATER]}


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(planning, "profile_claims", lambda profile: ["su2023.thm1.privacy"])
    monkeypatch.setattr(board, "board_ids", lambda: [])


def test_planning_mends_it(dpsco, small):
    assert dpsco("plan", "--profile", "smoke").code == 0
    whole = PLAN.read_bytes()
    PLAN.write_bytes(whole[: len(whole) // 2])
    assert dpsco("plan", "--profile", "smoke").code == 0 and PLAN.read_bytes() == whole


def test_a_claim_of_ones_own_without_values_for_the_profile_is_named(dpsco, small, monkeypatch):
    Path("later.yaml").write_text(json.dumps(OWN))
    told = "dpsco: profile = 'smoke': must be one in whose grid mine.later has values\n"
    known = "su2023.thm1.privacy"
    for words, code in (("plan claims=[later.yaml]", 0), ("claim later.yaml", 2), (f"claim later.yaml {known}", 0)):
        monkeypatch.setattr("dpsco_bench.registry._SAID", set())
        found = dpsco(*words.split(), "--profile", "smoke")
        assert found.code == code and told in found.err and (code == 0) == bool(found.out)


def row(part, verdict):
    ids = {"id": "wang2017.thm6.1", "part": part, "calibration": "paper", "profile": "smoke"}
    return {**ids, "kind": "rate", "verdict": verdict}


@pytest.fixture
def results(tmp_path, monkeypatch):
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


COMPARE = ("compare", "--profile", "smoke")


def test_only_a_changed_word_fails_and_recording_makes_the_comparison_pass(dpsco, results):
    known = [row("a", "fails (real eps 12)"), row("b", "match"), row("c", "match")]
    same = [row("a", "fails (real eps 13)"), row("b", "match"), row("c", "skipped: data absent")]
    for recorded in (None, known):
        results(same, recorded)
        assert dpsco(*COMPARE).code == 0
    path = results([row("a", "holds"), row("b", "match")], known[:2])
    outcome = dpsco(*COMPARE)
    assert outcome.code == 1 and "CHANGED" in outcome.out and "1 of 2 verdicts changed" in outcome.out
    assert dpsco(*COMPARE, "--record").code == 0
    assert [entry["verdict"] for entry in json.loads(path.read_text())] == ["holds", "match"]
    assert dpsco(*COMPARE).code == 0


def test_a_moved_slope_is_told_and_fails_nothing(dpsco, results):
    known = {**row("a", "match"), "slope": -1.0, "ci": [-1.1, -0.9]}
    results([{**row("a", "match"), "slope": -1.5, "ci": [-1.6, -1.4]}, row("b", "match")], [known, row("b", "match")])
    assert "slope -1 -> -1.5" in dpsco(*COMPARE).said
    first, second = dpsco(*COMPARE, "--json").rows
    assert first["moved"] and not (first["fails"] or second["fails"])


def test_recorded_verdicts_that_have_none_here_are_named(dpsco, results, tmp_path):
    known = [{**row(part, "holds"), "id": id} for id in ("wang2017.thm6.1", "wang2017.thm6.3") for part in ("a", "b")]
    results([row("a", "holds"), row("b", "holds")], known)
    plan = make_plan("smoke", (), ["wang2017.thm6.1", "wang2017.thm6.3"])
    plan.write(tmp_path / "results" / "smoke" / "plan.json")
    lost = "2 recorded verdicts have none here: of wang2017.thm6.3"
    for verb in ("compare", "gate"):
        assert lost in dpsco(verb, "--profile", "smoke").said
    assert lost not in dpsco("gate", "wang2017.thm6.1", "--profile", "smoke").out


def test_the_summary_fits_a_screen_and_counts(tmp_path):
    of = {"kind": "explicit", "calibration": "paper", "profile": "smoke"}
    rows = [Verdict("holds", id=f"{paper}.thm{n}", part="p", **of) for paper in "abcde" for n in range(60)]
    rows += [Verdict("violated", id=f"a.lemma{n % 6}", part=f"p{n}", **of) for n in range(30)]
    lines = closing(Layout("smoke", tmp_path), rows, [SimpleNamespace(fails=True) for _ in range(40)]).splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 100
    assert "".join(lines[3].split()) == "a60/6/0/00/0/0/660/0/0/660/0/0/0"
    assert lines[8].split()[:8] == ["all", "300", "/", "6", "/", "0", "/", "0"]
    assert any("a.lemma5" in line for line in lines) and "and 32 more changed verdicts" in lines


def test_fetches_by_default_and_verifies_on_request(dpsco, monkeypatch):
    fetched, verified = {"status": "verified", "fetched": True}, {"status": "verified"}
    files = Mock(**{"fetch.return_value": fetched, "verify.return_value": verified})
    monkeypatch.setitem(registry.FILES, "covertype", files)
    found = dpsco("data", "covertype", "--root", "here", "--json").rows
    assert found == {"data_set": "covertype", **registry.FACTS["covertype"], **fetched}
    said = dpsco("data", "covertype", "--verify", "--root", "here").said
    assert "verified" in said and "CC BY 4.0" in said
    assert files.mock_calls == [call.fetch(Path("here")), call.verify(Path("here"))]


def test_every_module_that_says_how_claims_are_shown_counts():
    """The site depends on listings and formulas too."""
    drawn, shown = (
        {name for package in papers().values() for kept in places for name in modules_in(f"{package}.{kept}")}
        for places in (DRAWN_IN, SHOWN_IN)
    )
    for kept in (FIGURES, PANELS, METHOD_STYLES, LABELS, COMPUTED):
        kept.load()
        own = {module for module in kept.registered().values() if ".papers." in module}
        assert own and own <= drawn
    for paper, package in papers().items():
        assert any(name.startswith(f"{package}.algorithms") for name in shown) and f"{package}.bounds" in str(shown)
        assert drawing_digest(paper, SHOWN_IN) != drawing_digest(paper)
    assert len(set(map(drawing_digest, papers()))) == len(papers()) and drawing_digest("nobody2026") == ""


def test_the_site_is_made_anew_where_what_it_speaks_of_changes(tmp_path, monkeypatch):
    spoken = ["docs/start.md", "docs/house.svg", "workflows/recorded/smoke.json", "requirements/lock.txt"]
    for name in (*spoken, "workflows/recorded/ci.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("before")
    monkeypatch.setattr(planning, "shared_dir", lambda name: tmp_path / name)
    monkeypatch.setattr(planning, "documents", lambda: {"start": tmp_path / "docs" / "start.md"})
    digests = [site_digest("smoke")]
    for name in ("workflows/recorded/ci.json", *spoken):
        (tmp_path / name).write_text("after")
        digests.append(site_digest("smoke"))
    assert digests[0] == digests[1] and len(set(digests)) == 1 + len(spoken)


def test_a_killed_write_leaves_a_draft_that_goes_once_it_is_old(dpsco, tmp_path):
    layout = Layout("smoke", tmp_path)
    WorkPlan("smoke", (), ()).write(layout.plan)
    places = [layout.plan, layout.figure("a.b"), tmp_path / "results/runs/x.parquet"]
    places.append(layout.measured.store.path("runs", "0"))
    writes = [whole(place) for place in places]
    for write in writes:
        write.__enter__().write_bytes(b"half")  # and its process ends here
    drafts = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if is_draft(path))
    assert len(drafts) == len(places)
    gc = ("gc", "--profile", "smoke")
    assert dpsco(*gc).said == "0 files removed\n"  # they are young
    for path in drafts:
        os.utime(path, (time.time() - FRESH_SECONDS - 60,) * 2)
    assert sorted(dpsco(*gc, "--dry-run").said.splitlines()[:-1]) == drafts and all(map(os.path.exists, drafts))
    assert dpsco(*gc).code == 0 and not any(map(os.path.exists, drafts)) and layout.plan.is_file()
