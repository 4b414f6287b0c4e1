"""Tables: their formats, their numbers, and that JSON, tables and the terminal say the same of every row."""

import csv
import io
import math
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.analysis.noise import Noise
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.catalogue import parse_table
from dpsco_bench.claims.kinds import NOT_MEASURED
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.layout import Layout
from dpsco_bench.jsonio import to_jsonable
from dpsco_bench.report.inputs import Charged, read_inputs
from dpsco_bench.report.ledger import charged_on, privacy_table
from dpsco_bench.report.rebuilt import _stated, cells_table, orderings_table, rates_table, rebuilt_tables
from dpsco_bench.report.tables import Column, ReportTable, to_csv, to_latex, to_markdown
from dpsco_bench.report.verdicts import claim_file_table, counts_table, noise_off, scoreboard
from dpsco_bench.report.wording import privacy_text

AWKWARD = "50 % of A_1 & B # $x$ {y} ~z ^w \\q <b> |c| *d* `e` [f](g)\nnew ε ≤ 10⁻⁵ − ∞"
COLUMNS = {"Name": Column("0", raw="name"), "Value": Column("1", lambda value: f"{value:.2f}", "value", numeric=True)}
ROWS = [(AWKWARD, 1.5), ("[plain]", math.nan), ("third", math.inf)]
SAMPLE = ReportTable("sample", "A & B_c", COLUMNS, ROWS, "a note with 3 %")


def test_markdown_and_csv_have_one_line_per_row():
    lines = to_markdown(SAMPLE).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) == 5 and len({len(row) for row in rows}) == 1
    assert rows[1].rstrip("| ").endswith(":") and not rows[1].split("|")[1].strip().endswith(":")
    for row in rows:
        assert row.replace("\\|", "").count("|") == 3
    assert "&lt;b&gt;" in rows[2] and "\\*d\\*" in rows[2] and "\\`e\\`" in rows[2] and "](g" not in rows[2]
    assert lines[-1] == "a note with 3 %"
    rows = read(SAMPLE)
    assert [row["name"] for row in rows] == [AWKWARD, "[plain]", "third"]
    assert [row["value"] for row in rows] == ["1.5", "", "inf"]


def test_latex_escapes_and_aligns():
    text = to_latex(SAMPLE)
    assert r"\begin{tabular}{lr}" in text and text.count(r"\hline") == 3
    body = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(body) == 4 and body[2].startswith("{}[")
    assert all(line.replace(r"\&", "").count("&") == 1 for line in body)
    assert r"50 \% of A\_1 \& B \# \$x\$ \{y\} \textasciitilde{}z \textasciicircum{}w \textbackslash{}q" in body[1]
    assert r"$\varepsilon$ $\le$ 10\textsuperscript{$-$5} $-$ $\infty$" in body[1]


def test_latex_leaves_no_special_character_of_the_reports_own_texts(inputs):
    for table in every_table(inputs):
        text = to_latex(table)
        left = {c for c in text if ord(c) > 126} - set("ασ’“”")
        assert not left, (table.id, left)
        assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")


def every_table(inputs):
    yield scoreboard(inputs)
    yield counts_table(inputs.rows)
    yield privacy_table(inputs)
    yield rates_table(inputs, "wang2017", "Wang, Ye, Xu 2017")
    yield from rebuilt_tables(inputs, "wang2017")
    for claim in inputs.claims:
        yield cells_table(claim)
        yield orderings_table(claim)


def read(table):
    return list(csv.DictReader(io.StringIO(to_csv(table))))


