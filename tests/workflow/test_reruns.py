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


def documented(text):
    return text.replace('"""', '"""Edited. ', 1) + "\n# edited\n"


ALGORITHM = "dpsco_bench/papers/wang2017/algorithms/perturbation.py"
EDITS = {
    "tolerance": ({"conf/claim/wang2017/alpha.yaml": lambda text: text.replace("0.15", "0.2", 1)}, {ALPHA}),
    "algorithm": ({ALGORITHM: lambda text: text + CODE}, {ALPHA}),
    "kernel": ({"dpsco_bench/rng/reference.py": lambda text: text + CODE}, ALL),
    "words": ({ALGORITHM: documented, "dpsco_bench/analysis/judge.py": documented}, set()),
    "others": ({"dpsco_bench/cli/verbs/list.py": lambda text: text + CODE, "conf/run.yaml": documented}, set()),
}


@pytest.mark.parametrize(("edits", "concerned"), EDITS.values(), ids=EDITS)
def test_an_edit_concerns_the_claims_that_depend_on_it(project, edited, edits, concerned):
    for file, change in edits.items():
        edited(project.root / file, change)
    assert project.planned("verdicts") == concerned


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
    edited(project.root / ALGORITHM, lambda text: text.replace(first, broken, 1))
    edited(project.claim_file("gamma"), lambda text: text.replace("title: absent data", "title: data absent"))
    for _ in range(2):  # it is tried again
        failed = project.snakemake("--", "verdicts")
        (line,) = [line for line in failed.stderr.splitlines() if line.startswith("failed: ") and " (see " in line]
        assert failed.returncode == 1 and "wang2017.alpha" in line and "RuntimeError: broken on purpose" in line
        assert "profile smoke, " in failed.stdout
