"""Memory for large temporaries without page faults."""

from __future__ import annotations

import functools

import numpy as np

_LARGEST = (1 << 25) - (1 << 16)
"""Bytes, just under 32 MiB: the largest block from which glibc learns."""


@functools.cache
def reuse_freed_memory() -> None:
    """Make the C library keep freed arrays of up to 32 MiB for the next ones, for the rest of the process.

    By default glibc maps a large block anew for each array and gives it back afterwards, and the system clears every
    page of it on first touch, which costs more than the arithmetic on it. Freeing one large block raises the size from
    which glibc does so. Other C libraries ignore it.
    """
    np.empty(_LARGEST, dtype=np.uint8)
