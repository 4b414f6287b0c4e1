"""The word of a rate on sweeps whose answer is known, and the size at which it would show where it does not."""

import re

import numpy as np
import pytest

from dpsco_bench.analysis.rates import Regime
from dpsco_bench.analysis.sharing import Replicates
from dpsco_bench.analysis.slopes import RateFit
from dpsco_bench.kinds.rate import SweepRisks, equivalence

N = 2.0 ** np.arange(8, 13)
NAMES = ("test.claim", "part", "paper")


def noisy(mean, spread=0.02, replicates=16, seed=0):
    noise = np.random.default_rng(seed).standard_normal((len(mean), replicates))
    noise -= noise.mean(axis=1, keepdims=True)
    return list(np.asarray(mean)[:, None] * (1 + spread * noise))


REGIME = ("full", "starts", "limits")


def judged(mean, tolerance=0.15, values=N, spread=0.02, axis=None, off=(), named=None, parameter="n", **more):
    values = np.asarray(values, dtype=float)
    own = {name: more.pop(name) for name in REGIME if name in more}
    regime = Regime.of(values, mean, 1 / values if named is None else named, **own)
    axis, silent = values if axis is None else axis, [[m] for m in off]
    return sweep(axis, noisy(mean, spread), regime, tolerance, silent, parameter=parameter, **more)


def sweep(axis, risks, regime, tolerance, off=(), **more):
    silent = Replicates.of(off) if len(off) else None
    return SweepRisks(axis, Replicates.of(risks), regime, tolerance, NAMES, noise_off=silent, **more).verdict()


@pytest.mark.parametrize("better", ["smaller", "larger"])
@pytest.mark.parametrize(
    ("exponent", "slope", "word"),
    [
        *((-1, -1.0, "match"), (-1, -1.1, "match"), (-1, -1.5, "faster"), (-1, -2.0, "faster"), (-1, -0.5, "fails")),
        *((-1, 0.5, "fails"), (0.5, 1.0, "fails"), (1, 0.2, "faster"), (1, 0.5, "faster"), (1, 2.0, "fails")),
    ],
)
def test_words_of_clean_power_laws(exponent, slope, word, better):
    """Whatever the exponent, a smaller slope is better; where a larger one is, two words change places."""
    verdict = judged(N**slope, named=N**exponent, better=better)
    turned = {"faster": "fails", "fails": "faster"} if better == "larger" else {}
    assert verdict.verdict == turned.get(word, word) and verdict.fitted == (True,) * 5
    assert verdict.slope == pytest.approx(slope, abs=0.02) and verdict.bound_slope == pytest.approx(exponent)
    np.testing.assert_allclose(verdict.local_slopes, slope, atol=1e-9)


def fit(slope, low, high):
    return RateFit(slope, low, high, values=tuple(N), mean=tuple(1 / N), stderr=(0.01,) * 5, weights=(0.2,) * 5)


@pytest.mark.parametrize(
    ("slope", "low", "high", "word"),
    [
        (-1.0, -1.1, -0.9, "match"),
        (-1.0, -1.15, -0.85, "match"),  # up to the tolerance itself
        (-1.0, -1.16, -0.9, "inconclusive"),  # a point estimate inside, an interval across
        (-1.1499, -1.29, -1.01, "inconclusive"),
        (-1.2, -1.25, -1.1, "inconclusive"),
        (-0.8, -0.9, -0.75, "inconclusive"),
        (-1.5, -1.6, -1.4, "faster"),
        (-1.5, -1.9, -1.16, "faster"),  # however wide
        (-1.5, -1.9, -1.15, "inconclusive"),  # not wholly beyond
        (-0.5, -0.6, -0.4, "fails"),
        (0.5, -0.84, 1.9, "fails"),
        (-1.0, -1.6, -1.4, "faster"),  # not even its own slope counts
    ],
)
def test_the_interval_decides(slope, low, high, word):
    found, reason = equivalence(fit(slope, low, high), -1.0, 0.15)
    assert found == word and "against -1" in reason
    turned, _ = equivalence(fit(slope, low, high), -1.0, 0.15, better="larger")
    assert turned == {"faster": "fails", "fails": "faster"}.get(word, word)


