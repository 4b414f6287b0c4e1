"""A claim's standing and its sentence, from made-up verdicts: every combination, and what must not move it."""

import itertools
import random
from dataclasses import replace

import pytest

from dpsco_bench.analysis import answer as module
from dpsco_bench.analysis.answer import STANDINGS, answer, answers, counted, headline
from dpsco_bench.analysis.answer_text import LONGEST
from dpsco_bench.analysis.record import read_record
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.catalogue import read_claims
from dpsco_bench.claims.kinds import OUTCOMES
from dpsco_bench.paths import shared_dir

from .made_up import NOISES, PROVEN, WORDS, is_told, longest, privacy, rate

CASES = [
    ("yes private", "no private", "", "holds as printed"),
    ("yes private", "undecided private", "yes", "holds as printed"),
    ("yes private", "", "undecided", "undecided"),
    ("yes private", "yes private", "no", "fails"),
    ("no private", "yes private", "yes", "fails"),
    ("no not private", "", "", "fails"),
    ("yes not private", "yes private", "", "holds with private noise"),
    ("undecided private", "yes private", "", "holds with private noise"),
    ("", "yes private", "", "holds with private noise"),
    ("yes not private", "", "", "holds, not private"),
    ("yes not private", "undecided private", "", "holds, not private"),
    ("yes not private", "yes not shown", "", "holds, not shown private"),
    ("yes not private", "no not shown", "", "holds, not private"),
    ("yes not shown", "no private", "", "holds, not shown private"),
    ("yes not shown", "yes not shown", "", "holds, not shown private"),
    ("yes not shown", "yes not private", "", "holds, not shown private"),
    ("undecided private", "yes not shown", "", "holds, not shown private"),
    ("undecided private", "yes not private", "", "holds, not private"),
    ("undecided private", "no private", "yes", "fails"),
    ("", "no private", "", "fails"),
    ("undecided not private", "undecided private", "yes", "undecided"),
    ("undecided not shown", "", "", "undecided"),
    ("", "", "yes", "holds without noise"),
    ("", "", "undecided", "undecided"),
    ("", "", "no", "fails"),
]


def made(printed, ours, silent):
    rows = []
    for text, calibration in ((printed, "paper"), (ours, "accounted")):
        says, _, noise = text.partition(" ")
        rows += [rate(says, calibration, noise)] if says else []
    return rows + ([rate(silent, "none")] if silent else [])


@pytest.mark.parametrize(("printed", "ours", "silent", "standing"), CASES)
def test_the_precedence(printed, ours, silent, standing):
    assert answer(made(printed, ours, silent)).standing == standing


ALL = [
    (*(f"{says} {noise}" if says else "" for says, noise in pairs), silent)
    for pairs in itertools.product([("", ""), *itertools.product(WORDS, NOISES)], repeat=2)
    for silent in ("", *WORDS)
]


def test_every_combination_has_one_standing_that_its_rows_allow():
    reached = set()
    for printed, ours, silent in ALL:
        rows = made(printed, ours, silent)
        found = answer(rows)
        reached.add(found.standing)
        assert found.text.isascii() and "  " not in found.text
        assert is_told(found.text) and longest(found.text) <= LONGEST
        if not rows:
            continue
        said = [text.partition(" ")[0] for text in (printed, ours, silent)]
        if STANDINGS[found.standing].outcome == "confirms":
            assert "yes" in said and "no" not in (said[0], said[2])
        if "private" in (printed.partition(" ")[2], ours.partition(" ")[2]) and found.standing == "fails":
            assert "no" in said
        if found.standing == "holds as printed":
            assert printed == "yes private"
        if found.standing == "holds with private noise":
            assert ours == "yes private" and printed != "yes private"
        if found.standing == "holds, not private":
            assert "yes not private" in (printed, ours) and "yes not shown" not in (printed, ours)
        if found.standing == "holds, not shown private":
            assert "yes not shown" in (printed, ours) and "yes private" not in (printed, ours)
    assert reached == set(STANDINGS) - {
        "holds as recalled",
        "holds as corrected",
        "vacuous",
        "by construction",
        "shown",
        "audited",
    }


def test_neither_order_nor_number_of_rows_matters():
    for printed, ours, silent in ALL:
        rows = made(printed, ours, silent)
        if not rows:
            continue
        many = [*rows * 20]
        random.Random(1).shuffle(many)
        assert answer(many).standing == answer(rows).standing
        assert (
            answer([*rows, Verdict("shown", "shown", id="p.thm", calibration="paper")]).standing
            == answer(rows).standing
        )


def test_a_vacuous_kind_under_the_printed_noise_is_not_asked_of_ours():
    vacuous = rate("vacuous", "paper", "not private", kind="explicit")
    ours = rate("yes", "accounted", "private")
    assert answer([vacuous, ours]).standing == "holds with private noise"


