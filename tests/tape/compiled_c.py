"""C and CUDA text compiled by the compiler of the machine, for comparison."""

import ctypes
import subprocess
from pathlib import Path

C_FLAGS = ("gcc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1")
# the compiler does not see that the first of several steps fills what the others use
IGNORED = ("-Wno-unknown-pragmas", "-Wno-maybe-uninitialized")
CPP_FLAGS = ("g++", "-std=c++20", "-Wall", "-Wextra", *IGNORED, "-Werror", "-O1")
SHIM = Path(__file__).parent / "cuda_shim.h"


def compiled(text: str, folder: Path, flags: tuple[str, ...] = C_FLAGS) -> ctypes.CDLL:
    """Return text as a loaded library."""
    source = folder / ("text.c" if flags is C_FLAGS else "text.cpp")
    library = folder / "text.so"
    source.write_text(text)
    subprocess.run(
        [*flags, "-shared", "-fPIC", str(source), "-o", str(library), "-lm", "-pthread"], check=True
    )
    return ctypes.CDLL(str(library))


def as_plain_cpp(
    source: str, kernel: str, declared: str, given: str, folder: Path, head: str = ""
) -> ctypes.CDLL:
    """Return CUDA source with a function `launch(blocks, threads, …)` that runs one kernel."""
    launch = (
        f'extern "C" void launch(unsigned blocks, unsigned threads, {declared})\n'
        f"{{ shim_launch(blocks, threads, [=] {{ {kernel}({given}); }}); }}\n"
    )
    return compiled(f'{head}#include "{SHIM}"\n{source}{launch}', folder, CPP_FLAGS)


def pointer(array):
    """Return the address of the numbers of an array."""
    return ctypes.c_void_p(array.ctypes.data)
