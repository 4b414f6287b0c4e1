"""A folder that cannot be written is named in one line, before Snakemake stumbles over it."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux") and os.geteuid() == 0, reason="root writes everywhere"),
]
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2


def keep_to_modes():
    """Let modes of files hold for root too."""
    if os.geteuid() == 0:
        for right in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
            ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, right, 0, 0, 0)


def snakemake(project, *arguments):
    """Run Snakemake where modes hold; its exit code, and the lines that it wrote after the first of ours."""
    command = project.command(*arguments)
    done = subprocess.run(
        command, cwd=project.root, env=project.environment, capture_output=True, text=True, preexec_fn=keep_to_modes
    )
    lines = done.stderr.replace("dpsco: ", "\ndpsco: ").splitlines()  # Snakemake's own lines may come between ours
    ours = next((number for number, line in enumerate(lines) if line.startswith("dpsco: ")), len(lines))
    return done.returncode, lines[ours:]


@pytest.fixture
def closed():
    """Take the right to write from files and folders until the test ends."""
    changed = []

    def close(path):
        changed.append((path, path.stat().st_mode))
        path.chmod(0o555 if path.is_dir() else 0o444)
        return path

    yield close
    for path, mode in reversed(changed):
        path.chmod(mode)


def test_the_working_folder(project, closed):
    closed(project.root)
    said = [f"dpsco: folder = '{project.root}': must be a folder that can be written to"]
    assert snakemake(project, "--", "verdicts") == (2, said)


@pytest.mark.parametrize("name", ["results", "figures"])
def test_results_and_figures(project, closed, name):
    (project.root / name).mkdir(exist_ok=True)
    closed(project.root / name)
    code, said = snakemake(project, "--", "verdicts")
    assert code == 2 and said[0].startswith(f"dpsco: folder = '{name}': must be a folder that can be written to")
