"""JAX as a peer: on one thread of the CPU, in either precision."""

from __future__ import annotations

import importlib
import os
from typing import Any

from dpsco_bench.bench.measure import NotMeasurable


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


def double_precision(jax: Any, dtype: str) -> Any:
    """Context in which 64-bit types exist if ``dtype`` is one."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(dtype == "float64")
    return importlib.import_module("jax.experimental").enable_x64(dtype == "float64")
