"""The smallest inputs that showed the defects which fuzzing found."""

from __future__ import annotations

import json
import logging
import re
import time
import warnings
import zipfile
from base64 import b64decode, b64encode
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

import mechid
from mechid.base.certificate import read_certificate
from mechid.errors import DataError, KinematicsError, MechidError, ModelError
from mechid.excitation.families.tabulated import Tabulated
from mechid.excitation.trajectory import sample
from mechid.importing.hardpoint_table import read_hardpoints
from mechid.measurementfile.channels import read_channels
from mechid.measurementfile.clock import find_clock
from mechid.measurementfile.timebase import check_increasing
from mechid.mechanism.plausible import implausible_units
from mechid.options.words import option_value
from mechid.report.plot import Axis
from mechid.runs.files import read_columns
from mechid.runs.truth import read_truth
from mechid.signals.filters import edge
from mechid.studies.folder import read_table
from mechid.tables import files as tables
from mechid.tables.blocks import table_blocks, table_names
from mechid.tables.forces import read_forces
from mechid.textfile.expressions import parse
from mechid.textfile.quiet import quiet

from . import fixtures, forms
from .drive import SECONDS
from .fixtures import SEEDS


def test_messages_are_short_and_printable() -> None:
    error = DataError("b" * 5000, where="a\x1b[31m\u202e", remedy="c\nd")
    said = str(error)
    assert len(said) < 2000
    assert said.isprintable()
    assert said.startswith("a")
    assert said.endswith("c d")


@pytest.mark.parametrize(
    "vertex", ["v 0 0", "v 1e300 0 0", "v nan 0 0"], ids=["plane", "huge", "not a number"]
)
def test_meshes_whose_points_are_wrong(tmp_path: Path, vertex: str) -> None:
    robot = tmp_path / "robot.xml"
    robot.write_text((SEEDS / "mesh.xml").read_text().replace("part.stl", "part.obj"))
    lines = (SEEDS / "part.obj").read_text().splitlines()
    wrong = [vertex if line.startswith("v") else line for line in lines]
    (tmp_path / "part.obj").write_text("\n".join(wrong))
    with pytest.raises(ModelError, match=r"part\.obj"):
        mechid.load(robot)


@pytest.mark.parametrize(("column", "factor"), [("time", 1e-300), ("time", 1e200), ("q1", 1e200)])
def test_motions_without_derivatives(tmp_path: Path, column: str, factor: float) -> None:
    columns = fixtures.log_columns()
    path = tmp_path / "motion.csv"
    path.write_bytes(forms.csv_text(columns | {column: factor * columns[column]}))
    with pytest.raises(DataError, match=f"column {column}"):
        mechid.read_motion(path, mechid.load("five_bar"))


def test_motions_with_two_samples_at_almost_the_same_time(tmp_path: Path) -> None:
    """Steps of 0.05 s on average, but for one."""
    columns = fixtures.log_columns()
    path = tmp_path / "motion.csv"
    columns["time"][1] = 3e-312
    path.write_bytes(forms.csv_text(columns))
    with pytest.raises(DataError, match=r"row 2, column time: samples .* got 3e-312 s"):
        mechid.read_motion(path, mechid.load("five_bar"))
    columns["time"][1] = 2e-15
    path.write_bytes(forms.csv_text(columns))
    mechid.read_motion(path, mechid.load("five_bar"))


def test_names_of_columns_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "motion.parquet"
    path.write_bytes(forms.parquet(fixtures.log_columns()).replace(b"time", b"t\xe9me"))
    with pytest.raises(DataError, match=r"not a \.parquet table"):
        mechid.read_motion(path, mechid.load("five_bar"))
    with pytest.raises(DataError, match="not a Parquet table"):
        read_columns(path)


def test_loop_joints_far_away(tmp_path: Path) -> None:
    path = tmp_path / "loops.yaml"
    path.write_text((SEEDS / "loops.yaml").read_text().replace("0.6", "1e300"))
    with pytest.raises(ModelError, match=r"loops\.yaml:2: joints\.q4\.at: numbers must be"):
        mechid.import_model(SEEDS / "open.urdf", loops=path)


