"""Work beside other work, in processes of their own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache
from multiprocessing import get_context
from typing import Any

Task = Callable[[], Any]
_TASKS: list[Task] = []
"""What the forked processes run: they inherit it with all that has been read, and only a number is sent to them."""


@contextmanager
def beside(tasks: Sequence[Task], cores: int = 1) -> Iterator[Task]:
    """Run tasks beside what follows, where there are two cores and forking is safe; else when their results are due.

    Each has a process of its own, be it more than there are cores: they share them as they need.
    Gives what waits for the results and returns their list, however often it is asked.
    """
    if cores <= 1 or sys.platform != "linux":
        yield cache(lambda: [task() for task in tasks])
        return
    _TASKS[:] = tasks
    try:
        with ProcessPoolExecutor(len(tasks), mp_context=get_context("fork")) as pool:
            running = [pool.submit(_run, number) for number in range(len(tasks))]
            yield lambda: [one.result() for one in running]
    finally:
        _TASKS.clear()


def _run(number: int) -> Any:
    return _TASKS[number]()
