"""Which links the atlas simulates: draws them, and runs them into a store; resumable.

    .venv/bin/python benches/atlas_design.py cubic+bbr3 FOLDER [--cells 1000] [--cluster ADDRESS]

FOLDER is kept outside of the repository: it gets a store of all replications, and for each stage a
file of its cells and a table of what they gave. What the store has is not run again, and a table
ends its stage for good; so the command is repeated until all cells are there.

The links are Sobol points (scipy.stats.qmc) over flows, window, round trip, its spread, access rate
and the second control's share. Buffers of the first stages are spread evenly over the logarithm, up
to four bandwidth-delay products. Later stages put 70 % where the model of the stages before has an
idle share of 0.3 to 20 %: there sizes are decided. Each stage has a seed of its own, and a cell has
one replication: at the same cost, twice the cells say more of a smooth law than two seeds of each.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy.stats import qmc

import forebay
from forebay.engines.atlas import scope
from forebay.laws import assumptions

STAGE, EVEN_STAGES = 100, 2
"""Cells a stage; the first stages know no model yet."""
USUAL_PPS, FASTEST_PPS = 100_000.0, scope.BOUNDS["pps"][2]
"""Packets a second, of 1500 bytes: above the first a link is drawn the less often the more it
costs, and the machine's hours carry none above the second."""
_USUAL_S = 133.0
"""The longest run without sawtooths; what lasts longer has to be so much slower."""
_ENOUGH = 1e6
"""Packets of a window; slow links are measured longer for them, up to 90 s."""
_BITS = 8 * 1500


@dataclass(frozen=True, slots=True)
class Family:
    """Two controls, and the times that their flows need.

    Attributes
    ----------
    window_s, longest_s : least window, and the longest of slow links.
    sawtooths : whether they need three sawtooths to warm up and five to be measured.
    """

    controls: tuple[str, str]
    window_s: float = 30.0
    longest_s: float = 90.0
    sawtooths: bool = False

    @property
    def warmup_s(self) -> float:
        """Time to settle, without sawtooths."""
        return scope.FAMILIES[self.controls]


FAMILIES = {
    "+".join(each): Family(each, sawtooths=each == ("reno", "cubic")) for each in scope.FAMILIES
}


def fields_of(point: scope.Point, family: Family) -> dict[str, Any]:
    """Return the fields of a link's scenario, without the buffer."""
    low = 2.0 * point.rtt_s / (1.0 + point.spread)
    window = min(family.longest_s, max(family.window_s, _ENOUGH / point.pps))
    first, other = family.controls
    mixed = {first: 1.0 - point.second / point.flows, other: point.second / point.flows}
    return {
        "link.rate": f"{point.pps * _BITS / 1e3:.7g} kbit/s",
        "traffic.0.flows": point.flows,
        "traffic.0.congestion_control": {name: of for name, of in mixed.items() if of > 0.0},
        "traffic.0.rtt": {"uniform": [f"{1e3 * e:.6g} ms" for e in (low, low * point.spread)]},
        "traffic.0.access_rate": f"{point.access * point.pps * _BITS / 1e3:.7g} kbit/s",
        "measure.warmup": f"{family.warmup_s:g} s",
        "measure.duration": f"{10.0 * math.ceil(window / 10.0):g} s",
    }


def links(seed: int, controls: tuple[str, str]) -> Iterator[tuple[scope.Point, float, float]]:
    """Yield links without a buffer yet, each with two numbers from 0 to 1 that choose it."""
    draw = qmc.Sobol(9, rng=seed)
    while True:
        for u in draw.random(64):
            flows = round(_within("flows", u[0]))
            rtt_s, spread = _within("rtt_s", u[2]), _within("spread", u[3])
            pps = _within("window", u[1]) * flows / rtt_s
            if pps <= FASTEST_PPS and u[8] <= USUAL_PPS / pps:
                access = _within("access", u[4], scope.LEAST_ACCESS / flows)
                if abs(access - 1.0) < 2.0 * scope.ALIKE_RATES:
                    continue
                second = _second(u[5], flows)
                point = scope.Point(controls, flows, second, pps, rtt_s, spread, access, packets=0)
                yield point, u[6], u[7]


