"""Friction by load, in closed form."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.validation.friction_columns import load_column


def test_load() -> None:
    found = load_column(np.array([3.0, -2.0, 1.0]), np.array([0.1, 0.2, -0.3]))
    assert found == pytest.approx([3.0, 2.0, -1.0])
