"""50 BBRv3 flows beside 50 CUBIC flows by buffer, as others measured them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Metric, Progress, Reproduction, Variants, each_with
from forebay.reproduction.papers.published.compared import (
    Compared,
    read_rows,
    read_toml,
    reproduction,
    scaled,
)

HERE = Path(__file__).resolve().parent
LABELS = ["buffer, BDP"]
SHARE, GOODPUT = "BBRv3's share, %", "goodput, % of the rate"
WAIT = "round trip above the shortest, ms"
AGAIN = "retransmitted, % of delivered segments"
CONTROLS = {"bbr3": "BBRv3", "cubic": "CUBIC"}
RATE_BPS, FLOWS = 1e9, 50
RTT_MS = 20.3
"""The shortest round trip in the data."""
BDP_BYTES, BURST_BYTES = 2_621_440, 500_000
"""What the scripts call a BDP, and tbf's burst."""
PACKET, SEGMENT = 1514, 1448
SECONDS = 60
QUICK = (0.5,)
"""Buffers of a quick run."""
VARIANTS = {
    "offload on": {},
    "offload off": {"traffic.0.offload": "off", "traffic.1.offload": "off"},
    "all start within 10 ms": {"traffic.0.start": "0 s", "traffic.1.start": "10 ms"},
}
"""What the set-up leaves open; the first was chosen beforehand and has the verdict."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The measured flows of one congestion control at one buffer, each as a list."""

    goodput_bps: list[float]
    retransmission: list[float]
    rtt_ms: list[float]


def buffers() -> list[float]:
    """Return the buffers that were measured, in BDP."""
    return list(dict.fromkeys(float(row["buffer_bdp"]) for row in read_rows(HERE)))


def sample(buffer: float, control: str) -> Sample:
    """Return the measured flows of one congestion control at one buffer."""
    rows = [
        row
        for row in read_rows(HERE)
        if float(row["buffer_bdp"]) == buffer and row["congestion_control"] == control
    ]
    return Sample(
        [8 * int(row["received_bytes"]) / float(row["received_s"]) for row in rows],
        [int(row["retransmissions"]) * SEGMENT / int(row["sent_bytes"]) for row in rows],
        [int(row["mean_rtt_us"]) / 1e3 for row in rows if row["mean_rtt_us"]],
    )


def share(buffer: float) -> tuple[float, float]:
    """Return BBRv3's measured share of the goodput and its standard error, in percent."""
    bbr, cubic = (sample(buffer, control).goodput_bps for control in CONTROLS)
    a, b = statistics.mean(bbr), statistics.mean(cubic)
    error = math.hypot(b * _error(bbr), a * _error(cubic)) / (a + b) ** 2
    return 100 * a / (a + b), 100 * error


def _error(values: list[float]) -> float:
    return statistics.stdev(values) / math.sqrt(len(values))


def scenario_of(buffer: float) -> forebay.Scenario:
    """Return the set-up with one buffer, in BDP."""
    traffic = [
        {
            "kind": "long",
            "flows": FLOWS,
            "congestion_control": control,
            "rtt": {"uniform": [f"{RTT_MS} ms", f"{RTT_MS + 0.2} ms"]},
            "start": {"uniform": [f"{second} s", f"{second + 1} s"]},
            "packet": f"{PACKET} B",
            "segment": SEGMENT,
            "access_rate": "10 Gbit/s",
            "offload": "on",
        }
        for second, control in enumerate(CONTROLS)
    ]
    return forebay.Scenario.model_validate(
        {
            "name": "BBRv3 beside CUBIC",
            "link": {
                "rate": "10 Gbit/s",
                "shaper": {"rate": "1 Gbit/s", "burst": f"{BURST_BYTES} B"},
            },
            "queue": {"discipline": "bfifo", "size": f"{round(buffer * BDP_BYTES)} B"},
            "traffic": traffic,
            "measure": {"warmup": "0 s", "duration": f"{SECONDS} s"},
        }
    )


def compare(
    buffer: float,
    seeds: int,
    jobs: int = 0,
    told: Progress | None = None,
    fields: dict[str, Any] | None = None,
) -> list[Compared]:
    """Simulate one buffer, with some fields changed; return what the data can judge."""
    scenario = scenario_of(buffer).replace(fields or {})
    outcome = forebay.run(scenario, seeds=seeds, jobs=jobs, progress=told)
    of = dict(zip(CONTROLS, outcome.classes, strict=True))
    found = _goodputs(buffer, of) if judged(buffer) else []
    return [*found, *(row for control in CONTROLS for row in _of_control(buffer, control, of))]


def judged(buffer: float) -> bool:
    """Whether the sample tells the share well enough."""
    limit = read_toml(HERE, "bands")["largest_standard_error_points"]
    return share(buffer)[1] <= float(limit)


