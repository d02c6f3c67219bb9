"""What is exported of a model or of a run: all values, and how certain they are.

A run has base values with their covariance C; all parameters follow from them and from CAD, φ* with
covariance T Tᵀ (`estimation.completion`). Those of a reduced model are moved to the physically
consistent set of the run; their uncertainty is that of all base parameters, since a parameter that
was eliminated is not known any better for it.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from mechid.base.cad import cad_values, parameter_covariance
from mechid.base.complete import listed_base
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.regressor import cad_parameters
from mechid.estimation.bodies import with_thickness
from mechid.estimation.completion import complete
from mechid.estimation.linear import prior_factor
from mechid.exporting.content import Content, Quantity
from mechid.exporting.values import central_root, with_values
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.runs.record import Run
from mechid.tasks.stages import base_of, parameter_table, problem_of

_HARDLY = 0.9  # of the standard deviation of CAD: the data hardly reduce it
_BODY = (
    ("mass", "kg", "m"),
    *((f"center {x}", "m", f"c_{x}") for x in "xyz"),
    *((f"inertia {x}", "kg m²", f"I_{{{x}}}") for x in ("xx", "xy", "xz", "yy", "yz", "zz")),
)

_Told: TypeAlias = tuple[float | None, float | None]  # value and standard deviation


class _Values(NamedTuple):
    """φ (p,) and T (p, r) of its covariance T Tᵀ."""

    phi: Floats
    root: Floats

    @property
    def sigma(self) -> tuple[float, ...]:
        return tuple(np.linalg.norm(self.root, axis=1).tolist())

    def of(self, k: int) -> _Told:
        return float(self.phi[k]), self.sigma[k]


def of_model(mechanism: Mechanism, with_base: bool = False) -> Content:
    """Return a model with its CAD values and the standard deviations that it declares."""
    phi = cad_parameters(dynamic_model(mechanism))
    cad = _Values(phi, prior_factor(parameter_covariance(mechanism)))
    base = _model_base(mechanism) if with_base else ()
    rows = (*base, *_bodies(mechanism, cad), *_elements(mechanism, cad))
    lacking = _missing(mechanism, phi)
    return Content(mechanism, "CAD values of the model", rows, (), lacking, cad.sigma)


def of_run(run: Run) -> Content:
    """Return the mechanism of a run with the identified values."""
    base = _run_base(run)
    files = ", ".join(dict.fromkeys(log.source for log in run.logs if log.source))
    said = f"{len(run.final.parameters)} base parameters identified" + f" from {files}" * bool(
        files
    )
    if run.full is None:
        why = "the run has no values of all parameters: the model gives no CAD values of them"
        return Content(run.mechanism, said, base, _notes(run), why)
    chosen = listed_base(run.mechanism, run.parameters.dependent, run.parameters.names)
    problem = problem_of(run.mechanism, chosen, run.motions, run.about.options, run.n_logs)
    prior, estimate = problem.prior, run.estimate or run.final
    assert prior is not None  # the run has a full set
    order = [estimate.parameters.index(name) for name in prior.base]
    # points, rods and sheets of CAD have a thickness in the full set
    found = complete(with_thickness(prior), prior.matrix @ run.full.values)
    now = _Values(run.full.values, found.root(estimate.covariance[np.ix_(order, order)]))
    cad = _Values(prior.values, prior_factor(prior.covariance))
    rows = (*base, *_bodies(run.mechanism, now, cad), *_elements(run.mechanism, now, cad))
    return Content(with_values(run.mechanism, *now), said, rows, _notes(run), sigma=now.sigma)


def _notes(run: Run) -> tuple[str, ...]:
    notes = []
    if run.full is not None:
        notes.append(
            "of all bodies with the identified base parameters, those nearest to CAD; (CAD) marks "
            "values whose standard deviation the data hardly reduce"
        )
        if run.full.missed:
            names = ", ".join(run.full.missed)
            notes.append(f"no physically consistent bodies have the identified values of {names}")
    if run.reduction is not None:
        rest = "zero" if run.reduction.rest == "zero" else "at their CAD values"
        notes.append(
            f"reduced model: {run.reduction.size.size} of {len(run.parameters.names)} base "
            f"parameters, the others are {rest}; standard deviations of bodies are those before "
            "the reduction"
        )
    return tuple(notes)


def _missing(mechanism: Mechanism, phi: Floats) -> str:
    columns = dynamic_model(mechanism).columns
    owners = dict.fromkeys(c.owner for c, x in zip(columns, phi, strict=True) if not np.isfinite(x))
    return f"no values of {', '.join(owners)}" if owners else ""


# ------------------------------------------------------------------------------ rows


def _run_base(run: Run) -> tuple[Quantity, ...]:
    table, final, values = run.parameters, run.final, run.values()
    sigma = dict(zip(final.parameters, final.sigma.tolist(), strict=True))
    kept = table.names if run.reduction is None else run.reduction.chosen

    def source(name: str) -> str:
        return "eliminated" if name not in kept else "cad" if name in final.resting else "data"

    return tuple(
        Quantity(
            "base parameters",
            "",
            name,
            table.units[i],
            float(values[i]),
            sigma.get(name),
            _number(table.cad[i]),
            _number(table.cad_sigma[i]),
            source(name),
            table.text[i],
            table.latex[i],
        )
        for i, name in enumerate(table.names)
    )


def _model_base(mechanism: Mechanism) -> tuple[Quantity, ...]:
    chosen = base_of(mechanism)
    table, phi = parameter_table(mechanism, chosen), cad_parameters(dynamic_model(mechanism))
    sigma = cad_values(chosen).sigma.tolist() if np.all(np.isfinite(phi)) else [None] * len(phi)
    return tuple(
        Quantity(
            "base parameters",
            "",
            name,
            table.units[i],
            _number(table.cad[i]),
            sigma[i] or None,
            expression=table.text[i],
            latex=table.latex[i],
        )
        for i, name in enumerate(table.names)
    )


def _bodies(mechanism: Mechanism, now: _Values, cad: _Values | None = None) -> list[Quantity]:
    """Return mass, centre and central inertia of each body that has values."""
    found = _central(mechanism, now)
    before = {} if cad is None else _central(mechanism, cad)
    return [
        _quantity(("bodies", body, name, unit), told[k], before[body][k] if before else None, latex)
        for body, told in found.items()
        for k, (name, unit, latex) in enumerate(_BODY)
    ]


def _central(mechanism: Mechanism, values: _Values) -> dict[str, list[_Told]]:
    """Return mass, centre and central inertia by body, with standard deviations."""
    found: dict[str, list[_Told]] = {}
    for i, body in enumerate(with_values(mechanism, values.phi).bodies):
        if (cad := body.inertia) is not None:
            root = central_root(cad, values.root[10 * i : 10 * i + 10])
            sigma = np.linalg.norm(root, axis=1).tolist()
            numbers = (cad.mass, *cad.center, *cad.inertia_center)
            found[body.name] = list(zip(numbers, sigma, strict=True))
    return found


def _elements(mechanism: Mechanism, now: _Values, cad: _Values | None = None) -> list[Quantity]:
    """Return the coefficients of force elements, those that are known too."""
    model = dynamic_model(mechanism)
    at = {column.name: k for k, column in enumerate(model.columns)}
    rows = []
    for column in (term.column for term in model.terms):
        k = at.get(column.name)
        known = (column.value, None)
        told = known if k is None else now.of(k)
        before = None if k is None or cad is None else cad.of(k)
        words = ("force elements", column.owner, column.name, column.unit)
        rows.append(_quantity(words, told, before))
    return rows


def _quantity(
    words: tuple[str, str, str, str], now: _Told, cad: _Told | None, latex: str = ""
) -> Quantity:
    """Return a row from table, owner, name and unit, and values with standard deviations."""
    source = "model"
    if cad is not None:
        source = "cad" if (now[1] or 0.0) >= _HARDLY * (cad[1] or 0.0) else "data"
    table, owner, name, unit = words
    before = cad or (None, None)
    return Quantity(
        table,
        owner,
        name,
        unit,
        _number(now[0]),
        _number(now[1]) or None,
        _number(before[0]),
        _number(before[1]),
        source,
        latex=latex,
    )


def _number(x: float | None) -> float | None:
    return None if x is None or not np.isfinite(x) else float(x)
