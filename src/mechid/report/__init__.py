"""One HTML page that tells what a run used, did and found."""

from mechid.report.compare import render_comparison, write_comparison
from mechid.report.page import render_report, write_report

__all__ = ["render_comparison", "render_report", "write_comparison", "write_report"]
