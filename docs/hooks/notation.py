"""NOTATION.md as a page of the site, with an anchor at every symbol.

The anchor of a row is the heading of its table and the first identifier of the row:
`reference/notation.md#dynamics-w`.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

PAGE = "reference/notation.md"
_ROW = re.compile(r"^\| (?P<symbol>[^|]+?) \| (?P<names>`[^|]+|-) \|")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page."""
    source = Path(config.config_file_path).parent / "NOTATION.md"
    files.append(File.generated(config, PAGE, content=anchored(source.read_text("utf-8"))))
    return files


def anchored(text: str) -> str:
    """Return the text with an anchor in front of every symbol, and links as the site has them."""
    section, seen, lines = "", set(), []
    for line in text.splitlines():
        if line.startswith("## "):
            section = slug(line)
        if (row := _ROW.match(line)) and section:
            name = re.findall(r"`([^`]+)`", row["names"]) or [row["symbol"]]
            anchor = f"{section}-{slug(name[0])}"
            if anchor not in seen:
                seen.add(anchor)
                line = f'| <a id="{anchor}"></a>{line[2:]}'
        lines.append(line)
    return "\n".join(lines).replace("](docs/", "](../") + "\n"


def slug(text: str) -> str:
    """Return words as a part of an address: letters and digits, joined by dashes."""
    return re.sub(r"[^\w]+", "-", text.lower()).strip("-_")
