"""A process that tries cases one after the other: ``python -m tests.fuzz.worker FOLDER``.

It reads tasks from its input, a line of JSON each, and answers with a line per case.
"""

from __future__ import annotations

import faulthandler
import gc
import io
import json
import logging
import os
import pickle
import resource
import shutil
import signal
import sys
import time
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from mechid.cli import progress
from mechid.errors import MechidError
from mechid.measurementfile import apart
from mechid.runs import folder as run_folder

from .apart_server import Forking
from .forms import Seed, mutated
from .guard import ForbiddenError, Guard, writable
from .kinds import KINDS, Shares, vocabulary

MEMORY = 1 << 30  # bytes that a case may take
_LONGEST = 2000  # characters of a message


class Worker:
    """Tries cases; `scratch` is the folder that they may write."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.case = scratch / "case"
        self.terminal = os.open(scratch / "terminal", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        self.answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(self.terminal, 1)
        os.dup2(self.terminal, 2)
        self.warned: list[str] = []
        warnings.simplefilter("always")
        warnings.showwarning = lambda m, c, file, line, *_, **__: self.warned.append(
            f"{c.__name__}: {m}, {file.rpartition('/mechid/')[2]}:{line}"
        )
        self.guard = Guard(writable(scratch))
        sys.addaudithook(self.guard.audit)
        self.seeds: dict[str, tuple[list[Seed], tuple[str, ...]]] = {}
        self.forking = Forking()
        apart.subprocess = self.forking  # type: ignore[assignment]
        # Kernels that other processes would compile are no work of the file that is read.
        progress.compile_ahead = lambda: False
        # What mechid itself says, as of a run that was stopped, is for those who ask for it.
        logging.getLogger("mechid").addHandler(logging.NullHandler())
        _compile_once()
        _load_once()

    def prepare(self, kind: str) -> None:
        """Make the seeds of a kind, or take those that an earlier process made; read each once."""
        if kind in self.seeds:
            return
        Shares.choose(thorough=False)
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        kept = self.scratch / f"{kind}.seeds"
        if kept.exists():
            found = pickle.loads(kept.read_bytes())
        else:
            folder = self.scratch / "seeds" / kind
            folder.mkdir(parents=True)
            with redirect_stdout(io.StringIO()):
                found = KINDS[kind].seeds(folder)
            kept.write_bytes(pickle.dumps(found))
        self.seeds[kind] = found, vocabulary(kind, found)
        for seed in found[:3]:
            path = self._placed(kind, seed, seed.data)
            KINDS[kind].read(path, _Always(0.0))
            if seed is found[0]:
                with suppress(MechidError):  # everything that is loaded when it is needed: now
                    KINDS[kind].read(path, _Always(1.0))
        gc.collect()
        gc.freeze()  # what is loaded now stays: it need not be searched for garbage again
        self._memory = _peak()
        limit = (
            MEMORY + int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        )
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))

    def _placed(self, kind: str, seed: Seed, data: bytes) -> Path:
        """Write a file where it is read from; return what is given to the reader."""
        folder = self.case / kind
        path = folder / seed.name
        if KINDS[kind].inside:
            whole = folder / Path(seed.name).parts[0]
            shutil.rmtree(whole, ignore_errors=True)
            for other in self.seeds[kind][0]:
                place = folder / other.name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(data if other is seed else other.data)
            return whole
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def made(self, kind: str, seed: int, number: int) -> tuple[Random, Seed, bytes]:
        """Return the file of a case, and the generator for the rest."""
        rng = Random(f"{kind}/{seed}/{number}")
        seeds, words = self.seeds[kind]
        chosen = rng.choice(seeds)
        return rng, chosen, mutated(rng, chosen, seeds, words)

    def attempt(self, kind: str, seed: int, number: int) -> dict[str, Any]:
        """Try a case and say what came of it."""
        rng, chosen, data = self.made(kind, seed, number)
        path = self._placed(kind, chosen, data)
        by_command = KINDS[kind].command
        command = rng.random() < Shares.commands and by_command is not None
        self.warned.clear()
        self.guard.seen.clear()
        begin = self._used()
        self.guard.active = True
        try:
            if command and by_command is not None:
                result, words = self._command(by_command(path))
            else:
                result, words = read_case(kind, path, rng)
        finally:
            self.guard.active = False
        spent = self._used() - begin
        if self.guard.seen:
            result, words = "forbidden", self.guard.seen[0]
        elif self.warned and result in ("accepted", "refused"):
            result, words = "warning", self.warned[0]
        elif (told := self._told()) and result in ("accepted", "refused"):
            result, words = "terminal", told
        memory, self._memory = _peak() - self._memory, max(_peak(), self._memory)
        found = {"result": result, "words": words, "seconds": spent, "memory": memory}
        if result not in ("accepted", "refused"):
            found |= {"name": chosen.name, "data": data.hex()}
        return found | {"command": command}

    def _command(self, arguments: list[str]) -> tuple[str, str]:
        from mechid.cli.app import main

        out, err = io.StringIO(), io.StringIO()
        code: Any = 0
        try:
            with redirect_stdout(out), redirect_stderr(err):
                main(arguments)
        except SystemExit as leaving:
            code = leaving.code or 0
        except BaseException as error:
            return _cause(error)
        said = err.getvalue()
        if code == 2:
            last = said.strip().splitlines()[-1:] or [""]
            if not last[0].startswith("error: ") or len(last[0]) > _LONGEST or "\x1b" in said:
                return "message", f"{arguments[0]}: {said[-300:]}"
            return "refused", ""
        wrong = code not in (0, 1) or "Traceback" in said
        return ("message", f"exit {code}: {said[-300:]}") if wrong else ("accepted", "")

    def _used(self) -> float:
        """Return processor time of this process and of those that read files, s."""
        return time.process_time() + self.forking.seconds

    def _told(self) -> str:
        """Return what a library has written to the terminal, and forget it."""
        sys.stdout.flush()
        sys.stderr.flush()
        size = os.fstat(self.terminal).st_size
        if not size:
            return ""
        text = os.pread(self.terminal, 300, 0).decode("utf-8", "replace")
        os.ftruncate(self.terminal, 0)
        os.lseek(self.terminal, 0, os.SEEK_SET)
        return text

    def serve(self) -> None:
        """Answer tasks until there are no more."""
        for line in sys.stdin:
            task = json.loads(line)
            kind, seed = task["kind"], task["seed"]
            self.prepare(kind)
            Shares.choose(task["thorough"])
            self._told()
            self._answer({"ready": kind})
            for number in range(task["start"], task["stop"]):
                self._answer({"number": number} | self.attempt(kind, seed, number))

    def _answer(self, words: dict[str, Any]) -> None:
        self.answers.write(json.dumps(words) + "\n")
        self.answers.flush()


class _Always(Random):
    """A generator whose shares are all taken, or none of them."""

    def __init__(self, value: float) -> None:
        super().__init__(0)
        self._value = 1.0 - value

    def random(self) -> float:
        return self._value * 0.999


def read_case(kind: str, path: Path, rng: Random) -> tuple[str, str]:
    """Read a file; return what came of it, and the cause if that is a defect."""
    try:
        KINDS[kind].read(path, rng)
    except MechidError as error:
        said = str(error)
        if len(said) > _LONGEST or not said.isprintable():
            what = "long" if len(said) > _LONGEST else "not printable"
            return "message", f"{what} of {type(error).__name__}\n{said}"
        return "refused", ""
    except BaseException as error:
        return _cause(error)
    return "accepted", ""


def _cause(error: BaseException) -> tuple[str, str]:
    """Return what an error is and where it was raised: the same for the same defect."""
    if isinstance(error, ForbiddenError):
        return "forbidden", str(error)
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "/mechid/" in f.filename] or frames
    last = own[-1]
    place = f"{last.filename.rpartition('/mechid/')[2]}:{last.lineno} {last.name}"
    return "memory" if isinstance(error, MemoryError) else "exception", (
        f"{type(error).__name__} at {place}: {str(error)[:200]}"
    )


def _compile_once() -> None:
    """Let the library for bags keep the functions that it writes anew for every file."""
    from rosbags.serde import utils

    compiled = lru_cache(lambda text: compile(text, "<bag>", "exec"))
    utils.exec = lambda text, names: exec(compiled(text), names)  # type: ignore[attr-defined]


def _load_once() -> None:
    """Let runs keep their model: any other file than the one of the seed is refused unread."""
    read = run_folder.load
    same_bytes = lru_cache(lambda data, path: read(path))
    run_folder.load = lambda path: same_bytes(path.read_bytes(), path)  # type: ignore[assignment]


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """Run in a folder."""
    scratch = Path(sys.argv[1])
    (scratch / "case").mkdir(exist_ok=True)
    stacks = (scratch / "stacks").open("w")
    faulthandler.enable(stacks)
    faulthandler.register(signal.SIGUSR1, stacks)
    os.chdir(scratch / "case")
    Worker(scratch).serve()


if __name__ == "__main__":
    main()
