"""The page of the study of designed against random motions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from report import table

if TYPE_CHECKING:
    from excitation_worlds import Outcome, Size

LAWS = {
    "own": "5 % of the motion",
    "usual 1 %": "1 % of usual",
    "usual 5 %": "5 % of usual",
    "coloured": "5 % of the motion, coloured",
}
TEXT = Path(__file__).with_name("excitation_worlds.md")


def page(found: Mapping[str, Outcome], size: Size, estimator: str) -> str:
    """Return the page."""
    ratio = {
        (name, law): o.designed[law] / float(np.median(o.random[law]))
        for name, o in found.items()
        for law in LAWS
    }
    rows = [
        [f"`{name}`", *(f"{ratio[name, law]:.2f}" for law in LAWS), f"{min(o.forces):.2f}"]
        for name, o in found.items()
    ]
    errors = [
        [
            f"`{name}`",
            *(
                f"{100 * o.designed[law]:.2g} / {100 * float(np.median(o.random[law])):.2g}"
                for law in LAWS
            ),
        ]
        for name, o in found.items()
    ]
    means = {law: _mean([ratio[name, law] for name in found]) for law in LAWS}
    above = [key for key, x in ratio.items() if x > 1]
    worst = "No ratio is above 1."
    if above:
        listed = (f"`{name}`, {LAWS[law]}: {ratio[name, law]:.2f}" for name, law in above)
        worst = f"{len(above)} of {len(ratio)} ratios are above 1 ({'; '.join(listed)})."
    return TEXT.read_text(encoding="utf-8").format(
        estimator=estimator,
        random=size.random,
        truths=size.truths,
        validation=size.validation,
        ratios=table(("model", *LAWS.values(), "least force"), rows),
        means=", ".join(f"{LAWS[law]} {x:.2f}" for law, x in means.items()),
        mean=f"{_mean(list(ratio.values())):.2f}",
        worst=worst,
        errors=table(("model", *LAWS.values()), errors),
    )


def _mean(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))
