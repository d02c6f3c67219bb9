"""Robot files as mechanisms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mechid.errors import DataError, MechidError, ModelError
from mechid.importing.coordinates import with_coordinates
from mechid.importing.loops import with_loops
from mechid.importing.merge import prepared
from mechid.importing.mjcf import read_mjcf
from mechid.importing.robot import Robot
from mechid.importing.robot_document import RobotDocument
from mechid.importing.urdf import check_root, read_urdf
from mechid.importing.xml import read_xml
from mechid.mechanism.records import Mechanism
from mechid.modelfile.build import build_document
from mechid.modelfile.document import validate
from mechid.options import ImportOptions, step_options
from mechid.outputs import write_text
from mechid.shown import Shown
from mechid.textfile.paths import is_file
from mechid.textfile.yamlio import write

MAX_LINKS = 1000


@dataclass(frozen=True, repr=False)
class ImportedModel(Shown):
    """A robot file as a model, and what an import could not take over.

    Attributes
    ----------
    mechanism : Mechanism
    document : dict
        The model file as data.
    left_out : tuple of str
        Parts of the file that act on the motion and are not in the model.
    renamed : tuple of (str, str, str)
        What was renamed (body, joint), its name in the file, its name in the model.
    notes : tuple of str
        What else was decided.
    """

    mechanism: Mechanism
    document: dict[str, Any]
    left_out: tuple[str, ...]
    renamed: tuple[tuple[str, str, str], ...]
    notes: tuple[str, ...]

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows."""
        return {
            "mechanism": self.mechanism.name,
            "bodies": self.mechanism.bodies,
            "coordinates": [c.name for c in self.mechanism.coordinates],
            "left out": self.left_out,
            "renamed": [f"{old} → {new}" for _, old, new in self.renamed],
            "notes": len(self.notes) or None,
        }

    @property
    def text(self) -> str:
        """The model file, with what was left out, renamed and noted in comments at its top."""
        lines = [f"left out: {words}" for words in self.left_out]
        lines += [f"renamed: {what} {old} to {new}" for what, old, new in self.renamed]
        lines += [f"note: {words}" for words in self.notes]
        comments = "".join(f"# {' '.join(line.split())}\n" for line in lines)
        return comments + write(self.document)

    def save(self, path: str | Path) -> None:
        """Write the model file."""
        write_text(path, self.text)


def import_model(
    path: str | Path,
    options: ImportOptions = ImportOptions(),  # noqa: B008 - frozen
    **words: Any,
) -> ImportedModel:
    """Return the model of a URDF or MJCF file.

    Parameters
    ----------
    path : str or Path
        .urdf, .xml or .mjcf.
    options : ImportOptions
        Base, fixed links, angles, loop joints, meshes.
    **words
        Fields of `ImportOptions`: base="free", keep_fixed=True, loops="loops.yaml".

    Raises
    ------
    ModelError
        With file, line and remedy, if the file cannot be read or described.

    Examples
    --------
    >>> import mechid, pathlib
    >>> text = '''<robot name="arm"><link name="base"/>
    ... <link name="rod"><inertial><origin xyz="0 0 -0.2"/><mass value="1"/>
    ... <inertia ixx="0.02" iyy="0.02" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
    ... <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/>
    ... <axis xyz="0 1 0"/></joint></robot>'''
    >>> _ = pathlib.Path("arm.urdf").write_text(text)
    >>> found = mechid.import_model("arm.urdf")
    >>> [c.name for c in found.mechanism.coordinates]
    ['hinge']
    >>> mechid.load("arm.urdf") == found.mechanism  # `load` takes the file, too
    True
    """
    given = {k: str(v) if isinstance(v, Path) else v for k, v in words.items()}
    options = step_options(ImportOptions, options, given)
    if options.density is not None and not options.density > 0:
        raise DataError(f"density must be > 0, got {options.density:g}")
    path = Path(path)
    if not is_file(path):
        raise ModelError(f"there is no file {path}")
    if path.suffix.lower() in (".yaml", ".yml"):
        raise ModelError(
            "this is a model file already, import reads URDF and MJCF",
            where=str(path),
            remedy=f"use it as it is, as in: mechid check {path}",
        )
    try:
        robot = _read(path, options)
        if options.loops is not None:
            robot = with_loops(robot, Path(options.loops))
        robot = prepared(robot, options)
        made = RobotDocument(robot, f"imported from {path.name}", options)
        document, chosen = with_coordinates(made.document, made.candidates)
        mechanism = build_document(validate(document))
    except MechidError as error:
        known = str(path) in error.where or str(options.loops or "\0") in error.where
        raise error if known else error.located(str(path)) from None
    notes = (*robot.notes, *made.notes, *chosen)
    return ImportedModel(mechanism, document, robot.left_out, tuple(made.renamed), notes)


def _read(path: Path, options: ImportOptions) -> Robot:
    root = read_xml(path)
    check_root(root)
    read = read_urdf if root.tag == "robot" else read_mjcf
    robot = read(root, path.parent, options)
    if len(robot.links) > MAX_LINKS:
        raise root.error(
            f"the file has {len(robot.links)} bodies, more than {MAX_LINKS}", "import a part of it"
        )
    return robot
