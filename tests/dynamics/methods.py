"""Integrators that are not installed on every machine."""

from __future__ import annotations

import pytest

from mechid.dynamics.integrators.with_sundials import SUNDIALS, has_sundials

needs_sundials = pytest.mark.skipif(
    not has_sundials(), reason="scikit-sundae is not installed: no ready build for this processor"
)


def methods(*names: str) -> list[object]:
    """Return integrators as parameters of a test; those of SUNDIALS are tried where they are."""
    return [pytest.param(n, marks=needs_sundials) if n in SUNDIALS else n for n in names]
