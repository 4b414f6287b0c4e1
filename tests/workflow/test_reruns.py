"""What runs again after an edit: exactly what depends on it."""

import pytest

pytestmark = pytest.mark.slow
ALPHA, BETA, GAMMA = (f"claim wang2017.{name}" for name in ("alpha", "beta.2", "gamma"))
TIME = "time wang2017.beta.2"
ALL = {ALPHA, BETA, GAMMA, TIME}
CODE = "\n\n_EDITED = 1\n"


@pytest.fixture(scope="module", autouse=True)
def done(project):
    assert project.planned("verdicts") == ALL
    result = project.snakemake("--", "verdicts")
    assert result.returncode == 0, result.stderr


def test_forced_rules_run_again_and_make_nothing_anew(project):
    forced = project.snakemake("--dry-run", "--forcerun", "claim", "--", "claims/wang2017.alpha")
    assert forced.returncode == 0 and "claim" in forced.stdout + forced.stderr
    before = {path: path.stat().st_mtime_ns for path in (project.root / "results" / "store").rglob("*.parquet")}
    assert project.snakemake("--forcerun", "claim", "--", "claims/wang2017.alpha").returncode == 0
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_a_tolerance_concerns_its_claim_alone(project, edited):
    edited(project.claim_file("alpha"), lambda text: text.replace("tolerance: 0.15", "tolerance: 0.2", 1))
    assert project.planned("verdicts") == {ALPHA}


def algorithm(project):
    return project.root / "dpsco_bench" / "papers" / "wang2017" / "algorithms" / "perturbation.py"


def test_an_algorithm_concerns_the_claims_that_run_it(project, edited):
    edited(algorithm(project), lambda text: text + CODE)
    assert project.planned("verdicts") == {ALPHA}


def test_a_kernel_concerns_all(project, edited):
    edited(project.root / "dpsco_bench" / "rng" / "reference.py", lambda text: text + CODE)
    assert project.planned("verdicts") == ALL


def test_comments_docstrings_and_unrelated_edits_run_nothing(project, edited):
    edited(algorithm(project), lambda text: text.replace('"""', '"""Edited. ', 1) + "\n# edited\n")
    edited(project.root / "dpsco_bench" / "analysis" / "judge.py", lambda text: text.replace('"""', '"""Edited. ', 1))
    edited(project.root / "dpsco_bench" / "cli" / "verbs" / "list.py", lambda text: text + CODE)
    edited(project.root / "conf" / "run.yaml", lambda text: text + "\n# edited\n")
    assert project.planned("verdicts") == set()


def test_an_edit_that_is_run_keeps_what_it_did_not_touch(project, edited):
    before = project.tables()
    edited(project.claim_file("alpha"), lambda text: text.replace("[128, 256, 512]", "[128, 256, 384]"))
    assert project.snakemake("--", "verdicts").returncode == 0
    after = project.tables()
    assert {name for name in before if after[name] != before[name]} == {"smoke/verdicts/wang2017.alpha.json"}
    assert {name.split("/")[1] for name in after.keys() - before.keys()} == {"calibrations", "runs"}


def test_a_failed_job_leaves_the_others_and_is_named_in_one_line(project, edited):
    first = "    x = objective.start\n"
    broken = "    raise RuntimeError('broken on purpose')\n" + first
    edited(algorithm(project), lambda text: text.replace(first, broken, 1))
    edited(project.claim_file("gamma"), lambda text: text.replace("title: absent data", "title: data absent"))
    for _ in range(2):  # it is tried again
        failed = project.snakemake("--", "verdicts")
        (line,) = [line for line in failed.stderr.splitlines() if line.startswith("failed: ") and " (see " in line]
        assert failed.returncode == 1 and "wang2017.alpha" in line and "RuntimeError: broken on purpose" in line
        assert "profile smoke, " in failed.stdout