def test_scoreboard_carries_the_numbers(inputs):
    rows = {(row["part"], row["calibration"]): row for row in read(scoreboard(inputs))}
    rate = {"slope": "-1.9", "ci_low": "-2.0", "bound_slope": "-1.9", "claimed_exponent": "-2.0"}
    rate |= {"noise_off_slope": "-1.85", "qualified": "True", "privacy_status": "unproven"}
    assert rate.items() <= rows["rate-n", "paper"].items() and float(rows["rate-n", "paper"]["epsilon_real"]) > 1
    statuses = [rows[row]["privacy_status"] for row in (("rate-n", "accounted"), ("count-n", "paper"))]
    assert rows["explicit", "paper"]["worst_ratio"] == "inf" and statuses == ["proven", ""]
    assert "rest on 8 intervals" in scoreboard(inputs).note  # five rows whose slope is judged, three comparisons


def test_ledger_separates_kinds_and_statuses(inputs):
    rows = read(privacy_table(inputs))
    assert {row["privacy_status"] for row in rows} >= {"proven", "exceeds_claim", "unproven"}
    assert [row["delta_large"] for row in rows if row["epsilon_real_max"] == "inf"][0] == "True"
    assert "" in {row["epsilon_real_min"] for row in rows} and "none" not in {row["calibration"] for row in rows}
    for row in rows:
        assert bool(row["why_not_shown"]) == (row["privacy_status"] == "unproven"), row
        assert row["epsilon_real_min"] or row["why_not_shown"] == "no accountant covers it"


def charged(problem, options=None, **constants):
    calibrated = SimpleNamespace(constants=SimpleNamespace(**constants))
    return Charged(Cell("made.up", problem, 8, 1.0, 1e-5, problem_options=options or {}), calibrated, "paper")


def test_ledger_says_on_what_a_row_was_charged():
    cells = [charged("quad", {"size": k, "constants": {"hessian_rank": 9.0}}, norm=2.0) for k in (1, 2, 4, 8)]
    cells += [charged("onehot", {"signal": 2.0}, norm=math.inf)]
    cells += [charged("onehot", {"p": 4.0, "signal": 1.0, "size": 8}, norm=4.0)]
    told = "onehot, p = 4 or ∞, size 8; quad, p = 2, declared hessian rank 9, size 1 … 8"
    assert charged_on(cells).replace("\u00a0", " ") == told


@pytest.mark.parametrize(
    ("constants", "real", "kind", "says"),
    [
        ("nominal", 0.8, "exact", "nominal"),
        ("global", 1.5, "upper", "upper bound"),
        ("global", 0.8, "lower", "lower bound"),
        ("global", math.nan, "upper", "no accountant"),
    ],
)
def test_ledger_says_why_nothing_is_shown(constants, real, kind, says):
    def doubt(status):
        made = charged("squared_norm", status=constants)
        made.__dict__["noise"] = Noise(status, real, kind, 1.0)
        return made.doubt

    assert says in doubt("unproven") and doubt("proven") == ""


def test_rates_put_claimed_beside_measured(inputs):
    rows = read(rates_table(inputs, "wang2017", "x"))
    parts = "rate-n exact-n control look several silent-n count-n gone-n later-n"
    assert " ".join(row["part"] for row in rows) == parts
    assert [row["slope_accounted"] for row in rows[:2]] == ["-1.9", ""] and rows[0]["slope_paper"] == "-1.9"
    silent = {row["part"]: row["slope_none"] for row in rows}
    assert silent.pop("silent-n") == "-1.9" and set(silent.values()) == {""}


@pytest.fixture
def claim(inputs):
    return inputs.claim("wang2017.kinds")


@pytest.fixture
def rebuild(inputs, claim, monkeypatch):
    def build(change=lambda row: row, of_table=(("common_n", 512),), **entry):
        row = {"row": "All", "utility": "1/n", "claims": ["wang2017.kinds"], **entry}
        text = {"id": "wang2017.table9", "rows": [row], **dict(of_table)}
        monkeypatch.setattr("dpsco_bench.report.rebuilt.table_texts", lambda: [parse_table(text)])
        monkeypatch.setitem(claim.__dict__, "rows", [change(row) for row in claim.rows])
        (table,) = rebuilt_tables(inputs, "wang2017")
        return table

    return build


