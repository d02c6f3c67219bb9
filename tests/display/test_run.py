"""Figures, tables and HTML of a run."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

import mechid
from mechid.errors import DataError
from mechid.plots.identification import coverage


def test_table_of_parameters(run: mechid.Run) -> None:
    table = run.to_frame()
    assert list(table.index) == list(run.parameters.names)
    kept = table[table.source != "out"]
    np.testing.assert_allclose(kept.z, (kept.value - kept.truth) / kept.sigma)
    assert len(kept) == run.reduction.size.size


def test_table_of_errors_is_that_of_the_forces(run: mechid.Run) -> None:
    """E_p follows from the time histories, too."""
    table = mechid.Validation(run, ("validation-1",)).to_frame()
    reduced = table[table.model == "reduced"].set_index("force").E_p
    history = run.forces[1].to_frame()
    for force in run.forces[1].forces:
        e = history[f"{force}.predicted"] - history[f"{force}.measured"]
        expected = np.linalg.norm(e) / np.linalg.norm(history[f"{force}.measured"])
        np.testing.assert_allclose(reduced[force], expected)


def test_forces_are_drawn_with_residuals_and_intervals(run: mechid.Run) -> None:
    axes = run.plot().axes
    assert [ax.get_ylabel() for ax in axes] == ["M1 / N m", "residual / N m", "M2 / N m", "residual / N m"]  # fmt: skip # noqa: E501
    history = run.forces[1]
    np.testing.assert_array_equal(axes[0].lines[0].get_ydata(), history.predicted[:, 0])
    corners = axes[1].collections[0].get_paths()[0].vertices
    np.testing.assert_allclose(corners[:, 1].max(), norm.ppf(0.975) * history.total[:, 0].max())


def test_a_prediction_is_drawn_with_its_interval(run: mechid.Run) -> None:
    found = mechid.predict(run, mechid.excite(run.mechanism, random=2, starts=0, seed=4))
    axes = found.plot().axes
    assert len(axes) == 2  # one panel per force
    corners = axes[0].collections[0].get_paths()[0].vertices
    np.testing.assert_allclose(corners[:, 1].max(), found.interval()[1][:, 0].max())


@pytest.mark.parametrize("what", ["motion", "contribution", "reduction", "coverage"])
def test_other_figures(run: mechid.Run, what: str) -> None:
    assert run.plot(what).axes


def test_what_a_run_does_not_have_is_said(run: mechid.Run) -> None:
    with pytest.raises(DataError, match="choose one of: forces, motion"):
        run.plot("nothing")
    with pytest.raises(DataError, match="no reduction"):
        replace(run, reduction=None).plot("reduction")


def test_coverage_of_right_and_wrong_deviations(run: mechid.Run) -> None:
    """Normal errors of the stated size are covered at every level; half the size covers more."""
    rng = np.random.default_rng(3)
    shape = (20000, 2)
    still = np.zeros(shape)
    history = replace(
        run.forces[0],
        time=np.arange(shape[0], dtype=float),
        predicted=still,
        total=np.ones(shape),
        measured=rng.standard_normal(shape) * [1.0, 0.5],
    )
    levels = np.array([0.5, 0.9, 0.95])
    found = coverage(history, levels)
    np.testing.assert_allclose(found[:, 0], levels, atol=0.015)
    z = norm.ppf(0.5 + levels / 2)
    np.testing.assert_allclose(found[:, 1], 2 * norm.cdf(2 * z) - 1, atol=0.015)


@pytest.mark.slow
def test_html_has_the_tables_of_the_report(run: mechid.Run) -> None:
    text = run._repr_html_()
    assert "<h4>Parameters</h4>" in text
    assert "<h4>Validation</h4>" in text
    assert not re.search(r'(src|href)="(?!data:)', text)
    text = mechid.Validation(run, ("validation-1",))._repr_html_()
    assert "validation-1" in text
    assert "“identification”" not in text
