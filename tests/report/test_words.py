import math

import pytest

from dpsco_bench.algorithms.registry import list_algorithms
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.catalogue import read_claims
from dpsco_bench.claims.kinds import OUTCOMES, all_kinds
from dpsco_bench.leaderboard.board import contestants
from dpsco_bench.privacy.ledger import SEVERITY, STATUS_CLAUSES, STATUS_WORDS
from dpsco_bench.report import numbers
from dpsco_bench.report.verdicts import place, statement
from dpsco_bench.report.wording import QUALIFIED, SYMBOLS, TONES, find_citation, method_name, symbols, tone


def cases(table):
    """Values, each with what is shown of it."""
    return [(list(map(float, values.split())), shown) for values, shown in (case.split(": ") for case in table)]


NUMBERS = "0: 0", "0.99999: 1.00", "43.97: 44.0", "2.404: 2.40", "14646: 14,646", "324000: 3.24×10⁵", "1e-5: 10⁻⁵"
NUMBERS += "1e-3: 10⁻³", "-2.5e-7: −2.50×10⁻⁷", "9.9999e4: 1.00×10⁵", "inf: ∞", "-inf: −∞", "nan: —"


@pytest.mark.parametrize(("value", "shown"), [*cases(NUMBERS), ([None], "—"), ([True], "—")])
def test_numbers(value, shown):
    assert numbers.number(*value) == shown


def test_slopes_and_intervals():
    assert numbers.slope(-1.996) == "−2.00" and numbers.slope(-0.001) == "0.00" and numbers.slope(None) == "—"
    assert numbers.with_interval(-1.9, (-2.0, -1.8)) == "−1.90 [−2.00, −1.80]"
    assert numbers.with_interval(-1.9, (None, None)) == "−1.90" and numbers.interval((math.nan, 1)) == ""
    assert numbers.interval((-math.inf, math.inf)) == "[−∞, ∞]"
    assert numbers.exponent(-0.5) == "−0.5" and numbers.exponent(2.0) == "2" and numbers.exponent(None) == "—"


ERRORS = "3.21e-4 1.2e-5: (3.21 ± 0.12)×10⁻⁴", "12.34 0.5: 12.34 ± 0.50", "0.5 0: 0.500", "1e-7 1e-19: 10⁻⁷"
ERRORS += "2e-6 9e-6: (2.0 ± 9.0)×10⁻⁶", "nan 1: —", "inf 1: ∞"


@pytest.mark.parametrize(("both", "shown"), cases(ERRORS))
def test_means_with_errors(both, shown):
    assert numbers.with_error(*both) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("d G^2 T l / (2 mu n^2 eps^2)", "d G² T l / (2 μ n² ε²)"),
        ("epsilon and steps, delta = 1e-5", "ε and steps, δ = 10⁻⁵"),
        ("n^1.5, n^-2, 2^(2/3), m/n^2.", "n^1.5, n⁻², 2^(2/3), m/n²."),
        ("c_1 G_12^2, x_(i-1), kappa_q, run_2", "c₁ G₁₂², x_(i-1), κ_q, run_2"),
        ("sqrt(d) <= 3.27e+04 - mu_1", "√(d) ≤ 3.27×10⁴ − μ₁"),
        ("eta = ln n/(2 sqrt n), sqrt n batches of sqrt(n)/2, 1/sqrt 2", "η = ln n/(2 √n), √n batches of √(n)/2, 1/√2"),
        ("alpha beta tau theta Theta Phi^-1, beta_1, kappa_q", "α β τ θ Θ Φ⁻¹, β₁, κ_q"),
        ("alphabet, delta_in, tau_mix, Phineas, betas", "alphabet, δ_in, τ_mix, Phineas, betas"),
    ],
)
def test_symbols(text, shown):
    assert symbols(text) == shown


def test_every_word_has_a_meaning_and_a_phrase_and_every_status_its_own():
    names = dict.fromkeys(("what", "counted", "moves", "follows", "better", "worse"), "word")
    for kind in all_kinds():
        for said, word in kind.words.items():
            told = word.phrase.format_map(names)
            assert word.meaning and told and "{" not in told and not told.endswith("."), f"{kind.name}: {said}"
    assert {*TONES.values(), QUALIFIED} == set(SYMBOLS) and set(TONES) == set(OUTCOMES)
    assert set(STATUS_WORDS) == set(SEVERITY) == {*STATUS_CLAUSES, "none"}


def test_a_reservation_is_seen_on_what_confirms():
    assert tone(Verdict("holds", "explicit")) == "good"
    for verdict, looks in (("holds", QUALIFIED), ("violated", "bad"), ("inconclusive", "plain")):
        assert tone(Verdict(verdict, "explicit", reservations=("not private: nothing proves it",))) == looks


SPANS = "100 100.1: 100.1", "100 101: 100 … 101", "1 1.15: 1 … 1.15", "2: 2", ": —"


@pytest.mark.parametrize(("values", "shown"), cases(SPANS))
def test_a_span_is_one_number_only_where_its_ends_are_within_two_thousandths(values, shown):
    assert numbers.span(values, numbers.plain) == shown


def test_every_method_has_a_name_of_its_own():
    ids = {*list_algorithms(), *(f"{one.algorithm.partition('.')[0]}.{one.name}" for one in contestants())}
    known = {id: (find_citation(id.partition(".")[0]).methods or {}).get(id.partition(".")[2]) for id in ids}
    assert all(known.values()) and len({*known.values()}) == len(known)
    assert all(method_name(id) == name for id, name in known.items())


def test_a_title_tells_the_place_of_a_statement_once():
    for claim in read_claims():
        head, _, rest = statement(claim).partition(": ")
        assert not rest or head not in rest, claim.id
        assert place(claim).split(",")[0] in statement(claim) or claim.title == statement(claim)
