"""The default target from nothing to a gate, and the other targets that a Snakemake user expects."""

from __future__ import annotations

import json
import os

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def first(project):
    """The first complete run."""
    return project.snakemake()


def test_first_run_ends_with_a_summary_and_the_site(project, first):
    assert first.returncode == 0, first.stderr
    lines = first.stdout.strip().splitlines()
    assert lines[-1] == "site: results/smoke/site/index.html"
    assert "no verdicts are recorded for profile smoke: nothing to compare with" in lines
    assert lines[0].startswith("profile smoke, ") and len(lines) < 20
    for name in ("site/index.html", "tables/scoreboard.csv", "gate.txt"):
        assert (project.results / name).stat().st_size > 0
    for claim in ("alpha", "beta.2", "gamma"):
        assert (project.root / "figures" / "smoke" / f"wang2017.{claim}.svg").stat().st_size > 0


def test_the_terminal_has_a_line_per_job_with_the_time_left(first):
    said = [line for line in first.stderr.splitlines() if line.startswith("[")]
    total = len(said)
    assert total == 3 + 1 + 3 and said[0].startswith(f"[1 of {total}, ") and " left] " in said[0]
    assert any(line.endswith("] claim wang2017.alpha") for line in said)
    assert said[-1].startswith(f"[{total} of {total}, 100 %, ") and said[-1].endswith("] all")
    assert len(first.stderr.splitlines()) < 50


def test_skipped_part_has_no_result_and_its_reason_as_verdict(project):
    rows = json.loads((project.results / "verdicts" / "wang2017.gamma.json").read_text())["verdicts"]
    assert [row["verdict"].partition(" (")[0].partition(":")[0] for row in rows] == ["skipped"]
    assert "data absent" in rows[0]["verdict"]


def test_timed_part_has_curves_of_every_cell(project):
    (path,) = (project.root / "results" / "store" / "timings").glob("*.json")
    timed = json.loads(path.read_text())
    assert [(cell["method"], cell["value"]) for cell in timed["cells"]] == [
        ("long", 1.0),
        ("long", 2.0),
        ("short", 1.0),
        ("short", 2.0),
    ]
    assert [cell["timed_cell"] for cell in timed["cells"]] == [0, 0, 2, 2]  # epsilon changes the noise alone
    for cell in timed["cells"]:
        assert cell["evaluations"][-1] == 256 * {"long": 40, "short": 5}[cell["method"]]
        assert cell["seconds"] == sorted(cell["seconds"]) and len(cell["seconds"]) == len(cell["evaluations"])


def test_every_job_leaves_a_log(project):
    logs = {path.parent.name: path.read_text() for path in (project.results / "logs").rglob("*.log")}
    assert set(logs) == {"claim", "time", "site", "gate"}
    log = (project.results / "logs" / "claim" / "wang2017.alpha.log").read_text()
    assert "wang2017.alpha output-n.paper: " in log and "wang2017.alpha closed-n [paper]: " in log


def test_costs_of_the_cells_are_in_the_tables(project):
    page = (project.results / "tables" / "jobs.csv").read_text().splitlines()
    assert any("calibrate_cpu_s,run_cpu_s,peak_mb" in line for line in page[:3])
    manifests = [path.read_text() for path in (project.root / "results" / "store" / "runs").glob("*.manifest")]
    assert manifests and all('"cpu_s":' in text and '"peak_mb":' in text for text in manifests)


def test_second_run_does_nothing(project):
    again = project.snakemake()
    assert again.returncode == 0 and "Nothing to be done" in again.stderr and again.stdout == ""


def test_what_one_claim_needs_is_found_by_the_verb_and_by_other_profiles(project):
    done = project.dpsco("claim", "wang2017.alpha", "--profile", "smoke")
    assert done.returncode == 0 and "closed-n" in done.stdout and done.stderr == ""


