"""Plots: the files are what they should be, and odd data break nothing."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.simulate import simulate
from mechid.dynamics.trajectory import simulated_motion
from mechid.errors import DataError
from mechid.modelfile import load
from mechid.plots import Panel, inverse_panels, save_plot, simulation_panels

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
