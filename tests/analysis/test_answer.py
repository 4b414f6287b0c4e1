"""The rules of the two questions, one synthetic row or sweep each, and that they can still say no."""

import math
import re
from dataclasses import replace

import pytest

from dpsco_bench.analysis import answer as answering
from dpsco_bench.analysis.answer import NO, OPEN, UNTESTED, YES, AnswerCell, answer, headline, says
from dpsco_bench.analysis.noise import Noise
from dpsco_bench.analysis.record import read_record
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.paths import shared_dir

PROVEN = Noise("proven", 0.9, "upper", 1.0)
OPEN_NOISE = Noise("unproven", 1.4, "upper", 1.0)
REFUTED = Noise("exceeds_claim", 2.4, "lower", 1.0, epsilon_of="output")
SEQUENCE = Noise("unproven", 827.0, "lower", 1.0, epsilon_of="sequence")
NOMINAL = Noise("unproven", 0.9, "upper", 1.0)


def row(kind, word="holds", **more):
    return Verdict(word, kind, **{"id": "p.thm", "calibration": "paper", **more})


def rate(word="match", place="n", **more):
    given = {"slope": -1.0, "bound_slope": -1.0, "tolerance": 0.1, "noise_off_share": 0.1, "noise_off_slope": -0.2}
    return row("rate", word, part=place, parameter=place, **{**given, "noise": PROVEN, **more})


def privacy(noise, word="holds", **more):
    return row("privacy", word, part="a", noise=noise, **{"id": "p.privacy", **more})


BOUND, LAW = row("explicit", part="b", noise=PROVEN, worst_ratio=0.29), row("law", part="law")


def cell(rows, key="printed", others=None):
    return answer(rows, others).cells[key]


@pytest.mark.parametrize(
    ("rows", "word"),
    [
        ([rate()], YES),
        ([rate(), rate("inconclusive", "d")], OPEN),
        ([rate(), rate("fails", "d", grows=True)], NO),
        ([rate(), rate("fails", "d", grows=False)], OPEN),
        ([rate("not_observable")], UNTESTED),
        # "faster" counts up to twice the tolerance, or half of the bound's slope, beyond it
        *(([rate("faster", slope=slope, bound_slope=-0.1)], word) for slope, word in ((-0.25, YES), (-0.35, UNTESTED))),
        *(([rate("faster", slope=slope)], word) for slope, word in ((-1.19, YES), (-1.49, YES), (-1.6, UNTESTED))),
        ([rate("faster", slope=-1.6, loose="sqrt(d)")], YES),
        ([rate("match", outside="eps <= c1 T m/n^2")], UNTESTED),
        ([rate("fails", grows=True, control="half of the noise"), rate(place="d")], YES),
        ([rate("fails", grows=True, beside="another theorem"), rate(place="d")], YES),
        ([row("explicit", "vacuous")], UNTESTED),
        ([BOUND], YES),
        ([BOUND, rate("inconclusive")], OPEN),
        ([BOUND, rate("not_observable")], YES),
        ([row("ordering", scope="eps = 0.5 alone")], OPEN),
        ([row("band", band_of="ours")], UNTESTED),
        ([rate(corrected="E1")], UNTESTED),
        ([rate("fails", law="law", law_limit=1.0, grows=False), replace(LAW, verdict="violated", beside="x")], OPEN),
        # a computed law decides both ways, whatever was measured
        *(([rate(word, law="law", law_limit=1.0), LAW], YES) for word in ("match", "fails")),
        *(([rate(word, law="law", law_limit=math.inf), LAW], NO) for word in ("match", "fails")),
    ],
)
def test_does_it_show(rows, word):
    assert cell(rows).word == word


def test_a_bound_alone_is_marked_and_one_exponent_that_noise_gives_takes_the_schedules_mark_off():
    assert cell([BOUND]).marks == {"b": ".29"} and cell([BOUND, rate()]).marks == {}
    assert "s" not in cell([rate(noise_off_share=0.9, noise_off_slope=-1.0), rate(place="d")]).marks


