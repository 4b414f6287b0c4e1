"""One's own kind of part, in one file outside the package: from the claim's file to its verdict, figure and words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpsco_bench.analysis.changes import BECAUSE, BEFORE, known_rules, read_changes, record_changes
from dpsco_bench.analysis.judge import judge_modules
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.compose import claim_plan
from dpsco_bench.claims.kinds import KINDS, get_kind, kind
from dpsco_bench.cli.claiming import run_claim
from dpsco_bench.errors import InputError
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.plugins import load_plugins
from dpsco_bench.report.figures import claim_panels, write_claim_figures
from dpsco_bench.report.inputs import ClaimResults
from dpsco_bench.report.parts import parts_table
from dpsco_bench.report.scores import claim_scores, claim_table, counts_table
from dpsco_bench.report.tables import to_markdown
from dpsco_bench.report.wording import meanings

KIND = '''
from dpsco_bench import Kind, Verdict, Word, kind


@kind("spread")
class Spread(Kind):
    """Whether replicates differ by less than a stated factor."""

    title = "spread of replicates"
    words = {
        "calm": Word("confirms", "the largest risk of a cell is within the tolerance of the least"),
        "wild": Word("contradicts", "it is not"),
    }
    tolerant = True
    tolerance = None
    fields = ("worst_ratio",)
    rules = {"gusts": "a factor that one replicate alone makes decides nothing"}

    def changed_by(self, old, row):
        return "gusts"

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
        )

    def panel(self, scores):
        from dpsco_bench.report.drawing import Line, Panel

        def draw(axes):
            for score in scores:
                axes.plot(score.row.values, score.row.mean)

        return Panel(scores[0].row.part, draw, [Line(score.verdict) for score in scores])
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
    assert "2 verdicts: 1 calm; 1 wild" in shown


def test_its_rules_explain_a_changed_word(measured, tmp_path):
    rows = measured[1].rows
    (tmp_path / BEFORE).write_text(
        "profile,claim,part,calibration,word\nsmoke,mine.spread,kept,paper,wild\nsmoke,mine.spread,lost,paper,wild\n"
    )
    record_changes(tmp_path, "smoke", rows)
    (line,) = read_changes(tmp_path)
    assert (line.part, line.old, line.new, line.because) == ("kept", "wild", "calm", "gusts")
    assert "gusts" in known_rules() and "gusts" not in BECAUSE


def test_its_panel_words_and_tables_are_in_the_report(measured, tmp_path):
    _, results = measured
    kept, lost = claim_scores(results)
    assert (kept.tone, lost.tone) == ("good", "bad") and lost.verdict.startswith("wild (factor ")
    assert [panel.lines[0].text for panel in claim_panels(results)] == [kept.verdict, lost.verdict]
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
        ('"confirms"', '"agrees"', "words with an outcome of"),
    ],
)
def test_mistakes_are_named_when_the_file_is_read(files, old, new, message):
    Path("own_kind.py").write_text(KIND.replace(old, new))
    with pytest.raises(Exception, match=message):
        load_plugins(["own_kind.py"])


def test_shipped_kinds_are_found_by_their_files_and_know_their_names():
    for name in KINDS.names():
        assert get_kind(name).name == name and KINDS.module(name) == f"dpsco_bench.kinds.{name}"
    with pytest.raises(InputError, match="kind = 'rates': must be one of band, .*rate"):
        get_kind("rates")
    with pytest.raises(InputError, match="one that no other kind has"):
        kind("law")(type("Other", (type(get_kind("law")),), {"__module__": "elsewhere"}))


def test_a_row_of_a_kind_that_is_not_loaded_is_still_read_and_written():
    row = Verdict("calm", "unheard_of", worst_ratio=2.0).to_json()
    assert Verdict.from_json(row).said == "calm" and row["worst_ratio"] == 2.0
