"""What docs/reliability/mutation.md rests on; two mutants really are tried."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from tests.mutation.forked import ROOT
from tests.mutation.mutants import Mutant, mutants
from tests.mutation.near import near
from tests.mutation.page import PAGE, equivalent, tables
from tests.mutation.reach import load
from tests.mutation.sample import draw, population, wilson
from tests.records import stale_tables

MODULE = '''\
"""A module."""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from x import y
_MOST = 3
def f(a: "1 + 1", *, b: int = 2) -> "not b":
    """Return 1 + 1."""
    a -= 1
    for k in range(a):
        if a < b and not k:
            continue
        raise ValueError(f"{a + b}", 1 + 1)
    warn(1 + 1)
    if a:
        return max(a[1:b], key=-b)
    return bool(a @ b)
def summary():
    return 1 + 1
'''
EXPECTED = {
    ("number", "3", "4"),
    ("number", "2", "3"),
    ("arithmetic", "a -= 1", "a += 1"),
    ("statement", "a -= 1", "pass"),
    ("number", "1", "2"),
    ("loop", "range(a)", "()"),
    ("bound", "a", "a + 1"),
    ("boolean", "a < b and (not k)", "a < b or not k"),
    ("condition", "a < b and (not k)", "not (a < b and (not k))"),
    ("comparison", "a < b", "a <= b"),
    ("comparison", "a < b", "a >= b"),
    ("boolean", "not k", "k"),
    ("loop", "continue", "break"),
    ("statement", "raise ValueError(f'{a + b}', 1 + 1)", "pass"),
    ("statement", "warn(1 + 1)", "pass"),
    ("condition", "a", "not a"),
    ("function", "max", "min"),
    ("bound", "b", "b + 1"),
    ("keyword", "max(a[1:b], key=-b)", "max(a[1:b])"),
    ("sign", "-b", "b"),
    ("result", "bool(a @ b)", "not bool(a @ b)"),
    ("arithmetic", "a @ b", "-(a @ b)"),
}


def plain(new: str) -> str:
    """Without the parentheses about an expression that is put somewhere."""
    return new[1:-1] if new.startswith("(") and new != "()" else new


def test_operators_make_what_they_say() -> None:
    """Each mistake, and none in texts, annotations, messages and what is only shown."""
    found = mutants("base/x.py", MODULE)
    made = {(m.operator, m.old, "()" if m.new == "(())" else plain(m.new)) for m in found}
    assert made == EXPECTED
    assert len({m.name for m in found}) == len(found)
    for mutant in found:
        text = mutant.text(MODULE)
        compile(text, "mutant", "exec")
        first, _, last, _ = mutant.place
        assert first == last
        lines = [(a, b) for a, b in zip(MODULE.splitlines(), text.splitlines(), strict=True)]
        assert [k for k, (a, b) in enumerate(lines, 1) if a != b] == [first]


def test_lines_that_run_if_a_mutant_matters() -> None:
    """A constant: where it is used; a default: the whole function; else the statement."""
    text = "A = 1\ndef f(x=2):\n    x += 1\n    if (x >\n            A):\n        return 0\n"
    lines = {(m.old, m.place[0]): m.lines for m in mutants("base/x.py", text)}
    assert lines["1", 1] == (5,)
    assert lines["2", 2] == (3, 4, 5, 6)
    assert lines["1", 3] == (3,)
    assert lines["x > A", 4] == (4, 5)
    assert lines["0", 6] == (6,)


def test_names_do_not_depend_on_other_parts() -> None:
    before = {m.name for m in mutants("base/x.py", MODULE)}
    after = {m.name for m in mutants("base/x.py", "\n\nB = 5\n" + MODULE)}
    assert len(after - before) == 1
    assert before < after


def test_samples_are_in_proportion_and_grow() -> None:
    def many(stratum: str, n: int) -> list[Mutant]:
        return [Mutant("", f"{stratum}{k}", "", (0, 0, 0, 0), (), "", "") for k in range(n)]

    of = {"a": many("a", 300), "b": many("b", 100)}
    small, large = (draw(of, count, seed=3) for count in (40, 80))
    assert [sum(m.name.startswith(x) for m in small) for x in "ab"] == [30, 10]
    assert set(small) < set(large)
    assert set(draw(of, 40, seed=4)) != set(small)


def test_wilson() -> None:
    """Against the values that the definition gives, |p - k/n| = z √(p (1 - p) / n)."""
    for k, n in ((0, 10), (27, 30), (30, 30)):
        for p in wilson(k, n):
            assert abs(p - k / n) == pytest.approx(1.959964 * (p * (1 - p) / n) ** 0.5, abs=1e-12)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="forks, and limits processor time")
@pytest.mark.parametrize("chosen", [[], ["--near"]], ids=["measured", "near"])
def test_two_mutants_are_noticed(tmp_path: Path, chosen: list[str]) -> None:
    """Forces of CAD values left out: always, and if a parameter is kept."""
    path = "reduction/rest.py"
    text = (ROOT / "src" / "mechid" / path).read_text("utf-8")
    wrong = ("(not fixed.any())", "(fixed.all)")
    names = [m.name for m in mutants(path, text) if m.new in wrong]
    assert len(names) == 2
    line = [sys.executable, "-m", "tests.mutation", "--package", "reduction"]
    line += ["--tests", "reduction/test_rest.py", "--place", str(tmp_path), *chosen]
    for name in names:
        line += ["--only", name]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    found = dict(row.split(" ", 1) for row in done.stdout.splitlines())
    assert set(found) == set(names)
    for entry in map(json.loads, found.values()):
        assert entry["outcome"] == "killed"
        assert entry["by"].startswith("tests/reduction/test_rest.py::")


def test_lines_of_code_that_has_changed(tmp_path: Path) -> None:
    """Where a file was changed after the tests were measured, they may reach any of its lines."""
    source = "reduction/rest.py"
    raw = (ROOT / "src" / "mechid" / source).read_bytes()
    kept = {"seconds": {"a": 1.0}, "lines": {source: {"3": ["a"]}}}
    test = tmp_path / "folder" / "test_x.py"
    test.parent.mkdir()
    test.touch()
    data = tmp_path / f"folder.test_x.{sha256(b'').hexdigest()[:12]}.json"
    for digest, lines in ((sha256(raw).hexdigest()[:12], 1), ("", len(raw.splitlines()))):
        data.write_text(json.dumps(kept | {"sources": {source: digest}}), "utf-8")
        seconds, found = load([test], tmp_path)
        assert seconds == {"a": 1.0}
        assert len(found[source]) == lines
        assert found[source][3] == ["a"]


def test_files_of_tests_near_a_module(tmp_path: Path) -> None:
    """Named after it, importing it, using a public name of it, through others; not at all."""
    texts = {
        "test_count": "from mechid.base.count import count_sets",
        "test_other": "from mechid.base import count",
        "test_public": "import mechid\nmechid.simulate",
        "test_far": "from mechid.base.count import count_sets\nimport mechid\nmechid.simulate",
        "test_none": "import numpy",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
    tests = sorted(tmp_path.glob("*.py"))
    found = [p.stem for p in near("base/count.py", tests)]
    assert found[0] == "test_count"
    assert sorted(found[1:]) == ["test_far", "test_other"]
    assert {p.stem for p in near("dynamics/simulate.py", tests)} == {"test_public", "test_far"}
    assert near("base/count.py", tests[:0]) == []


def test_page_and_record_agree() -> None:
    assert stale_tables(PAGE, tables()) == []


def test_equivalent_mutants_still_exist() -> None:
    """A reason for code that has changed since says nothing: try again, or remove it."""
    packages = {name.split("/", 1)[0] for name in equivalent()}
    names = {m.name for of in population(sorted(packages)).values() for m in of}
    assert not set(equivalent()) - names
