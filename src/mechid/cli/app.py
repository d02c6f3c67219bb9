"""The tool itself: its commands, and how errors end."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from mechid.cli.advise import advise
from mechid.cli.base import base
from mechid.cli.check import check
from mechid.cli.excite import excite
from mechid.cli.export import export
from mechid.cli.fill import fill
from mechid.cli.identify import identify
from mechid.cli.import_model import import_model
from mechid.cli.inverse import inverse
from mechid.cli.kinematics import kinematics
from mechid.cli.measurement import measurement
from mechid.cli.payload import payload
from mechid.cli.predict import predict
from mechid.cli.progress import log_to_stderr, tell_first_compilation
from mechid.cli.record_options import with_option_names
from mechid.cli.reduce import reduce
from mechid.cli.report import report
from mechid.cli.schema import schema
from mechid.cli.simulate import simulate
from mechid.cli.studio import studio
from mechid.cli.study import study
from mechid.cli.synthesise import synthesise
from mechid.cli.template import template
from mechid.cli.validate import validate
from mechid.cli.verify_certificate import verify_certificate
from mechid.cli.view import view
from mechid.cli.zoo import zoo
from mechid.errors import MechidError

# Commands that run kernels.
_COMPILED = {
    "check", "view", "kinematics", "simulate", "inverse", "base", "verify-certificate", "excite",
    "synthesise", "measurement", "identify", "reduce", "validate", "predict", "payload",
}  # fmt: skip


def _shown_as_flags(params: list[Any]) -> list[Any]:
    """Let --help show a flag by its name alone; it takes no value."""
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params


class _Command(TyperCommand):
    """A command whose help shows flags as flags."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _shown_as_flags(super().get_params(ctx))


class _Group(TyperGroup):
    """The tool, whose help shows flags as flags."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _shown_as_flags(super().get_params(ctx))


app = typer.Typer(
    name="mechid",
    cls=_Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: mechid zoo; mechid check four_bar; mechid view sla_suspension",
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"mechid {version('mechid')}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Model mechanisms with closed loops, simulate them, and identify their parameters.

    MODEL is a name of the zoo, a model file, or either with @variant.
    """
    if context.invoked_subcommand in _COMPILED and not context.resilient_parsing:
        tell_first_compilation()


# The order in which --help lists them: the order in which one uses them.
app.command(epilog="Example: mechid zoo four_bar -o my_linkage.yaml")(zoo)
app.command("import", epilog="Example: mechid import robot.urdf -o model.yaml")(import_model)
app.command(epilog="Example: mechid template double-wishbone --mirror -o my_axle")(template)
app.command(epilog="Example: mechid fill my_axle/model.yaml my_axle/hardpoints.xlsx -o axle.yaml")(
    fill
)
app.command(epilog="Example: mechid check sla_suspension --json")(check)
app.command(epilog="Example: mechid view my_linkage.yaml --trace bar_2.B -o linkage.html")(view)
app.command(epilog="Example: mechid kinematics four_bar motion.csv --joint q3 --margin -o out.csv")(
    kinematics
)
app.command(epilog="Example: mechid simulate four_bar@example-1 --t-end 4 --at 1,2,3,4")(simulate)
app.command(epilog="Example: mechid inverse four_bar motion.csv -o forces.csv")(inverse)
app.command(
    epilog="Example: mechid base sla_suspension --converge-on upright_r,upright_l --certify"
)(base)
app.command(
    "verify-certificate", epilog="Example: mechid verify-certificate four_bar.certificate.json"
)(verify_certificate)
app.command(epilog='Example: mechid advise five_bar --target "E_p<3%" -o motion.yaml')(advise)
app.command(epilog="Example: mechid excite five_bar --harmonics 5 --frequency 1 -o motion.yaml")(
    excite
)
app.command(
    epilog="Example: mechid synthesise five_bar motion.yaml --noise 5% --cad-error 20% "
    "-o data.parquet"
)(synthesise)
app.command(epilog="Example: mechid measurement four_bar log.mat --map log.yaml -o motion.parquet")(
    measurement
)
app.command(
    epilog="Example: mechid identify five_bar data.parquet --validate other.parquet -o run"
)(identify)
app.command(epilog="Example: mechid reduce run --by contribution --size 8 -o smaller")(reduce)
app.command(epilog="Example: mechid validate run other.parquet")(validate)
app.command(epilog="Example: mechid predict run motion.yaml -o forces.csv")(predict)
app.command(epilog="Example: mechid payload run gripped.csv --body link_6 -o payload.json")(payload)
app.command(epilog="Example: mechid report run --certify --open")(report)
app.command(epilog="Example: mechid export run --to urdf -o identified.urdf")(export)
app.command(epilog="Example: mechid studio my_project")(studio)
app.add_typer(study)
app.command(epilog="Example: mechid schema -o mechid.schema.json")(schema)
for _info in app.registered_commands:
    _info.cls = _Command


def _fail(line: str) -> NoReturn:
    """Print what is wrong as one line, and leave."""
    typer.secho("error:", fg="red", err=True, nl=False)
    typer.echo(f" {line}", err=True)
    sys.exit(2)


def main(arguments: list[str] | None = None) -> None:
    """Run the tool and leave: 0 done, 2 wrong input (one line on stderr), 130 interrupted."""
    # Before NumPy is loaded. Matrices here are small: threads of the linear algebra wait for each
    # other, and an identification takes three times as long with two of them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    log_to_stderr()
    try:
        # Runs keep the command line that made them.
        try:
            app(arguments, prog_name="mechid", obj=arguments or sys.argv[1:])
        finally:
            sys.stdout.flush()  # a full device is noticed here, not after the end
    except MechidError as error:
        _fail(with_option_names(str(error)))
    except MemoryError:
        _fail("not enough memory; use fewer samples, a lower rate or a part of the log")
    except OSError as error:
        place = f"{error.filename}: " if error.filename else "output: "
        if not error.filename and sys.stdout is sys.__stdout__:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left cannot be written either
        _fail(f"{place}{error.strerror or error}")
    except KeyboardInterrupt:
        sys.exit(130)
