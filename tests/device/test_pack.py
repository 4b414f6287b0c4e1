"""What is handed to a machine with a GPU, and what is checked there: on the stand-in."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dpsco_bench.bench import card
from dpsco_bench.bench.card import NO_DEVICE
from dpsco_bench.cli.main import main
from dpsco_bench.cli.verbs.plan import make_plan
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.timing import Machine

from ..contract import cases
from ..contract.cases import LAWS
from . import gpu

ROOT = Path(__file__).parents[2]
CLAIMS = ["zhang2022.thm8", "wang2017.table1.zhang17"]


def test_scales_travel(tmp_path, monkeypatch):
    gpu.write_scales(tmp_path / gpu.SCALES, LAWS[:4])
    monkeypatch.setenv(gpu.SCALES_OF_TESTS, str(tmp_path / gpu.SCALES))
    for case in LAWS[:4]:
        expected = case.scales
        case.__dict__.pop("calibrated")
        assert case.scales == expected
        case.__dict__.pop("calibrated")


@pytest.mark.slow
def test_a_check_of_a_claim_of_two_papers_without_a_card_ends_and_says_so(cupy, tmp_path, monkeypatch, capsys):
    pack, papers = tmp_path / "pack", [id.partition(".")[0] for id in CLAIMS]
    monkeypatch.setattr(gpu, "PROFILES", ("smoke",))
    with monkeypatch.context() as inside:
        inside.setattr(cases, "LAWS", LAWS[:1])
        inside.chdir(tmp_path)
        gpu.write_pack(pack, papers, lambda profile: make_plan(profile, (), CLAIMS), lambda line: None)
    assert Layout("smoke", pack).plan.is_file()
    monkeypatch.setattr(gpu, "TESTS", ("tests/device/test_draws.py",))
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{ROOT / 'tests' / 'device' / 'path'}")
    monkeypatch.chdir(ROOT)
    assert gpu.main(["check", "--folder", str(pack)]) == 0
    assert capsys.readouterr().out.startswith("no device: emulated\n")
    found, page = json.loads((pack / "report.json").read_text()), (pack / "report.md").read_text()
    assert sorted(row["claim"] for row in found["verdicts"] if row["same"]) == sorted(CLAIMS)
    assert all(row["apart"] < 1e-9 for row in found["verdicts"])
    assert "1 passed" in found["tests"]["said"]
    assert {row["reason"] for row in found["bench"]} == {NO_DEVICE} and {row["met"] for row in found["bench"]} == {None}
    assert page.splitlines()[2].startswith("No device: emulated.") and " ns |" not in page


def card_report(verdicts, bench=(), passed=True):
    """A report of a card whose tests passed, or not."""
    host = {"processor": "core", "cores": 2, "system": "Linux", "python": "3", "numpy": "2", "backend": "cupy"}
    about = Machine(**host, emulated=False, device="X1", memory_gb=80.0, driver=1, runtime=2, cupy="14.0.0")
    return gpu.Report(about, list(bench), verdicts, gpu.Tests(passed, "== 3 passed =="), 9.0, 60.0)


SAME = gpu.Compared("ci", "a", "wang2017", same=True, apart=1e-12, core_s=0.1, card_s=0.1)
STILL = gpu.Compared("ci", "s", "wang2017", same=True, words=("n [paper]: skipped: data absent",))
LEFT = gpu.Compared("ci", "c", "wang2017", left_out="no time left")


def test_a_report_of_a_card_judges_it():
    """It passes only where something was compared and agrees; with claims that run nothing alone it does not."""
    given = {"case": "c", "peer": "p", "sense": card.AT_MOST, "unit": "u", "ours_ns": 300.0, "peer_ns": 600.0}
    row = card.CardRow(id="G8", ratio=0.5, met=True, replicates=64, d=8, peak_mb=7.0, **given)
    bench, crossover = [row], replace(row, id="crossover", met=None)
    bench += [replace(crossover, ratio=x, replicates=r) for r, x in ((1, 2), (12, 0.5), (64, 3))]
    other = gpu.Compared("ci", "b", "wang2017", other=("n [paper]: fails",), apart=1.0, core_s=0.1, card_s=0.1)
    page = gpu.markdown(card_report([SAME, STILL, other, LEFT], bench))
    assert "0.50 of the goal, met" in page and "Crossover: from R d = 512 on" in page
    assert "| wang2017, profile ci | 1 | 1 | 1 | 1 |" in page and "* ci b: n [paper]: fails" in page
    assert card_report([SAME, STILL, LEFT]).passed and not card_report([SAME], passed=False).passed
    unlike, failing = replace(SAME, same=False), replace(LEFT, left_out="", failed="x")
    for rows in ([STILL, LEFT], [LEFT], [], [SAME, unlike], [SAME, failing]):
        assert not card_report(rows).passed


def test_the_clock_learns_how_long_things_take(monkeypatch):
    monkeypatch.setattr(gpu.time, "monotonic", lambda: 100.0)
    clock = gpu.Clock(110.0)
    assert clock.allows(10.0) and not clock.allows(10.1)
    clock.note(1.0, 4.0)
    assert clock.allows(2.5) and not clock.allows(2.6)


def test_bench_of_a_card(cupy, monkeypatch, capsys):
    """Sizes are timed until the clock says so."""
    assert main(["bench", "--gpu", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["id"] for row in rows} == {"G8", "crossover"} and {row["reason"] for row in rows} == {NO_DEVICE}
    assert rows[0]["machine"]["device"] == NO_DEVICE and rows[0]["peak_mb"] > 0
    work = card.Work((8, 12), (), ((2, 3), (3, 3)))
    assert [row.replicates for row in card.card_rows(cupy, work)] == [2, 3]
    assert {row.reason for row in card.card_rows(cupy, work, deadline=0.0)} == {"no time left"}
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert main(["bench", "--gpu"]) == 2


def test_the_last_report_is_what_its_figures_say():
    page, found = (ROOT / "docs" / "gpu.md").read_text(), json.loads((ROOT / "docs" / "gpu.json").read_text())
    assert page == gpu.report(ROOT / "docs" / "gpu.json")
    assert found["tests"]["passed"] and {row["profile"] for row in found["verdicts"]} == {"smoke", "ci"}
    assert len({row["paper"] for row in found["verdicts"] if row["same"] and row["card_s"]}) == 2
    for text in ((ROOT / "README.md").read_text(), (ROOT / "docs" / "internals" / "fused.md").read_text()):
        assert ("not yet run on a device" in text) == found["machine"]["emulated"]
