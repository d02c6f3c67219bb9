"""Kernels that a first run needs, compiled by other processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from numba import typeof

import mechid
from mechid.dynamics.regressor import observe_path
from mechid.kinematics.engine.choice import engine
from mechid.kinematics.kernels.jit import Kernel, compiling_only
from mechid.kinematics.kernels.links import place_links
from mechid.tape import ahead
from mechid.tasks import compile_kernels as compiling

NAMES = [name for group in compiling.GROUPS for name in group]


def test_types_are_those_of_other_mechanisms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code for other types would be compiled for nothing."""
    called: dict[str, Any] = {}
    call = Kernel.__call__

    def noted(self: Kernel, *args: Any) -> Any:
        called[self.py_func.__name__] = [typeof(x) for x in args]
        return call(self, *args)

    monkeypatch.setattr(Kernel, "__call__", noted)
    assert list(compiling.compile_kernels(NAMES)) == NAMES
    ahead_of_time = {name: called.pop(name) for name in NAMES}
    motion = mechid.tour(mechid.load("sla_suspension"))
    mechid.observation_matrix(motion)
    observe_path(motion.model.mechanism, motion.y)
    with engine("compiled"):
        mechid.observation_matrix(mechid.solve_motion(motion.model, motion.y))
    assert {name: called[name] for name in NAMES} == ahead_of_time


def test_other_kernels_run_uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Kernel, "entry", property(lambda self: pytest.fail("compiled")))
    with compiling_only([]):
        list(compiling.compile_kernels([]))
    with pytest.raises(pytest.fail.Exception), compiling_only(["place_links"]):
        place_links()


def test_nothing_is_started_where_kernels_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    monkeypatch.setattr(compiling, "compile_elsewhere", lambda *args: started.append(args))
    monkeypatch.setenv("MECHID_CACHE_DIR", str(tmp_path))
    assert compiling.compile_ahead()
    assert started == [("mechid.tasks.compile_kernels", compiling.GROUPS)]
    (tmp_path / "some.nbc").touch()
    assert not compiling.compile_ahead()
    assert len(started) == 1


def test_a_process_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_at_work", {})
    monkeypatch.setattr(ahead, "_cores", lambda: [0])
    ahead.compile_elsewhere("says", [["a"]])
    assert not ahead._at_work  # one core: nothing to share
    monkeypatch.setattr(ahead, "_cores", lambda: [0, 1])
    # it says what is ready; `c` never is: who waits for it compiles it then
    (tmp_path / "says.py").write_text("print('a\\nb', flush=True)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    ahead.compile_elsewhere("says", [["a", "b", "c"]])
    ahead.wait_for("b")
    assert set(ahead._at_work) == {"c"}
    process = ahead._at_work["c"]
    ahead.wait_for("c")
    ahead.wait_for("a")
    ahead.wait_for("unknown")
    assert process.returncode == 0
    assert not ahead._at_work
    ahead.compile_elsewhere("no_such_module", [["d"]])
    process = ahead._at_work["d"]
    ahead._stop()
    assert process.returncode != 0
    assert not ahead._at_work
