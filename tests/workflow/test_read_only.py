"""A folder that cannot be written is named in one line, before Snakemake stumbles over it."""

import ctypes
import os
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


@pytest.mark.parametrize("name", [".", "results", "figures"])
def test_a_folder_that_cannot_be_written_to(project, name):
    folder = project.root / name
    folder.mkdir(exist_ok=True)
    mode = folder.stat().st_mode
    folder.chmod(0o555)
    try:
        done = project.snakemake("--", "verdicts", preexec_fn=keep_to_modes)
    finally:
        folder.chmod(mode)
    first = done.stderr[done.stderr.index("dpsco: ") :]
    named = project.root if name == "." else name
    assert done.returncode == 2
    assert first.startswith(f"dpsco: folder = '{named}': must be a folder that can be written to")
