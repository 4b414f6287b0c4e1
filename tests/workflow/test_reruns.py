"""What runs again after an edit: exactly what depends on it."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow
OUTPUT = {"wang2017.alpha output-n [paper]", "wang2017.alpha output-n [none]"}
RUNS = OUTPUT | {
    "wang2017.alpha closed-n [paper]",
    "wang2017.alpha closed-n [none]",
    "wang2017.beta.2 race [paper]",
    "wang2017.gamma real [paper]",
}
JUDGED = {"judge wang2017.alpha", "judge wang2017.beta.2", "judge wang2017.gamma"}
ALL = {
    *(f"calibrate {job}" for job in RUNS | {"wang2017.beta.2 privacy-epsilon [paper]"}),
    *(f"run {job}" for job in RUNS),
    *JUDGED,
}
REDONE = {*(f"calibrate {job}" for job in OUTPUT), *(f"run {job}" for job in OUTPUT), "judge wang2017.alpha"}


@pytest.fixture(scope="module", autouse=True)
def done(project):
    """One complete run to the verdicts."""
    assert project.planned("verdicts") == ALL
    result = project.snakemake("--", "verdicts")
    assert result.returncode == 0, result.stderr
    return result


def test_second_run_does_nothing_and_still_prints_the_verdicts(project, done):
    again = project.snakemake("--", "verdicts")
    assert again.returncode == 0
    assert "Nothing to be done" in again.stderr
    table = again.stdout.strip().splitlines()
    assert table and table == done.stdout.strip().splitlines()[-len(table) :]
    for words in ("wang2017.alpha", "closed-n", "skipped: data absent", "no verdicts are recorded"):
        assert words in again.stdout


def test_tolerance_edit_only_judges(project, edited):
    edited(project.claim_file("alpha"), lambda text: text.replace("tolerance: 0.15", "tolerance: 0.2", 1))
    assert project.planned("verdicts") == {"judge wang2017.alpha"}


def test_sweep_edit_runs_exactly_that_parts_jobs(project, edited):
    edited(project.claim_file("alpha"), lambda text: text.replace("[128, 256, 512]", "[128, 256, 1024]"))
    assert project.planned("verdicts") == REDONE


def test_algorithm_edit_runs_exactly_its_jobs(project, edited):
    source = project.root / "dpsco_bench" / "algorithms" / "baselines" / "output_perturbation_zhang17.py"
    edited(source, lambda text: text + "\n# edited\n")
    assert project.planned("verdicts") == REDONE


def test_bound_edit_judges_exactly_the_claims_that_name_one_of_its_paper(project, edited):
    edited(project.root / "dpsco_bench" / "claims" / "bounds" / "wang2017.py", lambda text: text + "\n# edited\n")
    assert project.planned("verdicts") == {"judge wang2017.alpha"}


def test_kernel_edit_runs_everything(project, edited):
    edited(project.root / "dpsco_bench" / "rng" / "reference.py", lambda text: text + "\n# edited\n")
    assert {f"run {job}" for job in RUNS} <= project.planned("verdicts")


def test_unrelated_edits_run_nothing(project, edited):
    for name in ("dpsco_bench/cli/verbs/list.py", "dpsco_bench/__init__.py", "conf/run.yaml"):
        edited(project.root / name, lambda text: text + "\n# edited\n")
    assert project.planned("verdicts") == set()


def test_edit_that_is_run_keeps_what_it_did_not_touch(project, edited):
    before, stamps = project.tables(), _calibration_times(project)
    edited(project.claim_file("alpha"), lambda text: text.replace("[128, 256, 512]", "[128, 256, 384]"))
    assert project.snakemake("--", "verdicts").returncode == 0
    changed = {name for name, content in project.tables().items() if before[name] != content}
    assert changed == {
        "runs/wang2017.alpha/output-n.paper.parquet",
        "runs/wang2017.alpha/output-n.none.parquet",
        "verdicts/wang2017.alpha.json",
    }
    moved = {name for name, stamp in _calibration_times(project).items() if stamps[name] != stamp}
    assert moved == {"wang2017.alpha/output-n.paper.json", "wang2017.alpha/output-n.none.json"}


def _calibration_times(project) -> dict[str, int]:
    folder = project.results / "calibrations"
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*.json")}


def test_failed_job_leaves_the_others_and_is_named(project, edited):
    source = project.root / "dpsco_bench" / "algorithms" / "baselines" / "output_perturbation_zhang17.py"
    broken = "\n\n@plan.run\ndef broken(objective, plan, mechanism):\n    raise RuntimeError('broken on purpose')\n"
    edited(source, lambda text: text + broken)
    edited(project.claim_file("gamma"), lambda text: text.replace("title: absent data", "title: data absent"))
    failed = project.snakemake("--", "verdicts")
    assert failed.returncode == 1
    assert "RuntimeError: broken on purpose" in failed.stderr
    assert failed.stdout.strip().splitlines()[-1] == "no verdict, see the errors above: wang2017.alpha"
    assert "wang2017.beta.2" in failed.stdout and "wang2017.gamma" in failed.stdout
    assert "closed-n" not in failed.stdout
