"""How often a rate's word is wrong: `python docs/error_rates.py` simulates it and writes docs/error_rates.md.

Sweeps are drawn from true power laws and judged by the function that judges every rate, stage by stage as they are run.
Inside the tolerance `fails` and `faster` are errors, two tolerances away `match` is one. Each side of the formula's
slope is a law of its own.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpsco_bench.analysis.looks import FIXED, Look
from dpsco_bench.analysis.rates import Regime
from dpsco_bench.analysis.sharing import Replicates
from dpsco_bench.analysis.stages import near
from dpsco_bench.execution.jobs import PILOT, STAGED_FROM, stage_ends
from dpsco_bench.kinds.rate import Rate, SweepRisks

TOLERANCE, SWEEPS = 0.15, (1000, 6000)
"""The next number of sweeps where the share of wrong words is within two standard errors of its limit."""
STAGED, EDGE = 100, 1000
"""Of sweeps that are judged at several looks, which take long; at the tolerance's edge."""
DISTANCES = (-2.0, -1.0, 0.0, 1.0, 2.0)
"""Distances of the true slope from the formula's, in tolerances; negative if the risk falls faster."""
ALLOWED = {0.0: ("fails", "faster"), 1.0: ("fails", "faster"), 2.0: ("match",)}
"""Size of the distance -> the words that are errors there."""
SHOWN = ("match", "faster", "fails", "inconclusive", "inconclusive (bent)")
LIMITS = {0.0: 0.05, 1.0: 0.05, 2.0: 0.01}
Words = tuple[Counter[str], Counter[str]]
"""Counted words of runs in stages, and of the same sweeps where all is run."""
Noise = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