def test_times_beyond_all_calendars(tmp_path: Path) -> None:
    columns = fixtures.log_columns()
    path = tmp_path / "log.parquet"
    path.write_bytes(forms.parquet(columns | {"time": 2**60 + 10**9 * np.arange(41)}))
    with pytest.raises(DataError, match="between the years"):
        mechid.read_measurement(path, "five_bar", {
            "time": {"channel": "time", "unit": "s"}, "positions": {"q1": "q1", "q2": "q2"},
        })  # fmt: skip


@pytest.mark.parametrize(("kind", "bits"), [("<u8", 0x7FF0 << 48 | 1), ("<u4", 0x7F80 << 16 | 1)])
def test_numbers_that_signal(tmp_path: Path, kind: str, bits: int) -> None:
    signalling = np.full(9, bits, kind).view(kind.replace("u", "f"))
    time = (np.arange(9.0) / 64).astype(signalling.dtype)
    savemat(tmp_path / "log.mat", {"time": np.concatenate([time, signalling]), "q1": signalling})
    found = read_channels(tmp_path / "log.mat")
    clock = find_clock(found, None)
    assert clock is not None
    assert np.array_equal(clock.time, [*time, *[np.nan] * 9], equal_nan=True)
    assert np.isnan(2.0 * found.get("q1").values).all()


def test_an_hdf5_file_that_its_library_never_returns_from(tmp_path: Path) -> None:
    path = tmp_path / "log.h5"
    path.write_bytes((SEEDS / "endless.h5").read_bytes())
    with pytest.raises(DataError, match=r"log\.h5: the file is damaged"):
        read_channels(path)


@pytest.mark.parametrize(
    "axes",
    ["seed: {count: 1000000000}", "seed: {count: 40000}, periods: [1, 2]"],
    ids=["axis", "grid"],
)
def test_studies_of_too_many_cells(tmp_path: Path, axes: str) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(
        f"title: T\nexperiment: identification\nsettings: {{model: pendulum}}\naxes: {{{axes}}}\n"
    )
    with pytest.raises(DataError, match="50000"):
        mechid.load_study(path)


def test_certificates_of_poses_far_away(tmp_path: Path) -> None:
    state = {"y": [0.0], "yd": [0.0], "ydd": [0.0], "pose": [1e300] * 7}
    experiment = {"hold": [], "measure": None, "static": False, "gravity": None}
    numbers = {"parameters": 0, "upper": 0, "lower": 0, "precision": 64}
    lists: dict[str, list[object]] = {
        key: [] for key in ("open_questions", "dependent", "vectors", "columns", "rows")
    }
    head = {"format": "mechid certificate 1", "model": "", "certified": False}
    path = tmp_path / "c.json"
    for scale in (1.0, 1e-300):
        state["pose"] = [scale * x for x in state["pose"]]
        words = head | numbers | lists | {"experiment": experiment, "states": [state]}
        path.write_text(json.dumps(words))
        if scale == 1.0:
            with pytest.raises(DataError, match="not a certificate"):
                read_certificate(path)
        else:
            assert read_certificate(path).states[0].pose == (1.0,) * 7


@pytest.mark.parametrize(
    ("value", "words"),
    [("9" * 400, "must be numbers"), ("NaN", "must be numbers"), ("[" * 5000, "not a JSON file")],
    ids=["huge", "not a number", "deep"],
)
def test_truths_that_are_none(tmp_path: Path, value: str, words: str) -> None:
    path = tmp_path / "log.csv.truth.json"
    path.write_text(f'{{"truth": 1, "parameters": {{"m_1": {value}}}}}')
    with pytest.raises(DataError, match=words):
        read_truth(path)


