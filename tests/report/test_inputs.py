from types import SimpleNamespace

import numpy as np

from dpsco_bench.report.inputs import NOT_MEASURED, read_inputs
from dpsco_bench.report.ledger import charged_cells
from dpsco_bench.report.scores import Score
from dpsco_bench.report.wording import privacy_text


def test_rows_follow_the_claims_file(inputs):
    claim = inputs.claim("wang2017.kinds")
    parts = list(dict.fromkeys(row.part for row in claim.rows))
    assert parts == [part.id for part in claim.claim.parts]


def test_a_judged_part_has_the_privacy_of_the_parts_it_uses(inputs):
    claim = inputs.claim("wang2017.kinds")
    assert len(charged_cells(claim, "explicit", "paper")) == 3 + 2
    assert charged_cells(claim, "count-n", "paper") == []
    said = {(row.part, row.calibration): privacy_text(row) for row in claim.rows}
    assert said["count-n", "paper"] == "—" and said["silent-n", "none"] == "no noise"
    assert said["rate-n", "accounted"].startswith("proven: ε")


def test_a_damaged_verdict_file_is_named_and_its_claim_not_measured(copy, capsys):
    copy.verdicts("wang2017.race").write_bytes(copy.verdicts("wang2017.race").read_bytes()[:-9])
    rows = read_inputs(copy).claim("wang2017.race").rows
    assert {row.verdict for row in rows} == {NOT_MEASURED}
    assert "wang2017.race.json is damaged" in capsys.readouterr().err


def test_noise_off_without_a_slope_says_what_is_left(inputs):
    claim = inputs.claim("wang2017.kinds")
    shown = {(row.part, row.calibration): Score(claim, row).noise_off for row in claim.rows}
    assert shown["rate-n", "paper"] == "−1.85" and shown["count-n", "paper"] == "—"
    assert shown["rate-n", "accounted"].startswith("risk ")
    cells = [SimpleNamespace(final=np.array([least, 2 * least]), risks=np.ones(1)) for least in (0.5, 4.0, 1.0)]
    of_cells = SimpleNamespace(evidence=lambda part, calibration: cells, parts={})
    row = next(row for row in claim.rows if (row.part, row.calibration) == ("rate-n", "accounted"))
    assert Score(of_cells, row).noise_off == "risk ≤ 6"
