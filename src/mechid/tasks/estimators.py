"""Estimators by name, with settings given as words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from typing import Any, get_type_hints

from mechid.errors import DataError, ModelError
from mechid.estimation.estimator import Estimator
from mechid.estimation.posterior.estimator import JointPosterior
from mechid.estimation.registry import ESTIMATORS
from mechid.mechanism.altered import movable_joints
from mechid.mechanism.records import Mechanism
from mechid.mechanism.size import characteristic_size
from mechid.options import IdentifyOptions, step_options
from mechid.options.noise import NoiseLevels
from mechid.options.words import converted
from mechid.tasks.identification_prior import check_constraints
from mechid.textfile.words import hint

DEFAULT = "auto"
_NOT_SETTINGS = ("name",)
_MOST = 10.0  # CAD errors: 20 is meant as 20 %
_FAR = 0.1  # of the size of the mechanism: forces are linear in displacements far below it


def estimator_of(name: str, settings: Mapping[str, Any] | None = None) -> Estimator:
    """Return an estimator.

    Parameters
    ----------
    name : str
        One of `ESTIMATORS`.
    settings : mapping, optional
        Fields of its record: `penalty` of ridge, `whiten`, `gains`, … Values may be text: numbers,
        "5 %", "true", or a word. Estimators that constrain another one take its name as `inner`
        and hand on what that one knows; what both know is its setting, and `own_scale` theirs.

    Raises
    ------
    DataError
        If there is no such estimator, or it has no such setting.
    """
    if name not in ESTIMATORS:
        raise DataError(
            f"unknown estimator '{name}'", remedy=f"choose one of: {', '.join(ESTIMATORS)}"
        )
    own = setting_names(name)
    rest = {key: _value(value) for key, value in (settings or {}).items()}
    inner = str(rest.pop("inner", DEFAULT)) if "inner" in own else None
    shared = setting_names(inner) if inner is not None and inner in ESTIMATORS else ()
    words = {f"own_{key}" if key in shared else key: key for key in own}
    values = {key: rest.pop(word) for word, key in words.items() if word in rest}
    if inner is not None:
        values["inner"] = estimator_of(inner, rest)
    elif rest:
        raise DataError(
            f"the estimator {name} has no setting {next(iter(rest))}",
            remedy=f"choose one of: {', '.join(own)}",
        )
    kinds = _kinds(name)
    checked = {k: v if k == "inner" else converted(v, kinds[k], k) for k, v in values.items()}
    return ESTIMATORS[name](**checked)


@cache
def _kinds(name: str) -> Mapping[str, Any]:
    """Return the types of the settings of an estimator; studies ask for them in every cell."""
    return get_type_hints(ESTIMATORS[name])


def identify_options(
    options: IdentifyOptions, words: Mapping[str, Any], mechanism: Mechanism
) -> IdentifyOptions:
    """Return options with some of them given as words; settings of the estimator may be among them.

    Models of the noise are compared by how probable they are, which takes a prior: `prior="none"`
    alone means the estimator "map". `offsets=True` means "estimated".

    Raises
    ------
    DataError
        For options that make no sense.
    """
    fields_of = {f.name for f in fields(IdentifyOptions)}
    own = {"own_scale", *(name for known in ESTIMATORS for name in setting_names(known))}
    if unknown := [word for word in words if word not in fields_of | own]:
        raise DataError(
            f"there is no option {unknown[0]}", remedy=hint(unknown[0], sorted(fields_of | own))
        )
    own_words = {k: v for k, v in words.items() if k in fields_of}
    found = step_options(IdentifyOptions, options, own_words)
    settings = {k: v for k, v in words.items() if k not in fields_of and v is not None}
    if settings.get("prior") == "none" and found.estimator == DEFAULT:
        found = replace(found, estimator="map")
    settings = {k: _value(v) for k, v in {**found.settings, **settings}.items()}
    if settings.get("offsets") is True:  # numbers are sizes
        settings["offsets"] = "estimated"
    elif settings.get("offsets") is False:
        del settings["offsets"]
    found = replace(found, settings=settings)
    _check(found, mechanism)
    return found


def _check(options: IdentifyOptions, mechanism: Mechanism) -> None:
    estimator = estimator_of(options.estimator, options.settings)
    if options.cad_error is not None and not 0 < options.cad_error < _MOST:
        raise DataError(
            f"cad_error must be > 0 and < {_MOST:g} ({_MOST:.0%}), got {options.cad_error:g}",
            remedy="give a share, as 0.2, or percent, as 20%",
        )
    _check_bodies(estimator, mechanism)
    if options.hardpoints is not None:
        _check_places(options.hardpoints, mechanism)
    if options.hardpoints and joint_of(estimator) is None:
        raise DataError(
            f"the estimator {estimator.name} takes places of joints as exact",
            remedy="use the estimator auto, or leave hardpoints out",
        )
    check_constraints(options, mechanism)
    if (options.weigh or options.symmetric) and not uses_cad(estimator):
        raise DataError(
            "weigh and symmetric need CAD values, which this estimator does not use",
            remedy="use the estimator auto, map or physical, with a prior",
        )


def _check_bodies(estimator: Estimator, mechanism: Mechanism) -> None:
    """Reject an estimator that needs CAD values which the model does not have."""
    bare = {
        f"m_{i}": body.name
        for i, body in enumerate(mechanism.bodies, start=1)
        if body.inertia is None and not body.massless
    }
    if bare and uses_cad(estimator):
        none = "" if hasattr(estimator, "inner") else "prior none (--prior none) or "
        raise ModelError(
            f"no value for {', '.join(bare)} and the other parameters of {', '.join(bare.values())}"
            f": the estimator {estimator.name} needs CAD values",
            path=("bodies",),
            remedy="give mass and inertia in the model file, or identify without CAD values, with "
            f"{none}the estimator ols (--estimator ols)",
        )


def _check_places(levels: NoiseLevels, mechanism: Mechanism) -> None:
    """Reject places of joints that do not exist, and sizes that make no sense.

    Raises
    ------
    DataError
    """
    known, size = movable_joints(mechanism), characteristic_size(mechanism)
    for joint, level in {"": levels.every, **levels.channels}.items():
        if joint and joint not in known:
            raise DataError(
                f"there is no joint {joint} for hardpoints",
                where=mechanism.name,
                remedy=f"choose one of: {', '.join(known)}",
            )
        value = level.value * (size if level.relative else 1.0)
        if not 0 <= value < _FAR * size:
            where = f" of {joint}" if joint else ""
            raise DataError(
                f"hardpoints{where} must be between 0 and a tenth of the size of the mechanism, "
                f"{_FAR * size:.3g} m, got {value:g} m",
                remedy="give a standard deviation in metres, as 0.0005, or in percent",
            )


def joint_of(estimator: Estimator) -> JointPosterior | None:
    """Return the posterior of everything that may be wrong, if an estimator rests on one."""
    found = getattr(estimator, "inner", estimator)
    return found if isinstance(found, JointPosterior) else None


def setting_names(name: str) -> tuple[str, ...]:
    """Return what can be set of an estimator."""
    make: Any = ESTIMATORS[name]
    return tuple(f.name for f in fields(make) if f.name not in _NOT_SETTINGS)


def uses_cad(estimator: Estimator) -> bool:
    """Return whether an estimate depends on CAD values."""
    inner = getattr(estimator, "inner", None)
    return inner is not None or getattr(estimator, "prior", "none") != "none"


def _value(value: Any) -> Any:
    """Return text as the number, share or truth value that it writes."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text in ("true", "false"):
        return text == "true"
    share = text.endswith("%")
    for kind in (int, float):
        try:
            number = kind(text.removesuffix("%"))
        except ValueError:
            continue
        return number / 100 if share else number
    return text
