"""W in memory that is used again: the same numbers, whatever stood there before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numba
import numpy as np
import pytest

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.regressor import (
    Observation,
    observation_matrix,
    observe_path,
    observe_path_blocks,
    observe_stream,
)
from mechid.errors import DataError, MechidError
from mechid.kinematics import memory
from mechid.kinematics.engine.choice import engine
from mechid.kinematics.engine.path import PathCode
from mechid.kinematics.motion import solve_motion
from mechid.modelfile import load

from ..contract.states import LENGTH, zoo_course
from ..contract.states import SPECS as ZOO

Array = np.ndarray
TIME = np.linspace(0.0, LENGTH, 1200)
# Dense and sparse W, one row and many, balls as coordinates, elements with branches.
SPECS = (
    "sla_suspension", "puma560", "pendulum", "four_bar", "delta", "double_wishbone@free",
    "screw_press@guided",
)  # fmt: skip


def path(spec: str, n: int = len(TIME)) -> tuple[DynamicModel, tuple[Array, ...]]:
    return dynamic_model(load(spec)), zoo_course(spec).at(TIME[:n])


def spoiled(seen: Observation) -> Observation:
    """Return memory of the same shape with numbers that nobody could want."""
    W, known = np.full_like(seen.W, np.nan), np.full_like(seen.known, np.inf)
    return Observation(W, known, ())


def same(found: Observation, expected: Observation) -> bool:
    return (
        np.array_equal(found.W, expected.W)
        and np.array_equal(found.known, expected.known)
        and found.columns == expected.columns
    )


@pytest.mark.slow
@pytest.mark.parametrize("choice", ["tables", "compiled"])
@pytest.mark.parametrize("spec", SPECS)
def test_a_path_in_used_memory(spec: str, choice: str) -> None:
    model, y = path(spec)
    with engine(choice):
        expected = observe_path(model, *y, time=TIME)
        memory = spoiled(expected)
        found = observe_path(model, *y, time=TIME, out=memory)
        assert found.W is memory.W
        assert found.known is memory.known
        assert same(found, expected)
        # another motion in the same memory leaves nothing behind
        half = tuple(0.5 * x + 0.5 * x[:1] for x in y)
        again = observe_path(model, *half, time=TIME, out=found)
        assert same(again, observe_path(model, *half, time=TIME))


@pytest.mark.slow
@pytest.mark.parametrize("choice", ["tables", "compiled"])
@pytest.mark.parametrize("spec", ZOO)
def test_memory_of_earlier_results(spec: str, choice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every array that is handed out again is full of nan; the results have the same bits."""
    n = 300
    model, y = path(spec, n)
    k = model.kinematics

    def results() -> list[Array]:
        seen = observe_path(model, *y, time=TIME[:n])
        apart = observe_path(model, *y, ordered=False)
        motion = solve_motion(k, *y, time=TIME[:n])
        again = observation_matrix(motion, model)
        arrays = (seen.W, seen.known, apart.W, apart.known, again.W, again.known)
        return [*arrays, motion.q, motion.v, motion.vd]

    with engine(choice):
        monkeypatch.setattr(memory, "_pool", memory.Pool(smallest=1 << 40))
        expected = results()
        pool = memory.Pool(smallest=8)
        monkeypatch.setattr(memory, "_pool", pool)
        results()
        begins = set()
        for used, lease in pool._kept:
            assert lease() is None
            used.fill(np.nan)
            begins.add(used.ctypes.data)
        found = results()
    assert begins
    assert {x.ctypes.data for x in found if x.size} <= begins
    for a, b in zip(found, expected, strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("spec", SPECS)
def test_a_motion_in_used_memory(spec: str) -> None:
    model, y = path(spec, 150)
    motion = solve_motion(model.kinematics, *y, time=TIME[:150])
    expected = observation_matrix(motion, model)
    assert same(observation_matrix(motion, model, out=spoiled(expected)), expected)
    unordered = observe_path(model, *y, ordered=False)
    assert same(observe_path(model, *y, ordered=False, out=spoiled(expected)), unordered)


def test_other_elements_than_the_mechanism_moves_are_zero() -> None:
    """Structural zeros: bodies that a coordinate of a chain does not move."""
    model, y = path("n_pendulum")
    with engine("compiled"):
        first = observe_path(model, *y, time=TIME)
        seen = observe_path(model, *y, time=TIME, out=spoiled(first))
    # the force of link j needs no link before it
    bodies = seen.W.reshape(len(TIME), 8, 8, 10)
    assert not any(np.any(bodies[:, j, :j]) for j in range(8))


def test_a_path_that_the_kernels_finish() -> None:
    """A crank turns so far that the recorded pivots fail on the way."""
    model = dynamic_model(load("five_bar"))
    y = np.tile(model.kinematics.home_y, (4000, 1))
    y[:, 1] += np.linspace(0.0, 6.28, 4000)
    done: list[int] = []
    follow: Callable[..., Array] = PathCode.follow

    def counted(self: PathCode, starts: Array, *args: object) -> Array:
        found = follow(self, starts, *args)
        if starts[-1] - starts[0] == len(y):  # of the path, not of what leads to parts of it
            done.append(int(found.sum()))
        return found

    with pytest.MonkeyPatch.context() as patch, engine("compiled"):
        patch.setattr(PathCode, "follow", counted)
        expected = observe_path(model, y, y, y)
        found = observe_path(model, y, y, y, out=spoiled(expected))
    assert done[0] == done[1]
    assert 0 < done[0] < 4000
    assert same(found, expected)


@pytest.mark.parametrize("choice", ["tables", "compiled"])
def test_the_same_bits_on_any_number_of_threads(
    choice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = dynamic_model(load("sla_suspension"))
    time = np.linspace(0.0, LENGTH, 9000)  # several bundles of lanes
    y = zoo_course("sla_suspension").at(time)
    found = []
    for threads in (1, 2, 4):
        monkeypatch.setattr(numba, "get_num_threads", lambda n=threads: n)
        with engine(choice):
            out = spoiled(found[-1]) if found else None
            found.append(observe_path(model, *y, time=time, out=out))
    assert same(found[1], found[0])
    assert same(found[2], found[0])


@pytest.mark.parametrize("choice", ["tables", "compiled"])
def test_blocks_in_one_memory(choice: str) -> None:
    model, y = path("macpherson")
    with engine(choice):
        expected = list(observe_path_blocks(model, *y, time=TIME, size=500))
        begins = set()
        for (part, seen), (_, whole) in zip(
            observe_path_blocks(model, *y, time=TIME, size=500, reuse=True), expected, strict=True
        ):
            assert same(seen, whole)
            assert len(seen.W) == part.stop - part.start
            begins.add(seen.W.ctypes.data)
        stream = [(TIME[p], *(x[p] for x in y)) for p, _ in expected]
        for seen, (_, whole) in zip(
            observe_stream(model, stream, len(TIME)), expected, strict=True
        ):
            assert np.abs(seen.W - whole.W).max() <= 1e-9 * np.abs(whole.W).max()
    assert len(begins) == 1


def test_the_length_of_the_whole_path_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a long path are computed as the whole would be."""
    model, y = path("four_bar", 600)
    monkeypatch.setattr("mechid.kinematics.engine.choice._WORTH_IT", 600)
    blocks = list(observe_path_blocks(model, *y, time=TIME[:600], size=200))
    with engine("compiled"):
        expected = list(observe_path_blocks(model, *y, time=TIME[:600], size=200))
    assert all(same(a, b) for (_, a), (_, b) in zip(blocks, expected, strict=True))


def wrong(seen: Observation, y: Array) -> dict[str, object]:
    frozen = seen.W.copy()
    frozen.flags.writeable = False
    whole = np.zeros(seen.W.size + seen.known.size)
    overlapping = whole[: seen.W.size].reshape(seen.W.shape)
    return {
        "must be an Observation, got ndarray": seen.W,
        r"W of out must have shape \(150, 1, 30\), got \(149, 1, 30\)": replace(seen, W=seen.W[1:]),
        "W of out must have shape": replace(seen, W=seen.W[:, 0]),
        "W of out must be an array, got list": replace(seen, W=[1.0]),
        "float64, got float32": replace(seen, W=seen.W.astype(np.float32)),
        "float64, got complex128": replace(seen, W=seen.W.astype(complex)),
        "float64, got >f8": replace(seen, W=seen.W.astype(">f8")),
        "contiguous": replace(seen, W=np.asfortranarray(seen.W)),
        "W of out must be writeable": replace(seen, W=frozen),
        "known of out must have shape": replace(seen, known=seen.known.T),
        "known of out must not share memory with the motion": replace(seen, known=y),
        "W and known of out must not share": replace(
            seen, W=overlapping, known=whole[: seen.known.size].reshape(seen.known.shape)
        ),
    }


def test_memory_that_does_not_fit() -> None:
    model, y = path("four_bar", 150)
    y = tuple(np.ascontiguousarray(x) for x in y)
    motion = solve_motion(model.kinematics, *y)
    seen = observe_path(model, *y)
    for message, out in wrong(seen, y[0]).items():
        with pytest.raises(DataError, match=message):
            observe_path(model, *y, out=out)  # type: ignore[arg-type]
    for message, out in wrong(seen, motion.y).items():
        with pytest.raises(DataError, match=message):
            observation_matrix(motion, model, out=out)  # type: ignore[arg-type]
    # memory of another mechanism of the same shape is as good as any
    assert same(observe_path(model, *y, out=replace(seen, columns=())), observe_path(model, *y))


def test_after_an_error_the_memory_can_be_used_again() -> None:
    model, y = path("four_bar", 150)
    seen = observe_path(model, *y)
    expected = Observation(seen.W.copy(), seen.known.copy(), seen.columns)
    far = y[0].copy()
    far[100] += 1e6
    with pytest.raises(MechidError, match="sample 100"):
        observe_path(model, far, out=seen)
    assert same(observe_path(model, *y, out=seen), expected)
