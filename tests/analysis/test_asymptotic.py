"""At which size a rate that these sizes do not show would show, said beside the word."""

import re

import numpy as np
import pytest

from dpsco_bench.analysis.rates import Regime

from .test_rates import N, judged

FEW, SMALL = np.array([256.0, 1024.0, 4096.0]), np.array([1.0, 2.0, 4.0, 8.0])
ENDING = np.array([0.9, 0.8, 0.7, 0.45, 0.25])
SAID = [
    # Risk 0.8 of the start at n = 4096, and 1/n by the formula: half of it at 6554; a risk that grows shows at less.
    (0.8 * (4096 / N) ** 0.7, {}, "it takes n from 6,600 to 26,000"),
    (0.8 * N / 256, {"named": N, "swept": "d"}, "it takes d from 40 to 160"),
    # The start falls faster than the formula, or the share does not depend on the size.
    (np.full(5, 0.95) * N**-1.5, {"starts": N**-1.5}, "no n beyond 4,096 would show it"),
    (0.8 * N**0.01, {"named": N**0.01, "starts": np.full(5, 1.2)}, "the share does not depend on it"),
    (0.8 * N**-0.03, {"named": N**-0.03, "starts": np.full(5, N[-1] ** -0.03)}, "no n within a factor 1,000"),
    # No count below one is named.
    (0.8 * SMALL, {"values": SMALL, "named": SMALL, "swept": "d"}, "no d within a factor 1,000 would show it"),
    (np.full(4, 0.95), {"values": SMALL, "named": SMALL, "swept": "d"}, "no d is smaller"),
    (0.8 * SMALL, {"values": SMALL, "named": SMALL, "swept": "epsilon"}, "it takes epsilon from 0.16 to 0.62"),
    # Sizes that were run tell where the rate begins and ends.
    (ENDING, {}, "2 of 5 sizes can be fitted, 3 are needed; it takes n from 2,048 to 8,192"),
    (ENDING[::-1], {"named": N, "swept": "d"}, "it takes d from 128 to 512"),
    (
        ENDING,
        {"full": np.array([1, 1, 1, 1, 3]) / N},
        "no n would show it: up to 1,024 the runs hardly leave the start",
    ),
    # A cap on the steps: at the largest of three sizes the runs hardly leave the start, and at larger ones too.
    ([0.38, 0.4, 0.72], {"values": FEW}, "no n from 4,096 on would show it: the runs hardly leave the start"),
    ([0.38, 0.7, 0.72], {"values": FEW}, "no n from 1,024 on would show it"),
    ([0.38, 0.4, 0.72], {"values": FEW, "named": FEW, "swept": "d"}, "it takes 1 more from 256 to 1,024"),
    ([0.38, 0.4], {"values": FEW[:2]}, "2 of 2 sizes can be fitted, 3 are needed; it takes 1 more from 256 to 1,024"),
    (
        [0.9, 0.4, 0.3],
        {"values": [1, 16, 256], "full": np.array([1, 1, 3.0]) / 256},
        "it takes 2 more between 1 and 256",
    ),
    ([0.4, 0.8, 0.9], {"values": [1, 2, 4], "named": [1, 2, 4], "swept": "d"}, "no d is small enough"),
]


@pytest.mark.parametrize(("risks", "given", "said"), SAID)
def test_not_observable_names_the_sizes_at_which_the_rate_would_show(risks, given, said):
    """Risks are shares of a start of 1, unless another is given."""
    given = {"starts": np.ones(len(risks)), **given}
    found = judged(np.array(risks), more={"parameter": given.pop("swept", "n")}, **given)
    assert found.verdict == "not_observable" and said in found.reason


@pytest.mark.parametrize("shares", [[0.98, 0.97, 0.96, 0.95, 0.94], [0.8] * 5, [0.9, 0.95, 0.93, 0.96, 0.94]])
def test_shares_near_their_cap_give_the_least_distance_only(shares):
    up, down = 4096 * shares[-1] / 0.5, 256 * 0.5 / shares[-1]
    reason = judged(np.array(shares), starts=np.ones(5)).reason
    assert f"it takes n beyond {float(f'{up:.2g}'):,.0f} at the least" in reason
    reason = judged(np.array(shares[::-1]), named=N, starts=np.ones(5), more={"parameter": "d"}).reason
    assert f"it takes d below {float(f'{down:.2g}'):,.0f} at the least" in reason


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


def test_the_size_at_which_a_hidden_term_would_dominate():
    """1/n beside 8192/n^2: equal at 8192."""
    verdict = judged(1 / N + 8192 / N**2, full=1 / N + 8192 / N**2)
    assert verdict.verdict == "not_observable" and "it takes n from 8,200 to 33,000" in verdict.reason
