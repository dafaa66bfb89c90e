"""What segmentation offload and large packets do to a buffer, and to who gets the link.

python docs/explanation/figures/segmentation_offload.py measure  # its CSV, minutes
python docs/explanation/figures/segmentation_offload.py draw     # docs/images
python docs/explanation/figures/segmentation_offload.py table    # the page's table
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import forebay
from forebay.report import Line, Panel, Picture
from forebay.report.figures.picture import draw_picture
from forebay.scenario import Scenario, loads
from forebay.scenario.quantity import Rate

HERE = Path(__file__).resolve().parent
DATA = HERE / "segmentation-offload.csv"
FIGURE = HERE.parents[2] / "docs/images/segmentation-offload.svg"
SEEDS = 2
BUFFERS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Of the bandwidth-delay product, 20 ms."""
LINKS = (("100 Mbit/s", 10), ("1 Gbit/s", 10), ("1 Gbit/s", 50))
HOSTS = {
    "off": ("off", "1500 B"),
    "on": ("on", "1500 B"),
    "on, 9000 B": ("on", "9000 B"),
}
CONTROLS = ("reno", "cubic", "bbr", "bbr3")
MIX = "{ cubic = 0.5, bbr = 0.5 }"
Key = tuple[str, str, int, str]
Data = dict[Key, list[tuple[float, float, float, float]]]


def scenario(control: str, rate: str, flows: int, hosts: str, buffer: float) -> Scenario:
    """Flows of 19 to 21 ms over one link, from links that are ten times as fast."""
    offload, packet = HOSTS[hosts]
    written = control if control.startswith("{") else f'"{control}"'
    return loads(f"""
[link]
rate = "{rate}"
[queue]
size = "{20 * buffer:g} ms"
[[traffic]]
flows = {flows}
congestion_control = {written}
rtt = {{ uniform = ["19 ms", "21 ms"] }}
start = {{ uniform = ["0 s", "1 s"] }}
offload = "{offload}"
packet = "{packet}"
[measure]
warmup = "32 s"
duration = "10 s"
""")


def measure() -> None:
    """Run every host with every buffer."""
    with DATA.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        head = ("control", "rate", "flows", "hosts", "buffer_bdp")
        out.writerow([*head, "utilization", "loss", "queue_ms", "bbr_share"])
        for key in _keys():
            out.writerows(
                [*key, buffer, *_seen(*key, buffer)] for buffer in BUFFERS if _holds(key, buffer)
            )
            file.flush()


def _holds(key: Key, buffer: float) -> bool:
    """Whether a buffer holds a large packet."""
    return 20e-3 * buffer * Rate.parse(key[1]) >= 8 * 9000


def _keys() -> Iterator[Key]:
    for rate, flows in LINKS:
        for control in (*CONTROLS, MIX):
            for hosts in HOSTS:
                yield "cubic+bbr" if control == MIX else control, rate, flows, hosts


def _seen(control: str, rate: str, flows: int, hosts: str, buffer: float) -> list[str]:
    named = MIX if "+" in control else control
    found = forebay.run(scenario(named, rate, flows, hosts, buffer), seeds=SEEDS)
    link, (group,) = found.links["bottleneck"], found.classes
    values = [link.utilization, link.loss_rate]
    assert all(value is not None for value in values) and link.queue_delay_s is not None
    shown = [f"{100 * value.value:.2f}" for value in values if value is not None]
    delay = link.queue_delay_s.mean
    shares = {name: part.goodput_bps for name, part in (group.controllers or {}).items()}
    rates = {name: each.value for name, each in shares.items() if each is not None}
    share = f"{100 * rates['bbr'] / sum(rates.values()):.1f}" if "bbr" in rates else ""
    return [*shown, "" if delay is None else f"{1e3 * delay.value:.3f}", share]


def read() -> Data:
    """Buffer, utilization, loss and BBR's share (0 where it is not mixed), by what was run."""
    found: Data = {}
    with DATA.open(newline="") as file:
        for row in csv.DictReader(file):
            key = row["control"], row["rate"], int(row["flows"]), row["hosts"]
            values = [row["buffer_bdp"], row["utilization"], row["loss"], row["bbr_share"] or "0"]
            buffer, used, lost, share = map(float, values)
            found.setdefault(key, []).append((buffer, used, lost, share))
    return found


def draw() -> None:
    """By buffer: utilization (BBR: loss) of 10 flows on 1 Gbit/s, and BBR's share."""
    data, panels = read(), []
    for control in CONTROLS:
        at, what = (2, "loss") if control == "bbr" else (1, "utilization")
        lines = [
            Line([row[0] for row in data[control, "1 Gbit/s", 10, hosts]],
                 [row[at] for row in data[control, "1 Gbit/s", 10, hosts]], hosts)
            for hosts in HOSTS
        ]  # fmt: skip
        panels.append(Panel(lines, "buffer, BDP", f"{control}: {what}, %", log="x"))
    for rate, flows in (LINKS[0], LINKS[2]):
        lines = [
            Line([b for b, *_ in data["cubic+bbr", rate, flows, hosts]],
                 [share for *_, share in data["cubic+bbr", rate, flows, hosts]], hosts)
            for hosts in HOSTS
        ]  # fmt: skip
        panels.append(Panel(lines, "buffer, BDP", f"BBR's share, %: {flows} on {rate}", log="x"))
    draw_picture(Picture(panels, columns=2), "Segmentation offload and large packets", FIGURE)


def table() -> None:
    """Print the page's rows: utilization and loss at three buffers, by what the hosts have."""
    for (control, rate, flows, hosts), rows in read().items():
        at = [row for row in rows if row[0] in (0.05, 0.1, 0.5)]
        cells = " | ".join(f"{used:.1f} / {lost:.2f}" for _, used, lost, _ in at)
        shares = " / ".join(f"{share:.0f}" for *_, share in at) if "+" in control else "–"
        print(f"| {control} | {flows} on {rate} | {hosts} | {cells} | {shares} |")


if __name__ == "__main__":
    {"measure": measure, "draw": draw, "table": table}[sys.argv[1]]()
