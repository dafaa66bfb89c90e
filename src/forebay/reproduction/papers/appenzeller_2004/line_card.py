"""Section 5's OC3 and the abstract's backbone links: Figures 11 and 15, flows of Pareto length."""

import math
import tomllib
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import forebay
from forebay.report import Line, percent
from forebay.reproduction import (
    KERNEL,
    LINK,
    SIMULATION,
    UNEXPLAINED,
    Cell,
    Check,
    Measured,
    Reproduction,
    Row,
    Variants,
    Work,
    artefact,
    chart,
    facts,
    farthest,
    value,
)
from forebay.reproduction.papers.appenzeller_2004.windows import readings

TARGETS = (0.98, 0.995, 0.999)
FLOWS, QUICK_FLOWS = (10, 50, 100, 250, 500), (350,)
OF_MANY_N = ("few", "between")  # claims on numbers of flows that a quick run omits
MANY = 250
MOST_SEEDS, FEWEST_SEEDS = 4, 16  # runs of ten flows differ most


@artefact()
def fig11(work: Work) -> Reproduction:
    """The buffer for 98, 99.5 and 99.9 % by number of flows; ``quick`` only one number."""
    flows, bdp = QUICK_FLOWS if work.quick else FLOWS, work.load().bdp_packets
    law = {n: float(forebay.laws.sqrt_n.buffer(bdp, n)) for n in flows}
    points = [(n, target) for n in flows for target in TARGETS]
    needs = work.once_if_quick(MOST_SEEDS).over(points, _sized)
    low, middle, high = ({n: needs[n, target] for n in flows} for target in TARGETS)
    many, fewest = [n for n in flows if n >= MANY], min(flows)
    twice = [high[n] / low[n] for n in many]
    apart = [100 * min(middle[n] / low[n] - 1, high[n] / middle[n] - 1) for n in flows]
    ours = {
        "holds": farthest([100 * low[n] / law[n] for n in many], 100),
        "few": 100 * low[fewest] / law[fewest],
        "twice": sum(twice) / len(twice),
        "between": min(apart),
    }
    rule = list(law.values())
    lines = [Line(flows, rule, "bdp/√n"), Line(flows, [2 * b for b in rule], "2 bdp/√n", "dashes")]
    for target in TARGETS:
        lines.append(Line(flows, [needs[n, target] for n in flows], f"{100 * target:g} %", "dots"))
    return work.judge(
        ours,
        left_out=OF_MANY_N if work.quick else (),
        picture=chart(lines, "long flows", "buffer, packets"),
    )


def _sized(work: Work, n: int, target: float) -> float:
    sets = [f"traffic.0.flows={n}", f"goals.utilization={target}"]
    if work.quick:
        sets += ["measure.warmup=15 s", "measure.duration=15 s"]
    elif n < MANY:  # few flows have long cycles
        sets += ["measure.warmup=30 s", "measure.duration=90 s"]
        work = work.of(FEWEST_SEEDS) if n == min(FLOWS) else work
    effort = work.effort
    # The whole search, however slow the machine: a row must not depend on a clock.
    answer = forebay.size(
        work.load(sets), seeds=effort.seeds, max_seeds=effort.seeds, jobs=effort.jobs,
        progress=effort.progress, budget="24 h",
    )  # fmt: skip
    buffer = answer.to_dict()["buffer"]
    return math.nan if buffer is None else float(buffer["packets"])


FIG15 = Path(__file__).resolve().parent / "fig15"
READINGS: dict[str, list[str]] = {
    **readings(100),
    "RTTs 89–111 ms": ["traffic.0.rtt={uniform=['89 ms', '111 ms']}"],
}
EXPERIMENT_POINTS = 2.0
# The testbed's own set-up (README.md): today's Linux, and runs that fit into an afternoon.
TESTBED = [
    "traffic.0.sender=linux",
    "traffic.0.initial_window=10",
    "traffic.0.start={ uniform = ['0 s', '5 s'] }",
    "measure.warmup=15 s",
    "measure.duration=25 s",
]
# Recorded first: agreement/cells compares the simulator with these.
FIRST = [(100, 64), (100, 129), (100, 258), (400, 32), (400, 64), (400, 128)]


