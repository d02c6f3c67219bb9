"""Mechanisms and worlds of the study of estimators under errors that real machines have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import mechid
from mechid.base.baseset import BaseSet
from mechid.dynamics.compile import dynamic_model
from mechid.estimation.perturb import perturbed
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression
from mechid.excitation.trajectory import sample
from mechid.mechanism.moved import movable_joints
from mechid.mechanism.records import Mechanism, force_unit
from mechid.options import ExciteOptions, IdentifyOptions
from mechid.tables.motion import MotionTable
from mechid.tasks.cad_prior import prior_from_cad
from mechid.tasks.excite import excite
from mechid.tasks.measured import prepare
from mechid.tasks.regress import regression_of
from mechid.tasks.stages import chosen_base
from mechid.tasks.synthesise import Synthesis, synthesise
from mechid.trajectoryfile.api import load_trajectory, save_trajectory

RATE, SECONDS = 50.0, 10.0  # Hz, s
CAD_ERROR = 0.2
NOISE = "1%"  # besides the error of a world
SPINNING = "50*sin(pi*t)"  # wheels, rad


@dataclass(frozen=True)
class Machine:
    """A mechanism of the study: its truth, how it moves and which base set is estimated."""

    model: str
    frequency: float = 1.0
    base: str = "last"
    fixed: Mapping[str, str] = field(default_factory=dict)


MACHINES = {
    "suspension": Machine(
        "sla_suspension@measured", 1.0, "T1", {"spin_r": SPINNING, "spin_l": SPINNING}
    ),
    "five_bar": Machine("five_bar", 1.0),
    "delta": Machine("delta", 1.0),
    "arm": Machine("puma560", 0.2),
}
DEFAULT_MACHINES = ("suspension", "five_bar", "arm")


@dataclass(frozen=True)
class World:
    """Errors of the data.

    Attributes
    ----------
    title : str
    words : mapping
        Options of `mechid synthesise`.
    one : mapping kind → size
        Errors of a single force, which the seed chooses.
    kilo : bool
        Whether one force is written in thousands.
    two : float
        Distance by which two joints, which the seed chooses, are off (m).
    claimed : bool
        Whether the error is among those that the default estimator is made for.
    """

    title: str
    words: Mapping[str, Any] = field(default_factory=dict)
    one: Mapping[str, str] = field(default_factory=dict)
    kilo: bool = False
    two: float = 0.0
    claimed: bool = True

    def options(self, mechanism: Mechanism, seed: int) -> dict[str, Any]:
        """Return keywords of `synthesise`."""
        out: dict[str, Any] = {"noise": NOISE, **self.words, "seed": seed}
        chosen = mechanism.coordinates[seed % len(mechanism.coordinates)]
        for kind, size in self.one.items():
            out[kind] = {chosen.force: size}
        if self.kilo:
            out["units"] = {chosen.force: f"k{force_unit(chosen)}"}
        if self.two:
            joints = np.random.default_rng(seed).permutation(movable_joints(mechanism))[:2]
            out["hardpoints"] = dict.fromkeys(map(str, joints), self.two)
        return out


WORLDS = {
    "white": World("white, 5 %", {"noise": "5%"}),
    "proportional": World("proportional to each sample, 5 %",
                          {"noise": "5%", "noise_kind": "proportional"}),
    "coloured": World("coloured, 5 %, memory of 50 ms",
                      {"noise": "5%", "noise_kind": "coloured", "time_constant": 0.05}),
    "gain": World("one channel's gain, 10 %", one={"gain": "10%"}),
    "gains": World("gains of all channels, 5 %", {"gain": "5%"}),
    "offsets": World("constant offsets, 5 %", {"offset": "5%"}),
    "walk": World("random walk, 7 %", {"random_walk": "7%"}),
    "drift": World("slow drift, 7 %", {"drift": "7%"}),
    "hum": World("hum, 5 %, 60 Hz", {"hum": "5%", "hum_frequency": 60.0}),
    "delay": World("forces 4 ms late (a fifth of a sample)", {"delay": 0.004}),
    "late": World("forces one sample late (20 ms)", {"delay": "100%"}),
    "outliers": World("1 % outliers, three times the force", {"outliers": "1%"}),
    "hardpoints": World("two hardpoints off by 2 mm", two=2e-3, claimed=False),
    "hardpoints_small": World("two hardpoints off by 0.5 mm", two=5e-4, claimed=False),
    "friction": World("joint friction missing in the model, 1 % each", {"friction": "1%"},
                      claimed=False),
    "stribeck": World("friction with a Stribeck drop missing, 1 + 1 % each",
                      {"friction": "1%", "stribeck": "1%"}, claimed=False),
    "hysteresis": World("hysteresis of the drives, 5 %", {"hysteresis": "5%"}, claimed=False),
    "elasticity": World("elastic drives, 0.1 % of the motion", {"elasticity": "0.1%"},
                        claimed=False),
    "position_noise": World("position noise, 0.01 % of the motion", {"position_noise": "0.01%"},
                            claimed=False),
    "quantised": World("forces in steps of 10 %", {"quantisation": "10%"}, claimed=False),
    "encoder": World("positions in steps of 0.05 % of the motion",
                     {"position_quantisation": "0.05%"}, claimed=False),
    "clipped": World("one force clipped at 70 % of its peak", one={"clipping": "70%"},
                     claimed=False),
    "unit": World("one force in kN or kN m", kilo=True, claimed=False),
    "mixture": World("offsets, drift, gains 3 %, friction 1 %, a fifth of a sample late",
                     {"offset": "3%", "drift": "3%", "gain": "3%", "friction": "1%",
                      "delay": "20%"}, claimed=False),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Case:
    """A machine with its motions: one to identify with, two others to predict."""

    machine: Machine
    mechanism: Mechanism
    base: BaseSet
    motions: tuple[MotionTable, ...]
    blank: tuple[Regression, ...]

    @staticmethod
    def of(machine: Machine, folder: Path | None = None) -> Case:
        """Return the case; its motions are taken from a folder, or designed and kept there."""
        mechanism = mechid.load(machine.model)
        options = ExciteOptions(
            "fourier",
            frequency=machine.frequency,
            fixed=machine.fixed,
            base=machine.base,
            criterion="condition",
            random=10,
            starts=0,
        )
        time = np.arange(round(RATE * SECONDS)) / RATE
        names = [c.name for c in mechanism.coordinates]
        motions = []
        for seed in (0, 7, 8):
            path = folder and folder / f"{mechanism.name}_{seed}.yaml"
            if path and path.exists():
                trajectory = load_trajectory(path)
            else:
                trajectory = excite(mechanism, replace(options, seed=seed)).trajectory
                if path:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    save_trajectory(trajectory, path)
            s = sample(trajectory.ordered(names, where="study"), times=time)
            motions.append(MotionTable(time, s.y, s.yd, s.ydd))
        base = chosen_base(mechanism, IdentifyOptions(base=machine.base))
        blank = tuple(
            regression_of(
                dynamic_model(mechanism), prepare(synthesise(mechanism, m), mechanism), base.base
            )
            for m in motions
        )
        return Case(machine, mechanism, base, tuple(motions), blank)

    def cad(self, seed: int) -> Mechanism:
        """Return the mechanism with CAD values that are wrong."""
        return perturbed(self.mechanism, CAD_ERROR, np.random.default_rng([seed, 1]))

    def prior(self, seed: int) -> Prior:
        """Return CAD values that are wrong, with their uncertainty."""
        return prior_from_cad(self.cad(seed), self.base, cad_error=CAD_ERROR)

    def measured(self, world: str, seed: int) -> tuple[Synthesis, Regression]:
        """Return the log of a world, and its problem."""
        words = WORLDS[world].options(self.mechanism, seed)
        log = synthesise(self.mechanism, self.motions[0], **words)
        if log.measured_rates:  # the motion is that of the model: only the forces are new
            return log, replace(self.blank[0], tau=log.tau)
        ready = prepare(log, self.mechanism)
        return log, regression_of(dynamic_model(self.mechanism), ready, self.base.base)

    def others(self, log: Synthesis) -> tuple[Regression, ...]:
        """Return the other motions with the exact forces of the machine that was measured."""
        return tuple(
            replace(blank, tau=synthesise(self.mechanism, motion, truth=log.truth).exact)
            for motion, blank in zip(self.motions[1:], self.blank[1:], strict=True)
        )

    def truth(self, log: Synthesis) -> Floats:
        """Return the true base parameters."""
        return np.asarray(self.base.values(log.phi))
