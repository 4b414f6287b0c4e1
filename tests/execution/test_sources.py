"""Nothing is kept under a key that other code has made: a worker compares what it has loaded with its plan."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dpsco_bench
from dpsco_bench.claims.jobs import checked_job, part_jobs
from dpsco_bench.claims.parsing import parse_claim
from dpsco_bench.claims.plan import ClaimEntry, WorkPlan, read_plan
from dpsco_bench.claims.settings import Settings
from dpsco_bench.execution import sources, worker
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.measured import Measured, item
from dpsco_bench.execution.packs import Piece
from dpsco_bench.execution.plugins import load_plugins
from dpsco_bench.execution.progress import JobLog
from dpsco_bench.execution.sources import CodeChanged, Sources, check_files, digests
from dpsco_bench.execution.store import Store

PACKAGE = Path(dpsco_bench.__file__).resolve().parent
EXAMPLES = PACKAGE.parent / "examples"
CLAIM, STAYS = "wang2017.tiny", "run it again, what is finished stays"
PART = {
    "id": "gd",
    "kind": "rate",
    "tolerance": 0.15,
    "calibrations": ["paper"],
    "algorithm": "wang2017.dp_gd_pl",
    "problem": "ridge_logistic",
    "fixed": {"d": 3, "epsilon": 1.0, "delta": 1e-5},
    "sweep": {"parameter": "n", "values": {"smoke": [64, 128]}},
    "replicates": {"smoke": 3},
    "bound": "wang2017.thm6_2",
}
METHOD = {"algorithm": "mine.noisy_gd", "problem": "flipped_labels", "bound": "mine.noisy_gd"}


def planned(plugins: tuple[str, ...] = (), **changes) -> WorkPlan:
    entry = {"id": CLAIM, "title": "t", "source": "s", "statement": "s", "parts": [{**PART, **changes}]}
    claim, settings = parse_claim(entry), Settings(seed=3, plugins=plugins)
    jobs = [checked_job(job) for part in claim.parts for job in part_jobs(claim, part, "smoke", settings)]
    return WorkPlan("smoke", (ClaimEntry.of(claim, jobs),), sources=digests(map(Path, plugins)))


@pytest.fixture
def copy(tmp_path):
    """A package of its own, with the plan of a claim beside it."""
    folder = shutil.copytree(PACKAGE, tmp_path / PACKAGE.name)
    (tmp_path / "conf").symlink_to(PACKAGE.parent / "conf")
    planned().write(Layout("smoke", tmp_path).plan)
    return folder


def work(copy: Path, *arguments: str) -> tuple[int, str]:
    """Exit code and what is said of the verb `worker`, by the code of the copy."""
    environment = {**os.environ, "PYTHONPATH": str(copy.parent)}
    command = [sys.executable, "-m", "dpsco_bench", "worker", *arguments, "--profile", "smoke"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=copy.parent, env=environment)
    return done.returncode, done.stderr


def test_an_edit_during_a_run_leaves_nothing_wrong_behind(copy):
    """Code is edited after the plan was made, a pack starts, and the edit is taken back."""
    files = Layout("smoke", copy.parent)
    store, job = files.measured.store, next(read_plan(files.plan).jobs())
    algorithm, judge = copy / "papers/wang2017/algorithms/dp_gd_pl.py", copy / "analysis/slopes.py"
    as_planned, judging = algorithm.read_text(), judge.read_text()
    backwards, remarked = as_planned.replace("    return x", "    return -x"), as_planned + "\n# a remark\n"
    assert backwards != as_planned
    for text, step in ((backwards, "calibrate"), (remarked, "calibrate"), (backwards, "run"), (as_planned, "run")):
        algorithm.write_text(text)
        code, said = work(copy, step)
        line = f"dpsco: code: {algorithm.relative_to(copy.parent)} changed since the plan was made; {STAYS}\n"
        assert (code, said) == ((2, line) if text is backwards else (0, ""))
        assert store.has(*item(step, job)) == (text is not backwards)
    judge.write_text(judging + "\n\nCHANGED = True\n")
    code, said = work(copy, "judge", "--paper", "wang2017")
    assert code == 2 and said.startswith("dpsco: code: dpsco_bench/analysis/slopes.py changed since")
    assert not files.verdicts(CLAIM).exists()
    judge.write_text(judging)
    assert work(copy, "judge", "--paper", "wang2017") == (0, "")
    assert files.verdicts(CLAIM).exists()


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A method of one's own, and a file beside it that it imports."""
    (tmp_path / "my_step.py").write_text("STEP = 0.1\n")
    (tmp_path / "my_method.py").write_text("import my_step\n" + (EXAMPLES / "own_method.py").read_text())
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("my_step", None)


@pytest.mark.parametrize("name", ["my_method.py", "my_step.py"])
def test_what_was_made_while_its_code_was_edited_is_not_written(own, tmp_path, monkeypatch, name):
    plugins = (str(own / "my_method.py"),)
    load_plugins(plugins)
    plan = planned(plugins, **METHOD)
    job, file = next(plan.jobs()), own / name
    measured = Measured(Store(tmp_path / "store"), Sources(plan.sources))
    before, made = file.read_text(), worker._content

    def edited_meanwhile(*args):
        file.write_text(before + "\nCHANGED = True\n")
        return made(*args)

    monkeypatch.setattr(worker, "_content", edited_meanwhile)
    with JobLog(None, "calibrate") as log, pytest.raises(CodeChanged, match=f"{name} changed since the plan was made"):
        worker.work("calibrate", lambda claim, name: job, [Piece(job.claim, job.name)], measured, log)
    assert not measured.store.has(*item("calibrate", job))
    with pytest.raises(CodeChanged):  # a plan of code that was edited meanwhile is none
        check_files(plan.sources, map(Path, plugins))
    file.write_text(before + "# a remark\n")
    monkeypatch.undo()
    assert worker.make("calibrate", job, measured)
    check_files(plan.sources, map(Path, plugins))


def test_a_verb_in_one_process_notices_it_too(own, tmp_path, monkeypatch, dpsco):
    file, made = own / "my_method.py", worker._content

    def edited_meanwhile(*args):
        file.write_text(file.read_text() + "\nCHANGED = True\n")
        return made(*args)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(worker, "_content", edited_meanwhile)
    sources.of_process.cache_clear()
    asked = ["algorithm=mine.noisy_gd", "problem=flipped_labels", "n=64", "d=2", "replicates=2", f"plugins=[{file}]"]
    found = dpsco("run", *asked)
    sources.of_process.cache_clear()
    assert found.code == 2
    assert found.err.splitlines()[-1] == f"dpsco: code: my_method.py changed since the plan was made; {STAYS}"
    assert not list(tmp_path.glob("results/store/*/*.*"))
