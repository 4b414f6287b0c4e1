"""Counter-based random numbers. Whatever is compiled here or by `fused` asks for `kernels` before its first call."""

from __future__ import annotations

import importlib
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    """Load compiled draws when they are first asked for, and have Numba's cache checked before."""
    if not name.endswith("kernels"):
        raise AttributeError(f"module 'dpsco_bench.rng' has no attribute {name!r}")
    from dpsco_bench.rng.compiled_cache import guard

    guard()
    return importlib.import_module(f"dpsco_bench.rng.{name}")
