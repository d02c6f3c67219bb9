from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechid.errors import ModelError
from mechid.textfile.yamlio import read, read_file, write

TEXT = """\
mechid: 1
points:
  E: [0.25,
      1e-5]
joints:
  N:
    axis: y
    hidden: true
    at: &place {in: rod}
  on: {at: *place}
empty:
"""


def test_values_are_those_of_yaml_1_2() -> None:
    data, _ = read(TEXT, "f.yaml")
    assert data == {
        "mechid": 1,
        "points": {"E": [0.25, 1e-5]},
        "joints": {
            "N": {"axis": "y", "hidden": True, "at": {"in": "rod"}},
            "on": {"at": {"in": "rod"}},
        },
        "empty": None,
    }


@pytest.mark.parametrize(
    "word", ["y", "n", "no", "yes", "on", "off", "N", "12:30", "1_000", "0x1f"]
)
def test_words_stay_words(word: str) -> None:
    assert read(f"a: {word}\n{word}: b\n", "f")[0] == {"a": word, word: "b"}


@pytest.mark.parametrize(
    ("text", "value"), [("010", 10), ("1.", 1.0), (".5", 0.5), ("-1e3", -1000.0), ("+2", 2)]
)
def test_numbers(text: str, value: float) -> None:
    assert read(f"a: {text}\n", "f")[0] == {"a": value}


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("points", "E"), 3),
        (("points", "E", 1), 4),
        (("joints", "N", "axis"), 7),
        (("joints", "N", "missing"), 6),
        (("nowhere", "at", "all"), 1),
        (("joints", "on", "at", "in"), 9),
    ],
)
def test_lines(path: tuple[str | int, ...], line: int) -> None:
    _, source = read(TEXT, "f.yaml")
    assert source.place(path) == f"f.yaml:{line}"


def test_a_variant_is_found_where_it_is_written() -> None:
    _, source = read("a: {b: 1, c: 2}\nvariants:\n  v:\n    a:\n      b: 3\n      d: 4\n", "f")
    source.overlay((), ("variants", "v"))
    assert [source.line(path) for path in (("a",), ("a", "b"), ("a", "c"), ("a", "d"))] == [
        1,
        5,
        1,
        6,
    ]


def test_not_utf8(tmp_path: Path) -> None:
    file = tmp_path / "latin.yaml"
    file.write_bytes("title: M\xe4chanism\n".encode("latin-1"))
    with pytest.raises(ModelError, match=r"^m\.yaml: the file is not UTF-8 text"):
        read_file(file, "m.yaml")


plain = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**20), 10**20),
        st.floats(allow_nan=False),
        st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=8),
        st.sampled_from(
            ["1e5", "0x10", "null", "~", "yes", "1:30", "", "- a", "#", "0.1 ", "=", "<<"]
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text("abc_", min_size=1, max_size=3), inner, max_size=3),
    ),
    max_leaves=8,
)


@pytest.mark.slow
@given(st.dictionaries(st.text("xyz", min_size=1, max_size=3), plain, min_size=1, max_size=4))
def test_what_is_written_is_read_back(data: dict[str, object]) -> None:
    again, _ = read(write(data), "f")
    assert again == data
    assert repr(again) == repr(data)  # every digit, and 1 is not 1.0


def bomb(levels: int) -> str:
    """Aliases of aliases: a few lines that stand for 10^levels entries."""
    lines = [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, levels)]
    return "\n".join(["mechid: 1", "a0: &a0 [1, 2]", *lines])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (bomb(9), "aliases repeat more than 100000 entries"),
        ("a: " + "[" * 100_000, "nested more than 100 levels deep"),
        ("a: " + "{a: " * 20_000, "nested more than 100 levels deep"),
        ("".join(" " * i + "a:\n" for i in range(1000)), "nested more than 100 levels deep"),
        ("- " * 50_000, "nested more than 100 levels deep"),
        ("a: !!int abc", "f.yaml:1: a: the value is tagged !!int and is not one"),
        ("a: !!float x", "f.yaml:1: a: the value is tagged !!float and is not one"),
    ],
)
def test_hostile_files_end_soon(text: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        read(text, "f.yaml")


def test_aliases_may_repeat_a_little() -> None:
    assert len(read(bomb(4), "f.yaml")[0]["a3"]) == 10
