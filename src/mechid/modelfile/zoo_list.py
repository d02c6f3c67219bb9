"""The list of the zoo: `python -m mechid.modelfile.zoo_list` writes it from the files."""

from __future__ import annotations

import json
from dataclasses import asdict

from mechid.modelfile.api import load
from mechid.modelfile.zoo import LIST, ZooEntry, zoo_names, zoo_path
from mechid.textfile.yamlio import read_file


def made_list() -> tuple[ZooEntry, ...]:
    """Return what the list should say."""
    return tuple(_entry(name) for name in zoo_names())


def _entry(name: str) -> ZooEntry:
    data, _ = read_file(zoo_path(name), f"{name}.yaml")
    variants = (data.get("variants") or {}).items()
    mechanism = load(name)
    return ZooEntry(
        name=name,
        title=str(data.get("title", "")),
        variants=tuple((variant, str((x or {}).get("title", ""))) for variant, x in variants),
        bodies=len(mechanism.bodies),
        joints=len(mechanism.joints),
        coordinates=len(mechanism.coordinates),
    )


if __name__ == "__main__":
    entries = [json.dumps(asdict(entry), ensure_ascii=False) for entry in made_list()]
    LIST.write_text("[\n" + ",\n".join(entries) + "\n]\n", encoding="utf-8")