@dataclass(frozen=True, slots=True)
class Printed:
    """One printed row of Figure 15; utilizations in percent."""

    flows: int
    multiple: float
    packets: int
    model: float
    sim: float
    exp: float

    @property
    def key(self) -> dict[str, int]:
        """Its key in measured.toml."""
        return {"flows": self.flows, "packets": self.packets}

    @property
    def sets(self) -> list[str]:
        """Its settings of the scenario."""
        return [f"traffic.0.flows={self.flows}", f"queue.size={self.packets} packets"]

    @property
    def allowed(self) -> float:
        """The difference in points from Sim. that its band allows."""
        return band()[self.multiple]

    def reason(self, ours: Any) -> str:
        """By how much it misses and the known cause; "" if it does not miss."""
        if ours is None:
            return "utilization was not measured"
        away, allowed = ours.value - self.sim, self.allowed
        if within(away, allowed):
            return ""
        known = ours.low is not None and ours.high is not None
        reaches = known and ours.low <= self.sim + allowed and ours.high >= self.sim - allowed
        near = ", though our interval reaches into it" if reaches else ""
        return f"{_away(away)} Sim., band ±{allowed}{near}; {self._why('cause')}"

    def experiment_reason(self, ours: Any) -> str:
        """By how much the testbed misses the printed Exp.; "" if it does not or was not run."""
        away = 0.0 if ours is None else ours.value - self.exp
        if within(away, EXPERIMENT_POINTS):
            return ""
        return f"{_away(away)} Exp., band ±{EXPERIMENT_POINTS:g}; {self._why('experiment')}"

    @property
    def times(self) -> int:
        """The replications for each that is asked."""
        return int(self._of("band.toml", "times").get("times", 1))

    @property
    def cause(self) -> str:
        """Which of the known causes it is out of its band for."""
        return str(self._of("causes.toml", "cause").get("cause", UNEXPLAINED))

    def _why(self, table: str) -> str:
        return str(self._of("causes.toml", table).get("why", "cause not known"))

    def _of(self, name: str, table: str) -> dict[str, Any]:
        """Return what a file of the folder has of this row."""
        own = {"flows": self.flows, "multiple": self.multiple}.items()
        return next((entry for entry in read(name).get(table, []) if own <= entry.items()), {})


def within(away: float, allowed: float) -> bool:
    """Whether a difference in points is in the band, including its ends, which are decimals."""
    return abs(away) <= allowed + 1e-9


def _away(away: float) -> str:
    return f"{abs(away):.2f} points {'above' if away > 0 else 'below'}"


def read(name: str) -> dict[str, Any]:
    """Return the content of a file of Figure 15."""
    return tomllib.loads((FIG15 / name).read_text("utf-8"))


def published() -> list[Printed]:
    """Return the printed rows."""
    return [Printed(*row) for row in read("published.toml")["rows"]]


def band() -> dict[float, float]:
    """Return the allowed difference in points for each multiple."""
    return {entry["multiple"]: entry["points"] for entry in read("band.toml")["band"]}


def on_linux(flows: int, packets: int, *more: str) -> forebay.Scenario:
    """Return the testbed's set-up with this number of flows and this buffer."""
    sizes = [f"traffic.0.flows={flows}", f"queue.size={packets} packets"]
    return forebay.load(FIG15 / "scenario.toml", [*TESTBED, *sizes, *more])


def on_testbed(scenario: forebay.Scenario, seed: int, told: Any) -> dict[str, Any]:
    """Run one replication on the testbed and return what is recorded of it."""
    return facts(forebay.run(scenario, "testbed", seed=seed, progress=told))


def _cells() -> list[Cell]:
    rows = sorted(published(), key=lambda row: (row.flows, row.packets) not in FIRST)
    return [Cell(row.key, partial(on_testbed, on_linux(row.flows, row.packets))) for row in rows]


@artefact(testbed=_cells)
def fig15(work: Work) -> Reproduction:
    """All 16 rows with the set-up of scenario.toml; without ``quick``, also its variants."""
    rows, measured = published(), Measured(FIG15)
    parts = work.shares(len(rows) * (1 if work.quick else len(READINGS)))
    table: list[Row] = []
    for row in rows:
        model = _utilization(forebay.run(work.load(row.sets), "theory"))
        ours = _utilization(next(parts).of(row.times * work.effort.seeds).run(row.sets))
        exact = None if model is None else round(model.value, 1)
        played = percent(measured.metric(row.key, "utilization"))
        known = [row.flows, row.multiple, row.packets, row.model]
        why = [row.reason(ours), row.experiment_reason(played)]
        full = within(100 - row.sim, row.allowed)
        checks = [Check(SIMULATION, not why[0], published=True, full_passes=full)]
        if played is not None:
            full = within(100 - row.exp, EXPERIMENT_POINTS)
            checks.append(Check(KERNEL, not why[1], published=True, full_passes=full))
        cells = [*known, exact, row.sim, ours, row.exp, played]
        table.append(Row(cells, "; ".join(filter(None, why)), checks, row.cause))
    page, variants = work.toml("published.toml"), None
    if not work.quick:
        columns = [[row.cells[6] for row in table]]
        for sets in list(READINGS.values())[1:]:
            columns.append([_utilization(next(parts).run([*row.sets, *sets])) for row in rows])
        compared = [
            (
                f"{row.flows}, {row.multiple:g}, {row.packets}",
                f"{row.sim:g} ± {row.allowed:g}",
                [(ours, not row.reason(ours)) for ours in numbers],
            )
            for row, numbers in zip(rows, zip(*columns, strict=True), strict=True)
        ]
        variants = Variants(page["open"], list(READINGS), compared)
    notes = [*page["notes"], *_of_rows(rows, table), measured.note()]
    head = page | {"notes": notes, "labels": 3, "unit": "%"}
    return work.of_rows(table, head, variants=variants)


