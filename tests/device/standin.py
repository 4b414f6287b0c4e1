"""A module named ``cupy`` for machines without a GPU: the real namespace's names, its strictness, and counts.

Arrays lie on the host behind a wrapper that, as CuPy's, takes no host arrays and gives none without being asked.
``COUNT`` has the launches, uploads and synchronisations of a run, as CuPy would make them, and the launches of each
kernel of `RawModule`, which runs over `emulation.h`. It knows the public names of CuPy 14.
"""

import collections
import json
import operator
import sys
import types
from pathlib import Path

import numpy as np

from . import emulated

NAMES = json.loads(Path(__file__).with_name("cupy14.json").read_text())
COUNT = collections.Counter()  # launch, upload, sync; launches by the name of a kernel
MEMORY = 8 << 30  # bytes of the card
SCALARS = (np.generic, int, float, complex)
FREE = {"reshape", "broadcast_to", "transpose", "expand_dims", "squeeze", "moveaxis", "swapaxes", "permute_dims"}
FREE |= {"ravel", "atleast_1d", "flip", "broadcast_arrays", "diagonal", "result_type", "can_cast", "shape", "ndim"}
FREE |= {"isscalar", "empty", "empty_like", "broadcast_shapes", "iscomplexobj", "may_share_memory"}
MAKERS = ("asarray", "array", "ascontiguousarray", "asanyarray")
TAKE_ANYTHING = {"full", "result_type", "can_cast", "shape", "ndim", "finfo"}
TAKE_ANYTHING |= {"isscalar", "zeros", "ones", "empty", "arange"}


def count_call(name):
    COUNT["sync"] += name.startswith("linalg.") and name != "linalg.norm"
    COUNT["launch"] += name not in FREE


def refuse(value):
    raise TypeError(f"Unsupported type {type(value)}")


def inside(value):
    """The host array of an argument."""
    if isinstance(value, np.ndarray):
        refuse(value)
    if isinstance(value, list | tuple):
        return type(value)(map(inside, value))
    return value._a if isinstance(value, ndarray) else value


