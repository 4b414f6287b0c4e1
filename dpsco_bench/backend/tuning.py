"""Settings under which NumPy is fast on arrays of replicates."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

_LARGEST_BLOCK = (1 << 25) - (1 << 16)
"""Bytes, just under 32 MiB: the largest freed block from which glibc learns."""
_BUFFER = 1024
"""Elements. Rows at least so long take part in an operation where they are; NumPy copies shorter ones."""


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
