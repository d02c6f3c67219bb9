"""The runner of documentation examples: what it runs, what it skips, what it rejects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[[str], int]


@pytest.fixture(autouse=True)
def mechid_that_echoes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a `mechid` first on the path that prints its arguments and exits as it is told."""
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    script = scripts / "mechid"
    script.write_text(
        '#!/bin/sh\nprintf "%s\\n" "$@"\n[ "$1" = fail ] && exit "$2"\nexit 0\n', encoding="utf-8"
    )
    script.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(scripts / "python"))


def test_a_page_without_examples_is_fine(run_page: Run) -> None:
    assert run_page("# Title\n\nText.\n\n```yaml\na: 1\n```\n") == 0


def test_python_blocks_share_names_and_directory(run_page: Run) -> None:
    page = """
```python
from pathlib import Path
a = 1
Path("x.txt").write_text("x")
```

!!! note

    ```python title="indented, with options"
    assert a == 1
    assert Path("x.txt").exists()
    ```
"""
    assert run_page(page) == 2


def test_console_and_python_see_the_same_directory(run_page: Run) -> None:
    page = """
```console
$ mechid one > out.txt
```
```python
from pathlib import Path
assert Path("out.txt").read_text() == "one\\n"
```
"""
    assert run_page(page) == 2


@pytest.mark.parametrize(
    "page",
    [
        "<!-- not executed -->\n```python\n1 / 0\n```",
        "<!-- not executed: needs a robot -->\n\n```console\n$ mechid fail 3\n```",
        "````markdown\n```python\n1 / 0\n```\n````",
        "~~~text\n```python\n1 / 0\n```\n~~~",
        "```console\n$ make nothing\nwhatever\n```",
        "```text\n$ mechid fail 3\n```",
    ],
)
def test_not_run(page: str, run_page: Run) -> None:
    assert run_page(page) == 0


def test_skip_marker_holds_for_one_block_only(run_page: Run) -> None:
    marker = "<!-- not executed -->\n```python\n1 / 0\n```\n"
    with pytest.raises(ZeroDivisionError):
        run_page(marker + "```python\n1 / 0\n```\n")
    with pytest.raises(ZeroDivisionError):
        run_page("<!-- not executed -->\nText.\n```python\n1 / 0\n```\n")


def test_traceback_names_the_line_of_the_page(run_page: Run) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        run_page("# Title\n\n```python\na = 1\na / 0\n```\n")
    assert caught.traceback[-1].lineno + 1 == 5


@pytest.mark.parametrize(
    "block",
    [
        "$ mechid a b c\na\n...\nc",
        "$ mechid a b c\nc",
        "$ mechid 'residual 1.2e-16 m'\nresidual ... m",
        "$ mechid a \\\n> b\na\nb",
        "$ mechid fail 2  # exit 2\nfail",
        "$ mechid fail 2\n# exit 2\nfail",
        "# a comment\n$ mechid a\na\n\n$ mechid b\nb",
        "$ mechid a | tr a z\nz",
    ],
)
def test_console_accepted(block: str, run_page: Run) -> None:
    assert run_page(f"```console\n{block}\n```") >= 1


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("$ mechid a b\nb\na", "no such line"),
        ("$ mechid a\nab", "no such line"),
        ("$ mechid abc\na", "no such line"),
        ("$ mechid a\na\na", "no such line"),
        ("$ mechid fail 2", "must be 0, got 2"),
        ("$ mechid a  # exit 1", "must be 1, got 0"),
        ("a\n$ mechid a", "without a command"),
    ],
)
def test_console_rejected(block: str, message: str, run_page: Run) -> None:
    with pytest.raises(AssertionError, match=message):
        run_page(f"```console\n{block}\n```")
