"""Running studies in this process and on processes of this machine."""

from __future__ import annotations

import json
import shutil
import socket
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mechid.errors import DataError, MechidError
from mechid.outputs import place_beside
from mechid.runs.lock import locked
from mechid.studies import work
from mechid.studies.folder import TOKEN, _write_table, read_table
from mechid.studies.result import load_study_result
from mechid.studies.rows import chunk_table, grid_table, part_table
from mechid.studies.run import run_study

if TYPE_CHECKING:
    from .conftest import Read

SMALL = """\
title: Small
experiment: toy
axes:
  n: [3, 5]
  seed: {from: 10, count: 6}
"""


def files(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).glob("*.*")}


def test_table_has_the_rows_of_each_cell_in_order(study: Read) -> None:
    from toy_experiment import Settings, values

    found = run_study(study(SMALL), "out", workers=0)
    expected = []
    for n in (3, 5):
        for seed in range(10, 16):
            if seed == 13:
                expected.append((n, seed, "seed: 13 is refused", None, None))
            else:
                known = values(Settings(n=n, seed=seed))
                expected += [(n, seed, None, f, v) for f, v in zip("ab", known, strict=True)]
    table = found.table()
    assert table.column_names == ["n", "seed", "cell", "refused", "force", "value", "n_values"]
    columns = [table[c].to_pylist() for c in ("n", "seed", "refused", "force", "value")]
    assert list(zip(*columns, strict=True)) == expected
    (status,) = found.status()
    assert (status["cells"], status["done"], status["refused"]) == (12, 12, 2)
    told = json.loads(Path("out/provenance.json").read_text())
    assert told["size"] == "full"
    assert told["parts"]["results"]["cells"] == 12
    assert Path("out/study.yaml").read_text() == SMALL


@pytest.mark.slow
def test_processes_give_the_same_bytes(study: Read, recwarn: pytest.WarningsRecorder) -> None:
    """Beside another study, too, which has the usual port of Dask."""
    run_study(study(SMALL), "here", workers=0)
    with socket.socket() as other:
        with suppress(OSError):  # somebody has it
            other.bind(("127.0.0.1", 8787))
            other.listen()
        run_study(study(SMALL), "there", workers=2)
    assert not [w for w in recwarn if "in use" in str(w.message)]
    assert files("here") == files("there")


def test_cells_that_are_there_are_not_computed_again(study: Read) -> None:
    Path("log").mkdir()
    text = SMALL + f"settings: {{log: {Path('log').absolute()}}}\n"
    run_study(study(text), "out", workers=0)
    more = text.replace("count: 6", "count: 8")
    run_study(study(more), "out", workers=0)
    run_study(study(more), "out", workers=0)
    assert {path.read_text() for path in Path("log").iterdir()} == {"x"}
    run_study(study(more), "fresh", workers=0)
    assert files("out") == files("fresh")


def test_stopped_work_is_kept_and_continued(study: Read) -> None:
    asked = iter([False] * 4 + [True] * 100)
    with pytest.raises(MechidError, match=r"stopped at 4 of 12 cells.*run the study again"):
        run_study(study(SMALL), "out", workers=0, stop=lambda: next(asked))
    partial = load_study_result("out")
    assert partial.status()[0]["done"] == 4
    assert not Path("out/results.parquet").exists()
    assert set(partial.table()["seed"].to_pylist()) == {10, 11, 12, 13}
    run_study(study(SMALL), "out", workers=0)
    run_study(study(SMALL), "fresh", workers=0)
    assert files("out") == files("fresh")


def test_cells_that_share_a_refusal_do_not_spoil_others(study: Read) -> None:
    found = run_study(study("experiment: toy\naxes: {law: [normal, missing]}"), "out", workers=0)
    assert found.table()["refused"].to_pylist() == [None, None, "there is no law missing"]


def test_a_bug_shows_itself(study: Read) -> None:
    with pytest.raises(KeyError, match="a mistake in the program"):
        run_study(study("experiment: toy\naxes: {law: [bug]}"), "out", workers=0)


def test_cells_of_the_same_settings_are_computed_once(study: Read) -> None:
    Path("log").mkdir()
    text = f"""\
experiment: toy
settings: {{log: {Path("log").absolute()}}}
axes: {{x: {{one: {{scale: 2}}, same: {{scale: 200%}}}}}}
"""
    table = run_study(study(text), "out", workers=0).table()
    assert table["x"].to_pylist() == ["one", "one", "same", "same"]
    assert table["value"].to_pylist()[:2] == table["value"].to_pylist()[2:]
    assert [path.read_text() for path in Path("log").iterdir()] == ["x"]


