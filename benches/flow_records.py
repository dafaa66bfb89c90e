"""What do records of flows cost, in time and in memory?

    .venv/bin/python benches/flow_records.py [FLOWS [REPEATS [SIZE]]]

Simulates transfers (100,000 if not said) of SIZE: a number of packets (20) over one link, or what
`size` of the kind transfers takes, such as web-search, over a fat tree of 16 hosts. Each case is in
a process of its own: without records, with them written as Parquet (needs pyarrow), and as CSV.
Over a fat tree each case keeps records, for the slowdown: what is measured is the file. Prints the
processor time and the largest memory of the process, the least of the repeats, and what records
add. Processor time, so that a loaded machine says about the same as an idle one.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

CASES = ("without", "parquet", "csv")
LOAD = 0.6
HOSTS = 16


def scenario(flows: int, size: str) -> dict[str, object]:
    """Return a link of 1 Gbit/s, or a fat tree of such links, that so many transfers cross."""
    if size.isdigit():
        seconds = flows * int(size) * 1500 * 8 / (LOAD * 1e9)
        return {
            "link": {"rate": "1 Gbit/s"},
            "queue": {"size": "500 packets"},
            "traffic": [
                {
                    "kind": "short",
                    "length": f"{size} packets",
                    "load": LOAD,
                    "rtt": {"uniform": ["10 ms", "30 ms"]},
                }
            ],
            "measure": {"warmup": "0 s", "duration": f"{seconds:g} s"},
        }
    from forebay import Transfers

    classes = [{"name": name} for name in ("access", "edge", "core")]
    transfers = {"kind": "transfers", "size": size, "load": LOAD / 2}
    packets = flows * Transfers.model_validate(transfers).mean_packets
    return {
        "link": {"rate": "1 Gbit/s", "delay": "10 us"},
        "queue": {"size": "100 packets"},
        "topology": {"fat_tree": {"k": 4}, "classes": classes},
        "traffic": [transfers],
        "measure": {
            "warmup": "0 s",
            "duration": f"{packets * 1500 * 8 / (LOAD / 2 * HOSTS * 1e9):g} s",
        },
    }


def child(case: str, flows: int, size: str) -> None:
    """Run one case, and print its time, memory and rows."""
    import forebay
    from forebay.api.run import kept_flows

    asked = forebay.Scenario.from_dict(scenario(flows, size))
    with tempfile.TemporaryDirectory() as folder:
        kept = None if case == "without" else Path(folder) / f"flows.{case}"
        outcome = forebay.run(asked, seed=1, flows=kept, memory_limit="16 GB")
        rows = 0 if case == "without" else kept_flows(outcome).rows
    used = resource.getrusage(resource.RUSAGE_SELF)
    found = {"cpu_s": used.ru_utime + used.ru_stime, "mib": used.ru_maxrss / 1024, "rows": rows}
    print(json.dumps(found | {"packets": outcome.provenance.packets}))


def measure(case: str, flows: int, repeats: int, size: str) -> dict[str, float]:
    """Return the least time and memory of some runs."""
    command = [sys.executable, __file__, "--case", case, str(flows), size]
    runs = [json.loads(subprocess.check_output(command)) for _ in range(repeats)]
    return {name: min(run[name] for run in runs) for name in runs[0]}


def main() -> None:
    """Print a line for each case."""
    if sys.argv[1:2] == ["--case"]:
        return child(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    flows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    size = sys.argv[3] if len(sys.argv) > 3 else "20"
    plain = measure("without", flows, repeats, size)
    for case in CASES:
        seen = plain if case == "without" else measure(case, flows, repeats, size)
        more = seen["cpu_s"] / plain["cpu_s"] - 1.0
        memory = (seen["mib"] - plain["mib"]) * 2**20 / max(seen["rows"], 1)
        print(
            f"{case:8} {seen['cpu_s']:7.2f} s ({100 * more:+.1f} %), {seen['mib']:7.0f} MiB"
            + (f" ({memory:.0f} B a row more)" if seen["rows"] else ""),
            flush=True,
        )


if __name__ == "__main__":
    main()
