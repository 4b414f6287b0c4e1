"""Gibbs chains of all replicates at once against a script that runs one chain with plain numbers."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from functools import cache, partial

import numpy as np

from dpsco_bench.bench.fused_pairs import CellOf, other_methods
from dpsco_bench.bench.measure import AT_LEAST, BenchCase, Pair, goal
from dpsco_bench.execution.cell import Cell
from dpsco_bench.papers.gopi2022.samplers.gibbs import sample_gibbs
from dpsco_bench.rng.keys import stream_key
from dpsco_bench.rng.streams import Stream
from dpsco_bench.samplers.keyed import KeyedDraws

CHAINED = "a run is logarithms and quantiles of conditional laws, keys of streams, and the law that certifies the chain"
CHAINS, SWEEPS, ONE_CHAIN = 256, 8, 4
DIMENSIONS = (8, 32)
P = 1.5


@goal("gibbs", "Gibbs chains of all replicates at once against one at a time")
def cases() -> Iterator[BenchCase]:
    """List the cases: a law on the l_p ball, p = 1.5, tilted along the first axis."""
    for d in DIMENSIONS:
        yield BenchCase(
            id="gibbs",
            case=f"{CHAINS} Gibbs chains on the l_1.5 ball, d = {d}",
            peer="one chain in plain Python",
            unit="coordinate",
            sense=AT_LEAST,
            goal=None,
            build=partial(_pair, d),
        )


@goal("P1_gopi2022", "compiled chains of gopi2022 against their listings, by the run")
def chain_cases() -> Iterator[BenchCase]:
    """Linear losses along an axis of the l_p ball; a chain makes a sweep for every 32 steps."""

    def chain(id: str, **options: float) -> CellOf:
        return lambda d, steps: Cell(
            id, "axis_linear", 1024, 1.0, 1e-5, d, options={"sweeps": max(2, steps // 32), **options}
        )

    return other_methods(
        "P1_gopi2022",
        {
            "alternating sampler": chain("gopi2022.proximal_sampler", delta_in=0.05),
        },
        limits={"alternating sampler": CHAINED},
    )


def _pair(d: int) -> Pair:
    stream = cache(lambda name: Stream(stream_key(0, "bench", name)))
    draws, tilt = KeyedDraws(stream, 0, CHAINS), np.tile(2.0 * d * np.eye(1, d), (CHAINS, 1))
    return Pair(
        ours=lambda: sample_gibbs(draws, tilt, float(d), P, P, 1.0, SWEEPS),
        peer=lambda: one_chain([2.0 * d] + [0.0] * (d - 1), float(d), P, ONE_CHAIN, random.Random(0)),
        ours_units=CHAINS * SWEEPS * d,
        peer_units=ONE_CHAIN * d,
    )


def one_chain(tilt: list[float], c: float, p: float, sweeps: int, generator: random.Random) -> list[float]:
    """Run a chain for ``exp(<tilt, x> - c ||x||_p^2)`` on the unit l_p ball as a careful script does."""
    x = [0.0] * len(tilt)
    for _ in range(sweeps):
        total = sum(abs(value) ** p for value in x)
        for j, slope in enumerate(tilt):
            rest = max(0.0, total - abs(x[j]) ** p)
            level = total ** (2.0 / p) + generator.expovariate(c)
            room = max(0.0, min(1.0, level ** (p / 2.0)) - rest) ** (1.0 / p)
            u = generator.random()
            if slope == 0.0:
                x[j] = room * (2.0 * u - 1.0)
            else:
                x[j] = room + math.log1p((1.0 - u) * math.expm1(-2.0 * slope * room)) / slope
            total = rest + abs(x[j]) ** p
        _scale(x, tilt, c, p, generator)
    return x


def _scale(x: list[float], tilt: list[float], c: float, p: float, generator: random.Random) -> None:
    """Move along the ray, in place, by slice sampling with shrinkage."""
    along = sum(a * b for a, b in zip(tilt, x, strict=True))
    length = sum(abs(value) ** p for value in x) ** (1.0 / p)
    level = along - c * length**2 + math.log(1.0 - generator.random())
    low, high = 0.0, 1.0 / length
    while True:
        s = low + (high - low) * generator.random()
        if (len(x) - 1) * math.log(max(s, 1e-300)) + s * along - c * (s * length) ** 2 >= level:
            break
        low, high = (s, high) if s < 1.0 else (low, s)
    x[:] = [s * value for value in x]
