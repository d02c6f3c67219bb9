"""Tables in the terminal: no column is lost, no number is broken."""

from __future__ import annotations

import pytest

from mechid.cli import common
from mechid.cli.common import print_table


@pytest.mark.parametrize("width", [30, 41, 57, 80, 200])
@pytest.mark.parametrize("columns", [1, 3, 8, 15])
def test_every_number_is_printed_once(width, columns, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    titles = ("name", *(f"{k} s" for k in range(columns)))
    rows = [(f"row{i}", *(f"-{i}.{k:02d}2345678e-05" for k in range(columns))) for i in range(3)]
    print_table(titles, rows)
    out = capsys.readouterr().out
    words = out.split()
    for row in rows:
        for cell in row[1:]:
            assert words.count(cell) == 1
    assert max(map(len, out.splitlines())) <= width
    blocks = out.strip().split("\n\n")
    assert words.count("row1") == len(blocks)


def test_long_words_are_broken_between_words(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    print_table(("a", "b"), [("key", "several words that are too long for one line of it")])
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 40 for line in lines)
    assert " ".join(line.removeprefix("key").strip() for line in lines[1:]) == (
        "several words that are too long for one line of it"
    )


def test_simulate_prints_all_times(run):
    at = [1, 2, 3, 4, 5, 6, 7]
    done = run("simulate", "four_bar@example-1", "--at", ",".join(map(str, at)))
    found = run("simulate", "four_bar@example-1", "--at", ",".join(map(str, at)), "--json").json
    shown = [line.split() for line in done.out.split("\n\n")[1].splitlines()]
    assert [row[0] for row in shown[1:]] == [str(t) for t in at]
    for k, name in enumerate(shown[0][2:], start=1):  # "time, s" are two words
        assert [float(row[k]) for row in shown[1:]] == pytest.approx(
            found["coordinates"][name], rel=1e-8
        )


@pytest.mark.parametrize("head", [True, False])
@pytest.mark.parametrize(
    "rows",
    [
        [],
        [("a", "", "1.5"), ("longer", "some words", "m/s²")],
        [("Grübler count", "4", ""), ("", "", "")],
        [("two", "lines\nof it", "x")],  # not in one block: Rich prints both
        [("Σ", "数", "x")],
    ],
)
def test_a_table_that_fits_is_as_rich_prints_it(
    rows: list[tuple[str, str, str]],
    head: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    titles = ("name", "unit", "a value")
    print_table(titles, rows, head=head)
    quick = capsys.readouterr().out
    monkeypatch.setattr(common, "_in_one_block", lambda *_: None)
    print_table(titles, rows, head=head)
    assert quick == capsys.readouterr().out


def test_rich_is_loaded_for_tables_that_are_too_wide_only() -> None:
    wide = ("key", "several words that are too long for one line of it, by far, " * 2)
    assert common._in_one_block(("a", "b"), [("key", "x")], True) is not None
    assert common._in_one_block(("a", "b"), [wide], True) is None
