"""Independent drawings on several cores."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

Task = Callable[[], Any]
_TASKS: list[Task] = []
"""What forked processes run: they inherit it with all that has been read, and nothing but numbers goes to them."""


def in_parallel(tasks: Sequence[Task], cores: int = 1) -> list[Any]:
    """Results of the tasks in their order; on ``cores`` processes where forking is safe, else one after the other."""
    if min(cores, len(tasks)) <= 1 or sys.platform != "linux":
        return [task() for task in tasks]
    _TASKS[:] = tasks
    try:
        with ProcessPoolExecutor(min(cores, len(tasks)), mp_context=get_context("fork")) as pool:
            return list(pool.map(_run, range(len(tasks))))
    finally:
        _TASKS.clear()


def _run(number: int) -> Any:
    return _TASKS[number]()
