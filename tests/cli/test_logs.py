"""`mechid identify` with several logs, as a user does it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mechid.runs.folder import load_run
from mechid.tables import write_table
from mechid.tables.files import read_columns

HEAD = "trajectory: 1\nduration: 1.0\nrate: 60\ncoordinates:\n"
MOTIONS = {
    "a": "  q1: {fourier: {frequency: 1, a: [1.5, 1.0], b: [0.6, -1.2]}}\n"
    "  q2: {fourier: {frequency: 1, a: [-1.2, 1.5], b: [1.2, 0.6]}}\n",
    "b": "  q1: {fourier: {frequency: 1, a: [-0.6, 1.8], b: [1.2, 0.6]}}\n"
    "  q2: {fourier: {frequency: 1, a: [1.5, -0.6], b: [-0.6, 1.2]}}\n",
}


@pytest.fixture
def logs(run):
    """Two motions of one truth: a.csv and b.csv; the clock of b.csv starts at 1000 s."""
    for name, text in MOTIONS.items():
        Path(f"{name}.yaml").write_text(HEAD + text)
        done = run("synthesise", "five_bar", f"{name}.yaml", "--noise", "5%", "--cad-error",
                   "20%", "-o", f"{name}.csv")  # fmt: skip
        assert done.status == 0, done.err
    columns = {name: np.asarray(x, dtype=float) for name, x in read_columns("b.csv").items()}
    write_table("b.csv", columns | {"time": columns["time"] + 1000})
    return run


def test_two_logs_as_text(logs):
    done = logs("identify", "five_bar", "a.csv", "b.csv@0:0.8", "-o", "run", "--cad-error", "20%",
                "--details")  # fmt: skip
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    head = lines[lines.index("wrote run") + 2 :]  # after the details
    assert head[0] == "five_bar: 11 base parameters from 109 samples of 2 logs, by auto"
    assert any("b.csv: 49 samples, 1000 s to 1000.8 s" in line for line in lines)
    assert any(line.startswith("error, each log from the others, on all logs: ") for line in head)
    assert any(line.startswith("between logs") for line in lines)
    assert "each log predicted by the model identified from the other logs:" in lines
    assert any(line.split()[:3] == ["all", "logs", "all"] for line in lines)
    assert "note: identification-2: used from 0 s to 0.8 s" in lines
    found = load_run("run")
    assert found.n_logs == 2
    assert found.about.command.startswith("mechid identify five_bar a.csv b.csv@0:0.8 -o run")
    z = (found.estimate.values - found.parameters.truth) / found.estimate.sigma
    assert np.abs(z).max() < 4


def test_two_logs_as_json(logs):
    done = logs("identify", "five_bar", "a.csv", "b.csv", "-o", "run", "--estimator", "weighted",
                "--json")  # fmt: skip
    found = done.json
    assert found["samples"] == 120
    assert [(log["name"], log["file"], log["samples"]) for log in found["logs"]] == [
        ("identification", "a.csv", 60),
        ("identification-2", "b.csv", 60),
    ]
    assert [(row["motion"], row["model"]) for row in found["left_out"]] == [
        (motion, model)
        for motion in ("identification", "identification-2", "all logs")
        for model in ("cad", "estimate")
    ]
    assert found["spread"]["determined"] == 11
    assert found["spread"]["rms"] == pytest.approx(
        np.sqrt(np.mean(np.square(found["spread"]["z"])))
    )
    written = json.loads(Path("run/logs.json").read_text())
    assert written["left_out"] == found["left_out"]


@pytest.mark.slow
def test_one_log_has_nothing_to_compare(logs):
    found = logs("identify", "five_bar", "a.csv", "-o", "run", "--json").json
    assert (found["left_out"], found["spread"]) == ([], None)
    assert not Path("run/logs.json").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.csv", "b.csv@1000:1001"], "the log lasts from 0 s to 0.983333 s; ranges count from"),
        (["a.csv", "a.csv"], "a.csv: a log is given twice"),
        (["a.csv", "a.csv@0.2:0.8"], "a.csv and a.csv@0.2:0.8 overlap"),
        (["a.csv", "b.csv", "--map", "c.csv=m.yaml"], "there is no log c.csv"),
        (["a.csv", "b.csv", "--map", "m.yaml", "--map", "n.yaml"], "write LOG=FILE"),
    ],
)
def test_wrong_logs_are_one_line(logs, arguments, words):
    done = logs("identify", "five_bar", *arguments, "-o", "none")
    assert (done.status, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert words in done.err
    assert not Path("none").exists()
