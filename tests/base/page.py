"""The page docs/reference/base-suspension.md, written by the program.

Run `python -m tests.base.page` in the root of the repository to write it; a test demands that the
page is what this returns.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mechid.base.baseset import BaseSet, base_set
from mechid.base.choose import as_listed
from mechid.base.count import count_choices
from mechid.base.experiment import Experiment, random_states
from mechid.base.expressions import text
from mechid.base.nullspace import NullSpace, null_space
from mechid.dynamics.regressor import observation_matrix
from mechid.errors import MechidError
from mechid.kinematics.tables import Floats
from mechid.modelfile import load

from .comparison import differences, printed_matrix, published_factors
from .published import T1, T2

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "base-suspension.md"

# What the differences are. The text of the source is a reading of a scan: a digit that the entry of
# the other side prints otherwise may have been misread.
REMARKS = {
    1: "Ds2² for Ds5²; entry 43, its mirror image, has Ds5² (perhaps misread in the scan)",
    5: "Ds2² for Ds5²; entry 47 has Ds5² (perhaps misread)",
    8: "the sign of the last term, which entry 50 has right; Ds2² for Ds5² (perhaps misread)",
    9: "Izz_5 is missing: the wheel turns about y of the upright, so its quadrupole adds to Ixx "
    "and Izz; Ds2² for Ds5² (perhaps misread)",
    10: "the sign of m_5; equation (5.17c) of the source has it right",
    12: "Izz_5 does not belong here (see entry 9); the last term, with Ds5², is missing, entry 54 "
    "has it",
    47: "squares of Ds4 and Ds2 are missing; entry 5 has them",
    51: "Izz_13 is missing, as in entry 9",
    54: "Izz_13 does not belong here, as in entry 12",
}


def observed(null: NullSpace) -> tuple[Floats, Floats]:
    """Return W (N, n_i, p) of random states, and the CAD values of all bodies."""
    motion = random_states(null.geometry.mechanism, Experiment(), 60, seed=5, wide=False)
    return observation_matrix(motion).W, np.array([c.value for c in null.columns])


def error(chosen: BaseSet, B: Floats, W: Floats, phi: Floats) -> float:
    """Return how far W_b B φ is from W φ: medians over the states, of the force that is worst."""
    exact = W @ phi
    off = np.abs(chosen.observation(W) @ (B @ phi) - exact)
    return float(np.max(np.median(off, axis=0) / np.median(np.abs(exact), axis=0)))


def page() -> str:
    """Return the text of the page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    mechanism = load("sla_suspension")
    null = null_space(mechanism)
    lists = {s.name: s.dependent for s in mechanism.base_sets}
    t1 = base_set(null, as_listed(null, lists["T1"]))
    t2 = base_set(null, as_listed(null, lists["T2"]))
    W, phi = observed(null)
    slips = differences(t1, T1)
    printed = published_factors(t1, T1)
    yield from _head(null, t1)
    yield from _choices(null, lists)
    yield from _table(t1)
    yield "## Slips of the source"
    yield ""
    yield (
        f"Of the {len(T1)} entries of table 5.3 of the source, {len({d.entry for d in slips})} "
        f"differ from exact elimination, in {len(slips)} factors. The {len(T2)} entries of its "
        f"annex A (model T2) show {len(differences(t2, T2)) or 'no'} differences, which also "
        "confirms the meaning of the lengths and frames. "
        "One thing is a convention and no slip: the source's tie rods have x from the rack to the "
        "upright, ours the other way, so that mx, my, Ixz and Iyz of bodies 4 and 12 change sign."
    )
    yield ""
    yield (
        "That they are slips is shown by numbers. With the CAD values of the bodies and random "
        "states, forces from the base parameters agree with those from all parameters to "
        f"{_rough(error(t1, t1.matrix, W, phi))}; with one entry replaced by the printed one they "
        "are off by (median error of the force that suffers most, relative to its median):"
    )
    yield ""
    yield "| entry | of | factor of | printed | exact | forces off by | what is wrong |"
    yield "|---|---|---|---|---|---|---|"
    for entry in dict.fromkeys(d.entry for d in slips):
        off = _rough(error(t1, printed_matrix(t1, printed, only=entry), W, phi))
        for k, d in enumerate(x for x in slips if x.entry == entry):
            said = f"{off} | {REMARKS[entry]}" if k == 0 else " | "
            factors = f"`{d.parameter}` | `{d.printed}` | `{d.exact}`"
            yield f"| {entry} | `{d.head}` | {factors} | {said} |"
    yield ""
    yield (
        "With all entries as printed, forces are off by "
        f"{_rough(error(t1, printed_matrix(t1, printed), W, phi))}; with those of annex A by "
        f"{_rough(error(t2, printed_matrix(t2, published_factors(t2, T2)), W, phi))}."
    )


