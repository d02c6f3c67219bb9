"""Numerical base parameters: ranks of small mechanisms, readings of a larger one."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from flint import ctx

from mechid.base.experiment import Experiment, random_states
from mechid.base.nullspace import null_space
from mechid.base.numeric import NumericBase, numeric_base, observed_base
from mechid.base.partition import dependent_rows
from mechid.base.spectrum import read_rank
from mechid.dynamics.regressor import observation_matrix
from mechid.errors import MechidError
from mechid.exact.numbers import PRECISION
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.modelfile import load, zoo_names

# Published, or counted by hand from transfers.
RANKS = {"four_bar": 8, "planar_3rrr": 13, "puma560@bare": 36}


@cache
def states(spec: str) -> Motion:
    mechanism = load(spec)
    n = 2 + 13 * len(mechanism.bodies) // len(mechanism.coordinates)
    return random_states(mechanism, Experiment(), n)


@cache
def drive(part: float, seed: int, n: int = 400) -> Motion:
    """Five harmonics of 0.5 Hz per coordinate of the suspension, as part of its travel."""
    mechanism = load("sla_suspension")
    model = kinematic_model(mechanism)
    rng = np.random.default_rng(seed)
    time = np.arange(n) * (2.0 / n)
    travel = np.array([0.05, 0.05, 0.035, 2.0, 2.0])
    w = np.pi * np.arange(1, 6)[None, :, None]
    a, b = rng.normal(size=(2, 5, 5))
    sine, cosine = np.sin(w * time[:, None, None]), np.cos(w * time[:, None, None])
    y = np.sum(a * sine + b * cosine, axis=1)
    scale = part * travel / np.abs(y).max(axis=0)
    yd = np.sum(w * (a * cosine - b * sine), axis=1)
    ydd = np.sum(-(w**2) * (a * sine + b * cosine), axis=1)
    return solve_motion(model, model.home_y + scale * y, scale * yd, scale * ydd, time=time)


def lost(base: NumericBase, motion: Motion) -> float:
    """Return the largest part of W φ that base parameters do not predict, φ at random."""
    W = observation_matrix(motion).W.reshape(-1, len(base.names))
    place = {name: i for i, name in enumerate(base.names)}
    phi = np.random.default_rng(3).normal(size=len(place))
    b, d = [place[x] for x in base.base], [place[x] for x in base.dependent]
    forces = W @ phi
    return float(np.abs(W[:, b] @ (phi[b] + base.beta @ phi[d]) - forces).max()) / float(
        np.abs(forces).max()
    )


@pytest.mark.parametrize("spec", RANKS)
@pytest.mark.parametrize("method", ["svd", "qr"])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_rank_of_small_mechanisms(spec: str, method: str, precision: str) -> None:
    base = observed_base(states(spec), method=method, precision=precision)
    assert base.rank == RANKS[spec] == len(base.base)
    assert base.confidence != "ambiguous"
    assert base.confidence == "clear" or precision == "single"
    assert len(base.base) + len(base.dependent) + len(base.without_effect) == len(base.names)
    assert lost(base, states(spec)) < (1e-4 if precision == "single" else 1e-12)


@pytest.mark.parametrize("spec", RANKS)
def test_multiprecision_agrees(spec: str) -> None:
    double, precise = observed_base(states(spec)), observed_base(states(spec), precision=240)
    assert precise.rank == RANKS[spec]
    assert precise.gap > 1e50
    assert precise.without_effect == double.without_effect
    W = observation_matrix(states(spec)).W.reshape(-1, len(precise.names))
    lengths = np.linalg.norm(W, axis=0)
    np.testing.assert_allclose(precise.effect, lengths / lengths.max(), rtol=1e-9, atol=1e-12)
    none = {n for n, e in zip(precise.names, precise.effect, strict=True) if e == 0.0}
    assert none == set(precise.without_effect)
    assert not precise.turned
    assert lost(precise, states(spec)) < 1e-12


@pytest.mark.parametrize("spec", RANKS)
@pytest.mark.parametrize("choice", ["pivot", "first", "last"])
def test_svd_and_qr_agree_on_coefficients(spec: str, choice: str) -> None:
    svd = observed_base(states(spec), choice=choice)
    qr = observed_base(states(spec), method="qr", choice=choice)
    if choice != "pivot":  # pivoting may break ties in either way
        assert svd.dependent == qr.dependent
        assert np.allclose(svd.beta, qr.beta, atol=1e-9 * np.abs(svd.beta).max())
    assert lost(svd, states(spec)) < 1e-11 > lost(qr, states(spec))


def test_first_and_last_take_what_they_say() -> None:
    base = {c: observed_base(states("four_bar"), choice=c) for c in ("first", "last")}
    order = base["first"].names
    assert max(map(order.index, base["first"].dependent)) < max(
        map(order.index, base["last"].dependent)
    )
    rest = [n for n in order if n not in base["last"].without_effect]
    assert base["last"].dependent[-1] == rest[-1]


def test_noise_goes_before_columns_are_scaled() -> None:
    rng = np.random.default_rng(0)
    W = rng.normal(size=(40, 4))
    W[:, 3] *= 1e-9  # small, but genuine
    noise = 1e-17 * rng.normal(size=(40, 1))
    names = ["a", "b", "c", "d", "nothing"]
    scale = np.array([1, 1, 1, 1e-9, 1]) * np.sqrt(40)
    base = numeric_base(np.hstack([W, noise]), names, scale=scale)
    assert base.rank == 4
    assert base.without_effect == ("nothing",)
    assert base.confidence == "clear"


def test_matrix_and_names_must_fit() -> None:
    with pytest.raises(MechidError, match="one column per name"):
        numeric_base(np.zeros((4, 3)), ["a"])
    with pytest.raises(MechidError, match="singular values"):
        observed_base(states("four_bar"), method="svd", precision=200)


@pytest.mark.parametrize("spec", zoo_names())
def test_zoo(spec: str) -> None:
    """Transfers are null vectors: what they leave bounds the rank, what they kill has no effect."""
    with ctx.workprec(PRECISION):
        null = null_space(load(spec))
        upper, gone = len(null.names) - null.rank, set(null.without_effect)
    base = observed_base(states(spec))
    assert base.names == null.names
    assert base.rank <= upper
    assert gone <= set(base.without_effect)
    if base.confidence == "clear":
        assert lost(base, states(spec)) < 1e-9


def test_fewer_forces_show_less() -> None:
    motion = states("planar_3rrr")
    some = observed_base(motion, forces=[0])
    assert some.rank <= observed_base(motion).rank
    assert some.rank == observed_base(motion, forces=[0], precision=200).rank


def test_no_columns_left() -> None:
    base = numeric_base(np.zeros((4, 2)), ["a", "b"])
    assert base.rank == 0
    assert base.without_effect == ("a", "b")


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([1, 0.5, 1e-3, 1e-16], "clear"),
        ([1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15], "weak"),
        ([1, 0.5, 3e-14, 1e-18], "ambiguous"),  # a wide gap, but from the rounding level down
        ([1, 0.5, 0.2], "clear"),
    ],
)
def test_verdict(values: list[float], verdict: str) -> None:
    reading = read_rank(np.array(values), (100, len(values)), 2.2e-16)
    assert reading.verdict == verdict
    assert verdict in reading.words


def test_rows_that_cannot_be_told_apart() -> None:
    Z = np.array([[1.0, 0.0], [1e-9, 1e-9], [0.0, 1.0]])
    assert dependent_rows(Z, "first") == [0, 2]
    assert dependent_rows(Z, "last") == [0, 2]


@pytest.mark.slow
def test_suspension_in_double_and_single_depends_on_the_trajectory() -> None:
    """The true rank is 83; no float says so of a drive within the travel."""
    drives = [drive(part, seed) for part in (1.0, 0.3) for seed in (0, 1)]
    double = [observed_base(d) for d in drives]
    single = [observed_base(d, precision="single") for d in drives]
    assert len({b.rank for b in double}) > 1
    assert all(b.confidence != "clear" for b in (*double, *single))
    assert all(b.rank < 75 for b in single)
    assert all(len(b.without_effect) == 35 for b in double)


@pytest.mark.slow
def test_suspension_in_multiprecision() -> None:
    """On the same drives, 80 digits show the rank, and 10 digits more than a double would need."""
    base = observed_base(drive(0.3, 0).part(slice(0, 400, 10)), precision=270)
    assert base.rank == 83
    assert base.confidence == "clear"
    assert base.gap > 1e40
    assert base.reading.kept < 1e-16
    assert len(base.without_effect) == 35
    assert lost(base, drive(0.3, 1)) < 1e-11
