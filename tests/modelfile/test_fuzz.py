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
KEYS = ["zz", "E", "x", "type", "at", "joints", "in", "frame"]


def paths(data: Any, path: Key = ()) -> Iterator[Key]:
    items: Any = data.items() if isinstance(data, dict) else []
    items = enumerate(data) if isinstance(data, list) else items
    for key, value in items:
        yield (*path, key)
        yield from paths(value, (*path, key))


@st.composite
def broken(draw: st.DrawFn) -> tuple[dict[str, Any], str | None]:
    data = copy.deepcopy(FILES[draw(st.sampled_from(sorted(FILES)))])
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
