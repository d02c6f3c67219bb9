"""The tool itself: its commands, and how errors end."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from mechid.cli.progress import load_kernels, log_to_stderr, tell_first_compilation
from mechid.cli.record_options import with_option_names
from mechid.errors import MechidError
from mechid.outputs import is_unicode
from mechid.tasks.enough_memory import refuse_too_little

_OBJECTS = 20_000  # made between two searches for unused ones; usually 700
_HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}
# Name → example, in the order of --help: that in which one uses them. The file of a command is
# loaded when the command is used, so that each starts at once.
COMMANDS = {
    "zoo": "mechid zoo four_bar -o my_linkage.yaml",
    "import": "mechid import robot.urdf -o model.yaml",
    "template": "mechid template double-wishbone --mirror -o my_axle",
    "fill": "mechid fill my_axle/model.yaml my_axle/hardpoints.xlsx -o axle.yaml",
    "check": "mechid check sla_suspension --json",
    "view": "mechid view my_linkage.yaml --trace bar_2.B -o linkage.html",
    "kinematics": "mechid kinematics four_bar motion.csv --joint q3 --margin -o out.csv",
    "simulate": "mechid simulate four_bar@example-1 --t-end 4 --at 1,2,3,4",
    "inverse": "mechid inverse four_bar motion.csv -o forces.csv",
    "base": "mechid base sla_suspension --converge-on upright_r,upright_l --certify",
    "verify-certificate": "mechid verify-certificate four_bar.certificate.json",
    "advise": 'mechid advise five_bar --target "E_p<3%" -o motion.yaml',
    "excite": "mechid excite five_bar --harmonics 5 --frequency 1 -o motion.yaml",
    "synthesise": "mechid synthesise five_bar motion.yaml --noise 5% -o data.parquet",
    "measurement": "mechid measurement four_bar log.mat --map log.yaml -o motion.parquet",
    "identify": "mechid identify five_bar data.parquet --validate other.parquet -o run",
    "identify-streamed": "mechid identify-streamed five_bar hours.parquet --cad-error 20%",
    "reduce": "mechid reduce run --by contribution --size 8 -o smaller",
    "validate": "mechid validate run other.parquet",
    "predict": "mechid predict run motion.yaml -o forces.csv",
    "payload": "mechid payload run gripped.csv --body link_6 -o payload.json",
    "report": "mechid report run --certify --open",
    "export": "mechid export run --to urdf -o identified.urdf",
    "studio": "mechid studio my_project",
    "study": "",
    "schema": "mechid schema -o mechid.schema.json",
}
_FILES = {"import": "import_model"}  # others bear the name of their command
# Commands that run kernels.
_COMPILED = {
    "view", "kinematics", "simulate", "inverse", "base", "verify-certificate", "excite",
    "synthesise", "measurement", "identify", "identify-streamed", "reduce", "validate", "predict",
    "payload", "report", "advise",
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


class _Commands(MutableMapping[str, Any]):
    """The commands by name, each built when it is asked for."""

    def __init__(self) -> None:
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in COMMANDS:
            raise KeyError(name)
        if name not in self._built:
            self._built[name] = _built(name)
        return self._built[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._built[name] = command

    def __delitem__(self, name: str) -> None:
        del self._built[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


def _built(name: str) -> Any:
    """Load the file of a command and build the command."""
    file = _FILES.get(name, name.replace("-", "_"))
    found = getattr(import_module(f"mechid.cli.{file}"), file)
    if isinstance(found, typer.Typer):
        return typer.main.get_command(found)
    one = typer.Typer(
        add_completion=False, rich_markup_mode="markdown", context_settings=_HELP_OPTIONS
    )
    one.command(name, epilog=f"Example: {COMMANDS[name]}", cls=_Command)(found)
    return typer.main.get_command(one)


class _Group(TyperGroup):
    """The tool: its commands are built when they are used, its help shows flags as flags."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = _Commands()

    def get_params(self, ctx: Any) -> list[Any]:
        return _shown_as_flags(super().get_params(ctx))


app = typer.Typer(
    name="mechid",
    cls=_Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings=_HELP_OPTIONS,
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
    asks = context.resilient_parsing or {"-h", "--help"} & set(context.obj or ())
    if asks or context.invoked_subcommand is None:
        return
    refuse_too_little(context.invoked_subcommand)
    if context.invoked_subcommand in _COMPILED:
        tell_first_compilation()
        load_kernels()


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
    # Pydantic looks for plugins in the metadata of every package that is installed.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # What a command loads stays: 137 searches for unused objects took 0.06 of 0.92 s of `check`.
    gc.set_threshold(_OBJECTS)
    log_to_stderr()
    try:
        given = sys.argv[1:] if arguments is None else arguments
        for text in given:
            if not is_unicode(text):  # no terminal shows it, and no file of a run can hold it
                remedy = "rename the file, or correct it"
                raise MechidError("the argument is not UTF-8 text", where=text, remedy=remedy)
        # Runs keep the command line that made them.
        try:
            app(given, prog_name="mechid", obj=given)
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
