"""Runs in stages: a run that is killed anywhere goes on to the same bytes, and nothing else in the store matters."""

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import count
from unittest.mock import DEFAULT, Mock, patch

import pytest

from dpsco_bench.analysis.stages import staged
from dpsco_bench.cli.verbs.claim import run_claim
from dpsco_bench.execution import worker
from dpsco_bench.execution.job_results import Measured
from dpsco_bench.execution.store import Store
from dpsco_bench.jsonio import dumps_canonical
from dpsco_bench.kinds.explicit import Explicit
from dpsco_bench.kinds.rate import Rate

from .parts import PART, entry_of

MANY = {"replicates": {"smoke": 64}}
GRID = {
    **{**PART, "id": "grid", "algorithm": "su2023.app_objp", "options": {}, "problem": "pointmass_linear"},
    **{"problem_options": {"domain": "l2_ball"}, "fixed": {"d": 64, "epsilon": 1.0, "delta": 1e-6}},
    **{"sweep": {"parameter": "n", "values": {"smoke": [512, 1024, 2048]}}},
    **{"signals": {"smoke": [0.001, 0.03, 0.1, 1.0]}, "bound": "su2023.thm2_privacy", "exponent": -1, "tolerance": 0.1},
}
PARTS = [
    {**PART, **MANY, "tolerance": 0.25, "sweep": {"parameter": "n", "values": {"smoke": [512, 2048, 8192]}}},
    {**GRID, **MANY},
    {"id": "same", "kind": "shown", "calibrations": ["paper"], "uses": ["gd"], "bound": "wang2017.thm6_2"},
]


def made(entry, measured):
    """Rows without their seconds, and the bytes of what decides them."""
    rows = [replace(row, runtime_s=0.0) for row in run_claim(entry, measured)]
    found = {(kind, key): path.read_bytes() for kind, key, path in measured.store.files() if path.suffix != ".manifest"}
    return dumps_canonical(rows), {place: content for place, content in found.items() if place[0] in ("runs", "stages")}


@pytest.fixture(scope="module")
def entry():
    return staged(entry_of("own.staged", *PARTS))


@pytest.fixture(scope="module")
def whole(entry, tmp_path_factory):
    return made(entry, Measured(Store(tmp_path_factory.mktemp("whole"))))


def test_a_run_that_is_killed_at_any_write_goes_on_to_the_same_bytes(entry, whole, tmp_path):
    """`SystemExit` stands for the signal."""
    for writes in count():
        store = Store(tmp_path / str(writes))
        write = Mock(wraps=store.write, side_effect=[*[DEFAULT] * writes, SystemExit])
        with patch.object(Store, "write", write), suppress(SystemExit):
            run_claim(entry, Measured(store))
            break
        assert made(entry, Measured(store)) == whole, writes
    assert writes >= 8


def test_results_of_other_stages_are_not_looked_at(entry, whole, tmp_path):
    measured = Measured(Store(tmp_path))
    for job in entry.jobs:
        worker.make("calibrate", job, measured)
        worker.make("run", job, measured)
    rows, found = made(entry, measured)
    assert rows == whole[0] and whole[1].items() <= found.items()


def test_a_word_has_the_numbers_of_the_look_that_decides_it_and_of_no_later_one(entry, tmp_path):
    measured = Measured(Store(tmp_path))
    rows = {row.part: row for row in run_claim(entry, measured)}
    gd, grid = rows["gd"], rows["grid"]
    assert gd.stages == (8, 16, 32, 64) and gd.word in Rate.early and 0.95 < gd.level < 1
    assert gd.replicates == gd.stages[gd.look - 1] < 64
    [job] = [job for job in entry.jobs if job.name == "grid.paper"]
    found = measured.decided(job)
    dropped = set(range(len(job.cells))) - set(found.kept[job.name])
    counts = Counter(measured.table(job)["cell"].to_pylist())
    most = max(counts.values())
    assert dropped and all(counts[cell] / most == 8 / found.up_to(job)[-1].end for cell in dropped)
    assert any("1 of them after 8 replicates" in note for note in grid.notes)


def test_parts_that_say_so_are_run_to_their_end(tmp_path):
    entry = staged(entry_of("own.staged", {**PARTS[0], "stages": {"none": "few have them"}}))
    assert not any(job.decisions for job in entry.jobs)
    [row] = run_claim(entry, Measured(Store(tmp_path)))
    assert row.replicates == 64 and row.look is None


def test_a_word_on_cells_one_by_one_is_decided_group_by_group(tmp_path):
    """The largest replicate of a part keeps that part's runs going, and no others that share a word with them."""
    bound = {"kind": "explicit", "calibrations": ["paper"], "bound": "wang2017.thm6_2_explicit"}
    within = {**bound, "id": "within", "uses": ["gd", "long"]}
    most = {**bound, "id": "most", "uses": ["long"], "statistic": "max"}
    own = staged(entry_of("own.staged", PARTS[0], {**PARTS[0], "id": "long"}, within, most))
    jobs = {job.part: job for job in own.jobs if job.calibration == "paper"}
    assert jobs["gd"].decisions != jobs["long"].decisions
    measured = Measured(Store(tmp_path))
    rows = {row.part: row for row in run_claim(own, measured) if row.calibration == "paper"}
    ends = {part: measured.decided(job).up_to(job)[-1].end for part, job in jobs.items()}
    assert ends == {"gd": rows["gd"].replicates, "long": 64} and ends["gd"] < 64
    assert rows["within"].word in Explicit.early and rows["within"].look < rows["most"].look == 4


def test_a_part_that_is_run_to_its_end_takes_those_along_that_it_is_compared_with():
    band = {"id": "both", "kind": "band", "calibrations": ["paper"], "uses": ["gd", "long"], "band": [0.1, 9]}
    for more, ends_early in (({}, True), ({"stages": {"none": "few have them"}}, False)):
        own = staged(entry_of("own.staged", PARTS[0], {**PARTS[0], "id": "long", **more}, band))
        paper = [job for job in own.jobs if job.calibration == "paper"]
        assert [bool(job.decisions) for job in paper] == [ends_early] * 2 and len({job.decisions for job in paper}) == 1
