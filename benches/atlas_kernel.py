"""Ten links on which the Linux kernel ran, against the atlas. As root; a quarter of an hour.

    sudo .venv/bin/python benches/atlas_kernel.py FOLDER

Five links a family (CUBIC with BBRv3 is left out: no kernel of the distributions has BBRv3), drawn
with the density of the design, by a seed that no design has, and slow enough for the testbed. Each
gets the buffer that the atlas gives an idle share of 0.3 to 20 %, and is left out if that holds
less than 5 ms: the testbed's gate refuses runs that stall for longer. Measured for 40 s. A link is
in if the kernel's utilization and its loss both lie in the atlas's intervals of 95 %. Runs are kept
in FOLDER.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from atlas_design import FAMILIES, base, fields_of, links, times_of
from atlas_model import Fitted

import forebay
from forebay.engines.atlas import model, scope

LINKS, FASTEST_PPS, MOST_FLOWS, LEAST_S = 5, 8000.0, 100, 0.005
SEEDS = {"reno+cubic": 4096, "cubic+bbr": 4097}


def chosen(family: str) -> Iterator[forebay.Scenario]:
    """Yield links that the testbed can run, with their buffers."""
    known = Fitted(family, model.load(FAMILIES[family].controls))
    for point, _, u in links(SEEDS[family], FAMILIES[family].controls):
        if point.pps > FASTEST_PPS or point.flows > MOST_FLOWS:
            continue
        scenario = base().replace(fields_of(point, FAMILIES[family]))
        least, most = scope.buffers(scenario)
        packets = known.packets_at(scenario, 0.003 * (0.2 / 0.003) ** u)
        size = min(max(round(packets), least), most)
        if size >= LEAST_S * point.pps:
            sized = scenario.with_buffer(size)
            times = times_of(sized, FAMILIES[family])
            yield sized.replace(times | {"measure.duration": "40 s"})


def main() -> None:
    """Run what is missing, and print the table."""
    file, held = Path(sys.argv[1]) / "kernel.jsonl", []
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    kept = {each["sha256"]: each for each in map(json.loads, lines)}
    for family in SEEDS:
        for scenario in islice(chosen(family), LINKS):
            name = scenario.sha256()
            if name not in kept:
                try:
                    link = forebay.run(scenario, "testbed").links["bottleneck"]
                except forebay.EngineUnavailable as error:
                    print(f"not measured: {error}", flush=True)
                    continue
                assert link.utilization and link.loss_rate, "measured"
                kept[name] = {"sha256": name, "utilization": link.utilization.value,
                              "loss_rate": link.loss_rate.value}  # fmt: skip
                with file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(kept[name]) + "\n")
            said = forebay.run(scenario, "atlas").links["bottleneck"]
            parts = []
            for part in ("utilization", "loss_rate"):
                metric, true = getattr(said, part), kept[name][part]
                assert metric.low is not None and metric.high is not None, "an interval of links"
                parts.append(metric.low <= true <= metric.high)
                print(f"{part} {true:.4f}, atlas {metric.value:.4f} ({metric.low:.4f} to "
                      f"{metric.high:.4f})", end="; ")  # fmt: skip
            held.append(all(parts))
            mix = scenario.to_dict()["traffic"][0]["congestion_control"]
            print(f"{'in' if held[-1] else 'OUT'}: {scenario.link.rate / 1e6:.3g} Mbit/s, "
                  f"{scenario.traffic[0].flows} flows, {mix}, {scenario.buffer_packets} packets",
                  flush=True)  # fmt: skip
    print(f"{sum(held)} of {len(held)} links are in")


if __name__ == "__main__":
    main()
