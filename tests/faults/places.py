"""Places that cannot be written, limits, and a wrong clock: one clear message, nothing lost."""

from __future__ import annotations

import os
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path

from mechid.tasks import enough_memory

from .cases import Case
from .child import NONE, Ended, Fault, run
from .trees import fresh, tree, whole
from .trials import Bench, Found

_NOBODY = 65534
_FOLDERS = {"template", "identify", "reduce", "study run"}  # commands whose output is a folder
_RESUMED = "out"  # folder of a study, which keeps what is done
Place = Callable[[Path, str], str]


def _there_as_other_kind(work: Path, name: str) -> str:
    """Return a name of what is there and cannot be replaced: a folder, with something inside."""
    (work / "there").mkdir()
    (work / "there" / name).mkdir()
    (work / "there" / name / "thesis.tex").write_text("years of work", "utf-8")
    return f"there/{name}"


def _in_a_file(work: Path, name: str) -> str:
    (work / "file").write_text("years of work", "utf-8")
    return f"file/{name}"


def _missing_folder(work: Path, name: str) -> str:
    return f"no/such/{name}"


def _too_long(work: Path, name: str) -> str:
    return "x" * 300 + name


def _broken_link(work: Path, name: str) -> str:
    (work / f"link-{name}").symlink_to("no/such/target")
    return f"link-{name}"


def _loop_of_links(work: Path, name: str) -> str:
    (work / f"loop-{name}").symlink_to(f"loop-{name}")
    return f"loop-{name}"


def _full_device(work: Path, name: str) -> str:
    (work / f"full-{name}").symlink_to("/dev/full")
    return f"full-{name}"


def _read_only_folder(work: Path, name: str) -> str:
    (work / "locked").mkdir(mode=0o555)
    return f"locked/{name}"


PLACES: dict[str, Place] = {
    "another thing is there": _there_as_other_kind,
    "inside a file": _in_a_file,
    "folder is missing": _missing_folder,
    "name too long": _too_long,
    "broken link": _broken_link,
    "loop of links": _loop_of_links,
    "full device": _full_device,
    "read-only folder": _read_only_folder,
}


def _other_user() -> None:
    """Become a user without rights, where the trials are run as root."""
    if os.getuid() == 0:
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)


def _small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))


def _memory(room: int) -> Callable[[], None]:
    def limit() -> None:
        enough_memory._limit = lambda: inf  # or the command would be refused before it begins
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        size = pages * resource.getpagesize() + room
        resource.setrlimit(resource.RLIMIT_AS, (size, size))

    return limit


def _clock_set_back() -> None:
    before = time.time

    time.time = lambda: before() - 3.2e8  # ten years
    for path in Path().rglob("*"):
        os.utime(path, (before() + 3e8, before() + 3e8))


def _no_home() -> None:
    for name in ("HOME", "USER", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "TMPDIR"):
        os.environ.pop(name, None)


def _ascii() -> None:
    sys.stdout = open(1, "w", encoding="ascii", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="ascii", errors="backslashreplace", closefd=False)  # noqa: SIM115


LIMITS: dict[str, Callable[[], None]] = {
    "files limited to 400 bytes": _small_files,
    "no more memory": _memory(0),
    "4 MB more memory": _memory(4 << 20),
    "32 MB more memory": _memory(32 << 20),
    "clock set back": _clock_set_back,
    "no home": _no_home,
    "terminal without Unicode": _ascii,
}


def try_places(bench: Bench, name: str, case: Case, prepared: Path, after: dict[str, str]) -> Found:
    """Try every place for every output of a command."""
    found = Found()
    for option in case.outputs:
        at = case.argv.index(option) + 1
        for kind, make in PLACES.items():
            fresh(prepared, bench.work)
            place = make(bench.work, case.argv[at])
            argv = (*case.argv[:at], place, *case.argv[at + 1 :])
            before = tree(bench.work)
            fault = Fault(start=_other_user) if kind == "read-only folder" else NONE
            if fault is not NONE:
                _readable(bench.work)
            ended = run(argv, bench.work, fault)
            found.trials[kind] += 1
            _judge(found, f"{kind}, {option}", ended, before, after, bench.work)
    if name not in _FOLDERS:
        for option in case.outputs:
            _pipe(found, bench, case, prepared, option)
    return found


def try_limits(bench: Bench, case: Case, prepared: Path, after: dict[str, str]) -> Found:
    """Run a command with little of everything."""
    found = Found()
    for kind, start in LIMITS.items():
        fresh(prepared, bench.work)
        before = tree(bench.work)
        ended = run(case.argv, bench.work, Fault(start=start))
        found.trials[kind] += 1
        if ended.status == 0:
            if whole(tree(bench.work)) != after:
                found.problems.append(f"{kind}: another result")
        else:
            _judge(found, kind, ended, before, after, bench.work)
    return found


def _judge(
    found: Found,
    kind: str,
    ended: Ended,
    before: dict[str, str],
    after: dict[str, str],
    work: Path,
) -> None:
    if not ended.plain:
        found.problems.append(f"{kind}: status {ended.status}: {ended.err[-500:]}")
    now = tree(work)
    changed = {name for name, _ in now.items() ^ before.items() if name.split("/")[0] != _RESUMED}
    # Of several files that a command was asked for, those that were whole before one failed stay:
    # what was computed is not lost.
    changed -= {name for name in changed if "/" not in name and now.get(name) == after.get(name)}
    if ended.status != 0 and changed:
        found.problems.append(f"{kind}: changed {min(changed)} though it failed")
    lost = [name for name, hashed in before.items() if now.get(name) != hashed]
    if lost:
        found.problems.append(f"{kind}: lost {lost[0]}")


def _readable(folder: Path) -> None:
    for path in (folder.parent, folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | (0o755 if path.is_dir() else 0o644))
    (folder / "locked").chmod(0o555)


def _pipe(found: Found, bench: Bench, case: Case, prepared: Path, option: str) -> None:
    """Write to a pipe that somebody reads: it gets the whole file, and stays a pipe."""
    at = case.argv.index(option) + 1
    fresh(prepared, bench.work)
    ended = run(case.argv, bench.work)
    expected = (bench.work / case.argv[at]).read_bytes()
    fresh(prepared, bench.work)
    place = bench.work / f"pipe-{case.argv[at]}"
    os.mkfifo(place)
    argv = (*case.argv[:at], place.name, *case.argv[at + 1 :])
    with _reader(place) as read:
        ended = run(argv, bench.work)
    found.trials["pipe"] += 1
    if not ended.plain:
        found.problems.append(f"pipe, {option}: status {ended.status}: {ended.err[-500:]}")
    elif ended.status == 0 and b"".join(read) != expected and b"pipe" not in b"".join(read):
        found.problems.append(f"pipe, {option}: got {len(b''.join(read))} bytes")
    if not place.is_fifo():
        found.problems.append(f"pipe, {option}: replaced by a file")


@contextmanager
def _reader(pipe: Path) -> Iterator[list[bytes]]:
    read: list[bytes] = []
    handle = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    done = threading.Event()

    def drain() -> None:
        while True:
            last = done.is_set()
            try:
                part = os.read(handle, 65536)
            except BlockingIOError:
                part = b""
            if part:
                read.append(part)
            elif last:
                return
            else:
                time.sleep(0.002)

    thread = threading.Thread(target=drain)
    thread.start()
    try:
        yield read
    finally:
        done.set()
        thread.join()
        os.close(handle)
