"""A claim's standing and its sentence, from made-up verdicts: every combination, and what must not move it."""

import itertools
import math
import random
import re
from dataclasses import replace

import pytest

from dpsco_bench.analysis import answer as module
from dpsco_bench.analysis.answer import STANDINGS, answer, answers, counted, headline
from dpsco_bench.analysis.answer_text import LONGEST, TOO_LONG, sentences, words
from dpsco_bench.analysis.record import read_record
from dpsco_bench.analysis.verdict import Noise, Verdict
from dpsco_bench.claims.catalogue import read_claims
from dpsco_bench.claims.kinds import OUTCOMES
from dpsco_bench.paths import shared_dir

WORDS = {"yes": "match", "no": "fails", "undecided": "inconclusive"}
PROVEN = Noise("proven", 0.25, "upper", 1.0)
BROKEN = Noise("exceeds_claim", 12_900.0, "lower", 1.0)
UNSHOWN = Noise("unproven", 8.456, "upper", 8.0)
NOISES = {"private": PROVEN, "not private": BROKEN, "not shown": UNSHOWN}


def is_told(text):
    """Sentences, at most one of each noise and one of rows beside the statement: capital, full stop, brackets."""
    ends = re.findall(r"[.!?](?=\s|$)", text)
    return (
        all(one[:1].isupper() or one[:1].isdigit() for one in sentences(text))
        and len(ends) == len(sentences(text)) <= 5
        and text.endswith(".")
        and text.count("(") == text.count(")")
        and all(text.count(noise) <= 1 for noise in ("the printed noise", "ithout noise", "ith private noise"))
    )


def longest(text):
    """Words of its longest sentence."""
    return max(map(words, sentences(text)))


def rate(says, calibration="paper", noise=None, parameter="n", kind="rate", **more):
    word = says if kind != "rate" else WORDS.get(says, says)
    noise = NOISES.get(noise)
    return Verdict(word, kind, "why", calibration=calibration, parameter=parameter, noise=noise, id="p.thm", **more)


def privacy(word, calibration="paper", real=0.25):
    status = {"holds": "proven", "fails": "exceeds_claim"}.get(word, "unproven")
    kind = {"holds": "upper", "fails": "lower"}.get(word, "upper")
    return Verdict(word, "privacy", calibration=calibration, noise=Noise(status, real, kind, 1.0), id="p.thm")


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


def test_the_epsilon_of_a_sentence_is_of_cells_that_its_rows_ran():
    rows = [rate("yes", noise="private"), privacy("holds", real=0.9)]
    first = "The rate holds in n with the printed noise, which is private (eps <= 0.25, claimed 1)"
    assert answer(rows).text == f"{first}."
    elsewhere = answer([rows[0], privacy("fails", real=12_900.0)])
    assert elsewhere.text == f"{first} and elsewhere is not private (eps >= 12,900, claimed 1)."
    count = rate("match", kind="complexity", slope=1.0)
    assert answer([count, privacy("holds")]).text == "The evaluation count holds in n as printed."


def test_what_is_beside_the_statement_counts_for_nothing_and_is_told():
    apart = [rate(says, noise="not private", beside="another method") for says in ("no", "undecided", "yes", "no")]
    for printed, ours, silent in ALL:
        rows = made(printed, ours, silent)
        found, alone = answer([*rows, *apart]), answer(rows)
        assert found.standing == alone.standing and found.text.startswith(alone.text)
    told = answer([rate("yes", "none"), *apart]).text
    assert told == "The rate holds in n without noise. 2 rows beside the statement contradict it."
    shown = Verdict("shown", "shown", id="p.thm", calibration="paper", beside="another method")
    assert answer([rate("yes", "none"), shown]) == answer([rate("yes", "none")])


def test_of_privacy_alone_the_sentence_has_the_number():
    assert answer([privacy("holds")]).text == "Yes: the printed noise is private (eps <= 0.25, claimed 1)."
    failed = answer([privacy("holds"), privacy("fails", real=12_900.0), privacy("holds")])
    assert failed.standing == "fails"
    assert failed.text == "No: in 1 of 3 parts the printed noise is not private (eps >= 12,900, claimed 1)."
    open_ = answer([privacy("unproven (upper bound 2)", real=2.0)])
    assert (open_.standing, open_.text) == (
        "undecided", "Undecided: the printed noise is not shown to be private (eps <= 2, claimed 1)."
    )  # fmt: skip
    assert answer([privacy("unproven (upper bound 2)", "accounted", 2.0)]).standing == "undecided"


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
        "The evaluation count holds in n as printed. In the private version the evaluation count fails in n."
    )
    assert answer([count("match"), rate("no", "accounted", "private")]).standing == "fails"
    assert answer([count("match"), rate("yes", "accounted", "private")]).standing == "holds with private noise"
    by_schedule = rate("yes", noise="private", reservations=("schedule: without noise the risk is 0.9 of it",))
    assert answer([count("match"), by_schedule]).standing == "holds without noise"


