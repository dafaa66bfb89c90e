"""One flow of CUBIC or BBR for a minute, as a testbed of others measured it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import forebay
from forebay.report import Picture
from forebay.reproduction import Metric, Progress, Reproduction, Variants, each_with
from forebay.reproduction.papers.published.compared import (
    Compared,
    panel,
    read_rows,
    read_toml,
    reproduction,
    scaled,
)

HERE = Path(__file__).resolve().parent
LABELS = ["buffer, kB", "rate, Mbit/s", "rtt, ms", "protocol"]
KERNEL = "5.15"
"""The kernel that is judged."""
QUANTITY = "goodput, % of the rate"
PACKET, SEGMENT = 1514, 1448
"""A frame as htb and bfifo count it, and its payload, in bytes."""
QUICK_MBPS = 100
"""The fastest link of a quick run."""
VARIANTS = {
    "offload on, 10 Gbit/s": {},
    "offload off": {"traffic.0.offload": "off"},
    "offload on, 25 Gbit/s": {"traffic.0.access_rate": "25 Gbit/s"},
}
"""What the set-up leaves open; the first was chosen beforehand and has the verdict."""

Cell = dict[str, str]


def cells(kernel: str = KERNEL) -> list[Cell]:
    """Return the rows of measured.csv of one kernel."""
    return [row for row in read_rows(HERE) if row["kernel"] == kernel]


def scenario_of(cell: Cell) -> forebay.Scenario:
    """Return the set-up of one cell. The network adds less than a millisecond to netem's delay."""
    rtt = float(cell["rtt_ms"])
    return forebay.Scenario.model_validate(
        {
            "name": "One flow",
            "link": {"rate": f"{cell['rate_mbps']} Mbit/s"},
            "queue": {"discipline": "bfifo", "size": f"{1024 * int(cell['buffer_kib'])} B"},
            "traffic": [
                {
                    "kind": "long",
                    "flows": 1,
                    "congestion_control": cell["congestion_control"],
                    "rtt": {"uniform": [f"{rtt} ms", f"{rtt + 0.3} ms"]},
                    "start": "0 s",
                    "packet": f"{PACKET} B",
                    "segment": SEGMENT,
                    "access_rate": "10 Gbit/s",
                    "offload": "on",
                }
            ],
            "measure": {"warmup": "0 s", "duration": "60 s"},
        }
    )


def goodput_percent(outcome: forebay.Outcome, rate_bps: float) -> Metric:
    """Return payload that the receiver got in order, in percent of the rate."""
    goodput = outcome.classes[0].goodput_bps
    assert goodput is not None
    return scaled(goodput, 100 * SEGMENT / PACKET / rate_bps)


def compare(
    cell: Cell,
    seeds: int,
    jobs: int = 0,
    told: Progress | None = None,
    fields: dict[str, Any] | None = None,
) -> Compared:
    """Simulate one cell, with some fields changed, and compare it."""
    scenario = scenario_of(cell).replace(fields or {})
    outcome = forebay.run(scenario, seeds=seeds, jobs=jobs, progress=told)
    rate = float(cell["rate_mbps"])
    measured, bands = float(cell["goodput_mbps"]) / rate, read_toml(HERE, "bands")
    nearly_full = measured >= bands["nearly_full"]
    return Compared(
        [int(cell["buffer_kib"]), int(rate), int(cell["rtt_ms"]), cell["congestion_control"]],
        QUANTITY,
        round(100 * measured, 2),
        goodput_percent(outcome, rate * 1e6),
        bands["goodput_points"] if nearly_full else 100 * bands["goodput_share"],
        relative=not nearly_full,
        full=100 * SEGMENT / PACKET,
        misses=read_toml(HERE, "misses"),
    )


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Simulate each cell, and those below 90 % also as the set-up leaves them open."""
    wanted = [c for c in cells() if not quick or int(c["rate_mbps"]) <= QUICK_MBPS]
    seen = [compare(cell, seeds, jobs, told) for cell, told in each_with(progress, wanted)]
    left_out = [f"Not tried by a quick run: rates above {QUICK_MBPS} Mbit/s."] if quick else []
    return reproduction(
        "single-flow",
        "One flow for a minute: simulator (profile linux) against kernels on the testbed FABRIC",
        LABELS,
        seen,
        notes=[*NOTES, *left_out],
        variants=None if quick else _variants(wanted, seen, jobs),
        picture=_picture(seen),
    )


NOTES = [
    "measured: Linux 5.15, mean of five trials (sdatta97/imcbbrrepro). A link that is never "
    "idle gives 95.6 %, the payload of a frame.",
]


def _variants(wanted: list[Cell], seen: list[Compared], jobs: int) -> Variants:
    """The cells with 100 kB below 90 %, as offload and card are open, and on another kernel."""
    low = [
        (c, s) for c, s in zip(wanted, seen, strict=True) if s.relative and c["buffer_kib"] == "100"
    ]
    older = {_key(cell): cell for cell in cells("4.15")}
    rows = []
    for cell, first in low:
        found: list[tuple[Metric | float | None, bool]]
        others = [compare(cell, 1, jobs, fields=fields) for fields in list(VARIANTS.values())[1:]]
        rate = float(cell["rate_mbps"])
        old = 100 * float(older[_key(cell)]["goodput_mbps"]) / rate
        found = [(each.simulated, each.holds) for each in (first, *others)]
        kernel = (old, abs(first.away(old)) <= first.band)
        name = ", ".join(map(str, first.cell))
        rows.append((name, f"{first.measured:g} ±{first.band:g} %", [*found, kernel]))
    return Variants(SAYS, [*VARIANTS, "the kernel 4.15, measured"], rows)


SAYS = (
    "Whether the hosts had segmentation offload is not stated (no script switches it off), nor how "
    "fast their cards are. The last column is no simulation: it is what the same "
    "authors measured with Linux 4.15."
)


def _key(cell: Cell) -> tuple[str, ...]:
    return tuple(cell[name] for name in ("buffer_kib", "rate_mbps", "rtt_ms", "congestion_control"))


def _picture(seen: list[Compared]) -> Picture:
    groups = [f"{each.cell[3]}, {each.cell[0]} kB" for each in seen]
    return Picture([panel(seen, groups, QUANTITY)])