def _within(name: str, u: float, least: float = 0.0) -> float:
    """Return a number of the atlas's bounds, evenly over the logarithm."""
    _, low, high, _ = scope.BOUNDS[name]
    return _log(u, max(low, least), high)


def _log(u: float, low: float, high: float) -> float:
    return float(low * (high / low) ** u)


def _second(u: float, flows: int) -> int:
    """Return the second control's flows: none, all, a third below 15 %, the rest above."""
    if u < 0.12:
        return 0
    if u > 0.88:
        return flows
    share = 0.15 * (u - 0.12) / 0.33 if u < 0.45 else 0.15 + 0.85 * (u - 0.45) / 0.43
    return min(max(1, round(share * flows)), flows - 1)


def base() -> forebay.Scenario:
    """Return the scenario that all cells change."""
    start = {"uniform": ["0 s", "10 s"]}
    return forebay.Scenario(
        name="atlas",
        link={"rate": "100 Mbit/s"},  # type: ignore[arg-type]
        queue={"size": "100 packets"},  # type: ignore[arg-type]
        traffic=[{"kind": "long", "flows": 8, "start": start}],  # type: ignore[list-item]
        measure={"warmup": "43 s", "duration": "30 s"},  # type: ignore[arg-type]
    )


def cells(family: str, stage: int, folder: Path) -> list[dict[str, Any]]:
    """Return the cells of a stage, as fields; those that were drawn before are read."""
    file = folder / f"{family}-{stage:02}.json"
    if file.exists():
        made: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))
        return made
    known = None
    if stage >= EVEN_STAGES:
        from atlas_model import fitted

        known = fitted(family, folder)
    made = []
    for link, where, u in links(stage + 1, FAMILIES[family].controls):
        fields = fields_of(link, FAMILIES[family])
        packets = _log(u, 1.0, max(scope.LARGEST_BDP * link.bdp, 12.0))
        if known is not None and where < 0.7:
            idle = _log(u, 0.003, 0.2)
            packets = known.packets_at(base().replace(fields), idle)
        fields["queue.size"] = f"{max(1, round(packets))} packets"
        fields |= times_of(base().replace(fields), FAMILIES[family])
        if link.pps * _seconds(fields) <= FASTEST_PPS * _USUAL_S:
            made.append(fields)
        if len(made) == STAGE:
            break
    file.write_text(json.dumps(made), "utf-8")
    return made


def times_of(scenario: forebay.Scenario, family: Family) -> dict[str, Any]:
    """Return the times of a cell of sawtooths: three to warm up, five to be measured."""
    if not family.sawtooths:
        return {}
    period_s = assumptions.sawtooths_s(scenario, scenario.buffer_packets).period_s
    started_s = float(scenario.traffic[0].start.high)
    warmup_s = max(float(scenario.measure.warmup), started_s + 3.0 * period_s)
    window_s = max(float(scenario.measure.duration), 5.0 * period_s)
    return {"measure.warmup": f"{warmup_s:.3g} s", "measure.duration": f"{window_s:.3g} s"}


def _seconds(fields: dict[str, Any]) -> float:
    return sum(float(fields[f"measure.{part}"].split()[0]) for part in ("warmup", "duration"))


def swept(family: str, stage: int, folder: Path, **options: Any) -> None:
    """Run the cells of a stage that the store does not have, and write its table."""
    table = folder / f"{family}-{stage:02}.csv"
    if table.exists():
        return
    made = cells(family, stage, folder)
    names = tuple(made[0])
    points = [tuple(each[name] for name in names) for each in made]
    store = folder / f"{family}.sqlite"
    forebay.sweep(
        base(), {names: points}, seeds=1, seed=stage + 1, store=store, announce=print, **options
    ).export(table)


def main() -> None:
    """Run all stages of a family."""
    parser = argparse.ArgumentParser()
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cells", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cluster")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for stage in range(math.ceil(given.cells / STAGE)):
        swept(given.family, stage, given.folder, jobs=given.jobs, cluster=given.cluster)
        print(f"stage {stage} is done", flush=True)


if __name__ == "__main__":
    main()
