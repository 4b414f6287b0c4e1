"""A folder of results that belongs to somebody else: one line that names the file, and nothing of theirs is changed."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

import dpsco_bench
from dpsco_bench.cli.main import main
from dpsco_bench.cli.workflow import check_writable, one_line
from dpsco_bench.execution.store import Store, take


def open_to_all(*places):
    """Whether everybody may enter some folders."""
    folders = [folder for place in places for folder in (Path(place).resolve(), *Path(place).resolve().parents)]
    return all(folder.stat().st_mode & 0o005 == 0o005 for folder in folders)


OPEN = open_to_all(Path(dpsco_bench.__file__).parent, sys.prefix, sys.base_prefix)
ROOT = pytest.mark.skipif(
    os.geteuid() != 0 or not OPEN, reason="only root can become somebody else, who has to read the package and Python"
)
NOBODY = 65534
CLAIM = ("claim", "su2023.thm1.privacy", "--profile", "smoke")


@pytest.fixture
def shared(monkeypatch):
    """A folder that everybody may enter, with results in it that belong to this process's user."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    monkeypatch.chdir(folder)
    Store(Path("results/store")).write("runs", "theirs", b"content")
    take(Path("results/smoke/.lock"))
    yield folder
    shutil.rmtree(folder)


def as_somebody_else(call, said: Path):
    """Call in a child process with another user's rights; its exit code, and what it says on stderr."""
    said.touch()
    said.chmod(0o666)
    child = os.fork()
    if child == 0:
        code = 99
        try:
            with said.open("w") as stderr:
                os.dup2(stderr.fileno(), 2)
                os.sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
                os.setgroups([])
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)
                try:
                    code = call() or 0
                except SystemExit as leaving:
                    code = int(leaving.code or 0)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said.read_text().splitlines()


def content(folder):
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}


@ROOT
@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: check_writable(Path("results/smoke")), "folder = 'results/smoke'"),
        (lambda: take(Path("results/smoke/.lock")), "file = 'results/smoke/.lock'"),
        (lambda: sys.exit(main(list(CLAIM))), "file = 'results/store"),
    ],
)
def test_what_has_to_write_there_is_one_line(shared, call, named):
    said, before = Path(tempfile.mkstemp()[1]), content(shared)

    def start():
        with one_line():
            call()

    code, lines = as_somebody_else(start, said)
    said.unlink()
    assert code == 2 and len(lines) == 1 and lines[0].startswith(f"dpsco: {named}"), lines
    assert content(shared) == before
