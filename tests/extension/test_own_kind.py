"""One's own kind of part, in one file outside the package: from the claim's file to its verdict, figure and words."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from dpsco_bench.analysis.judge import judge_modules
from dpsco_bench.analysis.judged import JudgedClaim, read_judged
from dpsco_bench.analysis.record import read_record, record
from dpsco_bench.analysis.schema import verdict_schema
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.compose import claim_plan
from dpsco_bench.claims.kinds import KINDS, Field, get_kind, kind
from dpsco_bench.cli.claiming import run_claim
from dpsco_bench.errors import InputError
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.plugins import load_plugins
from dpsco_bench.report.figures import claim_panels, write_claim_figures
from dpsco_bench.report.inputs import ClaimResults
from dpsco_bench.report.papers import parts_table
from dpsco_bench.report.scores import claim_scores, claim_table, counts_table
from dpsco_bench.report.tables import to_csv, to_markdown
from dpsco_bench.report.wording import meanings

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
    words = {
        "calm": Word("confirms", "the largest risk of a cell is within the tolerance of the least"),
        "wild": Word("contradicts", "it is not"),
    }
    fields = ("worst_ratio",)
    own_fields = {
        "spread_factor": Field(float, "spread"),
        "spreads": Field((float,), "spread at each value"),
        "calmest": Field(str, "calmest"),
    }

    def check(self, part, where):
        from dpsco_bench.errors import InputError

        if part.tolerance <= 1:
            raise InputError(f"{where}: tolerance", part.tolerance, "a factor > 1 for kind spread")

    def judge(self, case):
        ratios = [float(cell.final.max() / cell.final.min()) for cell in case.cells]
        worst = max(ratios)
        return Verdict(
            "calm" if worst <= case.part.tolerance else f"wild (factor {worst:.3g})",
            "spread",
            f"factor {worst:.3g}, allowed {case.part.tolerance:g}",
            values=tuple(case.values),
            mean=tuple(ratios),
            worst_ratio=worst,
            own={"spread_factor": worst, "spreads": tuple(ratios), "calmest": f"n{case.values[0]:.0f}"},
        )

    def panel(self, scores):
        from dpsco_bench.report.drawing import Panel

        def draw(axes):
            for score in scores:
                axes.plot(score.row.values, score.row.mean)

        return Panel(scores[0].row.part, draw, "; ".join(score.verdict for score in scores))
'''
CLAIM = """
id: mine.spread
title: Replicates differ little
source: here
statement: They do.
parts:
  - {id: kept, kind: spread, tolerance: 1.0e+9, calibrations: [paper], algorithm: wang2017.dp_gd_pl,
     problem: ridge_logistic, fixed: {d: 3, epsilon: 1.0, delta: 1.0e-5}, replicates: {smoke: 3},
     sweep: {parameter: n, values: {smoke: [256, 512]}}, expected: calm}
  - {id: lost, kind: spread, tolerance: 1.0001, calibrations: [paper], uses: [kept], expected: wild}
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own_kind.py").write_text(KIND)
    Path("own_claim.yaml").write_text(CLAIM)
    return tmp_path


@pytest.fixture
def measured(files):
    """The claim's entry of a plan, and its results as the report reads them."""
    load_plugins(["own_kind.py"])
    settings = ["plugins=[own_kind.py]", "claims=[own_claim.yaml]"]
    entry = claim_plan("mine.spread", "smoke", settings)
    layout = Layout("smoke", files)
    rows = run_claim(entry, layout.measured)
    return entry, ClaimResults(entry, layout, rows)


def test_it_is_judged_from_its_file_alone(files, dpsco):
    rows = json.loads(dpsco("claim", "own_claim.yaml", "--plugin", "own_kind.py", "--profile", "smoke", "--json").out)
    assert [(row["part"], row["verdict"].split(" (")[0]) for row in rows] == [("kept", "calm"), ("lost", "wild")]
    assert rows[0]["worst_ratio"] == rows[1]["worst_ratio"] > 1 and rows[0]["kind"] == "spread"
    shown = dpsco("claim", "own_claim.yaml", "--plugin", "own_kind.py", "--profile", "smoke").out
    assert "2 verdicts: 1 calm, qualified; 1 wild" in shown