def test_table_does_not_depend_on_the_chunks() -> None:
    """Any division into chunks, in any order and with repetitions, gives the same table."""
    rng = np.random.default_rng(3)
    keys = [f"k{n}" for n in range(9)]
    outcomes: list[Any] = [
        DataError("no"),
        [{"b": 1, "a": None}],
        [{"z": "t", "b": 2.5}, {"y": True}],
        [],
        *([{"a": float(n), "b": n}] for n in range(5)),
    ]
    grid = pa.table({"n": list(range(9)), "cell": keys})
    whole, missing = part_table(grid, [chunk_table(zip(keys, outcomes, strict=True))])
    assert missing == 0
    assert whole.column_names == ["n", "cell", "refused", "b", "z", "y", "a"]
    assert whole["n"].to_pylist() == [0, 1, 2, 2, 3, 4, 5, 6, 7, 8]
    for _ in range(30):
        chunks = []
        for part in np.array_split(rng.permutation(9), rng.integers(1, 9)):
            chunks.append([(keys[k], outcomes[k]) for k in np.sort(part)])
        chunks.append(chunks[0])
        again, _ = part_table(grid, [chunk_table(chunk) for chunk in chunks])
        assert again.equals(whole)
        assert again.schema.equals(whole.schema)


def test_columns_of_numbers_and_text_are_rejected() -> None:
    with pytest.raises(DataError, match="column a holds values of several types"):
        chunk_table([("k", [{"a": 1}, {"a": "x"}])])


def test_labels_of_axes_as_columns(study: Read) -> None:
    part = study("experiment: toy\naxes: {scale: [1, 2.5, 5%], n: [1, 2], law: ['1', a]}").part()
    table = grid_table(list(part.axes), part.cells)
    assert [str(t) for t in table.schema.types] == ["string", "int64", "string", "string"]
    assert table["scale"].to_pylist()[::4] == ["1", "2.5", "5%"]


def test_folders_that_are_something_else(study: Read) -> None:
    Path("other").mkdir()
    Path("other/file").touch()
    with pytest.raises(DataError, match="this exists and is not the result of a study"):
        run_study(study(SMALL), "other", workers=0)
    with pytest.raises(DataError, match="this is not the result of a study"):
        load_study_result("other")


def test_what_a_killed_process_leaves_does_not_block(
    study: Read, caplog: pytest.LogCaptureFixture
) -> None:
    """Killed before provenance.json, before the cells, and before the first one was done."""
    run_study(study(SMALL), "whole", workers=0)
    Path("out").mkdir()
    for name in (".lock", f"{TOKEN}{'0' * 32}", place_beside(Path("provenance.json")).name):
        Path("out", name).touch()
    run_study(study(SMALL), "out", workers=0)
    assert files("out") == files("whole")
    assert not list(Path("out").rglob(".*"))
    shutil.rmtree("out/cells")
    run_study(study(SMALL), "out", workers=0)
    assert files("out") == files("whole")
    for path in [*Path("out/cells/results").iterdir(), Path("out/results.parquet")]:
        path.unlink()
    assert len(load_study_result("out").table()) == 0
    assert "out: part results: 12 of 12 cells are missing; run the study to its end" in caplog.text


def damage(path: Path, n: int, *, cut: bool) -> None:
    """Cut a file after n bytes, or flip a bit of the next one."""
    data = path.read_bytes()
    path.write_bytes(data[:n] + (b"" if cut else bytes([data[n] ^ 1 << n % 8]) + data[n + 1 :]))


@pytest.mark.slow
@pytest.mark.parametrize("cut", [False, True])
def test_every_damage_of_a_table_is_noticed(tmp_path: Path, cut: bool) -> None:
    """But of the mark that a hash follows: without it, the same table has none."""
    words = pa.array([None, "no", "", "no"])
    table = pa.table({"cell": ["a", "b", "c", "d"], "refused": words, "x": [0.5, 1.0, None, -2.0]})
    path = tmp_path / "a.parquet"
    _write_table(path, table)
    assert pq.read_table(path).equals(table)  # as others read it
    data, unnoticed = path.read_bytes(), 0
    for n in range(len(data)):
        path.write_bytes(data)
        damage(path, n, cut=cut)
        with suppress(DataError):
            assert read_table(path).equals(table)
            unnoticed += 1
    assert unnoticed == (0 if cut else len("SHA-256:"))


