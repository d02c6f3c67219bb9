"""Loads over time: known forces whose size is a given function of time.

To everything that does not depend on time they are absent: they are no parameters. Where forces are
wanted, each becomes a column of its own (`TimedLoads.model`), whose coefficient at a time is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.loads import table_forces
from mechid.errors import DataError
from mechid.kinematics.kernels.jit import kept_models
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Coefficient, ForceElement, Mechanism, TimeHistory
from mechid.textfile import expressions


@dataclass(frozen=True, eq=False)
class TimedLoads:
    """The loads over time of a mechanism.

    Attributes
    ----------
    model : DynamicModel
        Of the same mechanism with a column for each of its loads over time.
    places, others : arrays of int
        Which of its columns are theirs, and which are the p columns of the mechanism.
    sizes : tuple of callable
        Coefficient of each as a function of time (s), in N or N m.
    """

    model: DynamicModel
    places: np.ndarray
    others: np.ndarray
    sizes: tuple[Callable[[float], float], ...]

    def at(self, time: Floats | None) -> Floats:
        """Return the coefficients at the times of N samples, (N, n_t)."""
        if time is None:
            raise DataError(
                f"loads of {self.model.mechanism.name} depend on time, but the motion has no times",
                remedy="give the time of each sample",
            )
        return np.array([[size(float(t)) for size in self.sizes] for t in time]).reshape(
            len(time), len(self.sizes)
        )

    def folded(self, W: Any, known: Any, time: Floats | None) -> tuple[Any, Any]:
        """Return W (N, n_i, p) and known (N, n_i) of those of `model`: loads become known."""
        moved = np.einsum("nij,nj->ni", W[:, :, self.places], self.at(time))
        return np.ascontiguousarray(W[:, :, self.others]), known + moved

    def parameters(self, phi: Floats) -> Floats:
        """Return the parameters of `model`, those of the loads zero."""
        out = np.zeros(len(self.model.columns))
        out[self.others] = phi
        return out


def timed_loads(mechanism: Mechanism) -> TimedLoads | None:
    """Return the loads over time of a mechanism, if it has any."""
    if all(e.history is None for e in mechanism.elements):
        return None
    return _timed_loads(mechanism)


@kept_models
def _timed_loads(mechanism: Mechanism) -> TimedLoads:
    timed = {e.name: e for e in mechanism.elements if e.history is not None}
    elements = tuple(_open(e) if e.name in timed else e for e in mechanism.elements)
    model = dynamic_model(replace(mechanism, elements=elements))
    first = 10 * len(mechanism.bodies)
    owners = [c.owner if i >= first else "" for i, c in enumerate(model.columns)]
    places = [i for i, owner in enumerate(owners) if owner in timed]
    others = [i for i, owner in enumerate(owners) if owner not in timed]
    sizes = tuple(_size(timed[owners[i]].history, model.columns[i].value) for i in places)
    return TimedLoads(model, np.array(places), np.array(others, dtype=int), sizes)


def _open(element: ForceElement) -> ForceElement:
    """Return a load over time as one whose coefficients are columns."""

    def column(value: Any) -> Any:
        known = isinstance(value, Coefficient) and value.value is not None
        return replace(value, identify=True) if known else value

    parts = (
        replace(part, values=tuple((key, column(value)) for key, value in part.values))
        for part in element.parts
    )
    return replace(element, parts=tuple(parts), history=None)


def _size(history: TimeHistory | None, value: float | None) -> Callable[[float], float]:
    assert history is not None
    assert value is not None
    if history.expression:
        return lambda t: value * _evaluated(history.expression, t)
    table = table_forces(
        np.array(history.time), np.array(history.factor)[:, None], history.interpolation
    )
    return lambda t: value * float(table.at(t)[0])


def _evaluated(text: str, t: float) -> float:
    try:
        return expressions.evaluate_text(text, {"t": t})
    except ValueError as error:
        raise DataError(
            f"the load over time {text} has no value at t = {t:.10g} s: {error}",
            remedy="write an expression that has one at all times of the motion",
        ) from None
