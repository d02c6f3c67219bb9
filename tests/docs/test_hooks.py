"""What the site makes of NOTATION.md, of formulas and of notebooks; names of the reference."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

import mechid

ROOT = Path(__file__).parents[2]
REFERENCE = [p.read_text(encoding="utf-8") for p in (ROOT / "docs" / "reference").glob("api*.md")]
MATHML = re.compile(r"<math[^>]*>")


def hook(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "hooks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_symbol_has_an_anchor_of_its_own() -> None:
    text = (ROOT / "NOTATION.md").read_text(encoding="utf-8")
    found = re.findall(r'<a id="([^"]+)"', hook("notation").anchored(text))
    assert len(found) == len(set(found))
    assert {"symbols-y", "dynamics-w", "base-parameters-beta"} <= set(found)


def test_an_anchor_changes_nothing_else() -> None:
    text = (ROOT / "NOTATION.md").read_text(encoding="utf-8")
    changed = re.sub(r'<a id="[^"]+"></a>', "", hook("notation").anchored(text))
    assert changed == text.replace("](docs/", "](../")


@pytest.mark.parametrize(
    ("source", "display", "inside"),
    [
        (r'<span class="arithmatex">\(W N = 0\)</span>', "inline", "<mi>W</mi>"),
        (r'<div class="arithmatex">\[a &lt; \beta\]</div>', "block", "&lt;"),
    ],
)
def test_formulas_become_mathml(source: str, display: str, inside: str) -> None:
    found = hook("formulas").on_page_content(f"<p>before</p>{source}after")
    assert "arithmatex" not in found
    assert f'display="{display}"' in MATHML.search(found)[0]  # type: ignore[index]
    assert inside in found or "&#x0003C;" in found
    assert found.startswith("<p>before</p>")
    assert found.endswith("after")


def test_a_notebook_becomes_a_page(tmp_path: Path) -> None:
    cells = [
        nbformat.v4.new_markdown_cell("# Title\n\nText."),
        nbformat.v4.new_code_cell("1 + 1"),
    ]
    cells[1].outputs = [
        nbformat.v4.new_output("execute_result", {"text/plain": "2"}),
        nbformat.v4.new_output("display_data", {"text/html": "<b>\n\nx</b>", "text/plain": "x"}),
        nbformat.v4.new_output("display_data", {"image/png": "AAAA\n", "text/plain": "x"}),
        nbformat.v4.new_output("stream", text="printed\n"),
    ]
    path = tmp_path / "a.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    wanted = (
        "# Title [Download this notebook](a.ipynb) Text. ```python 1 + 1 ``` ```text 2 ``` "
        '<div class="result"> <b> x</b> </div> '
        '<img class="result" alt="result" src="data:image/png;base64,AAAA"> ```text printed ```'
    )
    assert " ".join(hook("notebooks").page_of(path).split()) == wanted


def test_the_reference_has_every_public_name_once() -> None:
    named = re.findall(r"^::: mechid\.(\w+)$", "\n".join(REFERENCE), re.MULTILINE)
    assert sorted(named) == sorted(set(mechid.__all__) - {"__version__"})
    table = re.findall(r"\[mechid\.(\w+)\]", "\n".join(REFERENCE))
    assert sorted(table) == sorted(named)
