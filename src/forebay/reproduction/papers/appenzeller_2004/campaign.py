"""Section 5's campaigns: the 15,000 runs on an OC3, and four kinds of flows at 40 to 400 Mbit/s.

    python -m forebay.reproduction.papers.appenzeller_2004.campaign STORE [SEEDS]

runs the four grids of `campaign/` into a store, continues where it was stopped, and writes
``campaign/runs.csv``: a line for each cell, with its utilization by seed. With two files ``.csv``
it writes such a table of what ``forebay sweep oc3_campaign/study.toml --export`` has written.
"""

import csv
import math
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any, TypeVar

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Reproduction, Work, artefact, farthest

HERE = Path(__file__).resolve().parent / "campaign"
LEVELS = {  # of each kind, what its four cells of a set-up differ in beside the buffer
    "long": "traffic.0.flows",
    "mixed": "traffic.0.flows",
    "pareto": "traffic.0.file",
    "short": "traffic.0.length",
}
MANY, WINDOW = 250, 2.0  # flows; packets, below which section 5.1.1 has timeouts instead
SMALL_MULTIPLES = (1.0, 3.0)  # of bdp/sqrt(n), section 5.1.4
FILE_PACKETS, THINK_S = 100, 0.5
SLOWEST, FASTEST = 40.0, 400.0
AGAIN, AGAIN_QUICK = 8, 2  # cells of each kind
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """One set-up: Mbit/s, mean RTT in ms, bytes, packets; flows at once; mean loss, a share."""

    kind: str
    rate: float
    rtt: float
    packet: int
    level: float
    bdp: float
    buffer: int
    flows: float
    loss: float

    @property
    def multiple(self) -> float:
        """The buffer in bdp/sqrt(n)."""
        return self.buffer * math.sqrt(self.flows) / self.bdp

    @property
    def window(self) -> float:
        """Mean window of a flow (eq. 1), packets."""
        return (self.bdp + self.buffer) / self.flows


@dataclass(frozen=True, slots=True, order=True)
class Combination:
    """One combination of the study of 15,000 runs: RTTs in ms, the buffer in bdp/sqrt(n)."""

    flows: int
    multiple: float
    rtt_low: int
    rtt_high: int

    @property
    def rtts(self) -> tuple[int, int]:
        """Shortest and longest round trip, ms."""
        return self.rtt_low, self.rtt_high

    @property
    def sets(self) -> list[str]:
        """Its settings of the scenario."""
        return [
            f"traffic.0.flows={self.flows}",
            f'traffic.0.rtt={{uniform=["{self.rtt_low} ms","{self.rtt_high} ms"]}}',
            f"queue.size={self.multiple:g} bdp/sqrt(n)",
        ]


AnyCell = TypeVar("AnyCell", bound=Cell | Combination)
Runs = dict[Cell, list[float]]
"""Utilization of each seed from 1 on, with five decimals."""
Study = dict[Combination, list[float]]


def grid(kind: str) -> tuple[forebay.Scenario, dict[str, Any]]:
    """Return the scenario of a kind, and the grid over it."""
    text = tomllib.loads((HERE / f"{kind}.toml").read_text("utf-8"))
    return forebay.load(HERE / text["base"]), text


def swept(
    kind: str, seeds: int, where: Callable[[Row], bool] | None = None, **how: Any
) -> list[Row]:
    """Run a kind's grid, or some of its cells, and return a row for each run."""
    base, of = grid(kind)
    study = forebay.sweep(
        base, of["axes"], together=of["together"], seeds=seeds, where=where, **how
    )
    return list(study.to_dataframe().to_dict("records"))


def key(row: Row, kind: str) -> tuple[Any, ...]:
    """Return what names a row's cell."""
    rtt = mean(map(float, re.findall(r"(\d+) ms", str(row["traffic.0.rtt"]))))
    level = str(row[LEVELS[kind]])
    number = re.search(r"shape\W+([\d.]+)", level) or re.match(r"([\d.]+)", level)
    assert number is not None
    rate, packet = (str(row[name]).split()[0] for name in ("link.rate", "traffic.0.packet"))
    buffer = int(row["link.bottleneck.buffer_packets"])
    return kind, float(rate), rtt, int(packet), float(number[1]), buffer


