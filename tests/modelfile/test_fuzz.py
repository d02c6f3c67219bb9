"""Whatever is wrong in a file is a `ModelError` of one line that says where; nothing else."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mechid.errors import ModelError
from mechid.modelfile import dumps, loads, zoo_names, zoo_path
from mechid.textfile.yamlio import Key, read_file, write

FILES = {name: read_file(zoo_path(name), name)[0] for name in zoo_names()}
WEIRD: list[Any] = [
    *(None, True, -1, 0, 1e308, float("nan"), 10**500, [], {}, [1, 2], [0, 0, 0], [[1, 2, 3]] * 3),
    *("", "x", "-x", "y.z", "ground", "ground.x", "a b", "a\nb", "3 mm", "1/0", "5 %", "(((", "é"),
    *({"in": "ground", "at": [0, 0, 0]}, {"from": "E", "to": "E"}, {"identify": True}, {"on": {}}),
    *({"rounded": [1, 2, 3]}, {"between": ["A"]}, {"value": None}, [None, None], "1 deg deg", "."),
]
KEYS = ["zz", "E", "x", "type", "at", "joints", "in", "frame", "rotor", "rpy", "units", "gravity"]
KEYS += ["include", "use", "point_masses", "axes", "about", "allow_nonphysical", "source"]
UNITS = [
    {},
    {"length": "mm"},
    {"length": "in", "mass": "g", "angle": "deg", "force": "kN"},
    {"time": "ms", "angle": "deg"},
]
NEW_WORDS: list[tuple[str, Any]] = [
    ("joints", {"rotor": {"inertia": 1, "ratio": 5, "viscous": {"identify": True}}}),
    ("bodies", {"point_masses": [{"mass": 1, "at": [1, 2, 3]}]}),
    ("bodies", {"frame": {"in": "ground", "origin": [1, 2, 3], "rpy": [0.1, "30 deg", 0]}}),
    ("bodies", {"inertia": {"axes": {"rpy": [1, 2, 3]}, "about": "origin"}}),
    ("gravity", {"magnitude": 3, "rpy": [0.1, 0.2, 0.3]}),
    ("subassemblies", {"use": {"inner": {"subassembly": "inner", "mirror": "y"}}}),
]
INNER: dict[str, Any] = {
    "bodies": {"extra": {}},
    "joints": {"extra": {"type": "F", "between": ["ground", "extra"]}},
}


def paths(data: Any, path: Key = ()) -> Iterator[Key]:
    items: Any = data.items() if isinstance(data, dict) else []
    items = enumerate(data) if isinstance(data, list) else items
    for key, value in items:
        yield (*path, key)
        yield from paths(value, (*path, key))


def add_new_words(draw: st.DrawFn, data: dict[str, Any]) -> None:
    """Put words into the file that the zoo does not use."""
    if draw(st.booleans()):
        data["units"] = draw(st.sampled_from(UNITS))
    section, words = copy.deepcopy(draw(st.sampled_from(NEW_WORDS)))
    if section == "gravity":
        data["gravity"] = words
    elif entries := [v for v in data.get(section, {}).values() if isinstance(v, dict)]:
        entry = draw(st.sampled_from(entries))
        for key, value in words.items():
            entry[key] = {**entry.get(key, {}), **value} if isinstance(value, dict) else value
    if section == "subassemblies" and section in data:
        data[section]["inner"] = INNER


@st.composite
def broken(draw: st.DrawFn) -> tuple[dict[str, Any], str | None]:
    data = copy.deepcopy(FILES[draw(st.sampled_from(sorted(FILES)))])
    if draw(st.booleans()):
        add_new_words(draw, data)
    for _ in range(draw(st.integers(1, 2))):
        path = draw(st.sampled_from(list(paths(data))))
        around: Any = data
        for key in path[:-1]:
            around = around[key]
        match draw(st.sampled_from(["replace", "remove", "rename"])):
            case "replace":
                around[path[-1]] = copy.deepcopy(draw(st.sampled_from(WEIRD)))
            case "rename" if isinstance(around, dict):
                around[draw(st.sampled_from(KEYS))] = around.pop(path[-1])
            case _:
                del around[path[-1]]
    variants = data.get("variants")
    names = sorted(variants) if isinstance(variants, dict) else []
    return data, draw(st.sampled_from([None, *names]))


@given(broken())
@settings(max_examples=60)
def test_broken_files(case: tuple[dict[str, Any], str | None]) -> None:
    data, variant = case
    try:
        m = loads(write(data), name="model.yaml", variant=variant)
    except ModelError as error:
        message = str(error)
    else:  # some changes do no harm
        assert loads(dumps(m)) == m
        return
    assert message.startswith("model.yaml")
    assert "\n" not in message
