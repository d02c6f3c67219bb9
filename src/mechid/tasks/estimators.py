"""Estimators by name, with settings given as words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from mechid.errors import DataError
from mechid.estimation.estimator import Estimator
from mechid.estimation.registry import ESTIMATORS

DEFAULT = "auto"
_NOT_SETTINGS = ("name", "groups")


def estimator_of(name: str, settings: Mapping[str, Any] | None = None) -> Estimator:
    """Return an estimator.

    Parameters
    ----------
    name : str
        One of `ESTIMATORS`.
    settings : mapping, optional
        Fields of its record: `penalty` of ridge, `whiten`, `gains`, … Values may be text: numbers,
        "5 %", "true", or a word. Estimators that constrain another one take its name as `inner`,
        and hand on what they do not know.

    Raises
    ------
    DataError
        If there is no such estimator, or it has no such setting.
    """
    if name not in ESTIMATORS:
        raise DataError(
            f"there is no estimator {name}", remedy=f"use one of {', '.join(ESTIMATORS)}"
        )
    own = setting_names(name)
    given = {key: _value(value) for key, value in (settings or {}).items()}
    values = {key: value for key, value in given.items() if key in own}
    rest = {key: value for key, value in given.items() if key not in own}
    if "inner" in own:
        values["inner"] = estimator_of(str(values.pop("inner", DEFAULT)), rest)
    elif rest:
        has = f"it has {', '.join(own)}" if own else "it has none"
        raise DataError(f"the estimator {name} has no setting {next(iter(rest))}", remedy=has)
    return ESTIMATORS[name](**values)


def setting_names(name: str) -> tuple[str, ...]:
    """Return what can be set of an estimator."""
    make: Any = ESTIMATORS[name]
    return tuple(f.name for f in fields(make) if f.name not in _NOT_SETTINGS)


def uses_cad(estimator: Estimator) -> bool:
    """Say whether an estimate depends on CAD values."""
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
