"""Models: mistakes at their line, poses and sweeps against closed forms, new models."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from httpx import Client

from mechid.base.analyse import base_parameters
from mechid.modelfile.api import load
from mechid.studio import models
from mechid.studio.base import base
from mechid.studio.motions import limits

START = 0.1  # rad, angle of the crank in the reference pose
ROD = 0.5  # m; the crank has 1 m, so that it turns by 30° to either side of the slide


@pytest.fixture(scope="module")
def slider() -> str:
    """A crank that is longer than its rod: no pose has |sin(angle)| > ROD."""
    x, y = math.cos(START), math.sin(START)
    return f"""mechid: 1
name: slider
gravity: [0, -9.81, 0]
points: {{O: [0, 0, 0], A: [{x}, {y}, 0], B: [{x + math.sqrt(ROD**2 - y**2)}, 0, 0]}}
bodies:
  crank: {{frame: {{origin: O, z: z, x: {{from: O, to: A}}}}, mass: 1,
          inertia: {{xx: 1, yy: 1, zz: 1}}}}
  rod: {{frame: {{origin: A, z: z, x: {{from: A, to: B}}}}, mass: 1,
        inertia: {{xx: 1, yy: 1, zz: 1}}}}
  block: {{frame: {{origin: B}}, mass: 1, inertia: {{xx: 1, yy: 1, zz: 1}}}}
joints:
  O: {{type: revolute, between: [ground, crank], at: O, axis: z}}
  A: {{type: revolute, between: [crank, rod], at: A, axis: z}}
  B: {{type: revolute, between: [rod, block], at: B, axis: z}}
  S: {{type: prismatic, between: [ground, block], at: B, axis: x, limits: [-0.05, 1]}}
coordinates:
  angle: {{joint: O, force: M}}
