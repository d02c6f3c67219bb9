"""Imported by the server that examples are forked from: everything that the commands need.

A command of an example then costs what it computes, not two seconds of imports and kernels.
"""

from __future__ import annotations

import io
import os
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path

from mechid.cli import main
from mechid.cli.app import COMMANDS

SERVER = "MECHID_EXAMPLES_SERVER"  # set in the environment of the server, which alone loads
_COMMANDS = (
    "excite five_bar --random 2 --starts 0 -o motion.yaml",
    "synthesise five_bar motion.yaml --noise 5% -o data.parquet",
    "identify five_bar data.parquet -o run",
    "reduce run --by contribution --size 8 -o smaller",
    "synthesise five_bar motion.yaml --noise 5% --seed 1 -o other.parquet",
    "validate run other.parquet",
    "predict run motion.yaml -o forces.csv",
    "report run",
    "base four_bar --certify",
    "simulate four_bar --t-end 0.1",
    "check four_bar",
)


def run(argv: list[str], folder: Path, output: Path) -> None:
    """Run a command in a process of its own: leave with its status."""
    os.chdir(folder)
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(file, 1)
    os.dup2(file, 2)
    main(argv)


def _load() -> None:
    for name in COMMANDS:
        import_module(f"mechid.cli.{name.replace('-', '_').replace('import', 'import_model')}")
    here = Path.cwd()
    with (
        tempfile.TemporaryDirectory() as folder,
        redirect_stdout(io.StringIO()),
        redirect_stderr(io.StringIO()) as said,
    ):
        os.chdir(folder)
        try:
            for command in _COMMANDS:
                try:
                    main(command.split())
                except SystemExit as left:
                    if left.code:
                        raise RuntimeError(f"mechid {command}: {said.getvalue()}") from None
        finally:
            os.chdir(here)


if os.environ.get(SERVER):
    _load()
