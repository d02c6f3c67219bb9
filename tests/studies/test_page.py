"""Pages from templates, figures, and comparisons of two results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.studies.compare import compare_studies
from mechid.studies.figure import draw_table, in_format, numbers
from mechid.studies.page import write_study_page
from mechid.studies.run import run_study

if TYPE_CHECKING:
    from .conftest import Read

TEXT = """\
title: A page
about: What is asked.
published: {value: {a: 0.5}}
experiment: toy
axes:
  n: [3, 5]
  scale: [5%, 10%]
  seed: {from: 11, count: 4}
"""


def rendered(study: Read, template: str) -> str:
    found = study(TEXT)
    run_study(found, "out", workers=0)
    Path("made.md.j2").write_text(template, encoding="utf-8")
    write_study_page("made.yaml", "out", "page.md")
    return Path("page.md").read_text(encoding="utf-8")


def test_values_tables_and_published_figures(study: Read) -> None:
    from toy_experiment import Settings, values

    text = rendered(
        study,
        """\
# {{ study.title }}

{{ published.value.a }} and {{ value("results", "value", {"force": "a", "n": 3}, format=".4f") }}
of {{ count() }} cells, {{ refused("results") | length }} refused: {{ refused("results")[0] }}

{{ table(None, rows="n", columns="force", value="value", format=".4f", head="samples",
         heads={"a": "first"}, statistic="mean", spread=("min", "max"), where={"scale": "10%"}) }}
""",
    )
    known = {
        (n, scale, f): [values(Settings(n=n, scale=scale, seed=seed))[k] for seed in (11, 12, 14)]
        for n in (3, 5)
        for scale in (0.05, 0.1)
        for k, f in enumerate("ab")
    }
    both = np.median(known[3, 0.05, "a"] + known[3, 0.1, "a"])
    assert text.startswith(f"# A page\n\n0.5 and {both:.4f}\nof 16 cells, 4 refused: seed: 13 is")
    lines = [
        f"| {n} | "
        + " | ".join(
            f"{np.mean(x):.4f} ({min(x):.4f} – {max(x):.4f})"
            for x in (known[n, 0.1, "a"], known[n, 0.1, "b"])
        )
        + " |"
        for n in (3, 5)
    ]
    assert "\n".join(["| samples | first | b |", "| :-- | --: | --: |", *lines]) in text
    assert text.endswith("`mechid study page made` from the template made.md.j2. -->\n")


def test_settings_that_all_cells_share() -> None:
    from mechid.studies.page import read_tables, study_page
    from mechid.studies.study import load_study

    data = Path(__file__).parents[2] / "docs/studies/data/friction"
    made = load_study("friction")
    text, _ = study_page(made, read_tables(made, data))
    assert made.text.count("rate: 50") == made.text.count("seconds: 8") == 1
    assert "8 s at 50 Hz, white noise of 2 %" in text


def test_figures_are_written_beside_the_page(study: Read) -> None:
    text = rendered(
        study, '{{ figure("one", "results", x="scale", y="value", by="force", caption="C") }}'
    )
    assert "![C](img/made-one.svg)" in text
    assert Path("img/made-one.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("\n{{ value('results', 'valeu') }}", "made.md.j2:2: there is no column valeu"),
        ("{{ value('x', 'value') }}", "made.md.j2:1: made: there is no part x"),
        ("{{ nothing }}", "made.md.j2:1: 'nothing' is undefined"),
        ("a\n{% for %}", "made.md.j2:2: "),
        ("{{ value('results', 'value', wher=3) }}", "made.md.j2:1: "),
        ("{{ value('results', 'force') }}", "column force has 2 different values here"),
        ("{{ setting('results', 'scael') }}", "there is no setting scael"),
        ("{{ setting('results', 'n') }}", "setting n has 2 different values here"),
    ],
)
def test_mistakes_of_templates(study: Read, template: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        rendered(study, template)
    assert message in str(caught.value)


def test_a_study_without_template_or_tables(study: Read) -> None:
    study(TEXT)
    with pytest.raises(DataError, match="there is no such file"):
        write_study_page("made.yaml", "out", "page.md")
    run_study("made.yaml", "out", workers=0)
    with pytest.raises(DataError, match="the study has no template for a page"):
        write_study_page("made.yaml", "out", "page.md")


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (0.1234, ".1%", "12.3 %"),
        (1.2e-9, ".0e", "1e-9"),
        (1.2e16, ".2g", "1.2e16"),
        (3.0, "d", "3"),
        (float("nan"), ".3g", "-"),
        (None, "d", "-"),
        (True, "d", "yes"),
        ("T1", ".3g", "T1"),
    ],
)
def test_numbers_as_text(value: object, form: str, text: str) -> None:
    assert in_format(value, form) == text


def test_labels_that_are_numbers() -> None:
    assert numbers(["5%", "10 %", "2.5"]) is not None
    assert numbers(["5%", "T1"]) is None


def test_curves_of_a_figure(study: Read) -> None:
    table = run_study(study(TEXT), "out", workers=0).table()
    drawn = draw_table(
        table, x="n", y="value", by=["force"], band=("min", "max"), statistic="mean", scale=100.0
    )
    lines = drawn.axes[0].get_lines()
    assert [line.get_label() for line in lines] == ["a", "b"]
    own = [row["value"] for row in table.to_pylist() if row["force"] == "a" and row["n"] == 3]
    np.testing.assert_allclose(lines[0].get_xydata()[0], [3, 100 * np.mean(own)])
    drawn = draw_table(table, x="force", y="value", log="y")
    assert [t.get_text() for t in drawn.axes[0].get_xticklabels()] == ["a", "b"]
    with pytest.raises(DataError, match="a band has two ends"):
        draw_table(table, x="n", y="value", band=["p10"])


def test_comparison_of_two_results(study: Read) -> None:
    run_study(study(TEXT), "one", workers=0)
    other = TEXT.replace("10%", "20%").replace("from: 11, count: 4", "from: 12, count: 4")
    run_study(study(other + "settings: {forces: 'a, b, c'}\n"), "two", workers=0)
    found = compare_studies("one", "two")
    (part,) = found.parts
    # n × scale 5 % × seeds 12, 13, 14 of 2 × 2 × 4 in each.
    assert (part.shared, part.only_first, part.only_second, part.refused) == (6, 10, 10, 0)
    by_name = {c.column: c for c in found.columns}
    assert set(by_name) == {"value", "n_values"}
    assert (by_name["n_values"].rows, by_name["n_values"].equal) == (8, 8)
    assert (by_name["value"].rows, by_name["value"].less) == (8, 0.0)  # the first rows are the same
    grouped = compare_studies("one", "two", values=["value"], rows=["n"]).columns
    assert [(c.labels, c.rows) for c in grouped] == [(("3",), 4), (("5",), 4)]
