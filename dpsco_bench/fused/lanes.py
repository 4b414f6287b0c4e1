"""Eight numbers as one value of compiled loops, where LLVM does not see by itself that sums can stay in registers.

It must suppose that a store to one array changes another. A `Lanes` value is no array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsco_bench.fused.compiled import available

WIDTH = 8
"""Numbers of a value: a register of the widest vectors, and several of narrower ones. Without Numba it is an array."""


def lanes_at(array: Any, row: Any, column: Any) -> Any:
    """``array[row, column : column + 8]`` of a contiguous array of float64."""
    return array[row, column : column + WIDTH]


def put_lanes(array: Any, row: Any, column: Any, value: Any) -> None:
    """Write eight numbers to ``array[row, column : column + 8]``."""
    array[row, column : column + WIDTH] = value


def added(total: Any, factor: Any, value: Any) -> Any:
    """``total + factor value``, factor a number, rounded once where the core can."""
    return total + factor * value


def no_lanes() -> Any:
    """Eight zeros."""
    return np.zeros(WIDTH)


if available():
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic, models, register_model

    ir = cgutils.ir

    class Lanes(types.Type):
        """The type of such values."""

        def __init__(self) -> None:
            super().__init__(name="Lanes")

    LANES = Lanes()
    VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)

    @register_model(Lanes)
    class LanesModel(models.PrimitiveModel):
        """A vector of LLVM."""

        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, VECTOR)

    def _address(context: Any, builder: Any, kind: Any, array: Any, row: Any, column: Any) -> Any:
        made = context.make_array(kind)(context, builder, array)
        at = cgutils.get_item_pointer(context, builder, kind, made, [row, column], wraparound=False)
        return builder.bitcast(at, VECTOR.as_pointer())

    @intrinsic
    def lanes_at(typing: Any, array: Any, row: Any, column: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            kind, *places = signature.args
            rows = [context.cast(builder, v, k, types.intp) for v, k in zip(given[1:], places, strict=True)]
            return builder.load(_address(context, builder, kind, given[0], *rows), align=8)

        return LANES(array, row, column), generate

    @intrinsic
    def put_lanes(typing: Any, array: Any, row: Any, column: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            kind, *places, _ = signature.args
            rows = [context.cast(builder, v, k, types.intp) for v, k in zip(given[1:3], places, strict=True)]
            builder.store(given[3], _address(context, builder, kind, given[0], *rows), align=8)
            return context.get_dummy_value()

        return types.none(array, row, column, value), generate

    @intrinsic
    def added(typing: Any, total: Any, factor: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            total, factor, value = given
            first = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), factor, ir.IntType(32)(0))
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
            spread = builder.shuffle_vector(first, ir.Constant(VECTOR, ir.Undefined), zeros)
            return builder.fadd(total, builder.fmul(spread, value, flags=("contract",)), flags=("contract",))

        return LANES(LANES, types.float64, LANES), generate

    @intrinsic
    def no_lanes(typing: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            return ir.Constant(VECTOR, [0.0] * WIDTH)

        return LANES(), generate
