"""Processor time of a simulated packet, by congestion control and number of flows.

    .venv/bin/python benches/packet_cost.py

Prints the table that src/forebay/search/cost.py has, in microseconds a packet.
"""

from __future__ import annotations

import time

from forebay import engines
from forebay.effort import Effort
from forebay.scenario import CONGESTION_CONTROLS, loads

LINKS = ((100, "500 Mbit/s"), (1_000, "1 Gbit/s"), (10_000, "2 Gbit/s"), (100_000, "4 Gbit/s"))


def cost_us(control: str, flows: int, rate: str) -> float:
    """Return processor microseconds a packet, the draw included."""
    text = f"""
[link]
rate = "{rate}"
[queue]
size = "1 bdp/sqrt(n)"
[[traffic]]
flows = {flows}
congestion_control = "{control}"
rtt = {{ uniform = ["30 ms", "90 ms"] }}
start = {{ uniform = ["0 s", "2 s"] }}
[measure]
warmup = "4 s"
duration = "4 s"
"""
    engine, started = engines.get("simulation"), time.process_time()
    outcome = engine.run(loads(text), [1], Effort(jobs=1))
    return 1e6 * (time.process_time() - started) / (outcome.provenance.packets or 1)


if __name__ == "__main__":
    cost_us("reno", 10, "10 Mbit/s")  # imports are no cost of a packet
    print("control", *(f"{flows} flows" for flows, _ in LINKS), sep="\t")
    for name in CONGESTION_CONTROLS:
        print(name, *(f"{cost_us(name, *link):.2f}" for link in LINKS), sep="\t", flush=True)
