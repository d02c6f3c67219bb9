"""Notebooks as pages of the site: text, code, and what the code shows.

Notebooks are stored without results. With MECHID_RUN_NOTEBOOKS set, as `make docs` has it, they are
executed for the page; otherwise the page shows text and code only.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

_RICHEST_FIRST = ("text/html", "image/svg+xml", "image/png", "text/plain")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for every notebook; the notebook itself lies beside it."""
    for path in sorted(Path(config.docs_dir).glob("notebooks/*.ipynb")):
        page = path.relative_to(config.docs_dir).with_suffix(".md").as_posix()
        files.append(File.generated(config, page, content=page_of(path)))
    return files


def page_of(path: Path) -> str:
    """Return a notebook as Markdown."""
    notebook = nbformat.read(path, as_version=4)
    if os.environ.get("MECHID_RUN_NOTEBOOKS"):
        from nbclient import NotebookClient

        NotebookClient(notebook, resources={"metadata": {"path": str(path.parents[2])}}).execute()
    parts = [cell_of(cell) for cell in notebook.cells]
    title, rest = parts[0].split("\n", 1)
    return f"{title}\n\n[Download this notebook]({path.name})\n{rest}\n" + "\n".join(parts[1:])


def cell_of(cell: Any) -> str:
    """Return a cell: text as it is, code in a block, then its results."""
    if cell.cell_type == "markdown":
        return f"{cell.source}\n"
    shown = [text for output in cell.outputs if (text := _result(output))]
    return "\n".join([f"```python\n{cell.source}\n```\n", *shown])


def _result(output: Any) -> str:
    if output.output_type == "stream":
        return f"```text\n{output.text.rstrip()}\n```\n"
    data = output.get("data", {})
    kind = next((kind for kind in _RICHEST_FIRST if kind in data), None)
    if kind is None:
        return ""
    if kind == "text/plain":
        return f"```text\n{data[kind]}\n```\n"
    if kind == "image/png":
        return (
            f'<img class="result" alt="result" src="data:image/png;base64,{data[kind].strip()}">\n'
        )
    # Without empty lines, Markdown takes it as one piece of HTML.
    lines = (line.strip() for line in data[kind].splitlines())
    return '<div class="result">\n' + "\n".join(line for line in lines if line) + "\n</div>\n"
