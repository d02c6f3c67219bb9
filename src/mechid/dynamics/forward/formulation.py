"""What every formulation of forward dynamics offers to the integration."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mechid.dynamics.forward.engine import Engine
from mechid.errors import ModelError
from mechid.kinematics.tables import Floats


@dataclass(frozen=True)
class Baumgarte:
    """Coefficients of Φ'' + 2 α Φ' + β² Φ = 0, which pulls the constraints back (1/s)."""

    alpha: float = 0.0
    beta: float = 0.0


@dataclass(frozen=True)
class Instant:
    """What is known at one instant besides the derivative of the state.

    `tau` are the forces on the independent coordinates (n_i,), those that drive some of them
    included; `power` is what actuators and loads feed in (W), `dissipated` what dampers and
    friction take.
    """

    rate: Floats
    tau: Floats
    multipliers: Floats
    kinetic: float
    potential: float
    power: float
    dissipated: float


class Formulation(Protocol):
    """A way to write the equations of motion as ż = f(t, z).

    Time matters only where coordinates are driven.
    """

    name: str
    engine: Engine
    drifts: bool  # whether integration errors can open the loops

    def start(self, q: Floats, v: Floats) -> Floats:
        """Return the state z of a closed pose q with admissible speeds v."""

    def evaluate(self, z: Floats, tau: Floats, t: float = 0.0) -> Instant:
        """Return ż and what else is known, for forces τ on the independent coordinates."""

    def independent(self, z: Floats, t: float = 0.0) -> tuple[Floats, Floats]:
        """Return y and ẏ of a state."""

    def independent_acceleration(self, z: Floats, rate: Floats, t: float = 0.0) -> Floats:
        """Return ÿ of a state whose derivative is `rate`."""

    def tree(self, z: Floats, t: float = 0.0) -> tuple[Floats, Floats]:
        """Return the tree coordinates and speeds of a state."""

    def constraint_error(self, z: Floats, t: float = 0.0) -> float:
        """Return how far the loops are open: largest row, relative to the mechanism's size."""

    def project(self, z: Floats, t: float = 0.0) -> Floats:
        """Return the nearest state with closed loops, admissible speeds and driven coordinates."""


@contextmanager
def massive() -> Iterator[None]:
    """Reject equations without a solution: some motion has no mass."""
    try:
        yield
    except np.linalg.LinAlgError as error:
        raise ModelError(
            "a motion that the joints admit moves no mass",
            path=("bodies",),
            remedy="give the bodies that move in it a mass or an inertia",
        ) from error
