"""Hydra's launchers and several processes at once work against the same results; each is skipped where it is absent."""

import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cluster.single_node import Unavailable, single_node

ROOT = Path(__file__).resolve().parents[2]
SWEEP = ("-m", "plugins=[own.py]", "algorithm=mine.partly", "n=64,128,256", "d=3", "replicates=2", "calibration=paper")
OWN = '''
from dpsco_bench import GaussianQuery, algorithm, make_plan


@algorithm("mine.partly", source="the test")
def plan(given):
    """Fails at n = 128."""
    return make_plan(GaussianQuery("gradient", 1.0, 1, paper_scale=0.1), gradient_evaluations=given.n, n=given.n)


@plan.run
def partly(objective, plan, mechanism):
    if plan.n == 128:
        raise ValueError("this one fails")
    return mechanism.release("gradient", objective.start, 0)
'''
pytestmark = pytest.mark.slow


def launcher(name, module):
    return pytest.param(name, marks=pytest.mark.skipif(find_spec(module) is None, reason=f"no {module} (make cluster)"))


def dpsco(folder, *arguments, environment=None):
    command = [sys.executable, "-m", "dpsco_bench", *arguments]
    kept = dict(environment or os.environ)
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), kept.get("PYTHONPATH")]))
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=folder, env=kept, **streams)


def tables(folder):
    return {path.name: path.read_bytes() for path in folder.glob("results/runs/*.parquet")}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    assert swept(folder)[0] == 2
    return tables(folder)


def swept(folder, *more, environment=None):
    (folder / "own.py").write_text(OWN)
    process = dpsco(folder, "run", *SWEEP, *more, environment=environment)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


@pytest.mark.parametrize("name", [launcher("joblib", "joblib"), launcher("submitit_local", "submitit")])
def test_a_launcher_leaves_the_same_bytes_and_names_what_failed(alone, tmp_path, name):
    code, out, err = swept(tmp_path, f"hydra/launcher={name}")
    assert len(alone) == 2 and tables(tmp_path) == alone
    assert code == 2 and "refused: n=128: " in out and "this one fails" in out
    assert err.splitlines()[-1].startswith("dpsco: ") and "Traceback" not in err
    assert not list(tmp_path.glob("results/runs/sweeps/*/.dpsco-failures"))


@pytest.mark.parametrize("name", [launcher("submitit_slurm", "submitit")])
def test_slurm_runs_a_sweep(alone, tmp_path, name):
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        try:
            with single_node(Path(folder)) as environment:
                slurm = (f"hydra/launcher={name}", "hydra.launcher.timeout_min=5", "hydra.launcher.mem_gb=1")
                code, out, err = swept(tmp_path, *slurm, environment=environment)
        except Unavailable as why:
            pytest.skip(str(why))
    assert tables(tmp_path) == alone and code == 2 and "this one fails" in out, err


def test_two_processes_that_write_one_store_at_once_leave_what_one_leaves(tmp_path):
    """The same claim twice at once: each item is made by one of them, and both come to the same verdicts."""
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    claim = ("claim", "wang2017.thm6.2", "--profile", "smoke", "--json")
    out, _ = dpsco(folders[0], *claim).communicate(timeout=300)
    both = [dpsco(folders[1], *claim) for _ in range(2)]
    found = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [0, 0], found
    stores = [{p.name: p.read_bytes() for p in (f / "results" / "store" / "runs").glob("*.parquet")} for f in folders]
    assert stores[0] and stores[0] == stores[1]
    assert not list((folders[1] / "results" / "store").rglob(".*")), "nothing half-written is left"
    verdicts = [[{**row, "runtime_s": 0} for row in json.loads(text)] for text in (out, *(text for text, _ in found))]
    assert verdicts[0] == verdicts[1] == verdicts[2]