def test_its_own_fields_stand_in_json_schema_record_and_tables(measured, dpsco, tmp_path):
    _, results = measured
    shown = dpsco("claim", "own_claim.yaml", "--plugin", "own_kind.py", "--profile", "smoke", "--json").out
    JudgedClaim("mine.spread", verdicts=tuple(results.rows)).write(tmp_path / "verdicts.json")
    assert list(read_judged(tmp_path / "verdicts.json").verdicts) == results.rows
    stored = json.loads((tmp_path / "verdicts.json").read_text())["verdicts"]
    schema = Draft202012Validator(verdict_schema())
    for row in (*json.loads(shown), *stored):
        assert row["spread_factor"] == row["worst_ratio"] == max(row["spreads"]) and row["calmest"] in ("n256", "n512")
        schema.validate(row)
        for wrong in ({**row, "spread_factor": "much"}, {**row, "kind": "law"}, {**row, "unheard_of": 1.0}):
            assert not schema.is_valid(wrong)
        assert not schema.is_valid({key: value for key, value in row.items() if key != "calmest"})
    record(tmp_path / "recorded.json", results.rows)
    kept = read_record(tmp_path / "recorded.json")[0]
    assert kept.own["spread_factor"] == pytest.approx(results.rows[0].own["spread_factor"], rel=1e-3)
    (head, first, *_) = csv.reader(io.StringIO(to_csv(claim_table(results))))
    assert float(first[head.index("spread_factor")]) == results.rows[0].own["spread_factor"]
    table = to_markdown(claim_table(results))
    assert "spread at each value" in table and f" {results.rows[0].own['calmest']} " in table
    (listed,) = [row for row in json.loads(dpsco("list", "kinds", "--json").out) if row["id"] == "spread"]
    assert listed["own_fields"]["spread_factor"]["description"] == "spread" and listed["fields"] == ["worst_ratio"]


def test_a_row_has_no_field_that_its_kind_does_not_declare(measured):
    row = measured[1].rows[0]
    with pytest.raises(
        InputError, match="field of kind spread = 'width': must be one of its own_fields: spread_factor"
    ):
        replace(row, own={"width": 1.0}).to_json()
    with pytest.raises(InputError, match="field of kind spread: spread_factor = 'much': must be of type float"):
        replace(row, own={"spread_factor": "much"}).to_json()
    with pytest.raises(InputError, match="key of a verdict row = \\['width'\\]"):
        Verdict.from_json({**row.to_json(), "width": 1.0})
    assert replace(row, own={}).to_json()["spread_factor"] is None


def test_verdicts_from_before_a_field_was_renamed_are_judged_again(measured, tmp_path, monkeypatch):
    JudgedClaim("mine.spread", verdicts=tuple(measured[1].rows)).write(tmp_path / "verdicts.json")
    monkeypatch.setattr(type(get_kind("spread")), "own_fields", {"width": Field(float, "width")})
    assert read_judged(tmp_path / "verdicts.json") is None


def test_its_panel_words_and_tables_are_in_the_report(measured, tmp_path):
    _, results = measured
    kept, lost = claim_scores(results)
    assert (kept.tone, lost.tone) == ("qualified", "bad") and lost.verdict.startswith("wild (factor ")
    assert [panel.line for panel in claim_panels(results)] == [kept.verdict, lost.verdict]
    svg, pdf = write_claim_figures(results, tmp_path / "figures")
    assert svg.suffix == ".svg" and svg.stat().st_size > 1000 and pdf.suffix == ".pdf" and pdf.stat().st_size > 1000
    table = to_markdown(claim_table(results))
    assert "calm" in table and "wild" in table and f"ratio {kept.row.worst_ratio:.3g}"[:8] in table
    assert "spread of replicates" in to_markdown(counts_table([kept, lost]))
    assert "1.0001" in to_markdown(parts_table(results))
    assert ("wild", "bad", "it is not") in meanings()


