"""Every format: written with its library, read back as the same channels."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import scipy.io
from asammdf import MDF, Signal

from mechid.errors import DataError
from mechid.measurementfile import read_measurement
from mechid.measurementfile.channels import read_channels

from .logs import FIVE_BAR, MAPPING, T, channels, log, truth


def write_csv(folder: Path) -> Path:
    return log(folder)


def write_parquet(folder: Path) -> Path:
    return log(folder, name="log.parquet")


def write_mat(folder: Path) -> Path:
    scipy.io.savemat(folder / "log.mat", channels())
    return folder / "log.mat"


def write_mat73(folder: Path) -> Path:
    # As MATLAB does: an HDF5 file with a block of 512 bytes before it, row vectors as columns.
    path = folder / "log.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in channels().items():
            file.create_dataset(name, data=values[:, None]).attrs["MATLAB_class"] = b"double"
        text = file.create_dataset("comment", data=np.array([[72], [105]], dtype=np.uint16))
        text.attrs["MATLAB_class"] = b"char"
    head = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM"
    with path.open("r+b") as raw:
        raw.write(head)
    return path


def write_hdf5(folder: Path) -> Path:
    with h5py.File(folder / "log.h5", "w") as file:
        for name, values in channels().items():
            file[name] = values
    return folder / "log.h5"


def write_mdf(folder: Path) -> Path:
    path = folder / "log.mf4"
    with MDF() as file:
        file.append([Signal(samples=v, timestamps=T, name=n) for n, v in channels().items()])
        file.save(path, overwrite=True)
    return path


WRITERS = {f.__name__: f for f in (write_csv, write_parquet, write_mat, write_mat73, write_hdf5,
                                   write_mdf)}  # fmt: skip


@pytest.mark.parametrize("writer", WRITERS)
def test_round_trip(writer: str, tmp_path: Path) -> None:
    path = WRITERS[writer](tmp_path)
    found = read_channels(path)
    for name, values in channels().items():
        assert found.get(name).values == pytest.approx(values, abs=1e-12)
    m = read_measurement(path, FIVE_BAR, MAPPING)
    true = truth()
    assert m.time == pytest.approx(T, abs=1e-12)
    assert m.names == ("q1", "q2")
    assert m.forces == ("M1", "M2")
    assert m.y == pytest.approx(np.stack([true["q1"], true["q2"]], axis=1), abs=1e-12)
    assert m.tau == pytest.approx(np.stack([true["M1"], true["M2"]], axis=1), abs=1e-12)
    assert m.valid.all()
    assert m.rate == pytest.approx(200.0)


def test_structures_and_matrices_of_matlab(tmp_path: Path) -> None:
    c = channels()
    data = {"bench": {"t": c["t_ms"], "enc": np.stack([c["enc1"], c["enc2"]], axis=1)},
            "label": "a run", "load": np.stack([c["load1"], c["load2"]], axis=1)}  # fmt: skip
    scipy.io.savemat(tmp_path / "log.mat", data)
    found = read_channels(tmp_path / "log.mat")
    assert set(found.channels) == {"bench.t", "bench.enc[1]", "bench.enc[2]", "load[1]", "load[2]"}
    assert found.get("bench.enc[2]").values == pytest.approx(c["enc2"])


def test_groups_units_and_records_of_hdf5(tmp_path: Path) -> None:
    true = truth()
    with h5py.File(tmp_path / "log.hdf5", "w") as file:
        file["run/time"] = T
        for name in ("q1", "q2"):
            file[f"run/{name}"] = np.rad2deg(true[name])
            file[f"run/{name}"].attrs["unit"] = "deg"
        both = np.zeros(len(T), dtype=[("M1", float), ("M2", float)])
        both["M1"], both["M2"] = true["M1"], true["M2"]
        file["force"] = both
        file["force"].attrs["units"] = b"N m"
    mapping = {
        "time": "run/time",
        "positions": {"q1": "run/q1", "q2": "run/q2"},
        "forces": {"M1": "force.M1", "M2": "force.M2"},
    }
    m = read_measurement(tmp_path / "log.hdf5", FIVE_BAR, mapping)
    assert m.y[:, 0] == pytest.approx(true["q1"], abs=1e-12)
    assert m.tau[:, 1] == pytest.approx(true["M2"], abs=1e-12)


def virtual(file: h5py.File, secret: Path) -> None:
    layout = h5py.VirtualLayout((3,), float)
    layout[:] = h5py.VirtualSource(secret, "s", (3,))
    file.create_virtual_dataset("run/x", layout)


def virtual_through_a_link(file: h5py.File, secret: Path) -> None:
    file["run/e"] = h5py.ExternalLink(secret, "/")
    layout = h5py.VirtualLayout((3,), float)
    layout[:] = h5py.VirtualSource(".", "/run/e/s", (3,))
    file.create_virtual_dataset("run/x", layout)


def linked(file: h5py.File, secret: Path) -> None:
    file["run/x"] = h5py.ExternalLink(secret, "s")


def linked_softly(file: h5py.File, secret: Path) -> None:
    file["run/e"] = h5py.ExternalLink(secret, "/")
    file["x"] = h5py.SoftLink("/run/e/s")


def stored_elsewhere(file: h5py.File, secret: Path) -> None:
    offset = secret.read_bytes().index(np.array([7.0, 8.0, 9.0]).tobytes())
    file.create_dataset("run/x", (3,), float, external=[(str(secret), offset, 24)])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["log.h5", "log.mat"])
@pytest.mark.parametrize(
    "outside", [virtual, virtual_through_a_link, linked, linked_softly, stored_elsewhere]
)
def test_hdf5_files_bring_no_data_of_other_files(
    outside: Callable[[h5py.File, Path], None], name: str, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["s"] = [7.0, 8.0, 9.0]
    place = tmp_path / "folder"
    place.mkdir()
    with h5py.File(place / name, "w") as file:
        file["y"] = [1.0, 2.0, 3.0]
        outside(file, secret)
        reached = "x" if "x" in file else "run/x"
        assert file[reached][()].tolist() == [7.0, 8.0, 9.0]  # as h5py would read it
    with pytest.raises(DataError, match=r"run/[ex] lies in another file; copy its values"):
        read_channels(place / name)


def test_links_inside_an_hdf5_file_do_no_harm(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "log.h5", "w") as file:
        file["y"] = [1.0, 2.0, 3.0]
        file["also"] = h5py.SoftLink("/y")
        file["nothing"] = h5py.SoftLink("/z")
    assert read_channels(tmp_path / "log.h5").get("y").values.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.slow
def test_groups_of_an_mdf_file_come_to_one_time_base(tmp_path: Path) -> None:
    true = truth()
    slow = np.arange(0.0005, 4.99, 0.01)  # forces at 100 Hz, shifted

    def at(name: str) -> np.ndarray:
        w = 2 * np.pi
        return 2.0 * np.sin(3 * w * slow) if name == "M1" else np.cos(2 * w * slow)

    with MDF() as file:
        file.append([Signal(samples=np.rad2deg(true[n]), timestamps=T, name=n, unit="deg")
                     for n in ("q1", "q2")])  # fmt: skip
        file.append([Signal(samples=at(n), timestamps=slow, name=n, unit="Nm")
                     for n in ("M1", "M2")])  # fmt: skip
        file.append([Signal(samples=slow, timestamps=slow, name="q1")])
        file.save(tmp_path / "log.mf4")
    found = read_channels(tmp_path / "log.mf4")
    assert {"q1@0", "q1@2", "q2", "M1", "M2"} <= set(found.channels)
    mapping = {"positions": {"q1": "q1@0", "q2": "q2"}, "forces": {"M1": "M1", "M2": "M2"}}
    m = read_measurement(tmp_path / "log.mf4", FIVE_BAR, mapping)
    assert any("interpolated at the times of q1@0: M1, M2" in note for note in m.notes)
    assert m.time[0] == pytest.approx(0.005)
    assert m.y[:, 0] == pytest.approx(0.3 * np.sin(2 * np.pi * m.time), abs=1e-12)
    # A cubic spline of steps h: h⁴/384 of the fourth derivative, (6π)⁴ 2.
    bound = 0.01**4 / 384 * (6 * np.pi) ** 4 * 2
    inner = slice(10, -10)
    assert m.tau[inner, 0] == pytest.approx(2 * np.sin(6 * np.pi * m.time[inner]), abs=2 * bound)


def test_without_asammdf_the_message_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "log.mf4").write_bytes(b"MDF     4.10")
    monkeypatch.setitem(sys.modules, "asammdf", None)
    with pytest.raises(DataError, match=r'needs the package asammdf; .*"mechid\[mdf\]"'):
        read_channels(tmp_path / "log.mf4")


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("log.mat", "not a MAT file"),
        ("log.h5", "not an HDF5 file"),
        ("log.mf4", "not an MDF file"),
        ("log.xls", "unknown file type .xls"),
        ("log.parquet", "not a .parquet table"),
    ],
)
def test_files_that_are_something_else(name: str, what: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"something else entirely, and long enough for any header" * 9)
    with pytest.raises(DataError, match=what) as refused:
        read_channels(tmp_path / name)
    assert str(tmp_path / name) in str(refused.value)


def test_no_file_and_no_numbers(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        read_channels(tmp_path / "log.mat")
    data: dict[str, Any] = {"word": "nothing"}
    scipy.io.savemat(tmp_path / "log.mat", data)
    with pytest.raises(DataError, match="the file has no numeric channels"):
        read_channels(tmp_path / "log.mat")
