"""Friction that grows with the force a drive transmits, as that of gears does.

If a drive has to supply L for everything else in the model, it supplies

    τ = (1 + μ sign(L q̇)) L,

more while it feeds power in, less while the mechanism drives it. A row of W is thus multiplied by a
known factor that depends on the direction of power alone: W φ stays linear in φ as long as no force
changes its sign, and ranks stay what they are. Without forces at hand, the sign is that of CAD
values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.errors import ModelError
from mechid.kinematics.kernels.jit import kept_models
from mechid.kinematics.tables import Floats
from mechid.mechanism.element_terms import (
    driven_joints,
    load_parts,
    undriven_load,
    without_load,
)
from mechid.mechanism.records import Mechanism


@dataclass(frozen=True, eq=False)
class LoadFriction:
    """The friction of a mechanism that depends on the load.

    Attributes
    ----------
    model : DynamicModel
        Of the same mechanism without it; its columns are the same.
    part : array (n_i,)
        μ of each independent coordinate: friction over transmitted force.
    smoothing : array (n_i,)
        tanh(q̇ / smoothing) stands for sign q̇ where it is not zero; m/s or rad/s.
    phi : array (p,)
        CAD values, which tell the sign of forces that nobody gives; NaN of those unknown.
    """

    model: DynamicModel
    part: Floats
    smoothing: Floats
    phi: Floats

    def factors(self, yd: Floats, loads: Floats) -> Floats:
        """Return what forces are multiplied by, for speeds and loads (N, n_i).

        Loads of coordinates without this friction need not be known.
        """
        return 1.0 + self.part * self.sides(yd) * np.sign(np.where(self.part > 0, loads, 0.0))

    def sides(self, yd: Floats) -> Floats:
        """Return the direction of motion, -1 to 1, for speeds (N, n_i)."""
        soft = self.smoothing > 0
        return np.where(soft, np.tanh(yd / np.where(soft, self.smoothing, 1.0)), np.sign(yd))

    def transmitted(self, tau: Floats, yd: Floats) -> Floats:
        """Return the loads that forces τ of the drives can bear; they have the same sign."""
        return np.asarray(tau / self.factors(yd, tau))

    def nominal(self, W: Floats, known: Floats) -> Floats:
        """Return the loads (N, n_i) of CAD values, from W and known of `model`.

        Raises
        ------
        ModelError
            If a value is missing.
        """
        if not np.isfinite(self.phi).all():
            missing = self.model.columns[int(np.flatnonzero(~np.isfinite(self.phi))[0])]
            raise ModelError(
                f"friction that depends on the load needs the value of {missing.name}",
                where=self.model.mechanism.name,
                remedy="give CAD values of all bodies and coefficients, or leave out `load`",
            )
        return np.asarray(W @ self.phi + known)

    def apply(self, W: Floats, known: Floats, yd: Floats, loads: Floats | None = None) -> None:
        """Multiply rows of W (N, n_i, p) and known (N, n_i) of `model`, in place.

        `loads` (N, n_i) are forces whose signs count, NaN where CAD values tell; default: all NaN.
        """
        if loads is None or np.isnan(loads[:, self.part > 0]).any():
            cad = self.nominal(W, known)
            loads = cad if loads is None else np.where(np.isnan(loads), cad, loads)
        factors = self.factors(yd, loads)
        W *= factors[:, :, None]
        known *= factors

    def slopes(self, yd: Floats, loads: Floats) -> Floats:
        """Return the derivatives of `factors` by the speeds, (N, n_i)."""
        soft = self.smoothing > 0
        steep = (1.0 - self.sides(yd) ** 2) / np.where(soft, self.smoothing, 1.0)
        return np.where(soft, self.part * np.sign(loads) * steep, 0.0)


def load_friction(mechanism: Mechanism) -> LoadFriction | None:
    """Return the friction of a mechanism that depends on the load, if it has any.

    Raises
    ------
    ModelError
        If a coordinate with such friction is not one whose force is given.
    """
    if not any(True for e in mechanism.elements for _ in load_parts(e)):
        return None
    return _load_friction(mechanism)


@kept_models
def _load_friction(mechanism: Mechanism) -> LoadFriction:
    places = driven_joints(mechanism.coordinates, mechanism.joint)
    part, smoothing = np.zeros((2, len(mechanism.coordinates)))
    for e in mechanism.elements:
        if fault := undriven_load(e, places):
            raise ModelError(
                fault, path=("elements", e.name, "load"), remedy="leave out the load, or drive it"
            )
        for p in load_parts(e):
            place = places[e.coordinates[0]]
            part[place] += p["load"]
            smoothing[place] = max(smoothing[place], p["smoothing"])
    if np.any(part >= 1.0):
        worst = mechanism.coordinates[int(np.argmax(part))].name
        raise ModelError(
            f"load of all friction of {worst} must be < 1, got {part.max():g}",
            path=("elements",),
            remedy="give the friction over the force that the drive transmits",
        )
    elements = tuple(without_load(e) for e in mechanism.elements)
    model = dynamic_model(replace(mechanism, elements=elements))
    phi = np.array([np.nan if c.value is None else c.value for c in model.columns])
    return LoadFriction(model, part, smoothing, phi)
