"""Reductions as files: the order and the curves as Parquet, the choice as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mechid.reduction.contribution import Contribution
from mechid.reduction.curves import Curves
from mechid.reduction.ranking import Ranking
from mechid.reduction.reduce import Reduction
from mechid.reduction.size import Size
from mechid.runs.estimates import read_estimate, write_estimate
from mechid.runs.files import read_columns, read_json, write_columns, write_json
from mechid.runs.schemas import ReductionWords, checked


def write_reduction(folder: Path, found: Reduction, motions: Sequence[str]) -> None:
    """Write a reduction; `motions` are the names of those for validation, in its order.

    `reduction.parquet` has a row per size: `condition`, `raw_condition`, `E_p FORCE` on the motion
    of identification, `E_p FORCE MOTION` on others, `block 1`, … of the cross-validation.
    `ranking.parquet` has the parameters in the order in which they are kept, with their score.
    """
    write_estimate(folder, "reduced", found.estimate)
    curves, channels = found.curves, found.estimate.channels
    columns: dict[str, Any] = {
        "size": curves.sizes,
        "condition": curves.condition,
        "raw_condition": curves.raw_condition,
    }
    for j, force in enumerate(channels):
        columns[f"E_p {force}"] = curves.identification[:, j]
    for k, motion in enumerate(motions):
        for j, force in enumerate(channels):
            columns[f"E_p {force} {motion}"] = curves.validation[:, k, j]
    for k in range(curves.blocks.shape[1]):
        columns[f"block {k + 1}"] = curves.blocks[:, k]
    write_columns(folder / "reduction.parquet", columns)
    write_columns(
        folder / "ranking.parquet", {"name": found.ranking.order, "score": found.ranking.score}
    )
    write_json(
        folder / "reduction.json",
        {
            "rule": found.ranking.rule,
            "natural": found.ranking.natural,
            "ranked": found.ranking.complete,
            "size": found.size.size,
            "why": found.size.why,
            "lower": found.size.lower,
            "upper": found.size.upper,
            "rest": found.rest,
            "complete": found.complete,
            "motions": list(motions),
            "blocks": curves.blocks.shape[1],
        },
    )


def read_reduction(folder: Path) -> Reduction:
    """Read what `write_reduction` wrote."""
    head = checked(read_json(folder / "reduction.json"), ReductionWords)
    estimate = read_estimate(folder, "reduced")
    columns = read_columns(folder / "reduction.parquet")
    order = read_columns(folder / "ranking.parquet")
    n, channels = len(columns["size"]), estimate.channels
    other = [[columns[f"E_p {force} {m}"] for force in channels] for m in head["motions"]]
    blocks = [columns[f"block {k + 1}"] for k in range(head["blocks"])]
    validation = np.array(other, dtype=float).reshape(len(other), len(channels), n)
    return Reduction(
        ranking=Ranking(
            rule=head["rule"],
            order=tuple(str(name) for name in order["name"]),
            score=order["score"],
            natural=head["natural"],
            complete=head["ranked"],
        ),
        curves=Curves(
            sizes=columns["size"].astype(np.int64),
            condition=columns["condition"],
            raw_condition=columns["raw_condition"],
            identification=np.column_stack([columns[f"E_p {force}"] for force in channels]),
            validation=validation.transpose(2, 0, 1),
            blocks=np.array(blocks, dtype=float).reshape(len(blocks), n).T,
        ),
        size=Size(head["size"], head["why"], head["lower"], head["upper"]),
        rest=head["rest"],
        estimate=estimate,
        complete=head["complete"],
    )


def write_contribution(folder: Path, found: Contribution) -> None:
    """Write contributions in percent: a row per parameter, a column per motion."""
    columns: dict[str, Any] = {"name": found.parameters}
    columns |= {f"motion {k + 1}": row for k, row in enumerate(found.motions)}
    write_columns(folder / "contributions.parquet", columns)


def read_contribution(folder: Path) -> Contribution:
    """Read what `write_contribution` wrote."""
    columns = read_columns(folder / "contributions.parquet")
    names = tuple(str(name) for name in columns.pop("name"))
    return Contribution(names, np.array(list(columns.values())))
