"""Inertia: ten parameters of point clouds, moved frames, and what no body can have."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechid.spatial.inertia import (
    NAMES,
    by_central,
    central,
    from_pseudo_inertia,
    inconsistency,
    parameters,
    pseudo_inertia,
    six,
    steiner,
    tensor,
    transform,
)
from mechid.spatial.rotations import matrix_from_quaternion

Array = npt.NDArray[np.float64]
EPS = float(np.finfo(float).eps)
seeds = st.integers(0, 2**32 - 1)


def cloud(seed: int, n: int = 12) -> tuple[Array, Array]:
    """Point masses: masses (n,) and places (n, 3), of no special shape."""
    rng = np.random.default_rng(seed)
    stretch = rng.uniform(0.1, 2, 3)
    return rng.uniform(0.1, 3, n), rng.uniform(-1, 1, (n, 3)) * stretch + rng.uniform(-2, 2, 3)


def sums(masses: Array, places: Array) -> Array:
    """φ by its definition: m, ∫ r dm, ∫ (r·r 1 - r rᵀ) dm, so that Ixy = -∫ x y dm."""
    x, y, z = places.T
    m = masses
    return np.array(
        [
            m.sum(),
            *(m @ places),
            m @ (y * y + z * z),
            -m @ (x * y),
            -m @ (x * z),
            m @ (x * x + z * z),
            -m @ (y * z),
            m @ (x * x + y * y),
        ]
    )


def close(a: Array, b: Array, eps: float = 200) -> bool:
    return bool(np.abs(a - b).max() <= eps * EPS * max(1.0, float(np.abs(b).max())))


def moved_rotation(rng: np.random.Generator) -> Array:
    return matrix_from_quaternion(rng.standard_normal(4))


def test_names_stand_in_the_order_of_the_parameters() -> None:
    assert NAMES == ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


@given(seeds)
def test_tensor_and_six(seed: int) -> None:
    a = np.random.default_rng(seed).standard_normal(6)
    t = tensor(a)
    assert np.array_equal(t, t.T)
    assert np.array_equal(six(t), a)
    assert (t[0, 1], t[0, 2], t[1, 1], t[1, 2]) == (a[1], a[2], a[3], a[4])


@given(seeds)
def test_parameters_of_a_cloud(seed: int) -> None:
    """Mass, centre and central inertia of the cloud give its sums about the origin."""
    m, r = cloud(seed)
    center = m @ r / m.sum()
    own = sums(m, r - center)[4:]
    assert close(parameters(m.sum(), center, own), sums(m, r))
    mass, c, inertia = central(sums(m, r))
    assert mass == pytest.approx(m.sum(), rel=4 * EPS)
    assert close(c, center)
    # Steiner's term is subtracted again: its rounding stays.
    assert close(inertia, own, 200 * (1 + float(m.sum() * (center @ center))))


@given(seeds)
def test_steiner_is_a_point_mass(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, c = rng.uniform(0.1, 5), rng.standard_normal(3)
    assert close(six(steiner(m, c)), sums(np.array([m]), c[None])[4:])


@given(seeds)
def test_pseudo_inertia_is_the_second_moment(seed: int) -> None:
    """Σ = ∫ (r, 1)ᵀ (r, 1) dm."""
    m, r = cloud(seed)
    one = np.column_stack([r, np.ones(len(r))])
    s = pseudo_inertia(sums(m, r))
    assert close(s, one.T * m @ one)
    assert np.array_equal(s, s.T)
    assert close(from_pseudo_inertia(s), sums(m, r))


@given(seeds)
def test_moved_frame(seed: int) -> None:
    """The cloud itself seen from elsewhere; there and back again changes nothing."""
    rng = np.random.default_rng(seed)
    m, r = cloud(seed)
    R, p = moved_rotation(rng), rng.standard_normal(3)
    phi = sums(m, r)
    there = transform(phi, R, p)
    assert close(there, sums(m, p + r @ R.T), 1000)
    back = transform(there, R.T, -R.T @ p)
    assert close(back, phi, 10000)
    # Mass, principal moments and the work of a twist do not depend on the frame.
    before, after = central(phi), central(there)
    assert after[0] == pytest.approx(before[0], rel=10 * EPS)
    moments = [np.linalg.eigvalsh(tensor(x[2])) for x in (before, after)]
    assert close(moments[1], moments[0], 10000)


@given(seeds)
def test_physical_bodies_have_a_positive_definite_pseudo_inertia(seed: int) -> None:
    """Clouds of points in general position are bodies, and are found consistent."""
    m, r = cloud(seed)
    phi = sums(m, r)
    assert np.linalg.eigvalsh(pseudo_inertia(phi))[0] > 0
    mass, _, inertia = central(phi)
    assert inconsistency(mass, inertia) is None


@given(seeds)
def test_positive_definite_if_and_only_if_consistent(seed: int) -> None:
    """Any numbers: Σ about the centre is positive definite exactly where nothing is found."""
    rng = np.random.default_rng(seed)
    moments = np.sort(rng.uniform(-0.2, 1, 3))
    R = moved_rotation(rng)
    inertia = six(R @ np.diag(moments) @ R.T)
    mass = rng.uniform(-0.5, 2)
    edge = min(mass, moments[0], moments[0] + moments[1] - moments[2])
    if abs(edge) < 1e-9:
        return  # on the edge rounding decides
    phi = parameters(mass, rng.standard_normal(3), inertia)
    definite = np.linalg.eigvalsh(pseudo_inertia(phi))[0] > 0
    # Half the trace less each moment must be positive: the triangle inequality, and with it the
    # moments themselves.
    assert definite == (inconsistency(mass, inertia) is None)
    assert definite == (edge > 0)


class TestInconsistency:
    @pytest.mark.parametrize("mass", [0.0, -1.0, np.nan])
    def test_mass(self, mass: float) -> None:
        text = inconsistency(mass, np.array([1.0, 0, 0, 1, 0, 1]))
        assert text is not None
        assert text.startswith("mass must be > 0")
        assert "kg" in text

    @pytest.mark.parametrize("six", [[1.0, 0, 0, 1, 0, -0.1], [1.0, 2, 0, 1, 0, 1]])
    def test_negative_moment(self, six: list[float]) -> None:
        text = inconsistency(1.0, np.array(six))
        assert text is not None
        assert "positive definite" in text

    def test_triangle_inequality(self) -> None:
        text = inconsistency(1.0, np.array([1.0, 0, 0, 2, 0, 3.5]))
        assert text is not None
        assert "triangle inequality" in text
        assert "1 + 2 < 3.5" in text

    def test_flat_plate_and_thin_rod_pass(self) -> None:
        """They sit on the edge: Ixx + Iyy = Izz, to rounding in any axes."""
        for seed in range(20):
            rng = np.random.default_rng(seed)
            a, b = rng.uniform(0.1, 1, 2)
            R = moved_rotation(rng)
            plate = six(R @ np.diag([a, b, a + b]) @ R.T)
            assert inconsistency(1.0, plate) is None
            rod = six(R @ np.diag([1e-9, a, a]) @ R.T)
            assert inconsistency(1.0, rod) is None

    @given(seeds, st.floats(1e-9, 1e9))
    def test_units_do_not_matter(self, seed: int, scale: float) -> None:
        moments = np.sort(np.random.default_rng(seed).uniform(0.01, 1, 3))
        if abs(moments[0] + moments[1] - moments[2]) < 1e-9:
            return
        plain = inconsistency(1.0, six(np.diag(moments)))
        scaled = inconsistency(1.0, six(np.diag(scale * moments)))
        assert (plain is None) == (scaled is None)


@given(seeds)
def test_derivatives_by_mass_centre_and_central_moments(seed: int) -> None:
    """Central differences; φ is of third degree in mass and centre."""
    mass, center, inertia = central(sums(*cloud(seed)))
    at = np.concatenate([[mass], center, inertia])

    def phi(x: Array) -> Array:
        return parameters(float(x[0]), x[1:4], x[4:])

    step = 1e-4
    columns = [(phi(at + step * e) - phi(at - step * e)) / (2 * step) for e in np.eye(10)]
    expected, scale = np.column_stack(columns), np.abs(phi(at)).max() + 1.0
    np.testing.assert_allclose(by_central(phi(at)), expected, atol=1e-7 * scale)