def test_copies_of_copies(tmp_path: Path) -> None:
    """Forty lines would stand for 2⁴⁰ bodies."""
    two = "{{a: {{subassembly: s{0}, suffix: _a}}, b: {{subassembly: s{0}, suffix: _b}}}}"
    lines = [f"  s{k}: {{use: {two.format(k + 1)}}}" for k in range(40)]
    path = tmp_path / "model.yaml"
    path.write_text(
        "mechid: 1\nname: a\nuse: {z: {subassembly: s0}}\nsubassemblies:\n"
        + "\n".join([*lines, "  s40: {bodies: {b: {massless: true}}}\n"])
    )
    with pytest.raises(ModelError, match="more than 1000 copies"):
        mechid.load(path)


def test_names_of_files_that_no_system_can_have(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(f"mechid: 1\nname: a\ninclude: {'a' * 5000}.yaml\n")
    with pytest.raises(ModelError, match="there is no file"):
        mechid.load(path)
    with pytest.raises(MechidError):
        mechid.load(f"{path}{'@a' * 3000}")


def test_included_files_that_are_links_to_themselves(tmp_path: Path) -> None:
    (tmp_path / "part.yaml").symlink_to(tmp_path / "part.yaml")
    path = tmp_path / "model.yaml"
    path.write_text("mechid: 1\nname: a\ninclude: [part.yaml]\n")
    with pytest.raises(MechidError, match=r"part\.yaml"):
        mechid.load(path)
    robot = tmp_path / "robot.xml"
    robot.write_text((SEEDS / "mesh.xml").read_text().replace("part.stl", "loop.stl"))
    (tmp_path / "loop.stl").symlink_to(tmp_path / "loop.stl")
    with pytest.raises(MechidError, match=r"loop\.stl"):
        mechid.load(robot)


def test_a_cut_off_that_rounding_hides() -> None:
    assert edge(1e-50) > 1e9
    assert edge(0.0) > 1e9  # 5e-324 Hz at 20 Hz
    assert edge(0.1) < 100


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study") / "result"
    fixtures.write_study(folder)
    return folder


@pytest.mark.parametrize(
    ("file", "before", "after", "words"),
    [
        ("provenance.json", b'"study"', b'"studi"', "the format of the result"),
        ("provenance.json", b'"parts"', b'"party"', "changed or is damaged"),
        ("provenance.json", b'"results"', b'"' + 300 * b"(" + b'"', "changed or is damaged"),
        ("provenance.json", b'"results"', b'"../results"', "changed or is damaged"),
        ("cells/results.parquet", b"cell", b"cemm", "missing column cell"),
        ("cells/results.parquet", b"cell", b"ce\xffl", "not a Parquet table"),
    ],
)
def test_results_that_were_edited(
    result: Path, file: str, before: bytes, after: bytes, words: str
) -> None:
    path = result / file
    data = path.read_bytes()
    path.write_bytes(data.replace(before, after))
    try:
        with pytest.raises(DataError, match=words):
            mechid.load_study_result(result).status()
    finally:
        path.write_bytes(data)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "run"
    fixtures.write_run(folder)
    return folder


@pytest.mark.parametrize(
    ("file", "key", "value"),
    [
        ("estimate.json", "noise", 0.5),
        ("estimate.json", "values", [1.0]),
        ("estimate.json", "parameters", "abc"),
        ("estimate.json", "parameters", ["Ixx_1", "mx_1", "other"]),
        ("estimate.json", "resting", [1]),
        ("estimate.json", "colour", [None]),
        ("estimate.json", "colour", [[0.5], [0.5]]),
        ("full.json", "difference", "x"),
        ("full.json", "parameters", [1]),
        ("run.json", "warnings", [[]]),
        ("run.json", "versions", {"numpy": 2}),
        ("run.json", "motions", [{}]),
        ("run.json", "motions", []),
        ("run.json", "stages", []),
        ("run.json", "stages", ["data", "estimates"]),
        ("full.json", "parameters", {}),
        ("run.json", "n_logs", 0),
        ("run.json", "n_logs", 7),
    ],
)
def test_runs_that_were_edited(run: Path, file: str, key: str, value: object) -> None:
    path = run / file
    before = path.read_text("utf-8")
    path.write_text(json.dumps(json.loads(before) | {key: value}), "utf-8")
    try:
        with pytest.raises(MechidError, match=r"run"):
            mechid.load_run(run)
    finally:
        path.write_text(before, "utf-8")


def test_errors_of_motions_that_are_none(run: Path) -> None:
    """The message names the file."""
    path = run / "validation.json"
    before = path.read_text("utf-8")
    path.write_text(json.dumps([row | {"model": []} for row in json.loads(before)]), "utf-8")
    try:
        with pytest.raises(DataError, match=r"validation\.json: \[0\]\.model: expected `str`"):
            mechid.load_run(run)
    finally:
        path.write_text(before, "utf-8")


def test_errors_of_forces_that_no_motion_has(run: Path) -> None:
    path = run / "validation.json"
    before = path.read_text("utf-8")
    path.write_text(before.replace('"M_hinge"', '"All"', 1), "utf-8")
    try:
        with pytest.raises(DataError, match="identification has no force All"):
            mechid.load_run(run)
    finally:
        path.write_text(before, "utf-8")


def test_times_of_a_run_that_do_not_increase(run: Path) -> None:
    path = run / "motions" / "identification.parquet"
    before = path.read_bytes()
    columns = read_columns(path)
    columns["time"] = columns["time"][::-1]
    path.write_bytes(forms.parquet(columns))
    try:
        with pytest.raises(DataError, match="the times do not increase"):
            mechid.load_run(run)
    finally:
        path.write_bytes(before)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (b"0.1,x,0,0,0", r'row 3, column q1: "x" is not a number'),
        (b"0.1,,0,0,0", "row 3, column q1: the value is missing"),
        (b"0.1,1e200,0,0,0", r"row 3, column q1: 1e\+200 is out of range"),
    ],
)
def test_streamed_logs_whose_cells_are_wrong(tmp_path: Path, row: bytes, words: str) -> None:
    path = tmp_path / "log.csv"
    lines = forms.csv_text(fixtures.log_columns()).splitlines()
    path.write_bytes(b"\n".join([*lines[:3], row, *lines[4:]]))
    for size in (2, 50):
        with pytest.raises(DataError, match=rf"log\.csv: {words}"):
            list(table_blocks(path, ["time", "q1"], size))
    with pytest.raises(DataError, match=rf"log\.csv: {words}"):
        mechid.identify_streamed("five_bar", path)


