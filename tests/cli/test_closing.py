"""What a run of the workflow says while it works and at its end."""

from __future__ import annotations

import logging
from pathlib import Path
from types import SimpleNamespace

import pytest

from dpsco_bench.analysis.judged import JudgedClaim
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.cli import closing
from dpsco_bench.cli.closing import Progress
from dpsco_bench.execution.layout import Layout


def record(event, message="", **fields):
    made = logging.LogRecord("snakemake", logging.INFO, "", 0, message, None, None)
    made.__dict__.update(event=SimpleNamespace(value=event), **fields)
    return made


def test_a_line_per_finished_job_and_whatever_is_no_job_goes_through(capsys):
    watch = Progress({"run a 1: 3 jobs, about 30 s": 30.0, "judge a: 2 claims": 10.0})
    assert not watch.filter(record("job_info", jobid=4, rule_msg="run a 1: 3 jobs, about 30 s"))
    assert not watch.filter(record("job_finished", job_id=4))
    assert not watch.filter(record("job_info", jobid=5, rule_msg="judge a: 2 claims"))
    assert not watch.filter(record("job_finished", job_id=5)) and not watch.filter(record("job_finished", job_id=6))
    assert watch.filter(record("job_error", "Error in rule run")) and watch.filter(record("", "anything else"))
    assert not watch.filter(record("", "Select jobs to execute..."))
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("[1 of 2, 75 %, about ") and first.endswith(" left] run a 1: 3 jobs")
    assert second.startswith("[2 of 2, 100 %, ") and second.endswith("] judge a: 2 claims")


def verdict(claim, part, word, **more):
    kind = more.pop("kind", "explicit")
    return Verdict(word, kind, "r", id=claim, part=part, calibration="paper", profile="smoke", **more)


def test_the_summary_fits_a_screen_and_names_what_fails_and_what_changed(monkeypatch, tmp_path):
    rows = [verdict(f"{paper}.thm{n}", "p", "holds") for paper in "abcde" for n in range(60)]
    rows += [verdict(f"a.lemma{n % 6}", f"p{n}", "violated") for n in range(30)]
    changed = [SimpleNamespace(fails=True) for _ in range(40)]
    monkeypatch.setattr(closing, "read_verdicts", lambda files, claims: rows)
    monkeypatch.setattr(closing, "differences", lambda profile, rows: changed)
    files = Layout("smoke", tmp_path)
    lines = closing.closing(files, list(dict.fromkeys(row.id for row in rows)), shown=False).splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 100
    assert lines[0].startswith("profile smoke: of 306 theorems, rows and figures ")
    assert "(330 verdicts)" in " ".join(" ".join(lines[:4]).split())
    assert "  a  holds without noise 60; fails 6" in lines
    assert "     fails: lemma0, lemma1, lemma2, lemma3, and 2 more" in lines
    assert "and 32 more changed verdicts" in lines


def test_a_claim_without_a_verdict_fails_the_run(monkeypatch):
    files = {"a.one": JudgedClaim("a.one", "1"), "a.two": JudgedClaim("a.two", failed="why")}
    monkeypatch.setattr(closing, "read_judged", files.get)
    monkeypatch.setattr(closing, "keep_told", lambda files: None)
    flow = SimpleNamespace(
        files=SimpleNamespace(verdicts=lambda id: id), scope={"a": ("a.one", "a.two"), "b": ("b.one",)}
    )
    jobs = [SimpleNamespace(rule=SimpleNamespace(name="judge_a"))]
    with pytest.raises(SystemExit, match="^1$"):
        closing.conclude(SimpleNamespace(dag=SimpleNamespace(jobs=jobs)), flow)


@pytest.mark.parametrize(
    ("unfinished", "line"), [((), ""), (("a",), "of an earlier run, this one ended before them: a.one")]
)
def test_verdicts_of_an_earlier_run_are_named(monkeypatch, capsys, tmp_path, unfinished, line):
    """Those that stand, of papers that the run did not come to judge."""
    stored = {
        "a.one": JudgedClaim("a.one", "1"),
        "a.two": JudgedClaim("a.two", "old"),
        "b.one": JudgedClaim("b.one", "3"),
    }
    monkeypatch.setattr(closing, "read_judged", stored.get)
    monkeypatch.setattr(closing, "closing", lambda files, claims, shown: f"{Path.cwd() == tmp_path} {' '.join(claims)}")
    judging = {paper: SimpleNamespace(rule=SimpleNamespace(name=f"judge_{paper}")) for paper in "ab"}

    class Dag:
        jobs = tuple(judging.values())

        def __len__(self):
            return 2

        def needrun_jobs(self):
            return [judging[paper] for paper in unfinished]

    flow = SimpleNamespace(
        files=SimpleNamespace(verdicts=lambda id: id),
        packing=SimpleNamespace(makers={}),
        scope={"a": ("a.one", "a.two"), "b": ("b.one",)},
        lock=SimpleNamespace(held=True),
        depends=SimpleNamespace(verdicts={"a.one": "1", "a.two": "2", "b.one": "3"}),
        folder=tmp_path,
    )
    closing.farewell(SimpleNamespace(is_main_process=True, scheduler=object(), dryrun=False, dag=Dag()), flow)
    said = capsys.readouterr().out.strip().splitlines()
    assert said == ["True a.one b.one", *filter(None, [line]), "no verdict of a.two: see the errors above"]
