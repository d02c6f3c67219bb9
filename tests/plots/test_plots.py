"""Plots: the files are what they should be, and odd data break nothing."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from scipy.spatial.distance import pdist

import mechid
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.simulate import simulate
from mechid.dynamics.simulation import simulated_motion
from mechid.errors import DataError
from mechid.modelfile import load
from mechid.plots import Panel, inverse_panels, save_plot, simulation_panels
from mechid.plots.picture import paper
from mechid.reduction.contribution import Contribution

T = np.linspace(0.0, 1.0, 11)
PANELS = [
    Panel("angle / rad", T, {"a": np.sin(T), "b": np.cos(T)}, title="two"),
    Panel("error / m", T, {"": 10.0 ** (-6 * T)}, log=True),
]


def test_png_and_svg_and_html(tmp_path):
    assert save_plot(tmp_path / "p.png", PANELS).read_bytes().startswith(b"\x89PNG")
    svg = save_plot(tmp_path / "p.svg", PANELS, "title").read_text()
    assert ET.fromstring(svg).tag.endswith("svg")
    page = save_plot(tmp_path / "p.html", PANELS, "a <b> & c").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "<title>a &lt;b&gt; &amp; c</title>" in page
    assert not re.search(r'(src|href)="https?:', page)


def test_the_same_plot_is_the_same_file(tmp_path):
    first = save_plot(tmp_path / "a.svg", PANELS).read_text()
    assert first == save_plot(tmp_path / "b.svg", PANELS).read_text()


@pytest.mark.parametrize(
    "values",
    [np.zeros(11), np.full(11, np.nan), np.full(11, 1e-300), np.r_[0.0, np.full(10, 1e-16)]],
)
def test_odd_values_on_a_log_axis(tmp_path, values):
    save_plot(tmp_path / "p.svg", [Panel("error", T, {"x": values}, log=True)])


def test_one_sample_and_many_curves(tmp_path):
    save_plot(tmp_path / "p.png", [Panel("y", T[:1], {"y": T[:1]})])
    save_plot(tmp_path / "p.png", [Panel("y", T, {f"c{k}": T + k for k in range(25)})])


def test_refused(tmp_path):
    with pytest.raises(DataError, match=r"\.png, \.svg or \.html"):
        save_plot(tmp_path / "p.pdf", PANELS)
    with pytest.raises(DataError, match="cannot write"):
        save_plot(tmp_path / "missing" / "p.png", PANELS)


def test_panels_of_a_simulation():
    s = simulate(load("quarter_vehicle"), np.linspace(0, 0.1, 6), forces=np.array([100.0, 0.0]))
    panels = {panel.label: panel for panel in simulation_panels(s)}
    assert set(panels) == {"z / m", "spin / rad", "F_z / N", "energy / J", "constraint error / m"}
    assert set(panels["energy / J"].curves) == {
        "kinetic", "potential", "sum", "work", "dissipated"}  # fmt: skip
    np.testing.assert_array_equal(panels["F_z / N"].curves["F_z"], 100.0)


def test_panels_of_inverse_dynamics():
    s = simulate(load("quarter_vehicle"), np.linspace(0, 0.1, 6))
    labels = [p.label for p in inverse_panels(inverse_dynamics(simulated_motion(s)))]
    assert labels == ["F_z / N", "M_spin / N m"]


@pytest.mark.parametrize("up", [(0.0, 0.0, 1.0), (0.0, 1.0, 0.0)])
def test_a_plane_is_drawn_true_to_size(up):
    """Points of an upright plane keep their distances on paper, and up stays up."""
    rng = np.random.default_rng(0)
    flat = rng.standard_normal((8, 2)) @ np.array([[0.8, 0.0, 0.0], up])
    view = paper(flat, np.array(up))
    seen = flat @ view.T
    np.testing.assert_allclose(pdist(seen), pdist(flat))
    np.testing.assert_allclose(view @ up, [0.0, 1.0], atol=1e-12)


def test_a_view_of_space_is_a_projection_with_up_upwards():
    rng = np.random.default_rng(0)
    up = np.array([0.0, 0.6, 0.8])
    view = paper(rng.standard_normal((8, 3)), up)
    np.testing.assert_allclose(view @ view.T, np.eye(2), atol=1e-12)
    assert abs(view[0] @ up) < 1e-12
    assert view[1] @ up > 0.5


def test_records_draw_their_numbers():
    motion = mechid.solve_motion(load("pendulum"), np.linspace(0, 1, 7)[:, None], time=T[:7])
    figure = motion.plot()
    assert [ax.get_ylabel() for ax in figure.axes] == [
        "angle / rad", "angle.d / (rad/s)", "angle.dd / (rad/s²)"]  # fmt: skip
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), motion.y[:, 0])
    assert figure._repr_svg_().startswith("<svg")
    found = inverse_dynamics(motion, reactions=True)
    curve = found.reactions.plot().axes[0].lines[0].get_ydata()
    np.testing.assert_allclose(curve, np.linalg.norm(found.reactions.force[:, 0], axis=1))


def test_without_times_samples_are_counted():
    motion = mechid.solve_motion(load("pendulum"), np.linspace(0, 1, 7)[:, None])
    assert motion.plot().axes[-1].get_xlabel() == "sample"


def test_bars_are_sorted_and_limited():
    index = np.arange(60.0)
    names = tuple(f"p{k}" for k in range(60))
    axes = Contribution(names, index[None]).plot().axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == list(names[:-41:-1])
    assert [bar.get_width() for bar in axes.patches] == list(index[:-41:-1])
