"""Estimates as files: small things as JSON, covariance and residuals as Parquet."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from mechid.estimation.estimate import Agreement, ChannelErrors, Estimate, Finding
from mechid.estimation.regression import Floats
from mechid.options import from_words
from mechid.runs.files import floats, read_columns, read_json, write_columns, write_json
from mechid.runs.schemas import EstimateWords, checked


def write_estimate(folder: Path, stem: str, estimate: Estimate) -> None:
    """Write an estimate as `stem.json`, `stem.covariance.parquet` and `stem.residuals.parquet`."""
    write_columns(
        folder / f"{stem}.covariance.parquet",
        dict(zip(estimate.parameters, estimate.covariance.T, strict=True)),
    )
    write_columns(
        folder / f"{stem}.residuals.parquet",
        dict(zip(estimate.channels, estimate.residuals.T, strict=True)),
    )
    write_json(
        folder / f"{stem}.json",
        {
            "method": estimate.method,
            "parameters": estimate.parameters,
            "values": estimate.values,
            "sigma": estimate.sigma,
            "channels": estimate.channels,
            "noise": estimate.noise,
            "condition": estimate.condition,
            "known": estimate.known,
            "warnings": estimate.warnings,
            "agreement": None if estimate.agreement is None else asdict(estimate.agreement),
            "errors": None if estimate.errors is None else asdict(estimate.errors),
            "colour": None if estimate.colour is None else list(estimate.colour),
            "tails": estimate.tails,
            "full": estimate.full,
            "resting": estimate.resting,
            "unmodelled": estimate.unmodelled,
            "doubted": estimate.doubted,
            "found": [asdict(finding) for finding in estimate.found],
        },
    )


def read_estimate(folder: Path, stem: str) -> Estimate:
    """Read what `write_estimate` wrote."""
    found: dict[str, Any] = checked(read_json(folder / f"{stem}.json"), EstimateWords)
    covariance = read_columns(folder / f"{stem}.covariance.parquet")
    residuals = read_columns(folder / f"{stem}.residuals.parquet")
    n, n_d = len(found["parameters"]), len(found["channels"])
    errors, colour, unmodelled = found["errors"], found["colour"], found.get("unmodelled")
    if colour is not None and len(colour) != n_d:
        raise ValueError(f"colour must have {n_d} entries, got {len(colour)}")
    return Estimate(
        method=found["method"],
        parameters=tuple(found["parameters"]),
        values=floats(found["values"], n),
        covariance=floats(np.column_stack([np.zeros((n, 0)), *covariance.values()]), n, n),
        channels=tuple(found["channels"]),
        noise=floats(found["noise"], n_d),
        residuals=np.column_stack([residuals[channel] for channel in found["channels"]]),
        condition=_number(found["condition"]),
        known=tuple(found["known"]),
        warnings=tuple(found["warnings"]),
        agreement=None if found["agreement"] is None else Agreement(**_numbers(found["agreement"])),
        errors=None if errors is None else _errors(errors, n_d),
        colour=None if colour is None else tuple(floats(c) for c in colour),
        tails=found.get("tails"),
        full=None if found["full"] is None else floats(found["full"]),
        resting=tuple(found["resting"]),
        unmodelled=None if unmodelled is None else floats(unmodelled, n_d),
        doubted=_root(found.get("doubted"), n),
        found=from_words(tuple[Finding, ...], found.get("found", []), f"{stem}.json: found"),
    )


def _root(found: list[list[float]] | None, n: int) -> Floats | None:
    """Return a root (n, k) of a part of the covariance."""
    return None if found is None else floats(found).reshape(n, -1)


def _errors(found: dict[str, Any], n_d: int) -> ChannelErrors:
    logs = tuple(int(n) for n in found.pop("logs", ()))
    arrays = {name: floats(x) for name, x in found.items() if x is not None}
    if any(x.shape[-1:] != (n_d,) for x in arrays.values()):
        raise ValueError(f"errors of channels must have {n_d} numbers")
    return ChannelErrors(**arrays, logs=logs)


def _number(value: float | None) -> float:
    """Return a number of an estimate; what JSON could not hold was infinite."""
    return np.inf if value is None else value


def _numbers(values: dict[str, float | None]) -> dict[str, float]:
    return {name: _number(value) for name, value in values.items()}
