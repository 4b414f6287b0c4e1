"""What a run of the workflow says while it works and at its end."""

from types import SimpleNamespace

import pytest

from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.cli import workflow
from dpsco_bench.cli.verbs.gate import closing
from dpsco_bench.cli.workflow import TimeLeft
from dpsco_bench.execution.layout import Layout


@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.parametrize("slower", [0.5, 2.0])
def test_the_time_left_is_within_a_factor_two_after_a_tenth(monkeypatch, cores, slower):
    """The longest jobs first, as Snakemake begins them by their priority."""
    seconds = {f"a.{n}": float(n % 17 + 1) for n in range(100)}
    now = [0.0]
    monkeypatch.setattr(workflow, "PREDICTED", {"claim": dict(seconds)})
    monkeypatch.setattr(workflow.time, "monotonic", lambda: now[0])
    left, whole = TimeLeft({"claim": 100, "total": 100}), slower * sum(seconds.values()) / cores
    for id, spent in sorted(seconds.items(), key=lambda item: -item[1]):
        left.begin(id, "claim", id)
        now[0] += slower * spent / cores
        left.end(id)
        if whole / 10 < now[0] < 0.98 * whole:
            assert 0.5 < left.seconds / (whole - now[0]) < 2.0
    assert str(left).startswith("100 %, ")


def verdict(claim, part, word):
    return Verdict(word, "explicit", "r", id=claim, part=part, calibration="paper", profile="smoke")


def test_the_summary_fits_a_screen_and_counts(tmp_path):
    rows = [verdict(f"{paper}.thm{n}", "p", "holds") for paper in "abcde" for n in range(60)]
    rows += [verdict(f"a.lemma{n % 6}", f"p{n}", "violated") for n in range(30)]
    lines = closing(Layout("smoke", tmp_path), rows, [SimpleNamespace(fails=True) for _ in range(40)]).splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 100
    assert "".join(lines[3].split()) == "a60/6/0/00/0/0/660/0/0/660/0/0/0"
    assert lines[8].split()[:8] == ["all", "300", "/", "6", "/", "0", "/", "0"]
    assert any("a.lemma5" in line for line in lines) and "and 32 more changed verdicts" in lines
