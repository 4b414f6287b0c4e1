"""Compile fused steps with Numba, with a cache on disk that knows the text of all that a function calls."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from dpsco_bench.plain import Options
from dpsco_bench.rng.streams import cpu_implementation

numba: Any
FunctionCache: Any
try:
    import numba
    from numba.core.caching import FunctionCache
except ImportError:  # then the reference implementations run
    numba, FunctionCache = None, object

OPTIONS: Options = {"nogil": True, "error_model": "numpy"}
ROUNDING = {"reassoc", "contract", "nsz", "arcp"}
"""Freedoms of pieces: sums in another order, fused products. Infinities and NaN keep their meaning."""


def available() -> bool:
    """Check that fused steps can be compiled here, as wherever the noise layer can."""
    return numba is not None and cpu_implementation().__name__.endswith("kernels")


def _decorator(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Make a decorator that compiles a function so; without Numba it returns the function itself."""
    return lambda function: function if numba is None else numba.njit(**OPTIONS, **options)(function)


piece = _decorator(fastmath=ROUNDING, forceinline=True)
"""Compiles a function into the loops that call it: passing arrays to a call costs as much as a short step."""
exact_piece = _decorator(forceinline=True)
"""Inlines as `piece` does, with every operation rounded as NumPy's: choices between vertices hang on it.

Only where the caller is compiled so too: it is the caller's flags that hold."""
called = _decorator(fastmath=ROUNDING)
"""Compiles as `piece` does, but calls: for long functions, or those that stand in many places."""
vector_piece = _decorator(fastmath={"contract"}, forceinline=True)
"""Inlines as `piece` does, for arithmetic on the bits of numbers: no caller may reorder it."""


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a loop on first call, with a cache on disk where some directory can be written."""
    if numba is None:
        return function
    dispatcher: Any = numba.njit(**OPTIONS)(function)
    with suppress(RuntimeError):  # Numba found no directory for its cache
        dispatcher._cache = _Cache(function)
    return dispatcher


class _Cache(FunctionCache):
    """Numba's cache, whose entries count functions and constants of other files that the function uses as well."""

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (*super()._index_key(sig, codegen), called_digest(self._py_func))


def called_digest(function: Any) -> str:
    """Sha256 of the bytecode of a function and of all compiled functions that it calls, constants included."""
    digest, todo, seen = hashlib.sha256(), [function], set[Any]()
    while todo:
        current = todo.pop()
        if current in seen:
            continue
        seen.add(current)
        code = current.__code__
        digest.update(code.co_code + repr((code.co_name, code.co_consts, code.co_names)).encode())
        for name in code.co_names:
            value: Any = current.__globals__.get(name)
            if hasattr(value, "_defn"):  # an intrinsic: what it writes is the code of its module
                digest.update(inspect.getsource(sys.modules[value._defn.__module__]).encode())
            elif hasattr(value, "py_func"):
                todo.append(value.py_func)
                options = {key: sorted(v) if isinstance(v, set) else v for key, v in value.targetoptions.items()}
                digest.update(repr(sorted(options.items())).encode())
            elif isinstance(value, int | float | tuple):
                digest.update(f"{name}={value!r}".encode())
    return digest.hexdigest()