def test_an_answer_names_its_orderings_and_the_number_of_the_rest():
    order = [row("ordering", part=part, noise=PROVEN) for part in "vwxyz"]
    assert cell([rate(), *order[:2]]).why == "in n and the ordering (v, w)"
    assert cell(order).why == "the ordering (v, w, x and 2 more)"


def test_by_the_schedule_is_a_share_and_the_exponent_too():
    for share, slope, marked in ((0.8, -1.05, True), (0.5, -1.0, False), (None, -1.0, False), (0.8, -0.5, False)):
        found = cell([rate(noise_off_share=share, noise_off_slope=slope)])
        assert found.word == YES and ("s" in found.marks) == marked, (share, slope)


@pytest.mark.parametrize(
    ("noises", "word", "marks"),
    [
        ([PROVEN], YES, {}),
        ([PROVEN, OPEN_NOISE], OPEN, {}),
        ([PROVEN, REFUTED], NO, {}),
        ([SEQUENCE], OPEN, {"q": "827"}),
        ([Noise("target_law_only", math.nan, "", 1.0, epsilon_law=0.8)], YES, {}),
        ([Noise("target_law_only", math.nan, "", 1.0, epsilon_law=1.7)], OPEN, {}),
        ([Noise("target_law_only", math.nan, "", 1.0)], YES, {}),
        ([NOMINAL], OPEN, {"*": ""}),
    ],
)
def test_what_is_released_decides_whether_noise_is_private(noises, word, marks):
    found = answer([privacy(noise) for noise in noises])
    assert found.subject == "privacy"
    assert (found.cells["noise"].word, found.cells["noise"].marks) == (word, marks)
    assert found.text.startswith("Is the printed noise private: ")


def test_some_constant_serves_every_row():
    for at_8, word, least in (([PROVEN], YES, ">= 8"), ([PROVEN, OPEN_NOISE], OPEN, None), ([], OPEN, None)):
        tried = [(1.0, REFUTED), *((8.0, noise) for noise in at_8)]
        found = answer([privacy(noise, open_constant="c", open_value=c) for c, noise in tried]).cells["noise"]
        assert found.word == word and found.marks.get("c") == least
        assert "c = 1 is refuted" in found.why


def test_noise_refuted_whatever_the_constant_is_no_and_outside_of_the_range_it_is_not_tested():
    tried = privacy(PROVEN, open_constant="c", open_value=8.0)
    assert answer([tried, privacy(PROVEN)]).cells["noise"].word == YES
    assert answer([tried, privacy(REFUTED, "fails")]).cells["noise"].word == NO
    fixed = privacy(REFUTED, "fails")
    larger = privacy(replace(REFUTED, epsilon_real=99.0), open_constant="c", open_value=1.0)
    assert answer([larger, fixed]).cells["noise"].why == answer([fixed]).cells["noise"].why  # a constant is no excuse
    for inside, word, said in (([], UNTESTED, "outside of eps <= 1"), ([tried], YES, "its range (eps <= 1)")):
        found = answer([*inside, privacy(REFUTED, outside="eps <= 1")]).cells["noise"]
        assert found.word == word and said in found.why


def test_printed_noise_is_judged_by_the_claim_that_is_named_and_shows_with_private_noise_where_it_is_proven():
    rows = [rate(place=place, noise_of=("p.privacy",)) for place in "nd"]
    found = answer(rows, {"p.privacy": [privacy(REFUTED, "fails")]})
    assert [found.cells[key].word for key in ("printed", "noise", "private")] == [YES, NO, YES]
    assert answer([rate(noise=OPEN_NOISE)]).cells["private"].word == UNTESTED
    assert answer([rate(noise=OPEN_NOISE), rate(calibration="accounted")]).cells["private"].word == YES


def test_corrected_noise_is_private_noise_and_never_the_printed_one():
    found = answer([rate(corrected="E1"), rate(noise=OPEN_NOISE, place="d")])
    assert found.cells["private"].word == YES and found.cells["printed"].why == "in d"


def test_a_place_is_told_once_by_its_weightiest_word():
    assert "yes" not in cell([rate("fails"), rate()]).why and "yes in d" in cell([rate("fails"), rate(place="d")]).why


