"""The same noisy SGD in JAX: ``vmap`` over replicates of ``scan`` over steps, compiled."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

from dpsco_bench.bench.measure import NotMeasurable
from dpsco_bench.bench.noisy_sgd import SgdTask

Array = Any


def import_jax() -> Any:
    """Import JAX on one thread of the CPU, which is what it is compared with.

    Raises NotMeasurable where it is not installed.
    """
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    try:
        return importlib.import_module("jax")
    except ImportError:
        raise NotMeasurable("JAX is not installed (make peers)") from None


def compiled_run(task: SgdTask) -> Callable[[], Array]:
    """Compile a whole run that draws its own noise; each call gives the last iterates ``(R, d)``.

    Every replicate has its key and every step a key split from it, as JAX's own examples do.
    """
    jax = import_jax()
    with double_precision(jax, task.dtype):

        def draw(key: Array) -> Array:
            return jax.random.normal(key, (task.d,), dtype=task.dtype)

        def one(key: Array) -> Array:
            return scanned(task, jax.random.split(key, task.steps), draw)

        keys = jax.random.split(jax.random.key(0), task.replicates)
        run = jax.jit(jax.vmap(one)).lower(keys).compile()
    return lambda: run(keys).block_until_ready()


def scanned(task: SgdTask, sources: Array, draw: Callable[[Array], Array]) -> Array:
    """One replicate's steps; ``draw`` makes standard normals ``(d,)`` of each step's source."""
    jax = import_jax()
    jnp, problem = jax.numpy, task.problem()
    curvature = jnp.asarray(problem.spectrum, dtype=task.dtype)

    def body(x: Array, source: Array) -> tuple[Array, None]:
        x = x - task.step * (curvature * x + task.scale * draw(source))
        norm = jnp.sqrt(jnp.sum(x * x))
        return x * (task.radius / jnp.maximum(norm, task.radius)), None

    return jax.lax.scan(body, jnp.asarray(problem.start, dtype=task.dtype), sources)[0]


def double_precision(jax: Any, dtype: str) -> Any:
    """Context in which 64-bit types exist if ``dtype`` is one."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(dtype == "float64")
    return importlib.import_module("jax.experimental").enable_x64(dtype == "float64")
