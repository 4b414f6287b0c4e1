"""What runs again after an edit: exactly what depends on it."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow
ALPHA, BETA, GAMMA = (f"wang2017.{name}" for name in ("alpha", "beta.2", "gamma"))
OUTPUT = {f"{ALPHA} output-n.paper", f"{ALPHA} output-n.none"}
RUNS = OUTPUT | {f"{ALPHA} closed-n.paper", f"{ALPHA} closed-n.none", f"{BETA} race.paper"}
JUDGED = {"judge wang2017"}
ALL = {
    *(f"calibrate {job}" for job in RUNS | {f"{BETA} privacy-epsilon.paper"}),
    *(f"run {job}" for job in RUNS),
    f"time {BETA} race.paper",
    *JUDGED,
}
REDONE = {*(f"calibrate {job}" for job in OUTPUT), *(f"run {job}" for job in OUTPUT), *JUDGED}


@pytest.fixture(scope="module", autouse=True)
def done(project):
    """One complete run to the verdicts."""
    assert project.planned_jobs("verdicts") == ALL
    result = project.snakemake("--", "verdicts")
    assert result.returncode == 0, result.stderr
    return result


def test_second_run_does_nothing_and_still_says_how_the_claims_stand(project, done):
    again = project.snakemake("--", "verdicts")
    assert again.returncode == 0
    assert "Nothing to be done" in again.stderr
    said = again.stdout.strip().splitlines()
    assert said and said == done.stdout.strip().splitlines()[-len(said) :]
    for words in ("profile smoke: of 3 theorems, rows and figures", "skipped: data absent", "no verdicts are recorded"):
        assert words in again.stdout
    assert len(said) < 25
    table = project.dpsco("gate", "--profile", "smoke").stdout
    assert "closed-n" in table and ALPHA in table


def test_tolerance_edit_only_judges(project, edited):
    edited(project.claim_file("alpha"), lambda text: text.replace("tolerance: 0.15", "tolerance: 0.2", 1))
    assert project.planned_jobs("verdicts") == JUDGED


def test_sweep_edit_runs_exactly_that_parts_jobs(project, edited):
    edited(project.claim_file("alpha"), lambda text: text.replace("[128, 256, 512]", "[128, 256, 1024]"))
    assert project.planned_jobs("verdicts") == REDONE


def algorithm(project):
    return project.root / "dpsco_bench" / "papers" / "wang2017" / "algorithms" / "output_perturbation_zhang17.py"


CODE = "\n\n_EDITED = 1\n"


def test_algorithm_edit_runs_exactly_its_jobs(project, edited):
    edited(algorithm(project), lambda text: text + CODE)
    assert project.planned_jobs("verdicts") == REDONE


def test_bound_edit_judges_exactly_the_claims_that_name_one_of_its_paper(project, edited):
    bounds = project.root / "dpsco_bench" / "papers" / "wang2017" / "bounds"
    files = sorted(bounds.glob("*.py")) or [bounds.with_suffix(".py")]
    for path in files:
        edited(path, lambda text: text + CODE)
    before = project.tables()
    assert project.planned_jobs("verdicts") == JUDGED
    assert project.tables() == before


def test_kernel_edit_runs_everything(project, edited):
    edited(project.root / "dpsco_bench" / "rng" / "reference.py", lambda text: text + CODE)
    assert {f"run {job}" for job in RUNS} <= project.planned_jobs("verdicts")


def test_comments_docstrings_and_unrelated_edits_run_nothing(project, edited):
    edited(algorithm(project), lambda text: text.replace('"""', '"""Edited. ', 1) + "\n# edited\n")
    edited(project.root / "dpsco_bench" / "execution" / "job.py", lambda text: text + "\n# edited\n")
    edited(project.root / "dpsco_bench" / "analysis" / "judge.py", lambda text: text.replace('"""', '"""Edited. ', 1))
    for name in ("dpsco_bench/cli/verbs/list.py", "dpsco_bench/__init__.py"):
        edited(project.root / name, lambda text: text + CODE)
    edited(project.root / "conf" / "run.yaml", lambda text: text + "\n# edited\n")
    assert project.planned_jobs("verdicts") == set()


def test_edit_that_is_run_keeps_what_it_did_not_touch(project, edited):
    before = project.tables()
    edited(project.claim_file("alpha"), lambda text: text.replace("[128, 256, 512]", "[128, 256, 384]"))
    assert project.snakemake("--", "verdicts").returncode == 0
    after = project.tables()
    assert {name for name in before if after[name] != before[name]} == {"smoke/verdicts/wang2017.alpha.json"}
    assert sorted(name.split("/")[1] for name in after.keys() - before.keys()) == ["calibrations"] * 2 + ["runs"] * 2
    assert project.made() >= REDONE - JUDGED


def test_failed_job_leaves_the_others_and_is_named(project, edited):
    first = "    x = objective.start\n"
    broken = "    raise RuntimeError('broken on purpose')\n" + first
    edited(algorithm(project), lambda text: text.replace(first, broken, 1))
    edited(project.claim_file("gamma"), lambda text: text.replace("title: absent data", "title: data absent"))
    failed = project.snakemake("--", "verdicts")
    assert failed.returncode == 1
    assert "RuntimeError: broken on purpose" in failed.stderr
    last = failed.stdout.strip().splitlines()[-1]
    assert last.startswith("no verdict of wang2017.alpha: run wang2017.alpha output-n [") and "on purpose" in last
    assert "profile smoke: of 2 theorems, rows and figures" in failed.stdout
    again = project.snakemake("--", "verdicts")  # and tries again
    assert again.returncode == 1 and "broken on purpose" in again.stderr
