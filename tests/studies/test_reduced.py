"""Experiments with reduced models: against the formulas of their sources, written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mechid
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.parameters import parameter_values
from mechid.errors import MechidError
from mechid.kinematics.motion import solve_motion
from mechid.studies.experiment import Row
from mechid.studies.given_motions import solved
from mechid.studies.reduced import Reduced
from mechid.studies.registry import experiment

SLOW = {"departures": {"z_l": "0.02*sin(2*pi*(t + t**2/4))", "z_r": "0.02*cos(2*pi*(t + t**2/4))"}}
FAST = {"departures": {"z_l": "0.002*sin(25*pi*t**2)", "z_r": "0.002*cos(25*pi*t**2)"}}
PUSHROD: dict[str, Any] = {
    "model": "pushrod_suspension",
    "motion": FAST,
    "ranked_on": (SLOW, FAST),
    "springs": False,
    "rate": 40.0,
    "seconds": 2.0,
}
STATES: dict[str, Any] = {
    "model": "four_bar",
    "motion": {"states": 1},
    "validation": {"states": 2},
    "rate": 60.0,
    "seconds": 1.0,
}


def rows(name: str, **settings: Any) -> list[Row]:
    kind = experiment(name)
    (found,) = kind.run([kind.settings(**settings)])
    if isinstance(found, MechidError):
        raise found
    return list(found)


def seen(motion: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return W (N, n_i, p) and the true forces of all parameters, straight from the motion."""
    s = PUSHROD
    m = solved(s["model"], motion, gravity=True, base="", rate=s["rate"], seconds=s["seconds"])
    model = mechid.load(s["model"])
    W = mechid.observation_matrix(solve_motion(model, m.y, m.yd, m.ydd, time=m.time)).W
    phi = parameter_values(dynamic_model(model))
    return W, W * phi


def test_elimination_is_that_of_the_columns() -> None:
    # Equations (23) and (25) of the paper, written out.
    parts = [seen(motion)[1] for motion in (SLOW, FAST)]
    index = np.mean(
        [100 * np.linalg.norm(f, axis=(0, 1)) / np.linalg.norm(f.sum(axis=-1)) for f in parts],
        axis=0,
    )
    tau = parts[1].sum(axis=-1)
    gone = parts[1][..., index < 0.3].sum(axis=-1)
    error = np.abs(gone).sum() / np.abs(tau - tau.mean()).sum()
    (row,) = rows("prediction", **PUSHROD, method="cad", threshold=0.3)
    assert row["kept"] == np.count_nonzero(index >= 0.3)
    assert row["absolute"] == pytest.approx(error, rel=1e-9)
    assert row["absolute_cad"] == row["absolute"]


def test_least_squares_with_a_rank_is_that_of_numpy() -> None:
    W, forces = seen(FAST)
    tau = forces.sum(axis=-1)
    settings = {**PUSHROD, "regrouped": True, "rank": 18}
    named = [r["parameter"] for r in rows("parameters", **settings)]
    names = [c.name for c in dynamic_model(mechid.load(PUSHROD["model"])).columns]
    at = [names.index(str(n)) for n in named]
    x = np.linalg.lstsq(W.reshape(-1, len(names))[:, at], tau.ravel(), rcond=None)[0]
    identified = [r["identified"] for r in rows("parameters", **settings)]
    assert identified == pytest.approx(x, rel=1e-5)
    (row,) = rows("prediction", **settings)
    off = W[..., at] @ x - tau
    size = np.linalg.norm(tau, axis=0)
    total = sum(np.linalg.norm(off[:, i]) / size[i] for i in range(tau.shape[1]) if size[i] > 0)
    assert row["error"] == pytest.approx(total, rel=1e-4)
    assert row["raw_condition"] == pytest.approx(
        np.linalg.cond(W.reshape(-1, len(names))[:, at]), rel=1e-6
    )


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_model_1_fails_at_low_frequencies_and_model_2_does_not(noise: float) -> None:
    given = {**PUSHROD, "regrouped": True, "noise": noise, "noise_of": "parameters"}
    one, two = (
        [rows("prediction", **given, **own, validation=SLOW, seed=k)[0]["absolute"] for k in (0, 1)]
        for own in ({"rank": 18, "deviation": True}, {"rank": 8, "threshold": 0.3})
    )
    assert np.median(one) > 0.08
    assert np.median(two) < np.median(one) / 2


def test_no_imposed_rank_is_of_no_use_with_errors() -> None:
    given = {**PUSHROD, "regrouped": True, "validation": SLOW, "noise_of": "parameters"}
    assert rows("prediction", **given)[0]["absolute"] < 1e-3
    assert rows("prediction", **given, noise=0.05)[0]["absolute"] > 1.0


def test_weight_over_a_long_stroke_is_the_reason() -> None:
    given = {**PUSHROD, "regrouped": True, "rank": 18, "deviation": True}
    short = {
        "departures": {n: text.replace("0.02", "0.002") for n, text in SLOW["departures"].items()}
    }
    long, weightless, small = (
        rows("prediction", **given, **own)[0]["absolute"]
        for own in (
            {"validation": SLOW},
            {"validation": SLOW, "gravity": False},
            {"validation": short},
        )
    )
    assert long > 5 * max(weightless, small)