def test_streamed_logs_that_are_damaged(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    columns = fixtures.log_columns()
    columns["q1"] = np.ma.masked_greater(columns["q1"], 0.2).filled(np.nan)
    path.write_bytes(forms.parquet(columns))
    with pytest.raises(DataError, match="column q1: the value is missing"):
        list(table_blocks(path, ["time", "q1"]))
    data = bytearray(forms.parquet(fixtures.log_columns()))
    data[4:40] = bytes(36)  # head of the first page
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"log\.parquet: (not a \.parquet table|.*damaged)"):
        list(table_blocks(path, ["time", "q1"]))
    twice = path.with_suffix(".csv")
    twice.write_text("time,q1,q1\n0,1,2\n")
    with pytest.raises(DataError, match="duplicate column q1"):
        table_names(twice)


@pytest.mark.parametrize("column", ["time", "M1"])
def test_tables_of_forces_and_motions_out_of_range(tmp_path: Path, column: str) -> None:
    columns = fixtures.log_columns()
    path = tmp_path / "table.csv"
    path.write_bytes(forms.csv_text(columns | {column: 1e299 * columns[column]}))
    with pytest.raises(DataError, match=rf"row 2, column {column}: .*e\+29\d is out of range"):
        read_forces(path, mechid.load("five_bar"))
    with pytest.raises(DataError, match=rf"row 2, column {column}: .*e\+29\d is out of range"):
        mechid.load_trajectory(path)


