"""A run as a folder: what is written is read again, whole or as far as it came."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from mechid.errors import DataError, MechidError
from mechid.estimation.estimate import Agreement, ChannelErrors, Finding
from mechid.modelfile.api import load
from mechid.options import IdentifyOptions, ReduceOptions
from mechid.outputs import place_beside
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
    two, b = np.array([1.0, np.nan]), len(run.estimate.parameters)
    found = (
        Finding("offset of M1", "offsets", "log", "M1", 0.7, (0.5,), (0.1,), "N m", 0.2, "zero it"),
        Finding("place of C", "places", "machine", "C", 0.1, (1.0, 2.0, 3.0), (1.0,) * 3, "m", 0.0,
                "measure it"),
    )  # fmt: skip
    rich = replace(
        run.estimate,
        condition=np.inf,
        known=("CAD values",),
        warnings=("a warning",),
        agreement=Agreement(1.0, 2.0, 0.5, 1.5),
        errors=ChannelErrors(
            two, two, two, two,
            cross=np.arange(2.0 * b).reshape(b, 2), cross_gain=np.ones((b, 2)),
            by_log=np.array([[1.0, 2.0], [3.0, np.nan]]), logs=(0, 1),
            drift=two, delay=two, sigma_delay=two,
        ),
        colour=(np.array([0.5]), np.array([0.2, 0.1])),
        full=np.arange(40.0),
        resting=(run.estimate.parameters[1],),
        unmodelled=two,
        doubted=np.arange(3.0 * b).reshape(-1, 3),
        found=found,
    )  # fmt: skip
    part = run.estimate.parameters[:4]
    reduced = replace(
        rich,
        parameters=part,
        values=rich.values[:4],
        covariance=rich.covariance[:4, :4],
        errors=replace(rich.errors, cross=None, cross_gain=None),
        doubted=np.zeros((4, 0)),
        found=(),
    )
    small = replace(run.reduction, estimate=reduced)
    whole = replace(run, estimate=rich, reduction=small, added=found[1:])
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
    missing = ("estimate and validation", "validation", "validation", "")[
        last
    ]  # of those asked for
    assert found.unfinished == (f"it ended before its {missing}" if missing else "")
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
    with pytest.raises(DataError, match="cannot create the folder"):
        RunFolder.create(tmp_path / "file" / "run")


def test_only_files_of_the_run_are_removed(run, tmp_path):
    folder = tmp_path / "run"
    save_run(run, folder)
    own = {p.relative_to(folder) for p in folder.rglob("*")}
    foreign = [folder / name for name in ("notes.txt", "data.csv", "motions/mine.parquet")]
    for path in foreign:
        path.write_text("years of work")
    save_run(replace(run, reduction=None, forces=(), validation=(), stages=STAGES[:2]), folder,
             force=True)  # fmt: skip
    assert all(path.read_text() == "years of work" for path in foreign)
    left = {p.relative_to(folder) for p in folder.rglob("*")}
    assert left < own | {path.relative_to(folder) for path in foreign}
    assert load_run(folder).stages == STAGES[:2]  # nothing of the old run is taken for the new one
    assert not (folder / "forces").exists()
    # What run.json names is not followed out of the folder.
    head = json.loads((folder / "run.json").read_text())
    head["motions"] = [{"name": "../../outside"}, {"name": 3}, 4]
    (folder / "run.json").write_text(json.dumps(head))
    (tmp_path / "outside.parquet").write_text("years of work")
    save_run(run, folder, force=True)
    assert (tmp_path / "outside.parquet").exists()


def test_inputs_inside_the_folder(run, tmp_path):
    save_run(run, tmp_path / "run")
    (tmp_path / "run" / "log.csv").write_text("time")
    with pytest.raises(DataError, match=r"an input lies in the folder of the run: log\.csv"):
        RunFolder.create(tmp_path / "run", force=True, inputs=[tmp_path / "run" / "log.csv"])
    load_run(tmp_path / "run")


def test_a_link_that_leads_to_itself(run, tmp_path):
    link = tmp_path / "run"
    link.symlink_to(link)
    for inputs in ([], [link], [tmp_path / "log.csv"]):
        with pytest.raises(DataError, match="cannot create the folder"):
            RunFolder.create(link, inputs=inputs)
    assert link.is_symlink()


@pytest.mark.slow
def test_one_process_at_a_time(run, tmp_path):
    """Another process is refused while it is alive; what it leaves when killed is no obstacle."""
    folder = tmp_path / "run"
    script = (
        "import sys, time\nfrom mechid.runs.folder import RunFolder\n"
        "held = RunFolder.create(sys.argv[1])\nprint('held', flush=True)\ntime.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(folder)], stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        for force in (False, True):
            with pytest.raises(DataError, match="another process is writing this folder"):
                RunFolder.create(folder, force=force)
        other.kill()
    assert (folder / ".lock").exists()
    save_run(run, folder)
    assert not (folder / ".lock").exists()
    load_run(folder)


def test_a_failure_leaves_nothing_that_blocks(run, tmp_path):
    new, old = tmp_path / "new", tmp_path / "old"
    with pytest.raises(RuntimeError), RunFolder.create(new):
        raise RuntimeError
    assert not new.exists()
    data_only = replace(run, estimate=None, reduction=None, forces=(), stages=("data",))
    with RunFolder.create(new) as folder:
        folder.keep("data", data_only)
    assert load_run(new).stages == ("data",)
    save_run(run, new)  # stopped before its estimate: no --force is needed
    # A run that is to be replaced stays until there is an estimate.
    save_run(run, old)
    before = {p: p.read_bytes() for p in old.rglob("*") if p.is_file()}
    with RunFolder.create(old, force=True) as folder:
        folder.keep("data", replace(data_only, motions=data_only.motions[:1]))
    assert {p: p.read_bytes() for p in old.rglob("*") if p.is_file()} == before
    # Stopped while the data are written.
    head = json.loads((old / "run.json").read_text()) | {"stages": []}
    (old / "run.json").write_text(json.dumps(head))
    with pytest.raises(DataError, match="stopped before its data were complete; repeat the run"):
        load_run(old)
    save_run(run, old)


def test_a_changed_model_is_noticed(run, tmp_path):
    save_run(run, tmp_path / "run")
    model = tmp_path / "run" / "model.yaml"
    good = model.read_text()
    model.write_text(good.replace("9.81", "1.62"))
    assert model.read_text() != good
    with pytest.raises(DataError, match="the model of the run was changed after the run"):
        load_run(tmp_path / "run")
    model.write_text(good)
    load_run(tmp_path / "run")


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


def test_what_a_killed_process_leaves_does_not_block(run, tmp_path):
    """Half of run.json in an otherwise empty folder, and half files in one with a run."""
    new = tmp_path / "new"
    (new / "motions").mkdir(parents=True)
    (new / "motions").rmdir()
    half = place_beside(new / "run.json")
    half.write_text('{"run": 1, "st')
    save_run(run, new)
    assert not half.exists()
    for left in (place_beside(new / "run.json"), place_beside(new / "motions" / "a.parquet")):
        left.write_text("half")
    place_beside(new / "new").mkdir()
    save_run(run, new, force=True)
    assert not [p.name for p in new.rglob(".*")]


def test_the_old_run_stays_until_the_new_one_is_complete(run, tmp_path):
    folder = tmp_path / "run"
    save_run(run, folder)
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}

    def stopped() -> None:
        with RunFolder.create(folder, force=True) as target:
            target.keep("data", replace(run, stages=STAGES[:1]))
            target.keep("estimate", replace(run, stages=STAGES[:2]))
            same(load_run(folder), run)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


def test_killed_while_the_old_run_is_replaced(run, tmp_path, monkeypatch):
    """The folder says so, and the next command leaves nothing of either run."""
    folder, smaller = tmp_path / "run", replace(run, reduction=None, motions=run.motions[:1],
        forces=run.forces[:1], validation=(), stages=STAGES)  # fmt: skip
    save_run(run, folder)
    real, moved = Path.replace, []

    def killed(self: Path, target: Path) -> Path:
        if ".new." in str(self.parent) and ".new." not in str(target):
            moved.append(target)
            if len(moved) == 3:
                raise KeyboardInterrupt
        return real(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            save_run(smaller, folder, force=True)
    with pytest.raises(DataError, match="stopped before its data were complete; repeat the run: m"):
        load_run(folder)
    save_run(smaller, folder)
    save_run(smaller, tmp_path / "alone")
    names = [{p.relative_to(f) for p in f.rglob("*")} for f in (folder, tmp_path / "alone")]
    assert names[0] == names[1]


def test_a_motion_that_was_not_added_to_the_end(run, tmp_path):
    """validation.json is written before run.json: what run.json does not name is not there."""
    folder = tmp_path / "run"
    save_run(run, folder)
    rows = json.loads((folder / "validation.json").read_text())
    more = [*rows, {**rows[-1], "motion": "validation-2"}]
    (folder / "validation.json").write_text(json.dumps(more))
    same(load_run(folder), run)


def test_half_a_run_is_called_one(run, tmp_path, caplog):
    save_run(
        replace(run, reduction=None, forces=(), validation=(), stages=STAGES[:2]), tmp_path / "r"
    )
    load_run(tmp_path / "r")
    assert "the run was stopped after its estimate; repeat the run: mechid identify" in caplog.text
    assert load_run(tmp_path / "r").unfinished == "it ended before its reduction and validation"
