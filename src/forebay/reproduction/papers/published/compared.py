"""What others measured beside what the simulator gives, one quantity a row."""

import csv
import math
import statistics
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import (
    LINK,
    OTHERS,
    Check,
    Comparison,
    Metric,
    Reproduction,
    Row,
    Variants,
    Work,
    artefact,
)

HERE = Path(__file__).resolve().parent
COLUMNS = ["quantity", "measured", "simulator", "apart", "band"]
PACKET, SEGMENT = 1514, 1448
"""A frame as htb, tbf and bfifo count it, and its payload, in bytes."""
FULL = 100 * SEGMENT / PACKET
"""Per cent of a link's rate that the payload of its frames can have."""
NOTE = (
    "apart: the simulator less what was measured, in points of the unit or in percent of the "
    "measured value; 95 % intervals over the replications."
)


@dataclass(frozen=True, slots=True)
class Compared(Comparison):
    """One quantity of one cell.

    Attributes
    ----------
    cell : the cells that name it at the left of its row.
    quantity : its name with its unit.
    measured : what others measured.
    simulated : the simulator's metric in the same unit.
    full : what a link that is never idle would give; None if the row is not about utilization.
    misses : why rows miss, by a pattern of their name (its cells and quantity), as `read_toml`
        gives it: ``why``, and ``cause`` where it is known.
    """

    cell: Sequence[Any]
    quantity: str
    measured: float
    simulated: Metric
    band: float
    relative: bool = False
    full: float | None = None
    misses: Mapping[str, Any] | None = None

    @property
    def apart(self) -> float:
        """The simulator less what was measured."""
        return self.away(self.simulated.value, self.measured)

    @property
    def holds(self) -> bool:
        """Whether it is in the band."""
        return not self.reason

    @property
    def miss(self) -> Mapping[str, Any]:
        """Why it misses: the first entry whose pattern fits the row's name."""
        name = " ".join([*map(str, self.cell), self.quantity])
        entries = (why for like, why in (self.misses or {}).items() if fnmatchcase(name, like))
        return dict(next(entries, {}))

    @property
    def row(self) -> Row:
        """Its row in the artefact's table, and whether a link that is never idle would be in."""
        full = None if self.full is None else abs(self.away(self.full, self.measured)) <= self.band
        check = Check(OTHERS, self.holds, published=True, full_passes=full)
        cells = [*self.cell, self.quantity, self.measured, self.simulated, *self.ends]
        return Row(cells, self.reason, [check], self.cause)


def known(metric: Metric | None) -> Metric:
    """Return a metric that every run has."""
    assert metric is not None
    return metric


