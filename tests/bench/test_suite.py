"""The verb ``bench`` and the structure of what it reports; no time is asserted."""

import json
import runpy
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from dpsco_bench.algorithms.registry import list_algorithms
from dpsco_bench.bench import measure as measuring
from dpsco_bench.bench import suite
from dpsco_bench.bench.fused_pairs import TimedRun, timed_cells
from dpsco_bench.bench.measure import AT_LEAST, AT_MOST, GOALS, BenchCase, Effort, Goal, NotMeasurable, Pair, measure
from dpsco_bench.cli.main import main
from dpsco_bench.fused import compiled
from dpsco_bench.fused.registry import has_steps
from dpsco_bench.registry import Registry

ROOT = Path(__file__).parents[2]
KEYS = {"id", "case", "ratio", "goal", "met", "sense", "peer", "unit", "ours_ns", "peer_ns", "ratio_median"}
KEYS |= {"reason", "limit"}


def case(sense, goal, ours_units=1.0):
    """A case of tasks that say themselves how long they take: one second and two."""
    return BenchCase(
        "G0", "tasks", "tasks", "call", sense, goal, lambda: Pair(lambda: 1.0, lambda: 2.0, ours_units, 1.0)
    )


@pytest.fixture(autouse=True)
def no_clock(monkeypatch):
    monkeypatch.setattr(measuring, "_seconds", lambda task, calls: task())


@pytest.fixture
def small(monkeypatch):
    """A suite of one case per outcome."""

    def missing():
        raise NotMeasurable("it is not here")

    cases = [case(AT_MOST, 0.9), case(AT_LEAST, 1e9), case(AT_MOST, None)]
    cases.append(BenchCase("G0", "tasks", "nothing", "call", AT_LEAST, 1.0, missing))
    only = Registry("benchmark", "no_such_folder")
    only.add("G0", Goal("tasks", lambda: cases), __name__)
    monkeypatch.setattr(suite, "GOALS", only)


def test_ratio_and_goal_follow_the_sense():
    rows = [measure(case(sense, goal), Effort(3, 1.0)) for sense, goal in product((AT_MOST, AT_LEAST), (0.5, 0.4, 3))]
    assert [row.ratio for row in rows] == [row.ratio_median for row in rows] == [0.5] * 3 + [2.0] * 3
    assert [row.met for row in rows] == [True, False, True, True, True, False]


def test_a_missed_goal_says_what_keeps_it():
    rows = [measure(replace(case(AT_MOST, goal), limit="two passes"), Effort(3, 1.0)) for goal in (0.4, 0.6, None)]
    assert [row.limit for row in rows] == ["two passes", "", ""]


def test_times_are_per_unit_of_work():
    row = measure(case(AT_MOST, None, ours_units=1000.0), Effort(3, 1.0))
    assert (row.ours_ns, row.peer_ns, row.met) == (1e6, 2e9, None)


@pytest.mark.parametrize(("seconds", "calls"), [(0.0, 1), (1.0, 1), (10.0, 10)])
def test_samples_fill_their_time(seconds, calls):
    assert measuring._calls(lambda: 1.0, seconds) == calls


def test_json(small, capsys):
    assert main(["bench", "--quick", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["met"] for row in rows] == [True, False, None, None]
    assert all(set(row) == KEYS | {"machine"} for row in rows)
    assert [row["reason"] for row in rows] == ["", "", "", "it is not here"] and rows[3]["ratio"] is None
    assert {"processor", "date", "numba", "blas_core_type", "blas_threads", "numpy"} <= set(rows[0]["machine"])


def test_screen(small, capsys, monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Zen")
    assert main(["bench", "--quick"]) == 0
    out = capsys.readouterr().out
    rows = [line.split() for line in out.splitlines() if line.startswith("  tasks") and "not measured" not in line]
    assert [row[-1] for row in rows] == ["yes", "NO", "-"] and rows[0][-3:-1] == ["<=", "0.9"]
    assert out.count("G0: tasks") == 1 and "not measured: it is not here" in out
    assert "Zen (OPENBLAS_CORETYPE)" in out and max(map(len, out.splitlines())) <= 124


def test_rows_are_kept_as_they_come(small, tmp_path, monkeypatch):
    """What is stopped in the middle has left the rows before it."""
    kept, cases = tmp_path / "rows.json", suite.GOALS.get("G0").cases()
    cases[2] = replace(cases[2], build=lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    assert main(["bench", "--quick", "--out", str(kept)]) != 0
    assert [row["met"] for row in json.loads(kept.read_text())] == [True, False]


def test_every_goal_has_cases_that_name_themselves():
    for id in GOALS.names():
        made = list(GOALS.get(id).cases())
        assert made and {one.id for one in made} == {id}
        assert len({(one.case, one.peer) for one in made}) == len(made)
        assert all(one.goal is None for one in made if one.peer.startswith(("its listing", "listing:")))
        assert all(one.limit for one in made if one.goal is not None), id


def test_without_jax_its_cases_say_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    rows = list(suite.run_suite(["G3"]))
    assert {row.ratio for row in rows} == {row.met for row in rows} == {None}
    assert {row.reason for row in rows} == {"JAX is not installed (make peers)"}


def test_only_keeps_the_suite_s_order():
    assert suite.selected(["G6", "G1"]) == ["G1", "G6"]
    assert suite.selected([]) == GOALS.names()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "G9"], "only = 'G9': must be one of G1, G2"),
        (["--only", "G1", "g2"], "only = 'g2': must be one of G1, G2"),
        (["--only"], "bench: argument --only: expected at least one argument"),
    ],
)
def test_errors_are_one_line(capsys, arguments, message):
    assert main(["bench", *arguments]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"dpsco: {message}") and err.count("\n") == 1


