"""`mechid base` and `mechid verify-certificate`, as a user sees them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mechid


def test_four_bar_in_json(run):
    found = run("base", "four_bar", "--certify", "--json").json
    # Three bars: ten parameters each, six lost in the plane, one more at a fixed pivot twice, and
    # two pins across which a mass passes.
    assert found["parameters"] == 30
    assert found["without_effect"] == 20
    assert len(found["dependent"]) == 2
    assert found["base"] == found["lower_bound"] == found["upper_bound"] == 30 - 3 * 6 - 2 - 2
    assert found["certified"] is True
    assert len(found["expressions"]) == found["base"]
    assert found["dependencies"] == []
    assert found["notes"] == []


def test_without_bounds_nothing_is_certified(run):
    found = run("base", "four_bar", "--json").json
    assert found["lower_bound"] is None
    assert found["certified"] is False
    assert found["base"] == 8


@pytest.mark.slow
def test_suspension_and_its_named_sets(run):
    found = run("base", "sla_suspension", "--dependent", "T1", "--json").json
    assert (found["parameters"], found["without_effect"], found["base"]) == (150, 35, 83)
    assert found["expressions"]["mx_2"] == "mx_2 + Iyy_2/Ds4"
    refused = run("base", "sla_suspension", "--dependent", "T5")
    assert refused.status == 2
    assert "has rank 22, 32 are required" in refused.err
    assert "Traceback" not in refused.err


def test_certificate_goes_round(run):
    done = run("base", "pendulum", "--certificate", "c.json")
    assert done.status == 0
    assert done.out.endswith("wrote c.json\n")
    checked = run("verify-certificate", "c.json")
    assert checked.status == 0
    assert "valid" in checked.out
    found = run("verify-certificate", "c.json", "--json").json
    assert (found["upper"], found["lower"], found["certified"]) == (3, 3, True)


def test_a_certificate_of_another_experiment_is_not_valid(run):
    run("base", "four_bar", "--certificate", "c.json")
    data = json.loads(Path("c.json").read_text(encoding="utf-8"))
    data["experiment"]["static"], data["certified"] = True, False
    Path("c.json").write_text(json.dumps(data), encoding="utf-8")
    checked = run("verify-certificate", "c.json")
    assert checked.status == 1
    assert "NOT valid" in checked.out
    assert "state 1 moves, but the experiment is static" in checked.out


def test_a_certificate_against_the_own_model(run):
    run("base", "four_bar", "--certificate", "c.json")
    own = run("verify-certificate", "c.json", "--model", "four_bar")
    assert own.status == 0
    for words in (
        "four_bar, from four_bar",
        "0 -9.81 0 m/s²",
        "all motions; measured forces: all",
        "8 found, 8 claimed",
        "exactly 8 of 30 parameters",
    ):
        assert words in own.out
    Path("longer.yaml").write_text(
        "mechid: 1\nname: longer\ninclude: four_bar\nparameters: {l2: {value: 3.1, unit: m}}\n"
    )
    other = run("verify-certificate", "c.json", "--model", "longer.yaml")
    assert other.status == 1
    assert "state 1: the pose is not closed" in other.out
    wrong = run("verify-certificate", "c.json", "--model", "five_bar")
    assert wrong.status == 2
    assert "c.json" in wrong.err


def test_an_upper_bound_is_called_so(run):
    assert "at most 41 (40 seen in prime fields)" in run("base", "macpherson").out
    found = run("base", "macpherson", "--json").json
    assert (found["upper_bound"], found["seen"]["rank"]) == (41, 40)
    plain = run("base", "four_bar").out
    assert "at most" not in plain
    assert "8 (8 seen in double precision; proof: --certify)" in plain


def test_factors_in_full_digits(run):
    found = run("base", "puma560", "--json").json
    chosen = mechid.base_parameters("puma560").chosen
    for i, name in enumerate(chosen.base):
        wanted = dict(zip(chosen.dependent, chosen.beta[i].tolist(), strict=True))
        assert found["beta"][name] == {n: x for n, x in wanted.items() if x}


@pytest.mark.slow
def test_long_rows_of_the_table_can_be_broken(run):
    run("base", "sla_suspension", "--latex", "t.tex")
    text = Path("t.tex").read_text(encoding="utf-8")
    _head, *rows = [line for line in text.splitlines() if "&" in line]
    assert r"p{0.72\linewidth}" in text
    assert len(rows) == 83
    assert all(row.count("&") == 2 and row.endswith(r"\\") for row in rows)
    assert all(row.count("{") == row.count("}") and row.count("$") == 4 for row in rows)


def test_a_forged_certificate_is_not_valid(run):
    run("base", "pendulum", "--certificate", "c.json")
    data = json.loads(Path("c.json").read_text(encoding="utf-8"))
    data["lower"] = data["upper"] = 4
    Path("c.json").write_text(json.dumps(data), encoding="utf-8")
    checked = run("verify-certificate", "c.json")
    assert checked.status == 1
    assert "NOT valid" in checked.out


def test_files_that_are_no_certificates(run):
    Path("x.json").write_text("{}", encoding="utf-8")
    for name in ("x.json", "missing.json"):
        done = run("verify-certificate", name)
        assert done.status == 2
        assert name in done.err
        assert "Traceback" not in done.err


@pytest.mark.slow
def test_restricted_experiments(run):
    # A pendulum at rest shows its two first moments across the axis, without weight its moment of
    # inertia about it.
    assert run("base", "pendulum", "--static", "--json").json["base"] == 2
    assert run("base", "pendulum", "--gravity", "off", "--json").json["base"] == 1
    held = run("base", "planar_3rrr", "--hold", "q1", "--json").json
    assert held["base"] <= 13
    one = run("base", "planar_3rrr", "--measure", "M_1", "--json").json
    assert one["base"] == one["lower_bound"] < 13


def test_a_motion_shows_less(run):
    run("simulate", "pendulum", "--t-end", "0.2", "-o", "swing.csv")
    found = run("base", "pendulum", "--motion", "swing.csv", "--json").json
    assert 1 <= found["lower_bound"] <= 3


@pytest.mark.parametrize(
    ("method", "rest"),
    [("svd", ()), ("qr", ()), ("svd", ("--precision", "single")), ("qr", ("--precision", "multi"))],
)
def test_numeric_methods(run, method, rest):
    found = run("base", "four_bar", "--method", method, *rest, "--json").json
    assert found["base"] == 8
    assert found["certified"] is False
    assert found["spectrum"][0] == pytest.approx(1.0)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "rank"), [("five_bar", 11), ("sla_suspension", 83)])
def test_prime_fields(run, model, rank):
    found = run("base", model, "--method", "exact", "--json").json
    assert found["base"] == found["lower_bound"] == rank


def test_output_files(run):
    done = run("base", "four_bar", "--latex", "t.tex", "--picture", "p.png", "--choices", "5")
    assert done.status == 0
    assert r"\begin{longtable}" in Path("t.tex").read_text(encoding="utf-8")
    assert Path("p.png").stat().st_size > 5000


def test_choices(run):
    found = run("base", "four_bar", "--choices", "5", "--json").json["choices"]
    assert found["count"] > 1
    assert len(found["sampled"]) == 5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--hold", "q7"), "no independent coordinate q7"),
        (("--measure", "F"), "no force F"),
        (("--dependent", "m_77"), "m_77"),
        (("--converge-on", "bar_9"), "no body bar_9"),
        (("--converge-on", "bar_1", "--rank-by", "terms"), "exclude each other"),
        (("--method", "svd", "--certify"), "--certify does not go with --method svd"),
        (("--method", "svd", "--choices", "3"), "--choices does not go with --method svd"),
        (("--method", "qr", "--gravity", "off"), "--gravity does not go with --method qr"),
        (("--method", "exact", "--motion", "m.csv"), "--motion does not go with --method exact"),
        (("--method", "exact", "--static"), "--static does not go with --method exact"),
        (("--precision", "single"), "--precision does not go with --method transfer"),
        (("--static", "--motion", "m.csv"), "--motion and --static exclude each other"),
        (("--hold", "q1", "--motion", "m.csv"), "--motion and --hold exclude each other"),
        (("--seed", "-1"), "--seed"),
        (("--picture", "p.gif"), ".gif"),
    ],
)
def test_wrong_options(run, options, words):
    done = run("base", "four_bar", *options)
    assert done.status == 2
    assert words in done.err
    assert "Traceback" not in done.err


@pytest.mark.slow
def test_spring_that_cannot_be_told_from_a_weight(run):
    found = run("base", "macpherson", "--certify", "--json").json
    assert found["upper_bound"] == found["lower_bound"] + 1 == 41
    assert found["certified"] is False
    (tied,) = found["dependencies"]
    assert {"k_strut", "preload_strut"} <= set(tied["coefficients"])
    # By Pythagoras, k and preload are tied by the distance of the ball joint along the strut's
    # axis below the spring seat.
    assert float(tied["coefficients"]["preload_strut"]) == pytest.approx(-0.34594837654916010624)


def test_choices_end_in_time(run):
    """Any number may be asked for; what was compared in time is shown, and that it was less."""
    found = run("base", "four_bar", "--choices", "1000000000", "--max-seconds", "2", "--json")
    assert found.status == 0
    compared = len(found.json["choices"]["sampled"])
    assert 0 < compared < 1_000_000_000
    assert f"note: {compared} of 1000000000 choices were compared within 2 s" in found.err