def _head(null: NullSpace, t1: BaseSet) -> Iterator[str]:
    n_bodies = len(null.geometry.mechanism.bodies)
    p = len(null.names)
    counted = count_choices(null)
    yield "# Base parameters of the suspension"
    yield ""
    yield (
        f"The short-long-arm suspension of the zoo (`sla_suspension`) has {p} parameters: ten for "
        f"each of its {n_bodies} bodies (stiffness and damping of the struts are known; the "
        "variant `struts` identifies them too). "
        f"{len(t1.without_effect)} have no effect on any force, {len(t1.dependent)} are carried "
        f"along by others, and {t1.rank} base parameters remain."
    )
    yield ""
    assert counted.exact is not None
    yield (
        f"There are {counted.exact:,} valid choices of the {len(t1.dependent)} dependent "
        "parameters. This page, its numbers included, is written by `python -m tests.base.page`."
    )
    yield ""
    yield "```python"
    yield "from mechid.base.baseset import base_set"
    yield "from mechid.base.choose import converge_on"
    yield "from mechid.base.expressions import text"
    yield "from mechid.base.nullspace import null_space"
    yield "from mechid.modelfile import load"
    yield ""
    yield 'null = null_space(load("sla_suspension"))'
    yield 't1 = base_set(null, converge_on(null, ["upright_r", "upright_l"]))'
    yield f'assert text(t1, "mx_2") == "{text(t1, "mx_2")}"'
    yield "```"
    yield ""


def _choices(null: NullSpace, lists: dict[str, tuple[str, ...]]) -> Iterator[str]:
    yield "## Five choices"
    yield ""
    yield "The source compares five choices; the model file holds them as `base_sets`."
    yield ""
    yield "| choice | valid | terms of all base parameters |"
    yield "|---|---|---|"
    for name, listed in lists.items():
        try:
            chosen = base_set(null, as_listed(null, listed))
        except MechidError as refused:
            yield f"| {name} | no: {refused.what}; {refused.remedy} | |"
        else:
            yield f"| {name} | yes | {chosen.n_terms} |"
    yield ""


def _table(t1: BaseSet) -> Iterator[str]:
    yield "## Model T1, converging on the uprights"
    yield ""
    yield (
        "Numbered as in table 5.3 of the source; lengths as in the model file. Base parameters "
        "that are single parameters are left out."
    )
    yield ""
    yield "| entry | base parameter |"
    yield "|---|---|"
    numbers = {head: entry for head, (entry, _) in published_factors(t1, T1).items()}
    for head in sorted(numbers, key=numbers.__getitem__):
        if len(t1.row(head)) > 1:
            yield f"| {numbers[head]} | `{text(t1, head)}` |"
    yield ""


def _rough(x: float) -> str:
    """One digit: more would be that of the random draw. Rounding errors only as such."""
    return "rounding" if x < 1e-12 else f"{float(f'{100 * x:.1g}'):g} %"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
