"""At which size a rate that these sizes do not show would show, said beside the word."""

import re

import numpy as np
import pytest

from dpsco_bench.analysis.rates import Regime

from .test_rates import N, judged


def test_not_observable_names_the_sizes_at_which_the_rate_would_show():
    """Risk 0.8 of the start at n = 4096, and 1/n by the formula: half of it at 6554."""
    falling = judged(0.8 * (4096 / N) ** 0.7, starts=np.ones(5))
    assert falling.verdict == "not_observable"
    assert falling.reason == (
        "at these sizes the risk is 0.8 to 5.6 of the start; by the formula it takes n from 6,600 to 26,000"
    )
    down = judged(0.8 * N / 256, named=N, starts=np.ones(5), more={"parameter": "d"})  # grows: smaller ones show
    assert down.reason.endswith("by the formula it takes d from 40 to 160")
    for shares in (np.full(5, 0.95), 0.8 * N / 256):
        falling = judged(shares * N**-1.5, starts=N**-1.5)  # the start falls faster than the formula
        assert falling.reason.endswith("by the formula no n beyond 4,096 would show it")
    for slope in (0.0, 0.01, -0.01):
        flat = judged(0.8 * N**slope, named=N**slope, starts=np.full(5, 1.2))
        assert flat.reason.endswith("no n would show it: by the formulas the share does not depend on it")
    far = judged(0.8 * N**-0.03, named=N**-0.03, starts=np.full(5, N[-1] ** -0.03))
    assert "no n within a factor 1,000" in far.reason


@pytest.mark.parametrize("shares", [[0.98, 0.97, 0.96, 0.95, 0.94], [0.8] * 5, [0.9, 0.95, 0.93, 0.96, 0.94]])
def test_shares_near_their_cap_give_the_least_distance_only(shares):
    edge = 4096 * shares[-1] / 0.5
    reason = judged(np.array(shares), starts=np.ones(5)).reason
    assert reason.endswith(f"; it takes n beyond {float(f'{edge:.2g}'):,.0f} at the least, by the formula")
    down = judged(np.array(shares[::-1]), named=N, starts=np.ones(5), more={"parameter": "d"}).reason
    edge = 256 * 0.5 / shares[-1]
    assert down.endswith(f"; it takes d below {float(f'{edge:.2g}'):,.0f} at the least, by the formula")


def test_no_count_below_one_is_named():
    values = np.array([1.0, 2.0, 4.0, 8.0])
    steep = judged(0.8 * values, values=values, named=values, starts=np.ones(4), more={"parameter": "d"})
    assert "no d within a factor 1,000 would show it" in steep.reason
    flat = judged(np.full(4, 0.95), values=values, named=values, starts=np.ones(4), more={"parameter": "d"})
    assert "no d is smaller" in flat.reason
    noise = judged(0.8 * values, values=values, named=values, starts=np.ones(4), more={"parameter": "epsilon"})
    assert noise.reason.endswith("it takes epsilon from 0.16 to 0.62")


def test_sizes_that_were_run_tell_where_the_rate_begins_and_ends():
    shares = np.array([0.9, 0.8, 0.7, 0.45, 0.25])
    assert judged(shares, starts=np.ones(5)).reason.endswith(
        "2 of 5 sizes can be fitted, 3 are needed; it takes n from 2,048 to 8,192"
    )
    down = judged(shares[::-1], named=N, starts=np.ones(5), more={"parameter": "d"})
    assert down.reason.endswith("it takes d from 128 to 512")
    between = judged(shares, starts=np.ones(5), full=np.array([1, 1, 1, 1, 3]) / N)
    assert between.reason.endswith(
        "no n would show it: up to 1,024 the runs hardly leave the start, "
        "from 4,096 on other terms of the bound are larger"
    )


