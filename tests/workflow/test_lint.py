"""Every remark of ``snakemake --lint`` is answered in docs/internals/workflow.md, and every answer has its remark."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_every_remark_has_its_answer():
    command = [sys.executable, "-m", "snakemake", "--lint", "--config", "profile=smoke"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    text = said.stdout + said.stderr
    remarks = {re.sub(r"( in line \d+)?\.?:?$", "", line) for line in re.findall(r"^    \* (.*)$", text, re.MULTILINE)}
    page = (
        (ROOT / "docs" / "internals" / "workflow.md")
        .read_text(encoding="utf-8")
        .partition("--lint` says")[2]
        .partition("\n## ")[0]
    )
    answers = {row.split(" | ")[0].removeprefix("| ").rstrip(".") for row in page.splitlines() if row.startswith("| ")}
    assert remarks and remarks == answers - {"remark", "---"}
