"""Base parameters of the model in the editor; runs in the worker."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from mechid.base.analyse import base_parameters
from mechid.base.expressions import readable
from mechid.base.nullspace import independent
from mechid.plots.transfers import save_transfers
from mechid.runs.parameter_meanings import base_meaning, meanings
from mechid.studio.models import model_of


def base(certify: bool = False, text: str | None = None, path: str | None = None) -> dict[str, Any]:
    """Return which combinations of parameters can be identified.

    Parameters
    ----------
    certify : bool
        Prove their number; else `lower` is None.
    text, path : str, optional
        The model.

    Returns
    -------
    dict
        `rank`, `lower`, `upper`, `proved`; `base`: name, body, unit, meaning, expression;
        `transfers_svg`: a picture of the transfers of inertia.
    """
    mechanism = model_of(text, path).mechanism
    found = base_parameters(mechanism, certify=certify)
    chosen, bounds = found.chosen, found.bounds
    words = readable(chosen)
    known = meanings(mechanism)
    columns = {column.name: column for column in chosen.null_space.columns}
    null = found.null_space
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "transfers.svg"
        save_transfers(picture, mechanism, independent(null.geometry, null.transfers))
        svg = picture.read_text("utf-8")
    return {
        "parameters": found.parameters,
        "rank": chosen.rank,
        "lower": None if bounds is None else bounds.lower,
        "upper": chosen.rank if bounds is None else bounds.upper,
        "proved": found.certified,
        "open": [] if bounds is None else list(bounds.open_questions),
        "without_effect": list(chosen.without_effect),
        "base": [
            {
                "name": name,
                "body": columns[name].owner,
                "unit": columns[name].unit,
                "meaning": base_meaning(name, words[name][0], known),
                "expression": words[name][0],
            }
            for name in chosen.base
        ],
        "transfers_svg": svg,
    }
