"""Transfers and bounds of the mechanisms of the zoo."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, ctx

from mechid.base.bounds import all_transfers, bounds
from mechid.base.certificate import certificate
from mechid.base.dependencies import dependencies
from mechid.base.experiment import EVERYTHING, Experiment, random_states
from mechid.base.nullspace import null_space
from mechid.base.verify import verify
from mechid.dynamics.regressor import observation_matrix
from mechid.errors import MechidError
from mechid.exact.geometry import exact_geometry
from mechid.exact.stack import ball_observation
from mechid.kinematics.branch import singularity_margin
from mechid.modelfile import load

from ..contract.states import EPS, SPECS, zoo_model


@pytest.mark.parametrize("spec", SPECS)
def test_transfers_have_no_effect(spec: str) -> None:
    """W n is rounding, for transfers in the frames of the bodies, on random motions."""
    mechanism = zoo_model(spec).mechanism
    null = null_space(mechanism)
    motion = random_states(mechanism, EVERYTHING, 5, 4)
    W = observation_matrix(motion).W
    worst = 1 / float(np.min(singularity_margin(motion.model, motion.q), initial=1.0))
    terms = np.abs(W) @ np.abs(null.matrix) + 1e-3 * np.abs(W).max()
    assert np.all(np.abs(W @ null.matrix) <= 200 * EPS * worst**2 * terms)


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_transfers_have_no_effect_in_balls(spec: str) -> None:
    """All digits of W n vanish, for transfers by the joints and by the loops."""
    mechanism = zoo_model(spec).mechanism
    geometry = exact_geometry(mechanism, "exact")
    found = all_transfers(geometry, EVERYTHING)
    null = found.null
    assert found.by_joints <= null.rank
    states = random_states(mechanism, EVERYTHING, 1, 6)
    found = ball_observation(geometry, states, mechanism.gravity, precision=160)
    place = {name: i for i, name in enumerate(null.names)}
    with ctx.workprec(160):
        for W in found.W:
            for transfer in null.transfers:
                entries = [(place[name], geometry.balls(x)) for name, x in transfer.entries]
                for i in range(W.nrows()):
                    total = sum((W[i, j] * x for j, x in entries), arb(0))
                    assert abs(total) < 1e-30, transfer.words


@pytest.mark.parametrize(
    ("spec", "parameters", "rank"),
    [
        ("pendulum", 10, 3),  # textbook: two first moments and a moment of inertia
        ("puma560@bare", 60, 36),  # Khalil; Mayeda
        # 36 as above, four rotors (two hide in Izz of their links), friction: six joints, a motor
        ("tx40", 80, 54),
        ("four_bar", 30, 8),  # planar: 4 per body, less two shared at each moving pin
        ("planar_3rrr", 70, 13),
        ("n_four_bar", 50, 3),  # cranks stay parallel: a pendulum
        # as below: 4 · 7 - 10 pins - 2 · 4 fixed ones without weight, and the stiffness
        ("andrews_squeezer", 71, 11),
    ],
)
def test_known_counts(spec: str, parameters: int, rank: int) -> None:
    found = bounds(load(spec), precision=192)
    assert (found.parameters, found.upper, found.lower) == (parameters, rank, rank)
    assert found.certified
    assert dependencies(found) == ()


@pytest.mark.parametrize(
    ("spec", "parameters", "upper"),
    [
        ("sla_suspension", 150, 83),
        ("sla_suspension@struts", 154, 87),
        ("pushrod_suspension", 220, 126),
    ],
)
def test_known_upper_bounds(spec: str, parameters: int, upper: int) -> None:
    null = all_transfers(exact_geometry(load(spec), "exact"), EVERYTHING).null
    assert len(null.names) - len(null.zeros) == parameters
    assert parameters - null.rank == upper


def test_parameters_without_effect() -> None:
    """Of the 150 of the suspension, 35 have none, as published."""
    assert len(null_space(load("sla_suspension")).without_effect) == 35


@pytest.mark.parametrize(
    ("spec", "level"), [("four_bar", False), ("five_bar", False), ("planar_3rrr", True)]
)
def test_planar_linkages_by_counting(spec: str, level: bool) -> None:
    """A planar body has 4 parameters: mass, two first moments, moment of inertia.

    Each pin lets a mass move, or makes it vanish in the ground; where the plane is level, the first
    moments about a fixed pin vanish too.
    """
    mechanism = load(spec)
    fixed = sum("ground" in (j.body_a, j.body_b) for j in mechanism.joints)
    expected = 4 * len(mechanism.bodies) - len(mechanism.joints) - 2 * fixed * level
    null = all_transfers(exact_geometry(mechanism, "exact"), EVERYTHING).null
    assert len(null.names) - null.rank == expected


# --------------------------------------------------------------------------- experiments


@pytest.mark.parametrize(
    ("experiment", "rank"),
    [
        (Experiment(), 3),
        (Experiment(static=True), 2),
        (Experiment(gravity=(0.0, 0.0, 0.0)), 1),
        (Experiment(hold=("q1",)), 1),
        (Experiment(static=True, gravity=(0.0, 0.0, 0.0)), 0),
    ],
)
def test_pendulum_in_experiments(experiment: Experiment, rank: int) -> None:
    mechanism = load("pendulum")
    name = mechanism.coordinates[0].name
    if experiment.hold:
        experiment = Experiment(hold=(name,))
    found = bounds(mechanism, experiment, precision=160)
    assert found.lower == rank
    assert found.lower + len(dependencies(found)) == found.upper
    verdict = verify(certificate(found))
    assert verdict.valid
    assert verdict.lower == rank


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["puma560@bare", "five_bar", "planar_3rrr"])
def test_less_is_seen_in_less(spec: str) -> None:
    mechanism = load(spec)
    whole = bounds(mechanism, precision=160)
    names = [c.name for c in mechanism.coordinates]
    forces = [c.force for c in mechanism.coordinates]
    for experiment in (
        Experiment(static=True),
        Experiment(hold=(names[0],)),
        Experiment(measure=(forces[-1],)),
        Experiment(measure=(names[0],), hold=(names[1],)),
        Experiment(gravity=(0.0, 0.0, 0.0)),
    ):
        found = bounds(mechanism, experiment, precision=160)
        assert found.lower <= whole.lower
        assert found.lower <= found.upper
        assert len(dependencies(found)) == found.upper - found.lower


def test_wrong_experiments_are_refused() -> None:
    mechanism = load("five_bar")
    with pytest.raises(MechidError, match="no independent coordinate elbow"):
        bounds(mechanism, Experiment(hold=("elbow",)))
    with pytest.raises(MechidError, match="no force elbow"):
        bounds(mechanism, Experiment(measure=("elbow",)))
    with pytest.raises(MechidError, match="at least one force must be measured"):
        bounds(mechanism, Experiment(measure=()))


# --------------------------------------------------------------------------- dependencies


@pytest.mark.parametrize(
    ("spec", "leads"),
    [("macpherson", {"k_strut"}), ("macpherson@bearing", {"k_strut"})],
)
def test_dependencies_annihilate_fresh_motions(spec: str, leads: set[str]) -> None:
    """A spring that no experiment can tell from a weight."""
    mechanism = load(spec)
    found = bounds(mechanism, precision=256)
    assert found.lower < found.upper
    assert not found.certified
    check_dependencies(found)
    assert leads <= {d.names[0] for d in dependencies(found)}


def check_dependencies(found) -> None:  # type: ignore[no-untyped-def]
    said = dependencies(found)
    assert len(said) == found.upper - found.lower
    if not said:
        return
    fresh = random_states(found.mechanism, found.experiment, 3, 99)
    gravity = found.experiment.gravity_of(found.mechanism)
    seen = ball_observation(found.null.geometry, fresh, gravity, precision=256)
    place = {name: i for i, name in enumerate(found.null.names)}
    with ctx.workprec(256):
        for d in said:
            assert d.uncertainty < 1e-20
            for W in seen.W:
                for i in range(W.nrows()):
                    terms = [
                        W[i, place[n]] * arb(x) for n, x in zip(d.names, d.digits, strict=True)
                    ]
                    size = max(float(abs(t).mid()) for t in terms)
                    assert float(abs(sum(terms, arb(0))).mid()) <= 1e-38 * size + 1e-60, d.names
