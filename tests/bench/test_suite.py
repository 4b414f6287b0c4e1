"""The verb ``bench``, the structure of what it reports, and the pages of its scripts; no time is asserted."""

import json
import runpy
from dataclasses import replace
from itertools import product
from pathlib import Path
from unittest.mock import Mock

import pytest

from dpsco_bench.algorithms.registry import list_algorithms
from dpsco_bench.bench import measure as measuring
from dpsco_bench.bench import suite
from dpsco_bench.bench.fused_pairs import timed_cells
from dpsco_bench.bench.measure import AT_LEAST, AT_MOST, GOALS, BenchCase, Effort, Goal, NotMeasurable, Pair, measure
from dpsco_bench.cli.main import main
from dpsco_bench.fused.registry import has_steps
from dpsco_bench.registry import Registry

ROOT = Path(__file__).parents[2]
KEYS = {"id", "case", "ratio", "goal", "met", "sense", "peer", "unit", "ours_ns", "peer_ns", "ratio_median"}
KEYS |= {"reason", "limit", "machine"}


def case(sense, goal, ours_units=1.0):
    pair = Pair(lambda: 1.0, lambda: 2.0, ours_units, 1.0)
    return BenchCase("G0", "tasks", "tasks", "call", sense, goal, lambda: pair)


@pytest.fixture(autouse=True)
def no_clock(monkeypatch):
    monkeypatch.setattr(measuring, "_seconds", lambda task, calls: task())


@pytest.fixture
def small(monkeypatch):
    missing = Mock(side_effect=NotMeasurable("it is not here"))
    cases = [case(AT_MOST, 0.9), case(AT_LEAST, 1e9), case(AT_MOST, None)]
    cases += [replace(case(AT_LEAST, 1.0), case="nothing", build=missing)]
    only = Registry("benchmark", "no_such_folder")
    only.add("G0", Goal("tasks", lambda: cases), __name__)
    monkeypatch.setattr(suite, "GOALS", only)


def test_ratios_goals_and_times_follow_the_sense_and_the_units():
    rows = [measure(case(sense, goal), Effort(3, 1.0)) for sense, goal in product((AT_MOST, AT_LEAST), (0.5, 0.4, 3))]
    assert [row.ratio for row in rows] == [row.ratio_median for row in rows] == [0.5] * 3 + [2.0] * 3
    assert [row.met for row in rows] == [True, False, True, True, True, False]
    row = measure(case(AT_MOST, None, ours_units=1000.0), Effort(3, 1.0))
    assert (row.ours_ns, row.peer_ns, row.met) == (1e6, 2e9, None)


def test_json(small, capsys):
    assert main(["bench", "--quick", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["met"] for row in rows] == [True, False, None, None]
    assert all(set(row) == KEYS for row in rows)
    assert [row["reason"] for row in rows] == ["", "", "", "it is not here"] and rows[3]["ratio"] is None
    assert {"processor", "date", "numba", "blas_core_type", "blas_threads", "numpy"} <= set(rows[0]["machine"])


def test_rows_are_kept_as_they_come(small, tmp_path, monkeypatch):
    kept, cases = tmp_path / "rows.json", suite.GOALS.get("G0").cases()
    cases[2] = replace(cases[2], build=Mock(side_effect=KeyboardInterrupt))
    assert main(["bench", "--quick", "--out", str(kept)]) != 0
    assert [row["met"] for row in json.loads(kept.read_text())] == [True, False]


def test_every_goal_has_cases_that_name_themselves_in_the_suites_order():
    for id in GOALS.names():
        made = list(GOALS.get(id).cases())
        assert made and {one.id for one in made} == {id}
        assert len({(one.case, one.peer) for one in made}) == len(made)
        assert all(one.goal is None for one in made if "reference implementation" in one.peer)
        assert all(one.limit for one in made if one.goal is not None), id
    assert suite.selected(["G6", "G1"]) == ["G1", "G6"]
    assert suite.selected([]) == GOALS.names()


def test_the_page_is_what_its_script_writes_and_has_a_row_for_each_case():
    """One that was not measured says so, and of what it is known before it is not built."""
    script = runpy.run_path(str(ROOT / "docs" / "benchmarks.py"))
    kept = script["kept"]()
    assert (ROOT / "docs" / "benchmarks.md").read_text() == script["page"](kept), "python docs/benchmarks.py"
    rows = {(row["id"], row["case"], row["peer"]): row for row in kept}
    cases = [case for id in GOALS.names() for case in GOALS.get(id).cases()]
    assert rows.keys() == {(case.id, case.case, case.peer) for case in cases}
    untimed = [case for case in cases if case.untimed]
    assert len(untimed) == 4 and all(rows[case.id, case.case, case.peer]["met"] is None for case in untimed)
    assert measure(replace(untimed[0], build=lambda: 1 / 0), Effort(3, 1.0)).reason == untimed[0].untimed


FULL_GRADIENTS = {"bassily2021.noisy_smd", "su2023.ttz14", "wang2017.noisy_md_ttz14"}
"""Compiled methods of which a step looks at all records, and noisy_smd, whose batches are not timed."""


def test_every_compiled_method_of_single_records_is_timed():
    assert timed_cells().keys() | FULL_GRADIENTS == {id for id in list_algorithms() if has_steps(id)}


def test_the_page_of_scaling_is_what_its_script_writes_of_the_whole_grid():
    script = runpy.run_path(str(ROOT / "docs" / "scaling.py"))
    about, rows = script["kept"]()
    assert (ROOT / "docs" / "scaling.md").read_text() == script["page"](about, rows), "python docs/scaling.py"
    sizes = [tuple(size.values()) for size in script["sizes"]()]
    wanted = {(method.title, *size, fused) for method in script["METHODS"] for size in sizes for fused in (0, 1)}
    assert {(row["method"], row["n"], row["d"], row["R"], row["fused"]) for row in rows} == wanted
    assert all(max(values) >= 900 * min(values) for values in script["GRID"].values()), "three decades"
    assert about["processor"] and about["numpy"]
