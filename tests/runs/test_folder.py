"""A run as a folder: what is written is read again, whole or as far as it came."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from mechid.errors import DataError, MechidError
from mechid.estimation.estimate import Agreement, ChannelErrors
from mechid.modelfile.api import load
from mechid.options import IdentifyOptions, ReduceOptions
from mechid.runs.folder import RunFolder, load_run, save_run
from mechid.runs.record import STAGES, About, DataFile, Run
from mechid.signals.record import Noise, PreparedMeasurement
from mechid.tables.motion import MotionTable
from mechid.tasks.identify import identify_motions
from mechid.tasks.synthesise import synthesise


def data(name: str = "identification", seed: int = 0) -> PreparedMeasurement:
    mechanism = load("five_bar")
    t = np.linspace(0, 1, 60)
    w = 2 * np.pi * np.array([1.0, 2.0])
    y = 0.3 * np.sin(np.outer(t, w))
    motion = MotionTable(t, y, 0.3 * w * np.cos(np.outer(t, w)), -(w**2) * y)
    made = synthesise(mechanism, motion, noise=0.05, cad_error=0.1, seed=seed)
    return PreparedMeasurement(
        time=t,
        y=made.y,
        yd=made.yd,
        ydd=made.ydd,
        forces=made.forces,
        tau=made.tau,
        name=name,
        source="d.csv",
        cutoff=3.5,
        noise=Noise(np.array([0.1, np.nan]), np.ones(2), np.zeros(2), np.ones(2)),
        ignore_below={"q1": 0.0},
        notes=("a note",),
        warnings=("a warning",),
    )


@pytest.fixture(scope="module")
def run() -> Run:
    options = IdentifyOptions("ols", reduce=ReduceOptions(size="cross", rest="cad"), seed=3)
    about = About(
        command="mechid identify",
        model="five_bar",
        options=options,
        files=(DataFile("d.csv", "ab", "identification"),),
        versions={"numpy": "2"},
    )
    gaps = data()
    gaps.tau[3, 1] = np.nan
    motions = [gaps, data("validation-1", 4)]
    return identify_motions(load("five_bar"), motions, options, about=about)


def same(a: object, b: object) -> None:
    """Compare records, arrays digit by digit."""
    if is_dataclass(a):
        assert type(a) is type(b)
        for f in fields(a):
            same(getattr(a, f.name), getattr(b, f.name))
    elif isinstance(a, np.ndarray):
        np.testing.assert_array_equal(a, b)
    elif isinstance(a, Mapping):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, tuple):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    else:
        assert a == b


def test_round_trip(run, tmp_path):
    save_run(run, tmp_path / "run")
    again = load_run(tmp_path / "run")
    assert again.stages == STAGES
    same(run, again)


def test_everything_an_estimate_may_hold(run, tmp_path):
    two = np.array([1.0, np.nan])
    rich = replace(
        run.estimate,
        condition=np.inf,
        known=("CAD values",),
        warnings=("a warning",),
        agreement=Agreement(1.0, 2.0, 0.5, 1.5),
        errors=ChannelErrors(two, two, two, two),
        colour=(np.array([0.5]), np.array([0.2, 0.1])),
        evidence=-12.5,
        full=np.arange(40.0),
        resting=(run.estimate.parameters[1],),
    )
    part = run.estimate.parameters[:4]
    reduced = replace(
        rich, parameters=part, values=rich.values[:4], covariance=rich.covariance[:4, :4]
    )
    whole = replace(run, estimate=rich, reduction=replace(run.reduction, estimate=reduced))
    save_run(whole, tmp_path / "run")
    again = load_run(tmp_path / "run")
    same(whole, again)
    assert again.final.parameters == part
    np.testing.assert_array_equal(again.values()[:4], rich.values[:4])
    assert not again.values()[4:].any()


@pytest.mark.parametrize("last", range(len(STAGES)))
def test_a_stopped_run_keeps_its_stages(tmp_path, last):
    folder = RunFolder.create(tmp_path / "run")

    class StoppedError(Exception):
        pass

    def keep(stage: str, run: Run) -> None:
        if STAGES.index(stage) > last:
            raise StoppedError
        folder.keep(stage, run)

    try:
        identify_motions(load("five_bar"), [data()], IdentifyOptions("ols"), keep=keep)
    except StoppedError:
        assert last < len(STAGES) - 1
    found = load_run(tmp_path / "run")
    assert found.stages == STAGES[: last + 1]
    assert (found.estimate is None) == (last < 1)
    assert bool(found.forces) == (last == len(STAGES) - 1)
    if found.estimate is None:
        with pytest.raises(DataError, match="stopped before"):
            _ = found.final


def test_nothing_is_left_half_written(run, tmp_path, monkeypatch):
    """A crash while a file is written leaves the stage before as it was."""
    folder = RunFolder.create(tmp_path / "run")
    folder.keep("data", replace(run, estimate=None, reduction=None, forces=(), stages=("data",)))
    before = {p: p.read_bytes() for p in (tmp_path / "run").rglob("*") if p.is_file()}

    def full(self: Path, *arguments: object, **options: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(DataError, match="No space left"):
        folder.keep("estimate", run)
    after = {p: p.read_bytes() for p in (tmp_path / "run").rglob("*") if p.is_file()}
    assert after == before


def test_folders_that_are_there(run, tmp_path):
    save_run(run, tmp_path / "run")
    with pytest.raises(DataError, match="holds a run; add --force"):
        RunFolder.create(tmp_path / "run")
    (tmp_path / "run" / "report.html").write_text("old")
    save_run(run, tmp_path / "run", force=True)
    assert not (tmp_path / "run" / "report.html").exists()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("years of work")
    with pytest.raises(DataError, match="is not a run; choose another"):
        RunFolder.create(tmp_path / "other", force=True)
    assert (tmp_path / "other" / "thesis.tex").exists()
    (tmp_path / "empty").mkdir()
    RunFolder.create(tmp_path / "empty")
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="is not a run"):
        RunFolder.create(tmp_path / "file", force=True)
    with pytest.raises(DataError, match="cannot make the folder"):
        RunFolder.create(tmp_path / "file" / "run")


def test_broken_folders(run, tmp_path):
    with pytest.raises(DataError, match=r"run\.json is missing"):
        load_run(tmp_path)
    save_run(run, tmp_path / "run")
    head = tmp_path / "run" / "run.json"
    good = head.read_text()
    head.write_text(json.dumps({**json.loads(good), "run": 99}))
    with pytest.raises(DataError, match="format 99"):
        load_run(tmp_path / "run")
    head.write_text(good[:-20])
    with pytest.raises(DataError, match="not a JSON file"):
        load_run(tmp_path / "run")
    head.write_text(good)
    for name in ("parameters.parquet", "estimate.json", "estimate.covariance.parquet",
                 "motions/identification.parquet", "forces/validation-1.parquet"):  # fmt: skip
        path = tmp_path / "run" / name
        kept = path.read_bytes()
        path.unlink()
        with pytest.raises(MechidError, match=path.name):
            load_run(tmp_path / "run")
        path.write_bytes(b"nonsense")
        with pytest.raises(MechidError, match=path.name):
            load_run(tmp_path / "run")
        path.write_bytes(kept)
    load_run(tmp_path / "run")