def test_risks_that_are_shown_beside_counts_are_not_said_to_hold():
    counts, shown = rate("match", kind="complexity"), rate("shown", noise="private", kind="shown")
    found = answer([counts, shown])
    assert found.standing == "holds without noise" and found.text.endswith("The risk is shown, not judged.")
    assert "shown" not in answer([counts]).text
    assert "shown" not in answer([counts, shown, rate("yes", noise="private")]).text


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
    skipped = Verdict("skipped: data absent", "rate", "data absent: dpsco data x", id="p.thm", calibration="paper")
    missing = Verdict("not measured", "rate", "no verdict file", id="p.thm", calibration="paper")
    assert answer([control, shown]) == module.Answer("shown", "Shown, not judged: the bound has no constants.")
    free = Verdict("shown", "shown", id="p.thm", calibration="paper")
    assert answer([free]).text == "Shown, not judged: no criterion was set."
    apart = rate("yes", "accounted", "private", beside="the method is a stand-in: its steps are ours")
    assert answer([free, apart]).text == "Shown, not judged: no criterion was set; the method is a stand-in."
    assert answer([control, rate("yes", noise="private")]).standing == "holds as printed"
    assert answer([skipped, shown]) == module.Answer("not run", "Not run: data absent.")
    assert answer([missing]).standing == answer([]).standing == "not run"
    assert answer([skipped, rate("yes", noise="private")]).standing == "holds as printed"


def test_the_sentence_answers_by_noise_and_by_parameter():
    rows = [rate("yes", noise="not private", parameter=p) for p in ("n", "algorithm.k")]
    rows += [rate("yes", "accounted", "private", "d"), rate("undecided", "accounted", "private")]
    assert answer(rows).standing == "holds, not private"
    assert answer(rows).text == (
        "The rate holds in n and k with the printed noise, which is not private (eps >= 12,900, claimed 1). "
        "With private noise the rate holds in d and is undecided in n."
    )
    rows = [rate("yes", noise="private")] * 4 + [rate("undecided", noise="private"), rate("yes", "none")]
    rows += [rate("holds", noise="private", kind="explicit"), rate("violated", noise="private", kind="explicit")]
    assert answer(rows).text == (
        "The rate is undecided in n (1 of 5 rows), and the explicit bound fails (1 of 2), with the printed noise, "
        "which is private (eps <= 0.25, claimed 1). Without noise the rate holds in n."
    )
    law = Noise("target_law_only", 0.5, "upper", 1.0)
    row = Verdict("match", "rate", calibration="paper", parameter="n", noise=law, id="p.thm")
    assert answer([row]).text.endswith(", which is proven of the target law only (eps <= 0.5, claimed 1).")
    charged = Noise("exceeds_claim", 9.0, "lower", 1.0, attained=False)
    assert answer([replace(row, noise=charged)]).text == (
        "The rate holds in n with the printed noise, which is not private as charged, for some records (eps >= 9, "
        "claimed 1)."
    )
    unknown = replace(row, noise=Noise("unproven", math.nan, "upper", 1.0))
    assert answer([unknown]).text.endswith("which is not shown to be private.")


def test_what_is_answered_alike_is_answered_once():
    rows = [rate("yes", noise="not private"), rate("yes", "accounted", "private"), rate("yes", "none")]
    assert answer(rows[1:]).text == "The rate holds in n with private noise and without noise."
    printed = "The rate holds in n with the printed noise, which is not private (eps >= 12,900, claimed 1)"
    assert answer(rows).text == f"{printed}, with private noise, and without noise."
    apart = answer([rows[0], rate("no", "accounted", "private"), rows[2]]).text
    assert apart == f"{printed}, and without noise. With private noise the rate fails in n."


def test_the_epsilon_of_accounted_noise_is_the_claim_s_and_not_told():
    ours = replace(rate("yes", "accounted"), noise=Noise("target_law_only", 1.0, "upper", 1.0))
    assert (
        answer([ours]).text == "The rate holds in n with the accounted noise, which is proven of the target law only."
    )


def test_where_parts_differ_it_is_told_of_how_many():
    rows = [rate("yes", noise="private", part="batch"), rate("not_observable", noise="private", part="single")]
    assert answer(rows).text.startswith("The rate is undecided in n (1 of 2 rows) with the printed noise")
    real = [replace(privacy("fails", real=12.0), part="a"), replace(privacy("holds"), part="b")]
    assert answer(real).text == "No: in 1 of 2 parts (a) the printed noise is not private (eps >= 12, claimed 1)."


