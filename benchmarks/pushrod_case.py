"""The push-rod suspension on the motions of its study, and what the study holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

import mechid
from mechid.base.baseset import BaseSet, base_set
from mechid.base.bounds import all_transfers
from mechid.base.choose import last
from mechid.base.experiment import EVERYTHING
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.parameters import parameter_values
from mechid.estimation.estimate import Estimate, predict
from mechid.estimation.regression import Floats, Regression
from mechid.exact.geometry import exact_geometry
from mechid.excitation.families import Chirp, Constant
from mechid.excitation.trajectory import Trajectory, sample
from mechid.kinematics.model import kinematic_model
from mechid.mechanism.records import Mechanism
from mechid.reduction.contribution import Contribution, contribution
from mechid.reduction.regroup import Regrouped
from mechid.validation.errors import force_errors

# Frequencies at start and end (Hz), amplitude (m). Bands of T1 and T3 are published, the rest not.
MOTIONS = {"T1": (1.0, 2.0, 0.02), "T2": (0.0, 50.0, 0.002), "T3": (30.0, 50.0, 0.002)}
LENGTH = 2.0  # s
STROKES = (MOTIONS["T1"][2], 0.002)  # m: amplitudes of T1 that are compared
CHARACTERISED = ("T1", "T2")  # contributions are means over these
THRESHOLD, RANK_1, RANK_2 = 0.3, 18, 8  # percent; imposed ranks: all three published
NOISE, CAD_ERROR = 0.05, 0.2
ELIMINATIONS = (0.3, 0.5, 1.0)  # percent
RANKS = (4, 6, 8, 10, 12, 14, 15, 16, 17, 18, 20, 24)
PUBLISHED_SET = ("Ixx_10", "Ixz_10", "Ixx_12", "Ixz_12", "m_4", "m_6", "m_14", "m_16")
ALL, ONE, ONE_RULE, TWO = "no rank imposed", "model 1", "model 1, then σ", "model 2"
CAD, AUTO = "CAD values", "default of mechid"


@dataclass(frozen=True)
class Size:
    """How much is computed."""

    samples: int
    seeds: int
    cad_seeds: int


FULL, QUICK = Size(400, 20, 10), Size(120, 3, 0)


@dataclass(frozen=True, eq=False)
class Case:
    """The suspension on its motions.

    Attributes
    ----------
    mechanism : Mechanism
    values : array (p,)
        True parameters.
    motions : dict of Regression
        Of all p parameters. As in the paper's equation (22), τ is what they have to explain: forces
        of springs and dampers are taken off.
    known : dict of array (N, 4)
        Those forces.
    """

    mechanism: Mechanism
    values: Floats
    motions: dict[str, Regression]
    known: dict[str, Floats]

    @staticmethod
    def of(samples: int, *, gravity: bool = True, stroke: float = STROKES[0]) -> Case:
        """Return the suspension with some samples per motion, T1 with some amplitude."""
        mechanism = mechid.load("pushrod_suspension")
        if not gravity:
            mechanism = replace(mechanism, gravity=(0.0, 0.0, 0.0))
        model, kinematics = dynamic_model(mechanism), kinematic_model(mechanism)
        values, home = parameter_values(model), kinematics.home_y.tolist()
        forces = tuple(c.force for c in mechanism.coordinates)
        motions, known = {}, {}
        for name, (start, end, amplitude) in {
            **MOTIONS,
            "T1": (*MOTIONS["T1"][:2], stroke),
        }.items():
            left, right = (
                Chirp(amplitude, start, end, LENGTH, phase, offset)
                for phase, offset in zip((0.0, np.pi / 2), home[:2], strict=True)
            )
            families = (left, right, *map(Constant, home[2:]))
            of = dict(zip((c.name for c in mechanism.coordinates), families, strict=True))
            s = sample(Trajectory.of(of, LENGTH), times=np.linspace(0.0, LENGTH, samples))
            seen = mechid.observation_matrix(
                mechid.solve_motion(kinematics, s.y, s.yd, s.ydd, time=s.time)
            )
            tau = seen.W @ values
            motions[name] = Regression(
                seen.W,
                tau,
                np.zeros(tau.shape),
                s.time,
                tuple(c.name for c in model.columns),
                forces,
                ("N", "N", "N m", "N m"),
                np.ones(tau.shape, dtype=bool),
            )
            known[name] = seen.known
        return Case(mechanism, values, motions, known)

    @cached_property
    def base(self) -> BaseSet:
        """Base parameters from transfers of inertia, for the default of mechid."""
        null = all_transfers(exact_geometry(self.mechanism), EVERYTHING)[0]
        return base_set(null, last(null))

    def measured(self, name: str, noise: float, seed: int, *, springs: bool = False) -> Regression:
        """Return a motion with errors relative to each force, on request that with the springs."""
        r = self.motions[name]
        whole = r.tau + self.known[name] if springs else r.tau
        size = noise * np.sqrt(np.mean(whole**2, axis=0))
        rng = np.random.default_rng([seed, list(MOTIONS).index(name)])
        return replace(r, tau=r.tau + size * rng.standard_normal(r.tau.shape))

    def contribution(self, values: Floats) -> Contribution:
        """Return contributions with some CAD values, mean over two motions."""
        return contribution([self.motions[name] for name in CHARACTERISED], values)

    def error(self, forces: Floats, name: str) -> float:
        """Return the relative absolute error of the paper's equation (25), percent."""
        return 100.0 * force_errors(forces, self.motions[name]).stacked_absolute

    def errors(self, estimate: Estimate) -> list[float]:
        """Return the errors on all motions."""
        return [self.error(predict(estimate, r).forces, n) for n, r in self.motions.items()]


@dataclass(frozen=True, eq=False)
class Study:
    """What the page shows; errors are ε_RA in percent.

    Attributes
    ----------
    case : Case
    size : Size
    contributions : dict of Contribution
        Of each motion, and of the mean.
    eliminated : dict (what, threshold) → list
        Errors on each motion after elimination under a threshold.
    ranks : list of (model, rank, condition, errors with CAD values, errors by least squares)
    exact, noisy : dict of Estimate
        Identified with T2, exact forces and 5 % error, seed 0.
    published : Estimate
        Of the published eight parameters, T2, exact forces.
    regrouped : dict of Regrouped
        Of T2.
    cross : dict (law, identified with, model) → array (seeds, motions)
    reasons : dict (gravity, amplitude of T1) → model → error on T1
    cad : dict (identified with, model) → array (seeds, motions)
    """

    case: Case
    size: Size
    contributions: dict[str, Contribution]
    eliminated: dict[tuple[str, float], list[float]]
    ranks: list[tuple[str, int, float, list[float], list[float]]]
    exact: dict[str, Estimate]
    noisy: dict[str, Estimate]
    published: Estimate
    regrouped: dict[str, Regrouped]
    cross: dict[tuple[str, str, str], Floats]
    reasons: dict[tuple[bool, float], dict[str, float]]
    cad: dict[tuple[str, str], Floats]
