"""Generated code for the equations of motion, over every zoo model."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.dynamics.acting import action
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.drive import nothing_driven
from mechid.dynamics.forward.compiled import CompiledStages
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.kernels.stages import Instants
from mechid.dynamics.regressor import cad_parameters, observation_matrix
from mechid.kinematics.motion import solve_motion
from mechid.modelfile import load, zoo

from .states import EPS, condition, solve_course, zoo_course

NAMES = tuple(entry.name for entry in zoo())
TIME = np.linspace(0.0, 0.3, 61)


@pytest.mark.parametrize("spec", [*NAMES, "double_wishbone@free", "spatial_slider_crank@two-balls"])
def test_accelerations_need_the_forces_that_act(spec: str) -> None:
    """W φ + known of the accelerations, by the kernels; energies and poses of the kernels."""
    model = dynamic_model(load(spec))
    k = model.kinematics
    motion = solve_course(k, zoo_course(spec), TIME)
    phi = cad_parameters(model)
    tau = np.linspace(-1.0, 1.0, k.n_independent)
    z = np.hstack([motion.y, motion.yd, np.zeros((len(TIME), 2))])
    found = {}
    for name in ("kernels", "code"):
        engine = Engine(model, phi)
        if name == "code":
            engine.use_code()
            assert model.forward_code is not None
        engine.anchor(motion.y[0], motion.q[0])
        shapes = (*(motion.y.shape[1],) * 3, motion.q.shape[1], motion.v.shape[1], len(tau))
        columns = {n: np.zeros((len(TIME), m)) for n, m in zip(Instants._fields, shapes)}  # noqa: B905
        columns |= {n: np.zeros(len(TIME)) for n in Instants._fields[len(shapes) :]}
        stages = CompiledStages(engine, action(engine, tau, nothing_driven(len(tau)), None))
        assert stages.instants(TIME, z, 0, columns) == len(TIME)
        # the code does not keep the arrays of the kernels at the pose
        assert engine._anchored == (name == "kernels")
        found[name] = columns
    code, kernels = found["code"], found["kernels"]
    bound = 1000 * EPS * condition(motion) ** 2
    back = solve_motion(k, motion.y, motion.yd, code["ydd"], time=TIME)
    o = observation_matrix(back)
    needed = (np.abs(o.W) @ np.abs(phi) + np.abs(o.known)).max() + 1.0
    assert np.abs(o.W @ phi + o.known - tau).max() <= bound * needed
    assert code["q"] == pytest.approx(motion.q, abs=bound * (1 + np.abs(motion.q).max()))
    assert code["v"] == pytest.approx(motion.v, abs=bound * (1 + np.abs(motion.v).max()))
    assert code["constraint_error"].max() < 1e-12
    for name in ("kinetic", "potential"):
        size = np.abs(kernels[name]).max(initial=1e-300)
        assert np.abs(code[name] - kernels[name]).max() <= bound * size
