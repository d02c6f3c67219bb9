"""Random motions of which none keeps the limits: when the search gives up."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from mechid.errors import MechidError
from mechid.excitation.optimise import _random

MODULE = sys.modules[_random.__module__]


@pytest.mark.parametrize("hopeful", [True, False])
def test_when_random_motions_are_hopeless(hopeful: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """After ten of which none keeps the limits; one that does so makes the others worth a try."""
    drawn: list[int] = []
    keeps: set[int] = set()

    def draw(rng: object, check: object) -> int | None:
        drawn.append(len(drawn) + 1)
        return drawn[-1] if drawn[-1] in keeps else None

    monkeypatch.setattr(MODULE, "Starts", lambda _: SimpleNamespace(draw=draw))
    monkeypatch.setattr(MODULE, "blocked", lambda _: MechidError("blocked"))
    monkeypatch.setattr(MODULE, "_value", lambda search, x: float(x))
    said: list[int] = []
    search = SimpleNamespace(
        problem=None,
        effort=SimpleNamespace(random=30),
        check=None,
        random=[],
        say=lambda what, k: said.append(k),
    )
    rng = np.random.default_rng(0)
    if hopeful:
        assert _random(search, rng, hopeful) == []
    else:
        with pytest.raises(MechidError, match="blocked"):
            _random(search, rng, hopeful)
    assert drawn == list(range(1, 11))
    assert said == list(range(1, 10))
    drawn.clear()
    keeps.add(10)
    assert _random(search, rng, hopeful) == [(10.0, 10)] == search.random
    assert len(drawn) == 30
