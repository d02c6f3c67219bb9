"""Files that 0.1 wrote must be read forever, with the values that stand in them.

The files are never written again: a format that changes gets another folder.
"""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml

import mechid
from mechid.base.certificate import read_certificate
from mechid.base.verify import verify
from mechid.cli.app import main
from mechid.excitation.trajectory import sample
from mechid.runs.truth import read_truth

FILES = Path(__file__).parent / "files" / "0.1"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a copy of the files that a test may change."""
    return Path(shutil.copytree(FILES, tmp_path / "0.1"))


def _column(name: str) -> list[float]:
    with (FILES / "log.csv").open() as rows:
        return [float(row[name]) for row in csv.DictReader(rows)]


def test_model() -> None:
    found = mechid.load(FILES / "model.yaml")
    written = yaml.safe_load((FILES / "model.yaml").read_text("utf-8"))
    assert [body.name for body in found.bodies] == list(written["bodies"])
    for body in found.bodies:
        assert body.inertia.mass == written["bodies"][body.name]["mass"]
    assert [joint.name for joint in found.joints] == ["q1", "q2", "q3", "q4"]
    assert mechid.mobility(found).dof == 1
    np.testing.assert_array_equal(mechid.load(f"{FILES / 'model.yaml'}@weightless").gravity, 0)


def test_model_written_back_is_the_same() -> None:
    found = mechid.load(FILES / "model.yaml")
    assert mechid.dumps(mechid.loads(mechid.dumps(found))) == mechid.dumps(found)


def test_trajectory() -> None:
    motion = mechid.load_trajectory(FILES / "motion.yaml")
    found = sample(motion, times=np.array(_column("time")))
    for values, name in ((found.y, "q1"), (found.yd, "q1.d"), (found.ydd, "q1.dd")):
        np.testing.assert_allclose(values[:, 0], _column(name), rtol=1e-12, atol=1e-12)


def test_mapping() -> None:
    """The mapping turns radians to degrees and says so: the angles are those of the log."""
    log = mechid.read_measurement(FILES / "log.csv", FILES / "model.yaml", FILES / "mapping.yaml")
    np.testing.assert_allclose(log.y[:, 0], _column("q1"), rtol=1e-14)
    np.testing.assert_array_equal(log.tau[:, 0], _column("M_1"))


def test_truth() -> None:
    written = json.loads((FILES / "log.csv.truth.json").read_text())["parameters"]
    found = read_truth(FILES / "log.csv.truth.json")
    assert dict(zip(found.parameters, found.values.tolist(), strict=True)) == written


@pytest.mark.slow
def test_certificate() -> None:
    found = verify(read_certificate(FILES / "certificate.json"))
    written = json.loads((FILES / "certificate.json").read_text())
    assert found.valid
    assert (found.lower, found.upper) == (written["lower"], written["upper"])


@pytest.mark.parametrize("name", ["run", "reduced"])
def test_run(name: str, files: Path) -> None:
    run = mechid.load_run(files / name)
    stem = "estimate" if name == "run" else "reduced"
    written = json.loads((files / name / f"{stem}.json").read_text())
    assert run.values().tolist() == written["values"]
    forces = pq.read_table(files / name / "forces" / "identification.parquet")
    np.testing.assert_array_equal(run.forces[0].measured[:, 0], _column("M_1"))
    assert len(run.forces[0].time) == forces.num_rows
    # What is read is written in today's format, and read again.
    mechid.save_run(run, files / "again")
    assert mechid.load_run(files / "again").values().tolist() == written["values"]


def test_run_goes_on(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Today's commands take a run of 0.1: its prediction of a motion is that in its folder."""
    with pytest.raises(SystemExit) as left:
        main(
            ["predict", str(files / "run"), str(files / "log.csv"), "-o", str(files / "p.parquet")]
        )
    assert left.value.code == 0, capsys.readouterr().err
    before = pq.read_table(files / "run" / "forces" / "identification.parquet")
    again = pq.read_table(files / "p.parquet")
    np.testing.assert_allclose(again["M_1"], before["M_1.predicted"], rtol=1e-9)


def test_study(files: Path) -> None:
    result = mechid.load_study_result(files / "study")
    written = pq.read_table(files / "study" / "results.parquet")
    assert result.table("results").equals(written)
    assert mechid.load_study(files / "study.yaml").title == "Rank of the linkage"
