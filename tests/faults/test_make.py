"""The Makefile: a wrong number of cores is one line, and an environment that is not whole is built anew."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = """#!/bin/sh
# Stands for every Python: notes its arguments, makes a `.venv` whose Python is itself, and kills make where it should.
echo "$*" >> {folder}/called
case "$*" in
    *FAILS*) exit 1;;
    *"-m venv"*) mkdir -p .venv/bin && cp "$0" .venv/bin/python;;
esac
[ -f {folder}/broken ] && case "$*" in *"$(cat {folder}/broken)"*) kill -9 $PPID;; esac
exit 0
"""


@pytest.fixture
def make(tmp_path):
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    (tmp_path / "dpsco_bench").mkdir()
    for name in ("Makefile", "pyproject.toml", "dpsco_bench/__init__.py"):
        shutil.copyfile(ROOT / name, tmp_path / name)
    python = tmp_path / "python"
    python.write_text(PYTHON.format(folder=tmp_path))
    python.chmod(0o755)

    def call(*words):
        (tmp_path / "called").write_text("")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
        command = ["make", f"PYTHON={python}", *words]
        done = subprocess.run(command, cwd=tmp_path, env=kept, capture_output=True, text=True)
        return done, (tmp_path / "called").read_text().splitlines()

    return call


@pytest.mark.parametrize("cores", ["0", "-2", "2x", "all 2"])
def test_a_wrong_number_of_cores_is_one_line(make, cores, tmp_path):
    done, called = make("replicate", f"CORES={cores}")
    assert done.returncode == 2 and done.stdout == "" and called == []
    (line,) = done.stderr.splitlines()
    assert f"CORES = {cores}: must be an integer >= 1, or all" in line
    assert not (tmp_path / ".venv").exists()


def installs(called):
    return [line for line in called if " install " in line]


@pytest.mark.parametrize("step", ["-m venv", "build.txt", "lock.txt", "--editable"])
def test_an_interrupted_build_starts_again(make, tmp_path, step):
    (tmp_path / "broken").write_text(step)
    assert make(".venv")[0].returncode != 0
    (tmp_path / "broken").unlink()
    done, called = make(".venv")
    assert done.returncode == 0
    whole = ["build.txt", "lock.txt", "--editable"]
    assert all(any(name in line for line in installs(called)) for name in (whole[2:] if step == whole[2] else whole))
    assert installs(make(".venv")[1]) == []  # and now it is whole


@pytest.mark.parametrize("folder", ["/tmp/a b", "it's", "plain", "/tmp/a;b"])
def test_a_folder_of_any_name_reaches_snakemake_as_one_word(make, tmp_path, folder):
    line = make("-n", "replicate", f"DATA_ROOT={folder}")[0].stdout.splitlines()[-1]
    words = shlex.split(line)
    assert words[words.index("--config") :] == ["--config", "profile=ci", f"data_root={tmp_path / folder}", "--"]
