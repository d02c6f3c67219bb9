"""Build mechid, install it in clean environments, and use it there as a user does.

python -m tests.package                          # lowest and newest versions, Python 3.11 to 3.13
python -m tests.package --python 3.12 --versions newest --output out.json
python -m tests.package --record                 # write the record and the tables of the page

A file that is there keeps what it has of other versions.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from functools import partial
from pathlib import Path

from tests.package.build import build
from tests.package.environment import EXTRAS, PYTHONS, VERSIONS, environment, install, installed
from tests.package.page import RECORD, write_page
from tests.package.steps import use


def main() -> int:
    """Run the trial; return 1 if a step failed."""
    options = argparse.ArgumentParser(prog="python -m tests.package", description=__doc__)
    options.add_argument("--python", nargs="+", default=PYTHONS, metavar="X.Y")
    options.add_argument("--versions", nargs="+", default=VERSIONS, choices=VERSIONS)
    options.add_argument("--quick", action="store_true", help="only what compiles no kernels")
    options.add_argument("--output", type=Path, help="JSON file; default: print the results")
    options.add_argument("--record", action="store_true", help="write the record and its page")
    given = options.parse_args()
    output = RECORD if given.record else given.output
    trials = {}
    if output and output.exists():
        trials = {(t["python"], t["versions"]): t for t in json.loads(output.read_text())["trials"]}
    failed = False
    with tempfile.TemporaryDirectory() as work:
        built = build(Path(work, "dist"))
        for python, versions in ((p, v) for p in given.python for v in given.versions):
            print(f"=== Python {python}, {versions} versions", file=sys.stderr, flush=True)
            place = Path(work, f"{python}-{versions}")
            environment(place, python)
            install(place, versions, built.wheel)
            more = partial(install, place, versions, built.wheel, EXTRAS)
            found = use(place, more, quick=given.quick)
            trial = {"python": python, "versions": versions} | installed(place) | found
            trials[python, versions] = trial
            failed |= any(step["status"] for step in trial["steps"])
            result = {"files": built.files, "trials": [trials[key] for key in sorted(trials)]}
            if output:
                output.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    if given.record:
        write_page()
    elif not output:
        print(json.dumps(result, indent=1))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