def lines(table):
    return {(row["part"], row["method"]): row for row in read(table)}


def test_rebuilt_rows_show_the_gradients_of_their_cell_and_each_method_with_its_schedule(rebuild, claim):
    means = tuple(0.1 if cell.method == "one_way" else 0.2 for cell in claim.job("several", "accounted").cells)
    shown = {"schedule": {"T": "steps"}, "flags": ["note"], "every_cell": ["look", "exact-n"]}
    rebuilt = lines(rebuild(lambda row: replace(row, mean=means) if row.part == "several" else row, **shown))
    (cell,) = [cell for cell in claim.evidence("rate-n", "paper") if cell.value == 512]
    assert float(rebuilt["kinds rate-n", ""]["gradient_evaluations"]) == cell.calibrated.gradient_evaluations
    assert rebuilt["kinds count-n", ""]["gradient_evaluations"] == ""  # there they are what is measured
    first, second = (rebuilt["kinds several", method] for method in ("one_way", "another"))
    assert float(second["gradient_evaluations"]) == 3 * 512 < float(first["gradient_evaluations"])  # 3 steps on all
    assert (first["mean_accounted"], second["mean_accounted"]) == ("0.1", "0.2")
    assert second["schedule"] == "T\u00a0=\u00a03" and first["schedule"] != second["schedule"]
    assert ("kinds several", "") not in rebuilt and rebuilt["kinds rate-n", ""]["schedule"].startswith("T\u00a0=")


def test_rebuilt_rows_on_another_axis_show_their_own_cell(rebuild, claim):
    """A row whose values are those of the axis (ln d, not d) has n and gradients of the cell that it shows."""

    def on_axis(row):
        logs = {"parameter": "ln n", "values": tuple(map(math.log, row.values))}
        return replace(row, **logs) if row.part == "rate-n" else row

    last = claim.evidence("rate-n", "paper")[-1]
    (row,) = [row for row in rebuild(on_axis, of_table=()).rows if row.part == "kinds rate-n"]
    assert row.point["n"] == last.entry.n == 1024 and row.evaluations == last.calibrated.gradient_evaluations
    assert row.cells["paper"][0][0] == pytest.approx(math.log(1024))


def test_rebuilt_tables_have_printed_columns_and_the_lower_bound_of_the_caption(rebuild):
    table = {"common_n": 512, "lower_bound": "wang2017_tables.lower_strongly_convex"}
    rows = lines(rebuild(of_table=table, printed={"Robust?": "Yes"}))
    found, counted = rows["kinds rate-n", ""], rows["kinds count-n", ""]
    expected = float(found["mean_paper"]) / (4 / 512**2)  # d = 4, eps = 1
    assert float(found["over_lower_bound_paper"]) == pytest.approx(expected)
    assert found["robust"] == "Yes" and counted["over_lower_bound_paper"] == ""


def worst(table):
    return {row.part: row.worst for row in table.rows}


def test_rebuilt_rows_of_chains_that_are_not_certified_say_so(rebuild):
    reason = "chains not certified: R-hat up to 2.000"

    def doubt(row):
        doubted = (row.part, row.calibration) in (("rate-n", "paper"), ("explicit", "paper"))
        return replace(row, reason=reason) if doubted else row

    sure, doubted = rebuild(), rebuild(doubt)
    before, after = (next(x for x in to_markdown(t).splitlines() if "kinds rate-n" in x) for t in (sure, doubted))
    assert (worst(sure)["kinds rate-n"], worst(doubted)["kinds rate-n"]) == ({"paper": 0.5}, {})
    assert "not certified" not in before and "(not certified)" in after and before.count("[") > after.count("[")


def test_rebuilt_rows_have_the_ratio_of_their_own_cells(rebuild):
    first = worst(rebuild())
    assert first.pop("kinds rate-n") == {"paper": 0.5} and len(first) > 2 and not any(first.values())
    table = rebuild(lambda row: replace(row, mean=(0.4, 0.3, 0.02)) if row.part == "explicit" else row)
    assert worst(table)["kinds rate-n"] == {"paper": pytest.approx(1.5)}


