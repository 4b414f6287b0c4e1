"""A drawing beside other work, on a core of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache
from multiprocessing import get_context
from typing import Any

Task = Callable[[], Any]
_TASKS: list[Task] = []
"""What the forked process runs: it inherits it with all that has been read, and nothing is sent to it."""


@contextmanager
def beside(task: Task, cores: int = 1) -> Iterator[Task]:
    """Run a task beside what follows, where there are two cores and forking is safe; else when its result is asked for.

    Gives what waits for the result and returns it, however often it is asked.
    """
    if cores <= 1 or sys.platform != "linux":
        yield cache(task)
        return
    _TASKS[:] = [task]
    try:
        with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
            yield pool.submit(_run).result
    finally:
        _TASKS.clear()


def _run() -> Any:
    return _TASKS[0]()
