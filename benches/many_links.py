"""A random network as a scenario: links in a row of tables, a traffic class a route.

``python benches/many_links.py links=1000 classes=2000 flows=50000`` simulates one and says where
the time goes: reading the scenario, drawing and laying out, the packets, and naming the readings.
"""

from __future__ import annotations

import os
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

GIVEN = {
    "links": 1000,
    "classes": 2000,
    "flows": 50_000,
    "least": 4,
    "most": 7,
    "mbps": 100,
    "buffer": 100,
    "warmup_ms": 500,
    "duration_ms": 1000,
    "seed": 1,
    "return": 0,
}


def write(given: dict[str, int], path: Path) -> None:
    """Write the scenario to a file."""
    draw = random.Random(given["seed"])
    names = [f"l{number}" for number in range(given["links"])]
    warmup, duration = given["warmup_ms"], given["duration_ms"]
    lines = [
        'name = "a random network"',
        f'link = {{ rate = "{given["mbps"]} Mbit/s", delay = "1 ms" }}',
        f'queue = {{ size = "{given["buffer"]} packets" }}',
        f'measure = {{ warmup = "{warmup} ms", duration = "{duration} ms" }}',
    ]
    for name in names[1:]:
        lines += [
            "[[links]]",
            f'name = "{name}"',
            f'rate = "{given["mbps"]} Mbit/s"',
            'delay = "1 ms"',
            f'queue.size = "{given["buffer"]} packets"',
        ]
    names[0] = "bottleneck"
    for number in range(given["classes"]):
        share, more = divmod(given["flows"], given["classes"])

        def route() -> str:
            hops = draw.sample(names, draw.randint(given["least"], given["most"]))
            return "[" + ", ".join(f'"{hop}"' for hop in hops) + "]"

        lines += [
            "[[traffic]]",
            f"flows = {share + (number < more)}",
            f'rtt = {{ uniform = ["{draw.randint(30, 60)} ms", "200 ms"] }}',
            f"route = {route()}",
            *([f"return_route = {route()}"] if given["return"] else []),
            'start = { uniform = ["0 s", "500 ms"] }',
            'access_rate = "1 Gbit/s"',
        ]
    path.write_text("\n".join(lines) + "\n")


def main() -> None:
    """Simulate one network and print seconds and memory."""
    given = GIVEN | {k: int(v) for k, v in (pair.split("=") for pair in sys.argv[1:])}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.toml"
        write(given, path)
        clock = [time.process_time()]
        import forebay
        from forebay import _core
        from forebay.engines.replication.readings import to_reading
        from forebay.engines.simulation.runs import make_run
        from forebay.outcome import summarize

        clock.append(time.process_time())
        scenario = forebay.load(path)
        clock.append(time.process_time())
        run, workload, layout = make_run(scenario, given["seed"])
        clock.append(time.process_time())
        (raw,) = _core.simulate([run], jobs=1)
        clock.append(time.process_time())
        reading = to_reading(scenario, given["seed"], workload, layout, raw)
        links, classes = summarize([reading], scenario.goals)
        clock.append(time.process_time())
    arrivals = sum(int(link.arrivals.sum()) for link in reading.links.values())
    window = given["duration_ms"] / (given["duration_ms"] + given["warmup_ms"])
    steps = ("import", "load", "lay out", "simulate", "name and sum up")
    for step, begin, end in zip(steps, clock, clock[1:], strict=False):
        print(f"{step:16} {end - begin:7.2f} CPU-s")
    simulated = clock[4] - clock[3]
    print(f"{arrivals / window / simulated / 1e6:.2f} M hop-packets a CPU-second")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(links)} links, {len(classes)} classes, {len(workload)} flows, peak {peak:.0f} MB")


if __name__ == "__main__":
    main()