def _flows(rows: Sequence[Row], kind: str, packet: int) -> float:
    """Flows at once: by Little's law those of users who do not think."""
    if kind != "pareto":
        return float(rows[0].get("traffic.0.flows", 0))
    goodput = mean(float(row["class.session-0.goodput_bps"]) for row in rows)
    return float(rows[0]["traffic.0.flows"]) - goodput / (FILE_PACKETS * 8 * packet) * THINK_S


def _by_seed(rows: Iterable[Row], key_of: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    """Return the rows of each cell, in the order of their seeds."""
    cells: dict[Any, list[Row]] = {}
    for row in sorted(rows, key=lambda row: int(row["seed"])):
        cells.setdefault(key_of(row), []).append(row)
    return cells


def collected(kind: str, rows: Iterable[Row]) -> Runs:
    """Return the cells of a kind's rows."""
    runs: Runs = {}
    for named, group in _by_seed(rows, lambda row: key(row, kind)).items():
        (_, rate, rtt, packet, level, buffer), first = named, group[0]
        bdp, flows = float(first["link.bottleneck.bdp_packets"]), _flows(group, kind, packet)
        loss = mean(float(row["link.bottleneck.loss_rate"]) for row in group)
        cell = Cell(
            kind, rate, rtt, packet, level, round(bdp, 2), buffer, round(flows, 2), round(loss, 6)
        )
        runs[cell] = [_used(row) for row in group]
    return dict(sorted(runs.items(), key=lambda pair: astuple(pair[0])))


def studied(exported: Path) -> Study:
    """Return the runs of a table that ``forebay sweep study.toml --export`` has written."""

    def named(row: Row) -> Combination:
        low, high = map(int, re.findall(r"(\d+) ms", row["traffic.0.rtt"]))
        multiple = float(row["queue.size"].split()[0])
        return Combination(int(row["traffic.0.flows"]), multiple, low, high)

    with exported.open(newline="", encoding="utf-8") as file:
        cells = _by_seed(csv.DictReader(file), named)
    return {cell: [_used(row) for row in cells[cell]] for cell in sorted(cells)}


def read(path: Path, of: type[AnyCell]) -> dict[AnyCell, list[float]]:
    """Return a table of runs, in the order of its lines."""
    types: list[Any] = [field.type for field in fields(of)]
    runs: dict[AnyCell, list[float]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for line in list(csv.reader(file))[1:]:
            cell = of(*(make(text) for make, text in zip(types, line, strict=False)))
            runs[cell] = [*map(float, line[len(types) :])]
    return runs


def written(runs: Mapping[AnyCell, Sequence[float]], form: Callable[[Any], str] = str) -> str:
    """Return a table of runs as text."""
    cell, used = next(iter(runs.items()))
    seeds = (f"seed_{n}" for n in range(1, len(used) + 1))
    lines = [[*(field.name for field in fields(cell)), *seeds]]
    lines += [[*map(form, (*astuple(cell), *used))] for cell, used in runs.items()]
    return "".join(",".join(line) + "\n" for line in lines)


@artefact()
def campaign(work: Work) -> Reproduction:
    """Judge the table of the campaign, and make some of its runs again; ``quick`` fewer."""
    runs = read(work.folder / "runs.csv", Cell)
    same = [equal for kind, part in work.each(list(LEVELS)) for equal in _again(part, runs, kind)]
    wide = {cell: used for cell, used in runs.items() if cell.flows and cell.window >= WINDOW}
    many = {c: u for c, u in wide.items() if c.kind in ("long", "mixed") and c.flows >= MANY}
    low, high = SMALL_MULTIPLES
    short = [cell for cell in runs if cell.kind == "short"]
    at_model, at_half = (_nth_buffer(short, place) for place in (1, 0))
    loss = {rate: mean(c.loss for c in at_half if c.rate == rate) for rate in (SLOWEST, FASTEST)}
    sizes = [
        mean(100 * share for c, used in wide.items() if c.kind == "long" and c.packet == size
             for share in used)
        for size in (1000, 1500)
    ]  # fmt: skip
    ours = {
        "long": _share(many, 0.98, lambda c: c.kind == "long" and 0.9 < c.multiple < 1.1),
        "half": _share(many, 0.98, lambda c: c.kind == "long" and c.multiple < 0.6),
        "mixed": _share(many, 0.95, lambda c: c.kind == "mixed" and 0.9 < c.multiple < 1.1),
        "short": 100 * mean(cell.loss <= 0.025 for cell in at_model),
        "short-rate": loss[FASTEST] / loss[SLOWEST],
        "pareto": _share(wide, 0.98, lambda c: c.kind == "pareto" and low <= c.multiple <= high),
        "packet": abs(sizes[0] - sizes[1]),
        "same": 100 * mean(same),
        "runs": sum(map(len, runs.values())),
    }
    panels = [_panel(runs, kind) for kind in ("long", "mixed", "pareto")]
    return work.judge(ours, picture=Picture(panels, columns=3))


def _again(work: Work, runs: Runs, kind: str) -> list[bool]:
    """Whether runs of some cells, made again, have the digits of the table."""
    known = {(c.kind, c.rate, c.rtt, c.packet, c.level, c.buffer): u for c, u in runs.items()}
    axes = grid(kind)[1]["axes"]
    size, packet = axes["queue.size"][1], axes["traffic.0.packet"][0]
    wanted = AGAIN_QUICK if work.quick else AGAIN
    chosen: list[Any] = []

    def where(cell: Row) -> bool:
        same = cell["queue.size"] == size and cell["traffic.0.packet"] == packet
        take = same and len(chosen) < wanted
        chosen.extend([cell] * take)
        return take

    rows = swept(kind, 1, where, jobs=work.effort.jobs, progress=work.effort.progress)
    return [_used(row) == known[key(row, kind)][0] for row in rows]


def _used(row: Row) -> float:
    return round(float(row["link.bottleneck.utilization"]), 5)


def _nth_buffer(cells: Sequence[Cell], place: int) -> list[Cell]:
    """Return the cells with the nth of the buffers of their length."""
    of: dict[float, set[int]] = {}
    for cell in cells:
        of.setdefault(cell.level, set()).add(cell.buffer)
    return [cell for cell in cells if cell.buffer == sorted(of[cell.level])[place]]


def _share(
    runs: Mapping[AnyCell, Sequence[float]], least: float, chosen: Callable[[AnyCell], bool]
) -> float:
    """Return the share of the chosen cells' runs that use so much of the link, in percent."""
    return 100 * mean(each >= least for cell, used in runs.items() if chosen(cell) for each in used)


def _panel(runs: Runs, kind: str) -> Panel:
    """Idle share by the buffer's multiple, for windows of two packets and more."""
    lines = []
    for rate in sorted({cell.rate for cell in runs}):
        own = [(c.multiple, 100 * (1 - mean(used))) for c, used in runs.items()
               if (c.kind, c.rate) == (kind, rate) and c.window >= WINDOW]  # fmt: skip
        x, y = [at for at, _ in own], [max(idle, 1e-3) for _, idle in own]
        lines.append(Line(x, y, f"{rate:g} Mbit/s", "dots"))
    return Panel(lines, "buffer, bdp/√n", "idle, %", title=kind, log="xy")


def _pass_on(child: subprocess.Popen[bytes], number: int, _: object) -> None:
    child.send_signal(number)


def run(store: str, seeds: str = "10") -> int:
    """Run the grids by `forebay sweep` and write the table; return the exit status.

    The verb says the cost and the progress, and on Ctrl-C what the store keeps.
    """
    verb = [sys.executable, "-c", "from forebay.cli import main; main()", "sweep"]
    for way in (["--status"], []):  # what all will cost, before the first run
        for kind in LEVELS:
            print(f"{kind} flows: ", end="", file=sys.stderr, flush=True)
            grid_file = str(HERE / f"{kind}.toml")
            asked = [*verb, grid_file, "--store", store, "--seeds", seeds, *way]
            child = subprocess.Popen(asked, stdout=subprocess.DEVNULL)
            for number in (signal.SIGINT, signal.SIGTERM):  # a terminal tells both, others one
                signal.signal(number, partial(_pass_on, child))
            if status := child.wait():
                return status
    table: Runs = {}
    for kind in LEVELS:
        table |= collected(kind, swept(kind, int(seeds), store=store))
    (HERE / "runs.csv").write_text(written(table), encoding="utf-8")
    return 0


FEW, DRAWN = 100, (0.98, 0.99, 0.995, 0.999)
REPEATED, REPEATED_QUICK = 15, 5


@artefact()
def oc3_campaign(work: Work) -> Reproduction:
    """Judge the table of runs, and make some of them again; ``quick`` fewer of them."""
    runs = read(work.folder / "runs.csv", Combination)
    cells = list(runs)
    again = cells[:: len(cells) // (REPEATED_QUICK if work.quick else REPEATED)]

    def is_same(part: Work, cell: Combination) -> bool:
        """Whether the first seed's run of a cell has the digits of the table."""
        return round(part.of(1).used(cell.sets), 5) == runs[cell][0]

    rule = [cell for cell in runs if cell.flows >= MANY and cell.multiple == 1.0]
    many = sorted({(cell.flows, cell.rtts) for cell in runs if cell.flows >= MANY})
    needs = [(need(runs, *pair, 0.98), need(runs, *pair, 0.999)) for pair in many]
    ours = {
        "rule-250": _share(runs, 0.98, lambda cell: cell in rule),
        "rule-250-mean": 100 * min(mean(runs[cell]) for cell in rule),
        "few": _share(runs, 0.98, lambda c: c.flows < FEW and 1.0 <= c.multiple <= 1.5),
        "half": _share(runs, 0.98, lambda c: c.flows >= MANY and c.multiple <= 0.5),
        "need-250": 100 * farthest([low for low, _ in needs], 1.0),
        "twice": mean(high / low for low, high in needs),
        "runs": sum(map(len, runs.values())),
        "same": 100 * mean(work.over(again, is_same).values()),
    }
    ranges = sorted({cell.rtts for cell in runs}, key=lambda rtts: (rtts[1] - rtts[0], rtts))
    panels = [_needs(runs, rtts) for rtts in ranges]
    return work.judge(ours, picture=Picture(panels, columns=len(ranges)))


def need(runs: Study, flows: int, rtts: tuple[int, int], target: float) -> float:
    """Return the buffer at which the mean of ten runs crosses a target, in bdp/sqrt(n).

    The idle share is interpolated between two buffers by its logarithm. Infinite if the largest
    buffer does not reach it; the smallest buffer of the table if that does.
    """
    named = (flows, rtts)
    points = [(c.multiple, 1.0 - mean(u)) for c, u in runs.items() if (c.flows, c.rtts) == named]
    allowed = 1.0 - target
    if points[0][1] <= allowed:
        return points[0][0]
    for (low, idle), (high, less) in pairwise(points):
        if less <= allowed:
            there = math.log(idle / allowed) / math.log(idle / max(less, 1e-9))
            return low * math.pow(high / low, there)
    return math.inf


def _needs(runs: Study, rtts: tuple[int, int]) -> Panel:
    flows = sorted({cell.flows for cell in runs})
    lines = [Line(flows, [1.0 for _ in flows], "BDP/√n", "dashes")]
    for target in DRAWN:
        needs = {n: need(runs, n, rtts, target) for n in flows}
        known = {n: size for n, size in needs.items() if math.isfinite(size)}
        lines.append(Line(list(known), list(known.values()), f"{target:.1%}"))
    title = f"{rtts[0]} to {rtts[1]} ms"
    return Panel(lines, "long-lived flows", "buffer, BDP/√n", title, log="y")


if __name__ == "__main__":
    if sys.argv[1].endswith(".csv"):
        table = written(studied(Path(sys.argv[1])), "{:g}".format)
        Path(sys.argv[2]).write_text(table, encoding="utf-8")
    else:
        sys.exit(run(*sys.argv[1:]))