def outside(value):
    if isinstance(value, np.ndarray | np.generic):
        return ndarray._of(np.asarray(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(outside, value))
    return type(value)(map(outside, value)) if isinstance(value, tuple | list) else value


def launched(function, *arguments):
    COUNT["launch"] += 1
    return outside(function(*map(inside, arguments)))


def made(name, function, args, keys):
    """Arrays from what lies on the host, on the device, or in lists of either."""
    given = args[0]
    if isinstance(given, ndarray):
        found = function(given._a, *args[1:], **keys)
        if np.shares_memory(found, given._a) and found.dtype == given.dtype and name != "array":
            return given if found is given._a else ndarray._of(found)
        COUNT["launch"] += 1
        return ndarray._of(np.array(found))
    if isinstance(given, list | tuple) and any(isinstance(v, ndarray) for v in given):
        COUNT["launch"] += len(given) + 1
        return outside(function([inside(v) for v in given], *args[1:], **keys))
    COUNT["upload"] += 1
    return ndarray._of(np.array(function(given, *args[1:], **keys)))


def wrapped(name, function):
    def call(*args, **keys):
        if name in MAKERS:
            return made(name, function, args, keys)
        if name not in TAKE_ANYTHING and args and not isinstance(args[0], TAKEN):
            refuse(args[0])
        given, named = [inside(v) for v in args], {key: inside(v) for key, v in keys.items()}
        count_call(name)
        return outside(function(*given, **named))

    call.__name__ = name
    return call


class ndarray:  # noqa: N801
    __array_priority__ = 100
    __slots__ = ("_a",)
    __module__ = "cupy"

    def __init__(self, shape, dtype=float):
        self._a = np.empty(shape, dtype)

    @classmethod
    def _of(cls, array):
        self = object.__new__(cls)
        self._a = array
        return self

    def __array__(self, *args, **keys):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()` instead.")

    def __array_ufunc__(self, ufunc, method, *inputs, **keys):
        function = getattr(sys.modules["cupy"], ufunc.__name__, None)
        return NotImplemented if method != "__call__" or function is None else function(*inputs, **keys)

    def __array_function__(self, function, types, args, keys):
        found = getattr(sys.modules["cupy"], function.__name__, None)
        return NotImplemented if found is None or function.__module__ != "numpy" else found(*args, **keys)

    def get(self, *args, **keys):
        COUNT["sync"] += 1
        return np.array(self._a)

    def _index(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        masks = sum(isinstance(part, ndarray) and part.dtype == np.bool_ for part in keys)
        COUNT.update(sync=masks, launch=3 * masks, upload=sum(isinstance(part, np.ndarray | list) for part in keys))
        found = tuple(part._a if isinstance(part, ndarray) else part for part in keys)
        gathers = any(isinstance(part, ndarray | np.ndarray | list) for part in keys)
        return (found if isinstance(key, tuple) else found[0]), gathers

    def __getitem__(self, key):
        index, gathers = self._index(key)
        COUNT["launch"] += gathers
        found = self._a[index]
        alone = not isinstance(found, np.ndarray)  # still a view
        return ndarray._of(self._a[(*np.atleast_1d(index), None)][0:1].reshape(()) if alone else found)

    def __setitem__(self, key, value):
        index, _ = self._index(key)
        COUNT.update(launch=1, upload=int(isinstance(value, np.ndarray)))
        self._a[index] = value._a if isinstance(value, ndarray) else value

    def astype(self, dtype, *args, copy=True, **keys):
        unchanged = not copy and self._a.dtype == dtype
        return self if unchanged else launched(lambda array: array.astype(dtype, *args, **keys), self)

    def view(self, *args):
        return ndarray._of(self._a.view(*args))

    def __len__(self):
        return len(self._a)

    def __iter__(self):
        if self._a.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self._a)))

    def __hash__(self):
        raise TypeError("unhashable type: 'cupy.ndarray'")

    def __repr__(self):
        return f"cupy.{self._a!r}"

    def __getattr__(self, name):
        if name.startswith("__") or name not in NAMES["methods"] or not hasattr(np.ndarray, name):
            raise AttributeError(f"'cupy.ndarray' object has no attribute {name!r}")
        if name in ("item", "tolist"):
            return getattr(self.get(), name)
        found = getattr(self._a, name)
        if not callable(found):
            return outside(found) if isinstance(found, np.ndarray) else found

        def method(*args, **keys):
            count_call(name)
            return outside(found(*map(inside, args), **{key: inside(v) for key, v in keys.items()}))

        return method


TAKEN = (ndarray, list, tuple, *SCALARS, str, types.EllipsisType)  # of a first argument that every call takes
ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
ARITHMETIC += ("and", "or", "xor", "lshift", "rshift")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def _binary(function, swapped=False):
    def method(self, other):
        if isinstance(other, np.ndarray | list | tuple):
            refuse(other)
        if not isinstance(other, (ndarray, *SCALARS)):
            return NotImplemented
        return launched(function, other, self) if swapped else launched(function, self, other)

    return method


def _in_place(function):
    def method(self, other):
        if isinstance(other, np.ndarray):
            refuse(other)
        COUNT["launch"] += 1
        self._a[...] = function(self._a, inside(other))
        return self

    return method


for _name, _convert in (("float", float), ("int", int), ("index", operator.index), ("bool", bool)):
    setattr(ndarray, f"__{_name}__", lambda self, convert=_convert: convert(self.get()))
for _of in (operator.neg, operator.abs, operator.invert, operator.pos):
    setattr(ndarray, f"__{_of.__name__}__", lambda self, of=_of: launched(of, self))
for _name in (*ARITHMETIC, *COMPARISONS):
    _function = getattr(operator, {"and": "and_", "or": "or_"}.get(_name, _name))
    setattr(ndarray, f"__{_name}__", _binary(_function))
    if _name in ARITHMETIC:
        setattr(ndarray, f"__r{_name}__", _binary(_function, swapped=True))
        setattr(ndarray, f"__i{_name}__", _in_place(_function))


class RawModule:
    """Kernels over `emulation.h`; ``BACKWARDS`` lets the threads of a block run from the last to the first."""

    BACKWARDS = False

    def __init__(self, code, options=(), **keys):
        self._code, self._options = code, tuple(options)

    def get_function(self, name):
        def call(grid, block, arguments):
            COUNT.update({"launch": 1, name: 1})
            given = map(inside, arguments)
            emulated.run(self._code, self._options, name, grid[0], block[0], given, RawModule.BACKWARDS)

        return call


def array_namespace(*arrays):
    return sys.modules["cupy"] if any(isinstance(a, ndarray) for a in arrays) else np


def module():
    cupy = types.ModuleType("cupy")
    for name in NAMES["public"]:
        found = getattr(np, name, None)
        if isinstance(found, (type, *SCALARS)) or found is None and name == "newaxis":
            setattr(cupy, name, found)
        elif callable(found):
            setattr(cupy, name, wrapped(name, found))
    linalg = types.SimpleNamespace(LinAlgError=np.linalg.LinAlgError)
    for name in NAMES["linalg"]:
        if callable(getattr(np.linalg, name, None)) and not hasattr(linalg, name):
            setattr(linalg, name, wrapped(f"linalg.{name}", getattr(np.linalg, name)))
    cupy.ndarray, cupy.linalg, cupy.RawModule, cupy.errstate = ndarray, linalg, RawModule, np.errstate
    cupy.bool, cupy.__version__, cupy.is_available = np.bool_, "14.0.0", lambda: True
    cupy.asnumpy = lambda x: x.get() if isinstance(x, ndarray) else np.asarray(x)
    cupy.get_array_module = array_namespace
    device = types.SimpleNamespace(id=0, mem_info=(MEMORY, MEMORY), synchronize=lambda: COUNT.update(sync=1))
    cupy.EMULATED = True
    cupy.get_default_memory_pool = lambda: types.SimpleNamespace(total_bytes=lambda: 1 << 20, free_all_blocks=int)
    told = {"name": b"no device: emulated"}
    runtime = types.SimpleNamespace(getDeviceProperties=lambda i: told, memGetInfo=lambda: (MEMORY, MEMORY))
    cupy.cuda = types.SimpleNamespace(runtime=runtime, Device=lambda *args: device)
    return cupy
