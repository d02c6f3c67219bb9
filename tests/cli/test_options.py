"""The command line has the words of the library: every option of a step, and its default."""

from __future__ import annotations

import inspect
from dataclasses import fields

import pytest

from mechid.cli.excite import excite
from mechid.cli.excite_options import words_of
from mechid.cli.identify import identify
from mechid.cli.record_options import with_option_names
from mechid.cli.reduce import reduce
from mechid.cli.synthesise import synthesise
from mechid.options import ExciteOptions, IdentifyOptions, ReduceOptions, SynthesiseOptions

# What the command line gives in several options, or not at all.
OTHERWISE = {IdentifyOptions: {"settings": "setting"}, ReduceOptions: {"condition", "blocks"}}


@pytest.mark.parametrize(
    ("command", "record"),
    [
        (excite, ExciteOptions),
        (synthesise, SynthesiseOptions),
        (identify, IdentifyOptions),
        (reduce, ReduceOptions),
    ],
)
def test_every_option_of_the_library_is_one_of_the_command(command, record) -> None:
    shown = set(inspect.signature(command).parameters)
    missing = {f.name for f in fields(record)} - shown
    assert missing == set(OTHERWISE.get(record, ()))


def test_what_is_not_given_has_the_default_of_the_library() -> None:
    nothing = dict.fromkeys((f.name for f in fields(ExciteOptions)), None)
    assert words_of(nothing) == ExciteOptions()
    some = nothing | {"noise": "5 %", "goals": ["d=-170", "a=1e-3"], "fixed": ["q1=0.1*t"],
                      "parameters": "m_1, m_2", "prior": False}  # fmt: skip
    assert words_of(some) == ExciteOptions(
        noise=0.05,
        goals={"d": -170.0, "a": 1e-3},
        fixed={"q1": "0.1*t"},
        parameters=("m_1", "m_2"),
        prior=False,
        criterion="goals",
    )


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("cad_error must be > 0, got 0", "--cad-error must be > 0, got 0"),
        ("base and converge_on exclude", "base and --converge-on exclude"),
        ("data/cad_error.csv: there is no such file", "data/cad_error.csv: there is no such file"),
        ("--cad-error is there", "--cad-error is there"),
    ],
)
def test_messages_name_options_as_they_are_typed(line: str, shown: str) -> None:
    assert with_option_names(line) == shown
