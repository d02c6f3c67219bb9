"""What is disturbed: one case for every command that writes, with the files that it needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from mechid.cli.app import app

Argv = tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """A command that writes.

    Attributes
    ----------
    argv : tuple of str
        The command line.
    inputs : tuple of str
        What it needs of the bench: files and folders.
    old : tuple of str
        A command line that writes other results to the same places, or () where that makes no
        sense; they are replaced with --force then.
    reads : tuple of tuple of str
        Commands that read what was left: they work, or say in one line why not.
    said : str
        What they say of a result that is not complete, if they work.
    outputs : tuple of str
        Options or arguments that name what is written, for the trials of places.
    """

    argv: Argv
    inputs: Argv = ()
    old: Argv = ()
    reads: tuple[Argv, ...] = ()
    said: str = ""
    outputs: Argv = ("-o",)

    @property
    def forced(self) -> Argv:
        """The command that replaces what is there."""
        return self.argv if "--add" in self.argv else (*self.argv, "--force")


def _(line: str) -> Argv:
    return tuple(line.split())


_LOG = ("log.parquet", "log.parquet.truth.json")
_OTHER = ("other.parquet", "other.parquet.truth.json")
_RUN_READERS = (
    _("validate run other.parquet"),
    _("predict run motion.yaml -o read.csv"),
)
CASES = {
    "zoo": Case(_("zoo pendulum -o a.yaml"), old=_("zoo four_bar -o a.yaml")),
    "import": Case(
        _("import robot.urdf -o a.yaml"),
        ("robot.urdf",),
        _("import robot.urdf --base free -o a.yaml"),
    ),
    "template": Case(
        _("template double-wishbone -o axle"), old=_("template double-wishbone --length m -o axle")
    ),
    "fill": Case(
        _("fill car/model.yaml car/hardpoints.csv -o a.yaml"), ("car",), _("zoo pendulum -o a.yaml")
    ),
    "check": Case(
        _("check model.yaml --align -o a.yaml"), ("model.yaml",), _("zoo four_bar -o a.yaml")
    ),
    "view": Case(_("view pendulum -o a.html"), old=_("view four_bar -o a.html")),
    "kinematics": Case(
        _("kinematics pendulum m.csv -o a.csv"),
        ("m.csv",),
        _("kinematics pendulum m.csv --margin -o a.csv"),
    ),
    "simulate": Case(
        _("simulate pendulum --t-end 0.1 -o a.csv --plot a.svg --view a.html"),
        old=_("simulate pendulum --t-end 0.05 -o a.csv --plot a.svg --view a.html"),
        outputs=("-o", "--plot", "--view"),
    ),
    "inverse": Case(
        _("inverse pendulum m.csv -o a.parquet --plot a.svg"),
        ("m.csv", "k.csv"),
        _("inverse pendulum k.csv -o a.parquet --plot a.svg"),
        outputs=("-o", "--plot"),
    ),
    "base": Case(
        _("base pendulum --certificate a.json --latex a.tex --picture a.svg"),
        old=_("base four_bar --certificate a.json --latex a.tex --picture a.svg"),
        outputs=("--certificate", "--latex", "--picture"),
    ),
    "advise": Case(
        _("advise pendulum --draws 0 --motion motion.yaml -o a.yaml"),
        ("motion.yaml",),
        _("zoo four_bar -o a.yaml"),
    ),
    "excite": Case(
        _("excite pendulum --random 2 --starts 0 --harmonics 2 -o a.yaml --table a.csv"),
        old=_("excite pendulum --random 2 --starts 0 --harmonics 1 -o a.yaml --table a.csv"),
        outputs=("-o", "--table"),
    ),
    "synthesise": Case(
        _("synthesise pendulum motion.yaml --noise 2% --rate 50 -o a.csv"),
        ("motion.yaml",),
        _("synthesise pendulum motion.yaml --cad-error 10% --rate 50 --seed 3 -o a.csv"),
    ),
    "measurement": Case(
        _("measurement pendulum log.parquet -o a.csv"),
        _LOG,
        _("measurement pendulum log.parquet --decimation 2 -o a.csv"),
    ),
    "identify": Case(
        _("identify pendulum log.parquet --validate other.parquet --reduce contribution -o run"),
        (*_LOG, *_OTHER, "motion.yaml"),
        _("identify pendulum other.parquet --estimator ols -o run"),
        _RUN_READERS,
        "the run was stopped",
    ),
    "reduce": Case(
        _("reduce source --by contribution --size 1 -o run"),
        ("source", *_OTHER, "motion.yaml"),
        _("identify pendulum other.parquet --estimator ols -o run"),
        _RUN_READERS,
        "the run was stopped",
    ),
    "validate": Case(
        _("validate run other.parquet --add"),
        ("run", *_OTHER, "motion.yaml"),
        reads=_RUN_READERS,
        outputs=(),
    ),
    "predict": Case(
        _("predict run motion.yaml -o a.csv"),
        ("run", "motion.yaml", "other.yaml"),
        _("predict run other.yaml -o a.csv"),
    ),
    "payload": Case(
        _("payload run other.parquet -o a.json"),
        ("run", *_OTHER),
        _("payload run other.parquet --known-mass 0.1+-0.01 -o a.json"),
    ),
    "report": Case(
        _("report run -o a.html"), ("run", "source"), _("report run source -o a.html")
    ),
    "export": Case(_("export run --to c -o a.c"), ("run",), _("export four_bar --to c -o a.c")),
    "schema": Case(_("schema -o a.json"), old=_("zoo four_bar -o a.json")),
    "study run": Case(
        _("study run study.yaml --workers 0 -o out"),
        ("study.yaml", "study.md.j2", "smaller.yaml"),
        _("study run smaller.yaml --workers 0 -o out"),
        (_("study status out"), _("study table out -o read.csv")),
        "cells",
    ),
    "study table": Case(
        _("study table results -o a.csv"),
        ("results",),
        _("study table results --where estimator=ols -o a.csv"),
    ),
    "study plot": Case(
        _("study plot results --x seed --y E_p -o a.svg"),
        ("results",),
        _("study plot results --x seed --y overall -o a.svg"),
    ),
    "study page": Case(
        _("study page study.yaml results -o a.md"),
        ("study.yaml", "study.md.j2", "results"),
        _("zoo four_bar -o a.md"),
    ),
}  # fmt: skip
# Commands that only print. The studio writes through jobs, which are these commands.
READ_ONLY = {
    "verify-certificate", "studio", "study list", "study experiments", "study plan",
    "study status", "study compare", "identify-streamed",
}  # fmt: skip
_STUDY = """\
title: Two estimators
experiment: identification
settings: {model: pendulum}
axes: {estimator: [cad, ols], seed: {count: COUNT}}
"""
_TEMPLATE = """\
# {{ study.title }}