def test_a_ratio_in_a_table_is_that_of_a_bound_which_the_claim_states():
    """Beside and other quantities are left out, unless the claim bounds no risk at all."""

    def row(quantity="risk", beside="", checks=True):
        return SimpleNamespace(quantity=quantity, beside=beside, rules=SimpleNamespace(checks_bounds=checks))

    def stated(*rows):
        return _stated(SimpleNamespace(rows=rows, part=lambda row: row))

    risk, regret = row(), row("regret")
    assert stated(row("largest_loss"), row(beside="Theorem 1"), risk, row(checks=False)) == [risk]
    assert stated(row("moment", "a step of the proof"), regret) == [regret]


def test_a_judged_part_has_the_privacy_of_the_parts_it_uses(claim):
    assert len(claim.charged("explicit", "paper")) == 3 + 2
    assert claim.charged("count-n", "paper") == []
    said = {(row.part, row.calibration): privacy_text(row) for row in claim.rows}
    assert said["count-n", "paper"] == "—" and said["silent-n", "none"] == "no noise"
    assert said["rate-n", "accounted"].startswith("proven: ε")


def test_a_damaged_verdict_file_is_named_and_its_claim_not_measured(written, tmp_path, capsys):
    copy = Layout("smoke", shutil.copytree(written.base, tmp_path / "copy"))
    copy.verdicts("wang2017.race").write_bytes(copy.verdicts("wang2017.race").read_bytes()[:-9])
    rows = read_inputs(copy).claim("wang2017.race").rows
    assert {row.verdict for row in rows} == {NOT_MEASURED}
    assert "wang2017.race.json is damaged" in capsys.readouterr().err


def test_noise_off_without_a_slope_says_what_is_left(claim):
    shown = {(row.part, row.calibration): noise_off(claim, row) for row in claim.rows}
    assert shown["rate-n", "paper"] == "−1.85" and shown["count-n", "paper"] == "—"
    assert shown["rate-n", "accounted"].startswith("risk ")
    cells = [SimpleNamespace(final=np.array([least, 2 * least]), risks=np.ones(1)) for least in (0.5, 4.0, 1.0)]
    of_cells = SimpleNamespace(evidence=lambda part, calibration: cells)
    assert noise_off(of_cells, Verdict("match", "rate", part="rate-n", calibration="accounted")) == "risk ≤ 6"


NOISES = [
    Noise("target_law_only", math.nan, "", 1.0, epsilon_law=19.68),
    Noise("target_law_only", math.nan, "", 1.0),
    Noise("exceeds_claim", math.inf, "exact", 1.0),
    Noise("unproven", 8.4649, "upper", 8.0, delta_large=True),
]


def test_tables_say_what_json_says_in_every_row(inputs):
    noises = iter(NOISES)
    rows = [replace(row, noise=next(noises, row.noise)) for row in inputs.claims[0].rows]
    odd = replace(inputs, claims=[replace(inputs.claims[0], verdicts=rows), *inputs.claims[1:]])

    def said(row):
        noise = to_jsonable(row).get("noise") or {"status": "none" if row.calibration == "none" else None}
        found = map(noise.get, ("status", "epsilon_claimed", "epsilon_real", "epsilon_real_kind"))
        return tuple("" if value is None else str(value) for value in found)

    def shown(table):
        names = ("privacy_status", "epsilon_claimed", "epsilon_real", "epsilon_real_kind")
        return [tuple(line[name] for name in names) for line in read(table)]

    assert shown(scoreboard(odd)) == list(map(said, odd.rows)) and len({*map(said, odd.rows)}) > 6
    for claim in odd.claims:
        assert shown(claim_file_table(claim)) == list(map(said, claim.rows))
