"""Base sets of every model: they predict what all parameters predict, in numbers and symbols."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import sympy as sp
from flint import ctx

from mechid.base.baseset import base_set, change
from mechid.base.cad import body_covariance, body_jacobian, cad_values
from mechid.base.choose import as_listed, at_random, first, last
from mechid.base.exchange import best_conditioned
from mechid.base.expressions import expression, latex, latex_name, text
from mechid.base.nullspace import null_space
from mechid.dynamics.compile import dynamic_model
from mechid.errors import MechidError, ModelError
from mechid.exact.numbers import PRECISION
from mechid.mechanism.records import CadInertia
from mechid.spatial.inertia import parameters

from ..estimation.test_perturb import BEYOND
from .cases import EVERY, SUSPENSION, null_of, random_parameters, stacked

# Products of a few dozen numbers, summed; forces of one state differ in size.
ROUNDING = 1e-12

every_model = pytest.mark.parametrize("spec", EVERY)


@pytest.mark.slow
@every_model
def test_base_parameters_predict_what_all_parameters_do(spec: str) -> None:
    null, W = null_of(spec), stacked(spec)
    phi = random_parameters(null)
    for choice in (first(null), last(null), at_random(null, 1), best_conditioned(null, W)):
        chosen = base_set(null, choice)
        # The sizes of what is summed bound the rounding errors.
        bound = np.abs(W) @ np.abs(phi) + np.abs(chosen.observation(W)) @ (
            np.abs(chosen.matrix) @ np.abs(phi)
        )
        off = chosen.observation(W) @ chosen.values(phi) - W @ phi
        assert np.all(np.abs(off) <= ROUNDING * (bound + np.max(bound)))


@every_model
def test_parameters_are_base_dependent_zero_or_without_effect(spec: str) -> None:
    null, W = null_of(spec), stacked(spec)
    chosen = base_set(null, first(null))
    parts = (chosen.base, chosen.dependent, chosen.without_effect, chosen.zeros)
    assert sorted(n for part in parts for n in part) == sorted(null.names)
    if not null.zeros:
        assert chosen.rank == len(null.names) - null.rank
        assert chosen.without_effect == null.without_effect
    at = [null.names.index(n) for n in chosen.without_effect]
    assert np.all(np.abs(W[:, at]) <= 1e-9 * np.max(np.abs(W)))


@every_model
def test_symbols_and_floats_agree(spec: str) -> None:
    null = null_of(spec)
    chosen = base_set(null, at_random(null, 2))
    beta = np.zeros(chosen.beta.shape)
    with ctx.workprec(PRECISION):
        for i, head in enumerate(chosen.base):
            for name, factor in chosen.symbolic[head].items():
                if factor.has(sp.Float):
                    value = float(factor)
                else:
                    value = float(null.geometry.balls(factor).mid())
                beta[i, chosen.dependent.index(name)] = value
    np.testing.assert_allclose(beta, chosen.beta, rtol=1e-12, atol=1e-13)


@every_model
def test_change_of_base_set(spec: str) -> None:
    null = null_of(spec)
    old, new = base_set(null, first(null)), base_set(null, last(null))
    phi = random_parameters(null, 4)
    B = change(old, new)
    scale = np.abs(B) @ (np.abs(old.matrix) @ np.abs(phi))
    assert np.all(np.abs(B @ old.values(phi) - new.values(phi)) <= ROUNDING * scale)
    np.testing.assert_allclose(change(new, old) @ B, np.eye(old.rank), atol=1e-9 * np.max(scale))


def test_massless_bodies_take_no_part() -> None:
    null = null_of("four_bar@example-1")
    assert len(null.zeros) == 10
    chosen = base_set(null, first(null))
    assert not null.zeros & {*chosen.base, *chosen.dependent}
    assert all(not null.zeros & set(chosen.row(n)) for n in chosen.base)


def test_invalid_choice_is_refused() -> None:
    with pytest.raises(MechidError, match="Ixx_7 dependent together with the others"):
        base_set(null_of(SUSPENSION), ["Ixx_6", "Ixx_7"])
    chosen = base_set(null_of(SUSPENSION), first(null_of(SUSPENSION)))
    with pytest.raises(MechidError, match="m_1 is not a base parameter"):
        chosen.row("m_1")


# ------------------------------------------------------------------------------------------ reading


def test_text_and_latex_of_the_suspension() -> None:
    null = null_of(SUSPENSION)
    listed = {s.name: s.dependent for s in null.geometry.mechanism.base_sets}
    t1 = base_set(null, as_listed(null, listed["T1"]))
    assert text(t1, "mx_2") == "mx_2 + Iyy_2/Ds4"
    assert text(t1, "my_3") == "my_3 - DKy*m_5 - mx_5"
    assert latex(t1, "mx_2") == r"mx_{2} + \frac{I_{yy,2}}{Ds_{4}}"
    assert latex(t1, "Iyy_13") == "I_{yy,13} - I_{zz,13}"
    assert latex_name("k_strut_r") == r"k_{\mathrm{strut\_r}}"
    assert latex_name("viscous_a") == r"\mathrm{viscous}_{\mathrm{a}}"
    for head in t1.base:
        read = sp.sympify(text(t1, head), locals={str(s): s for s in null.geometry.values})
        assert sp.simplify(read - expression(t1, head, digits=None)) == 0


def test_short_decimals_without_symbols() -> None:
    null = null_of("five_bar")
    chosen = base_set(null, last(null))
    said = [text(chosen, head) for head in chosen.base]
    assert all(len(s) < 60 for s in said)
    for head in chosen.base:
        read = expression(chosen, head)
        for name, factor in chosen.row(head).items():
            assert float(read.coeff(sp.Symbol(name))) == pytest.approx(factor, rel=1e-5)


def test_roots_stay_roots() -> None:
    null = null_of("planar_3rrr")
    chosen = base_set(null, last(null))
    assert "sqrt(3)*Izz_5*side/(2*l_distal**2)" in text(chosen, "mx_3")


# -------------------------------------------------------------------------------------- CAD values


def test_cad_values_and_covariance() -> None:
    null = null_of("sla_suspension@struts")
    mechanism = null.geometry.mechanism
    chosen = base_set(null, first(null))
    found = cad_values(chosen)
    phi = np.array([c.value for c in dynamic_model(mechanism).columns])
    np.testing.assert_allclose(found.values, chosen.matrix @ phi)
    # A stiffness heads a base parameter alone: its deviation is the declared one.
    stiffness = next(c for c in null.columns if c.name == "k_strut_r")
    assert found.sigma[found.names.index("k_strut_r")] == pytest.approx(stiffness.sigma)
    # Draws of masses, centres and central inertias; some moments follow centres by their square.
    z = np.random.default_rng(8).standard_normal((2000, len(mechanism.bodies), 10))

    def spread(size: float) -> np.ndarray:
        """Root mean square of base parameters for errors of a part of the declared ones."""
        drawn = []
        for one in size * z:
            ten = []
            for body, x in zip(mechanism.bodies, one, strict=True):
                cad = body.inertia
                assert cad is not None
                ten.append(
                    parameters(
                        cad.mass + x[0] * cad.sigma_mass,
                        np.array(cad.center) + x[1:4] * cad.sigma_center,
                        np.array(cad.inertia_center) + x[4:] * cad.sigma_inertia,
                    )
                )
            drawn.append(np.concatenate([*ten, phi[len(mechanism.bodies) * 10 :]]))
        return np.sqrt(np.mean(((np.array(drawn) - phi) @ chosen.matrix.T) ** 2, axis=0))

    # What is left beyond the first order are products, which reach further than their root mean
    # square, by a factor that follows from the law of a product.
    first_order = spread(1e-4) / 1e-4
    beyond = np.sqrt(np.maximum(spread(1.0) ** 2 - first_order**2, 0.0))
    expected = np.hypot(first_order, BEYOND * beyond)
    inertial = [k for k, n in enumerate(chosen.base) if not n.startswith(("k_", "c_"))]
    np.testing.assert_allclose(expected[inertial], found.sigma[inertial], rtol=0.12)


def test_jacobian_of_the_ten_parameters() -> None:
    cad = CadInertia(
        2.0,
        (0.1, -0.2, 0.3),
        (0.05, 0.001, -0.002, 0.06, 0.003, 0.07),
        sigma_mass=0.1,
        sigma_center=(0.01, 0.02, 0.03),
        sigma_inertia=(0.001, 0.002, 0.003, 0.004, 0.005, 0.006),
    )

    def ten(x: np.ndarray) -> np.ndarray:
        return parameters(float(x[0]), x[1:4], x[4:])

    x, h = np.array([cad.mass, *cad.center, *cad.inertia_center]), 1e-6
    steps = [(ten(x + h * e) - ten(x - h * e)) / (2 * h) for e in np.eye(10)]
    np.testing.assert_allclose(body_jacobian(cad), np.array(steps).T, atol=1e-8)
    assert np.all(np.linalg.eigvalsh(body_covariance(cad)) > 0)


def test_missing_cad_values_are_named() -> None:
    null = null_of("four_bar")
    mechanism = null.geometry.mechanism
    bare = dataclasses.replace(
        mechanism, bodies=tuple(dataclasses.replace(b, inertia=None) for b in mechanism.bodies)
    )
    unknown = null_space(bare)
    with pytest.raises(ModelError, match="no value for m_1"):
        cad_values(base_set(unknown, first(unknown)))
