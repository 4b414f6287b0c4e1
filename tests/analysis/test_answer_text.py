"""The sentences that answer a claim, from made-up verdicts and of the recorded ones."""

import math
import random
from dataclasses import replace

import pytest

from dpsco_bench.analysis.answer import STANDINGS, answer, answers, headline
from dpsco_bench.analysis.answer_text import LONGEST, words
from dpsco_bench.analysis.noise import LAW_NEITHER
from dpsco_bench.analysis.record import read_record
from dpsco_bench.analysis.verdict import Noise, Verdict
from dpsco_bench.paths import shared_dir

from .made_up import BROKEN, PROVEN, WORDS, is_told, longest, privacy, rate


def test_the_epsilon_of_a_sentence_is_of_cells_that_its_rows_ran():
    rows = [rate("yes", noise="private"), privacy("holds", real=0.9)]
    first = "The rate holds in n with the printed noise, which is private (eps <= 0.25, claimed 1)"
    assert answer(rows).text == f"{first}."
    elsewhere = answer([rows[0], privacy("fails", real=12_900.0)])
    assert elsewhere.text == f"{first} and elsewhere is not private (eps >= 12,900, claimed 1)."
    count = rate("match", kind="complexity", slope=1.0)
    assert answer([count, privacy("holds")]).text == "The evaluation count holds in n as printed."


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


def test_a_constant_that_the_theorem_leaves_open_is_said():
    open_, closed = (
        replace(privacy("fails", real=12.0), part=part, open_constant=what)
        for part, what in (("a", "the constant c"), ("b", None))
    )
    ends = [
        ([open_], ". The theorem leaves the constant c open; it is 1 here."),
        ([open_, replace(privacy("holds"), part="c")], ". There the constant c, which the theorem leaves open, is 1."),
        ([open_, closed], ". In 1 of these the constant c, which the theorem leaves open, is 1."),
        ([closed], "(eps >= 12, claimed 1)."),
    ]
    for rows, end in ends:
        assert answer(rows).text.endswith(end)


def test_a_constant_that_the_paper_leaves_open_is_said_of_its_noise_in_every_row():
    """A count has no noise, and says nothing of it."""
    open_ = [replace(rate("yes", noise="private", parameter=p), open_constant="the constant c") for p in ("n", "d")]
    assert answer(open_).text.endswith(". The paper leaves the constant c open; it is 1 here.")
    count = rate("match", kind="complexity")
    assert answer([*open_, count]).text.endswith("open; it is 1 here.")
    mixed = answer([*open_, rate("yes", noise="private", parameter="epsilon")])
    assert mixed.text.endswith(". The paper leaves the constant c open; it is 1 in 2 of 3 rows.")
    assert "open" not in answer([rate("yes", noise="private")]).text


def test_risks_that_are_shown_beside_counts_are_not_said_to_hold():
    counts, shown = rate("match", kind="complexity"), rate("shown", noise="private", kind="shown")
    found = answer([counts, shown])
    assert found.standing == "holds without noise" and found.text.endswith("The risk is shown, not judged.")
    assert "shown" not in answer([counts]).text
    assert "shown" not in answer([counts, shown, rate("yes", noise="private")]).text


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
        "The rate holds in n with the printed noise, which is not private, for some records (eps >= 9, claimed 1)."
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
    assert is_told(found) and "fails in 7 parameters" in found
    vacuous = rate("vacuous", noise="private", kind="explicit")
    assert "(1 of 2 rows vacuous)" in answer([vacuous, rate("holds", noise="private", kind="explicit")]).text
    some = [rate("yes", noise="private", parameter=name) for name in names[:10]]
    some += [rate("no" if i < 5 else "undecided", noise="private", parameter=name) for i, name in enumerate(names[:10])]
    bounds = [vacuous, rate("holds", noise="private", kind="explicit")]
    assert "the explicit bound holds (1 of 2 rows vacuous)" in answer([*some[8:12], *bounds]).text
    assert "the explicit bound holds, with" in answer([*some, *bounds]).text
    assert words("eps >= 12,900, claimed 1, at n = 4,096") == 7


def test_what_noise_is_stands_in_a_sentence_of_its_own_where_one_is_too_long():
    """Nothing is left out for it; only then the place goes."""
    places = [rate("yes", noise="not private", parameter=p) for p in ("n", "d", "epsilon", "kappa")]
    rows = [*places, rate("holds", noise="not private", kind="explicit")]
    worst = replace(BROKEN, attained=False, place="n = 4,096, d = 10")
    whole = "The rate holds in n, d, epsilon and kappa, and the explicit bound holds, with the printed noise."
    assert answer([replace(row, noise=worst) for row in rows]).text == (
        f"{whole} The printed noise is not private, for some records (eps >= 12,900, claimed 1, at n = 4,096, d = 10)."
    )
    far = replace(worst, place=" ".join(["at a point that takes many words"] * 4))
    assert answer([replace(row, noise=far) for row in rows]).text == (
        f"{whole} The printed noise is not private, for some records (eps >= 12,900, claimed 1)."
    )
    law = Noise("target_law_only", 8.456, "upper", 1.0, place="n = 4,096, d = 10")
    ours = [replace(row, noise=law, calibration="accounted") for row in rows]
    both = answer([*(replace(row, noise=law) for row in rows), *ours]).text
    assert both == (
        f"{whole.removesuffix('.')} and with the accounted noise. The printed noise is {LAW_NEITHER} (eps <= 8.46, "
        f"claimed 1, at n = 4,096, d = 10). The accounted noise is {LAW_NEITHER}."
    )


def test_from_where_to_where_claims_reach_is_told_where_they_differ():
    at_large = replace(PROVEN, epsilon_real=200.0, epsilon_claimed=2_351.0)
    rows = [rate("yes", noise="private"), replace(rate("yes", noise="private", parameter="d"), noise=at_large)]
    assert answer(rows).text == (
        "The rate holds in n and d with the printed noise, which is private (eps <= 0.25, claimed 1; the rows' worst "
        "cells claim 1 to 2,350)."
    )
    assert "cells claim" not in answer(rows[:1]).text


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
    """At most `LONGEST` words a sentence; and it does not depend on the order of rows."""
    rows = read_record(shared_dir("workflows") / "recorded" / f"{profile}.json")
    found = answers(rows)
    for claim, said in found.items():
        assert is_told(said.text) and longest(said.text) <= LONGEST, claim
        own = [row for row in rows if row.id == claim]
        assert answer(own[::-1]) == said


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


def test_claims_of_audits_alone_are_not_counted_among_theorems():
    rows = [Verdict(word, "audit", "", id="p.audit") for word in ("not refuted", "not refuted", "says nothing")]
    found = answers(rows)["p.audit"]
    assert (found.standing, found.text) == (
        "audited",
        "Of 3 audits 2 do not refute the claimed eps and 1 says nothing.",
    )
    assert headline([found.standing, "fails"]).startswith("of 1 theorems, rows and figures ")
