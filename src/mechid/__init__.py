"""mechid: models of mechanisms with closed loops, and the identification of their parameters.

The method is a chain of functions, each of which takes what the one before returns, or a file:
`load`, `base_parameters`, `excite`, `synthesise` or `read_measurement`, `identify`, `reduce`,
`validate`, `predict`, `write_report`.

Names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mechid.base.analyse import BaseParameters, base_parameters
    from mechid.base.baseset import BaseSet, base_set
    from mechid.base.experiment import Experiment
    from mechid.base.nullspace import NullSpace, null_space
    from mechid.dynamics.adjoint import observation_gradient
    from mechid.dynamics.inverse import InverseDynamics, inverse_dynamics
    from mechid.dynamics.loads import table_forces
    from mechid.dynamics.reactions import JointReactions
    from mechid.dynamics.reference_point.observation import observation_matrix_reference
    from mechid.dynamics.regressor import Observation, observation_matrix
    from mechid.dynamics.simulate import simulate
    from mechid.dynamics.simulation import Simulation, SimulationError, SimulationOptions
    from mechid.dynamics.trajectory import simulated_motion, simulated_reactions
    from mechid.errors import (
        AssemblyError,
        BranchJumpError,
        DataError,
        KinematicsError,
        MechidError,
        ModelError,
        SingularPoseError,
        UnreachablePoseError,
    )
    from mechid.excitation.bounds import MotionLimit
    from mechid.excitation.criteria.criterion import Criterion
    from mechid.excitation.trajectory import Trajectory
    from mechid.kinematics.branch import singularity_margin
    from mechid.kinematics.frames import FrameMotion, frame_motion
    from mechid.kinematics.joints import JointMotion, joint_motion
    from mechid.kinematics.mobility import Mobility, mobility
    from mechid.kinematics.model import KinematicModel, kinematic_model
    from mechid.kinematics.motion import Motion, rates, solve_motion
    from mechid.kinematics.sensitivities import Sensitivities, sensitivities
    from mechid.measurementfile.read import read_measurement
    from mechid.mechanism.records import Mechanism
    from mechid.modelfile.api import build, dumps, load, loads, on_base, save
    from mechid.modelfile.zoo import zoo
    from mechid.options import (
        ExciteOptions,
        IdentifyOptions,
        NoiseLevels,
        ReduceOptions,
        SynthesiseOptions,
        Weighing,
    )
    from mechid.report.write import write_report
    from mechid.runs.folder import load_run, save_run
    from mechid.runs.record import ForceHistory, Run, Validation, ValidationRow
    from mechid.runs.truth import Truth
    from mechid.signals.filters import Decimation, decimate
    from mechid.signals.record import Measurement, Preparation, PreparedMeasurement
    from mechid.tables.files import write_table
    from mechid.tables.motion import MotionTable, read_motion
    from mechid.tables.observe import point_motion
    from mechid.tasks.evaluate_motion import MotionEvaluation, evaluate_motion
    from mechid.tasks.excite import DesignedMotion, excite
    from mechid.tasks.identify import identify
    from mechid.tasks.linear import regression
    from mechid.tasks.measured import prepare
    from mechid.tasks.predict import predict
    from mechid.tasks.reduce import reduce
    from mechid.tasks.synthesise import (
        Synthesis,
        save_measurement,
        synthesise,
    )
    from mechid.tasks.validate import validate
    from mechid.trajectoryfile.api import load_trajectory, save_trajectory
    from mechid.trajectoryfile.motion import read_drive, read_motion_file, write_trajectory_table
    from mechid.view.tour import tour
    from mechid.view.write import write_page

    __version__: str

_HOMES = {
    "mechid.dynamics.adjoint": ("observation_gradient",),
    "mechid.excitation.bounds": ("MotionLimit",),
    "mechid.tasks.excite": ("DesignedMotion", "excite"),
    "mechid.tasks.evaluate_motion": ("MotionEvaluation", "evaluate_motion"),
    "mechid.tasks.linear": ("regression",),
    "mechid.tasks.measured": ("prepare",),
    "mechid.tasks.predict": ("predict",),
    "mechid.tasks.reduce": ("reduce",),
    "mechid.tasks.validate": ("validate",),
    "mechid.runs.folder": ("load_run", "save_run"),
    "mechid.runs.record": ("ForceHistory", "Run", "Validation", "ValidationRow"),
    "mechid.runs.truth": ("Truth",),
    "mechid.tasks.identify": ("identify",),
    "mechid.tasks.synthesise": (
        "Synthesis",
        "save_measurement",
        "synthesise",
    ),
    "mechid.base.analyse": ("BaseParameters", "base_parameters"),
    "mechid.base.baseset": ("BaseSet", "base_set"),
    "mechid.base.experiment": ("Experiment",),
    "mechid.base.nullspace": ("NullSpace", "null_space"),
    "mechid.dynamics.inverse": ("InverseDynamics", "inverse_dynamics"),
    "mechid.dynamics.loads": ("table_forces",),
    "mechid.dynamics.reactions": ("JointReactions",),
    "mechid.dynamics.reference_point.observation": ("observation_matrix_reference",),
    "mechid.dynamics.regressor": ("Observation", "observation_matrix"),
    "mechid.dynamics.simulate": ("simulate",),
    "mechid.dynamics.simulation": ("Simulation", "SimulationError", "SimulationOptions"),
    "mechid.dynamics.trajectory": ("simulated_motion", "simulated_reactions"),
    "mechid.errors": (
        "AssemblyError",
        "BranchJumpError",
        "DataError",
        "KinematicsError",
        "MechidError",
        "ModelError",
        "SingularPoseError",
        "UnreachablePoseError",
    ),
    "mechid.excitation.criteria.criterion": ("Criterion",),
    "mechid.excitation.trajectory": ("Trajectory",),
    "mechid.kinematics.branch": ("singularity_margin",),
    "mechid.kinematics.frames": ("FrameMotion", "frame_motion"),
    "mechid.kinematics.joints": ("JointMotion", "joint_motion"),
    "mechid.kinematics.mobility": ("Mobility", "mobility"),
    "mechid.kinematics.model": ("KinematicModel", "kinematic_model"),
    "mechid.kinematics.motion": ("Motion", "rates", "solve_motion"),
    "mechid.kinematics.sensitivities": ("Sensitivities", "sensitivities"),
    "mechid.measurementfile.read": ("read_measurement",),
    "mechid.mechanism.records": ("Mechanism",),
    "mechid.modelfile.api": ("build", "dumps", "load", "loads", "on_base", "save"),
    "mechid.modelfile.zoo": ("zoo",),
    "mechid.options": (
        "ExciteOptions",
        "IdentifyOptions",
        "NoiseLevels",
        "ReduceOptions",
        "SynthesiseOptions",
        "Weighing",
    ),
    "mechid.report.write": ("write_report",),
    "mechid.signals.filters": ("Decimation", "decimate"),
    "mechid.signals.record": ("Measurement", "Preparation", "PreparedMeasurement"),
    "mechid.tables.files": ("write_table",),
    "mechid.tables.motion": ("MotionTable", "read_motion"),
    "mechid.tables.observe": ("point_motion",),
    "mechid.trajectoryfile.api": ("load_trajectory", "save_trajectory"),
    "mechid.trajectoryfile.motion": ("read_drive", "read_motion_file", "write_trajectory_table"),
    "mechid.view.tour": ("tour",),
    "mechid.view.write": ("write_page",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "AssemblyError",
    "BaseParameters",
    "BaseSet",
    "BranchJumpError",
    "Criterion",
    "DataError",
    "Decimation",
    "DesignedMotion",
    "ExciteOptions",
    "Experiment",
    "ForceHistory",
    "FrameMotion",
    "IdentifyOptions",
    "InverseDynamics",
    "JointMotion",
    "JointReactions",
    "KinematicModel",
    "KinematicsError",
    "Measurement",
    "Mechanism",
    "MechidError",
    "Mobility",
    "ModelError",
    "Motion",
    "MotionEvaluation",
    "MotionLimit",
    "MotionTable",
    "NoiseLevels",
    "NullSpace",
    "Observation",
    "Preparation",
    "PreparedMeasurement",
    "ReduceOptions",
    "Run",
    "Sensitivities",
    "Simulation",
    "SimulationError",
    "SimulationOptions",
    "SingularPoseError",
    "Synthesis",
    "SynthesiseOptions",
    "Trajectory",
    "Truth",
    "UnreachablePoseError",
    "Validation",
    "ValidationRow",
    "Weighing",
    "__version__",
    "base_parameters",
    "base_set",
    "build",
    "decimate",
    "dumps",
    "evaluate_motion",
    "excite",
    "frame_motion",
    "identify",
    "inverse_dynamics",
    "joint_motion",
    "kinematic_model",
    "load",
    "load_run",
    "load_trajectory",
    "loads",
    "mobility",
    "null_space",
    "observation_gradient",
    "observation_matrix",
    "observation_matrix_reference",
    "on_base",
    "point_motion",
    "predict",
    "prepare",
    "rates",
    "read_drive",
    "read_measurement",
    "read_motion",
    "read_motion_file",
    "reduce",
    "regression",
    "save",
    "save_measurement",
    "save_run",
    "save_trajectory",
    "sensitivities",
    "simulate",
    "simulated_motion",
    "simulated_reactions",
    "singularity_margin",
    "solve_motion",
    "synthesise",
    "table_forces",
    "tour",
    "validate",
    "write_page",
    "write_report",
    "write_table",
    "write_trajectory_table",
    "zoo",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("mechid")
    if name not in _HOME:
        raise AttributeError(f"module 'mechid' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