def _goodputs(buffer: float, of: dict[str, Any]) -> list[Compared]:
    bands, payload = read_toml(HERE, "bands"), SEGMENT / PACKET
    measured = FLOWS * sum(statistics.mean(sample(buffer, c).goodput_bps) for c in CONTROLS)
    bbr, cubic = (of[control].goodput_bps for control in CONTROLS)
    total = bbr.value + cubic.value
    rate = scaled(bbr, 100 * payload * total / bbr.value / RATE_BPS)
    return [
        _row(buffer, SHARE, share(buffer)[0], scaled(bbr, 100 / total), bands["share_points"]),
        _row(
            buffer, GOODPUT, 100 * measured / RATE_BPS, rate, bands["goodput_points"],
            full=100 * payload,
        ),
    ]  # fmt: skip


def _of_control(buffer: float, control: str, of: dict[str, Any]) -> Iterator[Compared]:
    """Yield the queue that one congestion control sees, and what it retransmits."""
    seen, bands, own = sample(buffer, control), read_toml(HERE, "bands"), of[control]
    queue = statistics.mean(seen.rtt_ms) - RTT_MS
    ours = scaled(own.rtt_s.mean, 1e3, -RTT_MS)
    name = CONTROLS[control]
    yield _row(buffer, f"{name}, {WAIT}", queue, ours, 100 * bands["queue_share"], relative=True)
    sent = own.goodput_bps.value * SECONDS / (8 * PACKET)
    again = scaled(own.retransmissions, 100 / sent)
    rate, band = 100 * statistics.mean(seen.retransmission), 100 * bands["retransmission_share"]
    yield _row(buffer, f"{name}, {AGAIN}", rate, again, band, relative=True)


def _row(
    buffer: float, name: str, measured: float, ours: Metric, band: float, **more: Any
) -> Compared:
    misses = read_toml(HERE, "misses")
    return Compared([buffer], name, round(measured, 3), ours, band, misses=misses, **more)


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Simulate each buffer, also as the set-up leaves it open, and compare it."""
    wanted = [each for each in buffers() if not quick or each in QUICK]
    seen = [
        each
        for buffer, told in each_with(progress, wanted)
        for each in compare(buffer, seeds, jobs, told)
    ]
    left_out = "Not tried by a quick run: the other buffers."
    return reproduction(
        "coexistence",
        "50 BBRv3 beside 50 CUBIC flows, 1 Gbit/s, 20 ms: simulator (profile linux) against hosts",
        LABELS,
        seen,
        notes=[NOTE, *([left_out] if quick else [])],
        unjudged=[_unjudged(each) for each in wanted if not judged(each)],
        variants=None if quick else _variants(wanted, seen, jobs),
        picture=_picture(seen),
    )


NOTE = (
    "measured: Linux 6.4 with BBRv3, a sample of 6 to 11 of the 50 flows of each congestion "
    "control (gomezgaona/bbr3). A link that is never idle gives 95.6 %."
)
SAYS = (
    "Whether the hosts had segmentation offload and how fast they were started one after another "
    "is not stated."
)


def _unjudged(buffer: float) -> str:
    percent, error = share(buffer)
    return (
        f"{buffer:g} BDP: the sample tells BBRv3's share to {percent:.0f} ± {error:.0f} % "
        "(one standard error), so neither it nor the goodput is judged"
    )


def _variants(wanted: list[float], seen: list[Compared], jobs: int) -> Variants:
    """Every row for each choice of what is open, with one replication."""
    columns = [seen]
    for fields in list(VARIANTS.values())[1:]:
        columns.append([row for each in wanted for row in compare(each, 1, jobs, fields=fields)])
    rows = [
        (
            f"{first.cell[0]:g} BDP, {first.quantity}",
            f"{first.measured:g} ±{first.band:g} {first.unit}",
            [(each.simulated, each.holds) for each in (first, *others)],
        )
        for first, *others in zip(*columns, strict=True)
    ]
    return Variants(SAYS, list(VARIANTS), rows)


def _picture(seen: list[Compared]) -> Picture:
    panels = []
    for quantities in ((SHARE,), tuple(f"{name}, {WAIT}" for name in CONTROLS.values())):
        lines = []
        for quantity in quantities:
            own = [each for each in seen if each.quantity == quantity]
            at = [each.cell[0] for each in own]
            of = "" if len(quantities) == 1 else f", {quantity.split(',')[0]}"
            lines.append(Line(at, [each.measured for each in own], f"measured{of}", "dots"))
            ours = [each.simulated.value for each in own]
            lines.append(Line(at, ours, f"simulator{of}"))
        log: Any = "x" if quantities == (SHARE,) else "xy"
        title = SHARE if quantities == (SHARE,) else WAIT
        panels.append(Panel(lines, "buffer, BDP", title, title=title, log=log))
    return Picture(panels, columns=2)
