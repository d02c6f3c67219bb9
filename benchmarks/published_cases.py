"""Write the tables and figures of docs/reference/published-cases.md.

Run it in the repository: python benchmarks/published_cases.py [NAME ...]; names are those of the
markers in the page. It needs MuJoCo for the quarter vehicle.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: matrices here are small

import sys
from pathlib import Path

import published_linkages as linkages
import published_suspensions as suspensions
from report import replace_between

from mechid.plots import save_plot

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = DOCS / "reference" / "published-cases.md"
IMAGES = DOCS / "img"


def write_linkages() -> None:
    cases = tuple(linkages.with_torque(case) for case in linkages.CASES)
    replace_between(PAGE, "as-published", linkages.as_published(cases))
    text, kept = linkages.accurate(cases)
    replace_between(PAGE, "accurate", text)
    save_plot(IMAGES / "four_bar_1.svg", linkages.example_1(kept["I"]))
    save_plot(IMAGES / "four_bar_2.svg", linkages.example_2(cases[1], kept["II"]))
    save_plot(IMAGES / "four_bar_3.svg", linkages.example_3(cases[2], kept["III"]))
    save_plot(IMAGES / "planar_3rrr_4.svg", linkages.example_4(kept["IV"]))


def write_quarter() -> None:
    text, panels = suspensions.quarter_vehicle()
    replace_between(PAGE, "quarter-vehicle", text)
    save_plot(IMAGES / "quarter_vehicle.svg", panels)


def write_sla() -> None:
    text, panels = suspensions.pulsed("sla_suspension")
    replace_between(PAGE, "sla-suspension", text)
    save_plot(IMAGES / "sla_pulses.svg", panels)


def write_pushrod() -> None:
    text, panels = suspensions.pulsed("pushrod_suspension")
    replace_between(PAGE, "pushrod-suspension", text)
    save_plot(IMAGES / "pushrod_pulses.svg", panels)


PARTS = {
    "linkages": write_linkages,
    "quarter": write_quarter,
    "sla": write_sla,
    "pushrod": write_pushrod,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or PARTS:
        print(name, flush=True)
        PARTS[name]()
