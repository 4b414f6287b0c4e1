"""What a run of the workflow says at its end."""

from types import SimpleNamespace

import pytest

from dpsco_bench.cli import workflow


def judge(claim):
    return SimpleNamespace(rule=SimpleNamespace(name="judge"), wildcards=SimpleNamespace(claim=claim))


class Dag:
    def __init__(self, jobs, unfinished):
        self.jobs, self._unfinished = jobs, unfinished

    def __len__(self):
        return len(self.jobs)

    def needrun_jobs(self):
        return iter(self._unfinished)


@pytest.mark.parametrize(
    ("unfinished", "line"),
    [
        ([], None),
        (["a.one"], "of an earlier run, this one ended before them: a.one"),
        (["a.two", "a.one", "a.three"], "of an earlier run, this one ended before them: a.one, a.two"),
    ],
)
def test_verdicts_of_an_earlier_run_are_named(monkeypatch, capsys, unfinished, line):
    jobs = {claim: judge(claim) for claim in ("a.one", "a.two", "a.three")}
    dag = Dag(list(jobs.values()), [jobs[claim] for claim in unfinished])
    snakemake = SimpleNamespace(is_main_process=True, scheduler=object(), dryrun=False, dag=dag)
    flow = SimpleNamespace(
        lock=SimpleNamespace(held=True),
        files=SimpleNamespace(judged="absent"),
        digests={"a.one": "1", "a.two": "2", "a.three": "3"},
    )
    monkeypatch.setattr(workflow, "stored_digests", lambda files: {"a.one": "1", "a.two": "2", "a.three": "old"})
    monkeypatch.setattr(workflow, "read_verdicts", lambda files, claims: sorted(claims))
    monkeypatch.setattr(workflow, "summary", lambda files, rows, reported: (" ".join(rows), False))
    workflow.farewell(snakemake, flow)
    said = capsys.readouterr().out.strip().splitlines()
    assert said[0] == "a.one a.two" and said[-1] == "no verdict, see the errors above: a.three"
    assert said[1:-1] == ([line] if line else [])
