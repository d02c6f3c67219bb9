"""The observation matrix: names, derivatives, blocks, and the same numbers without compilation."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import mechid
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.regressor import (
    cad_parameters,
    observation_blocks,
    observation_matrix,
    observe_path,
    observe_path_blocks,
)
from mechid.dynamics.sensitivities import observation_sensitivity
from mechid.errors import MechidError, ModelError
from mechid.kinematics.motion import Motion, solve_motion
from mechid.mechanism.records import Mechanism
from mechid.modelfile import build, load

from ..contract.states import EPS, condition, is_angle, solve_course, zoo_course, zoo_model

Array = npt.NDArray[np.float64]


def course(spec: str, n: int) -> Motion:
    return solve_course(zoo_model(spec), zoo_course(spec), np.linspace(0.1, 5.9, n))


# --------------------------------------------------------------------------- columns


def unknown(value: float, **more: Any) -> dict[str, Any]:
    return {"value": value, "identify": True, **more}


def with_elements(**elements: dict[str, Any]) -> Mechanism:
    """Two bodies: one turns about z, one slides on it along x."""
    cad = {"mass": 1, "center": [0, 0, 0], "inertia": {"xx": 1, "yy": 1, "zz": 1}}
    return build(
        name="two",
        gravity=[0, 0, -9.81],
        points={
            "O": [0, 0, 0],
            "post": [0, 0, 2],
            "tip": {"in": "slider", "at": [0.5, 0, 0]},
        },
        bodies={
            "arm": {"frame": {"origin": "O"}, **cad},
            "slider": {"frame": {"origin": [1, 0, 0]}, **cad},
        },
        joints={
            "pin": {"type": "revolute", "between": ["ground", "arm"], "at": "O", "axis": "z"},
            "rail": {"type": "prismatic", "between": ["arm", "slider"], "at": "O", "axis": "x"},
        },
        elements=elements,
        coordinates={"pin": {"joint": "pin"}, "rail": {"joint": "rail"}},
    )


def columns(**elements: dict[str, Any]) -> list[tuple[str, str, str, float | None]]:
    model = dynamic_model(with_elements(**elements))
    return [(c.name, c.unit, c.owner, c.value) for c in model.columns[20:]]


SPRING = {"type": "spring_damper", "between": ["ground.post", "slider.tip"]}


def test_columns_of_elements() -> None:
    strut = SPRING | {
        "stiffness": unknown(50, uncertainty=5),
        "damping": unknown(2),
        "free_length": unknown(0.4),
    }
    assert columns(strut=strut) == [
        ("k_strut", "N/m", "strut", 50.0),
        ("preload_strut", "N", "strut", 20.0),
        ("c_strut", "N s/m", "strut", 2.0),
    ]
    coil = {"type": "torsion_spring", "stiffness": unknown(3), "damping": unknown(0.2)}
    assert columns(coil=coil | {"joint": "pin", "free_angle": unknown(0.1)}) == [
        ("k_coil", "N m/rad", "coil", 3.0),
        ("preload_coil", "N m", "coil", pytest.approx(0.3)),
        ("c_coil", "N m s/rad", "coil", 0.2),
    ]
    assert columns(coil=coil | {"joint": "rail"})[0] == ("k_coil", "N/m", "coil", 3.0)
    drag = {"type": "friction", "viscous": unknown(0.1), "coulomb": unknown(0.7)}
    assert columns(a=drag | {"joint": "pin"}, b=drag | {"joint": "rail"}) == [
        ("viscous_a", "N m s/rad", "a", 0.1),
        ("coulomb_a", "N m", "a", 0.7),
        ("viscous_b", "N s/m", "b", 0.1),
        ("coulomb_b", "N", "b", 0.7),
    ]
    gear = {
        "type": "transmission",
        "coordinates": ["pin", "rail"],
        "motors": {"m1": {"inertia": unknown(0.01), "coulomb": unknown(0.2)}, "m2": {}},
        "matrix": [[20, 3], [0, 50]],
    }
    assert columns(gear=gear) == [
        ("inertia_m1", "kg m²", "m1", 0.01),
        ("coulomb_m1", "N m", "m1", 0.2),
    ]
    push = {"type": "force", "body": "slider", "at": "tip", "vector": [1, 0, 0]}
    assert columns(push=push) == []


def test_known_coefficients_are_no_columns_but_forces() -> None:
    """Known, or half known: the forces are the same."""
    y, yd, ydd = np.array([[[0.3, 0.1]], [[0.5, -0.4]], [[1.0, 2.0]]])
    numbers = {"stiffness": 50.0, "damping": 2.0, "free_length": 0.4}
    found = []
    for names in ((), ("stiffness",), ("damping",), ("stiffness", "free_length"), tuple(numbers)):
        spring = {k: unknown(x) if k in names else x for k, x in numbers.items()}
        model = dynamic_model(with_elements(strut=SPRING | spring))
        o = observation_matrix(solve_motion(model.kinematics, y, yd, ydd))
        assert len(model.columns) == o.W.shape[2]
        found.append(o.W[0] @ cad_parameters(model) + o.known[0])
    assert found == pytest.approx(np.array([found[0]] * 5), rel=1e-13)
    # The strut from (0, 0, 2) to the tip at 1.5 + x from the axis, by hand.
    reach, speed = 1.5 + 0.1, -0.4
    length = np.hypot(reach, 2)
    push = 50 * (length - 0.4) + 2 * reach * speed / length
    bare = with_elements()
    o = observation_matrix(solve_motion(bare, y, yd, ydd))
    body = o.W[0] @ cad_parameters(dynamic_model(bare))
    assert found[0] - body == pytest.approx([0, push * reach / length], rel=1e-12, abs=1e-12)


def test_missing_values_are_named() -> None:
    model = build(
        name="bare",
        gravity=[0, 0, -9.81],
        bodies={"bob": {"frame": {"origin": [0, 0, 0]}}},
        joints={
            "J": {"type": "revolute", "between": ["ground", "bob"], "at": [0, 0, 0], "axis": "x"}
        },
        coordinates={"J": {"joint": "J"}},
    )
    motion = solve_motion(model, np.zeros((2, 1)))
    with pytest.raises(ModelError, match=r"no value for m_1.*\(bob\)"):
        inverse_dynamics(motion)
    with pytest.raises(MechidError, match=r"phi must have shape \(10,\), got \(3,\)"):
        inverse_dynamics(motion, np.zeros(3))
    assert inverse_dynamics(motion, np.zeros(10)).tau == pytest.approx(np.zeros((2, 1)))


# --------------------------------------------------------------------------- derivatives

# Central differences of sixth order with steps of this part of a radian or of the size. Truncation
# is h⁶/140 of a seventh derivative, below 1e-9 of the columns even at a tenth of the distance to
# a singular pose; rounding is eps/h ≈ 1e-12 times the condition of the closure.
STEP = 2e-4
OFFSETS = np.arange(-3, 4)
WEIGHTS = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60


@pytest.mark.parametrize(
    "spec",
    ["four_bar@example-1", "screw_press@guided", "macpherson", "five_bar@distances", "puma560"],
)
def test_sensitivities_are_differences(spec: str) -> None:
    """By coordinates, speeds and accelerations; no speed is near zero, where friction jumps."""
    there = course(spec, 4)
    yd = np.where(np.abs(there.yd) < 0.05, 0.05, there.yd)
    motion = solve_motion(there.model, there.y, yd, there.ydd)
    n, n_i = motion.y.shape
    model = dynamic_model(motion.model.mechanism)
    for direction in range(3 * n_i):
        dW, dknown = observation_sensitivity(motion, direction)
        c = direction % n_i
        h = STEP * (1 if is_angle(motion.model.mechanism, c) else motion.model.size)
        inputs = [np.repeat(a, 7, axis=0) for a in (motion.y, motion.yd, motion.ydd)]
        inputs[direction // n_i][:, c] += np.tile(h * OFFSETS, n)
        near = observation_matrix(solve_motion(motion.model, *inputs), model)
        by = np.einsum("k,nkip->nip", WEIGHTS / h, near.W.reshape(n, 7, n_i, -1))
        known = np.einsum("k,nki->ni", WEIGHTS / h, near.known.reshape(n, 7, n_i))
        size = np.abs(near.W).max(axis=(0, 1)) + np.abs(by).max(axis=(0, 1))
        error = np.abs(dW - by).max(axis=(0, 1))
        # Columns that vanish are zero by cancellation: of terms no larger than the others.
        assert np.all(error <= 1e-8 * np.maximum(size, 1e-3 * size.max()))
        size = np.abs(near.known).max() + np.abs(known).max()
        assert np.abs(dknown - known).max() <= 1e-8 * size


def test_sensitivity_to_accelerations_is_the_mass_matrix() -> None:
    """∂(W φ)/∂ÿ is symmetric and positive definite."""
    motion = course("five_bar", 3)
    phi = cad_parameters(dynamic_model(motion.model.mechanism))
    M = np.stack([observation_sensitivity(motion, 4 + j)[0] @ phi for j in range(2)], axis=-1)
    bound = 100 * EPS * condition(motion)
    assert np.abs(M - np.swapaxes(M, 1, 2)).max() <= bound * np.abs(M).max()
    assert np.all(np.linalg.eigvalsh(M) > 0)


# --------------------------------------------------------------------------- blocks


@pytest.mark.parametrize("size", [1, 7, 40, 100])
def test_blocks_are_parts_of_the_whole(size: int) -> None:
    motion = course("macpherson", 40)
    whole = observation_matrix(motion)
    seen = 0
    for part, block in observation_blocks(motion, size):
        assert part.start == seen
        seen = part.stop
        assert len(block.W) == part.stop - part.start <= size
        assert np.array_equal(block.W, whole.W[part])
        assert np.array_equal(block.known, whole.known[part])
        assert block.columns == whole.columns
    assert seen == 40


def test_an_empty_motion_has_no_blocks() -> None:
    motion = course("macpherson", 4).part(slice(0, 0))
    assert observation_matrix(motion).W.shape == (0, 3, 65)
    assert list(observation_blocks(motion)) == []


def test_long_motions_take_no_more_memory_than_a_block() -> None:
    """The whole W would have 60 MB; two blocks (one in use, one in the making) 3 MB."""
    n, size = 10_000, 256
    motion = course("sla_suspension", n)
    phi = cad_parameters(dynamic_model(motion.model.mechanism))
    rows = motion.y.shape[1] * len(phi) * 8
    assert n * rows >= 60e6
    list(observation_blocks(motion.part(slice(0, 10)), size))  # compiled and cached
    tau = np.zeros_like(motion.y)
    tracemalloc.start()
    for part, block in observation_blocks(motion, size):
        tau[part] = block.W @ phi + block.known
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * size * rows
    assert tau == pytest.approx(inverse_dynamics(motion).tau, rel=1e-12)


# --------------------------------------------------------------------------- in one pass


def sampled(motion: Motion) -> tuple[Array, Array, Array]:
    return motion.y, motion.yd, motion.ydd


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("spec", ["sla_suspension", "delta", "puma560", "screw_press@guided"])
def test_a_path_is_observed_as_its_motion_is(spec: str, ordered: bool) -> None:
    """Closed once and closed again, the poses differ by rounding."""
    motion = course(spec, 60)
    model = dynamic_model(motion.model.mechanism)
    whole = observation_matrix(motion, model)
    seen = observe_path(model, *sampled(motion), time=motion.time, ordered=ordered)
    bound = 1000 * EPS * condition(motion)
    assert np.abs(seen.W - whole.W).max() <= bound * np.abs(whole.W).max()
    assert np.abs(seen.known - whole.known).max() <= bound * (1 + np.abs(whole.known).max())
    assert seen.columns == whole.columns


def test_several_threads_observe_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    motion = course("macpherson", 1000)
    model = dynamic_model(motion.model.mechanism)
    monkeypatch.setattr("numba.get_num_threads", lambda: 1)
    alone = observe_path(model, *sampled(motion))
    again = observation_matrix(motion, model)
    monkeypatch.setattr("numba.get_num_threads", lambda: 3)
    shared = observe_path(model, *sampled(motion))
    bound = 1000 * EPS * condition(motion) * np.abs(alone.W).max()
    assert np.abs(shared.W - alone.W).max() <= bound
    assert np.array_equal(observation_matrix(motion, model).W, again.W)


@pytest.mark.parametrize("size", [1, 7, 40, 100])
def test_blocks_of_a_path(size: int) -> None:
    motion = course("macpherson", 40)
    model = dynamic_model(motion.model.mechanism)
    whole = observation_matrix(motion, model)
    parts = list(observe_path_blocks(model, *sampled(motion), time=motion.time, size=size))
    assert [p.start for p, _ in parts] == list(range(0, 40, size))
    assert parts[-1][0].stop == 40
    W = np.concatenate([block.W for _, block in parts])
    assert np.abs(W - whole.W).max() <= 1000 * EPS * condition(motion) * np.abs(whole.W).max()


@pytest.mark.parametrize("size", [2, 3, 100])
def test_blocks_count_the_samples_of_the_path(size: int) -> None:
    """The cranks of a five-bar linkage cannot be turned apart at will."""
    model = dynamic_model(load("five_bar"))
    y = np.tile(model.kinematics.home_y, (8, 1))
    y[5] += np.array([2.0, -2.0])
    with pytest.raises(MechidError) as alone:
        solve_motion(model.kinematics, y)
    with pytest.raises(MechidError, match=r"sample 5\b") as caught:
        list(observe_path_blocks(model, y, size=size))
    assert type(caught.value) is type(alone.value)
    assert caught.value.what == alone.value.what


def test_an_empty_path() -> None:
    model = dynamic_model(load("macpherson"))
    assert observe_path(model, np.zeros((0, 3))).W.shape == (0, 3, 65)
    assert list(observe_path_blocks(model, np.zeros((0, 3)))) == []


# --------------------------------------------------------------------------- compilation


@pytest.mark.slow
def test_the_same_numbers_without_compilation(tmp_path: Path) -> None:
    """Compiled code may fuse and reorder: equal to rounding, not to the bit."""
    y = np.array([[0.5], [0.9], [1.4]])
    model = dynamic_model(load("four_bar"))
    compiled = observation_matrix(solve_motion(model.kinematics, y, y + 1, y - 1)).W
    code = (
        "import sys, numba, numpy as np\n"
        "from mechid.modelfile import load\n"
        "from mechid.dynamics.regressor import observation_matrix\n"
        "from mechid.kinematics.motion import solve_motion\n"
        "assert numba.config.DISABLE_JIT\n"
        "y = np.array([[0.5], [0.9], [1.4]])\n"
        "W = observation_matrix(solve_motion(load('four_bar'), y, y + 1, y - 1)).W\n"
        "np.save(sys.argv[1], W)\n"
    )
    home = str(Path(mechid.__file__).parents[1])
    path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH", "")]))
    target = tmp_path / "W.npy"
    subprocess.run(
        [sys.executable, "-c", code, str(target)],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path},
        check=True,
    )
    plain = np.load(target)
    assert plain.shape == compiled.shape
    assert np.abs(plain - compiled).max() <= 1000 * EPS * np.abs(compiled).max()
