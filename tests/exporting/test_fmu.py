"""FMUs: valid, and the same motion and forces as mechid, as FMPy runs them."""

from __future__ import annotations

import io
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.validation import validate_fmu

import mechid
from mechid.exporting.model_description import base_units
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.records import Mechanism
from mechid.modelfile import build
from mechid.tasks.export import content_of

from ..contract.states import zoo_course, zoo_model
from .states import MOVED
from .units import Unit, unit

# Every mechanism of the zoo; one FMU of each kind, of one of the two versions.
ZOO = tuple(s for s in MOVED if "@" not in s or s.endswith(("friction", "distances", "two-balls")))
STRICT = "-O0 -Wall -Wextra -Wpedantic -Werror"
Written = Callable[..., Path]
needs_integrator = pytest.mark.skipif(
    not (Path(fmpy.__file__).parent / "sundials" / fmpy.platform_tuple).is_dir(),
    reason="FMPy has no integrator for this processor",
)


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    """Export a valid FMU that was compiled without a warning."""
    monkeypatch.setenv("CFLAGS", STRICT)

    def write(model: str | Mechanism, fmi: int = 2, kind: str = "simulation") -> Path:
        path = tmp_path / f"{kind}_{fmi}.fmu"
        found = mechid.export(model, "fmu", path, fmi=fmi, kind=kind)
        assert not any("sources only" in note for note in found.notes), found.notes
        assert validate_fmu(path) == []
        return path

    return write


def names(mechanism: Mechanism) -> tuple[list[str], list[str], list[str], list[str]]:
    c = mechanism.coordinates
    return (
        [x.name for x in c],
        [f"{x.name}.d" for x in c],
        [f"{x.name}.dd" for x in c],
        [x.force for x in c],
    )