def _utilization(outcome: forebay.Outcome) -> Any:
    """Return the link's utilization as a Metric in percent, None if not measured."""
    return percent(outcome.links[LINK].utilization)


def _of_rows(rows: list[Printed], table: list[Row]) -> list[str]:
    """Notes on the rows that a link which is never idle would fail, and on the testbed's."""
    carry = [row for row in rows if not within(100 - row.sim, row.allowed)]
    named = " and ".join(f"{row.flows} flows at {row.multiple:g}" for row in carry)
    rest = len(rows) - len(carry)
    known = [(e.cells[-2], e.cells[-1].value) for e in table if e.cells[-1] is not None]
    near = sum(abs(ours - printed) <= EXPERIMENT_POINTS for printed, ours in known)
    return [
        f"The test is carried by {named}: a link never idle would pass the other {rest} rows.",
        f"Exp. ours is within ±{EXPERIMENT_POINTS:g} points of Exp. in {near} of {len(rows)} rows "
        f"({len(known)} measured). A row is in if both bands hold; one not measured is not judged.",
    ]


RUNS = {
    "small": ("2.5 Gbit/s", 10_000, "0.01 bdp"),
    "full": ("2.5 Gbit/s", 10_000, "1 bdp"),
    "oc192": ("10 Gbit/s", 50_000, "10 Mbit"),
}


@artefact()
def headline(work: Work) -> Reproduction:
    """The abstract: two backbone links with a hundredth of the buffer; ``quick`` once and 3 s."""

    def used(part: Work, name: str) -> Any:
        rate, flows, size = RUNS[name]
        sets = [f"link.rate={rate}", f"traffic.0.flows={flows}", f"queue.size={size}"]
        return _utilization(part.run([*sets, *(["measure.duration=3 s"] if work.quick else [])]))

    # Tens of thousands of flows average out within a run.
    shares = work.once_if_quick(2).over(list(RUNS), used)
    small, full = shares["small"], shares["full"]
    lost = full.value - small.value if full and small else None
    at = {name: value(share) for name, share in shares.items()}
    lines = [
        Line([1, 100], [at["small"], at["full"]], "2.5 Gbit/s, 10,000 flows", "dots"),
        Line([0.4], [at["oc192"]], "10 Gbit/s, 50,000 flows", "dots"),
        Line([1], [98.99], "2.5 Gbit/s, least by eq. 6", "dots"),
        Line([0.4], [97.93], "10 Gbit/s, least by eq. 6", "dots"),
    ]
    return work.judge(
        {"oc48": small, "oc48-lost": lost, "oc192": shares["oc192"]},
        picture=chart(lines, "buffer, % of bdp", "utilization, %", log="x"),
    )


USERS, FILE_BITS, THINK_S, PACKETS = 200, 100 * 12_000, 0.5, 165


@artefact()
def pareto(work: Work) -> Reproduction:
    """Section 5.1.4: flows of Pareto length with 165 packets; ``quick`` measures 20 s."""
    sets = ["measure.warmup=10 s", "measure.duration=20 s"] if work.quick else []
    outcome, bdp = work.run(sets), work.load(sets).bdp_packets
    used, goodput = _utilization(outcome), value(outcome.classes[0].goodput_bps)
    flows = USERS - goodput / FILE_BITS * THINK_S
    ours = {"utilization": used, "flows": flows, "small-multiple": PACKETS * math.sqrt(flows) / bdp}
    sizes = list(range(20, 401, 10))
    law = [100 * float(forebay.laws.utilization.utilization(size, bdp, flows)) for size in sizes]
    lines = [
        Line(sizes, law, "eq. 6 with our number of flows"),
        Line([PACKETS], [value(used)], "ours", "dots"),
        Line([PACKETS], [99], "published", "dots"),
    ]
    return work.judge(ours, picture=chart(lines, "buffer, packets", "utilization, %"))
