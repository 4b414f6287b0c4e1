"""Texts of bounds: their notation, their symbols, and that none is left without a test against its function."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dpsco_bench.claims.bounds.context import BoundContext
from dpsco_bench.claims.bounds.glossary import (
    COMMON,
    GLOSSARIES,
    errata_letters,
    evaluate,
    glossary,
    glossary_of,
    symbols_in,
)
from dpsco_bench.claims.bounds.notation import read
from dpsco_bench.claims.bounds.registry import BOUNDS, bound, get_bound
from dpsco_bench.errors import BrokenPaper, InputError
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.problems.base import Constants

ENV = {"n": 100.0, "d": 8.0, "K": 5.0, "p": 1.5, "eps": 0.5, "e": math.e, "||x*||_p": 3.0, "A'": 7.0, "learner": "osd"}
PAPERS = Path(__file__).parent.parent / "papers"
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
        ("n T, T = d/4, ours", 200.0),
        ("1 for p = 1; 2 for 1 < p < 2; 3 otherwise, with words", 2.0),
        ("1 for learner = sgd; 2 for learner = oma or osd", 2.0),
        ("log2(2n)", math.log2(200)),
        ("gdp_mu(eps, 0.01)", gdp_mu(0.5, 0.01)),
    ],
)
def test_notation(text, value):
    assert read(text).value(ENV.__getitem__) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize(
    ("text", "rest"),
    [("n (d", "its end"), ("n/d K", "K"), ("n + ", "its end"), ("n ^", "its end"), ("sqrt n)", "\\)"),
     ("n $ d", "\\$ d"), ("max{n d", "its end"), ("sum_{t=1} t", "t"), ("n for", "its end")],
)  # fmt: skip
def test_what_is_not_in_the_notation_is_named(text, rest):
    with pytest.raises(InputError, match=f"must be in the notation of bounds, which it is not at '{rest}'"):
        read(text)


def test_names_are_the_free_symbols():
    assert read("n T, T = sum_{t=1}^{K} t d; accounted: A'").names == {"n", "K", "d", "A'"}


def test_no_case_that_applies():
    with pytest.raises(InputError, match="one with a case that applies"):
        read("1 for p = 1").value(ENV.__getitem__)


def test_alternatives_belong_to_calibrations():
    accounted = replace(CONTEXT, calibration="accounted")
    assert evaluate("x.y", "l", CONTEXT) == math.log(1e6)
    assert 0.5 / math.sqrt(evaluate("x.y", "l", accounted)) == pytest.approx(accounted.privacy_ratio, rel=1e-14)
    assert [evaluate("x.y", "n; accounted: d", c) for c in (CONTEXT, accounted)] == [100, 8]
    with pytest.raises(InputError, match="^symbol in the text of x.y = 'Q': must be one of its glossary"):
        evaluate("x.y", "Q n", CONTEXT)


def test_a_source_that_is_not_there():
    with pytest.raises(InputError, match="^source = 'scales.inner or scales.gradient': must be an entry of the cell"):
        evaluate("wang2017.thm4_2", "sigma", CONTEXT)


def test_symbols_are_those_of_the_text_and_of_their_definitions():
    found = symbols_in("bassily2021.thm12_crossover", get_bound("bassily2021.thm12_crossover").text)
    assert list(found) == ["d", "delta", "eps", "kappa_q", "l", "L0", "L1", "M", "n", "thm12_explicit"]
    assert symbols_in("mine.bound", "in words, <w, x>") == {}


def test_a_bound_of_ones_own_has_the_common_symbols():
    bound("mine.b", "d sqrt(l)/(eps n)")(lambda c: c.d / (c.privacy_ratio * c.n))
    assert set(symbols_in("mine.b", get_bound("mine.b").text)) == {"d", "delta", "eps", "l", "n"}


SHIPPED = [name for name in BOUNDS.names() if BOUNDS.module(name).startswith("dpsco_bench.")]
CORE = [name for name in SHIPPED if BOUNDS.module(name).startswith("dpsco_bench.claims.")]


@pytest.mark.parametrize("name", CORE)
def test_the_text_of_a_bound_of_no_paper_is_what_judges(as_written, name):
    rng = np.random.default_rng(1)
    for p in (2.0,) if "l2" in name else (1.0, 1.5, 2.0):
        for n, d in ((50, 20), (1000, 8), (30, 400)):
            L, M, mu = rng.uniform(0.2, 3.0, 3)
            constants = Constants(L, 1.0, diameter=M, domain="l2_ball", strong_convexity=mu, norm=p)
            as_written(name, BoundContext(n, d, rng.uniform(0.1, 3.0), 1e-6, constants, "accounted", {}, {}))


@pytest.mark.parametrize("name", sorted(set(SHIPPED) - set(CORE)))
def test_the_text_of_every_bound_of_a_paper_is_tested(name):
    """``test_texts.py`` of the paper goes through all bounds of its modules, and names those that are in words."""
    paper = BOUNDS.module(name).split(".")[2]
    tests = (PAPERS / paper / "test_texts.py").read_text()
    assert f'BOUNDS.module(name).startswith("dpsco_bench.papers.{paper}.")' in tests
    text = get_bound(name).text
    if f'"{name}": (' not in tests:  # of `MEASURED`
        assert read(text).names <= glossary_of(name).keys()


def test_kappa_is_the_condition_number():
    """The constant of a smooth norm is kappa_q, in whatever paper; a symbol of a glossary is used by some text."""
    for name in SHIPPED:
        assert "kappa" not in symbols_in(name, get_bound(name).text) or name.startswith("wang2017.")
    for paper in GLOSSARIES.names():
        used = {s for name in SHIPPED if name.split(".")[0].split("_")[0] == paper
                for s in symbols_in(name, get_bound(name).text)}  # fmt: skip
        assert not GLOSSARIES.get(paper).keys() - used - {"learner"}, paper
    assert set(COMMON) <= {s for name in SHIPPED for s in symbols_in(name, get_bound(name).text)}


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"text": True}, "text of bound mine.b = True: must be a text"),
        ({"text": "d", "others": 3}, "others of bound mine.b = 3: must be a text"),
        ({"text": "d", "named_term": "d"}, "named_term of bound mine.b = 'd': must be a function"),
    ],
)
def test_what_a_bound_says_is_checked_when_it_is_registered(given, named):
    with pytest.raises(InputError, match=re.escape(named)):
        bound("mine.b", **given)


def test_a_glossary_has_symbols():
    with pytest.raises(InputError, match="R of the glossary of mine2026 = 'radius': must be a Symbol with words"):
        glossary("mine2026", __name__, {"R": "radius"})
    assert GLOSSARIES.find("mine2026") is None


def test_the_words_of_a_paper_that_cannot_be_imported_are_left_out(monkeypatch):
    """It has been named; its results are shown without them."""

    def broken(name):
        raise BrokenPaper("gone2026", "ModuleNotFoundError")

    monkeypatch.setattr(GLOSSARIES, "find", broken)
    assert {"n", "d", "eps"} <= glossary_of("gone2026.b").keys()
    assert errata_letters("gone2026", []) == ""