def test_forces_without_a_spline() -> None:
    time = np.array([0.0, 5e-324, 1.0, 2.0])
    with np.errstate(all="ignore"), pytest.raises(DataError, match="no finite slopes"):
        mechid.table_forces(time, np.array([[0.0], [1e10], [0.0], [1.0]]), "cubic")


def test_libraries_are_silenced(capfd: pytest.CaptureFixture[str]) -> None:
    with quiet():
        warnings.warn("of a library", stacklevel=1)
        logging.getLogger("library").error("of a library")
        assert np.isnan(np.float64(np.inf) - np.float64(np.inf))
    assert capfd.readouterr() == ("", "")
    assert logging.root.manager.disable == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("3 deg deg", "has two units"),
        ("(2*15 deg) rad", "has two units"),
        ("1,5", "write 1.5"),
        ("1e", "cannot read"),
        ("2*1e400", r"2\*1e400.* has no finite real value"),
    ],
)
def test_numbers_that_are_none(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse(text)


def test_matlab_files_that_crash_the_library(tmp_path: Path) -> None:
    """A type of numbers that there is not: the library looks for it beyond its table."""
    path = tmp_path / "log.mat"
    savemat(path, fixtures.log_columns())
    data = bytearray(path.read_bytes())
    at = data.index(b"time") + 4  # name of the first variable, then the tag of its numbers
    assert data[at] == 9  # double
    for kind in (0xFF, 0xFFFF, 0x7FFF):
        data[at : at + 4] = kind.to_bytes(4, "little")
        path.write_bytes(data)
        with pytest.raises(DataError, match=r"log\.mat: (the file is damaged|not a MAT file)"):
            read_channels(path)


@pytest.mark.parametrize("column", ["q1", "M1"])
def test_measured_values_out_of_range(tmp_path: Path, column: str) -> None:
    columns = fixtures.log_columns()
    columns[column][3] = 1e200
    path = tmp_path / "log.parquet"
    path.write_bytes(forms.parquet(columns))
    with pytest.raises(DataError, match=rf"channel {column}, row 4: 1e\+200 is out of range"):
        mechid.read_measurement(path, "five_bar")


def test_units_in_a_log_are_said_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    text = forms.csv_text(fixtures.log_columns())
    path.write_bytes(text.replace(b"\n", b"\ns,rad,rad,N m,kN\n", 1))
    with pytest.raises(DataError, match=r'log\.csv: forces\.M2: the unit "kN" does not match'):
        mechid.read_measurement(path, "five_bar")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("0,1\n1\n2,2\n3,3\n4,4\n", "line 2 has 2 cells, line 3 has 1; remove"),
        ("0,1\n# note\n2,2\n3,3\n4,4\n", "line 3 is not a row of numbers; correct or remove it"),
        ("1,2,3\n0,1\n2,2\n3,3\n4,4\n", "line 2 has 3 cells, line 3 has 2; remove"),
    ],
)
def test_the_row_that_is_unlike_the_others_is_named(tmp_path: Path, rows: str, words: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"time,q1\n{rows}")
    with pytest.raises(DataError, match=words):
        read_channels(path)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"gaps": -3}, "gaps: must be ≥ 0, got -3"),
        ({"rate": 5e-324}, "rate: 4.94066e-324 is out of range; check it"),
        ({"prepare": {"decimation": -7}}, "prepare.decimation: must be ≥ 1, got -7"),
        ({"name": ["a"]}, "name: expected text, got a list of 1; write one text, or omit the key"),
        ({"name": 3}, "name: expected text, got 3; put it in quotes"),
        ({"prepare": 1.5}, "prepare: expected a mapping, got 1.5; write {key: value, …}"),
        ({"time": 1.5}, r"time: expected a mapping, got 1.5; write {channel: …}"),
        ({"": 1}, 'unknown key ""; choose one of: '),
        ({"gaps": "9" * 400}, "gaps: expected an integer, got .9{60}…"),
    ],
)
def test_wrong_entries_of_mappings(entry: dict[str, object], words: str) -> None:
    with pytest.raises(DataError, match=words):
        mechid.read_measurement("none.csv", "five_bar", {"positions": {"q1": "q1"}, **entry})


