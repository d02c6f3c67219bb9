"""CuPy without a GPU: NumPy, and kernels compiled as plain C++; for tests on any machine."""

from __future__ import annotations

import ctypes
import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from .compiled_c import as_plain_cpp, pointer


class _RuntimeError(RuntimeError):
    pass


def fake_cupy(gpus: int = 1) -> ModuleType:
    """Return a module that can stand in `sys.modules` for CuPy."""
    module = ModuleType("cupy")
    for name in dir(np):
        setattr(module, name, getattr(np, name))
    module.asnumpy = np.asarray  # type: ignore[attr-defined]
    module.RawModule = lambda code, options: _Module(code)  # type: ignore[attr-defined]
    runtime = SimpleNamespace(CUDARuntimeError=_RuntimeError, getDeviceCount=lambda: gpus)
    device = SimpleNamespace(use=lambda: None)
    module.cuda = SimpleNamespace(runtime=runtime, Device=lambda number: device)  # type: ignore
    return module


class _Module:
    def __init__(self, code: str) -> None:
        self.code = code

    def get_function(self, name: str) -> Any:
        return _function(self.code, name)


@cache
def _function(code: str, name: str) -> Any:
    found = re.search(rf'extern "C" __global__ void {name}\(([^)]*)\)', code)
    assert found is not None
    declared = found[1].replace("__restrict__", "")
    given = ", ".join(re.findall(r"(\w+)\s*(?:,|$)", declared))
    threaded = "__syncthreads" in code
    head = "#define SHIM_THREADS\n" if threaded else ""
    with TemporaryDirectory() as folder:
        library = as_plain_cpp(code, name, declared, given, Path(folder), head)

    def launch(grid: Any, block: Any, args: Any, shared_mem: int = 0) -> None:
        del shared_mem
        blocks, threads = (grid[0], block[0]) if threaded else (grid[0] * block[0], 1)
        library.launch(blocks, threads, *map(_given, args))

    return launch


def _given(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return pointer(x)
    return ctypes.c_int(int(x)) if isinstance(x, np.int32) else ctypes.c_longlong(int(x))
