"""Try the intervals of the default estimator.

    python -m tests.uncertainty --seeds five_bar=200 puma560=10 sla_suspension=10

Results are appended to a file line by line, so that a run that was stopped goes on where it was.
With --record, the record and the tables of the page are made from it; mechanisms and laws that are
not in the file stay in the record as they were.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from tests.records import write_tables
from tests.uncertainty.laws import LAWS
from tests.uncertainty.machines import MACHINES
from tests.uncertainty.record import PAGE, RECORD, summary, tables
from tests.uncertainty.trial import trial


def main() -> None:
    """Run what is not in the file yet."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.uncertainty",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seeds", nargs="*", default=[], metavar="MECHANISM=NUMBER")
    parser.add_argument("--laws", nargs="+", default=list(LAWS), choices=list(LAWS), metavar="LAW")
    parser.add_argument("--runs", type=Path, default=Path("uncertainty.jsonl"))
    parser.add_argument("--record", action="store_true", help="write record and tables")
    asked = parser.parse_args()
    runs = asked.runs.read_text("utf-8").splitlines() if asked.runs.exists() else []
    done = {(x["machine"], x["law"], x["seed"]) for x in map(json.loads, runs)}
    wanted = [
        (machine, law, seed)
        for machine, number in (words.split("=") for words in asked.seeds)
        for seed in range(int(number))
        for law in asked.laws
        if machine not in LAWS[law].without
    ]
    with asked.runs.open("a", encoding="utf-8") as file:
        for cell in wanted:
            if cell not in done:
                runs.append(json.dumps(trial(*cell)))
                file.write(runs[-1] + "\n")
                file.flush()
    if asked.record:
        found = summary(map(json.loads, runs))
        made = {(row["machine"], row["law"]) for row in found}
        before = json.loads(RECORD.read_text("utf-8"))
        found += [
            row for row in before if row["law"] in LAWS and (row["machine"], row["law"]) not in made
        ]
        order = list(MACHINES), list(LAWS)
        found.sort(key=lambda row: (order[0].index(row["machine"]), order[1].index(row["law"])))
        RECORD.write_text("[\n" + ",\n".join(map(json.dumps, found)) + "\n]\n", "utf-8")
        write_tables(PAGE, tables())


if __name__ == "__main__":
    main()