def test_numbers_of_links_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    for value in ("1.5", "x"):
        path.write_text((SEEDS / "table.yaml").read_text().replace("link: 2", f"link: {value}"))
        with pytest.raises(ModelError, match=r"denavit_hartenberg\.1\.link: expected an integer, "):
            mechid.load(path)


def test_long_rows_of_digits_in_text_tables(tmp_path: Path) -> None:
    """Read in time that grows as their length, not as its square (minutes, then)."""
    path = tmp_path / "log.csv"
    path.write_text(f"time,q1\n0,1\n1,{'3' * 100_000}x\n2,2\n3,3\n4,4\n")
    with pytest.raises(DataError, match=r"log\.csv"):
        mechid.read_measurement(path, "five_bar")


@pytest.mark.parametrize("encoding", ["undefined", "punycode", "utf-7", "\0x"])
def test_encodings_that_no_text_has(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(forms.csv_text(fixtures.log_columns()) + b"+2AA-\n")  # half a character
    mapping = {"positions": {"q1": "q1", "q2": "q2"}, "table": {"encoding": encoding}}
    with pytest.raises(DataError, match=r"table\.encoding: the text is not"):
        mechid.read_measurement(path, mechid.load(fixtures.MODEL), mapping)


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ({"unit": "deg", "offset": "30 deg"}, "offset"),
        ({"unit": "deg", "sigma": "(1/2) deg"}, "sigma"),
        ({"unit": "deg", "offset": "30*sin(30 deg)"}, ""),
        ({"offset": "30 deg"}, ""),
        ({"unit": "rad", "sigma": "0.1 deg"}, ""),
    ],
)
def test_numbers_with_a_unit_beside_another_unit(
    tmp_path: Path, entry: dict[str, object], wrong: str
) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(forms.csv_text(fixtures.log_columns()))
    mapping = {"positions": {"q1": {"channel": "q1"} | entry, "q2": "q2"}}
    with pytest.raises(DataError, match=f"q1.{wrong}: .* in deg") if wrong else nullcontext():
        mechid.read_measurement(path, mechid.load(fixtures.MODEL), mapping)


def test_motions_of_too_many_samples() -> None:
    """A rate in the wrong unit: neither gigabytes of samples nor a crash."""
    motion = mechid.load_trajectory(SEEDS / "motion.yaml")
    with pytest.raises(DataError, match=r"too many samples: 1\.2e\+07 of 2 coord"):
        sample(motion, rate=6e6)
    with pytest.raises(DataError, match="too many samples: 2 s at 1e"):
        sample(motion, rate=1e10)


def test_times_that_rounding_hides() -> None:
    with pytest.raises(DataError, match="time does not increase"):
        Tabulated((0.0, 5e-324, 4.0), (1.0, 2.0, 1.0), (0.0,) * 3, (0.0,) * 3)


@pytest.mark.parametrize("text", ["sin(t)/" + "9" * 400, "3in(2*t)"])
def test_expressions_that_are_no_numbers_of_time(text: str) -> None:
    with warnings.catch_warnings(action="error"), pytest.raises(ValueError, match=r'^.*"[s3]'):
        parse(text)


def test_long_motions_are_sampled_in_parts() -> None:
    """Samples at both sides of the parts, against the same times one by one."""
    motion = mechid.load_trajectory(SEEDS / "motion.yaml")
    found = sample(motion, rate=10_000.0)
    assert len(found.time) == 20_001
    some = np.array([0, 8_191, 8_192, 16_384, 20_000])
    for values, wanted in zip(found, sample(motion, times=found.time[some]), strict=True):
        np.testing.assert_allclose(values[some], wanted, rtol=1e-13, atol=1e-13)


