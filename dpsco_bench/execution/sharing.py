"""What the jobs of one process have in common: data sets and minima that one of them made serve the others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from dpsco_bench.execution import job


@contextmanager
def sharing() -> Iterator[None]:
    """Jobs that run inside have one `Reuse` for each seed; every other job has its own.

    A job looks its `Reuse` up when it begins. Nothing depends on whether something was kept.
    """
    own = vars(job)["Reuse"]
    vars(job)["Reuse"] = cache(own)
    try:
        yield
    finally:
        vars(job)["Reuse"] = own
