"""gc removes what interrupted writes have left, and nothing that a living process may be writing."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dpsco_bench.claims.plan import WorkPlan
from dpsco_bench.cli.main import main
from dpsco_bench.cli.verbs.gc import FRESH_SECONDS
from dpsco_bench.execution.layout import Layout
from dpsco_bench.jsonio import is_draft

HEX = "0123456789abcdef" * 2
KILLED = """
import os, signal, sys
from dpsco_bench.jsonio import whole
with whole(sys.argv[1]) as draft:
    draft.write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = Layout("smoke")
    WorkPlan("smoke", (), ()).write(files.plan)
    return files


@pytest.fixture
def dead():
    """Number of a process that has ended."""
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def age(path: Path, seconds: float = FRESH_SECONDS + 60) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (time.time() - seconds,) * 2)
    return path


def test_a_killed_write_leaves_a_draft_that_goes_once_it_is_old(files, capsys):
    places = [files.plan, files.figure("a.b"), Path("results/runs/x.parquet"), files.measured.store.path("runs", "0")]
    for place in places:
        subprocess.run([sys.executable, "-c", KILLED, str(place)], check=False)
    drafts = [path for path in Path().rglob("*") if is_draft(path)]
    assert len(drafts) == len(places)
    assert main(["gc", "--profile", "smoke"]) == 0 and all(path.exists() for path in drafts)  # they are young
    for path in drafts:
        age(path)
    capsys.readouterr()
    assert main(["gc", "--profile", "smoke", "--dry-run"]) == 0 and all(path.exists() for path in drafts)
    assert sorted(capsys.readouterr().out.splitlines()[:-1]) == sorted(map(str, drafts))
    assert main(["gc", "--profile", "smoke"]) == 0 and not any(path.exists() for path in drafts)
    assert files.plan.is_file()


def test_what_a_living_process_may_own_stays(files, dead):
    folder = files.results
    mine = age(folder / f".{os.getpid()}-{HEX}.part.plan.json")
    young = age(folder / f".{dead}-{HEX}.part.plan.json", 1.0)
    others = age(folder / f".1-{HEX}.part.plan.json")  # of the machine, whoever asks
    no_draft = age(folder / ".hidden.part.json")
    old, unnumbered = age(folder / f".{dead}-{HEX}.part.a.json"), age(folder / f".{HEX}.part.a.json")
    assert main(["gc", "--profile", "smoke"]) == 0
    assert [path.exists() for path in (mine, young, others, no_draft)] == [True] * 4
    assert not old.exists() and not unnumbered.exists()
