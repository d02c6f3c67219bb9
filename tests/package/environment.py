"""An environment with the wheel in it, and nothing of the source tree."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.package.build import ROOT

PYTHONS = ["3.11", "3.12", "3.13"]
VERSIONS = ["lowest", "newest"]
EXTRAS = "[mdf,mesh,ros,studio,study,xlsx]"
LOWEST = ROOT / "constraints-lowest.txt"


def environment(place: Path, python: str) -> None:
    """Make an empty one."""
    shutil.rmtree(place, ignore_errors=True)
    interpreter = shutil.which(f"python{python}")
    if interpreter is None:
        raise SystemExit(f"there is no python{python} on the path; choose others with --python")
    _run(interpreter, "-m", "venv", str(place / "venv"))


def install(place: Path, versions: str, wheel: Path, extras: str = "") -> None:
    """Install a wheel, and what it needs in the lowest or the newest versions; binaries only.

    `uv` is used where it is on the path: it takes seconds where pip takes a minute.
    """
    limits = ["-c", str(LOWEST)] if versions == "lowest" else []
    wanted = [*limits, "--only-binary", ":all:", f"{wheel}{extras}"]
    if shutil.which("uv"):
        _run("uv", "pip", "install", "--python", _python(place), *wanted)
    else:
        _run(_python(place), "-m", "pip", "install", *wanted)


def installed(place: Path) -> dict[str, Any]:
    """Return the version of Python, and those of the installed packages."""
    found = json.loads(_run(_python(place), "-m", "pip", "list", "--format", "json"))
    exact = _run(_python(place), "-c", "import platform; print(platform.python_version())")
    return {
        "exact_python": exact.strip(),
        "installed": {entry["name"]: entry["version"] for entry in found},
    }


def _python(place: Path) -> str:
    return str(place / "venv" / "bin" / "python")


def clean() -> dict[str, str]:
    """Return the variables of an environment without anything of the source tree.

    Where compiled kernels are kept may be given: they need not be compiled for every trial.
    """
    dropped = ("PYTHON", "MECHID_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(dropped) or "CACHE" in k}
    return kept | {"OPENBLAS_NUM_THREADS": "1"}


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, env=clean())
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout
