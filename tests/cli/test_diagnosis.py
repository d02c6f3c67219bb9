"""Diagnosis and friction on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mechid.tables.files import read_columns, write_table

HEAD = "trajectory: 1\nduration: 1.0\nrate: 200\ncoordinates:\n"
MOTION = HEAD + "  angle: {fourier: {frequency: 1, a: [3.0, 1.0, 0.9], b: [0.6, -1.2, 0.4]}}\n"


@pytest.fixture
def log(run):
    """A log of the pendulum in which the moment has the opposite sign."""
    Path("m.yaml").write_text(MOTION)
    made = ("--force-noise", "2%", "--cad-error", "10%", "-o", "d.csv")
    done = run("synthesise", "pendulum@friction", "m.yaml", *made)
    assert done.status == 0, done.err
    columns = read_columns("d.csv")
    columns["M_hinge"] = -np.asarray(columns["M_hinge"])
    write_table("wrong.csv", columns)
    return run


@pytest.mark.slow
def test_findings_are_shown_and_written(log):
    done = log("identify", "pendulum@friction", "wrong.csv", "--cad-error", "10%", "-o", "run")
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    assert "next: Reverse the sign of M_hinge in the mapping file (sign: -1)." in lines
    (trust,) = (line for line in lines if line.startswith("trust the model: "))
    assert trust.startswith("trust the model: no. ")
    assert "sign M_hinge" in trust
    head = json.loads(Path("run/run.json").read_text())
    assert [d["kind"] for d in head["diagnosis"]] == ["sign"]
    again = ("identify", "pendulum@friction", "wrong.csv", "--cad-error", "10%", "-o", "b")
    shown = log(*again, "--json").json
    assert shown["diagnosis"] == head["diagnosis"]
    assert shown["added"] == head["added"] == []  # nothing is written into the model
    details = log(*again, "--force", "--details").out
    assert f"diagnosis: {head['diagnosis'][0]['text'][:40]}" in " ".join(details.split())


@pytest.mark.slow
def test_friction_and_standstill(log):
    words = ("--standstill", "0.05", "-o", "run", "--json")
    done = log("identify", "pendulum@friction", "d.csv", *words)
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert found["added"] == []
    assert all(f["probability"] < 0.5 for f in found["found"])
    assert any("slower than: angle 0.05 rad/s" in note for note in found["notes"])
    text = log("identify", "pendulum@friction", "d.csv", "--friction", "stribeck", "-o", "more")
    assert "in the model now: Stribeck's drop at" in text.out
    wrong = log("identify", "pendulum@friction", "d.csv", "--friction", "sticky", "-o", "x")
    assert wrong.status == 2
    assert "there is no shape of friction sticky; choose one of: auto, keep" in wrong.err