def test_a_target_of_one_claim_makes_what_that_claim_needs(pristine):
    assert pristine.planned("claims/wang2017.beta_2") == {"claim wang2017.beta.2", "time wang2017.beta.2"}
    graph = pristine.snakemake("--dag", "--", "claims/wang2017.beta.2")
    assert graph.returncode == 0 and graph.stdout.startswith("digraph")


def test_claim_targets(project):
    result = project.snakemake("--", "claims/wang2017.beta_2")
    assert result.returncode == 0, result.stderr
    assert project.snakemake("--dry-run", "--", "claims/wang2017", "site", "gate", "figures").returncode == 0


def test_list_shows_targets_with_what_they_are(project):
    listed = project.snakemake("--list").stdout.splitlines()
    assert "claims/wang2017.beta.2 (a tiny ordering)" in listed
    assert any(line.startswith("all (Everything") for line in listed)
    assert all("(" in line for line in listed)


def test_snakemake_report(project):
    made = project.snakemake("--report", "out.html")
    assert made.returncode == 0, made.stderr
    page = (project.root / "out.html").read_text()
    assert "wang2017.alpha" in page and "two tiny rates" in page


@pytest.mark.long
def test_gc_removes_what_the_plan_does_not_name(project):
    kept = {path for path in (project.root / "results").rglob("*") if path.is_file()}
    stale = [
        project.root / "results" / "store" / "runs" / "0123.parquet",
        project.root / "results" / "store" / "runs" / "0123.manifest",
        project.results / "verdicts" / "wang2017.gone.json",
        project.results / "logs" / "claim" / "wang2017.gone.log",
        project.root / "figures" / "smoke" / "wang2017.gone.svg",
    ]
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    *named, last = project.dpsco("gc", "--profile", "smoke", "--dry-run").stdout.splitlines()
    assert sorted(named) == sorted(str(path.relative_to(project.root)) for path in stale)
    assert last == f"{len(stale)} files would be removed" and all(path.is_file() for path in stale)
    result = project.snakemake("--", "gc")
    assert result.returncode == 0, result.stderr
    assert {path for path in (project.root / "results").rglob("*") if path.is_file()} == kept
    assert "Nothing to be done" in project.snakemake().stderr


def test_changed_verdict_yields_the_site_and_then_a_failing_gate(project, edited):
    assert project.dpsco("compare", "--profile", "smoke", "--record").returncode == 0
    recorded = project.root / "workflows" / "recorded" / "smoke.json"
    truth = json.loads((project.results / "verdicts" / "wang2017.alpha.json").read_text())["verdicts"][0]["verdict"]
    rows = json.loads(recorded.read_text())
    for row in rows:
        if (row["id"], row["part"]) == ("wang2017.alpha", "closed-n"):
            row["verdict"] = "violated"
    recorded.write_text(json.dumps(rows))
    # A note changes, so that verdicts, figure and site are made anew in the run whose gate fails.
    edited(project.claim_file("alpha"), lambda text: text.replace("tolerance: 0.15", "tolerance: 0.151", 1))
    os.utime(project.results / "site" / "index.html", ns=(1, 1))
    for _ in range(2):
        failed = project.snakemake()
        assert failed.returncode == 1
        changed = "FAIL changed: wang2017.alpha closed-n [paper, smoke]: violated"
        assert f"failed: compare with the recorded verdicts: {changed}" in failed.stderr
        assert truth in failed.stdout
        assert "1 of 6 verdicts changed from the recorded ones" in failed.stdout
        assert failed.stdout.strip().splitlines()[-1] == "site: results/smoke/site/index.html"
        assert (project.results / "site" / "index.html").stat().st_mtime_ns > 1
    assert project.dpsco("gate", "--profile", "smoke").returncode == 1
    assert project.dpsco("compare", "--profile", "smoke", "--record").returncode == 0
    assert project.snakemake().returncode == 0
    recorded.unlink()
