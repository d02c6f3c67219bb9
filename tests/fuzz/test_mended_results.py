"""The smallest inputs that showed what fuzzing found: studies, runs, certificates and truths."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mechid
from mechid.base.certificate import read_certificate
from mechid.errors import DataError, MechidError
from mechid.runs.files import read_columns
from mechid.runs.truth import read_truth
from mechid.runs.verdict_trust import own_errors

from . import fixtures, forms


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


def test_residuals_whose_squares_are_no_numbers(run: Path) -> None:
    found = mechid.load_run(run)
    estimate = found.final
    residuals = estimate.residuals.copy()
    residuals[0] = 1e200
    large = replace(found, estimate=replace(estimate, residuals=residuals), reduction=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own = own_errors(large)
    n = np.isfinite(residuals).sum(axis=0)
    np.testing.assert_allclose(list(own.values()), 1e200 / np.sqrt(n))
