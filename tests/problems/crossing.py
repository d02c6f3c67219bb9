"""Motions through singular poses in every way that can be chosen: right, refused, or wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from mechid.dynamics.simulate import simulate
from mechid.dynamics.simulation import SimulationError
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism

from .problems import CHANGE_POINTS, n_four_bar, row_of_parallelograms

FORMULATIONS = ("independent", "gibbs-appell", "explicit-gibbs-appell", "udwadia-kalaba")
INTEGRATORS = (("DOP853", 1e-6), ("DOP853", 1e-9), ("Radau", 1e-6), ("LSODA", 1e-6))  # with rtol
# What is further off did not follow its branch: branches differ by radians.
WRONG = 0.02  # rad


@dataclass(frozen=True)
class Way:
    """A mechanism, its truth at times, and the speed that it starts with."""

    name: str
    mechanism: Callable[[], Mechanism]
    truth: Callable[[Floats], Floats]
    times: Floats
    speed: float


def rows(numbers: Sequence[int], end: float = 3.0) -> list[Way]:
    """Return rows of N parallelograms; all links lie on one line four times in 3 s."""
    times = np.linspace(0, end, 31)
    return [
        Way(
            f"N-four-bar, N = {n}",
            lambda n=n: n_four_bar(n),  # type: ignore[misc]
            lambda t, n=n: row_of_parallelograms(n, t),  # type: ignore[misc]
            times,
            -1.0,
        )
        for n in numbers
    ]


def change_points() -> list[Way]:
    """Return the four-bar linkages with unequal links; they cross once."""
    return [
        Way(
            f"links {c.crank:g}, {c.coupler:g}, {c.rocker:g} on {c.ground:g} m, branch {c.root:+d}",
            lambda c=c: c.mechanism(0.7),  # type: ignore[misc]
            lambda t, c=c: c.truth(0.7, -1.4, t),  # type: ignore[misc]
            np.linspace(0, 1, 21),
            -1.4,
        )
        for c in CHANGE_POINTS
    ]


def try_all(
    ways: Sequence[Way],
    formulations: Sequence[str] = FORMULATIONS,
    integrators: Sequence[tuple[str, float]] = INTEGRATORS,
) -> Iterator[dict[str, object]]:
    """Yield one row for every simulation: what became of it, its error (rad), why it stopped."""
    for way in ways:
        mechanism, truth = way.mechanism(), way.truth(way.times)
        for formulation, (integrator, rtol) in product(formulations, integrators):
            why = ""
            try:
                found = simulate(
                    mechanism,
                    way.times,
                    yd0=np.array([way.speed]),
                    formulation=formulation,
                    integrator=integrator,
                    rtol=rtol,
                    atol=rtol / 100,
                )
            except SimulationError as error:
                found, why = error.partial, error.what
            error = float(np.abs(found.y[:, 0] - truth[: len(found.y)]).max())
            outcome = "wrong" if error > WRONG else "refused" if why else "right"
            yield {
                "way": way.name,
                "formulation": formulation,
                "integrator": integrator,
                "rtol": rtol,
                "outcome": outcome,
                "error": error,
                "why": why,
            }