@pytest.mark.parametrize("place", [0.0, 0.1, 0.3, 0.5, 0.8, 0.999])
@pytest.mark.parametrize("cut", [False, True])
def test_damaged_cells_are_computed_again(
    study: Read, caplog: pytest.LogCaptureFixture, place: float, cut: bool
) -> None:
    """Others are kept. Until then nobody uses what is damaged."""
    Path("log").mkdir()
    small = study(SMALL + f"settings: {{log: {Path('log').absolute()}}}\n")
    asked = iter([False] * 4 + [True] * 100)
    with pytest.raises(MechidError, match="stopped at 4"):
        run_study(small, "out", workers=0, stop=lambda: next(asked))
    (cells,) = Path("out/cells/results").iterdir()
    found = run_study(small, "out", workers=0)
    before = {path: path.read_bytes() for path in Path("out").rglob("*.parquet")}
    for path, read in (
        (Path("out/cells/results.parquet"), found.status),
        (Path("out/results.parquet"), found.table),
        (cells, found.status),
    ):
        whole = path.read_bytes()
        damage(path, int(place * len(whole)), cut=cut)
        with pytest.raises(DataError, match=rf"^{path}: .*; run the study again"):
            read()
        if path != cells:
            path.write_bytes(whole)
    run_study(small, "out", workers=0)
    assert {path: path.read_bytes() for path in Path("out").rglob("*.parquet")} == before
    assert caplog.messages == [
        f"out: files of cells that are damaged, and computed again: 1 ({cells.name})"
    ]
    assert sorted(path.read_text() for path in Path("log").iterdir()) == ["x"] * 8 + ["xx"] * 4


def test_one_process_at_a_time(study: Read) -> None:
    Path("out").mkdir()
    with (
        locked(Path("out")),
        pytest.raises(DataError, match="another process is writing this folder"),
    ):
        run_study(study(SMALL), "out", workers=0)


def test_other_versions_are_not_mixed(study: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    run_study(study(SMALL), "out", workers=0)
    path = Path("out/provenance.json")
    path.write_text(path.read_text().replace('"mechid": "', '"mechid": "9'))
    with pytest.raises(DataError, match=r"the folder was computed with mechid 9.*--force"):
        run_study(study(SMALL), "out", workers=0)
    run_study(study(SMALL), "out", workers=0, force=True)
    run_study(study(SMALL), "fresh", workers=0)
    assert files("out") == files("fresh")


def test_workers_of_another_version_are_rejected() -> None:
    task = work.Task("p", "toy_experiment", (), (), ".", "", {"numpy": "0.1"})
    with pytest.raises(DataError, match=r"a worker has numpy .*, this process has 0.1"):
        work.work(task)


def test_workers_that_do_not_see_the_folder_return_rows() -> None:
    from toy_experiment import Settings

    task = work.Task("p", "toy_experiment", ("k",), (Settings(),), "/nowhere", "token", {})
    (rows,) = work.work(task)
    assert rows["cell"].to_pylist() == ["k", "k"]


def test_ways_to_run_exclude_each_other(study: Read) -> None:
    with pytest.raises(DataError, match="workers and scheduler exclude each other"):
        run_study(study(SMALL), "out", workers=1, scheduler="tcp://x:1")
    with pytest.raises(DataError, match="workers must be ≥ 0, got -1"):
        run_study(study(SMALL), "out", workers=-1)


@pytest.mark.parametrize(("workers", "most"), [(0, 100), (1, 25), (2, 13), (50, 1)])
def test_tasks_are_small_and_whole(workers: int, most: int) -> None:
    from mechid.studies.plan import divide

    together = [[(g, k) for k in range(size)] for g, size in enumerate((1, 2, 60, 7, 30))]
    tasks = divide(together, 100, workers)  # type: ignore[arg-type]
    assert max(map(len, tasks)) <= most
    assert Counter(c for t in tasks for c in t) == Counter(c for g in together for c in g)
    for task in tasks:  # those that share work are neighbours
        seen = [g for g, _ in task]
        assert seen == sorted(seen)
