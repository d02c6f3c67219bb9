"""Study files: axes, zips, exclusions, the quick size, and mistakes with their lines."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mechid.errors import DataError
from mechid.studies.document import study_schema
from mechid.studies.study import library, load_study

if TYPE_CHECKING:
    from .conftest import Read

GRID = """\
title: A grid
about: >-
  What is
  asked.
parts:
  sizes:
    experiment: toy
    settings: {scale: 200%}
    axes:
      n: [3, 5]
      data: {white: {law: normal}, few: {law: other, forces: a}}
      seed: {from: 5, count: 3}
    exclude: [{n: 5, data: few}, {seed: [6], n: 3}]
    quick:
      settings: {scale: 3}
      axes: {seed: {count: 1}, data: [few]}
"""


def test_cells_are_all_combinations_less_exclusions(study: Read) -> None:
    found = study(GRID)
    (part,) = found.parts
    expected = [
        (n, data, seed)
        for n, data, seed in product([3, 5], ["white", "few"], [5, 6, 7])
        if not (n == 5 and data == "few") and not (seed == 6 and n == 3)
    ]
    assert [cell.labels for cell in part.cells] == expected
    assert (found.title, found.about, part.excluded) == ("A grid", "What is asked.", 5)
    for cell in part.cells:
        n, data, seed = cell.labels
        s = cell.settings
        assert (s.n, s.seed, s.scale) == (n, seed, 2.0)
        assert (s.law, s.forces) == (
            ("normal", ("a", "b")) if data == "white" else ("other", ("a",))
        )
    assert len({cell.key for cell in part.cells}) == len(expected)


def test_quick_size_is_merged_over(study: Read) -> None:
    (part,) = study(GRID, quick=True).parts
    assert [cell.labels for cell in part.cells] == [(3, "few", 0)]
    assert part.cells[0].settings.scale == 3.0


def test_zipped_axes_go_together(study: Read) -> None:
    (part,) = study(
        "experiment: toy\naxes: {n: [1, 2], law: [a, b, c], scale: [5, 6]}\nzip: [[n, scale]]"
    ).parts
    assert part.name == "results"
    expected = [(n, law, s) for (n, s) in ((1, 5), (2, 6)) for law in "abc"]
    assert [cell.labels for cell in part.cells] == expected


def test_hash_says_what_is_computed_not_how_it_is_called(study: Read) -> None:
    def keys(text: str) -> list[str]:
        return [cell.key for cell in study(text).parts[0].cells]

    plain = keys("experiment: toy\naxes: {scale: [0.05], seed: [3]}")
    assert keys("experiment: toy\nsettings: {seed: 3}\naxes: {x: {label: {scale: 5%}}}") == plain
    # A default that is written out, too.
    assert keys("experiment: toy\nsettings: {seed: 3, scale: 0.05, n: 3}") == plain
    assert keys("experiment: toy\naxes: {scale: [0.05], seed: [4]}") != plain


def test_hash_follows_the_content_of_files(study: Read) -> None:
    def cell(text: str):  # type: ignore[no-untyped-def]
        Path("sub").mkdir(exist_ok=True)
        Path("sub/motion.csv").write_text(text)
        Path("sub/made.yaml").write_text("experiment: toy\nsettings: {model: motion.csv}")
        return load_study("sub/made.yaml").parts[0]

    first = cell("time,q\n0,0\n")
    assert first.cells[0].settings.model == str(Path("sub/motion.csv").absolute())
    assert list(first.inputs) == ["motion.csv"]
    assert cell("time,q\n0,0\n").cells[0].key == first.cells[0].key
    from mechid.studies import inputs

    inputs._model_hash.cache_clear()
    assert cell("time,q\n0,1\n").cells[0].key != first.cells[0].key


def test_hash_follows_models_of_the_zoo_with_their_variants(study: Read) -> None:
    axes = "experiment: toy\naxes: {model: [four_bar, four_bar@example-1, five_bar]}"
    part = study(axes).parts[0]
    assert list(part.inputs) == ["five_bar", "four_bar", "four_bar@example-1"]
    assert len(set(part.inputs.values())) == 3


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", "", "the file is empty"),
        ("title: x", 1, "experiment is missing"),
        ("experiment: toi", 1, "there is no experiment toi; did you mean toy?"),
        ("experiment: toy\nsettings: {sede: 3}", 2, "there is no setting sede; did you mean seed?"),
        ("experiment: toy\nsettings:\n  seed: x", 3, 'seed must be an integer, got "x"'),
        ("experiment: toy\nsettings:\n  seed: -1", 3, "seed must be ≥ 0, got -1"),
        ("experiment: toy\naxis: {n: [1]}", 2, "unknown key axis"),
        ("experiment: toy\naxes:\n  seed: 3", 3, "an axis is a list, got 3"),
        ("experiment: toy\naxes:\n  seed: []", 3, "axis seed has no values"),
        ("experiment: toy\naxes:\n  seed: {count: 0}", 3, "count must be ≥ 1, got 0"),
        ("experiment: toy\naxes:\n  seed: {from: 2}", 3, "count must be an integer, got nothing"),
        ("experiment: toy\naxes:\n  seed: [1, 1]", 3, "axis seed has 1 twice"),
        ("experiment: toy\naxes:\n  forces: [[a, b]]", 3, "a list of 2 as a value of an axis"),
        ("experiment: toy\naxes:\n  x: {a: 3}", 3, "expected the settings of the label a, got 3"),
        ("experiment: toy\naxes:\n  x:\n    a: {nn: 3}", 4, "there is no setting nn"),
        (
            "experiment: toy\naxes:\n  n: [1]\n  x: {a: {n: 3}}",
            4,
            "n is set by the axes n and x",
        ),
        ("experiment: toy\naxes: {n: [1, 2], seed: [1]}\nzip: [[n, seed]]", 3, "n 2, seed 1"),
        ("experiment: toy\naxes: {n: [1]}\nzip: [[n, m]]", 3, "there is no axis m"),
        ("experiment: toy\naxes: {n: [1]}\nexclude:\n  - {n: 2}", 4, "axis n has no value 2"),
        ("experiment: toy\naxes: {n: [1]}\nexclude:\n  - {n: 1}", 3, "every cell is excluded"),
        ("experiment: toy\naxes: {n: [1]}\nquick: {axes: {m: [1]}}", 3, "there is no axis m"),
        ("parts:\n  a: {experiment: toy}\nsettings: {n: 1}", 1, "settings beside parts"),
        ("experiment: toy\naxes: {n: [1}\ntitle: x", 2, "not valid YAML"),
        ("mechid: 1\nname: x", 1, "this is a model file"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line_with_their_place(
    text: str, line: int | str, words: str, study: Read
) -> None:
    with pytest.raises(DataError) as caught:
        study(text, quick="quick" in text)
    message = str(caught.value)
    assert message.startswith(f"made.yaml:{line}" if line else "made.yaml")
    assert words in message.replace("'", '"')
    assert "\n" not in message


def test_studies_that_do_not_exist() -> None:
    with pytest.raises(DataError, match=r"nowhere\.yaml: there is no such file"):
        load_study("nowhere.yaml")
    with pytest.raises(DataError, match="no such study in the library"):
        load_study("nowhere")


@pytest.mark.slow
@pytest.mark.parametrize("name", library())
@pytest.mark.parametrize("quick", [False, True])
def test_every_study_of_the_library_is_valid(name: str, quick: bool) -> None:
    study = load_study(name, quick=quick)
    assert study.title
    assert study.about


def test_schema_knows_every_key() -> None:
    schema = study_schema()
    part = schema["$defs"]["PartSpec"]["properties"]
    assert set(part) == {"experiment", "settings", "axes", "zip", "exclude", "quick"}
    assert set(part) | {"title", "about", "published", "parts"} == set(schema["properties"])
    assert part["experiment"]["enum"][0] == "toy"
