"""What an optimiser needs of a criterion: a value, and how it changes with W and known forces."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from mechid.excitation.criteria.root import Floats


class Look(NamedTuple):
    """A value and its gradients by W_b (N, n_i, b) and by the known forces (N, n_i)."""

    value: float
    by_W: Floats
    by_known: Floats


class Objective(Protocol):
    """A function of W_b (N, n_i, b) and of the known forces (N, n_i), to be made small."""

    def look(self, W: Floats, known: Floats) -> Look:
        """Return the value and its gradients."""
