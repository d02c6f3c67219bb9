"""Loading a mechanism from a file of any kind."""

from __future__ import annotations

from pathlib import Path

from mechid.mechanism.records import Mechanism
from mechid.modelfile import api as modelfile

SUFFIXES = (".urdf", ".xml", ".mjcf", ".xacro")


def load(spec: str | Path) -> Mechanism:
    """Return the mechanism of a model file, of the zoo, or of a URDF or MJCF file.

    Parameters
    ----------
    spec : str or Path
        Name of a mechanism of the zoo, or path of a model file; either may end in `@variant`,
        also in several: `@a@b` is variant b merged into variant a. Or a .urdf, .xml or .mjcf file,
        which is read as `import_model` does with its defaults.

    Raises
    ------
    ModelError
        With file, line, entry and remedy, if there is no such model or it is described wrongly.

    Examples
    --------
    >>> import mechid
    >>> mechid.load("pendulum").bodies[0].inertia.mass  # kg
    1.2
    >>> mechid.load("pendulum@friction").elements[0].name
    'bearing'
    """
    if Path(spec).suffix.lower() in SUFFIXES:
        from mechid.importing.api import import_model

        return import_model(spec).mechanism
    return modelfile.load(spec)
