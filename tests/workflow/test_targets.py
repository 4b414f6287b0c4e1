"""The default target from nothing to a gate, and the other targets that a Snakemake user expects."""

import json
import os

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def first(project):
    return project.snakemake()


def test_first_run_ends_with_a_summary_and_the_site_and_a_second_does_nothing(project, first):
    assert first.returncode == 0, first.stderr
    lines = first.stdout.strip().splitlines()
    assert lines[0].startswith("profile smoke, ") and lines[-1] == "site: results/smoke/site/index.html"
    made = [project.results / name for name in ("site/index.html", "tables/scoreboard.csv", "gate.txt")]
    made += [project.root / f"figures/smoke/wang2017.{claim}.svg" for claim in ("alpha", "beta.2", "gamma")]
    assert all(path.stat().st_size > 0 for path in made)
    logs = {path.parent.name for path in (project.results / "logs").rglob("*.log")}
    assert logs == {"claim", "time", "site", "gate"}
    said = [line for line in first.stderr.splitlines() if line.startswith("[")]
    assert len(said) == 3 + 1 + 3 and said[-1].startswith("[7 of 7 done, ") and said[-1].endswith("] all")
    again = project.snakemake()
    assert again.returncode == 0 and "Nothing to be done" in again.stderr and again.stdout == ""


def test_timed_part_has_curves_of_every_cell(project):
    (path,) = (project.root / "results" / "store" / "timings").glob("*.json")
    cells = json.loads(path.read_text())["cells"]
    wanted = [(method, value) for method in ("long", "short") for value in (1.0, 2.0)]
    assert [(cell["method"], cell["value"]) for cell in cells] == wanted
    assert [cell["timed_cell"] for cell in cells] == [0, 0, 2, 2]  # epsilon changes the noise alone
    for cell in cells:
        assert cell["evaluations"][-1] == 256 * {"long": 40, "short": 5}[cell["method"]]
        assert cell["seconds"] == sorted(cell["seconds"]) and len(cell["seconds"]) == len(cell["evaluations"])


def test_costs_are_in_the_tables_and_results_are_found_by_the_verb(project):
    page = (project.results / "tables" / "jobs.csv").read_text().splitlines()
    assert any("calibrate_cpu_s,run_cpu_s,peak_mb" in line for line in page[:3])
    manifests = [path.read_text() for path in (project.root / "results" / "store" / "runs").glob("*.manifest")]
    assert manifests and all('"cpu_s":' in text and '"peak_mb":' in text for text in manifests)
    done = project.dpsco("claim", "wang2017.alpha", "--profile", "smoke")
    assert done.returncode == 0 and "closed-n" in done.stdout and done.stderr == ""


def test_a_target_of_one_claim_makes_what_that_claim_needs(pristine):
    assert pristine.planned("claims/wang2017.beta_2") == {"claim wang2017.beta.2", "time wang2017.beta.2"}
    graph = pristine.snakemake("--dag", "--", "claims/wang2017.beta.2")
    assert graph.returncode == 0 and graph.stdout.startswith("digraph")


def test_an_unknown_target_is_one_line(pristine):
    result = pristine.snakemake("--dry-run", "--", "claims/wang2017.delta")
    named = "dpsco: claim = 'wang2017.delta': must be "
    assert result.returncode == 2 and result.stderr.strip().splitlines()[-1].startswith(named)
    assert "Traceback" not in result.stderr


def test_targets_are_listed_and_reported(project):
    listed = project.snakemake("--list").stdout.splitlines()
    assert "claims/wang2017.beta.2 (a tiny ordering)" in listed and all("(" in line for line in listed)
    assert project.snakemake("--dry-run", "--", "claims/wang2017", "site", "gate", "figures").returncode == 0
    made = project.snakemake("--report", "out.html")
    assert made.returncode == 0 and "two tiny rates" in (project.root / "out.html").read_text()


@pytest.mark.long
def test_gc_removes_what_the_plan_does_not_name(project):
    kept = {path for path in (project.root / "results").rglob("*") if path.is_file()}
    stale = ["results/store/runs/0123.parquet", "results/store/runs/0123.manifest", "figures/smoke/wang2017.gone.svg"]
    stale += ["results/smoke/verdicts/wang2017.gone.json", "results/smoke/logs/claim/wang2017.gone.log"]
    for name in stale:
        (project.root / name).parent.mkdir(parents=True, exist_ok=True)
        (project.root / name).write_text("{}")
    *named, _ = project.dpsco("gc", "--profile", "smoke", "--dry-run").stdout.splitlines()
    assert sorted(named) == sorted(stale) and all((project.root / name).is_file() for name in stale)
    assert project.snakemake("--", "gc").returncode == 0
    assert {path for path in (project.root / "results").rglob("*") if path.is_file()} == kept
    assert "Nothing to be done" in project.snakemake().stderr


def test_changed_verdict_yields_the_site_and_then_a_failing_gate(project, edited):
    assert project.dpsco("compare", "--profile", "smoke", "--record").returncode == 0
    recorded = project.root / "workflows" / "recorded" / "smoke.json"
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
        assert failed.returncode == 1 and "changed: wang2017.alpha closed-n [paper, smoke]" in failed.stderr
        assert failed.stdout.strip().splitlines()[-1] == "site: results/smoke/site/index.html"
        assert (project.results / "site" / "index.html").stat().st_mtime_ns > 1
    assert project.dpsco("gate", "--profile", "smoke").returncode == 1
    assert project.dpsco("compare", "--profile", "smoke", "--record").returncode == 0
    assert project.snakemake().returncode == 0
    recorded.unlink()
