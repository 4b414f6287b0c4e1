"""Texts of bounds: notation, symbols, what one registers, and every bound as a number that is written out."""

import csv
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dpsco_bench.claims.bounds import registry
from dpsco_bench.claims.bounds.registry import BOUNDS, BoundContext, Symbol, alphabetical, bound, get_bound
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.queries import Temperature
from dpsco_bench.problems.base import Constants
from tests.papers.test_vectors import bounds

ENV = {"n": 100.0, "d": 8.0, "K": 5.0, "p": 1.5, "eps": 0.5, "e": math.e, "||x*||_p": 3.0, "A'": 7.0, "learner": "osd"}
CONTEXT = BoundContext(100, 8, 0.5, 1e-6, Constants(2.0, 0.5, diameter=3.0, strong_convexity=0.3, domain="l2_ball"),
                       "paper", {"steps": 7, "kappa": 2.0}, {})  # fmt: skip


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2e n", 200 * math.e),
        ("ln n/sqrt n + 1", math.log(100) / 10 + 1),
        ("ln^1.5 K sqrt(d)/(eps n)", math.log(5) ** 1.5 * math.sqrt(8) / 50),
        ("n^-2 [1 - (d + 1)]", -8e-4),
        ("-n^2/4", -2500.0),
        ("2^-d (n)", 100 / 256),
        ("n^(1/2 - 1/p) d^|1 - 2/p|", 100 ** (0.5 - 1 / 1.5) * 8 ** (2 / 1.5 - 1)),
        ("max{1/n, min{d/n, 3}}", 0.08),
        ("(||x*||_p^2 + 1) A'", 70.0),
        ("3 floor(n/7) + round(2.6)", 45.0),
        ("1/sum_{t=1}^{n} t^2 + 0.5", 1 / sum(t * t for t in range(1, 101)) + 0.5),
        ("sum_{t=1}^{3} t sum_{s=1}^{t} s", 1 + 2 * 3 + 3 * 6),
        ("sum_{t=1}^{3} max{2, t} sum_{s=1}^{t - 1} ln(s)/2", math.log(2) * 3 / 2),
        ("sum_{t=4}^{6} d", 24.0),
        ("sum_{t=1}^{d} t floor(t/3)", 1 * (3 + 4 + 5) + 2 * (6 + 7 + 8)),
        ("n T, T = d/4, ours", 200.0),
        ("1 for p = 1; 2 for 1 < p < 2; 3 otherwise, with words", 2.0),
        ("1 for learner = sgd; 2 for learner = oma or osd", 2.0),
        ("log2(2n)", math.log2(200)),
        ("gdp_mu(eps, 0.01)", gdp_mu(0.5, 0.01)),
    ],
)
def test_notation(text, value):
    assert registry.read(text).value(ENV.__getitem__) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize(
    ("text", "rest"),
    [("n (d", "its end"), ("n/d K", "K"), ("sqrt n)", "\\)"), ("n $ d", "\\$ d"), ("sum_{t=1} t", "t")],
)
def test_what_is_not_in_the_notation_is_named(text, rest):
    with pytest.raises(InputError, match=f"must be in the notation of bounds, which it is not at '{rest}'"):
        registry.read(text)


def test_alternatives_belong_to_calibrations():
    accounted = replace(CONTEXT, calibration="accounted")
    assert registry.evaluate("x.y", "l", CONTEXT) == math.log(1e6)
    assert 0.5 / math.sqrt(registry.evaluate("x.y", "l", accounted)) == pytest.approx(gdp_mu(0.5, 1e-6), rel=1e-14)
    assert [registry.evaluate("x.y", "n; accounted: d", c) for c in (CONTEXT, accounted)] == [100, 8]
    with pytest.raises(InputError, match="^symbol in the text of x.y = 'Q': must be one of d, delta, e, eps, l, n, p$"):
        registry.evaluate("x.y", "Q n", CONTEXT)


def test_symbols_are_those_of_the_text_and_of_their_definitions():
    found = registry.get_bound("bassily2021.thm12_crossover").all_symbols
    assert list(found) == ["d", "delta", "eps", "kappa_q", "l", "L0", "L1", "M", "n", "thm12_explicit"]


def test_bounds_of_ones_own_say_what_their_symbols_mean():
    bound("mine.b", "d G sqrt(l) w/(eps n)", {"G": "constants.lipschitz", "w": Symbol("2 d")})
    found = registry.get_bound("mine.b")
    assert set(found.all_symbols) == {"d", "delta", "eps", "l", "n", "G", "w"}
    assert found.value(CONTEXT) == pytest.approx(8 * 2.0 * math.sqrt(math.log(1e6)) * 16 / 50, rel=1e-14)
    assert found.named_term is None and found.extras == ()
    bound("mine.b", "d Q/n", {"G": "constants.lipschitz"})
    known = "one of d, delta, e, eps, G, l, n, p"
    with pytest.raises(InputError, match=f"^symbol in the text of mine.b = 'Q': must be {known}$"):
        registry.get_bound("mine.b")


