"""The trials of one command: killed, out of disk, failing operations; and what is left of it."""

from __future__ import annotations

import errno
import random
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .cases import Argv, Case
from .child import NONE, Ended, Fault, Mode, run
from .trees import Tree, fresh, left_over, tree, whole, wrong

ERRORS = (errno.ENOSPC, errno.EIO, errno.ENOSPC, errno.EACCES)


@dataclass
class Bench:
    """Where the trials happen: prepared inputs, and a folder that is made anew for each trial."""

    inputs: Path
    work: Path

    def prepare(self, case: Case) -> Path:
        """Return a folder with the inputs of a case and a file that has nothing to do with it."""
        folder = self.work.with_name("prepared")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "notes.txt").write_text("of the user", "utf-8")
        for name in case.inputs:
            source = self.inputs / name
            copy = shutil.copytree if source.is_dir() else shutil.copy2
            copy(source, folder / name)
        return folder


@dataclass
class Found:
    """What the trials of a command found.

    Attributes
    ----------
    operations : int
        File operations of the undisturbed command.
    seconds : float
        Its duration.
    trials : Counter
        Number of trials of each kind.
    outcomes : Counter
        How the folder was left after kills: as before, whole, between.
    states : int
        Different states of the folder from which the command was started again.
    problems : list of str
    """

    operations: int = 0
    seconds: float = 0.0
    trials: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    states: int = 0
    problems: list[str] = field(default_factory=list)


