"""Exported C against inverse dynamics: the whole zoo, parameters, guards."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mechid
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.regressor import observation_matrix
from mechid.errors import KinematicsError, UnreachablePoseError
from mechid.exporting.content import Content
from mechid.kinematics.model import KinematicModel
from mechid.kinematics.motion import solve_motion
from mechid.kinematics.quantities import quantity_motion
from mechid.measurementfile.mapping import find_quantity
from mechid.modelfile import load, zoo
from mechid.runs.record import Run
from mechid.tasks.export import content_of

from ..contract.states import EPS, LENGTH, condition, is_angle, solve_course, zoo_course, zoo_model
from .compiled import WARNINGS, Array, Compiled

NAMES = tuple(entry.name for entry in zoo())
# Balls as coordinates, redundant rows, threads, a passive spin, elements with branches.
HARD = ("double_wishbone@free", "screw_press@guided", "spatial_slider_crank@two-balls")
TIME = np.linspace(0.0, LENGTH, 61)
# What is measured instead of the coordinates: angles of other joints (in the tree and cut), more
# than there are coordinates, points, distances, the coordinate itself.
MEASURED = (
    ("four_bar", ("q3",)),
    ("four_bar", ("q1", "q4", "q2")),
    ("slider_crank", ("guide",)),
    ("five_bar", ("coupler_1.tool.x", "coupler_1.tool.z", "ground.A1-coupler_1.tool")),
)


def near(found: Array, expected: Array, tolerance: float) -> bool:
    return bool(np.all(np.abs(found - expected) <= tolerance * np.abs(expected).max(axis=0)))


@pytest.mark.slow
@pytest.mark.parametrize("spec", [*NAMES, *HARD])
def test_forces_of_every_model(spec: str, tmp_path: Path) -> None:
    motion = solve_course(zoo_model(spec), zoo_course(spec), TIME)
    steps = f"-D{motion.model.mechanism.name.upper()}_MOST_STEPS=5000"  # far poses of threads
    code = Compiled(content_of(spec), tmp_path, steps)
    tau, codes = code.forces(motion.y, motion.yd, motion.ydd)
    assert codes == [0] * len(TIME)
    tolerance = 1e5 * EPS * condition(motion) ** 2
    assert near(tau, inverse_dynamics(motion).tau, tolerance)
    check_far_poses(code, motion.model)


def check_far_poses(code: Compiled, model: KinematicModel) -> None:
    """The same poses can be reached from home in one call as by mechid, with the same forces."""
    rng, n = np.random.default_rng(3), model.n_independent
    unit = np.array([1.0 if is_angle(model.mechanism, i) else model.size / 4 for i in range(n)])
    zero, tau = np.zeros(n), np.zeros(n)
    for _ in range(10):
        y = model.home_y + unit * rng.uniform(-1.0, 1.0, n) * rng.uniform(0.0, 2.0)
        code.call("reset", code.state)
        found = code.call("forces", code.state, code.phi, y, zero, zero, tau)
        try:
            motion = solve_motion(model, y[None], ordered=False)
        except KinematicsError:
            assert found in (1, 2)
            continue
        assert found == 0
        expected = inverse_dynamics(motion).tau[0]
        assert tau == pytest.approx(expected, rel=1e-6, abs=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("spec", ["five_bar", "quarter_vehicle", "puma560"])
def test_parameters_observation_and_equations_of_motion(spec: str, tmp_path: Path) -> None:
    motion = solve_course(zoo_model(spec), zoo_course(spec), TIME)
    flag = f"-D{spec.upper()}_WITH_OBSERVATION"
    code = Compiled(content_of(spec), tmp_path, flag, "-Wconversion", motion=True)
    assert code.phi.tolist() == [c.value for c in dynamic_model(load(spec)).columns]
    code.phi[:] = np.random.default_rng(2).uniform(0.5, 2.0, code.p)
    expected = inverse_dynamics(motion, code.phi).tau
    tau, codes = code.forces(motion.y, motion.yd, motion.ydd)
    assert codes == [0] * len(TIME)
    tolerance = 1e5 * EPS * condition(motion) ** 2
    assert near(tau, expected, tolerance)
    seen = observation_matrix(motion)
    W, known = np.zeros(seen.W.shape), np.zeros(seen.known.shape)
    M, h = np.zeros((len(TIME), code.n, code.n)), np.zeros(seen.known.shape)
    code.call("reset", code.state)
    for k in range(len(TIME)):
        y, yd, ydd = motion.y[k], motion.yd[k], motion.ydd[k]
        assert code.call("observation", code.state, y, yd, ydd, W[k], known[k]) == 0
        assert code.call("motion", code.state, code.phi, y, yd, M[k], h[k]) == 0
    assert np.abs(W - seen.W).max() <= tolerance * np.abs(seen.W).max()
    assert np.abs(known - seen.known).max() <= tolerance * np.abs(seen.known).max(initial=1.0)
    assert near(np.einsum("nij,nj->ni", M, motion.ydd) + h, expected, tolerance)


@pytest.mark.parametrize(("spec", "coordinate", "turns"), [("four_bar", 0, 3), ("five_bar", 1, 1)])
def test_a_crank_that_turns(spec: str, coordinate: int, turns: int, tmp_path: Path) -> None:
    """Pivots of the home pose become zero on the way."""
    model = zoo_model(spec)
    y = np.tile(model.home_y, (400 * turns, 1))
    y[:, coordinate] += np.linspace(0.0, 2 * np.pi * turns, len(y))
    motion = solve_motion(model, y, np.full_like(y, 2.0), np.full_like(y, 0.5))
    tau, codes = Compiled(content_of(spec), tmp_path).forces(motion.y, motion.yd, motion.ydd)
    assert set(codes) == {0}
    assert near(tau, inverse_dynamics(motion).tau, 1e5 * EPS * condition(motion) ** 2)


def measured_content(spec: str, names: tuple[str, ...]) -> Content:
    content = content_of(spec)
    return replace(content, measured=tuple(find_quantity(content.mechanism, x) for x in names))


@pytest.mark.parametrize(("spec", "names"), MEASURED)
def test_forces_from_measured_quantities(spec: str, names: tuple[str, ...], tmp_path: Path) -> None:
    motion = solve_course(zoo_model(spec), zoo_course(spec), TIME)
    content = measured_content(spec, names)
    s, sd, sdd = (
        np.stack(x, axis=1)
        for x in zip(*(quantity_motion(motion, c) for c in content.measured), strict=True)
    )
    code = Compiled(content, tmp_path)
    expected = inverse_dynamics(motion).tau
    for k in range(len(TIME)):
        tau, found = np.zeros(code.n), np.zeros(3 * code.n)
        inputs = [np.ascontiguousarray(x[k]) for x in (s, sd, sdd)]
        call = (code.state, code.phi, *inputs, tau, found)
        assert code.call("forces_measured", *call) == 0
        wanted = np.concatenate([motion.y[k], motion.yd[k], motion.ydd[k]])
        assert found == pytest.approx(wanted, rel=1e-8, abs=1e-8)
        assert tau == pytest.approx(expected[k], rel=1e-7, abs=1e-7 * np.abs(expected).max())
    inputs[0][0] = np.nan
    assert code.call("forces_measured", code.state, code.phi, *inputs, tau, None) == 4


def test_quantities_that_do_not_determine_the_pose(tmp_path: Path) -> None:
    with pytest.raises(mechid.DataError, match="1 measured quantities do not determine 2"):
        mechid.export("five_bar", "c", measured=["B1"])
    with pytest.raises(mechid.DataError, match="choose one of: c, python, matlab"):
        mechid.export("five_bar", "urdf", measured=["B1"])
    # the angle of a rod is largest there, and a pendulum hanging down does not change its height
    code = Compiled(measured_content("slider_crank", ("wrist",)), tmp_path)
    one = np.array([np.pi / 2])
    assert code.call("move", code.state, one) == 0
    assert code.call("forces_measured", code.state, code.phi, one, one, one, one, None) == 5
    code = Compiled(measured_content("pendulum", ("bob.tip.z",)), tmp_path)
    code.call("forces", code.state, code.phi, *np.zeros((3, 1)), np.zeros(1))
    one = np.array([-0.49])
    assert code.call("forces_measured", code.state, code.phi, one, one, one, one, None) == 5


def test_guards_leave_everything_as_it_was(tmp_path: Path) -> None:
    code = Compiled(content_of("five_bar"), tmp_path)
    model = zoo_model("five_bar")
    home, zero = model.home_y.copy(), np.zeros(2)
    far = home + np.array([1.5, -1.5])
    with pytest.raises(UnreachablePoseError):
        solve_motion(model, far[None])
    tau = np.full(2, 7.0)
    before = code.state.copy()
    assert code.call("forces", code.state, code.phi, far, zero, zero, tau) in (1, 2)
    assert code.call("forces", code.state, code.phi, home * np.nan, zero, zero, tau) == 4
    assert code.call("forces", code.state, code.phi, home, zero + np.inf, zero, tau) == 4
    assert tau.tolist() == [7.0, 7.0]
    assert code.state.tolist() == before.tolist()
    assert code.call("forces", code.state, code.phi, home, zero, zero, tau) == 0
    expected = inverse_dynamics(solve_motion(model, home[None])).tau[0]
    assert tau == pytest.approx(expected, rel=1e-9)


def test_a_call_takes_a_bounded_number_of_steps(tmp_path: Path) -> None:
    code = Compiled(content_of("four_bar"), tmp_path, "-DFOUR_BAR_MOST_STEPS=20")
    one = np.zeros(1)
    assert code.call("forces", code.state, code.phi, one + 1.0, one, one, one.copy()) == 0
    assert code.call("forces", code.state, code.phi, one + 100.0, one, one, one.copy()) == 3


def test_identified_values_and_their_uncertainty(run: Run, reduced: Run, tmp_path: Path) -> None:
    for k, source in enumerate((run, reduced)):
        content = content_of(source)
        folder = tmp_path / str(k)
        folder.mkdir()
        code = Compiled(content, folder)
        assert source.full is not None
        assert code.phi == pytest.approx(source.full.values, rel=1e-12, abs=1e-15)
        text = (folder / f"{code.name}.c").read_text(encoding="utf-8")
        assert text.count("standard deviation") > 30
        assert "base parameters identified" in (folder / f"{code.name}.h").read_text()
    assert "reduced model: 6 of 11" in (folder / f"{code.name}.h").read_text()


def test_header_in_other_languages_and_names(tmp_path: Path) -> None:
    """Names that are no identifiers, text that would end a comment."""
    mechanism = replace(load("pendulum"), title='a "title" /* with */ trouble \\', name="2 arms-ü")
    content = replace(content_of("pendulum"), mechanism=mechanism)
    assert Compiled(content, tmp_path).name == "m_2_arms__"
    program = tmp_path / "main.c"
    program.write_text(
        '#include "m_2_arms__.h"\n#include "m_2_arms__.h"\n'
        "int main(void) { m_2_arms___state s; m_2_arms___reset(&s); return 0; }\n"
    )
    files = [str(program), str(tmp_path / "m_2_arms__.c")]
    command = ["gcc", "-std=c99", *WARNINGS, *files, "-o", str(tmp_path / "main"), "-lm"]
    subprocess.run(command, check=True)
    subprocess.run([str(tmp_path / "main")], check=True)
    if shutil.which("g++") is None:
        return
    for_cpp = ["g++", *WARNINGS, "-x", "c++", "-c", str(program), "-o", str(tmp_path / "cpp.o")]
    subprocess.run(for_cpp, check=True)


# What the block takes from Simulink, with storage for one block of up to nine numbers per port.
SIMSTRUC = """
#define UNUSED_ARG(x) (void)(x)
#define SS_DOUBLE 0
#define INHERITED_SAMPLE_TIME -1.0
typedef int int_T;
typedef double real_T;
typedef struct { double in[3][9], out[2][9], work[99]; int widths[6]; } SimStruct;
#define ssSetNumSFcnParams(S, n) (void)(S)
#define ssGetNumSFcnParams(S) ((S)->widths[0] * 0)
#define ssGetSFcnParamsCount(S) ((S)->widths[0] * 0)
#define ssSetNumInputPorts(S, n) ((S) && (n) == 3)
#define ssSetNumOutputPorts(S, n) ((S) && (n) == 2)
#define ssSetInputPortWidth(S, i, n) (S)->widths[i] = (n)
#define ssSetInputPortRequiredContiguous(S, i, n) (void)(S)
#define ssSetInputPortDirectFeedThrough(S, i, n) (void)(S)
#define ssSetOutputPortWidth(S, i, n) (S)->widths[3 + (i)] = (n)
#define ssSetNumSampleTimes(S, n) (void)(S)
#define ssSetNumDWork(S, n) (void)(S)
#define ssSetDWorkWidth(S, i, n) (S)->widths[5] = (n)
#define ssSetDWorkDataType(S, i, n) (void)(S)
#define ssSetSampleTime(S, i, t) (void)(S)
#define ssSetOffsetTime(S, i, t) (void)(S)
#define ssGetDWork(S, i) ((void *)(S)->work)
#define ssGetInputPortSignal(S, i) ((const void *)(S)->in[i])
#define ssGetOutputPortRealSignal(S, i) ((S)->out[i])
"""
DRIVER = """
void begin(SimStruct *S);
void step(SimStruct *S);
void begin(SimStruct *S) { mdlInitializeSizes(S); mdlInitializeSampleTimes(S); mdlStart(S); }
void step(SimStruct *S) { mdlOutputs(S, 0); mdlTerminate(S); }
"""


def test_block_for_simulink(tmp_path: Path) -> None:
    """With the part of Simulink's interface that it uses."""
    mechid.export("five_bar", "c", tmp_path)
    (tmp_path / "simstruc.h").write_text(SIMSTRUC)
    (tmp_path / "cg_sfun.h").write_text(DRIVER)
    files = [str(tmp_path / name) for name in ("five_bar_sfun.c", "five_bar.c")]
    command = ["gcc", "-std=c99", *WARNINGS, "-fPIC", "-shared", *files]
    subprocess.run([*command, "-o", str(tmp_path / "block.so"), "-lm"], check=True)
    block = ctypes.CDLL(str(tmp_path / "block.so"))
    memory = np.zeros(45 + 99 + 3)
    pointer = memory.ctypes.data_as(ctypes.c_void_p)
    block.begin(pointer)
    motion = solve_course(zoo_model("five_bar"), zoo_course("five_bar"), TIME[:5])
    for k, expected in enumerate(inverse_dynamics(motion).tau):
        for i, x in enumerate((motion.y, motion.yd, motion.ydd)):
            memory[9 * i : 9 * i + 2] = x[k]
        block.step(pointer)
        assert memory[27:29] == pytest.approx(expected, rel=1e-9)
        assert memory[36] == 0.0
    memory[0] = np.nan
    block.step(pointer)
    assert np.isnan(memory[27:29]).all()
    assert memory[36] == 4.0


def test_loads_over_time_are_rejected() -> None:
    text = mechid.dumps(load("pendulum"))
    load_ = "elements:\n  push: {type: moment, body: bob, vector: [0, 1, 0], over_time: sin(t)}\n"
    model = mechid.loads(text + load_)
    with pytest.raises(mechid.ModelError, match="push"):
        mechid.export(model, "c")
    assert mechid.export(model, "c", allow_loss=True).left_out == ("push (load over time)",)


def test_files_are_written_together(tmp_path: Path) -> None:
    found = mechid.export("pendulum", "c", tmp_path)
    assert [Path(x).name for x in found.paths] == ["pendulum.c", "pendulum.h", "pendulum_sfun.c"]
    with pytest.raises(mechid.DataError, match="the file exists"):
        mechid.export("pendulum", "c", tmp_path)
    (tmp_path / "pendulum.c").unlink()
    with pytest.raises(mechid.DataError, match=r"pendulum\.h: the file exists"):
        mechid.export("pendulum", "c", tmp_path)
    assert not (tmp_path / "pendulum.c").exists()