"""


def test_what_a_model_has() -> None:
    found = models.check(path="zoo:four_bar")
    assert found["ok"]
    summary = found["summary"]
    assert [b["name"] for b in summary["bodies"]] == ["bar_1", "bar_2", "bar_3"]
    assert (summary["mobility"], summary["parameters"]) == (1, 30)
    (q1,) = summary["coordinates"]
    assert (q1["unit"], q1["force_unit"], q1["low"], q1["high"]) == ("rad", "N m", None, None)
    assert q1["to"] - q1["from"] == pytest.approx(2 * math.pi)


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [("revolute", "revolut", "revolute"), ("bar_1:", "bar_1", ""), ("mass: ", "mass: -", "")],
)
def test_mistakes_have_a_line(old: str, new: str, word: str) -> None:
    text = (Path(models.__file__).parents[1] / "modelfile/zoo/four_bar.yaml").read_text()
    at = next(i for i, line in enumerate(text.splitlines(), start=1) if old in line)
    found = models.check(text=text.replace(old, new, 1), path="a/b.yaml")
    assert not found["ok"]
    (error,) = found["errors"]
    assert abs(error["line"] - at) <= 1  # YAML notices a missing colon in the line below
    assert error["where"].startswith("a/b.yaml:")
    assert word in error["remedy"]


def test_a_mistake_in_an_included_file_has_no_line_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "part.yaml").write_text("mechid: 1\njoints: {x: {type: nothing}}\n")
    found = models.check(text="mechid: 1\nname: a\ninclude: part.yaml\n", path="m.yaml")
    (error,) = found["errors"]
    assert error["where"].startswith("part.yaml:2")
    assert error["line"] is None


def test_poses_close_the_loop() -> None:
    found = models.pose({"q1": 1.3}, path="zoo:four_bar")
    assert found["reached"]
    mechanism = load("four_bar")
    values = {p.name: p.value for p in mechanism.parameters}
    poses = np.array(found["poses"])

    def end(body: int, length: float) -> np.ndarray:
        w, z = poses[body, 3], poses[body, 6]  # a turn about z
        return poses[body, :2] + length * np.array([w * w - z * z, 2 * w * z])

    assert end(1, values["l1"]) == pytest.approx([math.cos(1.3), math.sin(1.3)], abs=1e-8)
    assert end(1, values["l1"]) == pytest.approx(poses[2, :2], abs=1e-8)
    assert end(2, values["l2"]) == pytest.approx(end(3, values["l3"]), abs=1e-8)


def test_the_way_ends_where_the_rod_is_across(slider: str) -> None:
    (found,) = models.sweep(text=slider)["coordinates"]
    turn = math.asin(ROD)
    # Sixty poses on each side of home: the end lies between two of them.
    step = math.pi / 60
    assert found["values"][-1] == pytest.approx(turn - START, abs=step)
    assert found["values"][0] == pytest.approx(-turn - START, abs=step)
    assert found["values"][-1] <= turn - START
    assert "branch ends" in found["stopped"]["high"]
    assert found["margin"][-1] < found["margin"][len(found["margin"]) // 2]
    # The block goes back by more than the 0.05 m that its slide allows.
    x = math.cos(START) + math.sqrt(ROD**2 - math.sin(START) ** 2)
    assert x - math.cos(turn) > 0.05
    assert any(note.startswith("S.") for note in found["limits"])


def test_a_pose_that_cannot_be_reached_stops_on_the_way(slider: str) -> None:
    found = models.pose({"angle": 2.0}, text=slider)
    assert not found["reached"]
    assert found["trouble"]["what"].startswith("no pose on this branch")
    assert found["coordinates"]["angle"] == pytest.approx(math.asin(ROD) - START, abs=1e-3)
    assert found["margin"] == pytest.approx(0.0, abs=0.1)
    # From there it goes back, along the same branch.
    back = models.pose({"angle": 0.0}, text=slider, start=found["q"])
    assert back["reached"]
    assert back["poses"] == pytest.approx(np.array(models.pose({}, text=slider)["poses"]), abs=1e-7)


def test_a_file_beside_the_model_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (Path(models.__file__).parents[1] / "modelfile/zoo/four_bar.yaml").read_text()
    (tmp_path / "part.yaml").write_text(text)
    own = "mechid: 1\ninclude: part.yaml\n"
    assert models.check(text=own)["ok"]
    (tmp_path / "part.yaml").write_text(text.replace("revolute", "revolut"))
    assert not models.check(text=own)["ok"]


def test_base_parameters_as_in_python() -> None:
    found = base(certify=True, path="zoo:four_bar")
    expected = base_parameters("four_bar", certify=True)
    assert found["rank"] == found["lower"] == found["upper"] == expected.chosen.rank == 8
    assert found["proved"]
    assert [entry["name"] for entry in found["base"]] == list(expected.chosen.base)
    first = found["base"][0]
    assert (first["name"], first["body"]) == ("mx_1", "bar_1")
    assert first["meaning"].startswith("first moment m·x of bar_1")
    assert found["transfers_svg"].lstrip().startswith("<?xml") or "<svg" in found["transfers_svg"]
    assert "<script" not in found["transfers_svg"]


def test_usual_limits_are_those_of_a_design(slider: str) -> None:
    found = limits(path="zoo:five_bar")["limits"]
    assert found["joint"] == {"A1": [-0.6, 0.6], "A2": [-0.6, 0.6]}
    assert found["speed"]["q1"] == [-6.0, 6.0]  # ten strokes per second


def test_new_models(client: Client, folder: Path) -> None:
    def new(**words: object) -> dict[str, object]:
        answer = client.post("/api/model/new", json=words)
        assert answer.status_code == 201, answer.text
        found: dict[str, object] = answer.json()
        return found

    new(**{"from": "zoo:five_bar@isostatic", "path": "sub/five.yaml"})
    assert load(folder / "sub/five.yaml") == load("five_bar@isostatic")

    table = client.get("/api/template?name=four-bar").json()["table"]
    moved = table.replace("\nB,", "\nB,1", 1)
    assert client.put("/api/file?path=points.csv", content=moved).status_code == 200
    made = new(**{"from": "template:four-bar", "path": "bar.yaml", "hardpoints": "points.csv"})
    assert any("B" in str(words) for words in made["warnings"])  # moved by metres
    assert client.post("/api/model/check", json={"path": "bar.yaml"}).json()["ok"]

    again = client.post("/api/model/new", json={"from": "zoo:five_bar", "path": "bar.yaml"})
    assert again.status_code == 409
    wrong = client.post("/api/model/new", json={"from": "https://a.example", "path": "w.yaml"})
    assert wrong.status_code == 422
    assert not (folder / "w.yaml").exists()


@pytest.mark.slow
def test_scene_and_motion(client: Client, folder: Path) -> None:
    scene = client.post("/api/model/scene", json={"path": "linkage.yaml"}).json()
    assert [body["name"] for body in scene["bodies"]] == ["ground", "bar_1", "bar_2", "bar_3"]
    (folder / "motion.csv").write_text("time,q1\n0,0.8\n0.1,0.9\n0.2,1.0\n")
    words = {"path": "linkage.yaml", "motion": "motion.csv"}
    moving = client.post("/api/model/scene", json=words).json()
    assert moving["motion"]["coordinates"][0]["values"] == [0.8, 0.9, 1.0]
    assert client.post("/api/nothing", json={}).json()["error"]["what"] == "Not Found"