def light(source: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Mean 1, standard deviation 0.35: an average of squares."""
    return source.chisquare(16, shape) / 16


def heavy(source: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Mean 1, standard deviation 1.3, lognormal."""
    return source.lognormal(-0.5, 1.0, shape)


def spread(source: np.random.Generator, shape: tuple[int, ...], deviation: float) -> np.ndarray:
    """Mean 1 and that standard deviation, gamma."""
    share = deviation**-2
    return source.gamma(share, 1.0 / share, shape)


def tailed(source: np.random.Generator, shape: tuple[int, ...], deviation: float) -> np.ndarray:
    """Mean 1 and that standard deviation, lognormal."""
    variance = np.log1p(deviation**2)
    return source.lognormal(-variance / 2, variance**0.5, shape)


def seldom(source: np.random.Generator, shape: tuple[int, ...], share: float, value: float) -> np.ndarray:
    """Mean 1: one value in that share of the draws, another one else."""
    return np.where(source.random(shape) < share, value, (1.0 - share * value) / (1.0 - share))


SIGNALS, ALIKE = (0.7, 0.9, 1.0, 0.95, 0.8), (0.98, 0.99, 1.0, 1.0, 1.0, 1.0, 0.99, 0.98)
"""Risk at each signal of a grid over that at the maximising one."""
GROWING, SHRINKING, TAIL_GROWS = (0.2, 1.0), (1.0, 0.2), (0.2, 1.8)
"""Standard deviation of the first and of the last cell's replicates over their mean."""


@dataclass(frozen=True)
class Design:
    """Risks ``x^slope`` times noise, over cells a factor 2 apart.

    Attributes
    ----------
    cells, data_sets, replicates : int
    noise : of every cell, mean 1
    common : noise that all cells have in common, mean 1; none with None
    data : noise of a data set, that all cells have in common; none with None
    deviations : of the first and of the last cell's noise, where it grows along the sweep instead; none with None
    law : of noise that grows
    signals : the risk at each signal of a grid, over which the largest mean counts; the noise is that of all signals
    own : standard deviation of each signal's own noise besides, of the first and of the last cell
    rare : how often the noise of the last two cells is another value, and which, in units of its mean; never with None
    """

    name: str
    cells: int
    replicates: int
    noise: Noise
    common: Noise | None = None
    data: Noise | None = None
    data_sets: int = 1
    deviations: tuple[float, float] | None = None
    law: Callable[[np.random.Generator, tuple[int, ...], float], np.ndarray] = spread
    signals: tuple[float, ...] = ()
    own: tuple[float, float] = (0.1, 0.1)
    rare: tuple[float, float] | None = None

    def draw(self, source: np.random.Generator, slope: float) -> list[np.ndarray]:
        """Risks of one sweep by cell, shape ([signals,] data_sets, replicates)."""
        values, shape = 2.0 ** np.arange(self.cells), (self.data_sets, self.replicates)
        shared = self.common(source, shape) if self.common else np.ones(shape)
        if self.data:
            shared = shared * self.data(source, (self.data_sets, 1))
        if self.deviations:
            noises = [self.law(source, shape, deviation) for deviation in np.geomspace(*self.deviations, self.cells)]
        else:
            noises = [self.noise(source, shape) for _ in values]
        if self.rare:
            noises[-2:] = [seldom(source, shape, *self.rare) for _ in noises[-2:]]
        risks = [shared * noise * x**slope for noise, x in zip(noises, values, strict=True)]
        if self.signals:
            grid = np.array(self.signals)[:, None, None]
            own = np.geomspace(*self.own, self.cells)
            risks = [
                risk * grid * spread(source, (len(grid), *shape), each) for risk, each in zip(risks, own, strict=True)
            ]
        return risks

    @property
    def staged(self) -> bool:
        """True if there are several looks."""
        return self.replicates >= STAGED_FROM

    def sweep(self, risks: list[np.ndarray], names: tuple[str, ...], look: Look = FIXED) -> SweepRisks:
        """Return what is judged of some risks, by a bootstrap that the names seed."""
        cells, values = tuple(range(self.cells)), 2.0 ** np.arange(self.cells)
        sharing = (0,) * self.cells, (0,) * self.cells if self.common else cells
        regime = Regime.of(values, [risk.mean(axis=(-2, -1)).max() for risk in risks], 1 / values)
        together = sharing if self.common or self.data else ((), ())
        return SweepRisks(values, Replicates.of(risks, sharing=together), regime, TOLERANCE, names, look=look)

    def looks(self, risks: list[np.ndarray], names: tuple[str, ...]) -> Iterator[SweepRisks]:
        """Simulate looks at a sweep whose signals near the best go on after the pilot; all at once if R is small."""
        ends = stage_ends(self.replicates)
        if self.signals and self.staged:
            risks = [risk[near(list(risk[..., :PILOT]))] for risk in risks]
        for number, end in enumerate(ends, 1):
            look = Look(number, len(ends), end / self.replicates)
            yield self.sweep([risk[..., :end] for risk in risks], names, look)


DESIGNS = (
    Design("3 cells, 4 replicates, light noise", 3, 4, light),
    Design("5 cells, 4 replicates, light noise", 5, 4, light),
    Design("5 cells, 16 replicates, light noise", 5, 16, light),
    Design("7 cells, 64 replicates, light noise", 7, 64, light),
    Design("5 cells, 4 replicates, heavy noise", 5, 4, heavy),
    Design("5 cells, 64 replicates, heavy noise", 5, 64, heavy),
    Design("5 cells, 128 replicates, heavy noise", 5, 128, heavy),
    Design("5 cells, 16 replicates, common random numbers", 5, 16, light, heavy),
    Design("5 cells, 8 replicates, heavy noise, common random numbers", 5, 8, heavy, heavy),
    Design("4 cells, 6 data sets of 4, common data", 4, 4, light, data=light, data_sets=6),
    Design("4 cells, 6 data sets of 4, common data and random numbers", 4, 4, light, heavy, light, 6),
    Design("4 cells, 6 data sets of 4, common data, noise that grows", 4, 4, light, None, light, 6, deviations=GROWING),
    *(
        Design(f"5 cells, {replicates} replicates, {name}", 5, replicates, light, **keys)
        for name, keys in {
            "noise that grows": {"deviations": GROWING},
            "largest of 5 signals": {"signals": SIGNALS},
            "largest of 5 signals, noise that grows": {"deviations": GROWING, "signals": SIGNALS},
        }.items()
        for replicates in (8, 16)
    ),
    Design("5 cells, 4 replicates, noise that grows", 5, 4, light, deviations=GROWING),
    Design("4 cells, 12 replicates, noise that grows", 4, 12, light, deviations=GROWING),
    Design("6 cells, 8 replicates, noise that shrinks", 6, 8, light, deviations=SHRINKING),
    Design(
        "5 cells, 8 replicates, noise that grows, common random numbers",
        5,
        8,
        light,
        heavy,
        deviations=GROWING,
    ),
    Design("5 cells, 8 replicates, heavy noise", 5, 8, heavy),
    Design("5 cells, 16 replicates, heavy noise", 5, 16, heavy),
    *(
        Design(
            f"5 cells, {replicates} replicates, largest of 8 signals alike, own noise that grows",
            5,
            replicates,
            light,
            signals=ALIKE,
            own=(0.1, 0.7),
        )
        for replicates in (16, 64, 256)
    ),
    Design(
        "4 cells, 12 replicates, heavy noise that grows",
        4,
        12,
        light,
        deviations=TAIL_GROWS,
        law=tailed,
    ),
    Design(
        "5 cells, 32 replicates, heavy noise that grows",
        5,
        32,
        light,
        deviations=TAIL_GROWS,
        law=tailed,
    ),
)


RARE = (
    Design("5 cells, 16 replicates, 1 in 20 is 8 times the mean", 5, 16, light, rare=(0.05, 8.0)),
    Design("5 cells, 16 replicates, 1 in 50 is 20 times the mean", 5, 16, light, rare=(0.02, 20.0)),
    Design("5 cells, 128 replicates, 1 in 20 is 8 times the mean", 5, 128, light, rare=(0.05, 8.0)),
    Design("5 cells, 8 replicates, 1 in 10 is 0.05 of the mean", 5, 8, light, rare=(0.1, 0.05)),
)
"""In the last two cells a sample often lacks a value that moves the mean: nothing in it tells so."""


def words(design: Design, distance: float, sweeps: int = 0) -> Words:
    """Words of simulated sweeps whose true slope is that many tolerances from the formula's."""
    sweeps = sweeps or (SWEEPS[0] if not design.staged else EDGE if abs(distance) == 1.0 else STAGED)
    names = (design.name, f"{distance:g}")
    source = np.random.default_rng([len(design.name), *map(ord, "".join(names))])
    found, whole = Counter[str](), Counter[str]()
    for number in range(sweeps):
        risks, word = design.draw(source, -1.0 + distance * TOLERANCE), ""
        for sweep in design.looks(risks, (*names, str(number))):
            word = sweep.verdict().verdict
            if word in Rate.early:
                break
        found[word] += 1
        if sweep.look.of > 1:
            word = design.sweep(risks, (*names, str(number))).verdict().verdict
        whole[word] += 1
    return found, whole


def decided(design: Design, distance: float) -> Words:
    """Words of as many sweeps as tell whether the wrong ones are within their limit."""
    found, limit = words(design, distance), LIMITS[abs(distance)]
    for sweeps in () if design.staged else SWEEPS[1:]:
        error = (limit * (1.0 - limit) / found[0].total()) ** 0.5
        if abs(errors(found[0], distance) - limit) > 2.0 * error:
            break
        found = words(design, distance, sweeps)
    return found


def bends_found(replicates: int, sweeps: int = 200) -> float:
    """Share of sweeps called bent whose local slopes go from -0.58 to -1.42, behind heavy noise in common."""
    source, values = np.random.default_rng([replicates, sweeps]), 2.0 ** np.arange(8, 13)
    x = np.log(values / 1024)
    found = 0
    for number in range(sweeps):
        shared = heavy(source, (replicates,))
        risks = [m * shared * (1 + 0.02 * source.standard_normal(replicates)) for m in np.exp(-x - 0.2 * x**2)]
        regime = Regime.of(values, [risk.mean() for risk in risks], 1 / values)
        names = ("bends", str(replicates), str(number))
        together = Replicates.of(risks, sharing=((0,) * len(values), (0,) * len(values)))
        sweep = SweepRisks(values, together, regime, 0.25, names)
        found += sweep.verdict().verdict == "inconclusive (bent)"
    return found / sweeps


def errors(found: Counter[str], distance: float) -> float:
    """Share of wrong words."""
    return sum(found[word] for word in ALLOWED[abs(distance)]) / found.total()


def line(name: str, distance: float, found: Words) -> str:
    """Write a row: sweeps, shares of the words, of the wrong ones, also if all is run, and how many may be wrong."""
    shares = [f"{found[0][word] / found[0].total():.1%}" for word in SHOWN]
    wrong = [*(f"{errors(own, distance):.1%}" for own in found), f"{LIMITS[abs(distance)]:.0%}"]
    cells = [name, f"{distance:g}", f"{found[0].total():,}", *shares, *wrong]
    return f"| {' | '.join(cells)} |"


def page(found: Mapping[tuple[str, float], Words]) -> str:
    staged = {design.name for design in DESIGNS if design.staged}
    worst = {
        limit: max(errors(w, d) for (n, d), (w, _) in found.items() if LIMITS[abs(d)] == limit and n not in staged)
        for limit in LIMITS.values()
    }
    edge = [[errors(w[k], d) for (n, d), w in found.items() if n in staged and abs(d) == 1.0] for k in (0, 1)]
    far = [errors(w, d) for (n, d), (w, _) in found.items() if n in staged and abs(d) == 2.0]
    bent = {
        common: max(words["inconclusive (bent)"] / words.total() for words in places)
        for common, places in (
            (each, [found[d.name, x][0] for d in DESIGNS for x in DISTANCES if bool(d.common or d.data) == each])
            for each in (True, False)
        )
    }
    return f"""# How often a rate's word is wrong

Of fewer than {STAGED_FROM} replicates a true slope within the tolerance is called `fails` or `faster` in at most
{worst[0.05]:.1%} of sweeps (5 % are allowed). One that is two tolerances away is called `match` in at most
{worst[0.01]:.1%} (1 %).

Sweeps of {STAGED_FROM} replicates and more are judged as they are run, at several looks. The first to decide
is the last. Of a grid, they have the signals that go on after a pilot of {PILOT}. At the tolerance's edge
{np.mean(edge[0]):.1%} of their words are wrong, {np.mean(edge[1]):.1%} where all is run (means over {len(staged)}
designs, both sides), and at most {max(edge[0]):.1%}, {max(edge[1]):.1%} where all is run.
{EDGE:,} sweeps tell a share of 5 % to {2 * (0.05 * 0.95 / EDGE) ** 0.5:.1%}: a row may be beyond its limit by that.
Two tolerances away `match` is given in at most {max(far):.1%}. Those rows, and the ones of a true slope in the middle,
have {STAGED} sweeps each.

Every other row has {SWEEPS[0]:,} sweeps of a power law with known slope, judged with tolerance {TOLERANCE:g} by the
function that judges every rate. The true slope is that many tolerances from the formula's, and below 0 the risk falls
faster. Where that leaves a limit within two standard errors, the row has {SWEEPS[1]:,}, which tell a share of 5 %
to {2 * (0.05 * 0.95 / SWEEPS[1]) ** 0.5:.1%}. Few or unsteady replicates make a word `inconclusive`, rarely wrong:
where their errors are large, intervals are longer than they would have to be.
A power law is called `inconclusive (bent)` in at most {bent[True]:.1%} where cells have random numbers in common.
Else it is in at most {bent[False]:.1%}. A curve of 5 cells with local slopes from -0.58 to -1.42 is
called bent in {bends_found(8):.0%} of 200 sweeps. It has 8 replicates, and all cells share noise larger than the bend.
Along a sweep noise grows from a standard deviation of {GROWING[0]:g} of the mean to {GROWING[1]:g}, heavy noise to
{TAIL_GROWS[1]:g}. `python docs/error_rates.py` writes this page in some hours. The second table has laws for which
the limits are not kept.

| design | distance in tolerances | sweeps | {" | ".join(SHOWN)} | wrong | if all is run | allowed |
| --- | ---: | ---: {"| ---: " * (len(SHOWN) + 3)}|
""" + "".join(line(*place, words) + "\n" for place, words in found.items())


def rare_page(found: Mapping[tuple[str, float], Words]) -> str:
    most, whole = (max(errors(words[k], distance) for (_, distance), words in found.items()) for k in (0, 1))
    return f"""
## Values that a sample hardly has

Nothing in a sample tells of a value that it lacks. Here the last two cells have such a value, at the limit of the
tolerance. Up to {most:.1%} of the words are wrong, {whole:.1%} where all is run. More replicates are the only cure, so
that parts with such values say `stages: none` in their files and are run to their end.

| design | distance in tolerances | sweeps | {" | ".join(SHOWN)} | wrong | if all is run | allowed |
| --- | ---: | ---: {"| ---: " * (len(SHOWN) + 3)}|
""" + "".join(line(*place, words) + "\n" for place, words in found.items())


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("error_rates.md")
    simulated = {(design.name, distance): decided(design, distance) for design in DESIGNS for distance in DISTANCES}
    rare = {(design.name, distance): words(design, distance) for design in RARE for distance in (-1.0, 1.0)}
    target.write_text(page(simulated) + rare_page(rare), encoding="utf-8")