def test_every_missed_goal_on_the_page_has_its_reason():
    rows = runpy.run_path(str(ROOT / "docs" / "benchmarks.py"))["kept"]()
    assert all(bool(row["limit"]) == (row["met"] is False) for row in rows if row["ratio"] is not None)
    assert all(row["reason"] for row in rows if row["ratio"] is None)


def test_the_page_is_what_its_script_writes():
    page = runpy.run_path(str(ROOT / "docs" / "benchmarks.py"))
    assert (ROOT / "docs" / "benchmarks.md").read_text() == page["page"](page["kept"]()), "python docs/benchmarks.py"


@pytest.fixture(scope="module")
def page():
    return runpy.run_path(str(ROOT / "docs" / "benchmarks.py"))


def test_each_case_of_the_suite_has_a_row_on_the_page(page):
    """One that was not measured says so, and of what it is known before it is not built."""
    rows = {(row["id"], row["case"], row["peer"]): row for row in page["kept"]()}
    cases = [case for id in GOALS.names() for case in GOALS.get(id).cases()]
    assert rows.keys() == {(case.id, case.case, case.peer) for case in cases}
    untimed = [case for case in cases if case.untimed]
    assert len(untimed) == 4 and all(rows[case.id, case.case, case.peer]["met"] is None for case in untimed)
    assert measure(replace(untimed[0], build=lambda: 1 / 0), Effort(3, 1.0)).reason == untimed[0].untimed


def test_the_page_is_short_and_begins_with_what_a_run_takes(page):
    text = page["page"](page["kept"]())
    assert len(text.split()) < 900 and text.startswith("# Benchmarks\n\n## What a run takes\n")


def test_measuring_whole_runs_anew_leaves_what_the_page_needs(page, tmp_path, monkeypatch):
    """Whatever whole.py does not measure stays in its file."""
    script = runpy.run_path(str(ROOT / "docs" / "whole.py"))
    stages = dict.fromkeys([*script["STAGES"], script["BESIDE"]], 20.0)
    old, new = (script["Whole"](commit, 100.0, 90.0, 99, stages, 70, "2030-01-01") for commit in ("aaaa", "bbbb"))
    (tmp_path / "whole.json").write_text((ROOT / "docs" / "whole.json").read_text())
    for profile in ("smoke", "ci"):
        script["keep"](tmp_path / "whole.json", profile, old, new)
    was, now = (json.loads((folder / "whole.json").read_text()) for folder in (ROOT / "docs", tmp_path))
    changed = {(key, inner) for key in now for inner in now[key] if now[key][inner] != was[key].get(inner)}
    assert was.keys() == now.keys() and changed == set(product(("smoke", "ci"), ("before", "after")))
    assert was["smoke"].keys() <= now["smoke"].keys()
    monkeypatch.setitem(page["_runs"].__globals__, "HERE", tmp_path)
    assert "| `ci` | 1 | 1.5 min | 1.7 min |" in "\n".join(page["_runs"]())


def test_jobs_of_a_run_are_counted_and_timed_from_what_snakemake_notes(tmp_path):
    """A job with two outputs is one, and ends with its last."""
    script, folder = runpy.run_path(str(ROOT / "docs" / "whole.py")), tmp_path / ".snakemake" / "metadata"
    folder.mkdir(parents=True)
    for number, (rule, command, end) in enumerate([("run", "a", 4.0), ("run", "a", 6.0), ("judge_claim", None, 3.0)]):
        noted = {"rule": rule, "shellcmd": command, "starttime": 1.0, "endtime": end}
        (folder / str(number)).write_text(json.dumps(noted))
    assert len(script["noted_jobs"](tmp_path)) == 2
    found = script["of_jobs"](tmp_path)
    assert (found["runs"], found["judging"], found[script["BESIDE"]]) == (5.0, 2.0, 0.0)


FULL_GRADIENTS = {
    *("bassily2021.noisy_smd", "su2023.ttz14", "wang2017.noisy_md_ttz14"),
}
"""Compiled methods of which a step looks at all records, and noisy_smd, whose batches are not timed."""


def test_every_compiled_method_of_single_records_is_timed():
    assert timed_cells().keys() | FULL_GRADIENTS == {id for id in list_algorithms() if has_steps(id)}


def test_where_the_listing_runs_nothing_is_compared():
    if not compiled.available():
        pytest.skip("Numba is missing or switched off: the listings run")
    (wide,) = [case for case in GOALS.get("P1_su2023").cases() if case.case == "pda_dpmd, R/d = 64/128"]
    with pytest.raises(NotMeasurable, match="its listing runs"):
        wide.build()
    assert TimedRun(timed_cells()["su2023.pda_dpmd"], 12, 0.3).is_fused()
