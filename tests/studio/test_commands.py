"""Jobs run commands of the tool with checked arguments, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer.main

from mechid.cli.app import app
from mechid.errors import MechidError
from mechid.studio.commands import COMMANDS, base, file, log, mapping, model, new, prepared, run
from mechid.studio.folder import Folder

PATHS = {file, new, mapping, model, run, log, base}


@pytest.fixture
def place(tmp_path: Path) -> Folder:
    for name in ("m.yaml", "log.csv", "more.csv", "map.yaml", "-odd.csv", "four_bar"):
        (tmp_path / name).write_text("")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    return Folder(tmp_path.resolve())


def test_options_are_those_of_the_tool() -> None:
    tool: Any = typer.main.get_command(app)
    for name, command in COMMANDS.items():
        own = tool
        for part in command.words or (name,):
            own = own.commands[part]
        known = {
            option.lstrip("-").replace("-", "_"): parameter
            for parameter in own.params
            for option in (*parameter.opts, *parameter.secondary_opts)
            if parameter.param_type_name == "option"
        }
        assert set(command.options) <= set(known), name
        arguments = [p for p in own.params if p.param_type_name == "argument"]
        assert len(command.positional) == len(arguments), name
        for option, kind in command.options.items():
            is_flag = bool(getattr(known[option], "is_flag", False))
            assert (kind is None) == is_flag, (name, option)
            if known[option].type_descriptor.annotation is Path:
                assert kind in PATHS, (name, option)
            if option in command.many:
                assert known[option].multiple, (name, option)
        assert ("force" in command.options) == ("force" in known), name


def test_command_lines(place: Folder) -> None:
    found = prepared(
        "identify",
        {
            "model": "m.yaml@a", "log": ["log.csv@0:1.5", "log.csv+more.csv"], "output": "out/run",
            "map": ["map.yaml", "log.csv=map.yaml"], "weigh": ["arm=1±0.1"], "without": "gains",
            "force": False, "cad_error": "20%", "seed": 3, "period": None,
        },
        place,
    )  # fmt: skip
    assert found.argv == (
        "identify", "--output=out/run", "--map=map.yaml", "--map=log.csv=map.yaml",
        "--weigh=arm=1±0.1", "--without=gains", "--cad-error=20%", "--seed=3", "--",
        "m.yaml@a", "log.csv@0:1.5", "log.csv+more.csv",
    )  # fmt: skip
    assert found.outputs == ("out/run",)
    assert found.reads == ("m.yaml@a",)


def test_studies_go_to_the_scheduler_of_the_studio(place: Folder) -> None:
    found = prepared("study", {"study": "mobility", "quick": True}, place, "tcp://here:8786")
    options = ("--quick", "--scheduler=tcp://here:8786")
    assert found.argv == ("study", "run", *options, "--", "mobility")
    with pytest.raises(MechidError, match="no argument scheduler"):
        prepared("study", {"study": "mobility", "scheduler": "tcp://evil:1"}, place)


def test_names_that_mean_something_else(place: Folder) -> None:
    words = {"model": "zoo:five_bar@isostatic", "log": ["-odd.csv"]}
    assert prepared("identify", words, place).argv[-2:] == ("five_bar@isostatic", "./-odd.csv")
    # A file that is called as a model of the zoo is meant as a file.
    assert prepared("excite", {"model": "four_bar"}, place).argv[-1] == "./four_bar"


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("studio", {}),
        ("view", {"model": "m.yaml"}),
        ("rm", {"model": "m.yaml"}),
        ("identify", {"model": "m.yaml"}),
        ("identify", {"model": "m.yaml", "log": []}),
        ("identify", {"model": "nothing.yaml", "log": ["log.csv"]}),
        ("identify", {"model": "m.yaml", "log": ["log.csv+../x.csv"]}),
        ("identify", {"model": "m.yaml", "log": ["../x.csv@0:1"]}),
        ("identify", {"model": "m.yaml", "log": ["log.csv"], "map": ["log.csv=/etc/passwd"]}),
        ("identify", {"model": "m.yaml", "log": ["log.csv"], "base": "../b.yaml"}),
        ("identify", {"model": "m.yaml", "log": ["log.csv"], "truth": "/etc/passwd"}),
        ("identify", {"model": "m.yaml", "log": ["log.csv"], "open": True}),
        ("identify", {"model": "m.yaml", "log": ["log.csv"], "offsets": "yes"}),
        ("identify", {"model": "m.yaml", "log": ["log.csv"], "seed": {"a": 1}}),
        ("identify", {"model": "m.yaml", "log": ["log.csv"], "seed": [1, 2]}),
        ("identify", {"model": "m.yaml", "log": ["log.csv"], "seed": "1\n2"}),
        ("identify", {"model": "m.yaml", "log": ["log.csv"] * 201}),
        ("identify", {"model": ["m.yaml", "m.yaml"], "log": ["log.csv"]}),
        ("excite", {"model": "m.yaml", "output": "-x.yaml"}),
        ("excite", {"model": "m.yaml", "output": ".mechid-studio/jobs/x.yaml"}),
        ("excite", {"model": "zoo:../../x"}),
        ("excite", {"model": 3}),
        ("report", {"run": "m.yaml"}),
        ("report", {"run": "run", "open": True}),
    ],
)
def test_what_is_refused(place: Folder, command: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(MechidError) as caught:
        prepared(command, arguments, place)
    assert getattr(caught.value, "status") in (403, 404, 422)  # noqa: B009 - of a refusal


def test_values_cannot_be_options(place: Folder) -> None:
    found = prepared("excite", {"model": "m.yaml", "seed": "--output=/tmp/x"}, place)
    assert found.argv == ("excite", "--seed=--output=/tmp/x", "--", "m.yaml")
