"""Choice of the machine that makes a run's steps: compiled loops on a core, or kernels on a device.

What a device alone needs is in `fused.device`, which nothing loads before a run is on one: keys of other runs leave it
out (`execution.digest.DEVICE_ONLY`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dpsco_bench.fused.tiles import Steps

Array = Any


def steps_of(objective: Any, *arguments: Any, **keys: Any) -> Steps:
    """Make the steps of a run on the machine that holds its arrays; takes the arguments of `tiles.Steps`."""
    if objective.xp is np:
        return Steps(objective, *arguments, **keys)
    from dpsco_bench.fused.device import DeviceSteps

    return DeviceSteps(objective, *arguments, **keys)


def launch_steps(file: Path, name: str, x: Array, before: tuple[Any, ...], tile: tuple[Any, ...], *after: Any) -> None:
    """Launch the kernel of a loop: ``before``, what every kernel is told of a tile, and ``after``.

    Parameters
    ----------
    file, name : the kernel
    x : array (rows, ..., d), whose width it is compiled for
    tile : steps, rows, records, form, noise, as `fused.device.step_arguments` takes them
    """
    from dpsco_bench.fused.device import launch_rows, step_arguments

    steps, *told = tile
    launch_rows(file, name, x, *before, *step_arguments(steps, x, *told), *after)
