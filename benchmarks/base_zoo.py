"""How many parameters of every mechanism of the zoo can be identified, with bounds and seconds.

`python benchmarks/base_zoo.py` prints the table; `--docs` writes it to docs/reference/base-zoo.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import mechid

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "base-zoo.md"
HEAD = """# Base parameters of the zoo

Written by `benchmarks/base_zoo.py`. *Upper bound*: parameters less independent transfers of
inertia; *lower bound*: rank proved in ball arithmetic. Where they meet and every step is proved,
the number is certified. A certificate takes the seconds of the last column (one core of the machine
of the [benchmarks](../benchmarks.md)).

| model | parameters | without effect | upper bound | lower bound | certified | s |
|---|--:|--:|--:|--:|---|--:|
"""


def specs() -> Iterator[str]:
    """Yield all models and variants."""
    for entry in mechid.zoo():
        yield entry.name
        yield from (f"{entry.name}@{variant}" for variant, _ in entry.variants)


def row(spec: str) -> tuple[str, list[str]]:
    """Return a row of the table, and remarks."""
    began = time.process_time()
    found = mechid.base_parameters(mechid.load(spec), certify=True)
    seconds = time.process_time() - began
    bounds = found.bounds
    assert bounds is not None
    cells = (
        f"`{spec}`",
        found.parameters,
        len(found.chosen.without_effect),
        bounds.upper,
        bounds.lower,
        "yes" if found.certified else "no",
        f"{seconds:.1f}",
    )
    remarks = list(bounds.open_questions)
    for d in found.dependencies:
        remarks.append(f"a dependency that no transfer explains: {', '.join(d.names)}")
    return "| " + " | ".join(map(str, cells)) + " |", remarks


def main() -> None:
    """Print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("models", nargs="*", help="some models only")
    options = parser.parse_args()
    rows, notes = [], []
    for spec in options.models or specs():
        text, remarks = row(spec)
        print(text, *remarks, sep="\n  ", flush=True)
        rows.append(text)
        if remarks:
            notes.append(f"- `{spec}`: " + "; ".join(remarks) + ".")
    if options.docs:
        page = HEAD + "\n".join(rows) + "\n\nWhat is not certified, and why:\n\n" + "\n".join(notes)
        PAGE.write_text(page + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
