"""Keyed random numbers for samplers, and the statistics of their tests."""

from functools import cache

import numpy as np
import pytest

from dpsco_bench.rng.keys import stream_key
from dpsco_bench.rng.streams import Stream
from dpsco_bench.samplers.keyed import KeyedDraws

SEED = 2022


@pytest.fixture
def draws():
    """Factory of `KeyedDraws` of so many rows, from replicate ``first`` on."""

    def make(rows, key="law", first=0, copies=1):
        stream = cache(lambda name: Stream(stream_key(SEED, key, name)))
        return KeyedDraws(stream, first, rows, copies)

    return make


@pytest.fixture
def score():
    """Distance of a sample mean from a number, in standard errors."""

    def standardised(values, expected):
        values = np.asarray(values)
        return abs(values.mean() - expected) / (values.std(ddof=1) / np.sqrt(values.size))

    return standardised
