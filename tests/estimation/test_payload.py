"""Parameters of something attached to a body: groups, widths, sensors, and all ten of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.estimate import ChannelErrors, Estimate
from mechid.estimation.payload import (
    PayloadGroups,
    Ten,
    _widths,
    all_ten,
    central_values,
    estimate_groups,
    payload_groups,
)
from mechid.estimation.regression import Floats, Regression
from mechid.estimation.sensed import sensed
from mechid.spatial.inertia import NAMES, central, parameters

from .problems import regression

M, MX, MY, IXX, IZZ = 0, 1, 2, 4, 9


def row(**factors: float) -> Floats:
    """Return factors of the ten parameters."""
    return np.array([factors.get(name, 0.0) for name in NAMES])


def groups(*rows: Floats, heads: tuple[int, ...] = (), size: float = 1.0) -> PayloadGroups:
    return PayloadGroups(np.array(rows).reshape(-1, 10), heads or (M,) * len(rows), size)


@pytest.mark.parametrize("size", [1e-3, 0.5, 30.0])
def test_groups_of_two_equations(size: float) -> None:
    """0.5 m + mx and 0.25 m + Izz, solved for m and mx by hand; the third repeats the first."""
    columns = np.array([row(m=0.5, mx=1.0), row(m=0.25, Izz=1.0), row(m=-1.0, mx=-2.0)])
    found = payload_groups(columns, np.array([1, 2, 0]), size)
    assert found.heads == (M, MX)
    assert found.size == size
    wanted = [row(m=1.0, Izz=4.0), row(mx=1.0, Izz=-2.0)]
    np.testing.assert_allclose(found.matrix, wanted, rtol=1e-9)
    assert found.names == ("m + 4 Izz", "mx - 2 Izz")
    assert found.part({"mx - 2 Izz"}).heads == (MX,)
    np.testing.assert_array_equal(found.part({"mx - 2 Izz"}).matrix, found.matrix[1:])


def test_groups_are_free_of_rounding() -> None:
    """Seven mixtures of the same two groups, and names without factors of one."""
    wanted = np.array([row(mx=1.0, Iyy=-1.0, Izz=0.125), row(my=1.0, Ixy=1.0)])
    mixed = np.random.default_rng(0).normal(size=(7, 2)) @ wanted
    found = payload_groups(mixed, np.ones(7), 1.0)
    np.testing.assert_array_equal(found.matrix != 0, wanted != 0)
    np.testing.assert_allclose(found.matrix, wanted, atol=1e-12)
    np.testing.assert_array_equal(found.matrix[:, [MX, MY]], np.eye(2))
    assert found.names == ("mx - Iyy + 0.125 Izz", "my + Ixy")


@pytest.mark.parametrize(("small", "heads"), [(1e-10, (MX,)), (1e-8, (MX, MY))])
def test_what_is_rounding_names_no_group(small: float, heads: tuple[int, ...]) -> None:
    """A column as such, and what a column differs by from a multiple of another."""
    for columns in (
        [row(mx=1.0), row(my=small)],
        [row(mx=1.0, my=1.0), row(mx=1.0, my=1.0 + 2 * small)],
    ):
        assert payload_groups(np.array(columns), np.ones(2), 1.0).heads == heads


@pytest.mark.parametrize("b", [0, 2])
def test_no_force_depends_on_the_payload(b: int) -> None:
    with pytest.raises(DataError, match="no force depends on what is attached"):
        payload_groups(np.zeros((b, 10)), np.ones(b), 1.0)


@pytest.mark.parametrize("size", [1e-3, 0.1, 1.0, 30.0])
def test_what_groups_determine(size: float) -> None:
    """Moments about an axis at a distance contain the mass, however small or large a machine is."""
    both = groups(row(m=size**2, Izz=1.0), row(mx=1.0), size=size)
    mass = row(m=1.0)
    for wanted, alone, weighed in (
        (row(m=1.0), False, True),
        (row(mx=2.0), True, True),
        (row(Izz=1.0), False, True),
        (row(m=3 * size**2, mx=size, Izz=3.0), True, True),
        (row(my=1.0), False, False),
    ):
        assert both.determines(wanted) == alone
        assert both.determines(wanted, mass[None]) == weighed
    assert not groups(size=size).determines(mass)
    assert groups(row(mx=-7.0), size=size).determines(np.zeros(10))


def test_nearly_determined() -> None:
    """Both sides of what counts as rounding: of the quantity, and of groups that are alike."""
    one = groups(row(mx=5.0))
    assert one.determines(row(mx=1.0, m=1e-5))
    assert not one.determines(row(mx=1.0, m=1e-4))
    # Each group counts by itself, whatever its unit.
    assert groups(row(mx=1e-12), row(m=1e3)).determines(row(mx=1.0))
    for apart, found in ((1e-11, False), (1e-7, True)):
        assert groups(row(mx=1.0), row(mx=1.0, m=apart)).determines(row(m=1.0)) == found


def test_widths_leave_groups_to_the_forces() -> None:
    """A group alone may cause a hundred times the forces; one without effect has a bound, too."""
    W = np.zeros((2, 2, 4))
    W[:, 0, 1], W[:, 1, 1] = (3.0, 4.0), (5.0, 12.0)
    W[:, 0, 2] = 0.6, 0.8
    tau = np.array([[6.0, 0.0], [8.0, 0.0]])
    r = _problem(W, tau)
    three = groups(row(mx=1.0), row(Ixx=1.0), row(m=1.0), heads=(MX, IXX, M), size=0.5)
    # Relative to the forces, of norm 10 and 0 (which counts as 1), and per unit 0.5, 0.25, 1.
    effect = np.array([0.5 * np.hypot(0.5, 13.0), 0.25 * 0.1, 1e-6 * 0.5 * np.hypot(0.5, 13.0)])
    np.testing.assert_allclose(_widths(r, three), 100.0 * np.array([0.5, 0.25, 1.0]) / effect)
    with pytest.raises(DataError, match="the motion does not show what is attached"):
        _widths(replace(r, W=0 * W), three)


def _problem(W: Floats, tau: Floats) -> Regression:
    n, n_d, b = W.shape
    return Regression(
        W,
        tau,
        np.zeros((n, n_d)),
        0.1 * np.arange(n),
        tuple(f"p{k}" for k in range(b)),
        tuple(f"f{j}" for j in range(n_d)),
        ("N",) * n_d,
        np.ones((n, n_d), dtype=bool),
    )


@pytest.mark.parametrize(("n", "power"), [(20, 3), (3, 2)])
def test_problem_as_the_sensors_show_it(n: int, power: int) -> None:
    """Polynomials of the time are delayed exactly; what would be outside of the log is not used."""
    t = 0.1 * np.arange(n)
    delay, gain, offset = np.array([0.04, 0.0, -0.13]), np.array([0.1, 0.0, -0.2]), np.arange(3.0)

    def forces(late: Floats) -> Floats:
        s = t[:, None] - late
        return np.stack([s**power - s, 2.0 + 3.0 * s**2], axis=2)

    r = _problem(forces(np.zeros(3)), np.ones((n, 3)))
    r = replace(r, known=5.0 * r.W[..., 0] + 1.0)
    whole = ChannelErrors(gain, 0 * gain, offset, 0 * offset, delay=delay)
    found = sensed(r, whole)
    used = np.ones((n, 3), dtype=bool)
    used[0, 0] = False
    used[-2:, 2] = False
    np.testing.assert_array_equal(found.valid, used)
    late = forces(delay)
    wanted = late * (1 + gain)[:, None]
    np.testing.assert_allclose(found.W[used], wanted[used], atol=1e-12)
    known = (5.0 * late[..., 0] + 1.0) * (1 + gain)
    np.testing.assert_allclose(found.known[used], known[used], atol=1e-12)
    assert np.all(r.valid)
    assert sensed(r, None) is r
    for none in (None, 0 * delay):
        late_by_none = sensed(r, replace(whole, delay=none))
        np.testing.assert_allclose(late_by_none.W, r.W * (1 + gain)[:, None], rtol=1e-15)
        assert np.all(late_by_none.valid)


BODY = parameters(2.0, np.array([0.1, -0.2, 0.05]), np.array([0.3, 0.01, -0.02, 0.25, 0.03, 0.2]))
ALL = PayloadGroups(np.eye(10), tuple(range(10)), 1.0)


def test_all_ten_that_are_determined() -> None:
    """A body that can exist stays as it is; a measured mass counts by its weight."""
    C = np.diag(1e-6 * np.arange(1.0, 11.0))
    found = all_ten(ALL, BODY, C)
    np.testing.assert_allclose(found.phi, BODY, rtol=1e-6)
    np.testing.assert_allclose(found.covariance, C, atol=1e-12)
    assert found.distance == 0
    assert not found.border
    weighed = all_ten(ALL, BODY, C, (2.01, 1e-3))  # as precise as the forces are
    np.testing.assert_allclose(weighed.phi, [2.005, *BODY[1:]], rtol=1e-6)
    np.testing.assert_allclose(weighed.covariance[0, 0], 0.5e-6, rtol=1e-6)
    np.testing.assert_allclose(weighed.covariance[1:, 1:], C[1:, 1:], atol=1e-12)


@pytest.mark.parametrize(
    ("head", "value", "sigma", "m"),
    [(M, 3.0, 0.1, 3.0), (M, 1.0, 2.0, 2.0), (IXX, 0.5, 0.01, 50.0), (MX, -0.3, 0.01, 3.0)],
)
def test_a_ball_stands_for_what_nothing_determines(
    head: int, value: float, sigma: float, m: float
) -> None:
    """Its radius of gyration is a tenth of the size (1 m), and all of it is uncertain by itself."""
    known = groups(np.eye(10)[head], heads=(head,))
    found = all_ten(known, np.array([value]), np.array([[sigma**2]]))
    wanted = (m * 0.1 ** np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])) ** 2
    wanted[head] = sigma**2
    np.testing.assert_allclose(found.covariance, np.diag(wanted), rtol=1e-6, atol=1e-12)
    assert found.phi[head] == pytest.approx(value)
    if value == 3.0:
        ball = [3.0, 0, 0, 0, 0.03, 0, 0, 0.03, 0, 0.03]
        np.testing.assert_allclose(found.phi, ball, atol=1e-6)


def test_a_measured_mass_that_the_forces_do_not_say() -> None:
    known = groups(row(mx=1.0), row(my=1.0), heads=(MX, MY), size=2.0)
    found = all_ten(known, np.array([0.1, -0.2]), np.diag([1e-6, 4e-6]), (4.0, 0.05))
    np.testing.assert_allclose(found.phi[:4], [4.0, 0.1, -0.2, 0.0], atol=1e-6)
    spread = np.sqrt(np.diag(found.covariance))
    np.testing.assert_allclose(spread[:4], [0.05, 1e-3, 2e-3, 4.0 * 0.2], rtol=1e-6)
    np.testing.assert_allclose(spread[4:], 4.0 * 0.2**2, rtol=1e-6)


def test_no_body_has_less_than_no_mass() -> None:
    known = groups(row(m=1.0))
    with pytest.raises(DataError, match="no body has the parameters"):
        all_ten(known, np.array([-1.0]), np.array([[1e-12]]))


def test_central_values() -> None:
    """Derivatives by finite differences."""

    def values(phi: Floats) -> Floats:
        m, c, inertia = central(phi)
        return np.array([m, *c, *inertia])

    found, J = central_values(Ten(BODY, np.eye(10), 0.0, False))
    np.testing.assert_allclose(found, values(BODY), rtol=1e-14)
    h = 1e-6
    slopes = [(values(BODY + h * e) - values(BODY - h * e)) / (2 * h) for e in np.eye(10)]
    np.testing.assert_allclose(J, np.transpose(slopes), atol=1e-8)


def attached() -> tuple[Regression, Estimate, Floats, PayloadGroups, Floats]:
    """Return a log with a payload that adds B_p π, what was known before, B_p, and the groups."""
    x = np.array([1.0, -2.0, 3.0])
    columns = np.array([row(mx=1.0, m=0.5), row(my=1.0), row()])
    two = payload_groups(columns, np.ones(3), 1.0)
    g = np.array([0.4, -0.7])  # m + 2 mx, my
    rng = np.random.default_rng(3)
    r = regression(rng, x + columns[:, list(two.heads)] @ g, 0.01, n=100, known=1.0)
    C = np.diag([1e-6, 1e-6, 1e-4])
    before = Estimate("map", r.parameters, x, C, r.channels, np.ones(3), r.tau, 1.0)
    return r, before, columns, two, g


def test_estimate_of_the_groups() -> None:
    r, before, columns, two, g = attached()
    x, C = before.values, before.covariance
    found = estimate_groups(r, before, columns, two)
    assert found.parameters == ("p0", "p1", "p2", "m + 2 mx", "my")
    assert found.method == "payload"
    assert np.all(np.abs(found.values[3:] - g) < 4 * found.sigma[3:])
    assert np.all(found.sigma[3:] < 0.02)

    # What the model may lack is the same in both logs: forces of this machine do not have it.
    root = 0.05 * np.outer(x, [1.0, 0.5])
    doubted = replace(before, covariance=C + root @ root.T, doubted=root)
    same = estimate_groups(r, doubted, columns, two)
    np.testing.assert_allclose(same.values, found.values, rtol=1e-4)
    np.testing.assert_allclose(same.covariance, found.covariance, rtol=1e-3, atol=1e-9)

    # Gain errors that the sensors may have are in the parameters already; they scale the payload.
    zero = np.zeros(3)
    uncertain = ChannelErrors(zero, np.full(3, 0.05), zero, zero)
    scaled = estimate_groups(r, replace(before, errors=uncertain), columns, two)
    np.testing.assert_allclose(scaled.values, found.values, rtol=1e-6)
    more = np.sqrt((scaled.sigma**2 - found.sigma**2)[3:])
    np.testing.assert_allclose(more, 0.05 * np.abs(g), rtol=0.1)


@pytest.mark.parametrize("zeroed", [False, True])
def test_the_first_log_is_believed_as_it_is(zeroed: bool) -> None:
    """With its covariance: closed form, but for offsets and drifts that may be there."""
    r, before, columns, two, g = attached()
    without = ("offsets", "drifts") if zeroed else ()
    found = estimate_groups(r, before, columns, two, without=without)
    A, t, _ = r.stacked()
    A = np.hstack([A, A @ columns[:, list(two.heads)]]) / 0.01
    V = np.linalg.inv(A.T @ A + np.diag([1e6, 1e6, 1e4, 0.0, 0.0]))
    plain = V @ (A.T @ t / 0.01 + np.append(before.values * [1e6, 1e6, 1e4], [0.0, 0.0]))
    sigma = np.sqrt(np.diag(V))
    np.testing.assert_allclose((found.values - plain) / sigma, 0.0, atol=0.3)
    np.testing.assert_allclose(found.sigma, sigma, rtol=0.3)
    assert np.all(np.abs(plain[3:] - g) < 4 * sigma[3:])


def test_sensors_as_the_first_log_found_them() -> None:
    """Gains hold in the second log, offsets are estimated again."""
    r, before, columns, two, g = attached()
    gain, offset = np.array([0.1, 0.0, -0.1]), np.array([0.5, 0.0, 2.0])
    first = np.array([0.6, 0.0, 2.1])
    wrong = replace(r, tau=(1 + gain) * r.tau + offset)
    errors = ChannelErrors(gain, np.array([0.0, 0.02, 0.01]), first, 0 * gain)
    found = estimate_groups(wrong, replace(before, errors=errors), columns, two)
    assert np.all(np.abs(found.values[3:] - g) < 4 * found.sigma[3:])
    assert found.errors is not None
    np.testing.assert_allclose(found.errors.offset, offset - first, atol=0.02)
    np.testing.assert_array_equal(found.errors.gain, 0.0)
    # Both logs by sensors that were zeroed.
    sharp = replace(errors, sigma_gain=np.zeros(3), offset=np.zeros(3))
    told = replace(wrong, tau=wrong.tau - offset)
    without = ("offsets", "drifts")
    zeroed = estimate_groups(told, replace(before, errors=sharp), columns, two, without=without)
    assert np.all(np.abs(zeroed.values[3:] - g) < 4 * zeroed.sigma[3:])
    assert np.all(zeroed.sigma[3:] < found.sigma[3:])
    assert not {f.family for f in zeroed.found} & {"offsets", "drifts", "gains", "delays"}


@pytest.mark.parametrize(("angle", "told"), [(1.2e-9, False), (1.6e-9, False), (2.4e-9, True)])
def test_groups_that_differ_by_rounding_are_one(angle: float, told: bool) -> None:
    """Rows at an angle have the singular values √2 and angle/√2: at 2e-9 their ratio is 1e-9."""
    two = groups(row(m=1.0), row(m=np.cos(angle), mx=np.sin(angle)))
    assert two.determines(row(m=1.0))
    assert two.determines(row(mx=1.0)) == told
