"""A four-bar linkage with one element of each sort, and engines at states of mechanisms."""

from __future__ import annotations

import numpy as np

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.parameters import parameter_values
from mechid.kinematics.tables import Floats
from mechid.modelfile import load, loads

RICH = """
mechid: 1
name: rich
gravity: [0.5, -9.81, 0]
bodies:
  crank: {mass: 1.2, center: [0.1, 0.06, 0], inertia: {xx: 0.01, yy: 0.02, zz: 0.03}}
  coupler: {frame: {origin: [0.3, 0.1, 0]}, mass: 2, center: [0.2, 0.3, 0],
    inertia: {xx: 0.02, yy: 0.02, zz: 0.04}}
  rocker: {frame: {origin: [0.8, 0, 0]}, mass: 1.5, center: [0.1, 0.2, 0],
    inertia: {xx: 0.01, yy: 0.01, zz: 0.02}}
joints:
  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: z}
  B: {type: revolute, between: [crank, coupler], at: [0.3, 0.1, 0], axis: z}
  C: {type: revolute, between: [coupler, rocker], at: [0.9, 0.5, 0], axis: z}
  D: {type: revolute, between: [ground, rocker], at: [0.8, 0, 0], axis: z}
elements:
  spring: {type: spring_damper, between: [{in: ground, at: [0.2, 0.9, 0]},
    {in: coupler, at: [0.1, 0.1, 0]}], stiffness: {value: 70, identify: true}, damping: 3,
    free_length: 0.5}
  twist: {type: torsion_spring, joint: C, stiffness: 4, damping: {value: 0.5, identify: true},
    free_angle: 0.4}
  rub: {type: friction, joint: D, viscous: {value: 0.3, identify: true}, coulomb: 0.2,
    smoothing: 0.05}
  motor: {type: transmission, coordinates: [A], motors: {m: {inertia: 2.0e-4}}, matrix: [[20]]}
  push: {type: force, body: coupler, at: [0.1, 0.4, 0], vector: [3, -2, 1]}
  turn: {type: moment, body: rocker, vector: [0, 0, 0.7]}
coordinates: {q: {joint: A, force: M}}
"""


def engine_of(name: str) -> Engine:
    """Return the engine of a model of the zoo, or of the rich linkage, with CAD values."""
    model = dynamic_model(loads(RICH) if name == "rich" else load(name))
    return Engine(model, parameter_values(model))


def some_state(engine: Engine, seed: int = 0) -> tuple[Floats, Floats]:
    """Return independent coordinates near those of the assembled pose, and speeds."""
    rng = np.random.default_rng(seed)
    near, speeds = rng.uniform(-1, 1, (2, engine.n_i))
    return engine.kinematics.home_y + 0.05 * near, 0.5 * speeds
