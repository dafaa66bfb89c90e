"""Blind test of the atlas: links that are drawn after its model was committed.

    .venv/bin/python benches/atlas_blind.py cubic+bbr3 FOLDER [--links 50] [--commit HASH]

The seed of the links is the hash of the commit that made the model. On each link the simulator
looks for the least buffers for 95 and 98 % (two seeds that no design has): sizes around that of the
atlas, until two neighbours at most 1.3 apart, or one packet, enclose the target. All sizes that ran
are kept in FOLDER and not run again. Then links outside of what is covered must be refused. Prints
the table of docs/explanation/which-law-governs-a-mix.md.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from atlas_design import FAMILIES, Family, base, fields_of, links, times_of
from numpy.typing import NDArray

import forebay
from forebay.engines.atlas import model, scope

Array = NDArray[np.float64]
TARGETS = (0.95, 0.98)
_SEED, _SEEDS, _NEAR, _LEVEL = 1001, 2, 1.3, 0.9
_LEAST_LOSS = 1e-4
"""A loss below it is of too few packets to be compared."""


@dataclass
class Case:
    """One link: what ran on it by packets, and what the atlas says."""

    family: Family
    scenario: forebay.Scenario
    point: scope.Point
    model: model.Model
    ran: dict[int, dict[str, float]]

    @property
    def has_bbr(self) -> bool:
        """Whether flows follow a model of the path."""
        return self.point.second > 0 and self.point.controls[1].startswith("bbr")

    def simulate(self, packets: int, keep: Any) -> float:
        """Return the utilization of a size, which is run once."""
        if packets not in self.ran:
            sized = self.scenario.with_buffer(packets)
            sized = sized.replace(times_of(sized, self.family))
            found = forebay.run(sized, seeds=_SEEDS, seed=_SEED, jobs=1)
            self.ran[packets] = row = _read(found, self.point.controls[1])
            keep(packets, row)
        return self.ran[packets]["utilization"]

    def curve(self) -> tuple[NDArray[np.int64], dict[str, tuple[Array, Array, Array]]]:
        """Return the sizes and what the atlas says of them."""
        least, most = scope.buffers(self.scenario)
        sizes = np.unique(np.round(np.geomspace(least, most, 400)).astype(int))
        return sizes, self.model.answer([self.point.with_packets(int(e)) for e in sizes], _LEVEL)

    def least_by_atlas(self, target: float) -> tuple[float, float, float]:
        """Return the first size that reaches a target, and its interval; infinite if none does."""
        sizes, said = self.curve()
        value, low, high = (_first(sizes, idle, 1.0 - target) for idle in said["idle"])
        return value, low, high

    def least(self, target: float, keep: Any) -> float:
        """Return the least size by simulation; infinite if the largest does not reach it."""
        least, most = scope.buffers(self.scenario)
        guess = self.least_by_atlas(target)[0]
        at = int(min(max(round(guess), least), most)) if math.isfinite(guess) else most
        step, low, high = _NEAR, None, None
        while low is None or high is None:
            if self.simulate(at, keep) >= target:
                high = at
                if at == least:
                    return float(least)
                at = max(least, min(at - 1, round(at / step)))
            else:
                low = at
                if at == most:
                    return math.inf
                at = min(most, max(at + 1, round(at * step)))
            step = step**1.5
        while high / low > _NEAR and high - low > 1:
            middle = round(math.sqrt(low * high))
            low, high = (low, middle) if self.simulate(middle, keep) >= target else (middle, high)
        short, over = (_odds(self.ran[each]["utilization"]) for each in (low, high))
        share = (_odds(target) - short) / (over - short)
        return float(low * (high / low) ** share)


def _odds(used: float) -> float:
    used = min(max(used, 1e-6), 1.0 - 1e-6)
    return math.log(used / (1.0 - used))


def _first(sizes: NDArray[np.int64], idle: Array, most: float) -> float:
    below = np.flatnonzero(idle <= most)
    return float(sizes[below[0]]) if below.size else math.inf


def _read(found: forebay.Outcome, second: str) -> dict[str, float]:
    link, kind = found.links["bottleneck"], found.classes[0]
    delay = link.queue_delay_s
    assert link.utilization and link.loss_rate and delay and delay.mean and delay.p99, "simulated"
    row = {"utilization": link.utilization.value, "loss": link.loss_rate.value,
           "delay_mean": delay.mean.value, "delay_p99": delay.p99.value}  # fmt: skip
    part = (kind.controllers or {}).get(second)
    if part is not None and part.goodput_share is not None:
        row["share"] = part.goodput_share.value
    return row


def cases(family: str, folder: Path, seed: int, count: int) -> tuple[list[Case], Path]:
    """Return the links of a seed, with what ran on them before."""
    file = folder / f"{family}-blind-{seed}.jsonl"
    kept: dict[int, dict[int, dict[str, float]]] = {}
    for line in file.read_text("utf-8").splitlines() if file.exists() else ():
        each = json.loads(line)
        kept.setdefault(each["link"], {})[each["packets"]] = each["row"]
    made = []
    family_links = links(seed, FAMILIES[family].controls)
    drawn = [each for each, _, _ in itertools.islice(family_links, count)]
    for place, link in enumerate(drawn):
        each = FAMILIES[family]
        scenario, controls = base().replace(fields_of(link, each)), each.controls
        point = scope.point_of(scenario.with_buffer(scope.SMALLEST), controls)
        made.append(Case(each, scenario, point, model.load(controls), kept.get(place, {})))
    return made, file


def judged(made: list[Case], file: Path) -> None:
    """Run what is missing, and print the table."""
    leasts: list[tuple[float, float, tuple[float, float, float], bool]] = []
    for place, case in enumerate(made):

        def keep(packets: int, row: dict[str, float], place: int = place) -> None:
            with file.open("a", encoding="utf-8") as out:
                out.write(json.dumps({"link": place, "packets": packets, "row": row}) + "\n")

        for target in TARGETS:
            true = case.least(target, keep)
            leasts.append((target, true, case.least_by_atlas(target), case.has_bbr))
        print(f"link {place}: {len(case.ran)} sizes", flush=True)
    _print_leasts(leasts)
    _print_metrics(made)


def _print_leasts(leasts: list[tuple[float, float, tuple[float, float, float], bool]]) -> None:
    for target in TARGETS:
        mine = [each for each in leasts if each[0] == target]
        near = [
            each for each in mine if _is_near(each[1], each[2][0], 0.15 if target < 0.96 else 0.2)
        ]
        ratios = [abs(math.log(said[0] / true)) for _, true, said, _ in mine
                  if math.isfinite(true) and math.isfinite(said[0])]  # fmt: skip
        held = [said[2] >= true >= said[1] for _, true, said, _ in mine]
        middle, most = np.expm1(np.quantile(ratios, (0.5, 0.9)))
        off = f"off by {middle:.0%} at the median, {most:.0%} at the ninetieth"
        print(f"least for {target:.0%}: near in {len(near)} of {len(mine)}, {off}; "
              f"in its interval in {sum(held)}")  # fmt: skip
        for name, mixed in (("without BBR", False), ("with BBR", True)):
            wide = [math.sqrt(said[2] / said[1]) for _, _, said, bbr in mine
                    if bbr == mixed and math.isfinite(said[2])]  # fmt: skip
            some = [each for each in mine if each[3] == mixed]
            if some:
                part = sum(1 for each in near if each[3] == mixed)
                width = f"x {np.median(wide):.2f} on each side" if wide else "open"
                print(f"  {name}: near in {part} of {len(some)}, {width}")


def _is_near(true: float, said: float, ratio: float) -> bool:
    if math.isinf(true) or math.isinf(said):
        return true == said
    return abs(said - true) <= max(ratio * true, 8.0)


def _print_metrics(made: list[Case]) -> None:
    used, lost, held = (
        [],
        [],
        dict.fromkeys(("idle", "loss", "delay_mean", "delay_p99", "share"), ()),
    )
    for case in made:
        sizes = sorted(case.ran)
        said = case.model.answer([case.point.with_packets(each) for each in sizes], _LEVEL)
        for place, packets in enumerate(sizes):
            true, unit = case.ran[packets], packets / case.point.pps
            values = {"idle": 1.0 - true["utilization"], "loss": true["loss"],
                      "delay_mean": true["delay_mean"] / unit,
                      "delay_p99": true["delay_p99"] / unit,
                      "share": true.get("share")}  # fmt: skip
            if true["utilization"] > 0.9:
                used.append(abs(values["idle"] - said["idle"][0][place]))
            if true["loss"] > _LEAST_LOSS:
                lost.append(abs(said["loss"][0][place] / true["loss"] - 1.0))
            for name, value in values.items():
                if value is not None:
                    _, low, high = (each[place] for each in said[name])
                    held[name] = (*held[name], bool(low <= value <= high))
    print(
        f"utilization above 90 %: {100 * np.median(used):.2f} points at the median of {len(used)}"
    )
    print(
        f"loss: {np.median(lost):.0%} at the median, {np.quantile(lost, 0.9):.0%} at the ninetieth"
    )
    every = [each for flags in held.values() for each in flags]
    print(f"intervals of {_LEVEL:.0%} hold in {np.mean(every):.0%} of {len(every)}: " + ", ".join(
        f"{name} {np.mean(flags):.0%}" for name, flags in held.items() if flags))  # fmt: skip


OUTSIDE: tuple[dict[str, object], ...] = (
    {"traffic.0.flows": 7}, {"traffic.0.flows": 20_000}, {"traffic.0.rtt": "50 ms"},
    {"traffic.0.rtt": {"uniform": ["1 ms", "20 ms"]}},
    {"traffic.0.rtt": {"uniform": ["1 s", "2 s"]}},
    {"traffic.0.max_window": 20}, {"queue.discipline": "codel"}, {"queue.discipline": "cake"},
    {"traffic.0.ecn": True}, {"traffic.0.packet": "9000 B"}, {"link.loss": 0.001},
    {"link.rate": "100 Gbit/s"}, {"queue.size": "1 GB"},
    {"traffic.0.congestion_control": "westwood"},
    {"traffic.0.offload": "off"},
)  # fmt: skip
"""Changes of a link that must be refused."""


def refused(made: list[Case]) -> int:
    """Return how many of twice `OUTSIDE` are refused."""
    count = 0
    for case, changes in zip(itertools.cycle(made), (*OUTSIDE, *OUTSIDE)):
        try:
            forebay.run(case.scenario.replace(changes), "atlas")
        except forebay.OutsideAtlas:
            count += 1
        else:
            print(f"not refused: {changes}")
    return count


def main() -> None:
    """Test a family."""
    parser = argparse.ArgumentParser()
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--links", type=int, default=50)
    parser.add_argument("--commit")
    given = parser.parse_args()
    file = f"src/forebay/engines/atlas/models/{given.family.replace('+', '-')}.npz"
    asked = ["git", "log", "-1", "--format=%H", "--", file]
    commit = given.commit or subprocess.run(asked, capture_output=True, text=True).stdout.strip()
    print(f"{given.family}, links by {commit}")
    made, kept = cases(given.family, given.folder, int(commit[:8], 16), given.links)
    judged(made, kept)
    print(f"outside: {refused(made)} of {2 * len(OUTSIDE)} refused")


if __name__ == "__main__":
    main()
