"""Paper B's bottleneck with one thing changed at a time: measures it, and draws what it does.

python docs/explanation/figures/video_loss.py measure   # video_loss.csv, minutes
python docs/explanation/figures/video_loss.py draw      # docs/images/when-more-buffer-hurts-udp.svg
python docs/explanation/figures/video_loss.py table     # the page's table
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import forebay
from forebay.report import Line, Panel, Picture
from forebay.report.figures.picture import draw_picture

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
DATA = HERE / "video_loss.csv"
FIGURE = ROOT / "docs/images/when-more-buffer-hurts-udp.svg"
SCENARIO = ROOT / "scenarios/video-and-tcp.toml"
BUFFERS = (18, 22, 27, 35, 48, 62, 80, 110, 150)
SEEDS = 3
PAYLOAD = 1448 / 1514  # iperf counts that of a frame


def _with_the_queue(buffer: int) -> list[str]:
    """117 ms in all: what a queue four fifths full takes is taken off the propagation."""
    return [f"traffic.0.rtt={117 - 0.8 * buffer * 12 / 21:.1f} ms"]


def _sets(*sets: str) -> Callable[[int], list[str]]:
    return lambda buffer: list(sets)


VARIANTS: dict[str, Callable[[int], list[str]]] = {
    "as shipped": _sets(),
    "sender ns2": _sets("traffic.0.sender=ns2"),
    "no SACK": _sets("traffic.0.sack=false"),
    "no delayed ACKs": _sets("traffic.0.delayed_ack=false"),
    "least timeout 1 s": _sets("traffic.0.min_rto=1 s"),
    "windows of at most 7": _sets("traffic.0.max_window=7"),
    "TCP access 1 Gbit/s": _sets("traffic.0.access_rate=1 Gbit/s", "traffic.0.access_sharing=1"),
    "RTT 97 to 137 ms": _sets('traffic.0.rtt={uniform=["97 ms","137 ms"]}'),
    "117 ms with the queue": _with_the_queue,
    "buffer in bytes": _sets("queue.discipline=bfifo"),
    "video access 10 Mbit/s": _sets("traffic.1.access_rate=10 Mbit/s"),
    "video packets of 1344 B": _sets("traffic.1.packet=1344 B"),
    "video sizes vary by 2.0": _sets("traffic.1.variation=2.0"),
    "video in 25 bursts/s": _sets("traffic.1.frame_rate=25.0"),
    "video in 8 bursts/s": _sets("traffic.1.frame_rate=8.0"),
    "video evenly spaced": _sets("traffic.1.spacing=even"),
}
DRAWN = (
    *("as shipped", "no SACK", "117 ms with the queue"),
    *("video in 25 bursts/s", "video in 8 bursts/s"),
)
Data = dict[tuple[str, int], list[tuple[float, float]]]


def measure() -> None:
    """Run every variant with no, one and two videos at every buffer."""
    with DATA.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["variant", "videos", "buffer", "tcp_mbps", "video_loss_percent"])
        for name, sets in VARIANTS.items():
            out.writerows([name, *row] for row in _variant(sets))
            file.flush()


def _variant(sets: Callable[[int], list[str]]) -> Iterator[tuple[int, int, str, str]]:
    for videos in (0, 1, 2):
        for buffer in BUFFERS:
            changes = [s for s in sets(buffer) if videos or not s.startswith("traffic.1.")]
            changes += [f"queue.size={buffer} packets", "measure.duration=200 s"]
            if videos:
                changes.append(f"traffic.1.flows={videos}")
            else:  # no flows are no scenario; one small packet a second is as good as none
                changes += ['traffic.1.rate="1 kbit/s"', "traffic.1.frame_rate=1.0"]
            tcp, video = forebay.run(forebay.load(SCENARIO, changes), seeds=SEEDS).classes
            assert tcp.goodput_bps is not None and video.loss_rate is not None
            rate, loss = tcp.goodput_bps.value * PAYLOAD / 1e6, 100 * video.loss_rate.value
            yield videos, buffer, f"{rate:.3f}", f"{loss:.2f}"


def read() -> Data:
    """TCP's Mbit/s and the video's loss at each buffer, by variant and videos."""
    found: Data = {}
    with DATA.open(newline="") as file:
        for row in csv.DictReader(file):
            key = row["variant"], int(row["videos"])
            found.setdefault(key, []).append(
                (float(row["tcp_mbps"]), float(row["video_loss_percent"]))
            )
    return found


def need(curve: list[tuple[float, float]]) -> float:
    """Buffer for 98 % of the curve's highest throughput; 18 where the first is enough."""
    rates = [rate for rate, _ in curve]
    wanted = 0.98 * max(rates)
    for (b0, y0), (b1, y1) in pairwise(zip(BUFFERS, rates, strict=True)):
        if y1 >= wanted:
            return b0 + max(wanted - y0, 0.0) / max(y1 - y0, 1e-9) * (b1 - b0)
    return float(BUFFERS[-1])


def draw() -> None:
    """TCP's curve over its top, and the video's loss, both with one video."""
    data = read()
    reached, lost = [], []
    for name in DRAWN:
        rates, losses = zip(*data[name, 1], strict=True)
        reached.append(Line(BUFFERS, [100 * rate / max(rates) for rate in rates], name))
        lost.append(Line(BUFFERS, losses, name))
    reached.append(Line([48], [98], "as printed", "dots"))
    panels = [
        Panel(reached, "buffer, packets", "TCP, % of its own saturation"),
        Panel(lost, "buffer, packets", "video packets lost, %"),
    ]
    draw_picture(Picture(panels, columns=2), "One video and 40 TCP flows on 21 Mbit/s", FIGURE)


def table() -> None:
    """Print the page's rows."""
    data = read()
    for name in VARIANTS:
        curves = [data[name, videos] for videos in (0, 1, 2)]
        tops = " / ".join(f"{max(rate for rate, _ in curve):.2f}" for curve in curves)
        needs = " / ".join(f"{need(curve):.0f}" for curve in curves)
        at = [BUFFERS.index(b) for b in (18, 35, 80, 150)]
        losses = " | ".join(f"{curves[1][place][1]:.1f}" for place in at)
        print(f"| {name} | {tops} | {needs} | {losses} |")


if __name__ == "__main__":
    {"measure": measure, "draw": draw, "table": table}[sys.argv[1]]()