@pytest.mark.parametrize(
    ("printed", "standing"), [("holds", "holds, not private"), ("inconclusive", "undecided"), ("violated", "fails")]
)
def test_a_kind_that_ours_lacks_is_decided_by_the_printed_noise(printed, standing):
    rows = [rate(printed, "paper", "not private", kind="explicit"), rate("yes", "paper", "not private")]
    assert answer([*rows, rate("yes", "accounted", "private")]).standing == standing


def test_the_privacy_of_accounted_noise_confirms_nothing():
    ours = privacy("holds", "accounted", 1.0)
    assert answer([ours]).standing == "by construction" and "by construction" in answer([ours]).text
    assert answer([ours, privacy("fails", real=12.0)]).standing == "fails"
    assert answer([ours, privacy("holds")]).standing == "holds as printed"
    for printed, other, silent in ALL:
        rows = made(printed, other, silent)
        if rows:
            assert answer([*rows, ours]).standing == answer(rows).standing
    count = rate("match", "accounted", kind="complexity")
    assert answer([count, ours]).standing == answer([count]).standing == "holds without noise"


def test_beside_other_rows_privacy_says_whose_noise_it_is():
    yes = rate("yes", noise="private")
    assert answer([yes, privacy("fails", real=12_900.0)]).standing == "holds, not private"
    assert answer([yes, privacy("unproven (upper bound 2)", real=2.0)]).standing == "holds, not shown private"
    assert answer([yes, privacy("holds")]).standing == "holds as printed"


def test_what_is_beside_the_statement_counts_for_nothing_and_is_told():
    apart = [rate(says, noise="not private", beside="another method") for says in ("no", "undecided", "yes", "no")]
    for printed, ours, silent in ALL:
        rows = made(printed, ours, silent)
        found, alone = answer([*rows, *apart]), answer(rows)
        assert found.standing == alone.standing and found.text.startswith(alone.text.removesuffix("."))
    told = answer([rate("yes", "none"), *apart]).text
    assert told == "The rate holds in n without noise. 2 rows beside the statement say otherwise."
    shown = Verdict("shown", "shown", id="p.thm", calibration="paper", beside="another method")
    assert answer([rate("yes", "none"), shown]) == answer([rate("yes", "none")])


def test_what_the_schedule_alone_gives_is_no_evidence_on_noise():
    reserved = {"reservations": ("schedule: without noise the risk is 0.9 of it",)}
    alone = rate("yes", noise="private", **reserved)
    assert answer([alone]).standing == "holds without noise"
    assert "holds by the schedule in n" in answer([alone]).text
    assert answer([alone, rate("yes", noise="private", parameter="d")]).standing == "holds as printed"
    assert answer([rate("no", noise="private", **reserved)]).standing == "fails"


def test_a_bound_that_cannot_fail_is_vacuous():
    vacuous = rate("vacuous", noise="private", kind="explicit")
    assert answer([vacuous]).standing == "vacuous"
    assert answer([vacuous, rate("yes", noise="private")]).standing == "holds as printed"
    some = answer([vacuous, rate("holds", noise="private", kind="explicit")])
    assert some.standing == "holds as printed" and "The explicit bound holds (1 of 2 rows vacuous)" in some.text
    assert answer([vacuous, rate("yes", "none")]).standing == "holds without noise"


@pytest.mark.parametrize("profile", ["ci", "full"])
def test_a_vacuous_claim_has_vacuous_rows_and_only_such(profile):
    """One word has one meaning; the privacy of accounted noise alone is `by construction`."""
    rows = read_record(shared_dir("workflows") / "recorded" / f"{profile}.json")
    for claim, found in answers(rows).items():
        own = [row for row in rows if row.id == claim and not row.beside and row.word != "shown"]
        if found.standing == "vacuous":
            assert {row.word for row in own} == {"vacuous"}
        if found.standing == "by construction":
            assert {(row.kind, row.calibration) for row in own} == {("privacy", "accounted")}


def test_counts_need_no_noise():
    def count(word, calibration="paper"):
        return rate(word, calibration, kind="complexity", slope=1.0)

    assert answer([count("match")]).standing == "holds without noise"
    assert answer([count("fails")]).standing == "fails"
    both = answer([count("match"), count("fails", "accounted")])
    assert both.standing == "holds without noise" and answer([count("fails", "accounted")]).standing == "fails"
    assert both.text == (
        "The evaluation count holds in n as printed. With accounted noise the evaluation count fails in n."
    )
    assert answer([count("match"), rate("no", "accounted", "private")]).standing == "fails"
    assert answer([count("match"), rate("yes", "accounted", "private")]).standing == "holds with private noise"
    by_schedule = rate("yes", noise="private", reservations=("schedule: without noise the risk is 0.9 of it",))
    assert answer([count("match"), by_schedule]).standing == "holds without noise"


def test_counts_at_one_size_are_in_nothing_and_are_no_evidence_on_noise():
    """Measured counts, with noise that was charged."""
    rows = [rate("match", name, "private", kind="complexity") for name in ("paper", "accounted")]
    assert answer(rows).standing == answer(rows[:1]).standing == answer(rows[1:]).standing == "holds without noise"
    assert answer(rows[1:]).text == "The evaluation count holds with private noise."


