"""What each command loads: heavy libraries only where they are used, so that it starts at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mechid

# Libraries that take long to load.
HEAVY = (
    "asammdf",
    "clarabel",
    "flint",
    "h5py",
    "jinja2",
    "latex2mathml",
    "llvmlite",
    "matplotlib",
    "numba",
    "pyarrow",
    "scipy.integrate",
    "scipy.interpolate",
    "scipy.linalg",
    "scipy.optimize",
    "scipy.signal",
    "scipy.stats",
    "sksundae",
    "sympy",
)
KERNELS = {"numba", "llvmlite", "scipy.linalg"}
EXACT = KERNELS | {"sympy", "flint"}  # transfers of inertia in symbols, bounds in ball arithmetic
TABLES = {"pyarrow"}  # CSV and Parquet
# Filters and spectra of measured signals; scipy.signal loads the others of SciPy.
SIGNALS = {
    "scipy.integrate", "scipy.interpolate", "scipy.optimize", "scipy.signal", "scipy.stats",
}  # fmt: skip

# In this order: later commands read what earlier ones wrote.
COMMANDS = {
    "--help": set(),
    "zoo": set(),
    "schema": set(),
    "check four_bar": set(),  # a few poses, for which nothing is compiled
    "check sla_suspension": set(),
    "view four_bar -o view.html": KERNELS,
    "excite five_bar --random 2 --starts 0 -o motion.yaml": EXACT,
    "kinematics five_bar motion.yaml": KERNELS,
    "kinematics five_bar motion.yaml -o out.csv": KERNELS | TABLES,
    "inverse five_bar motion.yaml -o forces.csv": KERNELS | TABLES,
    # The classes of its integrators stand in modules with others that take optimisers.
    "simulate four_bar@example-1 --t-end 0.01": KERNELS | {"scipy.integrate", "scipy.optimize"},
    "base four_bar --certificate four_bar.json": EXACT,
    "verify-certificate four_bar.json": EXACT,
    "synthesise five_bar motion.yaml --noise 5% -o data.parquet": KERNELS | TABLES,
    "measurement five_bar data.parquet": KERNELS | TABLES | SIGNALS,
    # All parameters of the bodies, of which the nearest to CAD values are not possible ones.
    "identify five_bar data.parquet -o run": EXACT | TABLES | SIGNALS | {"clarabel"},
    # Splines of the offsets that it takes away before it compares; bodies with four values are not
    # possible here, and the nearest that are come from a semidefinite program.
    "reduce run --by contribution --size 4 -o smaller": EXACT
    | TABLES
    | {"clarabel", "scipy.interpolate", "scipy.optimize"},
    "synthesise five_bar motion.yaml --noise 5% --seed 1 -o other.parquet": KERNELS | TABLES,
    "validate run other.parquet": KERNELS | TABLES | SIGNALS,
    "predict run motion.yaml": KERNELS | TABLES,
    # It explains the symbols of base parameters, and draws charts for paper, spectra among them.
    "report run": EXACT | TABLES | SIGNALS | {"jinja2", "latex2mathml", "matplotlib"},
}

_SCRIPT = f"""
import sys
from mechid.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    print(*[name for name in {HEAVY} if name in sys.modules], sep="\\n", file=sys.stderr)
    sys.exit(end.code)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("start_up")


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_loads_only_what_it_uses(command: str, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, *command.split()],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.split()) & set(HEAVY)
    assert loaded <= COMMANDS[command]


def test_the_package_loads_nothing() -> None:
    code = "import sys, mechid; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "scipy", "yaml", "pydantic", *HEAVY} & set(done.stdout.split())
    assert mechid.__name__ in done.stdout.split()


def test_a_command_seldom_looks_for_unused_objects() -> None:
    """Nearly all that it makes stays: searches take time and find nothing."""
    code = """
import gc
from mechid.cli import main
before = gc.get_stats()[0]["collections"]
try:
    main(["check", "four_bar"])
except SystemExit:
    print(gc.get_stats()[0]["collections"] - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout.splitlines()[-1]) < 15  # 97 with the usual threshold
