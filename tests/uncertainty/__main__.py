"""Try the intervals of the default estimator: python -m tests.uncertainty --seeds 200.

Results are appended to a file line by line, so that a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from tests.uncertainty.laws import LAWS
from tests.uncertainty.machines import MACHINES
from tests.uncertainty.trial import trial


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.uncertainty", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--machines", nargs="+", default=list(MACHINES), choices=list(MACHINES))
    parser.add_argument("--laws", nargs="+", default=list(LAWS), choices=list(LAWS), metavar="LAW")
    parser.add_argument("--runs", type=Path, default=Path("uncertainty.jsonl"))
    asked = parser.parse_args()
    lines = asked.runs.read_text("utf-8").splitlines() if asked.runs.exists() else []
    done = {(x["machine"], x["law"], x["seed"]) for x in map(json.loads, lines)}
    with asked.runs.open("a", encoding="utf-8") as file:
        for seed in range(asked.seeds):
            for machine in asked.machines:
                for law in asked.laws:
                    if (machine, law, seed) not in done and machine not in LAWS[law].without:
                        file.write(json.dumps(trial(machine, law, seed)) + "\n")
                        file.flush()


if __name__ == "__main__":
    main()