def test_an_undecided_rate_names_what_it_would_take():
    def told(slope, half):
        word, reason = equivalence(fit(slope, slope - half, slope + half), -1.0, 0.15)
        assert word == "inconclusive"
        return reason

    assert "about 4 times the replicates" in told(-1.0, 0.3), "0.3 has to become 0.15"
    assert "about 4 times" in told(-1.05, 0.2), "0.1 is left on the near side"
    assert "about 4 times" in told(-1.3, 0.3), "0.15 beyond the tolerance"
    assert "too near the limit" in told(-1.1499, 0.1)


def test_the_axis_is_what_the_exponent_is_about():
    """Risk (ln K)^1.24 over K: on an axis of ln K it fails against ln K, on one of K a tolerance would swallow it."""
    k = 2.0 ** np.arange(4, 11)
    mean = np.log(k) ** 1.24
    over_k = judged(mean, 0.08, values=k, named=np.log(k))
    assert over_k.verdict == "match" and over_k.slope == pytest.approx(0.286, abs=0.02)
    over_log = judged(mean, 0.08, values=k, axis=np.log(k), named=np.log(k), parameter="K")
    assert over_log.verdict == "fails" and over_log.slope == pytest.approx(1.24, abs=0.02)
    assert over_log.values == pytest.approx(np.log(k)) and over_log.bound_slope == pytest.approx(1)
    few = np.array([16.0, 64.0, 256.0])  # a factor of 16 in K, and of 2 in ln K
    assert judged(np.log(few), values=few, axis=np.log(few), named=np.log(few)).verdict == "match"


@pytest.mark.parametrize(("hollow", "word"), [(0, "match"), (2, "match"), (3, "not_observable"), (5, "not_observable")])
def test_saturated_cells_are_hollow_and_fewer_than_three_show_nothing(hollow, word):
    mean = N**-1.0
    start = np.where(np.arange(5) < hollow, mean / 0.6, 10 * mean)
    verdict = judged(mean, starts=start)
    assert verdict.verdict == word and len(verdict.mean) == 5
    assert verdict.fitted == tuple(i >= hollow for i in range(5))


def test_hollow_cells_and_those_with_a_term_below_half_of_the_bound_are_not_fitted():
    mean = np.where(N < 1000, 1.0, 1000 / N)
    verdict = judged(mean, starts=np.full(5, 1.99))
    assert verdict.fitted == (False, False, True, True, True)
    assert verdict.slope == pytest.approx(-1, abs=0.02) and verdict.verdict == "match"
    verdict = judged(1 / N, full=np.array([3, 3, 1.5, 1.5, 1.5]) / N)
    assert verdict.fitted == (False, False, True, True, True) and verdict.verdict == "match"
    verdict = judged(1 / N, full=3 / N)
    assert verdict.verdict == "not_observable" and "claimed term is 0.33 of the bound" in verdict.reason


def test_how_many_sizes_over_which_factor():
    def word(profile, *values):
        return judged(1 / np.array(values), values=values, profile=profile).verdict

    assert word("ci", 1, 2, 4) == word("smoke", 1, 2, 4) == "match"
    assert word("ci", 3 * 0.1, 0.6, 1.2) == "match", "a factor of 4, but for rounding"
    assert word("ci", 1, 2, 3.9) == word("full", 1, 2, 4) == word("full", 1, 2, 4, 7.9) == "not_observable"
    assert word("full", 1, 2, 4, 8) == "match"


def test_the_order_of_the_steps_and_an_edge_among_the_fitted_cells():
    told = judged(1 / N, next_signals=(np.nan, np.nan, 8, np.nan, 32))
    assert told.verdict == "inconclusive (edge)" and told.word == "inconclusive"
    assert told.reason.endswith("n = 1024, 4096; it takes a next signal, 8, 32")
    hollow = judged(1 / N, next_signals=(8, *[np.nan] * 4), starts=np.array([1.5, 10, 10, 10, 10]) / N)
    assert hollow.verdict == "match"
    edges = (8,) * 5
    assert judged(BENT, next_signals=edges, starts=BENT).verdict == "not_observable"
    assert judged(BENT, next_signals=edges).verdict == "inconclusive (edge)"
    assert judged(BENT, next_signals=edges, frozen=(True,) * 5).verdict == "not_observable (frozen)"


BENT = np.where(N < 1000, 1.0, (1000 / N) ** 2)


