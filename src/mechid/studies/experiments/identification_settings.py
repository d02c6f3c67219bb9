"""Settings of one identification of a study."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from mechid.dynamics.joint_friction import sliding_joints
from mechid.errors import DataError
from mechid.estimation.registry import ESTIMATORS
from mechid.mechanism.altered import movable_joints
from mechid.mechanism.records import JointCoordinate, Mechanism, force_unit
from mechid.options import SynthesiseOptions
from mechid.options.words import changed
from mechid.studies.experiments.shared import Sampling, words_key
from mechid.tasks.estimators import DEFAULT, estimator_of
from mechid.tasks.synthetic_errors import FRICTION_LAWS
from mechid.textfile.words import hint

CAD, RELEVANT, REDUCED, ORACLE = "cad", "relevant", "reduced", "oracle"
Report: TypeAlias = Literal["errors", "coverage", "sizes", "parameters"]
# Random motions on which a model is tried, unless others are given.
OTHERS: tuple[Mapping[str, Any], ...] = ({"random": 1, "starts": 0, "seed": 7},)


@dataclass(frozen=True, kw_only=True)
class IdentificationSettings(SynthesiseOptions):
    """An identification with known truth, and how well it predicts other motions.

    All errors of `SynthesiseOptions` are settings too, and act on the measured motion.

    Attributes
    ----------
    model : str
        Its geometry and structure are known.
    truth : str
        Model whose values are true; by default `model` itself.
    cad_error : float
        Relative error of the CAD values, which are drawn about the true ones.
    cad_draw : "bodies" or "values"
        Errors of mass, centre and central inertia of every body, which stays possible; or of every
        parameter by itself.
    cad_exchanged : bool
        Whether two bodies, which the seed chooses, have each other's mass in the CAD values,
        besides; moments follow the mass.
    cad_centres : float
        Centres are off by this share of the size of a body, √(trace I / m), in every axis, instead
        of what `cad_draw` says; the estimator is not told.
    declared : float, optional
        Relative error of the CAD values that the estimator is told; by default `cad_error`.
    declared_in_file : bool
        Whether it is told the standard deviations of the model file instead.
    base : str
        Base set, as in `IdentifyOptions`.
    listed : bool
        Whether the parameters that the base set leaves are taken as listed, not regrouped: also of
        a set that is not a base set.
    motion : mapping
        Options of `excite`; or {file: …}, a trajectory.
    validation : tuple of mapping
        Other motions, likewise, whose exact forces are predicted.
    rate : float
        Samples per second.
    seconds, periods : float, optional
        How long the motion is measured: s, or durations of the trajectory; one by default.
    forces : tuple of str
        That are measured; by default all. Errors are those of all forces.
    estimator : str
        One of the estimators; "cad" for CAD values alone; "relevant:20" for the 20 parameters of
        largest contribution by least squares, the others zero; "reduced" for a reduction
        by one standard error, the others CAD values; "oracle" for the default one with `oracle`.
    estimator_settings : mapping
        Of the estimator.
    oracle : mapping
        Settings of the estimator "oracle", which is the default one told what is wrong.
    one : mapping kind → size
        Errors of a single force, which the seed chooses, besides.
    kilo : bool
        Whether one force, which the seed chooses, is written in thousands of its unit.
    friction_in : "all", "passive" or "driven"
        Joints that have friction, viscous_friction and stribeck, unless named: passive ones are
        those that no coordinate drives.
    one_coefficient : float
        Share by which one coefficient of a force element, which the seed chooses, differs from the
        model: of the machine, known or not.
    link : float
        Share by which one link, which the seed chooses, is longer than in the model: one of its
        joints is displaced along it.
    joints : int
        Number of joints, which the seed chooses, that `hardpoints` moves; 0 for all.
    calibrate : float
        Standard deviation (m) of the places of all joints, which are estimated besides, linear
        about the model; 0: the model's places are taken as they are.
    report : "errors", "coverage", "sizes" or "parameters"
        Rows: errors of each force on each motion; the same with how many parameters and forces lie
        in their intervals; errors of each size of a reduced model; each parameter.
    sizes : tuple of int
        Numbers of parameters for "sizes"; by default all.
    """

    model: str
    truth: str = ""
    cad_error: float = 0.2
    cad_draw: Literal["bodies", "values"] = "bodies"
    cad_exchanged: bool = False
    cad_centres: float = 0.0
    declared: float | None = None
    declared_in_file: bool = False
    base: str = "balanced"
    listed: bool = False
    motion: Mapping[str, Any] = field(default_factory=dict)
    validation: tuple[Mapping[str, Any], ...] = OTHERS
    rate: float = 50.0
    seconds: float | None = None
    periods: float | None = None
    forces: tuple[str, ...] = ()
    estimator: str = "auto"
    estimator_settings: Mapping[str, Any] = field(default_factory=dict)
    oracle: Mapping[str, Any] = field(default_factory=dict)
    one: Mapping[str, Any] = field(default_factory=dict)
    kilo: bool = False
    friction_in: Literal["all", "passive", "driven"] = "all"
    one_coefficient: float = 0.0
    link: float = 0.0
    joints: int = 0
    calibrate: float = 0.0
    report: Report = "errors"
    sizes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Reject settings that make no sense."""
        name, _, number = self.estimator.partition(":")
        if name not in (*ESTIMATORS, CAD, RELEVANT, REDUCED, ORACLE):
            known = [*ESTIMATORS, CAD, f"{RELEVANT}:20", REDUCED, ORACLE]
            raise DataError(f"there is no estimator {name}", remedy=hint(name, known))
        if (name == RELEVANT) != bool(number) or (number and not number.isdecimal()):
            raise DataError(
                f"estimator {self.estimator} makes no sense", remedy=f"write {RELEVANT}:20"
            )
        if not 0 < self.rate < float("inf"):
            raise DataError(f"rate must be > 0 Hz, got {self.rate:g}")
        if self.seconds is not None and self.periods is not None:
            raise DataError("seconds and periods exclude each other", remedy="give one of them")
        if not 0 <= self.calibrate < float("inf"):
            raise DataError(f"calibrate must be ≥ 0 m, got {self.calibrate:g}")
        if self.declared_in_file and self.declared is not None:
            raise DataError(
                "declared and declared_in_file exclude each other", remedy="give one of them"
            )
        for share in ("cad_centres", "one_coefficient", "link"):
            if not 0 <= (x := getattr(self, share)) < 1:
                raise DataError(f"{share} must be between 0 and 1, got {x:g}")
        if self.cad_centres and self.cad_draw != "bodies":
            raise DataError(
                "cad_centres and single values exclude each other", remedy="set cad_draw: bodies"
            )
        if self.link and self.hardpoints:
            raise DataError("link and hardpoints exclude each other", remedy="give one of them")
        if name in (*ESTIMATORS, ORACLE):
            estimator_of(*self.chosen)

    @property
    def chosen(self) -> tuple[str, Mapping[str, Any]]:
        """Name and settings of the estimator."""
        if self.estimator == ORACLE:
            return DEFAULT, {**self.estimator_settings, **self.oracle}
        return self.estimator, self.estimator_settings

    @property
    def truth_model(self) -> str:
        """The model whose values are true."""
        return self.truth or self.model

    @property
    def measured(self) -> Sampling:
        """The motion that is measured."""
        return Sampling(self.model, words_key(self.motion), self.rate, self.seconds, self.periods)

    @property
    def others(self) -> tuple[Sampling, ...]:
        """The motions that are predicted, each as long as the measured one."""
        return tuple(replace(self.measured, words=words_key(words)) for words in self.validation)

    @property
    def shared(self) -> Hashable:
        """What cells share that use the same observation matrices."""
        return (
            self.truth_model, self.base, self.listed, self.measured, self.others, self.forces,
        )  # fmt: skip

    def errors(self, mechanism: Mechanism) -> SynthesiseOptions:
        """Return the errors of the data."""
        own = {f.name: getattr(self, f.name) for f in fields(SynthesiseOptions)}
        found = SynthesiseOptions(**{**own, "cad_error": 0.0})
        chosen = mechanism.coordinates[self.seed % len(mechanism.coordinates)]
        words: dict[str, Any] = {kind: {chosen.force: size} for kind, size in self.one.items()}
        if self.kilo:
            words["units"] = {chosen.force: f"k{force_unit(chosen)}"}
        if self.friction_in != "all":
            joints = _joints(mechanism, self.friction_in)
            for kind in FRICTION_LAWS:
                levels = getattr(self, kind)
                words[kind] = {**dict.fromkeys(joints, levels.every), **levels.channels}
        if self.joints and self.hardpoints:
            rng = np.random.default_rng(self.seed)
            some = rng.permutation(movable_joints(mechanism))[: self.joints]
            words["hardpoints"] = {str(joint): self.hardpoints.every for joint in some}
        return changed(found, words)


def _joints(mechanism: Mechanism, which: str) -> list[str]:
    """Return the joints with friction that are driven, or passive."""
    driven = {c.joint for c in mechanism.coordinates if isinstance(c, JointCoordinate)}
    found = [j for j in sliding_joints(mechanism) if (j in driven) == (which == "driven")]
    if not found:
        raise DataError(f"no joint is {which}", where=mechanism.name, remedy="set friction_in: all")
    return found