def test_directions_that_rounding_hides(tmp_path: Path) -> None:
    path = tmp_path / "robot.xml"
    text = (SEEDS / "robot.xml").read_text("utf-8")
    assert 'quat="1 0 0 0"' in text
    path.write_text(text.replace('quat="1 0 0 0"', 'quat="1e-300 0 0 0"'), "utf-8")
    with pytest.raises(ModelError, match="the quaternion is zero"):
        mechid.load(path)


@pytest.mark.parametrize(
    ("was", "far"),
    [
        ('pos="0 0 1"', 'pos="0 0 1e5"'),
        ('name="d" pos="0 0.2 0"', 'name="d" pos="1e5 0.2 0"'),
        ('name="g" pos="0.2 0 0"', 'name="g" pos="0.2 0 1e5"'),
    ],
    ids=["robot", "branch", "loop"],
)
def test_bodies_that_stand_far_away(tmp_path: Path, was: str, far: str) -> None:
    """Motions of parts of 0.2 m drown in the rounding of 100 km: said so, and soon."""
    path = tmp_path / "robot.xml"
    text = (SEEDS / "robot.xml").read_text("utf-8")
    assert was in text
    path.write_text(text.replace(was, far), "utf-8")
    robot = mechid.load(path)
    begin = time.process_time()
    with pytest.raises(
        KinematicsError,
        match=r"points are up to 1e\+05 m apart, and the joints of body \w 0\.\d+ m",
    ):
        mechid.mobility(robot)
    assert time.process_time() - begin < SECONDS


def test_characters_that_no_text_has(tmp_path: Path) -> None:
    path = tmp_path / "motion.yaml"
    path.write_text("trajectory: 1\nname: a\x07b\n", "utf-8")
    with pytest.raises(
        MechidError, match=r"motion\.yaml:2: .*the character U\+0007 is not allowed"
    ):
        mechid.load_trajectory(path)


@pytest.mark.parametrize(
    "read",
    [
        read_columns,
        read_table,
        tables.read_columns,
        lambda path: [*table_blocks(path, table_names(path))],
    ],
)
def test_parquet_tables_of_types_that_nobody_has(
    tmp_path: Path, read: Callable[[Path], object]
) -> None:
    """Integers of 24 bits: wherever the schema of Arrow in the file says 8, it says 24."""
    raw = forms.parquet({"q1": np.arange(5, dtype=np.int8)})
    found = re.search(rb"/{5}[A-Za-z0-9+/=]{99,}", raw)
    assert found is not None
    schema, eight = b64decode(found[0]), (8).to_bytes(4, "little")
    path = tmp_path / "log.parquet"
    said = []
    for at in [k for k in range(len(schema)) if schema[k : k + 4] == eight]:
        wrong = schema[:at] + b"\x18" + schema[at + 1 :]
        path.write_bytes(raw.replace(found[0], b64encode(wrong)))
        try:
            read(path)
        except DataError as error:
            said.append(str(error))
    assert any("cstdint" in words for words in said)


def test_an_option_of_thousands_of_digits() -> None:
    with pytest.raises(DataError, match=r"seed must have at most 18 digits, got 5000"):
        option_value("9" * 5000, int, "seed")
    assert option_value("9" * 18, int, "seed") == 10**18 - 1


@pytest.mark.parametrize("step", [5e-302, 1e-13])
def test_samples_that_follow_each_other_too_fast(step: float) -> None:
    with pytest.raises(DataError, match=r"at least 1e-12 s apart, got .* check the unit"):
        check_increasing(step * np.arange(41), "log.csv")
    with pytest.raises(DataError, match=r"row 2: samples must be at least 1e-12 s apart"):
        check_increasing(np.array([0.0, step, 0.1, 0.2]), "log.csv")
    check_increasing(2e-12 * np.arange(41), "log.csv")


def test_pauses_longer_than_integers_count(tmp_path: Path) -> None:
    columns = fixtures.log_columns()
    columns["time"][-1] = 1e30
    path = tmp_path / "log.csv"
    path.write_bytes(forms.csv_text(columns))
    with pytest.raises(DataError, match=r"no samples between .* s and 1e\+30 s"):
        mechid.read_measurement(path, mechid.load(fixtures.MODEL))