def test_a_bend_is_none_that_the_formula_has_or_below_fifteen_percent_or_within_the_noise():
    verdict = judged(BENT)
    assert verdict.verdict == "inconclusive (bent)"
    assert "local slopes 0.00, -0.07, -2.00, -2.00" in verdict.reason
    assert judged(BENT, named=BENT).verdict == "match"
    bend = np.array([1, 1.1, 1, 1.1, 1])
    assert judged(bend / N, spread=0.001).verdict == "match"
    assert judged(np.array([1, 1.4, 1, 1.4, 1]) / N, spread=1.0).verdict == "inconclusive"


def test_a_bent_sweep_names_the_sizes_that_are_to_be_added_or_left_out():
    neither, end, start = (judged(BENT, named=N**slope).reason for slope in (-1.0, -2.0, 0.0))
    assert "at neither end" in neither
    assert "from n = 1,024 on they agree with the formula; it takes sizes beyond 4,096" in end
    assert "up to n = 1,024 they agree with the formula; it takes sizes beyond n = 4,096" in start


def test_means_without_logarithm_and_single_replicates_show_nothing():
    risks, regime = [[1.0, 1.1], [-0.5, 0.5], [0.2, 0.3], [0.1, 0.1], [0.1, 0.1]], Regime.of(N, 1 / N, 1 / N)
    verdict = sweep(N, risks, regime, 0.15, parameter="n")
    assert verdict.verdict == "not_observable" and verdict.reason.endswith("n = 512")
    assert verdict.to_json()["slope"] is None
    single = sweep(N, [[1 / n] for n in N], regime, 0.15)
    assert single.verdict == "inconclusive" and "single random replicate" in single.reason
    assert single.reason.endswith("it takes at least 2")


def test_what_other_terms_make_of_a_slope_is_told_beside_its_word():
    """The claimed term 1/n is 0.55 to 0.95 of a bound whose other term falls more slowly, or faster, or alike."""
    for beside, word in ((N**-0.5 / N[-1] ** 0.5, "fails"), (N**-2.0 * N[0], "faster")):
        full = 1 / N + 0.8 * beside
        told = judged(full, 0.08, full=full, others="the rest")
        assert told.verdict == word and told.bound_slope == pytest.approx(-1)
        share = 0.8 * beside / full
        ends = f"{share.min():.2g} to {share.max():.2g}"
        assert told.reason.endswith(f"; the rest is {ends} of the bound, which has slope {told.slope:.3g}")
        for silent in ({}, {"others": "the rest"}):  # another slope than the rest explains, or nothing beside the term
            other = N**-0.5 if word == "faster" else N**-1.5
            assert "the rest" not in judged(other, 0.08, full=full, **silent).reason
            assert "the rest" not in judged(N**-0.5, 0.08, **silent).reason
    assert "the rest" not in judged(1 / N, full=1.5 / N, others="the rest").reason


@pytest.mark.parametrize(("share", "reserved"), [(0.01, ()), (0.4, ()), (0.6, ("schedule",)), (1.0, ("schedule",))])
@pytest.mark.parametrize("slope", [-1.0, -0.5])
def test_the_schedule_is_told_by_the_size_of_what_is_there_without_noise(share, reserved, slope):
    verdict = judged(N**slope, off=share * N**slope)
    assert verdict.reserved == reserved and verdict.word == ("match" if slope == -1 else "fails")  # beside every word
    assert (verdict.noise_off_share, verdict.noise_off_slope) == pytest.approx((share, slope))


def test_the_share_is_a_geometric_mean_over_the_fitted_cells():
    off = np.array([100.0, 100.0, 0.25, 1.0, 0.5]) / N
    starts = np.array([1.5, 1.5, 10, 10, 10]) / N
    assert judged(1 / N, off=off, starts=starts).noise_off_share == pytest.approx(0.5)
    still = sweep(N, [[n] for n in N], Regime.of(N, N, N, starts=N), 0.15, off=[[n] for n in N])
    assert np.isnan(still.noise_off_share)


