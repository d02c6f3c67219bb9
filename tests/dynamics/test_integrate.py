"""Integration of equations that have no solution to the end."""

from __future__ import annotations

import sys
from io import StringIO

import numpy as np
import pytest

from mechid.dynamics.integrate import METHODS, IntegrationError, integrate
from mechid.dynamics.integrators import with_sundials
from mechid.dynamics.integrators.with_sundials import SUNDIALS, _WithoutReports
from mechid.errors import MechidError

from .methods import methods


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("method", methods(*METHODS))
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


@pytest.mark.parametrize("method", SUNDIALS)
def test_methods_that_are_not_installed_are_refused(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Linux with an ARM processor, for which scikit-sundae has no ready build."""
    monkeypatch.setattr(with_sundials, "find_spec", lambda name: None)
    with pytest.raises(MechidError, match=f"^{method} needs SUNDIALS") as caught:
        integrate(lambda t, z: -z, np.ones(1), np.array([0.0, 1.0]), method=method)
    assert caught.value.remedy.startswith("choose one of RK23, RK45, DOP853,")


def test_what_is_printed_beside_reports_is_passed_on() -> None:
    """Also that it is to be seen now."""

    class Terminal(StringIO):
        flushed = 0

        def flush(self) -> None:
            self.flushed += 1

    terminal = Terminal()
    out = _WithoutReports(terminal)
    for text in ("one\n", "\n[cvode, Error: -4] failed", "\n", "two", "\n"):
        assert out.write(text) == len(text)
    out.flush()
    assert terminal.getvalue() == "one\ntwo\n"
    assert terminal.flushed == 1


@pytest.mark.slow
@pytest.mark.parametrize("method", ["Radau", "BDF"])
def test_nothing_depends_on_a_cyclic_coordinate(method: str) -> None:
    """More Jacobians than it takes for SciPy's difference by the last state to overflow.

    Van der Pol's oscillator x; the last state is the integral of its rate, x - x(0).
    """

    def rate(t: float, z: np.ndarray) -> np.ndarray:
        return np.array([z[1], 5 * (1 - z[0] ** 2) * z[1] - z[0], z[1]])

    start, times = np.array([2.0, 0.0, 0.0]), np.array([0.0, 300.0])
    found = integrate(rate, start, times, method=method, rtol=1e-4)
    assert found.z[-1, 2] == pytest.approx(found.z[-1, 0] - 2, abs=1e-3)