def test_remarks_change_no_word():
    found = answer([rate(formula_of=("p.privacy",))], {"p.privacy": [privacy(REFUTED, "fails")]})
    assert found.cells["noise"].word == YES
    assert any("p.privacy" in remark and "2.4" in remark for remark in found.remarks)
    mended = Noise("proven", 0.9, "upper", 1.0, place="n = 8, d = 2")
    for noise, told in ((mended, True), (OPEN_NOISE, False)):
        smaller = replace(noise, epsilon_real=0.5) if told else mended  # named or not by the worst alone
        found = answer([rate(), *(privacy(one, corrected="E1", id="p.thm") for one in (noise, smaller))])
        said = "As E1 corrects it: eps <= 0.9, claimed 1, at n = 8, d = 2."
        assert (said in found.remarks) is told and not answer([rate(noise=noise, corrected="E1")]).remarks[1:]
    for word, told in (("match", True), ("fails", False)):
        found = answer([rate(), rate(word, "d", control="single records have no utility", expected="fails")])
        assert found.cells["printed"].word == YES
        assert any("control" in remark for remark in found.remarks) is told


def test_counts_and_other_kinds():
    rows = [row("complexity", "match"), row("complexity", "fails", calibration="accounted")]
    found = answer(rows)
    assert found.subject == "count" and [found.cells[key].word for key in ("printed", "private")] == [YES, NO]
    assert list(answer(rows[:1]).cells) == ["printed"]
    assert says(privacy(PROVEN)) is says(Verdict("shown", "shown")) is None
    assert answer(()).word == UNTESTED


@pytest.mark.parametrize(("word", "answered"), [("refuted", NO), ("not refuted", OPEN)])
def test_an_audit_of_the_output_refutes_what_the_query_sequence_leaves_open(word, answered):
    own = {"epsilon_lower": 2.48, "power": 1.0}
    audit = row("audit", word, id="p.audit", part="a", own=own, epsilon_claimed=1.0)
    found = answer([privacy(SEQUENCE, audited_by=("p.audit a",))], {"p.audit": [audit]}).cells["noise"]
    assert found.word == answered and ("2.48" in found.why) == (answered == NO) and "827" in found.why


@pytest.mark.parametrize(
    ("claim", "part", "key"),
    [("wang2017.thm4.4", "single_record-n", "private"), ("wang2017.table2.kst12", "ridge_logistic-d", "printed")],
)
def test_recorded_rows_without_their_role_are_answered_by_no(claim, part, key):
    rows = [row for row in read_record(shared_dir("workflows") / "recorded" / "ci.json") if row.id == claim]
    assert answer(rows).cells[key].word != NO
    bare = [replace(row, beside=None, control=None) if row.part == part else row for row in rows]
    assert answer(bare).cells[key].word == NO


def test_both_summaries_count_every_statement_once():
    """Ten by hand: where the risk shows, why, and whether its noise and ours are private."""
    table = [(YES, "s", YES, {}, YES), (YES, "", YES, {"c": ">= 2"}, YES), (YES, "", YES, {"c": ">= 1"}, NO)]
    table += [(YES, "", NO, {}, OPEN), (YES, "", OPEN, {"q": ""}, NO), (YES, "", UNTESTED, {}, YES)]
    table += [(NO, "s", YES, {}, NO), *[(OPEN, "", OPEN, {}, NO)] * 2, (UNTESTED, "", NO, {}, NO)]
    found = [answering.Answer("privacy", {"printed": AnswerCell(word)}) for word in (YES, YES, YES, NO)]
    for place, (printed, mark, noise, marks, private) in enumerate(table):
        ours = AnswerCell(private, {"*": ""} if place == 5 else {})
        cells = {"printed": AnswerCell(printed, {mark: ""}), "noise": AnswerCell(noise, marks), "private": ours}
        found.append(answering.Answer("risk", cells))
    numbers = [int(number) for number in re.findall(r"\d+", headline(found))]
    assert numbers == [10, 6, 1, 1, 2, 1, 6, 2, 1, 1, 1, 1, 3, 10, 1, 4, 3, 1, 0, 0]
    assert [int(number) for number in re.findall(r"\d+", answering.brief(found))] == [6, 10, 2]