@pytest.mark.parametrize(
    ("ratio", "grows"),
    [
        (lambda n: n**0.5, True),  # unbounded, and as fast at the end
        (lambda n: 1.0 - 0.9 * np.exp(-n / 300.0), False),  # bounded: flat at the end
        (lambda n: 1.0 + 0.3 * (n < 200) + 8.0 * (n > 2000), False),  # one jump, and no growth before it
    ],
)
def test_the_ratio_to_the_bound_grows_over_the_whole_window_or_not(ratio, grows):
    grid = np.array([128.0, 256.0, 512.0, 1024.0, 2048.0])
    risks = [np.full(8, r / n) for n, r in zip(grid, ratio(grid), strict=True)]
    found = sweep(grid, risks, Regime.of(grid, 1 / grid, 1 / grid), 0.1, parameter="n")
    assert found.grows is grows and found.ratio_ends[1] == pytest.approx(ratio(grid)[-1])


FEW, SMALL = np.array([256.0, 1024.0, 4096.0]), np.array([1.0, 2.0, 4.0, 8.0])
ENDING = np.array([0.9, 0.8, 0.7, 0.45, 0.25])
SAID = [
    # Risk 0.8 of the start at n = 4096, and 1/n by the formula: half of it at 6554; a risk that grows shows at less.
    (0.8 * (4096 / N) ** 0.7, {}, "it takes n from 6,600 to 26,000"),
    (0.8 * N / 256, {"named": N, "parameter": "d"}, "it takes d from 40 to 160"),
    # The start falls faster than the formula, or the share does not depend on the size.
    (np.full(5, 0.95) * N**-1.5, {"starts": N**-1.5}, "no n beyond 4,096 would show it"),
    (0.8 * N**0.01, {"named": N**0.01, "starts": np.full(5, 1.2)}, "the share does not depend on it"),
    (0.8 * N**-0.03, {"named": N**-0.03, "starts": np.full(5, N[-1] ** -0.03)}, "no n within a factor 1,000"),
    # No count below one is named.
    (0.8 * SMALL, {"values": SMALL, "named": SMALL, "parameter": "d"}, "no d within a factor 1,000 would show it"),
    (np.full(4, 0.95), {"values": SMALL, "named": SMALL, "parameter": "d"}, "no d within a factor 1,000 would show it"),
    (0.8 * SMALL, {"values": SMALL, "named": SMALL, "parameter": "epsilon"}, "it takes epsilon from 0.16 to 0.62"),
    # Sizes that were run tell where the rate begins and ends.
    (ENDING, {}, "2 of 5 sizes can be fitted, 3 are needed; it takes n from 2,048 to 8,192"),
    (ENDING[::-1], {"named": N, "parameter": "d"}, "it takes d from 128 to 512"),
    (ENDING[[0, 3, 2, 1, 4]], {}, "it takes 1 more at which the runs leave the start"),
    (0.1 / N, {"full": np.array([1, 1, 3, 3, 3]) / N}, "it takes sizes at which the claimed term is half of the bound"),
    # A cap on the steps: at the largest of three sizes the runs hardly leave the start, and at larger ones too.
    ([0.38, 0.4, 0.72], {"values": FEW}, "no n from 4,096 on would show it: the runs hardly leave the start"),
    ([0.38, 0.7, 0.72], {"values": FEW}, "no n from 1,024 on would show it"),
    ([0.38, 0.4, 0.72], {"values": FEW, "named": FEW, "parameter": "d"}, "it takes 1 more from 256 to 1,024"),
    ([0.38, 0.4], {"values": FEW[:2]}, "2 of 2 sizes can be fitted, 3 are needed; it takes 1 more from 256 to 1,024"),
    ([0.9, 0.4, 0.3], {"values": [1, 2, 16]}, "it takes 1 more from 2 on"),
    ([0.38, 0.4], {"values": [3 * 0.1, 1.2], "parameter": "epsilon"}, "it takes 1 more from 0.3 to 1.2"),
    ([0.4, 0.8, 0.9], {"values": [1, 2, 4], "named": [1, 2, 4], "parameter": "d"}, "no d is small enough"),
    # Runs that do not move.
    (1 / N, {"frozen": (True,) * 5}, "at n = 256, 512, 1,024, 2,048, 4,096; no n that was run moves them"),
    (1 / N, {"frozen": (True,) * 2 + (False,) * 3}, "at n = 256, 512; at the others they do"),
]


