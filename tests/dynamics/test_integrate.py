"""Integration of equations that have no solution to the end."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from mechid.dynamics.integrate import METHODS, IntegrationError, integrate


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("method", METHODS)
def test_a_solution_that_blows_up_is_an_error(
    method: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """ż = z² from z = 1 is 1 / (1 - t). Nothing is printed, but what the function prints."""
    said = []

    def rate(t: float, z: np.ndarray) -> np.ndarray:
        if not said:
            said.append("hello")
            sys.stdout.write("hello\n")
        return z**2

    with pytest.raises(IntegrationError) as caught:
        integrate(rate, np.ones(1), np.linspace(0, 1.5, 16), method=method, rtol=1e-6)
    assert caught.value.time == pytest.approx(1, abs=1e-3)
    assert caught.value.trace.time[-1] < caught.value.time
    assert caught.value.trace.z[:9, 0] == pytest.approx(1 / (1 - np.linspace(0, 0.8, 9)), rel=1e-2)
    seen = capfd.readouterr()
    assert seen.out == "hello\n"
    assert not seen.err
