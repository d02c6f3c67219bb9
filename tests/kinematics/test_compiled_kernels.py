"""Compiled kernels: parts and entries agree, and code is kept on disk wherever that is possible."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from mechid.kinematics.kernels import cache
from mechid.kinematics.kernels.jit import Kernel, allocating_kernel, inlined_kernel, kernel
from mechid.tape import store

SOURCE = textwrap.dedent(
    '''
    """A kernel that takes no time to compile, and all that the large ones do."""
    from mechid.kinematics.kernels.jit import kernel, allocating_kernel

    @kernel
    def twice(x):
        return 2.0 * x

    @allocating_kernel
    def fill(n):
        total = 0.0
        for i in range(n):
            total += twice(i)
        return total

    if __name__ == "__main__":
        print(fill(4))
    '''
)


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MECHID_CACHE_DIR", str(tmp_path / "cache"))


@inlined_kernel
def square(x):
    return x * x


@kernel
def hypotenuse(a, b):
    return np.sqrt(square(a) + square(b))


@allocating_kernel
def distances(points):
    found = np.zeros(points.shape[0])
    for i in range(points.shape[0]):
        found[i] = hypotenuse(points[i, 0], points[i, 1])
    return found


def test_kernels_are_called_by_kernels_and_by_python() -> None:
    points = np.array([[3.0, 4.0], [5.0, 12.0]])
    assert distances(points).tolist() == [5.0, 13.0]
    assert hypotenuse(3.0, 4.0) == 5.0
    assert square(1.0 + 1.0j) == 2.0j
    assert isinstance(hypotenuse, Kernel)


def test_only_what_python_calls_becomes_machine_code() -> None:
    @kernel
    def part(x):
        return x + 1.0

    @allocating_kernel
    def whole(x):
        return part(x)

    assert whole(1.0) == 2.0
    assert len(part.part.overloads) == 1
    assert not part.entry.overloads
    assert len(whole.entry.overloads) == 1
    assert not whole.part.overloads


def test_the_checksum_is_that_of_all_that_is_imported() -> None:
    import mechid.dynamics.kernels.observe
    import mechid.kinematics.kernels.observe  # noqa: F401

    dynamics = cache.sources("mechid.dynamics.kernels.observe")
    assert dynamics != cache.sources("mechid.kinematics.kernels.observe")
    changed = Path(sys.modules["mechid.kinematics.tables"].__file__ or "")
    before = Path.read_text
    try:
        Path.read_text = lambda path, **words: before(path, **words) + "#" * (path == changed)  # type: ignore[method-assign, assignment]
        cache.sources.cache_clear()
        assert cache.sources("mechid.dynamics.kernels.observe") != dynamics
    finally:
        Path.read_text = before  # type: ignore[method-assign]
        cache.sources.cache_clear()


def test_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MECHID_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    first = tmp_path / "first"
    folders = store.cache_folders(first)
    assert folders[0] == first
    if sys.platform == "linux":
        assert folders[1] == tmp_path / "caches" / "mechid"
    assert store.write("x", b"code", folders) == first
    assert store.read("x", folders) == b"code"
    (first / "x").write_bytes(b"damaged")
    assert store.read("x", folders) is None
    monkeypatch.setenv("MECHID_CACHE_DIR", str(tmp_path / "own"))
    assert store.cache_folders(first) == (tmp_path / "own",)


def test_a_folder_that_others_can_write_is_not_trusted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(store.tempfile, "gettempdir", lambda: str(tmp_path))
    own = tmp_path / f"mechid-{os.getuid()}"
    own.mkdir()
    own.chmod(0o777)
    store._temporary.cache_clear()
    try:
        assert store._temporary() != own
        own.chmod(0o700)
        store._temporary.cache_clear()
        assert store._temporary() == own
    finally:
        store._temporary.cache_clear()


def _run(script: Path, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(script)],
        env={k: v for k, v in os.environ.items() if k != "MECHID_CACHE_DIR"} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_without_a_home_code_goes_to_a_temporary_folder_with_one_warning(tmp_path: Path) -> None:
    script = tmp_path / "kernels.py"
    # A folder cannot be made where a file is: also root cannot write there.
    blocked = tmp_path / "blocked"
    blocked.write_text("", encoding="utf-8")
    text = SOURCE.replace(
        'if __name__ == "__main__":',
        'if __name__ == "__main__":\n'
        "    from pathlib import Path\n"
        "    from mechid.kinematics.kernels import cache\n"
        f"    cache._PACKAGE = Path({str(blocked)!r})",
    )
    script.write_text(text, encoding="utf-8")
    (tmp_path / "tmp").mkdir()
    places = {"XDG_CACHE_HOME": str(blocked), "HOME": str(blocked), "TMPDIR": str(tmp_path / "tmp")}
    for misses in ("1", "0"):
        out, err = (process := _run(script, **places)).communicate()
        assert process.returncode == 0, err
        assert out.startswith("12.0")
        assert err.count("MECHID_CACHE_DIR") == int(misses)
    assert len(list((tmp_path / "tmp").glob("mechid-*/*.nbc"))) == 1


@pytest.mark.slow
def test_processes_that_start_at_once(tmp_path: Path) -> None:
    script = tmp_path / "kernels.py"
    script.write_text(SOURCE, encoding="utf-8")
    place = {"MECHID_CACHE_DIR": str(tmp_path / "cache")}
    processes = [_run(script, **place) for _ in range(2)]
    for process in processes:
        out, err = process.communicate()
        assert process.returncode == 0, err
        assert out.startswith("12.0")
    files = list((tmp_path / "cache").iterdir())
    assert len(files) == 1
    assert files[0].suffix == ".nbc"
