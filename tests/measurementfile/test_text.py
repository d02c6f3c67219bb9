"""Text tables in all spellings: the same numbers, or one clear refusal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.measurementfile import read_measurement
from mechid.measurementfile.channels import read_channels
from mechid.measurementfile.document import TableSpec

from .logs import FIVE_BAR, T, truth

NAMES = ("time", "q1", "q2", "M1", "M2")


def rows(decimal: str = ".", separator: str = ",", end: str = "\n") -> str:
    """Return the truth as lines of text, numbers with all digits."""
    columns = np.stack([T, *truth().values()], axis=1)
    lines = [separator.join(repr(float(x)).replace(".", decimal) for x in row) for row in columns]
    return end.join(lines) + end


def head(separator: str = ",") -> str:
    return separator.join(NAMES)


PLAIN = head() + "\n" + rows()
GERMAN = head(";") + "\r\n" + rows(",", ";", "\r\n")
SPELLINGS: dict[str, tuple[bytes, str]] = {
    "plain": (PLAIN.encode(), ""),
    "mark": (b"\xef\xbb\xbf" + PLAIN.encode(), ""),
    "decimal comma": (GERMAN.encode(), "text: decimal comma"),
    "tabs": ((head("\t") + "\n" + rows(separator="\t")).encode(), ""),
    "tabs, decimal comma": ((head("\t") + "\n" + rows(",", "\t")).encode(), "text: decimal comma"),
    "blanks": (
        ("  " + head("   ") + "\n" + rows(separator="  ")).encode(),
        "text: columns separated by blanks",
    ),
    "UTF-16 with mark": (GERMAN.encode("utf-16"), "text: UTF-16-LE, decimal comma"),
    "UTF-16 without": (GERMAN.encode("utf-16-be"), "text: UTF-16-BE, decimal comma"),
    "comments": (
        b"# made by the bench\n# rate, 200\n\n" + PLAIN.encode(),
        "text: names in line 4",
    ),
    "preamble": (
        b"Recorder 5;1.2\nOperator;Mueller\n\n" + GERMAN.encode(),
        "text: decimal comma, names in line 4",
    ),
    "commented names": (b"% " + PLAIN.encode(), ""),
    "units": (
        f"{head(';')}\n[s];rad;rad;(N m);Nm\n{rows(',', ';')}".encode(),
        "text: decimal comma, units in line 2",
    ),
    "units above": (
        f"s,rad,rad,N m,Nm\n{PLAIN}".encode(),
        "text: names in line 2, units in line 1",
    ),
    "group names above": (
        f"clock,encoder,encoder,cell,cell\n{PLAIN}".encode(),
        "text: names in line 2",
    ),
    "trailing separator": (
        (head(";") + ";\n" + rows(separator=";").replace("\n", ";\n")).encode(),
        "",
    ),
    "quoted names": ((",".join(f'"{n}"' for n in NAMES) + "\n" + rows()).encode(), ""),
    "text column": ((PLAIN.replace("\n", ",on\n")).encode().replace(b",on", b",state", 1), ""),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_spelling_is_read_to_the_last_digit(name: str, tmp_path: Path) -> None:
    content, said = SPELLINGS[name]
    (tmp_path / "log.csv").write_bytes(content)
    m = read_measurement(tmp_path / "log.csv", FIVE_BAR)
    true = truth()
    assert m.y.tolist() == np.stack([true["q1"], true["q2"]], axis=1).tolist()
    assert m.tau.tolist() == np.stack([true["M1"], true["M2"]], axis=1).tolist()
    assert [n for n in m.notes if n.startswith("text")] == ([said] if said else [])


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".txt", ".dat", ".asc"])
def test_units_in_a_second_row_or_behind_the_names(ending: str, tmp_path: Path) -> None:
    true = truth()
    table = np.stack([1000 * T, np.rad2deg(true["q1"]), np.rad2deg(true["q2"]),
                      1000 * true["M1"], true["M2"]], axis=1)  # fmt: skip
    body = "\n".join("\t".join(f"{x!r}" for x in map(float, row)) for row in table)
    second = head("\t") + "\n" + "\t".join(("ms", "deg", "°", "N mm", "Nm")) + "\n" + body
    behind = "time [ms]\tq1 (deg)\tq2[°]\tM1 [N mm]\tM2 [Nm]\n" + body
    path = tmp_path / f"log{ending}"
    for text in (second, behind):
        path.write_bytes(text.encode("latin-1"))
        m = read_measurement(path, FIVE_BAR)
        assert "text: Windows-1252" in "".join(m.notes)
        assert "time is in ms, by the file" in m.notes
        assert m.time == pytest.approx(T, abs=1e-12)
        assert m.y == pytest.approx(np.stack([true["q1"], true["q2"]], axis=1), abs=1e-12)
        assert m.tau == pytest.approx(np.stack([true["M1"], true["M2"]], axis=1), abs=1e-12)
    # A mapping may call the channel as the file does.
    mapping = {"positions": {"q1": "q1 (deg)", "q2": "q2"}, "forces": {"M1": "M1 [N mm]"}}
    m = read_measurement(path, FIVE_BAR, mapping)
    assert m.tau[:, 0] == pytest.approx(true["M1"], abs=1e-12)
    assert "not used: M2" in m.notes


def test_columns_that_differ_in_their_unit_only_keep_it_in_their_name(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("time,F [N],F [kN]\n0,1000,1\n1,2000,2\n2,1,2\n")
    found = read_channels(tmp_path / "log.csv").channels
    assert {name: c.unit for name, c in found.items()} == {"time": "", "F [N]": "N", "F [kN]": "kN"}


def test_what_is_no_unit_stays_in_the_name(tmp_path: Path) -> None:
    """A current is no force: it is not found by the name of one, but suggested."""
    (tmp_path / "log.csv").write_text(
        "t,enc1 [deg],I1 [A],load [%],axis[2]\n0,1,2,4,5\n1,1,2,4,5\n2,1,2,4,5\n"
    )
    found = read_channels(tmp_path / "log.csv")
    units = {name: c.unit for name, c in found.channels.items()}
    assert units == {"t": "", "enc1": "deg", "I1 [A]": "", "load [%]": "", "axis[2]": ""}
    meant = {"I1": "I1 [A]", "i1": "I1 [A]", "laod": "load [%]", "axis": "axis[2]"}
    for wrong, near in meant.items():
        with pytest.raises(DataError, match=f"there is no channel {wrong};") as refused:
            found.get(wrong)
        assert refused.value.remedy == f"did you mean {near}?"


def test_forces_from_currents(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("time,q1,q2,I1 [A],I2 [A]\n" + rows())
    forces = {"M1": {"channel": "I1 [A]", "scale": 3.1, "unit": "N m"}}
    mapping = {"positions": {"q1": "q1", "q2": "q2"}, "forces": forces}
    m = read_measurement(tmp_path / "log.csv", FIVE_BAR, mapping)
    assert m.tau[:, 0] == pytest.approx(3.1 * truth()["M1"], abs=1e-12)


def refusal(folder: Path, text: str, table: dict[str, Any] | None = None) -> str:
    (folder / "log.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError) as refused:
        read_channels(folder / "log.csv", TableSpec.model_validate(table or {})).get("q1")
    assert "\n" not in str(refused.value)
    return str(refused.value).replace(str(folder), "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "/log.csv: the file is empty"),
        (" \n\n", "/log.csv: the file is empty"),
        ("time;q1\n1,234;5\n2,345;6\n", '"1,234" may be a decimal or a grouped number; state it'),
        ("time;q1\n0,5;1.5\n1,5;1.5\n", 'not clear: there are "0,5" and "1.5"'),
        ("time;q1\n0;1,234,567\n1;2\n", 'the digits of "1,234,567" are grouped'),
        ("time;q1\n0;1.234,5\n1;2\n", 'the digits of "1.234,5" are grouped'),
        ("time,q1\n0,5,1,5\n1,5,2,5\n", "no line of 4 names above the numbers, which begin in"),
        ("0,1\n1,2\n", "the first line must contain the column names"),
        ("time,q1\nm,s\ns,m\n0,1\n1,2\n", "lines 2 and 3 may both be the units"),
        ("time,q1,q1\n0,1,2\n1,2,3\n", "duplicate column q1"),
        ("time,q1\n0,1\n1\n2,2\n3,3\n4,4\n", "the rows are not alike: line 2 has 2 cells"),
        ("time,q1\n0,1\n1,2\n2,3\n4\n3,4\n", "not a text table: Row #4: Expected 2 columns, got 1"),
        ("time;q1\n0,5;1,5\n0,6;1\n0,7;x\n", '"x" is not a number with a decimal comma'),
        ("time,q1\n0,1\n1,x\n", 'log.csv: row 2, column q1: "x" is not a number'),
        ("a\0b\n1\0x\n", "not a text table: it contains zero bytes"),
        ("some words\nand others\n", "the table has no rows of numbers; state how"),
    ],
)
def test_what_has_two_readings_or_none_is_refused(text: str, said: str, tmp_path: Path) -> None:
    assert said in refusal(tmp_path, text)


def test_a_cell_with_the_other_decimal_sign_far_below_is_refused(tmp_path: Path) -> None:
    text = "time;q1\n" + "".join(f"{k};{k},5\n" for k in range(600)) + "600;1.5\n"
    assert '"1.5" is not a number with a decimal comma' in refusal(tmp_path, text)


def test_the_mapping_decides_what_is_ambiguous(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"

    def values(text: str, **table: Any) -> list[float]:
        path.write_bytes(text.encode("latin-1"))
        found = read_channels(path, TableSpec.model_validate(table))
        return found.get("q1").values.tolist()

    assert values("time;q1\n1,234;5\n2,345;6\n", decimal=",") == [5, 6]
    assert values('time,q1\n0,"1,5"\n1,"2,5"\n', decimal=",") == [1.5, 2.5]
    assert values("0,1\n1,2\n", names=["time", "q1"]) == [1, 2]
    assert values("q1,x\nm,s\ns,m\n0,1\n1,2\n", units=2, header=1) == [0, 1]
    assert values("q1,x\nm,s\n0,1\n1,2\n", units=0, header=1) == [0, 1]
    words = "a,q1,b,c\nx,1,y,z\nu,2,v,w\n"  # most columns are text
    assert values(words, header=1, separator="comma") == [1, 2]
    assert "has no rows of numbers" in refusal(tmp_path, words)
    assert values("q1|x;y\n0;1\n1;2\n", separator="semicolon", names=["q1", "x"]) == [0, 1]
    path.write_bytes("Ω;q1\n0;1\n1;2\n".encode("utf-16-le"))
    assert "Ω" in read_channels(path, TableSpec(encoding="utf-16-le")).channels
    for wrong, said in (
        ({"names": ["a"]}, "table.names: 2 names are needed for 2 columns, got 1"),
        ({"header": 9}, "table.header: line 9 must have 2 cells as the data have, got no such"),
        ({"encoding": "ebcdic-x"}, "table.encoding: the text is not ebcdic-x"),
    ):
        assert refusal(tmp_path, "time,q1\n0,1\n1,2\n", wrong).startswith(said)


def test_keys_of_the_mapping_file(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("time;q1;q2\n1,001;1,002;5,001\n1,002;1,102;5,002\n")
    (tmp_path / "map.yaml").write_text(
        "measurement: 1\npositions: {q1: q1, q2: q2}\ntable: {decimal: ','}\n"
    )
    m = read_measurement(tmp_path / "log.csv", FIVE_BAR, tmp_path / "map.yaml")
    assert m.y.tolist() == [[1.002, 5.001], [1.102, 5.002]]
    for text, said in (
        ("table: {decimal: ':'}", "map.yaml:3: table.decimal: expected"),
        ("table: {names: [a], header: 1}", "names excludes header and units"),
        ("files: [{time: t, rate: 5}]", "time and rate exclude each other"),
    ):
        (tmp_path / "map.yaml").write_text(f"measurement: 1\npositions: {{q1: q1}}\n{text}\n")
        with pytest.raises(DataError) as refused:
            read_measurement(tmp_path / "log.csv", FIVE_BAR, tmp_path / "map.yaml")
        assert said in str(refused.value)
