"""The array namespace and the few operations that the array API standard lacks or spells differently."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dpsco_bench.errors import InputError

Array = Any

BACKENDS = ("numpy", "cupy")
_LARGEST_BLOCK = (1 << 25) - (1 << 16)
"""Bytes, just under 32 MiB: the largest freed block from which glibc learns."""
_BUFFER = 1024
"""Elements. Rows at least so long take part in an operation where they are; NumPy copies shorter ones."""


def array_namespace(x: Array) -> Any:
    """Return the module whose functions act on ``x`` (NumPy, CuPy or any array API namespace)."""
    if isinstance(x, np.ndarray | np.generic):
        return np
    if type(x).__module__.split(".")[0] == "cupy":
        return importlib.import_module("cupy")
    return x.__array_namespace__()


def get_namespace(name: str) -> Any:
    """Return the namespace of a backend by name. Raises InputError for an unknown name, or ``cupy`` without a GPU."""
    if name == "numpy":
        return np
    if name == "cupy":
        try:
            cupy = importlib.import_module("cupy")
        except ImportError:
            raise InputError("backend", name, "numpy here: CuPy is not installed (extra cuda12 or cuda13)") from None
        if not cupy.is_available():
            raise InputError("backend", name, "numpy here: CuPy finds no usable GPU")
        return cupy
    raise InputError("backend", name, "one of " + ", ".join(BACKENDS))


def to_numpy(x: Array) -> np.ndarray:
    if hasattr(x, "get") and not isinstance(x, np.ndarray):
        return x.get()
    return np.asarray(x)


def take(values: Array, indices: Array) -> Array:
    """Gather records: ``values (n, ...)``, ``indices (R, W)`` of integers -> ``(R, W, ...)``."""
    xp = array_namespace(values)
    flat = xp.take(values, xp.reshape(indices, (-1,)), axis=0)
    return xp.reshape(flat, (*indices.shape, *values.shape[1:]))


def sigmoid(x: Array) -> Array:
    """Logistic function 1/(1 + exp(-x)), without overflow, to an absolute error of one rounding."""
    return 0.5 + 0.5 * array_namespace(x).tanh(0.5 * x)


def softplus(x: Array) -> Array:
    """Evaluate log(1 + exp(x)) without overflow."""
    xp = array_namespace(x)
    return xp.maximum(x, xp.zeros_like(x)) + xp.log1p(xp.exp(-xp.abs(x)))


def float64_zeros(x: Array) -> Array:
    """Accumulator for arrays of the shape of ``x``: float64 whatever the state's dtype."""
    xp = array_namespace(x)
    return xp.zeros_like(x, dtype=xp.float64)


def cast(x: Array, dtype: Any) -> Array:
    """``x`` in a dtype, itself where it has that one.

    The standard's function is missing in CuPy 13, the method in strict namespaces.
    """
    if x.dtype == dtype:
        return x
    return x.astype(dtype) if hasattr(x, "astype") else array_namespace(x).astype(x, dtype)


def cast_like(x: Array, other: Array) -> Array:
    """``x`` in the dtype of ``other``."""
    return cast(x, other.dtype)


def row_norm(x: Array) -> Array:
    """Euclidean norm along the last axis, shape ``(..., 1)``."""
    xp = array_namespace(x)
    squares = xp.vecdot(x, x)[..., None] if hasattr(xp, "vecdot") else xp.sum(x * x, axis=-1, keepdims=True)
    return xp.sqrt(squares)


def cumulative_sum(x: Array) -> Array:
    """Sum along the last axis, running; older CuPy knows it by NumPy's older name only."""
    xp = array_namespace(x)
    return xp.cumulative_sum(x, axis=-1) if hasattr(xp, "cumulative_sum") else xp.cumsum(x, axis=-1)


@contextmanager
def tuned() -> Iterator[None]:
    """Run what is inside with NumPy set up for operations between ``(R, d)`` and ``(R, 1)`` or ``(d,)``.

    NumPy copies what it broadcasts into a buffer of 8192 elements if that holds several rows, which takes as long as
    the operation itself; hence a shorter buffer. Numbers change in nothing but the rounding of sums that convert types.
    """
    _reuse_freed_memory()
    before = np.setbufsize(_BUFFER)
    try:
        yield
    finally:
        np.setbufsize(before)


@functools.cache
def _reuse_freed_memory() -> None:
    """Make the C library keep freed arrays of up to 32 MiB for the next ones, for the rest of the process.

    By default glibc maps a large block anew for each array and gives it back afterwards, and the system clears every
    page of it on first touch, which costs more than the arithmetic on it. Freeing one large block raises the size from
    which glibc does so. Other C libraries ignore it.
    """
    np.empty(_LARGEST_BLOCK, dtype=np.uint8)
