"""The privacy of noise is said by one function, and bounds with few digits are still bounds."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_bench.analysis.noise import NOT_CHARGED, Noise, noise_behind
from dpsco_bench.analysis.rounding import digits_beside, outward


def cell(status, epsilon=np.nan, kind="exact", law=np.nan, claimed=1.0, attained=True, n=4, of="", constants="global"):
    said = {"privacy_status": status, "epsilon_real": epsilon, "epsilon_real_kind": kind, "epsilon_law": law}
    said |= {"attained": attained, "epsilon_of": of, "constants": SimpleNamespace(status=constants)}
    for name in ("epsilon_output", "epsilon_sequence"):
        said |= {name: epsilon if name.endswith(of or "-") else np.nan, f"{name}_kind": kind * name.endswith(of or "-")}
    calibrated = SimpleNamespace(**said, accountant="PLD", dimension=10)
    return calibrated, SimpleNamespace(epsilon=claimed, n=n, delta=1e-5)


NOTHING_PROVES = "not shown private: nothing proves the claimed eps"
ELSEWHERE = ", for some records that the theorem admits"
SEQUENCE = "not shown to be private, as its query sequence exceeds the claim"
NOMINAL = f"{NOTHING_PROVES} (the constants are nominal)"
LAW_ONLY = f"{NOTHING_PROVES} (target law only)"
OF_SEQUENCE = "claimed 1, of the query sequence"
IF_HELD = "not shown to be private, as the constants are nominal (if they held, eps"


@pytest.mark.parametrize(
    ("cells", "reservation", "shortfall"),
    [
        ([cell("proven", 1.0)], "", ""),
        ([cell("none")], "", ""),
        (
            [cell("proven", 1.0), cell("exceeds_claim", 17342.0)],
            "not private: the real eps is 17,300",
            "not private (eps = 17,300, claimed 1)",
        ),
        (
            [cell("exceeds_claim", 173.4, "lower", attained=False)],
            f"not private: the real eps is at least 173{ELSEWHERE}",
            f"not private{ELSEWHERE} (eps >= 173, claimed 1)",
        ),
        (  # a sequence above the claim leaves the output open
            [cell("unproven", 173.4, "lower", attained=False, of="sequence")],
            f"{NOTHING_PROVES} (its query sequence has at least 173{ELSEWHERE}; the output is open)",
            f"{SEQUENCE}{ELSEWHERE} (eps >= 173, claimed 1)",
        ),
        ([cell("unproven", 3.0, of="sequence", constants="nominal")], NOMINAL, f"{IF_HELD} = 3, {OF_SEQUENCE})"),
        (
            [cell("unproven", 2.4, "upper", of="sequence")],
            f"{NOTHING_PROVES} (it is at most 2.4, 1 is claimed)",
            f"not shown to be private (eps <= 2.4, {OF_SEQUENCE})",
        ),
        ([cell("unproven", 1.0, "upper")], NOMINAL, f"{IF_HELD} <= 1, claimed 1)"),
        ([cell("unproven", 3450.0, "lower")], NOMINAL, f"{IF_HELD} >= 3,450, claimed 1)"),
        ([cell("exceeds_claim")], "not private: the real eps is above the claim", "not private"),
        ([cell("unproven")], f"{NOTHING_PROVES} (not shown)", "not shown to be private"),
        (
            [cell("unproven", 0.5, "lower")],
            f"{NOTHING_PROVES} (not shown)",
            "not shown to be private (eps >= 0.5, claimed 1)",
        ),
        ([cell("target_law_only", law=0.5)], LAW_ONLY, "proven of the target law only (eps <= 0.5, claimed 1)"),
        (
            [cell("target_law_only", law=19.1, claimed=8.0)],
            f"{NOTHING_PROVES} (of the target law it is at most 19.1, 8 is claimed)",
            "not shown to be private, nor is its target law (eps <= 19.1, claimed 8)",
        ),
        (
            [cell("target_law_only", law=8.0, claimed=8.0)],
            LAW_ONLY,
            "proven of the target law only (eps <= 8, claimed 8)",
        ),
    ],
)
def test_what_is_said_of_the_worst_cell(cells, reservation, shortfall):
    noise = noise_behind(cells)
    assert noise.reservations == (reservation,) * bool(reservation) and noise.shortfall == shortfall


def test_the_worst_cell_has_the_worst_status_and_then_the_largest_ratio():
    cells = [cell("unproven", 9.0), cell("exceeds_claim", 4.0, claimed=2.0), cell("exceeds_claim", 3.0)]
    assert noise_behind(cells) == Noise("exceeds_claim", 3.0, "exact", 1.0, place="n = 4, d = 10")
    known = noise_behind([cell("target_law_only"), cell("target_law_only", law=0.5)])
    assert known.epsilon_law == 0.5, "one without a number is the least of its status"
    for status in ("unproven", "proven"):
        assert noise_behind([cell(status, 1.63, "upper", constants="nominal")]).declared is (status == "unproven")
    free, place = cell("proven")
    free.accountant = NOT_CHARGED
    assert noise_behind([(free, place)]) is None


def test_an_epsilon_is_said_with_its_records_and_its_point_and_exceeds_no_claim_by_rounding_alone():
    named = Noise("exceeds_claim", 888_000.0, "lower", 1.0, attained=False, pair="two opposed records")
    assert named.shortfall == f"not private{ELSEWHERE} (eps >= 888,000, claimed 1, by two opposed records)"
    one = noise_behind([cell("unproven", 2.0, "upper", n=16384), cell("unproven", 8.5, "upper", n=4096, claimed=8.0)])
    assert one.measured == "eps <= 2, claimed 1, at n = 16,384, d = 10"
    assert one.shortfall == "not shown to be private (eps <= 2, claimed 1)"  # beside its own cells
    (found, above) = (noise_behind([cell("proven", value, "upper")]).epsilon_real for value in (1 + 2e-16, 1 + 1e-6))
    assert found == 1.0 and above > 1.0


@pytest.mark.parametrize(
    ("of", "sequence", "whose"),
    [
        ("output", 2.0, ", of the output"),
        ("output", None, ""),
        ("sequence", 2.0, ", of the query sequence"),
        ("", None, ""),
    ],
)
def test_it_is_said_which_of_two_releases_an_epsilon_is_of(of, sequence, whose):
    noise = Noise("exceeds_claim", 3.0, "exact", 1.0, epsilon_of=of, epsilon_sequence=sequence)
    assert noise.shortfall == f"not private (eps = 3, claimed 1{whose})"


POSITIVE = st.floats(1e-12, 1e12)


@given(POSITIVE, st.integers(1, 6))
def test_a_lower_bound_goes_down_an_upper_one_up_by_less_than_a_unit(value, digits):
    low, high = (outward(value, kind, digits) for kind in ("lower", "upper"))
    assert low <= value * (1 + 4e-9) and high >= value * (1 - 4e-9)
    assert high - low <= 1.01 * 10.0 ** (math.floor(math.log10(value)) + 1 - digits)
    assert all(math.isclose(float(f"{found:.{digits}g}"), found, rel_tol=1e-9) for found in (low, high))


def test_written_out():
    assert outward(887_900.0, "lower") == pytest.approx(887_000.0, rel=1e-12)
    assert outward(827.6, "lower") == pytest.approx(827.0, rel=1e-12)
    assert outward(8.4601, "upper") == pytest.approx(8.47, rel=1e-12)
    assert outward(1.0 + 1e-9, "upper") == pytest.approx(1.0, rel=1e-12)  # noise that is calibrated to a claim of 1
    assert outward(1.0 - 1e-9, "lower") == pytest.approx(1.0, rel=1e-12)
    assert outward(887_900.0, "exact") == 887_900.0
    assert outward(0.0, "lower") == 0.0 and outward(math.inf, "upper") == math.inf


@pytest.mark.parametrize(
    ("value", "kind", "claimed", "digits"),
    [(0.79, "upper", 1, 3), (203.1799, "upper", 203.18, 4), (0.0291, "upper", 0.0735094, 3), (1.0004, "lower", 1, 5)],
)
def test_rounded_bounds_compare_with_their_claim_as_exact_ones_do(value, kind, claimed, digits):
    assert digits_beside(value, kind, claimed) == digits
    shown = outward(value, kind, digits)
    assert (shown <= float(f"{claimed:.{digits}g}") * (1 + 1e-9)) == (value <= claimed)


def test_a_large_delta_in_one_cell_is_one_of_the_sweep():
    for sizes in ((10_000, 50_000), (50_000, 100_000), (100_000, 1_000_000)):  # delta = 1e-5
        assert noise_behind([cell("proven", 1.0, n=n) for n in sizes]).delta_large == (max(sizes) >= 100_000)
