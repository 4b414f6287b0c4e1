"""Keyed random streams: arrays of variates addressed by step, replicate and coordinate.

A value depends on its stream's key, its kind and its address alone, hence neither on how a draw is split into calls
nor on processes or devices: NumPy, Numba and CUDA give the same bits.
"""

from __future__ import annotations

import functools
import hashlib
import operator
import os
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import cast
from dpsco_bench.errors import InputError
from dpsco_bench.rng import counters, reference
from dpsco_bench.rng.transforms import shape_table

Array = Any


def stream_key(root_seed: int, what: str, stream: str) -> tuple[int, int]:
    """Key of the stream ``stream`` of the object ``what`` under a root seed.

    The pair is encoded as the length of ``what`` in bytes (8 bytes, little endian), ``what`` and ``stream``, both in
    UTF-8: distinct pairs have distinct encodings. The eight little-endian 32-bit words of its SHA-256 digest are the
    spawn key of ``numpy.random.SeedSequence(root_seed)``, whose first two words of state are the key. Every recorded
    number depends on this function: it is frozen. Raises InputError if ``root_seed`` is outside its range. Returns two
    words in [0, 2^32). ``root_seed`` is in [0, 2^128), the range over which ``SeedSequence`` keeps seed and spawn key
    apart; ``stream`` is such as ``"noise/gradient"``.
    """
    seed = operator.index(root_seed)
    if not 0 <= seed < 1 << 128:
        raise InputError("seed", root_seed, "an integer in [0, 2^128)")
    name = what.encode()
    digest = hashlib.sha256(len(name).to_bytes(8, "little") + name + stream.encode()).digest()
    spawn_key = tuple(int(word) for word in np.frombuffer(digest, dtype="<u4"))
    first, second = np.random.SeedSequence(seed, spawn_key=spawn_key).generate_state(2)
    return int(first), int(second)


@functools.cache
def cpu_implementation() -> ModuleType:
    """Return the module that draws on the CPU: compiled by Numba, or NumPy without it or if ``DPSCO_NO_NUMBA=1``."""
    if os.environ.get("DPSCO_NO_NUMBA") == "1":
        return reference
    try:
        from dpsco_bench.rng import kernels
    except ImportError:
        return reference
    return kernels


@dataclass(frozen=True)
class Stream:
    """An immutable source of random arrays.

    Every method takes ``(first_step, steps, first_replicate, replicates, dim)`` and returns an array of shape
    ``(steps, replicates, dim)``: the values of steps ``first_step ...``, replicates ``first_replicate ...`` and
    coordinates ``0 ... dim - 1``. Indices of steps, replicates and blocks (see `dpsco_bench.rng.counters`) are below
    2^32; `InputError` is raised otherwise. Draws of different kinds from one stream are independent. The key is that of
    `stream_key`: Python's integers, so that compiled kernels see one set of types. Arrays are of the namespace ``xp``:
    CuPy draws on the current GPU, for any other one the draw is made on the CPU.
    """

    key: tuple[int, int]
    xp: Any = np

    def normal(self, first_step: int, steps: int, first_replicate: int, replicates: int, dim: int) -> Array:
        """Draw standard normals, float32."""
        return self._draw("normal", 4, (first_step, steps, first_replicate, replicates, dim))

    def laplace(self, first_step: int, steps: int, first_replicate: int, replicates: int, dim: int) -> Array:
        """Laplace variates of scale 1, i.e. density exp(-|x|)/2 and variance 2, float32."""
        return self._draw("laplace", 4, (first_step, steps, first_replicate, replicates, dim))

    def uniform(self, first_step: int, steps: int, first_replicate: int, replicates: int, dim: int) -> Array:
        """Uniform numbers in the open interval (0, 1), float64: multiples of 2^-53, and 2^-54 in place of 0."""
        return self._draw("uniform", 2, (first_step, steps, first_replicate, replicates, dim))

    def integers(
        self, first_step: int, steps: int, first_replicate: int, replicates: int, dim: int, high: int
    ) -> Array:
        """Integers in [0, high), int64, within ``high * 2^-65`` of uniform in total variation; 1 <= high < 2^63."""
        if not 1 <= operator.index(high) < 1 << 63:
            raise InputError("high", high, "an integer in [1, 2^63)")
        box = (first_step, steps, first_replicate, replicates, dim)
        return self._draw("integers", 2, box, operator.index(high))

    def subsets(
        self, first_step: int, steps: int, first_replicate: int, replicates: int, size: int, high: int
    ) -> Array:
        """Take the first ``size`` <= high/4 different ones of each row's `integers`, int64; drawn on the CPU."""
        box = counters.checked_box((first_step, steps, first_replicate, replicates, size), 2)
        return self.xp.asarray(cpu_implementation().subsets(self.key, box, operator.index(high)))

    def selections(
        self, first_step: int, steps: int, first_replicate: int, replicates: int, width: int, high: int, rate: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Ascending integers in [0, high), each with probability ``rate``, and a mask; drawn on the CPU."""
        box = counters.checked_box((first_step, steps, first_replicate, replicates, width), 2)
        found: tuple[np.ndarray, np.ndarray]
        found = cpu_implementation().selections(self.key, box, operator.index(high), float(rate))
        return found

    def generalised_gaussian(
        self, first_step: int, steps: int, first_replicate: int, replicates: int, dim: int, r: float
    ) -> Array:
        """Vectors of density ``~ exp(-||z||_r^2/2)``, 1 <= r < inf, float32."""
        box = (first_step, steps, first_replicate, replicates, dim)
        return self._draw("generalised_gaussian", 4, box, shape_table(float(r)), float(r))

    def _draw(self, name: str, per_block: int, box: tuple[int, ...], *parameters: Any) -> Array:
        """Draw by the implementation of the namespace: kernels that give ``per_block`` values a block."""
        checked = counters.checked_box(box, per_block)
        if self.xp.__name__ == "cupy":
            from dpsco_bench.rng import cuda

            return getattr(cuda, name)(self.key, checked, *parameters)
        values = getattr(cpu_implementation(), name)(self.key, checked, *parameters)
        return values if self.xp is np else self.xp.asarray(values)


def scaled(values: Array, scale: float, dtype: Any) -> Array:
    """``scale`` times float32 draws, multiplied in ``dtype``."""
    if isinstance(values, np.ndarray) and values.dtype == np.float32 and dtype == np.float64:
        return cpu_implementation().scaled(values, scale)
    return scale * cast(values, dtype)