def test_a_rate_that_larger_sizes_lose_is_said_to_be_lost():
    """A cap on the steps: at the largest of three sizes the runs hardly leave the start, and at larger ones too."""
    values = np.array([256.0, 1024.0, 4096.0])
    lost = judged(np.array([0.38, 0.4, 0.72]), values=values, starts=np.ones(3))
    assert lost.reason == (
        "in 1 of 3 cells the risk is 0.72 of the start; 2 of 3 sizes can be fitted, 3 are needed; "
        "no n from 4,096 on would show it: the runs hardly leave the start; it takes 1 more from 256 to 1,024"
    )
    near = judged(np.array([0.38, 0.7, 0.72]), values=values, starts=np.ones(3))
    assert near.reason.endswith("no n from 1,024 on would show it: the runs hardly leave the start")
    low = judged(np.array([0.38, 0.4, 0.72]), values=values, named=values, starts=np.ones(3), more={"parameter": "d"})
    assert low.reason.endswith("it takes 1 more from 256 to 1,024")
    wide = judged(np.array([0.38, 0.4]), values=[256.0, 1024.0])
    assert wide.reason.endswith("2 of 2 sizes can be fitted, 3 are needed; it takes 1 more from 256 to 1,024")
    apart = judged(np.array([0.9, 0.4, 0.3]), values=[1, 16, 256], starts=np.ones(3), full=np.array([1, 1, 3.0]) / 256)
    assert apart.reason.endswith("it takes 2 more between 1 and 256")
    ones = judged(
        np.array([0.4, 0.8, 0.9]), values=[1, 2, 4], named=[1, 2, 4], starts=np.ones(3), more={"parameter": "d"}
    )
    assert ones.reason.endswith("no d is small enough, and from 2 on the runs hardly leave the start")


@pytest.mark.parametrize("swept", ["n", "d", "epsilon"])
@pytest.mark.parametrize("profile", ["ci", "full"])
def test_no_sweep_is_sent_to_sizes_that_were_run(swept, profile):
    """Whatever is left out: what is asked for reaches beyond the sizes that were run, or is more of them in between."""
    source = np.random.default_rng(11)
    for _ in range(400):
        values = np.sort(source.choice(2.0 ** np.arange(4, 16), source.integers(2, 7), replace=False))
        named = values ** source.choice([-1.0, -0.5, 0.0, 0.5, 1.0])
        shares = np.where(source.random(len(values)) < 0.5, source.uniform(0.5, 1.2, len(values)), 0.3)
        full = named * np.where(source.random(len(values)) < 0.3, 3.0, 1.0)
        regime = Regime.of(values, shares * 7.0, named, starts=np.full(len(values), 7.0), full=full)
        told = regime.lacking(profile, swept)
        asked = re.search(rf"it takes {swept} from (\S+) to (\S+)$", told)
        if asked:
            low, high = (float(text.replace(",", "")) for text in asked.groups())
            assert low < values[0] or high > values[-1], told
        farther = re.search(rf"it takes {swept} (beyond|below) (\S+)", told)
        if farther:
            edge = float(farther[2].replace(",", ""))
            assert edge > 0.99 * values[-1] if farther[1] == "beyond" else edge < 1.01 * values[0], told
        assert told == "" or asked or farther or re.search(r"no \S+ |it takes \d+ more", told), told


@pytest.mark.parametrize("run", [[10_000.0, 20_000.0], [0.25, 1.0, 4.0], [6_500.0, 6_600.0]])
def test_a_size_that_was_not_run_is_rounded_to_none_and_past_none_that_was(run):
    regime, source = Regime.of(run, np.ones(len(run)), np.ones(len(run))), np.random.default_rng(3)
    near = [value * (1 + share) for value in run for share in (-1e-4, -1e-3, 1e-4, 1e-3)]
    for value in (*near, *source.uniform(0.5 * run[0], 2 * run[-1], 200)):
        told = float(regime._outside(value).replace(",", ""))
        assert told not in run and [told < size for size in run] == [value < size for size in run], (value, told)
    assert regime._outside(3.14159 * run[-1]) == f"{float(f'{3.14159 * run[-1]:.2g}'):,.10g}"


def test_the_size_at_which_a_hidden_term_would_dominate():
    """1/n beside 8192/n^2: equal at 8192."""
    verdict = judged(1 / N + 8192 / N**2, full=1 / N + 8192 / N**2)
    assert verdict.verdict == "not_observable" and "by the formula it takes n from 8,200 to 33,000" in verdict.reason
