"""Distance constraints as the page draws them: rods between two points."""

from __future__ import annotations

from typing import Any

from mechid.mechanism.records import Mechanism


def drawn_rods(mechanism: Mechanism, index: dict[str, int]) -> list[dict[str, Any]]:
    """Return the rods of a scene; `index` numbers the bodies of the scene."""
    return [
        {
            "name": c.name,
            "kind": "rod",
            "body_a": index[c.point_a.body],
            "point_a": list(c.point_a.local),
            "body_b": index[c.point_b.body],
            "point_b": list(c.point_b.local),
        }
        for c in mechanism.distances
    ]
