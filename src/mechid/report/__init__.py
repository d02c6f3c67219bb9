"""One HTML page that tells what a run used, did and found."""

from mechid.report.write import render_report, write_report

__all__ = ["render_report", "write_report"]