def test_its_code_and_no_other_kinds_decides_whether_it_is_judged_again(measured):
    entry, _ = measured
    modules = judge_modules(entry)
    assert KINDS.module("spread") in modules and entry.jobs[0].plugins == ("own_kind.py",)
    assert not [name for name in modules if name.startswith("dpsco_bench.kinds.")]


def test_its_parts_are_checked_like_any_others(files, dpsco):
    def told(change):
        Path("own_claim.yaml").write_text(CLAIM.replace(*change))
        outcome = dpsco("claim", "own_claim.yaml", "--plugin", "own_kind.py", "--profile", "smoke")
        assert outcome.code == 2
        return outcome.err

    assert "tolerance = 0.5: must be a factor > 1 for kind spread" in told(("1.0001", "0.5"))
    assert "tolerance = 'missing': must be given for kind spread" in told(("tolerance: 1.0001, ", ""))
    assert "bound = 'x.y': must be left out, or null: it belongs to kind" in told(("expected: wild", "bound: x.y"))
    assert "expected = 'match': must be empty, or for kind spread one of calm, wild" in told(("wild", "match"))
    assert "shown, spread" in told(("kind: spread", "kind: spred"))


def test_a_word_that_it_does_not_have_is_refused(files, dpsco):
    Path("own_kind.py").write_text(KIND.replace('"calm" if', '"quiet" if'))
    outcome = dpsco("claim", "own_claim.yaml", "--plugin", "own_kind.py", "--profile", "smoke")
    assert outcome.code == 2 and "verdict of kind spread = 'quiet': must be one of its words" in outcome.err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('@kind("spread")', '@kind("rate")', "kind name = 'rate': must be one that no other kind has"),
        ('@kind("spread")', '@kind("a b")', "kind = 'a b': must be a name of letters, digits and _"),
        ("def judge(", "def decide(", "a subclass of Kind with a method judge"),
        ("part = SpreadPart", "pass", "kind spread: part = 'missing': must be MeasuredPart, or one's own of it"),
        ('"confirms"', '"agrees"', "a Word with an outcome of"),
        ('("worst_ratio",)', '("worst_ration",)', "fields = 'worst_ration': must be .*worst_ratio.*own_fields"),
        ('"spread_factor": Field', '"slope": Field', "own_fields = 'slope': must be .* that no other field has"),
        ('Field(float, "spread")', 'Field(list, "spread")', "spread_factor = .*list.*: must be one of the types float"),
        ('Field(float, "spread")', "float", "spread_factor = .*float.*: must be a Field"),
    ],
)
def test_mistakes_are_named_when_the_file_is_read(files, old, new, message):
    Path("own_kind.py").write_text(KIND.replace(old, new))
    with pytest.raises(Exception, match=message):
        load_plugins(["own_kind.py"])


def test_shipped_kinds_are_found_by_their_files_and_know_their_names():
    for name in KINDS.names():
        assert get_kind(name).name == name and KINDS.module(name) == f"dpsco_bench.kinds.{name}"
    with pytest.raises(InputError, match="kind = 'rates': must be one of audit, band, .*rate"):
        get_kind("rates")
    with pytest.raises(InputError, match="one that no other kind has"):
        kind("law")(type("Other", (type(get_kind("law")),), {"__module__": "elsewhere"}))


def test_a_row_of_a_kind_that_is_not_loaded_is_still_read_and_written():
    row = Verdict("calm", "unheard_of", worst_ratio=2.0, own={"width": 3.0}).to_json()
    assert Verdict.from_json(row).said == "calm" and row["worst_ratio"] == 2.0 and row["width"] == 3.0
    assert Verdict.from_json(row).to_json() == row
