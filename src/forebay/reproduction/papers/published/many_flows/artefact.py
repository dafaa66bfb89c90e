"""10 to 50 flows of Reno, CUBIC or BBR in a large buffer, as a testbed of others measured them."""

from __future__ import annotations

from pathlib import Path

import forebay
from forebay.report import Picture
from forebay.reproduction import Metric, Progress, Reproduction, each_with
from forebay.reproduction.papers.published.compared import (
    Compared,
    panel,
    read_rows,
    read_toml,
    reproduction,
    scaled,
)

HERE = Path(__file__).resolve().parent
LABELS = ["protocol", "rtt, ms", "flows"]
GOODPUT, LOSS = "goodput, % of the rate", "loss, %"
PACKET, SEGMENT = 1514, 1448
"""A frame as htb and bfifo count it, and its payload, in bytes."""
RATE_MBPS, BUFFER_BYTES = 100, 3 * 1024**2
ADDED_MS = (0.2, 0.45)
"""What the testbed's network adds to netem's delay, by its pings."""
SECONDS, QUICK_SECONDS = 600, 60

Cell = dict[str, str]


def cells() -> list[Cell]:
    """Return the rows of measured.csv."""
    return read_rows(HERE)


def scenario_of(cell: Cell, seconds: int = SECONDS) -> forebay.Scenario:
    """Return the set-up of one cell, measured for ``seconds``."""
    low, high = (float(cell["rtt_ms"]) + added for added in ADDED_MS)
    return forebay.Scenario.model_validate(
        {
            "name": "Some flows in a large buffer",
            "link": {"rate": f"{RATE_MBPS} Mbit/s"},
            "queue": {"discipline": "bfifo", "size": f"{BUFFER_BYTES} B"},
            "traffic": [
                {
                    "kind": "long",
                    "flows": int(cell["flows"]),
                    "congestion_control": cell["congestion_control"],
                    "rtt": {"uniform": [f"{low} ms", f"{high} ms"]},
                    "start": {"uniform": ["0 s", "5 s"]},
                    "packet": f"{PACKET} B",
                    "segment": SEGMENT,
                    "access_rate": "10 Gbit/s",
                    "offload": "off",
                }
            ],
            "measure": {"warmup": "100 s", "duration": f"{seconds} s"},
        }
    )


def compare(
    cell: Cell,
    seeds: int,
    jobs: int = 0,
    told: Progress | None = None,
    seconds: int = SECONDS,
) -> list[Compared]:
    """Simulate one cell; return its goodput, and its loss where that was measured."""
    outcome = forebay.run(scenario_of(cell, seconds), seeds=seeds, jobs=jobs, progress=told)
    bands, misses = read_toml(HERE, "bands"), read_toml(HERE, "misses")
    name = [cell["congestion_control"], int(cell["rtt_ms"]), int(cell["flows"])]
    full = 100 * SEGMENT / PACKET
    goodput = scaled(_known(outcome.classes[0].goodput_bps), full / (RATE_MBPS * 1e6))
    measured = float(cell["goodput_kbps"]) / (10 * RATE_MBPS)
    points = bands["goodput_points"]
    found = [Compared(name, GOODPUT, measured, goodput, points, full=full, misses=misses)]
    if cell["dropped"]:
        loss = scaled(_known(outcome.links["bottleneck"].loss_rate), 100)
        rate = loss_percent(cell)
        band = 100 * bands["loss_share"]
        found.append(Compared(name, LOSS, rate, loss, band, relative=True, misses=misses))
    return found


def _known(metric: Metric | None) -> Metric:
    assert metric is not None
    return metric


def loss_percent(cell: Cell) -> float:
    """Return the packets that the router dropped, in percent of those that came."""
    dropped, sent = int(cell["dropped"]), int(cell["sent"])
    return 100 * dropped / (dropped + sent)


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Simulate each cell for ten minutes, or one, and compare it."""
    seconds = QUICK_SECONDS if quick else SECONDS
    seen = [
        each
        for cell, told in each_with(progress, cells())
        for each in compare(cell, seeds, jobs, told, seconds)
    ]
    return reproduction(
        "many-flows",
        "10 to 50 flows in a large buffer: simulator (profile linux) against a testbed's kernels",
        LABELS,
        seen,
        notes=[NOTE],
        picture=_picture(seen),
    )


NOTE = (
    "measured: Linux of Ubuntu 18.04 on CloudLab, one run of three hours a cell "
    "(vinitaparasrampuria/IMC-Revisiting-TCP). A link that is never idle gives 95.6 %."
)


def _picture(seen: list[Compared]) -> Picture:
    panels = []
    for quantity, log in ((GOODPUT, ""), (LOSS, "xy")):
        own = [each for each in seen if each.quantity == quantity]
        panels.append(panel(own, [str(each.cell[0]) for each in own], quantity, log))
    return Picture(panels, columns=2)
