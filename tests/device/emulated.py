"""CUDA texts as shared libraries: compiled by a host compiler over `emulation.h`, and by nvcc for what they cost."""

import ctypes
import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

COMPILER = shutil.which("g++") or shutil.which("c++")
HEADER = Path(__file__).with_name("emulation.h")
FLAGS = ["-std=c++17", "-O2", "-ffp-contract=off", "-shared", "-fPIC"]
FLAGS += ["-Wall", "-Wno-unused-function", "-Wno-clobbered", "-U_FORTIFY_SOURCE"]
KERNEL = re.compile(r'extern "C" __global__ void (?:__launch_bounds__\([^)]*\) )?(\w+)\(')
ERRORS = {1: "threads of a block do not meet", 2: "arguments of another number or size than the kernel's"}


@functools.cache
def library(text, options=()):
    """The kernels of a text as a library; kept in the temporary folder by text, compiler flags and header."""
    names = KERNEL.findall(text)
    source = f'#include "{HEADER}"\n' + text + "".join(f"\nEMULATED({name})" for name in names)
    defines = [option for option in options if option.startswith("-D")]
    key = hashlib.sha256(repr((source, HEADER.read_text(), FLAGS, defines)).encode()).hexdigest()[:20]
    target = Path(tempfile.gettempdir()) / f"dpsco-emulated-{os.getuid()}" / f"{key}.so"
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            file, built = Path(folder) / "kernels.cpp", Path(folder) / "kernels.so"
            file.write_text(source)
            command = [COMPILER, *FLAGS, *defines, str(file), "-o", str(built)]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            built.rename(target)
    return ctypes.CDLL(str(target))


def run(code, options, name, grid, block, arguments, backwards=False):
    """Run a kernel: ``arguments`` are contiguous arrays, which go as pointers, and NumPy scalars."""
    values, sizes = [], []
    for value in arguments:
        if isinstance(value, np.ndarray):
            assert value.flags.c_contiguous, f"{name}: an array that is not contiguous"
            values.append(ctypes.c_void_p(value.ctypes.data))
        else:
            assert isinstance(value, np.generic), f"{name}: {value!r} is neither an array nor a NumPy scalar"
            values.append(np.ctypeslib.as_ctypes_type(value.dtype)(value.item()))
        sizes.append(ctypes.sizeof(values[-1]))
    pointers = (ctypes.c_void_p * len(values))(*(ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values))
    function = getattr(library(code, options), f"launch_{name}")
    failed = function(grid, block, ctypes.c_bool(backwards), len(sizes), (ctypes.c_int * len(sizes))(*sizes), pointers)
    assert not failed, f"{name}: {ERRORS[failed]}"


ARCHITECTURES = ("80", "90", "100")


def missing_nvcc():
    """Why nothing can be compiled for a GPU here; empty where it can."""
    return "" if shutil.which("nvcc") and shutil.which("ptxas") else "nvcc and ptxas are not installed"


@functools.cache
def nvcc_release():
    said = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
    return re.search(r"release [\d.]+", said)[0]


def costs(text, options, folder):
    """Of each kernel of a text, ``{kernel: {architecture: (registers, bytes on the stack, bytes spilled)}}``."""
    source = Path(folder) / "kernels.cu"
    source.write_text(text)
    code = [f"-gencode=arch=compute_{a},code=sm_{a}" for a in ARCHITECTURES]
    command = ["nvcc", "-fatbin", *options, *code, "-Xptxas", "-v", str(source), "-o", f"{folder}/kernels.fatbin"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = {}
    for report in done.stderr.split("ptxas info    : Compiling entry function ")[1:]:
        name, architecture = re.match(r"'(\w+)' for 'sm_(\d+)'", report).groups()
        registers = int(re.search(r"Used (\d+) registers", report)[1])
        spilled = sum(map(int, re.findall(r"(\d+) bytes spill", report)))
        stack = int(re.search(r"(\d+) bytes stack frame", report)[1])
        found.setdefault(name, {})[architecture] = registers, stack, spilled
    return found
