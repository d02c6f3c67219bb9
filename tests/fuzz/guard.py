"""What no file may cause: writing elsewhere, starting programs, opening connections.

The interpreter reports such acts before they happen (PEP 578), and the guard forbids them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

# Programs and connections. (Sets: the hook is called for every `id`, too.)
_NEVER = frozenset({
    "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.startfile", "pty.spawn",
    "socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto", "urllib.Request",
})  # fmt: skip
# Events whose first arguments are paths that change.
_CHANGES = {
    "os.rename": 2, "os.remove": 1, "os.rmdir": 1, "os.mkdir": 1, "os.link": 2, "os.symlink": 2,
    "os.chmod": 1, "os.chown": 1, "os.truncate": 1, "os.utime": 1, "shutil.rmtree": 1,
    "shutil.move": 2, "shutil.copyfile": 2,
}  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class ForbiddenError(BaseException):
    """An act that no input may cause; no handler of exceptions stops it."""


class Guard:
    """Forbids acts while `active`; to be added as an audit hook, which cannot be taken away."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self.active = False
        self.seen: list[str] = []
        self._folders = tuple(f"{os.path.realpath(x)}{os.sep}" for x in folders)

    def audit(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "builtins.id" or not self.active:  # most events
            return
        if event == "open":
            path, _, flags = args
            if isinstance(flags, int) and flags & _WRITING and not self._allowed(path):
                self._forbid(f"writes {path}")
        elif event in _CHANGES:
            for path in args[: _CHANGES[event]]:
                if not self._allowed(path):
                    self._forbid(f"{event} {path}")
        elif event in _NEVER:
            self._forbid(f"{event} {str(args)[:200]}")

    def _allowed(self, path: Any) -> bool:
        if not isinstance(path, str | bytes | os.PathLike):
            return True  # a file that is open already
        real = os.path.realpath(os.fsdecode(path))
        modules = "/__pycache__/" in real  # loaded when they are needed
        return modules or real == os.devnull or f"{real}{os.sep}".startswith(self._folders)

    def _forbid(self, words: str) -> None:
        self.seen.append(words)
        raise ForbiddenError(words)


def writable(scratch: Path) -> list[Path]:
    """Return where a case may write: its folder, and compiled kernels."""
    os.environ["TMPDIR"] = str(scratch)
    tempfile.tempdir = str(scratch)
    caches = [os.environ.get("MECHID_CACHE_DIR"), Path(__file__).parents[2] / "src"]
    return [scratch, *(Path(x) for x in caches if x)]
