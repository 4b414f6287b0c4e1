"""Eight numbers as one value of compiled loops: they stay in registers, whatever a loop writes to its arrays.

Of loops over arrays LLVM makes vectors by itself, where it has found at each start that what they write changes nothing
that they read. For rows of a few numbers that costs more than the row, and sums over many rows go through memory.
"""

from __future__ import annotations

from typing import Any, cast

from dpsco_bench.fused.compiled import numba

WIDTH = 8
"""Numbers of a value: a register of the widest vectors, and several of narrower ones."""


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
