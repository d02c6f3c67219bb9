"""What a machine may have and its model lacks, as components."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from mechid.estimation.linear import lengths
from mechid.estimation.posterior.component import FAMILIES, Component, Family
from mechid.estimation.regression import Regression

_SAME = 1e-6  # of a force: rounding


def possible_components(
    r: Regression, families: Mapping[str, Family] = FAMILIES
) -> Iterator[Component]:
    """Yield what may be there, in units of its usual size; nothing that adds no force.

    Forces that parameters make as well are not seen: nothing but CAD values speaks for them or
    against them. Friction that is the same force as an identified damper is that damper.
    """
    if not r.possible:
        return
    valid = r.valid
    A = r.W[valid]
    Q = np.linalg.qr(A / lengths(A))[0]
    rms = np.sqrt(np.mean(np.where(valid, r.tau - r.known, 0.0) ** 2, axis=0))
    for p in r.possible:
        if (family := families.get(p.family)) is None:
            continue
        forces = np.where(valid[..., None], p.forces, 0.0)
        size = np.sqrt(np.mean(np.sum(forces**2, axis=2), axis=0))
        share = float(np.max(np.where(rms > 0, size / np.where(rms > 0, rms, 1.0), 0.0)))
        if share > 0:
            declared = family.usual / FAMILIES[p.family].usual
            unit = declared * p.usual or family.usual / share
            rows = forces[valid]
            own = np.linalg.norm(rows - Q @ (Q.T @ rows), axis=0)
            seen = bool(np.any(own > _SAME * np.linalg.norm(rows, axis=0)))
            if seen or p.family != "friction":
                # Not without those at samples that are not valid: late forces are between them.
                whole = unit * np.nan_to_num(p.forces)
                yield Component(
                    p.name, family, family.name, forces=whole, unit=unit, at=p.at, seen=seen
                )