@pytest.mark.parametrize("step", [1e-194, 1e-127, 1e-300, 3e-312])
def test_splines_through_forces_at_almost_the_same_time(step: float) -> None:
    """Once, among steps of 0.05 s; a table whose steps are all so short is refused, too."""
    columns = fixtures.log_columns()
    values = np.column_stack([columns["M1"], columns["M2"]])
    near = columns["time"].copy()
    near[1] = step
    for times in (near, 20 * step * columns["time"]):
        with pytest.raises(DataError, match="no finite slopes"):
            mechid.table_forces(times, values, "cubic")
    mechid.table_forces(columns["time"], values, "cubic")


def test_streamed_logs_whose_time_stands_still(tmp_path: Path) -> None:
    columns = fixtures.log_columns()
    columns["time"] = np.zeros_like(columns["time"])
    path = tmp_path / "log.csv"
    path.write_bytes(forms.csv_text(columns))
    with pytest.raises(DataError, match=r"row 2.*occurs twice"):
        mechid.identify_streamed(fixtures.MODEL, path)


def test_workbooks_whose_styles_do_not_exist(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book = mechid.template("four-bar", tmp_path / "linkage")[0].with_name("hardpoints.xlsx")
    broken = tmp_path / "broken.xlsx"
    with zipfile.ZipFile(book) as old, zipfile.ZipFile(broken, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "xl/styles.xml":
                before, data = data, data.replace(b'xfId="0"', b'xfId="7"')
                assert data != before
            new.writestr(name, data)
    with pytest.raises(DataError, match="not an Excel workbook"):
        read_hardpoints(broken)
    assert capsys.readouterr().out == ""


def test_axes_of_numbers_near_the_largest() -> None:
    values = np.array([-4e306, 0.0, 4e306])
    axis = Axis.of([values], 0.0, 640.0, tight=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(axis.at(values), [0.0, 320.0, 640.0])


@pytest.mark.parametrize(
    ("angle", "words"),
    [
        (
            "9223372036854775808",
            r"bodies\.fore\.frame\.rpy\.0: an angle must be less than 4.3e\+09",
        ),
        ("cos(9223372036854775808)", "the angle in .* is too large; check the numbers"),
        ("tan(9e20)", "the angle in .* is too large; check the numbers"),
    ],
)
def test_angles_whose_last_digit_is_more_than_a_turn(angle: str, words: str) -> None:
    """Their sine and cosine were both called zero: the frame had no axes."""
    text = (fixtures.SEEDS / "everything.yaml").read_text("utf-8")
    changed = text.replace("rpy: [0, 30, 0]", f'rpy: ["{angle}", 30, 0]', 1)
    assert changed != text
    path = Path("everything.yaml")
    path.write_text(changed, "utf-8")
    with pytest.raises(MechidError, match=words):
        mechid.load(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('size="0.1 0.1 0.1" mass="2"', 'size="0.1 5e-324 0.1" mass="2"'),
        ('type="capsule" size="0.02 0.1"', 'type="capsule" size="1e-300 0.1"'),
    ],
)
def test_geoms_whose_volume_is_no_number(old: str, new: str) -> None:
    text = (fixtures.SEEDS / "robot.xml").read_text("utf-8")
    assert old in text
    path = Path("robot.xml")
    path.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(MechidError, match="sizes must be at least 1e-30 m"):
        mechid.load(path)


def test_bodies_whose_radius_of_gyration_is_huge() -> None:
    """Its third power, the volume of the mechanism, was no number."""
    text = (fixtures.SEEDS / "everything.yaml").read_text("utf-8")
    changed = text.replace("rpy: [0, 30, 0]}, mass: 1,", "rpy: [0, 30, 0]}, mass: 1e-300,", 1)
    assert changed != text
    path = Path("everything.yaml")
    path.write_text(changed, "utf-8")
    said = "\n".join(implausible_units(mechid.load(path)))
    assert "the radius of gyration of fore is 1.02e+149 m" in said