def test_numbers_of_bounds_come_from_terms_sources_and_rounding():
    bound("mine.a", "1/n + noted", {"noted": "extras.noted"})
    bound("mine.b", "1/n; whole bound: a")
    found, context = registry.get_bound("mine.b"), replace(CONTEXT, extras={"noted": 2.0})
    assert (found.named_term(context), found.value(context)) == (0.01, 2.01)
    with pytest.raises(InputError, match="^extra = 'noted': must be one of none: the runs noted nothing"):
        found.value(CONTEXT)
    bound("mine.a", "the largest <w, x>", source="extras.noted")
    bound("mine.b", "twice n", source=lambda c: 2 * c.n)
    assert registry.get_bound("mine.a").extras == ("noted",) and registry.get_bound("mine.b").value(CONTEXT) == 200
    bound("mine.b", "-noted", {"noted": "extras.noted"}, rounding="2^-52 n")
    assert registry.get_bound("mine.b").value(replace(CONTEXT, extras={"noted": 0.0})) == 100 * 2.0**-52


SHIPPED = [name for name in BOUNDS.names() if BOUNDS.module(name).startswith("dpsco_bench.")]
NOISE = [f"expected_noise_{place}" for place in ("quarter", "half", "last")]
IN_WORDS = {f"zhang2022.{name}" for name in ("learner", "theorem1", "lemma7", *NOISE)}


def test_all_bounds_of_papers_are_judged_by_their_texts_but_those_in_words():
    assert {name for name in SHIPPED if registry.get_bound(name).source} == IN_WORDS


SEEDED = """
from dpsco_bench.claims.bounds.registry import BOUNDS, get_bound
from dpsco_bench.cli.main import main
for name in BOUNDS.names():
    print(name, *get_bound(name).all_symbols)
main(["show", "gopi2022.cor2.erm"])
"""


def test_what_is_shown_does_not_depend_on_the_hash_seed():
    """``d`` and ``D`` are two symbols of one bound, and a set of them has no order of its own."""
    given = [{**os.environ, "PYTHONHASHSEED": seed} for seed in "12"]
    one, two = (subprocess.check_output([sys.executable, "-c", SEEDED], env=env) for env in given)
    assert one == two and b"D = diameter" in one
    assert alphabetical({"D", "d", "a"}) == alphabetical({"d", "a", "D"}) == ["a", "d", "D"]


WRITTEN = {
    row["bound"]: (float(row["printed"]), float(row["accounted"]))
    for row in csv.DictReader(Path(__file__).with_name("bound_values.csv").read_text("utf-8").splitlines())
}
N, D, EPSILON, DELTA = 1000, 12, 0.7, 1e-6
SCHEDULE = {
    # of all papers: steps, epochs and what else a formula reads
    **{"steps": 90, "epochs": 6, "norm_smoothness": 1.3, "theta": 0.9, "sweeps": 30},
    **{"k": 2.0, "learner": "ogd_adagrad", "rho": 0.6, "A": 11.0, "A_noise": 27.0, "Phi": 5.5},
    **{"n": N, "lipschitz": 1.4, "smoothness": 0.0, "diameter": 1.6, "sensitivity": "eq6", "radius": "D", "p": 2.0},
}
SCALES = {name: 0.3 for name in ("inner", "gradient", "draw", "node")}
EXTRAS = {"regret": 40.0, "regularised_regret": 35.0, "theorem10": 3.5, "theorem1": 2.5, "lemma7": 1.5}
EXTRAS |= {"learner_bound": 4.5, "minimiser_divergence": 0.02}
CONSTANTS = Constants(
    1.4, 0.6, diameter=1.6, domain="l2_ball", norm=2.0, strong_convexity=0.2, regularisation=0.05, initial_gap=0.5,
    initial_distance=0.7, gauge_convexity=0.3, gradient_deviation=0.9, loss_range=2.1,
)  # fmt: skip
LEARNERS = {"thm6": "optimistic_omd", "thm8": "osd"}


def context(name: str) -> BoundContext:
    """The point of a bound: one for all, but for the exponent, the set and the learner that its theorem asks for."""
    paper, _, formula = name.partition(".")
    exponent, domain = 2.0, "l2_ball"
    if paper.startswith("bassily2021"):
        exponent = 4.0 if "prop13" in formula else 1.5
        domain = f"lp_ball:{exponent:g}"
    if paper.startswith("gopi2022"):
        exponent = {"cor3": 1.0, "cor4": 4.0}.get(formula[:4], 1.5)
        domain = f"schatten_ball:{exponent}:3" if "cor3" in formula or "cor4" in formula else f"lp_ball:{exponent}"
    if "p_below_2" in formula:
        exponent = 1.5
    constants = replace(CONSTANTS, norm=exponent, domain=domain)
    rule = "strongly_convex" if "thm5" in formula or "thm6" in formula else "erm"
    learner = next((learner for part, learner in LEARNERS.items() if part in formula), "ogd_adagrad")
    law = Temperature(rule, N, D, 1.4, 2.1, 0.9, 0.2).entries if paper.startswith("gopi2022") else {}
    schedule = {**SCHEDULE, **law, "learner": learner}
    return BoundContext(N, D, EPSILON, DELTA, constants, "paper", schedule, SCALES, 0.45, EXTRAS)


def test_every_bound_is_written_out_here_or_in_the_vectors_of_its_paper():
    assert sorted({*WRITTEN} | {case.values[0] for case in bounds() if case.values[1] == "values"}) == sorted(SHIPPED)


@pytest.mark.parametrize("paper", sorted({name.partition(".")[0] for name in SHIPPED}))
def test_a_bound_is_the_number_that_is_written_out(paper):
    for name, values in WRITTEN.items():
        if name.startswith(f"{paper}."):
            found = [get_bound(name).value(replace(context(name), calibration=c)) for c in ("paper", "accounted")]
            assert found == pytest.approx(values, rel=1e-9), name
            assert all(map(math.isfinite, values)) and min(values) >= 0
