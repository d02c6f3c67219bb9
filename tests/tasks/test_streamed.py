"""Identification from blocks of a log: the same as from all of it at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mechid
from mechid.errors import DataError
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.least_squares import OrdinaryLeastSquares, WeightedLeastSquares
from mechid.estimation.streamed import streamed_regression, streamed_triangles
from mechid.tables.blocks import table_blocks
from mechid.tasks import streamed

N = 1501


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of positions and forces with noise."""
    folder = tmp_path_factory.mktemp("log")
    motion = mechid.excite("five_bar", random=4, starts=0, harmonics=2, seed=1)
    made = mechid.synthesise(
        "five_bar", motion, rate=500.0, periods=8, noise="2%", cad_error="20%",
        position_noise=2e-5, seed=3,
    )  # fmt: skip
    m = made.measurement
    n = min(N, len(m.time))
    columns = {"time": m.time[:n]}
    columns |= {c: m.y[:n, k] for k, c in enumerate(m.names)}
    columns |= {f: m.tau[:n, k] for k, f in enumerate(m.forces)}
    for name in ("log.csv", "log.parquet"):
        mechid.write_table(folder / name, columns)
    return folder


@pytest.mark.parametrize("size", [1, 7, 64, 5000])
@pytest.mark.parametrize(
    "estimator",
    [OrdinaryLeastSquares(), WeightedLeastSquares(), MaximumAPosteriori(prior="none")],
)
def test_triangles_stand_for_all_rows(size: int, estimator: object) -> None:
    """Blocks of one sample, of odd lengths, with a short last one."""
    from mechid.estimation.regression import Regression

    rng = np.random.default_rng(5)
    n, n_d, b = 307, 2, 4
    W = rng.standard_normal((n, n_d, b)) * 10.0 ** np.arange(-3, b - 3)
    t = W @ np.array([300.0, -20.0, 1.0, 0.2]) + rng.standard_normal((n, n_d)) * [0.1, 2.0]
    names, forces = tuple("abcd"), ("F", "M")
    rows = np.concatenate([W, t[..., None]], axis=-1)
    R, count = streamed_triangles(np.split(rows, range(size, n, size)))
    assert count == n
    for j in range(n_d):
        gram = rows[:, j].T @ rows[:, j]
        scale = np.sqrt(np.outer(np.diag(gram), np.diag(gram)))
        np.testing.assert_allclose(R[j].T @ R[j] / scale, gram / scale, atol=1e-13)
    short = streamed_regression(np.split(rows, range(size, n, size)), names, forces, ("N", "N m"))
    whole = Regression(
        W, t, np.zeros((n, n_d)), np.arange(float(n)), names, forces, ("N", "N m"),
        np.ones((n, n_d), dtype=bool),
    )  # fmt: skip
    one, all_ = estimator(short), estimator(whole)  # type: ignore[operator]
    np.testing.assert_allclose(one.values, all_.values, rtol=1e-11)
    np.testing.assert_allclose(one.sigma, all_.sigma, rtol=1e-9)
    np.testing.assert_allclose(one.noise, all_.noise, rtol=1e-9)


def test_too_few_samples() -> None:
    with pytest.raises(DataError, match="3 samples are too few for 4 parameters"):
        streamed_regression([np.ones((3, 1, 5))], tuple("abcd"), ("F",), ("N",))


@pytest.mark.parametrize(("ending", "block"), [("parquet", 1), ("csv", 113), ("parquet", 100_000)])
def test_a_log_in_blocks_is_a_log(
    log: Path, ending: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the usual way with the same estimator: reading, filters, W, factors and errors."""
    monkeypatch.setattr(streamed, "_BLOCK", block)
    file = log / f"log.{ending}"
    given = {"cutoff": 25.0, "decimation": 5, "cad_error": "20%"}
    if block == 1:
        given |= {"decimation": 1}
    found = mechid.identify_streamed("five_bar", file, **given)  # type: ignore[arg-type]
    wanted = mechid.identify(
        "five_bar",
        file,
        estimator="map",
        prior="full",
        hardpoints=0.0,  # blocks are not computed again with joints elsewhere
        **given,  # type: ignore[arg-type]
    )
    assert wanted.estimate is not None
    np.testing.assert_allclose(found.estimate.values, wanted.estimate.values, rtol=1e-7)
    np.testing.assert_allclose(found.estimate.sigma, wanted.estimate.sigma, rtol=1e-6)
    (row,) = [r for r in wanted.validation if r.model == "estimate"]
    for name, error in row.forces.items():
        assert found.E_p[name] == pytest.approx(error.E_p, rel=1e-6)
    assert found.samples == len(wanted.motions[0].time) + 2 * _dropped(wanted.motions[0].notes)


def _dropped(notes: tuple[str, ...]) -> int:
    (words,) = [note for note in notes if "dropped at each end" in note]
    return int(words.split()[0])


def test_blocks_of_a_table(log: Path) -> None:
    whole = np.concatenate(list(table_blocks(log / "log.csv", ["q2", "time"])))
    for size in (1, 997, 10_000):
        parts = list(table_blocks(log / "log.parquet", ["q2", "time"], size))
        assert max(map(len, parts)) <= size
        assert np.array_equal(np.concatenate(parts), whole)


def test_reading_blocks_does_not_hold_the_file(tmp_path: Path) -> None:
    """16 MB in 20 groups of rows: what Arrow holds at any time is about one of them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(7)
    columns = pa.table({"a": rng.random(1_000_000), "b": rng.random(1_000_000)})
    pq.write_table(columns, tmp_path / "long.parquet", row_group_size=50_000)
    del columns
    before = pa.total_allocated_bytes()
    blocks = table_blocks(tmp_path / "long.parquet", ["a", "b"], 10_000)
    held = max(pa.total_allocated_bytes() for _ in blocks)
    assert held - before < 4e6


def test_what_is_refused(log: Path, tmp_path: Path) -> None:
    file = log / "log.csv"
    with pytest.raises(DataError, match="needs all samples at once"):
        mechid.identify_streamed("five_bar", file, estimator="auto")
    mechid.write_table(tmp_path / "a.csv", {"time": [0.0, 1.0], "x": [0.0, 1.0]})
    with pytest.raises(DataError, match="there is no column q1"):
        mechid.identify_streamed("five_bar", tmp_path / "a.csv")
    table = np.genfromtxt(file, delimiter=",", names=True)
    columns = {name: np.delete(table[name], 100) for name in table.dtype.names or ()}
    mechid.write_table(tmp_path / "b.csv", columns)
    with pytest.raises(DataError, match="the rate is not constant near"):
        mechid.identify_streamed("five_bar", tmp_path / "b.csv")
    columns["q1"][50] = np.nan
    mechid.write_table(tmp_path / "c.csv", columns)
    with pytest.raises(DataError, match=r"missing.*row 51, column q1|rate"):
        mechid.identify_streamed("five_bar", tmp_path / "c.csv")
