"""Joint reactions in words: the largest force and moment of every joint and constraint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mechid.cli.common import print_table

if TYPE_CHECKING:
    from mechid.dynamics.reactions import JointReactions


def reaction_summary(reactions: JointReactions) -> dict[str, Any]:
    """Return the largest force and moment of each joint, of the components that are determined."""
    import numpy as np

    from mechid.tables.forces import COMPONENTS

    found = {}
    for j, name in enumerate(reactions.joints):
        left_open = np.asarray(np.any(reactions.undetermined[:, j], axis=0))
        force = np.where(left_open[:3], 0.0, reactions.force[:, j])
        moment = np.where(left_open[3:], 0.0, reactions.moment[:, j])
        found[name] = {
            "force_max": float(np.linalg.norm(force, axis=1).max()),
            "moment_max": float(np.linalg.norm(moment, axis=1).max()),
            "undetermined": [
                c for c, is_open in zip(COMPONENTS, left_open, strict=True) if is_open
            ],
        }
    return found


def print_reactions(found: dict[str, Any]) -> None:
    """Print what `reaction_summary` returns."""
    print_table(
        ("joint", "largest force, N", "moment, N m", "undetermined"),
        [
            (name, f"{r['force_max']:.6g}", f"{r['moment_max']:.6g}", " ".join(r["undetermined"]))
            for name, r in found.items()
        ],
    )


def multiplier_summary(reactions: JointReactions) -> dict[str, Any]:
    """Return the range of the multiplier of each coupling and distance constraint."""
    import numpy as np

    return {
        name: {
            "min": float(np.min(values)),
            "max": float(np.max(values)),
            "unit": unit,
            "undetermined": bool(np.any(is_open)),
        }
        for name, unit, values, is_open in zip(
            reactions.constraints,
            reactions.units,
            reactions.multipliers.T,
            reactions.open_multipliers.T,
            strict=True,
        )
    }


def print_multipliers(found: dict[str, Any]) -> None:
    """Print what `multiplier_summary` returns; nothing without constraints."""
    if not found:
        return
    print_table(
        ("constraint", "multiplier from", "to", "unit", ""),
        [
            (
                name,
                f"{r['min']:.6g}",
                f"{r['max']:.6g}",
                r["unit"],
                "undetermined" if r["undetermined"] else "",
            )
            for name, r in found.items()
        ],
    )