def read_rows(folder: Path) -> list[dict[str, str]]:
    """Return the rows of ``folder/measured.csv``."""
    with (folder / "measured.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def read_toml(folder: Path, name: str) -> dict[str, Any]:
    """Return the content of ``folder/name.toml``."""
    return tomllib.loads((folder / f"{name}.toml").read_text("utf-8"))


def _reproduction(
    work: Work,
    seen: Sequence[Compared],
    panels: list[Panel],
    left_out: str,
    variants: Callable[[], Variants] | None = None,
    unjudged: Sequence[str] = (),
) -> Reproduction:
    page = work.toml("bands.toml")
    quick = [f"Not tried by a quick run: {left_out}."] if work.quick and left_out else []
    return work.of_rows(
        [pair.row for pair in seen],
        {
            "title": page["title"],
            "columns": [*page["labels"], *COLUMNS],
            "notes": [NOTE, page["note"], *quick],
            "labels": len(page["labels"]) + 1,
            "drawn": ("measured", "simulator"),
        },
        picture=Picture(panels, columns=len(panels)),
        unjudged=unjudged,
        variants=None if work.quick or variants is None else variants(),
    )


def _variant(name: str, first: Compared, *others: Compared) -> tuple[str, str, list[Any]]:
    """Return a row of the variants: its name, its band, and each number with its verdict."""
    band = f"{first.measured:g} ±{first.band:g} {first.unit}"
    return name, band, [(pair.simulated, pair.holds) for pair in (first, *others)]


def _panel(seen: Sequence[Compared], groups: Sequence[str], title: str, log: Any = "") -> Panel:
    """Draw simulated against measured values, a colour for each group, and the line of equals."""
    lines = []
    for group in dict.fromkeys(groups):
        own = [pair for pair, of in zip(seen, groups, strict=True) if of == group]
        at = [pair.measured for pair in own]
        lines.append(Line(at, [pair.simulated.value for pair in own], group, "dots"))
    ends = sorted(pair.measured for pair in seen)
    ends = [ends[0], ends[-1]] if ends else []
    equal = Line(ends, ends, "equal", "dashes")
    return Panel([*lines, equal], "measured", "simulator", title=title, log=log)


def _long(control: str, flows: int, rtt_ms: tuple[float, float], start: Any, offload: str) -> Any:
    """Return a class of long flows with the testbeds' frames."""
    return {
        "kind": "long",
        "flows": flows,
        "congestion_control": control,
        "rtt": {"uniform": [f"{rtt} ms" for rtt in rtt_ms]},
        "start": start,
        "packet": f"{PACKET} B",
        "segment": SEGMENT,
        "access_rate": "10 Gbit/s",
        "offload": offload,
    }


def _scenario(
    name: str, link: Mapping[str, Any], size: int, traffic: Sequence[Any], times: Sequence[int]
) -> forebay.Scenario:
    warmup, duration = (f"{time} s" for time in times)
    queue = {"discipline": "bfifo", "size": f"{size} B"}
    measure = {"warmup": warmup, "duration": duration}
    parts = {"name": name, "link": link, "queue": queue, "traffic": traffic, "measure": measure}
    return forebay.Scenario.model_validate(parts)


# --- one flow for a minute -----------------------------------------------------------------------

SINGLE = HERE / "single_flow"
KERNEL = "5.15"
"""The kernel that is judged."""
QUANTITY = "goodput, % of the rate"
QUICK_MBPS = 100
"""The fastest link of a quick run."""
SINGLE_VARIANTS: dict[str, dict[str, Any]] = {
    "offload on, 10 Gbit/s": {},
    "offload off": {"traffic.0.offload": "off"},
    "offload on, 25 Gbit/s": {"traffic.0.access_rate": "25 Gbit/s"},
}
"""What the set-up leaves open; the first was chosen beforehand and has the verdict."""
Cell = dict[str, str]


def single_cells(kernel: str = KERNEL) -> list[Cell]:
    """Return the rows of measured.csv of one kernel."""
    return [row for row in read_rows(SINGLE) if row["kernel"] == kernel]


def single(cell: Cell) -> forebay.Scenario:
    """Return the set-up of one cell. The network adds less than a millisecond to netem's delay."""
    rtt = float(cell["rtt_ms"])
    flow = _long(cell["congestion_control"], 1, (rtt, rtt + 0.3), "0 s", "on")
    link, size = {"rate": f"{cell['rate_mbps']} Mbit/s"}, 1024 * int(cell["buffer_kib"])
    return _scenario("One flow", link, size, [flow], (0, 60))


def compare_single(work: Work, cell: Cell, fields: Mapping[str, Any] | None = None) -> Compared:
    """Simulate one cell, with some fields changed, and compare it."""
    outcome = work.play(single(cell).replace(dict(fields or {})))
    rate, bands = float(cell["rate_mbps"]), read_toml(SINGLE, "bands")
    measured = float(cell["goodput_mbps"]) / rate
    nearly_full = measured >= bands["nearly_full"]
    return Compared(
        [int(cell["buffer_kib"]), int(rate), int(cell["rtt_ms"]), cell["congestion_control"]],
        QUANTITY,
        round(100 * measured, 2),
        known(outcome.classes[0].goodput_bps).scaled(100 * SEGMENT / PACKET / (rate * 1e6)),
        bands["goodput_points"] if nearly_full else 100 * bands["goodput_share"],
        relative=not nearly_full,
        full=FULL,
        misses=read_toml(SINGLE, "misses"),
    )


@artefact()
def single_flow(work: Work) -> Reproduction:
    """Simulate each cell, and those below 90 % also as the set-up leaves them open."""
    wanted = [c for c in single_cells() if not work.quick or int(c["rate_mbps"]) <= QUICK_MBPS]
    seen = [compare_single(part, cell) for cell, part in work.each(wanted)]
    groups = [f"{pair.cell[3]}, {pair.cell[0]} kB" for pair in seen]

    def variants() -> Variants:
        return _of_single(work.untold().of(1), list(zip(wanted, seen, strict=True)))

    left_out = f"rates above {QUICK_MBPS} Mbit/s"
    return _reproduction(work, seen, [_panel(seen, groups, QUANTITY)], left_out, variants)


def _of_single(work: Work, every: Sequence[tuple[Cell, Compared]]) -> Variants:
    """The cells with 100 kB below 90 %, as offload and card are open, and on another kernel."""

    def key(cell: Cell) -> tuple[str, ...]:
        names = ("buffer_kib", "rate_mbps", "rtt_ms", "congestion_control")
        return tuple(cell[name] for name in names)

    older = {key(cell): cell for cell in single_cells("4.15")}
    rows = []
    for cell, first in every:
        if not first.relative or cell["buffer_kib"] != "100":
            continue
        others = [compare_single(work, cell, f) for f in list(SINGLE_VARIANTS.values())[1:]]
        old = 100 * float(older[key(cell)]["goodput_mbps"]) / float(cell["rate_mbps"])
        row = _variant(", ".join(map(str, first.cell)), first, *others)
        row[-1].append((old, abs(first.away(old, first.measured)) <= first.band))
        rows.append(row)
    names = [*SINGLE_VARIANTS, "the kernel 4.15, measured"]
    return Variants(read_toml(SINGLE, "bands")["open"], names, rows)


# --- 10 to 50 flows in a large buffer ------------------------------------------------------------

MANY = HERE / "many_flows"
GOODPUT, LOSS = QUANTITY, "loss, %"
RATE_MBPS, BUFFER_BYTES = 100, 3 * 1024**2
ADDED_MS = (0.2, 0.45)
"""What the testbed's network adds to netem's delay, by its pings."""
SECONDS, QUICK_SECONDS = 600, 60


def many(cell: Cell, seconds: int = SECONDS) -> forebay.Scenario:
    """Return the set-up of one cell, measured for ``seconds``."""
    low, high = (float(cell["rtt_ms"]) + added for added in ADDED_MS)
    start = {"uniform": ["0 s", "5 s"]}
    flows = _long(cell["congestion_control"], int(cell["flows"]), (low, high), start, "off")
    link = {"rate": f"{RATE_MBPS} Mbit/s"}
    return _scenario("Some flows in a large buffer", link, BUFFER_BYTES, [flows], (100, seconds))


def compare_many(work: Work, cell: Cell, seconds: int = SECONDS) -> list[Compared]:
    """Simulate one cell; return its goodput, and its loss where that was measured."""
    outcome = work.play(many(cell, seconds))
    bands, misses = read_toml(MANY, "bands"), read_toml(MANY, "misses")
    name = [cell["congestion_control"], int(cell["rtt_ms"]), int(cell["flows"])]
    goodput = known(outcome.classes[0].goodput_bps).scaled(FULL / (RATE_MBPS * 1e6))
    measured, points = float(cell["goodput_kbps"]) / (10 * RATE_MBPS), bands["goodput_points"]
    pairs = [Compared(name, GOODPUT, measured, goodput, points, full=FULL, misses=misses)]
    if cell["dropped"]:
        loss, band = known(outcome.links[LINK].loss_rate).scaled(100), 100 * bands["loss_share"]
        rate = loss_percent(cell)
        pairs.append(Compared(name, LOSS, rate, loss, band, relative=True, misses=misses))
    return pairs


def loss_percent(cell: Cell) -> float:
    """Return the packets that the router dropped, in percent of those that came."""
    dropped, sent = int(cell["dropped"]), int(cell["sent"])
    return 100 * dropped / (dropped + sent)


@artefact()
def many_flows(work: Work) -> Reproduction:
    """Simulate each cell for ten minutes, or one, and compare it."""
    seconds = QUICK_SECONDS if work.quick else SECONDS
    cells = work.each(read_rows(MANY))
    every = [pair for cell, part in cells for pair in compare_many(part, cell, seconds)]
    # In a minute 10 flows lose some dozens of packets, a few at a time: too few for a band of 15 %.
    seen = [pair for pair in every if pair.quantity == GOODPUT or not work.quick]
    panels = []
    for quantity, log in ((GOODPUT, ""), (LOSS, "xy")):
        if own := [pair for pair in seen if pair.quantity == quantity]:
            panels.append(_panel(own, [str(pair.cell[0]) for pair in own], quantity, log))
    return _reproduction(work, seen, panels, "losses, which take ten minutes a run")


# --- 50 BBRv3 beside 50 CUBIC flows --------------------------------------------------------------

BESIDE = HERE / "coexistence"
SHARE, ALL_GOODPUT = "BBRv3's share, %", "goodput, % of the rate"
WAIT = "round trip above the shortest, ms"
AGAIN = "retransmitted, % of delivered segments"
CONTROLS = {"bbr3": "BBRv3", "cubic": "CUBIC"}
RATE_BPS, FLOWS = 1e9, 50
RTT_MS = 20.3
"""The shortest round trip in the data."""
BDP_BYTES, BURST_BYTES = 2_621_440, 500_000
"""What the scripts call a BDP, and tbf's burst."""
MINUTE = 60
QUICK = (0.5,)
"""Buffers of a quick run."""
BESIDE_VARIANTS: dict[str, dict[str, Any]] = {
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
    return list(dict.fromkeys(float(row["buffer_bdp"]) for row in read_rows(BESIDE)))


def sample(buffer: float, control: str) -> Sample:
    """Return the measured flows of one congestion control at one buffer."""
    named = (buffer, control)
    rows = [
        r for r in read_rows(BESIDE) if (float(r["buffer_bdp"]), r["congestion_control"]) == named
    ]
    return Sample(
        [8 * int(row["received_bytes"]) / float(row["received_s"]) for row in rows],
        [int(row["retransmissions"]) * SEGMENT / int(row["sent_bytes"]) for row in rows],
        [int(row["mean_rtt_us"]) / 1e3 for row in rows if row["mean_rtt_us"]],
    )


def share(buffer: float) -> tuple[float, float]:
    """Return BBRv3's measured share of the goodput and its standard error, in percent."""
    bbr, cubic = (sample(buffer, control).goodput_bps for control in CONTROLS)
    (a, b), (of_a, of_b) = (
        [statistics.mean(rates) for rates in (bbr, cubic)],
        [statistics.stdev(rates) / math.sqrt(len(rates)) for rates in (bbr, cubic)],
    )
    return 100 * a / (a + b), 100 * math.hypot(b * of_a, a * of_b) / (a + b) ** 2


def judged(buffer: float) -> bool:
    """Whether the sample tells the share well enough."""
    limit = read_toml(BESIDE, "bands")["largest_standard_error_points"]
    return share(buffer)[1] <= float(limit)


def unjudged(buffer: float) -> str:
    """Return the sentence on a buffer whose share is not judged."""
    percent, error = share(buffer)
    return (
        f"{buffer:g} BDP: the sample tells BBRv3's share to {percent:.0f} ± {error:.0f} % "
        "(one standard error), so neither it nor the goodput is judged"
    )


def beside(buffer: float) -> forebay.Scenario:
    """Return the set-up with one buffer, in BDP."""
    traffic = [
        _long(control, FLOWS, (RTT_MS, RTT_MS + 0.2), {"uniform": [f"{s} s", f"{s + 1} s"]}, "on")
        for s, control in enumerate(CONTROLS)
    ]
    shaper = {"rate": "1 Gbit/s", "burst": f"{BURST_BYTES} B"}
    link, size = {"rate": "10 Gbit/s", "shaper": shaper}, round(buffer * BDP_BYTES)
    return _scenario("BBRv3 beside CUBIC", link, size, traffic, (0, MINUTE))


def compare_beside(
    work: Work, buffer: float, fields: Mapping[str, Any] | None = None
) -> list[Compared]:
    """Simulate one buffer, with some fields changed; return what the data can judge."""
    outcome = work.play(beside(buffer).replace(dict(fields or {})))
    of = dict(zip(CONTROLS, outcome.classes, strict=True))
    goodputs = _goodputs(buffer, of) if judged(buffer) else []
    return [*goodputs, *(row for control in CONTROLS for row in _of_control(buffer, control, of))]


def _goodputs(buffer: float, of: Mapping[str, Any]) -> list[Compared]:
    bands = read_toml(BESIDE, "bands")
    measured = FLOWS * sum(statistics.mean(sample(buffer, c).goodput_bps) for c in CONTROLS)
    bbr, cubic = (of[control].goodput_bps for control in CONTROLS)
    total = bbr.value + cubic.value
    rate = bbr.scaled(100 * (SEGMENT / PACKET) * total / bbr.value / RATE_BPS)
    ours, points = bbr.scaled(100 / total), bands["goodput_points"]
    return [
        _row(buffer, SHARE, share(buffer)[0], ours, bands["share_points"]),
        _row(buffer, ALL_GOODPUT, 100 * measured / RATE_BPS, rate, points, full=FULL),
    ]


def _of_control(buffer: float, control: str, of: Mapping[str, Any]) -> Iterator[Compared]:
    """Yield the queue that one congestion control sees, and what it retransmits."""
    seen, bands, own = sample(buffer, control), read_toml(BESIDE, "bands"), of[control]
    queue, name = statistics.mean(seen.rtt_ms) - RTT_MS, CONTROLS[control]
    ours = own.rtt_s.mean.scaled(1e3, -RTT_MS)
    yield _row(buffer, f"{name}, {WAIT}", queue, ours, 100 * bands["queue_share"], relative=True)
    sent = own.goodput_bps.value * MINUTE / (8 * PACKET)
    again = own.retransmissions.scaled(100 / sent)
    rate, band = 100 * statistics.mean(seen.retransmission), 100 * bands["retransmission_share"]
    yield _row(buffer, f"{name}, {AGAIN}", rate, again, band, relative=True)


def _row(
    buffer: float,
    name: str,
    measured: float,
    ours: Metric,
    band: float,
    relative: bool = False,
    full: float | None = None,
) -> Compared:
    misses = read_toml(BESIDE, "misses")
    return Compared([buffer], name, round(measured, 3), ours, band, relative, full, misses)


@artefact()
def coexistence(work: Work) -> Reproduction:
    """Simulate each buffer, also as the set-up leaves it open, and compare it."""
    wanted = [buffer for buffer in buffers() if not work.quick or buffer in QUICK]
    seen = [row for buffer, part in work.each(wanted) for row in compare_beside(part, buffer)]
    panels = [
        _by_buffer(seen, {SHARE: ""}, SHARE, "x"),
        _by_buffer(seen, {f"{n}, {WAIT}": f", {n}" for n in CONTROLS.values()}, WAIT, "xy"),
    ]

    def variants() -> Variants:
        once, columns = work.untold().of(1), [seen]
        for fields in list(BESIDE_VARIANTS.values())[1:]:
            columns.append([row for b in wanted for row in compare_beside(once, b, fields)])
        rows = [
            _variant(f"{first.cell[0]:g} BDP, {first.quantity}", first, *others)
            for first, *others in zip(*columns, strict=True)
        ]
        return Variants(read_toml(BESIDE, "bands")["open"], list(BESIDE_VARIANTS), rows)

    not_judged = [unjudged(buffer) for buffer in wanted if not judged(buffer)]
    return _reproduction(work, seen, panels, "the other buffers", variants, not_judged)


def _by_buffer(seen: Sequence[Compared], of: Mapping[str, str], title: str, log: Any) -> Panel:
    lines = []
    for quantity, name in of.items():
        own = [pair for pair in seen if pair.quantity == quantity]
        at = [pair.cell[0] for pair in own]
        lines.append(Line(at, [pair.measured for pair in own], f"measured{name}", "dots"))
        lines.append(Line(at, [pair.simulated.value for pair in own], f"simulator{name}"))
    return Panel(lines, "buffer, BDP", title, title=title, log=log)
