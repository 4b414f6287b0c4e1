"""The digits of a compiled function depend neither on what was compiled before nor on what came from the disk."""

import importlib
import pkgutil

import pytest

import dpsco_bench
from dpsco_bench.fused import compiled

from ..runs import needs_numba

needs_numba()

FOUND = (name for _, name, _ in pkgutil.walk_packages(dpsco_bench.__path__, "dpsco_bench."))
MODULES = [name for name in FOUND if ".fused" in name or name == "dpsco_bench.rng.kernels"]


def by_rounding(a, b):
    """Return ``(a + b) - a``, which is b itself where sums may be reordered."""
    return (a + b) - a


exact, free = compiled.exact_piece(by_rounding), compiled.piece(by_rounding)


@compiled.piece
def both(a, b):
    return exact(a, b), free(a, b)


@pytest.mark.parametrize("module", MODULES)
def test_all_options_are_stated(module):
    for name, value in vars(importlib.import_module(module)).items():
        if hasattr(value, "targetoptions"):
            assert value.targetoptions.keys() >= compiled.OPTIONS.keys(), name


@pytest.mark.parametrize("module", [name for name in MODULES if ".fused" in name])
def test_a_loop_calls_only_exact_functions(module):
    for name, value in vars(importlib.import_module(module)).items():
        function = getattr(value, "py_func", None)
        for used in function.__code__.co_names if function else ():
            options = getattr(function.__globals__.get(used), "targetoptions", {"forceinline": True})
            assert options["forceinline"] or not options["fastmath"], (name, used)


def test_exact_operations_stay_so_within_others():
    assert both(1e16, 1.0) == (by_rounding(1e16, 1.0), 1.0)
    assert by_rounding(1e16, 1.0) != 1.0
