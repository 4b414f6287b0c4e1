import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.cli.main import main
from dpsco_bench.errors import InputError
from dpsco_bench.execution.layout import Layout
from dpsco_bench.report.inputs import NOT_MEASURED, read_inputs
from dpsco_bench.report.ledger import charged_cells
from dpsco_bench.report.scores import Score
from dpsco_bench.report.wording import privacy_text
from dpsco_bench.site.pages.provenance import cpu_time, job_rows


def test_a_missing_plan_or_claim_is_one_line(written, tmp_path):
    with pytest.raises(InputError, match="plan = "):
        read_inputs(Layout("smoke", tmp_path))
    with pytest.raises(InputError, match="plan.json = 'nothing'"):
        read_inputs(written, "nothing")


def test_a_part_without_a_verdict_gets_a_row_that_says_so(inputs):
    rows = inputs.claim("wang2017.unmeasured").rows
    assert [(row.part, row.calibration, row.verdict) for row in rows] == [("later-n", "paper", NOT_MEASURED)]
    assert math.isnan(rows[0].slope) and rows[0].kind == "rate"


def test_rows_follow_the_claims_file(inputs):
    claim = inputs.claim("wang2017.kinds")
    parts = list(dict.fromkeys(row.part for row in claim.rows))
    assert parts == [part.id for part in claim.claim.parts]


def test_evidence_is_empty_where_nothing_was_run(inputs):
    assert inputs.claim("wang2017.absent").evidence("gone", "paper") == []
    assert inputs.claim("wang2017.unmeasured").evidence("later-n", "paper") == []
    assert len(inputs.claim("wang2017.kinds").evidence("rate-n", "paper")) == 3


def test_a_judged_part_has_the_privacy_of_the_parts_it_uses(inputs):
    claim = inputs.claim("wang2017.kinds")
    assert len(charged_cells(claim, "explicit", "paper")) == 3 + 2
    assert charged_cells(claim, "count-n", "paper") == []
    said = {(row.part, row.calibration): privacy_text(row) for row in claim.rows}
    assert said["count-n", "paper"] == "—" and said["silent-n", "none"] == "no noise"
    assert said["rate-n", "accounted"].startswith("proven: ε")


def test_jobs_have_the_costs_of_their_cells(inputs):
    rows = {(row["job"].claim, row["job"].name): row for row in job_rows(inputs)}
    assert rows["wang2017.kinds", "rate-n.paper"]["run"] == (123.4, 128.0)
    assert rows["wang2017.kinds", "rate-n.accounted"]["run"] is None
    total = cpu_time(inputs)
    assert total.endswith(" in 1 calibrations and runs") and total.startswith("2")


def test_a_damaged_verdict_file_is_named_and_its_claim_not_measured(copy, capsys):
    copy.verdicts("wang2017.race").write_bytes(copy.verdicts("wang2017.race").read_bytes()[:-9])
    rows = read_inputs(copy).claim("wang2017.race").rows
    assert {row.verdict for row in rows} == {NOT_MEASURED}
    assert "wang2017.race.json is damaged" in capsys.readouterr().err


def test_verb_report(written, capsys, monkeypatch):
    monkeypatch.chdir(written.base)
    assert main(["report", "--profile", "smoke", "--no-browser"]) == 2
    assert "written first: make site PROFILE=smoke" in capsys.readouterr().err
    page = written.base / "results" / "smoke" / "site" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text("a page")
    assert main(["report", "--profile", "smoke", "--no-browser"]) == 0
    assert capsys.readouterr().out.strip() == "results/smoke/site/index.html"


def test_verb_site_without_a_plan(written, capsys, monkeypatch):
    monkeypatch.chdir(written.base)
    assert main(["site", "--profile", "ci"]) == 2
    assert "results/ci/plan.json" in capsys.readouterr().err


def test_conditions_that_runs_do_not_meet_are_told_once(inputs, monkeypatch):
    claim = inputs.claim("wang2017.kinds")
    row = next(row for row in claim.rows if row.part == "rate-n")
    cells = charged_cells(claim, "rate-n", "paper")
    texts = ("needs eps <= 0.1", "needs eps <= 2.5e-5", "another one")
    cells = [replace(c, calibrated=replace(c.calibrated, warnings=(t,))) for c, t in zip(cells, texts, strict=True)]
    monkeypatch.setattr("dpsco_bench.report.scores.charged_cells", lambda *of: cells)
    assert "needs ε ≤ 0.1, and alike in 1 more; another one" in Score(claim, row).remarks


def test_noise_off_without_a_slope_says_what_is_left(inputs):
    claim = inputs.claim("wang2017.kinds")
    shown = {(row.part, row.calibration): Score(claim, row).noise_off for row in claim.rows}
    assert shown["rate-n", "paper"] == "−1.85" and shown["count-n", "paper"] == "—"
    assert shown["rate-n", "accounted"].startswith("risk ")
    cells = [SimpleNamespace(final=np.array([least, 2 * least]), risks=np.ones(1)) for least in (0.5, 4.0, 1.0)]
    of_cells = SimpleNamespace(evidence=lambda part, calibration: cells, parts={})
    row = next(row for row in claim.rows if (row.part, row.calibration) == ("rate-n", "accounted"))
    assert Score(of_cells, row).noise_off == "risk ≤ 6"


def test_parts_are_described_as_they_run(inputs):
    from dpsco_bench.report.papers import parts_table
    from dpsco_bench.report.tables import to_markdown

    text = to_markdown(parts_table(inputs.claim("wang2017.race"))).replace("\u00a0", " ")
    assert "first (standard, steps 20)" in text and "n = 256, d = 4, δ = 10⁻³" in text and "ε: 0.5, 1" in text
    kinds = to_markdown(parts_table(inputs.claim("wang2017.kinds"))).replace("\u00a0", " ")
    assert "cells of rate-n, privacy-epsilon" in kinds and "d G² T l / (2 μ n² ε²)" in kinds and "exact" in kinds
