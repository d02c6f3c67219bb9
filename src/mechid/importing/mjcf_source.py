"""MJCF files put together: included files, sections, classes of defaults."""

from __future__ import annotations

from pathlib import Path

from mechid.importing.xml import MAX_DEPTH, Node, inside, read_xml
from mechid.outputs import real_path
from mechid.textfile.paths import is_file
from mechid.textfile.words import hint

MAIN = "main"


def with_includes(root: Node, folder: Path, limit: Path) -> Node:
    """Return the root with every <include> replaced by what its file contains.

    As in MuJoCo, names are relative to the folder of the main file, and no file is included twice,
    which excludes circles. Files must lie under the folder `limit`.
    """
    seen: set[Path] = set()

    def expand(node: Node, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise node.error(f"more than {MAX_DEPTH} elements inside each other")
        children: list[Node] = []
        for child in node.children:
            if child.tag != "include":
                expand(child, depth + 1)
                children.append(child)
                continue
            name = child.needed("file")
            path = inside(limit, str(real_path(folder / name)), child)
            if path in seen:
                raise child.error(
                    f"{name} is included twice, or includes itself", "remove one <include>"
                )
            if not is_file(path):
                raise child.error(f"there is no file {name} to include", "add it")
            seen.add(path)
            part = read_xml(path, str(path))
            expand(part, depth + 1)
            children += part.children
        node.children = children

    expand(root, 0)
    return root


def section(root: Node, tag: str) -> list[Node]:
    """Return the children of all sections of a name."""
    return [child for part in root.all(tag) for child in part.children]


def setting(root: Node, tag: str) -> Node:
    """Return one element with the attributes of all elements of a name; later ones win."""
    parts = list(root.all(tag))
    attributes = {k: v for part in parts for k, v in part.attributes.items()}
    place = parts[-1].place if parts else root.place
    return Node(tag, attributes, place, [c for part in parts for c in part.children])


class Defaults:
    """Classes of defaults, each with all that it inherits."""

    def __init__(self, root: Node) -> None:
        self._classes: dict[str, dict[str, dict[str, str]]] = {MAIN: {}}
        for node in root.all("default"):
            self._add(node, {}, MAIN if node.get("class") is None else node.needed("class"), True)

    def _add(
        self, node: Node, inherited: dict[str, dict[str, str]], name: str, top: bool = False
    ) -> None:
        known = self._classes.get(MAIN, {}) if top else inherited
        if not top and name in self._classes:
            raise node.error(f"the class {name} is defined twice", "rename one")
        own = {tag: dict(attributes) for tag, attributes in known.items()}
        for child in node.children:
            if child.tag != "default":
                own[child.tag] = own.get(child.tag, {}) | child.attributes
        self._classes[name] = own
        if top:
            self._classes[MAIN] = own
        for child in node.all("default"):
            self._add(child, own, child.needed("class"))

    def apply(self, node: Node, around: str) -> Node:
        """Return an element with the defaults of its class, or of the class `around` it."""
        name = node.get("class") or around
        self.check(name, node)
        own = self._classes[name].get(node.tag, {})
        merged = {k: v for k, v in own.items() if k not in _exclusive(node, own)}
        return Node(node.tag, merged | node.attributes, node.place, node.children, node.text)

    def check(self, name: str, node: Node) -> None:
        """Reject a class that does not exist."""
        if name not in self._classes:
            raise node.error(f"there is no class {name}", hint(name, self._classes))


_TURNS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")


def _exclusive(node: Node, own: dict[str, str]) -> list[str]:
    """Return the defaults that an attribute of the element replaces by other words."""
    gone: list[str] = []
    if any(key in node.attributes for key in _TURNS):
        gone += _TURNS
    if "mass" in node.attributes and "density" in own:
        gone.append("density")
    return gone
