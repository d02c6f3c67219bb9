"""What a user does with an installed mechid: the whole method on a four-bar linkage."""

from __future__ import annotations

import http.cookiejar
import json
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.package.environment import clean

# Every public name, so that all of mechid is imported. Warnings that mechid causes are errors,
# those of libraries about each other (an old Matplotlib about a new pyparsing) are not.
_IMPORTS = r"""
import warnings
import mechid
warnings.filterwarnings("error", module=r"mechid(\..*)?$")
for name in mechid.__all__:
    getattr(mechid, name)
"""
_EXPORTS = (
    ("--to", "fmu", "model.fmu"), ("--to", "c", "model.c"), ("--to", "python", "model.py"),
    ("--to", "latex", "model.tex"), ("--to", "model", "model.yaml"),
    ("--to", "mjcf", "model.xml"), ("--to", "matlab", "model.m"),
)  # fmt: skip
_MOTION = ("--random", "2", "--starts", "0", "--harmonics", "2")
_STUDY = """
title: Base parameters of the linkage
experiment: rank
settings: {model: linkage.yaml, spectrum: false}
axes: {seconds: [1, 2]}
"""
_ALONE: tuple[tuple[str, ...], ...] = (
    ("--help",),
    ("zoo", "four_bar", "-o", "linkage.yaml"),
    ("check", "linkage.yaml", "--json"),
    ("schema",),
    ("base", "linkage.yaml", "--certify", "--certificate", "proof.json"),
    ("verify-certificate", "proof.json"),
    ("excite", "linkage.yaml", *_MOTION, "-o", "motion.yaml"),
    ("excite", "linkage.yaml", *_MOTION, "--seed", "1", "-o", "other.yaml"),
    ("synthesise", "linkage.yaml", "motion.yaml", "--noise", "2%", "--cad-error", "10%",
     "-o", "data.parquet"),
    ("synthesise", "linkage.yaml", "other.yaml", "--noise", "2%",
     "--truth", "data.parquet.truth.json", "-o", "other.csv"),
    ("measurement", "linkage.yaml", "other.csv", "-o", "prepared.parquet"),
    ("identify", "linkage.yaml", "data.parquet", "-o", "run"),
    ("validate", "run", "other.csv"),
    ("reduce", "run", "--by", "contribution", "-o", "smaller"),
    ("predict", "run", "other.yaml", "-o", "forces.csv"),
    ("report", "run"),
    *(("export", "run", *to, "-o", file) for *to, file in _EXPORTS),
    ("view", "linkage.yaml", "-o", "view.html"),
    ("simulate", "linkage.yaml", "--t-end", "0.2", "-o", "simulated.csv"),
    ("inverse", "linkage.yaml", "motion.yaml", "-o", "inverse.csv"),
    ("study", "list"),
    ("study", "plan", "mobility", "--quick"),
    ("study", "run", "study.yaml", "-o", "study", "--workers", "0"),
    ("study", "table", "study"),
)  # fmt: skip
# What needs an extra.
_WITH_EXTRAS: tuple[tuple[str, ...], ...] = (
    ("template", "four-bar", "-o", "spreadsheet"),
    ("fill", "spreadsheet/model.yaml", "spreadsheet/hardpoints.xlsx", "-o", "filled.yaml"),
    ("export", "run", "--to", "xlsx", "-o", "model.xlsx"),
    ("study", "run", "study.yaml", "-o", "parallel", "--workers", "2"),
)


def use(place: Path, extras: Callable[[], object], *, quick: bool = False) -> dict[str, Any]:
    """Run every step in a new folder; return their status and seconds, and the estimate.

    What needs no extra is done before `extras` installs them: so a package that is missing in the
    dependencies is missed here. The quick size leaves out what compiles kernels.
    """
    work = place / "work"
    work.mkdir()
    (work / "study.yaml").write_text(_STUDY, "utf-8")
    python, mechid = (str(place / "venv" / "bin" / name) for name in ("python", "mechid"))
    steps = [
        _step(
            "import mechid, every warning an error",
            work,
            [python, "-W", "error", "-c", "import mechid"],
        ),
        *(
            _step(_name(command), work, [mechid, *command])
            for command in _ALONE
            if not quick or _is_quick(command)
        ),
    ]
    extras()
    steps += [
        _step("import all of mechid", work, [python, "-c", _IMPORTS]),
        *(
            _step(_name(command), work, [mechid, *command])
            for command in _WITH_EXTRAS
            if not quick or _is_quick(command)
        ),
        _studio(work, mechid),
    ]
    run = work / "run" / "estimate.json"
    estimate = json.loads(run.read_text()) if run.exists() else {}
    return {"steps": steps, "estimate": {key: estimate.get(key) for key in ("values", "sigma")}}


def _is_quick(command: tuple[str, ...]) -> bool:
    return command[0] in {"--help", "zoo", "schema", "template"} or command[1] == "list"


def _name(command: tuple[str, ...]) -> str:
    """Return the words of a command that tell it from others."""
    if command[0] == "export":
        return f"export --to {command[3]}"
    return " ".join(command[:2]) if command[0] == "study" else command[0]


def difference(one: dict[str, Any], other: dict[str, Any]) -> float:
    """Return the largest difference of two estimates of the same data, in standard deviations."""
    pairs = zip(one["values"], other["values"], other["sigma"], strict=True)
    return max(abs(a - b) / sigma for a, b, sigma in pairs)


def _step(name: str, work: Path, command: list[str]) -> dict[str, Any]:
    started = time.monotonic()
    done = subprocess.run(
        command, cwd=work, env=clean(), capture_output=True, text=True, timeout=900
    )
    failed = done.returncode or int("Traceback" in done.stderr or "Warning:" in done.stderr)
    found = {"name": name, "status": failed, "seconds": round(time.monotonic() - started, 1)}
    return found | ({"stderr": done.stderr[-2000:]} if failed else {})


def _studio(work: Path, mechid: str) -> dict[str, Any]:
    """Start the studio, open its page as a browser does, and end it."""
    started = time.monotonic()
    command = [mechid, "studio", ".", "--no-browser", "--json"]
    server = subprocess.Popen(command, cwd=work, env=clean(), text=True, stdout=subprocess.PIPE)
    try:
        assert server.stdout is not None
        address = json.loads(server.stdout.readline())["address"]
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        with urllib.request.build_opener(cookies).open(address, timeout=60) as answer:
            page = answer.read().decode()
        status = int("<html" not in page)
    finally:
        server.terminate()
        server.wait(30)
    return {"name": "studio", "status": status, "seconds": round(time.monotonic() - started, 1)}