def values(keys: list[str], numbers: np.ndarray) -> dict[str, float]:
    return dict(zip(keys, numbers.tolist(), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("spec", ZOO)
def test_zoo(spec: str, written: Written) -> None:
    """Forces of a motion, that motion from the forces, and a simulation."""
    k = zoo_model(spec)
    version = 2 + ZOO.index(spec) % 2
    time = np.linspace(0.3, 5, 3)
    motion = solve_motion(k, *zoo_course(spec).at(time), time=time)
    tau = mechid.inverse_dynamics(motion).tau
    y, yd, ydd, force = names(k.mechanism)
    scale = np.abs(tau).max() + 1e-3
    with unit(written(spec, version, "inverse")) as u:
        u.start()
        for i in range(len(time)):
            u.set(values(y, motion.y[i]) | values(yd, motion.yd[i]) | values(ydd, motion.ydd[i]))
            assert u.get(force) == pytest.approx(tau[i], rel=1e-9, abs=1e-10 * scale)
    path = written(spec, 5 - version)
    with unit(path, "ModelExchange") as u:
        u.start()
        for i in range(len(time)):
            u.set(values(y, motion.y[i]) | values(yd, motion.yd[i]) | values(force, tau[i]))
            size = np.abs(motion.ydd).max()
            assert u.get(ydd) == pytest.approx(motion.ydd[i], rel=1e-6, abs=1e-6 * size)
    # moving, since dry friction at standstill stops every integrator
    told = mechid.simulate(k.mechanism, np.array([0.0, 0.001, 0.004]), yd0=np.full(len(y), 0.5))
    with unit(path) as u:
        u.start(tolerance=1e-9, **values(yd, told.yd[0]))
        u.step(0.0, 0.001)
        assert u.get(y) == pytest.approx(told.y[1], rel=1e-8, abs=1e-9)
        u.step(0.001, 0.003)
        assert u.get(y) == pytest.approx(told.y[2], rel=1e-8, abs=1e-9)
        assert u.get(yd) == pytest.approx(told.yd[2], rel=1e-6, abs=1e-6)
        energy = [told.kinetic[2], told.potential[2]]
        assert u.get(["kinetic_energy", "potential_energy"]) == pytest.approx(energy, rel=1e-6)


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize(
    "fmi_type",
    [
        pytest.param("ModelExchange", marks=needs_integrator),
        "CoSimulation",
    ],
)
def test_fmpy_simulates_like_mechid(
    fmi: int, fmi_type: str, written: Written, tmp_path: Path
) -> None:
    """With forces, from another start, by the integrator of FMPy and by that of the FMU."""
    path = written("five_bar", fmi)
    # FMPy looks for binaries of its processor, and counts those of x86 only.
    opened = Unit(path, tmp_path / "unit", fmi_type)
    found = fmpy.simulate_fmu(
        path,
        fmu_instance=opened.unit,
        fmi_type=fmi_type,
        stop_time=0.5,
        output_interval=0.05,
        relative_tolerance=1e-8,
        start_values={"q1.d": 1.0, "M1": 0.4, "M2": -0.2},
        output=["q1", "q2", "q1.d", "q2.d"],
    )
    told = mechid.simulate(
        mechid.load("five_bar"), found["time"], forces=np.array([0.4, -0.2]), yd0=np.array([1.0, 0])
    )
    assert found["q1"] == pytest.approx(told.y[:, 0], abs=1e-5)
    assert found["q2"] == pytest.approx(told.y[:, 1], abs=1e-5)
    assert found["q1.d"] == pytest.approx(told.yd[:, 0], abs=1e-4)
    assert found["q2.d"] == pytest.approx(told.yd[:, 1], abs=1e-4)


def test_crank_turns_many_times(written: Written) -> None:
    """Far from home the pivots of home would be zero: 3 turns, in steps of 60 deg."""
    k = zoo_model("slider_crank")
    y = k.home_y + np.linspace(0, 6 * np.pi, 19)[:, None]
    motion = solve_motion(k, y, np.full_like(y, 2.0))
    tau = mechid.inverse_dynamics(motion).tau
    q, qd, _, force = names(k.mechanism)
    with unit(written("slider_crank", 3, "inverse")) as u:
        u.start()
        for i in range(len(y)):
            u.set(values(q, y[i]) | {qd[0]: 2.0})
            assert u.get(force) == pytest.approx(tau[i], rel=1e-8, abs=1e-9)


def test_pendulum_has_its_closed_period(written: Written) -> None:
    from scipy.special import ellipk

    period = 4 * np.sqrt(0.5 / 9.81) * ellipk(np.sin(np.pi / 6) ** 2)
    (name,), (rate,), _, _ = names(mechid.load("pendulum@point-mass-like"))
    with unit(written("pendulum@point-mass-like")) as u:
        u.start(tolerance=1e-9)
        begin = u.get([name, rate])
        for i in range(10):
            u.step(i * period / 10, period / 10)
        assert u.get([name, rate]) == pytest.approx(begin, abs=1e-6)


@pytest.mark.parametrize("fmi", [2, 3])
def test_parameters_can_be_set(fmi: int, written: Written) -> None:
    model = zoo_model("four_bar")
    motion = solve_motion(model, model.home_y[None], np.ones((1, 1)), np.ones((1, 1)))
    found = mechid.inverse_dynamics(motion)
    phi = found.phi * np.linspace(0.5, 2, found.phi.size)
    y, yd, ydd, force = names(model.mechanism)
    with unit(written("four_bar", fmi, "inverse")) as u:
        u.start(**{ydd[0]: 1.0, yd[0]: 1.0, y[0]: float(model.home_y[0])})
        assert u.get(force) == pytest.approx(found.tau[0], rel=1e-10)
        u.set({c.name: x for c, x in zip(found.columns, phi.tolist(), strict=True)})
        changed = mechid.inverse_dynamics(motion, phi).tau[0]
        assert u.get(force) == pytest.approx(changed, rel=1e-10)
        with pytest.raises(FMICallException):
            u.set({force[0]: 1.0})


@pytest.mark.parametrize("fmi", [2, 3])
def test_state_can_be_taken_back(fmi: int, written: Written) -> None:
    with unit(written("five_bar", fmi)) as u:
        u.start(M1=0.3)
        do = u.unit
        stored = (
            do.serializeFMUstate(do.getFMUstate())
            if fmi == 2
            else do.serializeFMUState(do.getFMUState())
        )
        u.step(0.0, 0.1)
        first = u.get(["q1", "q2", "q1.d", "q2.d"])
        if fmi == 2:
            do.setFMUstate(do.deSerializeFMUstate(stored))
        else:
            do.setFMUState(do.deserializeFMUState(stored))
        u.step(0.0, 0.1)
        assert np.array_equal(u.get(["q1", "q2", "q1.d", "q2.d"]), first)


@pytest.mark.parametrize("fmi", [2, 3])
def test_pose_out_of_reach(fmi: int, written: Written, capfd: pytest.CaptureFixture[str]) -> None:
    """Cranks of a 3-RRR platform turned until it cannot follow; the FMU goes on afterwards."""
    q, rates, _, forces = names(mechid.load("planar_3rrr"))
    with unit(written("planar_3rrr", fmi, "inverse")) as u:
        u.start()
        y, tau = u.get(q), u.get(forces)
        u.set(values(q, y + 2.0))
        with pytest.raises(FMICallException):
            u.get(forces)
        assert "t = 0 s: the loops cannot be closed" in capfd.readouterr().out
        u.set(values(q, y))
        assert np.allclose(u.get(forces), tau, rtol=1e-12)
    with unit(written("planar_3rrr", fmi)) as u:
        u.start(**values(rates, np.full(3, 20.0)))
        u.step(0.0, 0.01)
        with pytest.raises(FMICallException):
            u.step(0.01, 0.5)
        assert "out of reach" in capfd.readouterr().out
        assert np.all(np.isfinite(u.get(q)))


def held_pendulum() -> Mechanism:
    """A pendulum of length 0.5 m on a slider that is held."""
    return build(
        name="held",
        points={"pivot": [0, 0, 0]},
        bodies={
            "cart": {"mass": 2, "center": [0, 0, 0], "inertia": {"xx": 1, "yy": 1, "zz": 1}},
            "rod": {"mass": 3, "center": [0.5, 0, 0], "inertia": {"xx": 0, "yy": 0, "zz": 0}},
        },
        joints={
            "rail": {
                "type": "prismatic",
                "between": ["ground", "cart"],
                "at": "pivot",
                "axis": "x",
            },
            "hinge": {"type": "revolute", "between": ["cart", "rod"], "at": "pivot", "axis": "y"},
        },
        coordinates={"x": {"joint": "rail", "held": True}, "a": {"joint": "hinge"}},
    )


def test_what_is_held_is_no_state(written: Written) -> None:
    """Free fall from the horizontal: g/l, and no force along the rail; that of m ω² l at speed."""
    model = held_pendulum()
    y, yd, ydd, (rail, _) = names(model)
    path = written(model)
    with unit(path, "ModelExchange") as u:
        assert "x" not in u.variables
        u.start(**{yd[1]: 2.0})
        assert abs(u.get([ydd[1]])[0]) == pytest.approx(9.81 / 0.5)
        assert u.get([rail]) == pytest.approx([-3 * 0.5 * 2.0**2])
    told = mechid.simulate(model, np.array([0.0, 0.2]))
    with unit(path) as u:
        u.start(tolerance=1e-9)
        u.step(0.0, 0.2)
        assert u.get([y[1], yd[1]]) == pytest.approx([told.y[1, 1], told.yd[1, 1]], abs=1e-6)
        assert u.get([rail]) == pytest.approx(told.tau[1, :1], rel=1e-6)


def test_loads_over_time_are_inputs(written: Written) -> None:
    """A block of 2 kg under a force of 6 N."""
    model = build(
        name="slider",
        gravity=[0, 0, 0],
        points={"peg": [1, 0, 0]},
        bodies={"b": {"mass": 2, "center": [0, 0, 0], "inertia": {"xx": 1, "yy": 1, "zz": 1}}},
        joints={
            "rail": {"type": "prismatic", "between": ["ground", "b"], "at": "peg", "axis": "x"}
        },
        elements={
            "e": {"type": "joint_force", "joint": "rail", "force": 6, "over_time": "sin(3*t)"}
        },
        coordinates={"x": {"joint": "rail"}},
    )
    with unit(written(model)) as u:
        (load,) = (n for n, v in u.variables.items() if v.causality == "input" and n.endswith("e"))
        u.start()
        assert u.get(["x.dd"]) == pytest.approx([0.0])
        u.set({load: 6.0})
        assert u.get(["x.dd"]) == pytest.approx([3.0])


@pytest.mark.slow
def test_values_of_a_run(run: Any, tmp_path: Path) -> None:
    mechid.export(run, path=tmp_path / "run.fmu")
    found = [
        v
        for v in fmpy.read_model_description(tmp_path / "run.fmu").modelVariables
        if v.causality == "parameter"
    ]
    starts = [float(v.start) for v in found]
    assert starts == pytest.approx(run.full.values, rel=1e-9, abs=1e-12)
    rows = {(q.owner, q.name): q for q in content_of(run).quantities}
    for v in found:
        if v.name.startswith("m_"):
            body = v.description.partition(" of ")[2].partition(",")[0]
            assert v.description.endswith(f"standard deviation {rows[body, 'mass'].sigma:.4g} kg")


def test_same_bytes_every_time() -> None:
    assert mechid.export("pendulum", "fmu").data == mechid.export("pendulum", "fmu").data


def test_sources_can_be_linked_with_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a compiler there are sources only; their functions have the name of the model."""
    monkeypatch.setenv("PATH", str(tmp_path))
    found = {fmi: mechid.export("four_bar", "fmu", fmi=fmi) for fmi in (2, 3)}
    monkeypatch.undo()
    for fmi, file in found.items():
        assert "no C compiler was found: the FMU has sources only" in file.notes[0]
        folder = tmp_path / str(fmi)
        with zipfile.ZipFile(io.BytesIO(file.data)) as archive:
            assert not any(name.startswith("binaries") for name in archive.namelist())
            archive.extractall(folder)
        sources = folder / "sources"
        subprocess.run(["gcc", "-std=c99", "-c", f"fmi{fmi}.c"], cwd=sources, check=True)
        symbols = subprocess.run(
            ["nm", "-g", "--defined-only", f"fmi{fmi}.o"],
            cwd=sources, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        assert symbols.split()[2::3]
        assert all(name.startswith(f"four_bar_fmi{fmi}") for name in symbols.split()[2::3])


def test_wrong_options() -> None:
    with pytest.raises(mechid.DataError, match="fmi must be one of 2, 3, got 1"):
        mechid.export("pendulum", "fmu", fmi=1)
    with pytest.raises(mechid.DataError, match="kind must be one of simulation, inverse"):
        mechid.export("pendulum", "fmu", kind="forward")
    with pytest.raises(mechid.DataError, match="urdf has no option fmi"):
        mechid.export("pendulum", "urdf", fmi=2)


def test_base_units() -> None:
    assert base_units("N m s/rad") == {"kg": 1, "m": 2, "s": -1, "rad": -1}
    assert base_units("kg m²") == {"kg": 1, "m": 2}
    assert base_units("rad/s²") == {"rad": 1, "s": -2}
