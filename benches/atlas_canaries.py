"""Does the simulator still give the digits that the atlas is from? Runs its canaries again.

    .venv/bin/python benches/atlas_canaries.py [--choose FOLDER]

Canaries are cells of the design, with the digits that they had. If all have them still, the hash of
the simulator's sources is written beside them, and nothing else changes: a faster simulator with
the same digits keeps its atlas. If one differs, the atlas is marked as stale and refuses every
question until atlas_design.py and atlas_model.py have made it anew. With --choose the canaries are
taken from the tables of FOLDER, which atlas_model.py fitted.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from atlas_design import FAMILIES, base
from atlas_model import FIELDS, MODELS, read

import forebay

FILE, SOURCES = MODELS / "canaries.json", Path(__file__).parents[1] / "crates/sim/src"
_COUNT, _MOST_PACKETS = 40, 1.6e6
"""Canaries of all families; packets of one, some half a second."""
_DIGITS = ("link.bottleneck.utilization", "link.bottleneck.loss_rate",
           "link.bottleneck.queue_packets.mean", "link.bottleneck.queue_delay_s.p99")  # fmt: skip


def sources() -> str:
    """Return the hash of the simulator's sources, by their names and contents."""
    made = hashlib.sha256()
    for path in sorted(SOURCES.rglob("*.rs")):
        made.update(path.relative_to(SOURCES).as_posix().encode() + path.read_bytes())
    return made.hexdigest()


def digits(canary: dict[str, Any]) -> dict[str, str]:
    """Return what a canary gives now, twelve digits of each metric."""
    scenario = base().replace(canary["fields"])
    row = forebay.run(scenario, seed=canary["seed"], jobs=1).to_row()
    return {name: f"{row[name]:.12g}" for name in _DIGITS}


def chosen(folder: Path) -> list[dict[str, Any]]:
    """Return cells of each family that are cheap, spread over its design."""
    families = [each for each in FAMILIES if any(folder.glob(f"{each}-??.csv"))]
    found = []
    for family in families:
        rows = []
        for table in sorted(folder.glob(f"{family}-??.csv")):
            with table.open(encoding="utf-8", newline="") as file:
                rows += [
                    each for each in csv.DictReader(file) if float(each["packets"]) <= _MOST_PACKETS
                ]
        left = len(families) - families.index(family)
        count = (_COUNT - len(found)) // left
        for row in rows[:: max(1, len(rows) // count)][:count]:
            fields = {name: read(row[name]) for name in FIELDS}
            kept = {name: f"{float(row[name]):.12g}" for name in _DIGITS}
            found.append({"fields": fields, "seed": int(row["seed"]), "digits": kept})
    return found


def main() -> int:
    """Run the canaries and write the stamp; 1 if the atlas is stale."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--choose", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    known = (
        chosen(given.choose) if given.choose else json.loads(FILE.read_text("utf-8"))["canaries"]
    )
    differ = [place for place, each in enumerate(known) if digits(each) != each["digits"]]
    stamp = {"holds": not differ, "sources": sources(), "canaries": known}
    FILE.write_text(json.dumps(stamp, indent=1) + "\n", "utf-8")
    print(f"{len(known) - len(differ)} of {len(known)} canaries have their digits")
    if differ:
        print("the atlas is stale: run atlas_design.py and atlas_model.py again, then --choose")
    return int(bool(differ))


if __name__ == "__main__":
    sys.exit(main())
