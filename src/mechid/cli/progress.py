"""Progress on stderr, and Ctrl-C that lets the work end in good order."""

from __future__ import annotations

import json
import logging
import math
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import FrameType

import typer

from mechid.errors import DataError, MechidError
from mechid.tasks.compile_kernels import compile_ahead

_LOG = logging.getLogger("mechid")
EVERY = 5.0  # seconds between lines of progress where there is no terminal
FILE = "MECHID_PROGRESS"  # names a file that takes progress as lines of JSON, for other programs
_OFTEN = 0.2  # seconds between those


def tell_first_compilation() -> None:
    """Say that kernels will be compiled, if none are kept: before anything heavy is loaded."""
    if compile_ahead():
        _LOG.info("compiling kernels: this is done once and takes about a minute")


@contextmanager
def status(words: str) -> Iterator[None]:
    """Show on a terminal what is being done, until it is done."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(words):
        yield


def load_kernels() -> None:
    """Load what computations need; on a terminal, with the first sign of life.

    It takes longer than everything before it.
    """
    with status("loading"):
        import_module("mechid.dynamics.compile")


class _Lines(logging.Handler):
    """Lines of the log on stderr, as it is when they come."""

    def emit(self, record: logging.LogRecord) -> None:
        level = "" if record.levelno < logging.WARNING else f"{record.levelname.lower()}: "
        typer.echo(f"{level}{record.getMessage()}", err=True)


def log_to_stderr() -> None:
    """Show what the library tells: what is being compiled, and where that is kept."""
    if not _LOG.handlers:
        _LOG.addHandler(_Lines())
        _LOG.setLevel(logging.INFO)
        _LOG.propagate = False


class Interrupt:
    """Whether Ctrl-C was pressed or the time is up; calling it then raises an error."""

    def __init__(self, max_seconds: float | None = None) -> None:
        if max_seconds is not None and not max_seconds > 0:
            raise DataError(f"--max-seconds must be > 0, got {max_seconds:g}")
        self.pressed = False
        self._end = float("inf") if max_seconds is None else time.monotonic() + max_seconds

    @property
    def asked(self) -> bool:
        """Whether the work should end."""
        return self.pressed or time.monotonic() > self._end

    def __call__(self) -> None:
        """Raise if the work should end."""
        if self.asked:
            raise MechidError("interrupted" if self.pressed else "--max-seconds is over")


@contextmanager
def interruptible(max_seconds: float | None = None) -> Iterator[Interrupt]:
    """Turn the first Ctrl-C into a request, heard at the next step; a second one leaves at once.

    So does the end of the time that may be used.
    """
    interrupt = Interrupt(max_seconds)

    def ask(number: int, frame: FrameType | None) -> None:
        if interrupt.pressed:
            raise KeyboardInterrupt
        interrupt.pressed = True
        typer.echo("\nstopping; press Ctrl-C again to quit at once", err=True)

    try:
        before = signal.signal(signal.SIGINT, ask)
    except ValueError:  # not in the main thread: leave Ctrl-C as it is
        yield interrupt
        return
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def progress(what: str, total: float) -> Iterator[Callable[..., None]]:
    """Show a bar on stderr, or lines if that is no terminal; yield a function that says how far it
    is, and optionally the best value so far."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    record = _recorder()
    if not console.is_terminal:
        tell = _plain()

        def told(done: float, best: float | None = None) -> None:
            record(what, None, done / total if total else None, best)
            tell(f"{what}: {done / total:.0%}" if total else what)

        yield told
        return
    shown = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    with shown:
        task = shown.add_task(what, total=total)
        yield lambda done, best=None: shown.update(task, completed=done)


@contextmanager
def steps() -> Iterator[Callable[[str, int, float], None]]:
    """Show on stderr which step of which stage is done; yield a function that is told so."""
    from rich.console import Console

    def words(stage: str, step: int, value: float) -> str:
        return f"{stage}: {step}, {value:.3g}" if step else stage

    console = Console(stderr=True)
    if not console.is_terminal:
        tell, record = _plain(), _recorder()

        def told(stage: str, step: int, value: float) -> None:
            record(stage, step, None, value if step else None)
            tell(words(stage, step, value))

        yield told
        return
    with console.status("working") as status:
        yield lambda *told: status.update(words(*told))


def _plain() -> Callable[[str], None]:
    """Return a function that prints a line on stderr, at most one every few seconds."""
    begin = last = time.monotonic()

    def tell(words: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= EVERY:
            last = now
            typer.echo(f"{now - begin:.0f} s: {words}", err=True)

    return tell


def _recorder() -> Callable[[str, int | None, float | None, float | None], None]:
    """Return a function that writes what is done, which step, which share, the best value so far.

    It writes into the file that the environment names, or does nothing.
    """
    name, begin, last, before = os.environ.get(FILE), time.monotonic(), -math.inf, ""

    def record(what: str, step: int | None, done: float | None, best: float | None) -> None:
        nonlocal last, before
        now = time.monotonic()
        if name is None or (now - last < _OFTEN and what == before):
            return
        last, before = now, what
        finite = best if best is not None and math.isfinite(best) else None
        entry = {"what": what, "step": step, "done": done, "best": finite, "seconds": now - begin}
        with Path(name).open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    return record