{{ count() }} cells
"""
_BENCH = (
    "zoo pendulum -o model.yaml",
    "excite pendulum --random 2 --starts 0 --harmonics 2 -o motion.yaml --table m.csv",
    "excite pendulum --random 2 --starts 0 --harmonics 2 --seed 1 -o other.yaml --table k.csv",
    "synthesise pendulum motion.yaml --noise 2% --cad-error 10% --rate 50 -o log.parquet",
    "synthesise pendulum other.yaml --noise 2% --truth log.parquet.truth.json --rate 50 "
    "-o other.parquet",
    "identify pendulum log.parquet -o run",
    "identify pendulum log.parquet --estimator ols -o source",
    "export pendulum --to urdf -o robot.urdf",
    "template double-wishbone -o car",
    "study run study.yaml --workers 0 -o results",
)


def bench() -> list[Argv]:
    """Write the texts of the bench here, and return the commands that make the other files."""
    Path("study.yaml").write_text(_STUDY.replace("COUNT", "2"), "utf-8")
    Path("smaller.yaml").write_text(_STUDY.replace("COUNT", "1"), "utf-8")
    Path("study.md.j2").write_text(_TEMPLATE, "utf-8")
    return [_(line) for line in _BENCH]


def commands() -> dict[str, Any]:
    """Return all commands of the tool by their full names."""
    return dict(_leaves(typer.main.get_command(app), ()))


def _leaves(command: Any, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield " ".join(names), command
        return
    for name, inner in command.commands.items():
        yield from _leaves(inner, (*names, name))
