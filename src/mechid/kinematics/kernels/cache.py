"""Compiled kernels kept on disk, under a name that says all that they depend on.

Numba's own cache looks at one source file, and at an index that processes may overwrite for each
other. Here the name of a file has checksums of the types, of the processor and of the kernel's
module with all that it imports: nothing gets stale, and processes do not meet.
"""

from __future__ import annotations

import hashlib
import pickle
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from mechid.tape.store import cache_folders, read, write

_PACKAGE = Path(__file__).parents[2]
# The module, and ahead of the match what is taken from it, which may be modules too.
_IMPORT = re.compile(r"^from (mechid[\w.]*) import(?=[ (]+([\w\s,]+))", re.MULTILINE)


class KernelCache(NullCache):
    """What Numba asks for code compiled before, and gives new code to."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function for a signature, or None."""
        # Numba would enter all the operations that it knows, which only a compilation needs.
        rtsys.initialize(target_context)
        data = read(self._name(sig, target_context.codegen()), _folders())
        return None if data is None else CompileResult._rebuild(target_context, *pickle.loads(data))

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keep a compiled function; what was made of other sources is removed."""
        name = self._name(sig, cres.codegen)
        folder = write(name, dumps(cres._reduce()), _folders())
        if folder is not None:
            for other in folder.glob(f"{self._stem}*.nbc"):
                if not other.name.startswith(self._start):
                    other.unlink(missing_ok=True)

    def kept(self) -> bool:
        """Tell whether code of these sources is on disk, for any types."""
        return any(any(folder.glob(f"{self._start}*.nbc")) for folder in _folders())

    @property
    def _stem(self) -> str:
        f = self._function
        return f"{f.__module__}.{f.__name__}-{sys.implementation.cache_tag}-"

    @property
    def _start(self) -> str:
        return f"{self._stem}{sources(self._function.__module__)}-"

    def _name(self, sig: Any, codegen: Any) -> str:
        key = hashlib.sha256(f"{sig} {codegen.magic_tuple()}".encode())
        return f"{self._start}{key.hexdigest()[:16]}.nbc"


@cache
def sources(module: str) -> str:
    """Return a checksum of a module, of all of mechid that it imports, and of Numba's version."""
    checksum = hashlib.sha256(numba.__version__.encode())
    modules = [module]
    for name in modules:  # which grows
        text = Path(sys.modules[name].__file__ or "").read_text(encoding="utf-8")
        checksum.update(text.encode())
        for source, names in _IMPORT.findall(text):
            taken = [f"{source}.{x}" for x in re.findall(r"\w+", names)]
            modules += [x for x in (source, *taken) if x in sys.modules and x not in modules]
    return checksum.hexdigest()[:16]


def _folders() -> tuple[Path, ...]:
    """Return the folders that are tried; that of the package may have been filled beforehand."""
    return cache_folders(_PACKAGE / "__pycache__")
