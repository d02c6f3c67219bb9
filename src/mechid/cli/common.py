"""What the commands share: arguments, loading a model, plain and neat output."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from mechid.errors import MechidError

if TYPE_CHECKING:
    from mechid.kinematics.model import KinematicModel
    from mechid.kinematics.motion import Motion
    from mechid.tables.motion import MotionTable


def _models(incomplete: str) -> list[str]:
    """Return what a model may be, for the completion of a shell: names of the zoo, files."""
    from glob import escape, glob

    from mechid.modelfile.zoo import zoo_names
    from mechid.outputs import is_unicode

    names = sorted(glob(f"{escape(incomplete)}*"))  # noqa: PTH207 - as it was typed
    files = [Path(name) for name in names if is_unicode(name)]
    return [name for name in zoo_names() if name.startswith(incomplete)] + [
        f"{file}/" if file.is_dir() else str(file)
        for file in files
        if file.is_dir() or file.suffix.lower() in _MODEL_FILES
    ]


_MODEL_FILES = (".yaml", ".yml", ".urdf", ".xml", ".mjcf")
Model: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        autocompletion=_models,
        help="A name of the zoo or a model file; may end in @variant, or in several, @a@b. "
        "Or a URDF or MJCF file.",
    ),
]
MaxSeconds: TypeAlias = Annotated[
    float | None,
    typer.Option(help="Stop after this time, with the results so far.", show_default=False),
]
_GAP = 3  # spaces between columns of a table
_WIDE = "\u0300"  # from here on characters may take no place or that of two

Force: TypeAlias = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]


def load_model(spec: str, *, tell: bool = True) -> KinematicModel:
    """Load, compile and assemble a model; what goes wrong there names the model.

    Units that look wrong are told on stderr, unless the command tells of them itself.
    """
    from mechid.importing.load import load
    from mechid.kinematics.model import kinematic_model
    from mechid.mechanism.plausible import tell_implausible_units

    mechanism = load(spec)
    if tell:
        tell_implausible_units(mechanism, spec)
    try:
        return kinematic_model(mechanism)
    except MechidError as error:
        raise error.located(spec) from None


def solve_file(model: KinematicModel, path: Path) -> tuple[MotionTable, Motion]:
    """Read a motion (table or trajectory) and solve it; what goes wrong there names the file."""
    from mechid.kinematics.motion import solve_motion
    from mechid.trajectoryfile.motion import read_motion_file

    table = read_motion_file(path, model.mechanism)
    try:
        return table, solve_motion(model, table.y, table.yd, table.ydd, time=table.time)
    except MechidError as error:
        raise error.located(str(path)) from None


def command_line(context: typer.Context) -> str:
    """Return the command as it was typed, ready to be repeated."""
    import shlex

    return shlex.join(["mechid", *(context.obj or [])])


def print_json(value: dict[str, Any] | list[Any]) -> None:
    """Print JSON; numbers that JSON does not know become null."""
    from mechid.runs.files import plain

    typer.echo(json.dumps(plain(value), indent=2, ensure_ascii=False))


def print_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Print names and values in two columns."""
    print_table(("", ""), pairs, head=False)


def print_table(titles: Sequence[str], rows: Iterable[Sequence[str]], *, head: bool = True) -> None:
    """Print a table without lines.

    Long cells are broken between words. Where the columns are too many for the terminal even so,
    they follow in further blocks below, each with the first column: no column is left out, and no
    number is broken.
    """
    cells = [list(row) for row in rows]
    lines = _in_one_block(titles, cells, head)
    if lines is not None:
        for line in lines:
            typer.echo(line)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    least = [
        max([_longest_word(cell, k) for cell in (title, *(row[k] for row in cells))])
        for k, title in enumerate(titles)
    ]
    room = max(console.width - least[0] - _GAP, 1)  # a single word may be longer than that
    least = [least[0], *(min(width, room) for width in least[1:])]
    for n, block in enumerate(_blocks(least, console.width)):
        table = Table(box=None, show_header=head, pad_edge=False, padding=(0, _GAP, 0, 0))
        for k in block:
            table.add_column(
                titles[k], no_wrap=k == 0, overflow="fold", min_width=least[k], header_style="bold"
            )
        for row in cells:
            table.add_row(*(Text(row[k]) for k in block))
        with console.capture() as captured:
            console.print(table)
        if n:
            typer.echo("")
        for line in captured.get().splitlines():
            typer.echo(line.rstrip())


def _in_one_block(
    titles: Sequence[str], cells: Sequence[Sequence[str]], head: bool
) -> list[str] | None:
    """Return the lines of a table that fits as it is; Rich takes longer to load than to print it.

    None where it does not, or where characters may not be as wide as a letter.
    """
    rows = [list(titles), *cells] if head else list(cells)
    if not all(cell.isprintable() and max(cell, default="") < _WIDE for r in rows for cell in r):
        return None
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if sum(widths) + _GAP * (len(widths) - 1) > shutil.get_terminal_size().columns:
        return None
    gap = " " * _GAP
    lines = [
        gap.join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return [typer.style(lines[0], bold=True), *lines[1:]] if head else lines


def _longest_word(cell: str, column: int) -> int:
    """Return the width that a cell needs; the first column is not broken."""
    from rich.cells import cell_len

    return max((cell_len(word) for word in ([cell] if column == 0 else cell.split())), default=0)


def _blocks(least: Sequence[int], width: int) -> list[list[int]]:
    """Return the columns of each block: the first one, and as many of the others as fit."""
    blocks: list[list[int]] = []
    left = 0
    for k in range(1, len(least)):
        if not blocks or left < least[k]:
            blocks.append([0])
            left = width - least[0] - _GAP
        blocks[-1].append(k)
        left -= least[k] + _GAP
    return blocks or [[0]]


def print_notes(notes: Iterable[str], word: str = "note") -> None:
    """Print notes, one line each."""
    for note in notes:
        typer.echo(f"{word}: {note}")
