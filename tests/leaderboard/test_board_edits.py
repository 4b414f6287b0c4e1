"""What an edit of one method makes due on the leaderboard that ships: its own jobs, and those of no other method."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.claims.settings import Settings
from dpsco_bench.execution import digest
from dpsco_bench.execution.jobs import Job
from dpsco_bench.fused.registry import fused_module
from dpsco_bench.leaderboard import board
from dpsco_bench.leaderboard.board import board_plan, load_board

Keys = dict[str, tuple[str, str]]
EDITED = (
    "bassily2021.noisy_sfw",
    "gopi2022.reg_exp_mech",
    "su2023.app_objp",
    "wang2017.dp_gd",
    "wang2017.objective_perturbation_cms11",
    "zhang2022.dp_otb_lp",
)
"""Methods of every paper, none of which lends code to another; one is searched too."""


def planned() -> list[Job]:
    return list(board_plan(load_board("leaderboard.common"), "smoke", Settings(seed=1, data_root="absent")).jobs)


def keys(jobs: list[Job]) -> Keys:
    return {job.name: (job.key, job.calibration_key) for job in jobs}


@pytest.fixture(scope="module")
def jobs() -> list[Job]:
    return planned()


@pytest.fixture(scope="module")
def before(jobs: list[Job]) -> Keys:
    return keys(jobs)


@pytest.fixture
def edited(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[Path]]:
    """Files that count as edited."""
    files: set[Path] = set()
    known = digest.source_digest
    monkeypatch.setattr(digest, "source_digest", lambda path: known(path) + "edited" * (path in files))
    yield files


def path_of(module: str) -> Path:
    path = digest.module_path(module)
    assert path is not None
    return path


def changed(before: Keys, after: Keys, which: int) -> set[str]:
    assert before.keys() == after.keys()
    return {name for name in before if before[name][which] != after[name][which]}


def test_a_job_has_cells_of_one_instance_and_one_algorithm(jobs: list[Job]) -> None:
    assert len(jobs) > 50
    for job in jobs:
        assert len({(cell.method.partition("/")[0], cell.algorithm) for cell in job.cells}) == 1, job.name


@pytest.mark.parametrize("algorithm", EDITED)
def test_an_edit_of_a_method_makes_exactly_its_own_jobs_due(
    jobs: list[Job], before: Keys, edited: set[Path], algorithm: str
) -> None:
    own = {job.name for job in jobs if job.cells[0].algorithm == algorithm}
    assert own and len(own) < len(jobs) / 4
    edited.add(path_of(get_algorithm(algorithm).module))
    after = keys(planned())
    assert changed(before, after, 0) == own and changed(before, after, 1) == own


def test_an_edit_of_a_fused_run_makes_exactly_its_runs_due(jobs: list[Job], before: Keys, edited: set[Path]) -> None:
    fused = fused_module("wang2017.dp_gd")
    own = {job.name for job in jobs if fused_module(job.cells[0].algorithm) == fused}
    assert fused and own
    edited.add(path_of(fused))
    after = keys(planned())
    assert changed(before, after, 0) == own and not changed(before, after, 1)


@pytest.mark.parametrize("paper", sorted({id.partition(".")[0] for id in EDITED}))
def test_a_paper_that_is_gone_takes_its_own_jobs_and_no_others(
    jobs: list[Job], before: Keys, monkeypatch: pytest.MonkeyPatch, paper: str
) -> None:
    def absent(*names: object, **_: object) -> str:
        return paper if any(str(name).partition(".")[0] == paper for name in names) else ""

    monkeypatch.setattr(board, "absent_paper", absent)
    left = {job.name for job in jobs if not job.cells[0].algorithm.startswith(f"{paper}.")}
    assert len(left) < len(jobs)
    assert keys(planned()) == {name: before[name] for name in left}
