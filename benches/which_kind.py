"""Which kinds of traffic a law of many flows holds for: what it asks for and what simulation finds.

``python benches/which_kind.py docs`` writes docs/explanation/which-kind-governs.csv: one row a kind
of link, with what `forebay.laws.regime_of` says of it. 50 Mbit/s, 98 % utilization; the quantities
that are varied stand in the row. ``--only TEXT`` runs rows whose name holds it, and writes nothing.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import forebay
from forebay.laws import regime_of
from forebay.scenario import Scenario, loads

COLUMNS = (
    "name", "regime", "law", "flows", "window", "asked", "simulation", "simulation_low",
    "loss_percent",
)  # fmt: skip
SPREAD = '{ uniform = ["30 ms", "90 ms"] }'
CONTROLS = (
    "reno", "dctcp", "compound", "cubic", "cubic-beta-0.8", "bic", "scalable", "bbr", "bbr3",
)  # fmt: skip


def cases() -> Iterator[tuple[str, Scenario]]:
    """Every kind of link, with its name."""
    yield from _controls()
    yield from _round_trips()
    yield from _beside()
    yield from _elsewhere()


def _controls() -> Iterator[tuple[str, Scenario]]:
    for flows in (3, 6, 20, 80):
        for control in CONTROLS if flows > 6 else ("reno", "cubic", "scalable"):
            yield f"{flows} {control}", _link(_long(flows, f'"{control}"'))
    for share in (0.02, 0.1, 0.4):
        for model in ("bbr", "bbr3"):
            mixed = f"{{ cubic = {1 - share:g}, {model} = {share} }}"
            yield f"60 cubic, {share} of them {model}", _link(_long(60, mixed))
    for control in ("reno", "cubic", "scalable", "bic", "bbr"):
        one = _link(_long(1, f'"{control}"', '"40 ms"'), rate=20)
        yield f"1 {control} at 20 Mbit/s", one
    for flows in (125, 250, 500):
        yield f"{flows} reno", _link(_long(flows, '"reno"'))
    yield "160 cubic at 100 Mbit/s", _link(_long(160, '"cubic"'), rate=100)
    yield "300 reno at 200 Mbit/s", _link(_long(300, '"reno"'), rate=200)


def _round_trips() -> Iterator[tuple[str, Scenario]]:
    for sender in ("linux", "ns2"):
        for part in (0.0, 0.005, 0.05, 0.2):
            trip = f'{{ uniform = ["{60 * (1 - part):g} ms", "{60 * (1 + part):g} ms"] }}'
            for flows in (20, 80):
                name = f"{flows} reno, {sender}, round trips ±{100 * part:g} %"
                yield name, _link(_long(flows, '"reno"', trip, f'sender = "{sender}"'))
    for flows in (6, 20):
        yield f"{flows} cubic, round trips alike", _link(_long(flows, '"cubic"', '"60 ms"'))


def _beside() -> Iterator[tuple[str, Scenario]]:
    tcp = _long(60, '"reno"')
    for load in (0.002, 0.05, 0.1, 0.2, 0.4):
        udp = f'[[traffic]]\nkind = "udp"\nflows = 2\nload = {load}\n'
        video = f'[[traffic]]\nkind = "video"\nflows = 2\nrate = "{25 * load:g} Mbit/s"\n'
        yield f"60 reno beside udp {load}", _link(tcp + udp)
        yield f"60 reno beside video {load}", _link(tcp + video)
    for load in (0.1, 0.2, 0.4, 0.6, 0.8):
        yield f"60 reno beside short {load}", _link(tcp + _short(load))
    for users in (30, 300):
        yield f"60 reno beside {users} users", _link(tcp + _users(users))
    yield "100 users alone", _link(_users(100), goal=0.5)


def _elsewhere() -> Iterator[tuple[str, Scenario]]:
    tcp = _long(60, '"reno"')
    for discipline in ("bfifo", "red", "pie", "codel", "fq_codel"):
        yield f"60 reno, {discipline}", _link(tcp, queue=f'discipline = "{discipline}"')
    reverse = _long(60, '"reno"', more='direction = "reverse"')
    yield "60 reno, 60 in reverse", _link(tcp + reverse)
    ways = ('["bottleneck", "next"]', '["bottleneck"]', '["next"]')
    lot = "".join(_long(30, '"reno"', more=f"route = {way}") for way in ways)
    following = 'links = [{ name = "next", rate = "50 Mbit/s", queue = { size = "40 packets" } }]'
    yield "60 reno over a further link", _link(lot, top=following)


def _link(
    traffic: str, *, rate: int = 50, goal: float = 0.98, queue: str = "", top: str = ""
) -> Scenario:
    return loads(f"""
        {top}
        link.rate = "{rate} Mbit/s"
        queue = {{ {queue} }}
        measure = {{ warmup = "15 s", duration = "40 s" }}
        goals.utilization = {goal}
        {traffic}
        """)


def _long(flows: int, control: str, rtt: str = SPREAD, more: str = "") -> str:
    lines = (
        "[[traffic]]", f"flows = {flows}", f"congestion_control = {control}", f"rtt = {rtt}", more,
    )  # fmt: skip
    return "\n".join(lines) + "\n"


def _short(load: float) -> str:
    length = '{ geometric = "20 packets" }'
    return f'[[traffic]]\nkind = "short"\nload = {load}\nlength = {length}\nrtt = {SPREAD}\n'


def _users(users: int) -> str:
    return f'[[traffic]]\nkind = "session"\nflows = {users}\nfile = "60 kB"\nrtt = {SPREAD}\n'


def find(name: str, scenario: Scenario) -> dict[str, Any]:
    """Size one link by simulation, beside what eq. 6 or the regime's own law asks for."""
    answer = forebay.size(scenario, engine="simulation", seeds=2, max_seeds=4, jobs=1)
    told, buffer = regime_of(scenario), answer.buffer
    law = told.law or "appenzeller-2004/utilization"
    asked = next((each.packets for each in answer.laws if each.law == law), None)
    there = next((p.outcome for p in answer.curve if buffer and p.packets == buffer.packets), None)
    lost = None if there is None else there.links["bottleneck"].loss_rate
    return {
        "name": name,
        "regime": told.regime,
        "law": told.law,
        "flows": scenario.n_flows,
        "window": round(scenario.bdp_packets / max(scenario.n_flows, 1), 2),
        "asked": None if asked is None else round(asked, 1),
        "simulation": buffer.packets if buffer else None,
        "simulation_low": buffer.low if buffer else None,
        "loss_percent": None if lost is None else round(100 * lost.value, 2),
    }


def main() -> None:
    """Run, write, print each row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("docs", type=Path)
    parser.add_argument("--only", default="")
    wanted = parser.parse_args()
    rows = []
    for name, scenario in cases():
        if wanted.only in name:
            rows.append(find(name, scenario))
            print(*rows[-1].values(), sep=", ", flush=True)
    if not wanted.only:
        with (wanted.docs / "explanation" / "which-kind-governs.csv").open("w") as file:
            table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            table.writeheader()
            table.writerows(rows)


if __name__ == "__main__":
    main()