def test_exact_forces_give_the_true_parameters_and_forces() -> None:
    for row in rows("parameters", **STATES, base="last"):
        assert row["identified"] == pytest.approx(row["true"], rel=1e-7, abs=1e-9)
        assert row["cad"] == row["true"]
    found = rows("forces", **STATES, base="last")
    exact, predicted, off = (
        np.array([r["value"] for r in found if r["curve"] == curve], dtype=float)
        for curve in ("exact", "predicted", "difference")
    )
    assert predicted == pytest.approx(exact, rel=1e-9, abs=1e-9)
    assert np.array_equal(off, predicted - exact)


def test_cad_values_as_they_are_predict_what_inverse_dynamics_does() -> None:
    found = rows("forces", **STATES, method="cad")
    m = solved("four_bar", {"states": 2}, gravity=True, base="", rate=60.0, seconds=1.0)
    tau = mechid.inverse_dynamics(m).tau[:, 0]
    own = [r["value"] for r in found if r["curve"] == "predicted"]
    assert own == pytest.approx(tau, rel=1e-12)
    assert {r["force"] for r in found} == {"M_1"}


def test_reported_cuts_time_histories() -> None:
    assert len(rows("forces", **STATES, method="cad", reported=0.5)) == 3 * 30


def test_sizes_agree_with_predictions_of_that_size() -> None:
    given = {**STATES, "base": "last", "noise": 0.02, "cad_error": 0.1, "seed": 3}
    by_size = {r["parameters"]: r for r in rows("sizes", **given)}
    for size in (3, 8):
        (row,) = rows("prediction", **given, size=size)
        assert by_size[size]["error_validation"] == pytest.approx(row["error"], rel=1e-6)
        assert by_size[size]["raw_condition"] == pytest.approx(row["raw_condition"], rel=1e-6)
    assert [r["parameters"] for r in rows("sizes", **given, sizes=(2, 5))] == [2, 5]


def test_parameters_that_are_zero_can_go() -> None:
    given = {**STATES, "base": "last"}
    zero = sum(r["true"] == 0 for r in rows("parameters", **given))
    assert zero > 0
    assert rows("sizes", **given)[0]["removable"] >= zero


def test_contributions_by_their_formula_and_no_change_without_errors() -> None:
    found = {r["parameter"]: r for r in rows("contribution", **PUSHROD, cad_error=0.0)}
    parts = [seen(motion)[1] for motion in (SLOW, FAST)]
    names = [c.name for c in dynamic_model(mechid.load(PUSHROD["model"])).columns]
    for k in (0, 33, 161):
        index = np.mean(
            [100 * np.linalg.norm(f[..., k]) / np.linalg.norm(f.sum(axis=-1)) for f in parts]
        )
        assert found[names[k]]["contribution"] == pytest.approx(index, rel=1e-9, abs=1e-12)
    there = [r for r in found.values() if r["contribution"]]
    assert all(r["steady"] and r["place"] == r["place_cad"] for r in there)
    assert sorted(int(r["place"]) for r in there) == list(range(1, len(there) + 1))  # type: ignore[arg-type]
    assert all(r["steady"] is None for r in found.values() if not r["contribution"])


def test_condition_of_the_product_is_the_square() -> None:
    (row,) = rows("conditions", **STATES, base="last")
    assert row["valid"] is True
    assert row["information"] == pytest.approx(float(row["raw_condition"]) ** 2, rel=1e-4)  # type: ignore[arg-type]
    assert row["condition"] <= row["raw_condition"]  # type: ignore[operator]


def test_a_list_that_is_no_base_set_is_taken_by_its_letter() -> None:
    given = {**STATES, "model": "sla_suspension", "rate": 120.0}
    for base, valid, rank in (("T1", True, 83), ("T5", False, 73)):
        (row,) = rows("conditions", **given, base=base)
        assert row["valid"] is valid
        assert row["parameters"] == 83
        # The 32 of T5 have rank 22: ten columns too many are left, so that W has no full rank.
        assert (float(row["condition"]) < 1e13) == (rank == 83)  # type: ignore[arg-type]


def test_the_default_needs_a_base_set() -> None:
    with pytest.raises(MechidError, match="needs a base set"):
        rows("prediction", **STATES, method="auto")
    (row,) = rows("prediction", **STATES, method="auto", base="last", noise=0.01, cad_error=0.1)
    assert row["error"] < row["error_cad"]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ({"parameters": ("m_1", "m_99")}, "m_99"),
        ({"threshold": 1e9}, "contributes"),
        ({"base": "T7"}, "T7"),
        ({"model": "nothing"}, "nothing"),
        ({"regrouped": True, "rank": 99}, "rank"),
    ],
)
def test_what_is_wrong_is_named(settings: dict[str, Any], part: str) -> None:
    kind = experiment("prediction")
    (found,) = kind.run([Reduced(**{**STATES, **settings})])
    assert isinstance(found, MechidError)
    assert part in str(found)


def test_rows_do_not_depend_on_the_cells_before() -> None:
    kind = experiment("prediction")
    cells = [
        Reduced(**STATES, base="last", noise=0.05, cad_error=0.2, size=size, seed=seed)
        for seed in (0, 1)
        for size in (5, 8)
    ]
    assert list(kind.run(cells)) == list(kind.run(cells[::-1]))[::-1]
