"""The suspension, its motions, and data with known truth for the study of estimators."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

import mechid
from mechid.base.baseset import BaseSet, base_set
from mechid.base.bounds import all_transfers
from mechid.base.choose import by_name
from mechid.base.experiment import EVERYTHING
from mechid.base.nullspace import NullSpace
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.parameters import parameter_values
from mechid.dynamics.regressor import Observation, observation_matrix
from mechid.estimation.perturb import perturbed
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression
from mechid.exact.geometry import exact_geometry
from mechid.excitation.trajectory import Trajectory, sample
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.records import Mechanism
from mechid.tables.forces import force_unit
from mechid.tasks.cad_prior import prior_from_cad
from mechid.tasks.excite import ExciteOptions, excite
from mechid.trajectoryfile import Expression

Floats: TypeAlias = npt.NDArray[np.float64]
Law: TypeAlias = Literal["white", "coloured", "gain"]

LAWS: tuple[Law, ...] = ("white", "coloured", "gain")
RATE, SECONDS = 50.0, 10.0  # Hz, s
ERROR = 0.05  # of the forces
CAD_ERROR = 0.2
MEMORY = 0.05  # s, time constant of coloured noise
BESIDES = 0.01  # white noise besides gain errors: no channel is free of it
FREQUENCY, HARMONICS = 1.0, 5
SETS = ("T1", "T2", "T3", "T4", "T5")


@dataclass(frozen=True, eq=False)
class World:
    """A mechanism whose true parameters are known, and the motions it performs."""

    mechanism: Mechanism
    truth: Mechanism
    null: NullSpace

    @staticmethod
    def of(spec: str, truth: str) -> World:
        mechanism = mechid.load(spec)
        null, _, _ = all_transfers(exact_geometry(mechanism), EVERYTHING)
        return World(mechanism, mechid.load(truth), null)

    @lru_cache  # noqa: B019
    def base(self, name: str) -> BaseSet:
        return base_set(self.null, by_name(self.null, name=name))

    @cached_property
    def phi(self) -> Floats:
        """True parameters."""
        return parameter_values(dynamic_model(self.truth))

    def cad(self, seed: int) -> Mechanism:
        """Return the mechanism with CAD values that are wrong."""
        return perturbed(self.truth, CAD_ERROR, np.random.default_rng([seed, 1]))

    def single(self, seed: int) -> Floats:
        """Return parameters that are wrong one by one, so that some bodies are not possible."""
        rng = np.random.default_rng([seed, 3])
        return self.phi * (1 + CAD_ERROR * rng.standard_normal(len(self.phi)))

    def columns(self, name: str) -> tuple[str, ...]:
        """Return the parameters of a base set; T5, which is none, is taken by its letter."""
        if name != "T5":
            return self.base(name).base
        listed = next(s.dependent for s in self.mechanism.base_sets if s.name == name)
        without = set(self.base("T1").without_effect)
        taken = {*listed, *without}
        return tuple(n for n in self.null.names if n not in taken)

    def cad_values(self, name: str, cad: Mechanism) -> Floats:
        """Return CAD values of the parameters of a base set."""
        phi = parameter_values(dynamic_model(cad))
        if name != "T5":
            return self.base(name).values(phi)
        at = {n: i for i, n in enumerate(self.null.names)}
        return phi[[at[n] for n in self.columns(name)]]

    def prior(self, name: str, cad: Mechanism, error: float | None = CAD_ERROR) -> Prior:
        return prior_from_cad(cad, self.base(name), cad_error=error)

    def problem(self, seen: Observation, tau: Floats, time: Floats, name: str) -> Regression:
        """Return the linear problem of one base set."""
        at = {n: i for i, n in enumerate(self.null.names)}
        names = self.columns(name)
        coordinates = self.mechanism.coordinates
        return Regression(
            np.ascontiguousarray(seen.W[..., [at[n] for n in names]]),
            tau,
            seen.known,
            time,
            names,
            tuple(c.force for c in coordinates),
            tuple(force_unit(c) for c in coordinates),
            np.ones(tau.shape, dtype=bool),
        )


@dataclass(frozen=True, eq=False)
class Measured:
    """A motion with its exact forces."""

    world: World
    time: Floats
    seen: Observation

    @staticmethod
    def of(world: World, trajectory: Trajectory) -> Measured:
        model = kinematic_model(world.mechanism)
        time = np.arange(round(RATE * SECONDS)) / RATE
        ordered = trajectory.ordered([c.name for c in world.mechanism.coordinates], where="study")
        s = sample(ordered, times=time)
        return Measured(
            world, time, observation_matrix(solve_motion(model, s.y, s.yd, s.ydd, time=time))
        )

    @cached_property
    def tau(self) -> Floats:
        """Exact forces."""
        return self.seen.W @ self.world.phi + self.seen.known

    def noisy(self, law: Law, seed: int) -> Floats:
        """Return forces with errors."""
        rng = np.random.default_rng([seed, 2])
        size = np.sqrt(np.mean(self.tau**2, axis=0))
        n, n_d = self.tau.shape
        if law == "gain":
            factor = 1 + ERROR * rng.standard_normal(n_d)
            return self.tau * factor + BESIDES * size * rng.standard_normal((n, n_d))
        e = rng.standard_normal((n, n_d))
        if law == "coloured":
            a = np.exp(-1 / (RATE * MEMORY))
            for k in range(1, n):
                e[k] = a * e[k - 1] + np.sqrt(1 - a * a) * e[k]
        return self.tau + ERROR * size * e

    def problem(self, name: str, tau: Floats | None = None) -> Regression:
        """Return the linear problem; without forces, the exact ones."""
        given = self.tau if tau is None else tau
        return self.world.problem(self.seen, given, self.time, name)


WHEELS = {name: Expression(f"50*sin(pi*{FREQUENCY:g}*t)") for name in ("spin_r", "spin_l")}


def motions(world: World) -> dict[str, Measured]:
    """Design the motions: one of the sources' kind, that of the default, and one for validation."""
    usual = ExciteOptions("fourier", HARMONICS, FREQUENCY, fixed=WHEELS, base="T1")
    kappa = replace(usual, criterion="condition", random=40, starts=1, iterations=20)
    designed = {
        "sources": kappa,
        "validation": replace(kappa, base="T2", seed=7),
        "default": usual,
    }
    return {
        name: Measured.of(world, excite(world.mechanism, options).trajectory)
        for name, options in designed.items()
    }