def test_ours_must_have_been_asked_what_the_printed_noise_was_asked():
    bound = {"kind": "explicit"}
    rows = [rate("yes", noise="not private"), rate("holds", noise="not private", **bound)]
    assert answer([*rows, rate("holds", "accounted", "private", **bound)]).standing == "holds, not private"
    both = [rate("holds", "accounted", "private", **bound), rate("yes", "accounted", "private")]
    assert answer([*rows, *both]).standing == "holds with private noise"


def test_what_says_nothing():
    control = Verdict("fails", "control", id="p.thm", calibration="paper", noise=PROVEN)
    shown = Verdict("shown", "lower_bound", id="p.thm", calibration="accounted", noise=PROVEN)
    skipped = Verdict("skipped: data absent", "rate", "data absent: `dpsco data x`", id="p.thm", calibration="paper")
    missing = Verdict("not measured", "rate", "no verdict file", id="p.thm", calibration="paper")
    assert answer([control, shown]) == module.Answer("shown", "Shown, not judged: the bound has no constants.")
    free = Verdict("shown", "shown", id="p.thm", calibration="paper")
    assert answer([free]).text == "Shown, not judged: no criterion was set."
    apart = rate("yes", "accounted", "private", beside="the method is a stand-in: its steps are ours")
    assert answer([free, apart]).text == "Shown, not judged: no criterion was set; the method is a stand-in."
    assert answer([control, rate("yes", noise="private")]).standing == "holds as printed"
    assert answer([skipped, shown]) == module.Answer("not run", "Not run: data absent (`dpsco data x`).")
    assert answer([apart]) == module.Answer(
        "not run", "Not run: what ran is beside the statement (the method is a stand-in)."
    )
    assert answer([missing]).standing == answer([]).standing == "not run"
    assert answer([skipped, rate("yes", noise="private")]).standing == "holds as printed"


@pytest.mark.parametrize("profile", ["ci", "full"])
def test_the_standing_says_what_the_ledger_says_of_the_noise(profile):
    """What is called not private has an epsilon above its claim; what is not shown private has none that is proven."""
    rows = read_record(shared_dir("workflows") / "recorded" / f"{profile}.json")
    for claim, found in answers(rows).items():
        said = {row.noise.status for row in rows if row.id == claim and row.noise and not row.beside}
        if found.standing == "holds, not private":
            assert "exceeds_claim" in said, claim
        if found.standing == "holds, not shown private":
            assert said & {"unproven", "target_law_only"}, claim


def test_a_law_asks_for_no_private_noise():
    """The rows of statements about laws and moments have no noise to be judged."""
    claims = {claim.id: claim for claim in read_claims()}
    for name in ("bassily2021.prop8.moment", "gopi2022.thm2", "gopi2022.lemma5"):
        assert any(part.noiseless for part in claims[name].parts)
        for profile in ("ci", "full"):
            rows = read_record(shared_dir("workflows") / "recorded" / f"{profile}.json")
            assert answers(rows)[name].standing == "holds without noise", profile


def test_the_counts_add_up_to_the_number_of_claims():
    rows = []
    for number, (printed, ours, silent) in enumerate(ALL):
        for row in made(printed, ours, silent):
            rows += [Verdict(**{**row.__dict__, "id": f"p.thm{number}"})] * (1 + number % 3)
    found = answers(rows)
    assert len(found) == len({row.id for row in rows})
    counts = counted(one.standing for one in found.values())
    assert sum(counts.values()) == len(found) and list(counts) == [s for s in STANDINGS if s in counts]


def test_noise_that_an_erratum_corrects_is_not_the_printed_one():
    found = answer([rate("yes", noise="private", corrected="E1")])
    assert found.standing == "holds as corrected"
    assert "with the printed noise corrected by E1, which is private" in found.text
    refuted = answer([rate("yes", noise="not private", corrected="E1"), rate("yes", "accounted", noise="private")])
    assert refuted.standing == "holds with private noise"
    assert "1 as corrected" in headline(["holds as corrected", "holds as printed"])


def test_noise_recalled_of_a_source_is_not_the_paper_s():
    found = answer([rate("yes", noise="private", recalled=True)])
    assert found.standing == "holds as recalled"
    assert "with the noise recalled of its source, which is private" in found.text
    alone = answer([replace(privacy("holds"), recalled=True)])
    assert alone.standing == "holds as recalled" and "the noise recalled of its source is private" in alone.text
    ours = answer([rate("yes", noise="not private", recalled=True), rate("yes", "accounted", noise="private")])
    assert ours.standing == "holds with private noise"
    assert "1 as recalled of its source" in headline(["holds as recalled", "holds as printed"])


def test_the_vocabulary_is_documented_in_one_place():
    for standing, word in STANDINGS.items():
        assert f"``{standing}``" in module.__doc__ and word.outcome in OUTCOMES and word.meaning