class Trials:
    """The trials of one command from one folder."""

    def __init__(self, bench: Bench, case: Case, argv: Argv, prepared: Path) -> None:
        self.bench, self.case, self.argv, self.prepared = bench, case, argv, prepared
        self.before = tree(prepared)
        undisturbed = self._undisturbed()
        self.after, self.found = whole(tree(bench.work)), Found(undisturbed.operations)
        self.found.seconds, self.versions = undisturbed.seconds, undisturbed.versions
        self._known: dict[frozenset[tuple[str, str]], None] = {}
        self._reads: dict[Argv, set[str | None]] = {}
        self._complete = bench.work.with_name("complete")
        fresh(bench.work, self._complete)

    def _undisturbed(self) -> Ended:
        ended = self._run(NONE)
        if ended.status != 0:
            raise AssertionError(f"{' '.join(self.argv)}: {ended.err}")
        return ended

    def _run(self, fault: Fault) -> Ended:
        fresh(self.prepared, self.bench.work)
        return run(self.argv, self.bench.work, fault)

    def kill_at_operations(self, step: int = 1) -> None:
        """Kill right after every file operation, or in the middle of it where it writes."""
        for n in range(1, self.found.operations + 1, step):
            ended = self._run(Fault(Mode.KILL, n))
            self._killed(ended, "killed at an operation", f"killed at {n}")

    def kill_at_times(self, kills: int, draw: random.Random) -> None:
        """Kill at random times until so many kills hit the command while it ran."""
        hit, lasts = 0, self.found.seconds
        for _ in range(2 * kills):
            if hit == kills:
                return
            after = draw.uniform(0, lasts)
            ended = self._run(Fault(after=after))
            hit += ended.killed
            if not ended.killed:  # the machine is faster now
                lasts = (lasts + ended.seconds) / 2
            kind = "killed at a time" if ended.killed else "finished before"
            self._killed(ended, kind, f"after {after:.3f} s", must=False)

    def fail_operations(self, step: int = 1) -> None:
        """Let the disk be full from a file operation on, or the operation fail, in turn."""
        for n in range(1, self.found.operations + 1, step):
            error = ERRORS[n % len(ERRORS)]
            if error == errno.ENOSPC:
                ended = self._run(Fault(Mode.DISK_FULL, n))
            else:
                ended = self._run(Fault(Mode.FAIL, n, error))
            kind = "disk full" if error == errno.ENOSPC else "operation failed"
            self._failed(ended, kind, f"{errno.errorcode[error]} at {n}")

    def _killed(self, ended: Ended, kind: str, words: str, *, must: bool = True) -> None:
        self.found.trials[kind] += 1
        if must and not ended.killed:
            self._problem(words, f"was not killed, status {ended.status}: {ended.err[-300:]}")
        state = tree(self.bench.work)
        kept = whole(state)
        is_new = kept == self.after
        outcome = "whole" if is_new else "as before" if kept == whole(self.before) else "between"
        self.found.outcomes[outcome] += 1
        self._inspect(state, words)

    def _failed(self, ended: Ended, kind: str, words: str) -> None:
        self.found.trials[kind] += 1
        state = tree(self.bench.work)
        if not ended.plain:
            self._problem(words, f"status {ended.status}, no clear message: {ended.err[-400:]}")
        if ended.status == 0 and whole(state) != self.after:
            self._problem(words, "ended with 0, and the result is another")
        parts = [x for x in state if x.endswith(".part")]
        if parts and kind == "disk full":
            self._problem(words, f"left {parts[0]}")
        self._inspect(state, words)

    def _inspect(self, state: Tree, words: str) -> None:
        """Look at what is there, read it, and start the command again; equal states once."""
        named = frozenset((_plain_name(n), "" if left_over(n) else h) for n, h in state.items())
        if named in self._known:
            return
        self._known[named] = None
        self.found.states += 1
        for text in wrong(state, self.before, self.after, self.versions):
            self._problem(words, text)
        stopped = self.bench.work.with_name("stopped")
        fresh(self.bench.work, stopped)
        for argv in self.case.reads:
            fresh(stopped, self.bench.work)
            ended = run(argv, self.bench.work)
            if not ended.plain:
                said = f"then {' '.join(argv)}: status {ended.status}: {ended.err[-400:]}"
                self._problem(words, said)
            told = self.case.said in ended.out + ended.err
            if ended.status == 0 and not told and self._read() not in self._whole_reads(argv):
                self._problem(words, f"then {' '.join(argv)}: half a result is not called one")
        fresh(stopped, self.bench.work)
        if "--add" not in self.argv or whole(state) != self.after:  # it would add once more
            self._again(words)

    def _read(self) -> str | None:
        """Return the hash of what a command has read and written again."""
        return next((h for n, h in tree(self.bench.work).items() if n.startswith("read.")), None)

    def _whole_reads(self, argv: Argv) -> set[str | None]:
        """Return what a command reads from the old result and from the new one."""
        if argv not in self._reads:
            self._reads[argv] = set()
            for source in (self.prepared, self._complete):
                fresh(source, self.bench.work)
                run(argv, self.bench.work)
                self._reads[argv].add(self._read())
        return self._reads[argv]

    def _again(self, words: str) -> None:
        ended = run(self.argv, self.bench.work)
        if ended.status == 2 and ended.plain and "--force" in ended.err:
            ended = run(self.case.forced, self.bench.work)
        if ended.status != 0:
            self._problem(words, f"then again: status {ended.status}: {ended.err[-400:]}")
            return
        for text in self._differences(whole(tree(self.bench.work))):
            self._problem(words, f"then again: {text}")

    def _differences(self, kept: Tree) -> Iterator[str]:
        for name in sorted(self.after.keys() | kept.keys()):
            if kept.get(name) != self.after.get(name):
                missing = "missing" if name not in kept else "left over"
                yield f"{name} is {'another' if name in kept and name in self.after else missing}"

    def _problem(self, words: str, what: str) -> None:
        self.found.problems.append(f"{words}: {what}")
        sys.stderr.write(f"{' '.join(self.argv)}: {words}: {what}\n")


def _plain_name(name: str) -> str:
    """Return a name without what is random in it."""
    if not left_over(name):
        return name
    return re.sub(r"[0-9a-f]{32}", "", name)