@pytest.mark.parametrize(("risks", "given", "said"), SAID)
def test_not_observable_names_the_sizes_at_which_the_rate_would_show(risks, given, said):
    """Risks are shares of a start of 1, unless another is given."""
    found = judged(np.array(risks), **{"starts": np.ones(len(risks)), **given})
    assert found.verdict == "not_observable" + " (frozen)" * ("frozen" in given) and said in found.reason


@pytest.mark.parametrize("shares", [[0.98, 0.97, 0.96, 0.95, 0.94], [0.8] * 5, [0.9, 0.95, 0.93, 0.96, 0.94]])
def test_shares_near_their_cap_give_the_least_distance_only(shares):
    up, down = 4096 * shares[-1] / 0.5, 256 * 0.5 / shares[-1]
    reason = judged(np.array(shares), starts=np.ones(5)).reason
    assert f"it takes n beyond {float(f'{up:.2g}'):,.0f} at the least" in reason
    reason = judged(np.array(shares[::-1]), named=N, starts=np.ones(5), parameter="d").reason
    assert f"it takes d below {float(f'{down:.2g}'):,.0f} at the least" in reason


def made_up_sweeps(powers, count):
    """Sizes, some powers of two, of which some show nothing."""
    source = np.random.default_rng(11)
    for _ in range(count):
        values = np.sort(source.choice(2.0 ** np.array(powers), source.integers(2, 7), replace=False))
        formula = values ** source.choice([-1.0, -0.5, 0.0, 0.5, 1.0])
        shares = np.where(source.random(len(values)) < 0.5, source.uniform(0.5, 1.2, len(values)), 0.3)
        full = formula * np.where(source.random(len(values)) < 0.3, 3.0, 1.0)
        yield values, Regime.of(values, shares * 7.0, formula, starts=np.full(len(values), 7.0), full=full)


@pytest.mark.parametrize("swept", ["n", "d", "epsilon"])
@pytest.mark.parametrize("profile", ["ci", "full"])
def test_no_sweep_is_sent_to_sizes_that_were_run(swept, profile):
    """Whatever is left out: what is asked for reaches beyond the sizes that were run, or is more of them in between."""
    for values, regime in made_up_sweeps(range(4, 16), 400):
        told = regime.lacking(profile, swept)
        if asked := re.search(rf"it takes {swept} from (\S+) to (\S+)$", told):
            low, high = (float(text.replace(",", "")) for text in asked.groups())
            assert low < values[0] or high > values[-1], told
        if farther := re.search(rf"it takes {swept} (beyond|below) (\S+)", told):
            edge = float(farther[2].replace(",", ""))
            assert edge > 0.99 * values[-1] if farther[1] == "beyond" else edge < 1.01 * values[0], told
        named = "the claimed term is half of the bound" if regime.hidden.any() else r"no \S+ |it takes \d+ more"
        assert told == "" or asked or farther or re.search(named, told), told


@pytest.mark.parametrize("run", [[10_000.0, 20_000.0], [0.25, 1.0, 4.0], [6_500.0, 6_600.0]])
def test_a_size_that_was_not_run_is_rounded_to_none_and_past_none_that_was(run):
    regime, source = Regime.of(run, np.ones(len(run)), np.ones(len(run))), np.random.default_rng(3)
    near = [value * (1 + share) for value in run for share in (-1e-4, -1e-3, 1e-4, 1e-3)]
    for value in (*near, *source.uniform(0.5 * run[0], 2 * run[-1], 200)):
        told = float(regime._outside(value).replace(",", ""))
        assert told not in run and [told < size for size in run] == [value < size for size in run], (value, told)


def test_a_cell_on_either_limit_counts_as_asymptotic():
    """Half of the bound is no smaller share, and half of the start's risk no larger one."""
    full, means = [2.0, 2.001, 1.0, 1.0, 1.0], [0.1, 0.1, 0.5, 0.501, 0.9]
    regime = Regime.of(N, means, np.ones(5), full=full, starts=np.ones(5))
    assert regime.hidden.tolist() == [False, True, False, False, False]
    assert regime.saturated.tolist() == [False, False, False, True, True]
    assert regime.fitted.tolist() == [True, False, True, False, False]
    stronger = Regime.of(N, means, np.ones(5), starts=np.ones(5), limits=np.full(5, 0.9))  # a signal that can be
    assert stronger.saturated.tolist() == [False] * 5