def test_a_long_answer_leaves_out_what_the_rows_below_it_tell():
    names = [f"a_long_parameter_{n}" for n in range(40)]
    rows = [rate(says, noise="private", parameter=name) for says in WORDS for name in names[:7]]
    rows += [rate("holds", noise="private", kind=kind) for kind in ("explicit", "band", "law", "ordering")]
    found = answer(rows).text
    assert is_told(found) and longest(found) <= TOO_LONG and "fails in 7 parameters" in found
    vacuous = rate("vacuous", noise="private", kind="explicit")
    assert "(1 of 2 rows vacuous)" in answer([vacuous, rate("holds", noise="private", kind="explicit")]).text
    silent = [rate("holds", "none", kind=kind) for kind in ("explicit", "band")]
    more = answer([*rows, vacuous, *silent, rate("undecided", "accounted", "not shown")]).text
    assert "the explicit bound" in more and longest(more) <= TOO_LONG
    place = replace(PROVEN, place="n = 4,096, d = 10")
    short = answer([replace(rate("yes", noise="private"), noise=place)]).text
    assert "at n = 4,096" in short
    assert "at n = 4,096" not in answer([replace(row, noise=place) for row in rows]).text
    some = [rate("yes", noise="private", parameter=name) for name in names[:10]]
    some += [rate("no" if i < 5 else "undecided", noise="private", parameter=name) for i, name in enumerate(names[:10])]
    bounds = [vacuous, rate("holds", noise="private", kind="explicit")]
    assert "the explicit bound holds (1 of 2 rows vacuous)" in answer([*some[3:13], *bounds]).text
    assert "the explicit bound holds, with" in answer([*some, *bounds]).text
    assert words("eps >= 12,900, claimed 1, at n = 4,096") == 7


def test_the_answer_does_not_depend_on_the_order_of_rows():
    """A run has its rows in the order of the claim's file, a record in that of their names."""
    rows = [rate("yes", noise="private", parameter=p, part=p) for p in ("d", "epsilon", "kappa", "n", "width")]
    rows += [rate("holds", noise="private", kind="explicit", part="bound")]
    rows += [rate("holds", noise="private", kind="band", part="band")]
    said = "The rate holds in n, d, epsilon, kappa and width, and the explicit bound and the stated band hold, with the"
    for seed in range(20):
        random.Random(seed).shuffle(rows)
        assert answer(rows).text.startswith(said)


@pytest.mark.parametrize("profile", ["ci", "full"])
def test_every_recorded_answer_is_a_sentence_a_noise(profile):
    """At most `LONGEST` words a sentence but for one answer in five; and it does not depend on the order of rows."""
    rows = read_record(shared_dir("workflows") / "recorded" / f"{profile}.json")
    found = answers(rows)
    for claim, said in found.items():
        assert is_told(said.text), claim
        own = [row for row in rows if row.id == claim]
        assert answer(own[::-1]) == said
    lengths = [longest(said.text) for said in found.values()]
    assert sum(length > LONGEST for length in lengths) <= len(lengths) / 5 and max(lengths) <= 40


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


def test_the_headline_has_every_claim_once():
    standings = [*["holds as printed"] * 3, "holds with private noise", *["holds, not private"] * 2, "fails", "vacuous"]
    assert headline([*standings, "holds, not shown private"]) == (
        "of 9 theorems, rows and figures 3 hold with the paper's own noise, proven private; 1 with ours alone. "
        "3 hold only with noise that is not shown to be private, 2 of them with noise that is refuted. "
        "Of the others 1 fails, 1 is vacuous"
    )
    one = headline(["holds, not shown private"])
    assert one.endswith(". 1 holds only with noise that is not shown to be private")
    numbers = [int(word) for word in headline(list(STANDINGS)).split() if word.isdigit()]
    theorems = len(STANDINGS) - 1  # what is audited is none
    assert numbers[0] == theorems and sum(numbers[1:6]) + sum(numbers[7:]) == theorems


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


def test_claims_of_audits_alone_are_not_counted_among_theorems():
    rows = [Verdict(word, "audit", "", id="p.audit") for word in ("not refuted", "not refuted", "says nothing")]
    found = answers(rows)["p.audit"]
    assert (found.standing, found.text) == (
        "audited",
        "Of 3 audits 2 do not refute the claimed eps and 1 says nothing.",
    )
    assert headline([found.standing, "fails"]).startswith("of 1 theorems, rows and figures ")


def test_the_vocabulary_is_documented_in_one_place():
    for standing, word in STANDINGS.items():
        assert f"``{standing}``" in module.__doc__ and word.outcome in OUTCOMES and word.meaning
