"""Values of the parameters φ: CAD values, or those that are passed."""

from __future__ import annotations

import numpy as np

from mechid.dynamics.compile import DynamicModel
from mechid.dynamics.regressor import cad_parameters
from mechid.errors import MechidError, ModelError
from mechid.kinematics.tables import Floats

_LISTED = 4  # names of missing values in the message


def parameter_values(model: DynamicModel, phi: Floats | None = None) -> Floats:
    """Return φ (p,), in the order of `model.columns`; default: CAD values.

    Raises
    ------
    MechidError
        If `phi` has another shape.
    ModelError
        Naming the parameters that have no value.
    """
    values = cad_parameters(model) if phi is None else np.asarray(phi, dtype=float)
    if values.shape != (len(model.columns),):
        raise MechidError(f"phi must have shape ({len(model.columns)},), got {values.shape}")
    if not np.isfinite(values).all():
        missing = [model.columns[i] for i in np.flatnonzero(~np.isfinite(values))]
        names = [c.name for c in missing]
        owners = sorted({c.owner for c in missing})
        inertial = any(body.name == missing[0].owner for body in model.mechanism.bodies)
        raise ModelError(
            f"no value for {', '.join(names[:_LISTED])}{', …' if len(names) > _LISTED else ''} "
            f"({', '.join(owners)})",
            path=("bodies",) if inertial else ("elements",),
            remedy="give CAD values in the model file, or pass the parameters",
        )
    return values
