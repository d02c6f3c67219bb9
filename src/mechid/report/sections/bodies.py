"""Bodies: mass, centre of mass and inertia about it, identified against CAD."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechid.estimation.regression import Floats
from mechid.report.section import Section, not_there
from mechid.runs.record import Run
from mechid.spatial.inertia import central, parameters, steiner
from mechid.tasks.cad_prior import cad_covariance

_KEY, _TITLE = "bodies", "Bodies"
_ROUNDING = 1e-6  # of a standard deviation
QUANTITIES = (
    ("mass", "kg"),
    *((f"centre of mass, {axis}", "m") for axis in "xyz"),
    *((f"inertia {axes}", "kg m²") for axes in ("xx", "xy", "xz", "yy", "yz", "zz")),
)


def section(run: Run) -> Section:
    """Return the section with a table per body, from the full consistent set of the run."""
    if run.full is None:
        why = "Values of single bodies need CAD values of all bodies, and bodies that can exist."
        missing = why if "validation" in run.stages else not_there(run, "validation")
        return Section(_KEY, _TITLE, missing=missing)
    values = dict(zip(run.full.parameters, run.full.values, strict=True))
    covariance = cad_covariance(run.mechanism, run.about.options.cad_error)
    bodies = []
    for i, body in enumerate(run.mechanism.bodies):
        if body.massless:
            continue
        ten = slice(10 * i, 10 * i + 10)
        phi = np.array([values[name] for name in run.full.parameters[ten]])
        cad = body.inertia
        given = None
        if cad is not None:
            center, six = np.array(cad.center), np.array(cad.inertia_center)
            given = parameters(cad.mass, center, six)
        bodies.append(
            {
                "name": body.name,
                "number": i + 1,
                "border": body.name in run.full.border,
                "rows": _rows(phi, run.full.covariance.get(body.name), given, covariance[ten, ten]),
            }
        )
    known = bool(run.full.covariance)
    return Section(_KEY, _TITLE, {"bodies": bodies, "sigma": known, "distance": run.full.distance})


def _rows(
    phi: Floats, covariance: Floats | None, cad: Floats | None, cad_covariance: Floats
) -> list[dict[str, Any]]:
    """Return one row per quantity: CAD and identified value with standard deviations."""
    value = central_values(phi)
    sigma = None if covariance is None else central_sigma(phi, covariance)
    given = None if cad is None or not cad[0] > 0 else central_values(cad)
    spread = None if given is None or cad is None else central_sigma(cad, cad_covariance)
    rows = []
    for k, (name, unit) in enumerate(QUANTITIES):
        was, now = (None if s is None else float(s[k]) for s in (spread, sigma))
        rows.append(
            {
                "name": name,
                "unit": unit,
                "cad": None if given is None else float(given[k]),
                "cad_sigma": was,
                "value": _plain(float(value[k]), was or now or 0.0),
                "sigma": now,
                "learnt": max(0.0, 1.0 - (now / was) ** 2) if was and now is not None else None,
            }
        )
    return rows


def _plain(value: float, size: float) -> float:
    """Return a value, zero where it is rounding beside its standard deviation."""
    return 0.0 if abs(value) < _ROUNDING * size else value


def central_values(phi: Floats) -> Floats:
    """Return mass, centre of mass and inertia about it, (10,)."""
    mass, center, six = central(phi)
    return np.concatenate([[mass], center, six])


def central_sigma(phi: Floats, covariance: Floats) -> Floats:
    """Return their standard deviations (10,) from the covariance of φ, to first order."""
    J = central_jacobian(phi)
    variance = np.einsum("ij,jk,ik->i", J, covariance, J)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def central_jacobian(phi: Floats) -> Floats:
    """Return the derivatives (10, 10) of mass, centre and central inertia by φ.

    With h = m c: c = h/m and I_c = I - (h·h 1 - h hᵀ)/m.
    """
    m, h = float(phi[0]), phi[1:4]
    c = h / m
    J = np.eye(10)
    J[1:4, 0], J[1:4, 1:4] = -c / m, np.eye(3) / m
    upper = np.triu_indices(3)
    J[4:, 0] = steiner(1.0, c)[upper]
    for k in range(3):
        e = np.eye(3)[k]
        J[4:, 1 + k] = -(2 * c[k] * np.eye(3) - np.outer(e, c) - np.outer(c, e))[upper]
    return J
