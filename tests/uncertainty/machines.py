"""Mechanisms on which intervals are tried: what moves, and what is predicted."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

_WHEELS = {"spin_r": "50*sin(pi*t)", "spin_l": "50*sin(pi*t)"}


def _motion(**words: Any) -> Mapping[str, Any]:
    random: dict[str, Any] = {"random": 5, "starts": 0, **words}
    return {"motion": random, "validation": ({**random, "seed": 7},)}


MACHINES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "sla_suspension": {
            "model": "sla_suspension@measured",
            "base": "T1",
            "rate": 25.0,
            "seconds": 10.0,
            **_motion(criterion="condition", base="T1", fixed=_WHEELS),
        },
        "five_bar": {
            "model": "five_bar",
            "base": "last",
            "rate": 50.0,
            "seconds": 10.0,
            **_motion(),
        },
        "puma560": {"model": "puma560", "rate": 50.0, "seconds": 6.0, **_motion()},
    }
)
