"""Static line plots, written as PNG, SVG or HTML."""

from mechid.plots.figures import inverse_panels, simulation_panels
from mechid.plots.panels import Panel, check_plot_path, save_plot

__all__ = ["Panel", "check_plot_path", "inverse_panels", "save_plot", "simulation_panels"]
