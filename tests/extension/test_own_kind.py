"""One's own kind of part, in one file outside the package: from the claim's file to its verdict, figure and words."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from dpsco_bench.analysis.record import read_record, record
from dpsco_bench.analysis.verdict import JudgedClaim
from dpsco_bench.claims.jobs import claim_plan
from dpsco_bench.cli.verbs.claim import run_claim
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.plugins import load_plugins
from dpsco_bench.report.drawing import style
from dpsco_bench.report.figures import claim_figures
from dpsco_bench.report.inputs import ClaimResults
from dpsco_bench.report.tables import to_csv
from dpsco_bench.report.verdicts import claim_table
from tests.analysis.judging import verdict_schema
from tests.execution.parts import PART

KIND = '''
from dataclasses import dataclass

from dpsco_bench import Field, Kind, MeasuredPart, Verdict, Word, kind


@dataclass(frozen=True, kw_only=True)
class SpreadPart(MeasuredPart):
    tolerance: float  # the largest factor


@kind("spread")
class Spread(Kind):
    """Whether replicates differ by less than a stated factor."""

    title = "spread of replicates"
    part = SpreadPart
    words = {"calm": Word("confirms", "risks are within the tolerance"), "wild": Word("contradicts", "they are not")}
    fields = ("worst_ratio",)
    own_fields = {"spread_factor": Field(float, "spread"), "spreads": Field((float,), "spread at each value")}
    own_fields |= {"calmest": Field(str, "calmest")}

    def judge(self, case):
        ratios = tuple(float(cell.final.max() / cell.final.min()) for cell in case.cells)
        worst = max(ratios)
        word = "calm" if worst <= case.part.tolerance else f"wild (factor {worst:.3g})"
        own = {"spread_factor": worst, "spreads": ratios, "calmest": f"n{case.values[0]:.0f}"}
        shown = {"values": tuple(case.values), "mean": ratios, "worst_ratio": worst}
        return Verdict(word, "spread", "the reason", **shown, own=own)

    def panel(self, claim, rows):
        from dpsco_bench.report.drawing import Panel

        drawn = Panel("Spread of replicates", lambda axes: axes.plot(rows[0].values, rows[0].mean))
        return drawn if rows[0].part == "kept" else None
'''
KEPT = {key: value for key, value in PART.items() if key != "bound"}
KEPT |= {"id": "kept", "kind": "spread", "tolerance": 1e9, "expected": "calm"}
LOST = {"id": "lost", "kind": "spread", "tolerance": 1.0001, "calibrations": ["paper"], "uses": ["kept"]}
CLAIM = {"id": "mine.spread", "title": "t", "source": "here", "statement": "x", "parts": [KEPT, LOST]}


KIND_SLIPS = [
    ('@kind("spread")', '@kind("a spread")', "kind = 'a spread': must be a name of letters"),
    *(
        (text, f"# {text}", "kind spread = 'Spread': must be a subclass of Kind with")
        for text in ("title = ", "part = ", "words = ")
    ),
    ('Word("confirms"', 'Word("proves"', "kind spread = 'Spread': must be a subclass of Kind with"),
    ('"worst_ratio",)', '"worst",)', "kind spread: fields = 'worst': must be .*its own stand in own_fields"),
    ('"calmest"', '"slope"', "kind spread: own_fields = 'slope': must be a name .* that no other field has"),
    ("Field(str,", "Field(list,", "kind spread: own_fields: calmest = .*: must be a Field"),
]


@pytest.mark.parametrize(("old", "new", "match"), KIND_SLIPS)
def test_a_slip_in_its_class_is_told_with_its_line(tmp_path, old, new, match):
    file = tmp_path / "own_kind.py"
    file.write_text(KIND.replace(old, new, 1))
    with pytest.raises(DpscoError, match=match):
        load_plugins([str(file)])


@pytest.fixture
def measured(tmp_path):
    Path("own_kind.py").write_text(KIND)
    Path("own_claim.yaml").write_text(json.dumps(CLAIM))
    load_plugins(["own_kind.py"])
    entry = claim_plan("mine.spread", "smoke", ["plugins=[own_kind.py]", "claims=[own_claim.yaml]"])
    layout = Layout("smoke", tmp_path)
    return ClaimResults(entry, layout, run_claim(entry, layout.measured))


def test_it_draws_itself_and_what_it_leaves_stands_in_words(measured):
    with style():
        figure = claim_figures(measured)[""]
    (axes,) = figure.axes
    said = {text.get_text().split(" (")[0] for text in figure.texts}
    assert len(axes.get_lines()) == 1 and {"Spread of replicates", "Spread of replicates: wild"} <= said


def test_it_is_judged_and_its_own_fields_stand_in_json_schema_record_and_tables(measured, dpsco, tmp_path):
    results = measured
    shown = dpsco("claim", "own_claim.yaml", "--plugin", "own_kind.py", "--profile", "smoke", "--json").rows
    assert [(row["part"], row["verdict"].split(" (")[0]) for row in shown] == [("kept", "calm"), ("lost", "wild")]
    assert shown[0]["worst_ratio"] == shown[1]["worst_ratio"] > 1 and shown[0]["kind"] == "spread"
    JudgedClaim("mine.spread", verdicts=tuple(results.rows)).write(tmp_path / "verdicts.json")
    assert list(JudgedClaim.read(tmp_path / "verdicts.json").verdicts) == results.rows
    stored = json.loads((tmp_path / "verdicts.json").read_text())["verdicts"]
    schema = Draft202012Validator(verdict_schema())
    for row in (*shown, *stored):
        assert row["spread_factor"] == row["worst_ratio"] == max(row["spreads"]) and row["calmest"] in ("n32", "n64")
        schema.validate(row)
        lacking = {key: value for key, value in row.items() if key != "calmest"}
        for wrong in ({**row, "spread_factor": "much"}, {**row, "kind": "law"}, {**row, "unheard_of": 1.0}, lacking):
            assert not schema.is_valid(wrong)
    with pytest.raises(InputError, match="field of kind spread: spread_factor = 'much'"):
        replace(results.rows[0], own={"spread_factor": "much"}).to_json()
    record(tmp_path / "recorded.json", results.rows)
    kept = read_record(tmp_path / "recorded.json")[0]
    assert kept.own["spread_factor"] == pytest.approx(results.rows[0].own["spread_factor"], rel=1e-3)
    (head, first, *_) = csv.reader(io.StringIO(to_csv(claim_table(results))))
    assert float(first[head.index("spread_factor")]) == results.rows[0].own["spread_factor"]
    assert "spread at each value" in claim_table(results).columns
    (listed,) = [row for row in dpsco("list", "kinds", "--json").rows if row["id"] == "spread"]
    assert listed["own_fields"]["spread_factor"]["description"] == "spread" and listed["fields"] == ["worst_ratio"]
