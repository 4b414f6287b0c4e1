"""Compile fused steps with Numba, with a cache on disk that knows the text of all that a function calls.

Beside it, eight numbers as one value of compiled loops: they stay in registers, whatever a loop writes to its arrays.
Of loops over arrays LLVM makes vectors by itself, where it has found at each start that what they write changes nothing
that they read. For rows of a few numbers that costs more than the row, and sums over many rows go through memory.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

from dpsco_bench.plain import Options
from dpsco_bench.rng.streams import cpu_implementation

numba: Any
FunctionCache: Any
try:
    import numba
    from numba.core.caching import FunctionCache
except ImportError:  # then the reference implementations run
    numba, FunctionCache = None, object

OPTIONS: Options = {"nogil": True, "error_model": "numpy", "fastmath": False, "forceinline": False}
"""Every option is stated: Numba would take a missing one from the caller that it happens to compile first."""
ROUNDING = {"reassoc", "contract", "nsz", "arcp"}
"""Freedoms of pieces: sums in another order, fused products. Infinities and NaN keep their meaning."""
WIDTH = 8
"""Numbers of a value: a register of the widest vectors, and several of narrower ones."""


def available() -> bool:
    """Check that fused steps can be compiled here, as wherever the noise layer can."""
    return numba is not None and cpu_implementation().__name__.endswith("kernels")


def _decorator(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Make a decorator that compiles a function so; without Numba it returns the function itself."""
    return lambda function: function if numba is None else numba.njit(**{**OPTIONS, **options})(function)


piece = _decorator(fastmath=ROUNDING, forceinline=True)
"""Compiles a function into the loops that call it. If it were called, each loop would have a copy, optimised once more,
and a process runs the first copy that it meets: code from the cache would round differently from code just compiled."""
exact_piece = _decorator(forceinline=True)
"""Inlines as `piece` does, with every operation rounded as NumPy's: choices between vertices hang on it."""
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


if numba is None:  # then nothing calls them
    lanes_at = put_lanes = added = summed = no_lanes = cast(Any, None)
else:
    from numba import types
    from numba.core import cgutils
    from numba.core.errors import TypingError
    from numba.extending import intrinsic, models, register_model

    ir = cgutils.ir
    VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)
    CONTRACT = ("contract",)

    class Lanes(types.Type):
        """The type of such values."""

        def __init__(self) -> None:
            super().__init__(name="Lanes")

    LANES = Lanes()

    @register_model(Lanes)
    class LanesModel(models.PrimitiveModel):
        """A vector of LLVM."""

        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, VECTOR)

    def _pointer(context: Any, builder: Any, kinds: Any, array: Any, place: Any) -> Any:
        kind, at = kinds
        indices, types_of = ([place], [at]) if isinstance(at, types.Integer) else (None, list(at))
        indices = cgutils.unpack_tuple(builder, place) if indices is None else indices
        where = [context.cast(builder, i, t, types.intp) for i, t in zip(indices, types_of, strict=True)]
        made = context.make_array(kind)(context, builder, array)
        found = cgutils.get_item_pointer(context, builder, kind, made, where, wraparound=False)
        return builder.bitcast(found, ir.VectorType(context.get_value_type(kind.dtype), WIDTH).as_pointer())

    def _check(array: Any) -> None:
        if array.layout != "C":
            raise TypingError("lanes are those of contiguous arrays")

    @intrinsic
    def lanes_at(typing: Any, array: Any, place: Any) -> Any:
        """Eight numbers of a contiguous array from a place on, an index or a tuple of them; as float64."""
        _check(array)

        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            at = _pointer(context, builder, signature.args, *given)
            found = builder.load(at, align=signature.args[0].dtype.bitwidth // 8)
            return found if found.type == VECTOR else builder.fpext(found, VECTOR)

        return LANES(array, place), generate

    @intrinsic
    def put_lanes(typing: Any, array: Any, place: Any, value: Any) -> Any:
        """Write eight numbers of float64 to a contiguous array from a place on."""
        _check(array)

        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            builder.store(given[2], _pointer(context, builder, signature.args[:2], *given[:2]), align=8)
            return context.get_dummy_value()

        return types.none(array, place, value), generate

    @intrinsic
    def added(typing: Any, total: Any, factor: Any, value: Any) -> Any:
        """``total + factor value``, factor a number or eight of them, rounded once where the core can."""

        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            total, factor, value = given
            if signature.args[1] != LANES:
                first = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), factor, ir.IntType(32)(0))
                zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
                factor = builder.shuffle_vector(first, ir.Constant(VECTOR, ir.Undefined), zeros)
            return builder.fadd(total, builder.fmul(factor, value, flags=CONTRACT), flags=CONTRACT)

        return LANES(LANES, LANES if factor == LANES else types.float64, LANES), generate

    @intrinsic
    def summed(typing: Any, value: Any) -> Any:
        """Sum eight numbers."""

        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            (lanes,) = given
            size = WIDTH
            while size > 1:  # halves on each other, in this order: a flag of their own keeps Numba's from them
                size //= 2
                mask = ir.Constant(ir.VectorType(ir.IntType(32), size), list(range(size)))
                rest = ir.Constant(ir.VectorType(ir.IntType(32), size), list(range(size, 2 * size)))
                none = ir.Constant(lanes.type, ir.Undefined)
                low, high = builder.shuffle_vector(lanes, none, mask), builder.shuffle_vector(lanes, none, rest)
                lanes = builder.fadd(low, high, flags=("nsz",))
            return builder.extract_element(lanes, ir.IntType(32)(0))

        return types.float64(LANES), generate

    @intrinsic
    def no_lanes(typing: Any) -> Any:
        """Eight zeros."""

        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            return ir.Constant(VECTOR, [0.0] * WIDTH)

        return LANES(), generate
