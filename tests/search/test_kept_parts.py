"""The parts of a search by themselves, kept whole: prices, times, scales, remarks, texts.

They are asked of links of every kind, of the scenarios that are shipped among them, and on both
sides of thresholds.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.kept import Kept, plain
from tests.outcomes import around
from tests.outcomes import metric as some
from tests.search.conftest import Curve, KnownEngine, saturating, size
from tests.search.test_evidence import kind, outcome
from tests.search.test_kept import ANSWERS, DATA, LONG, SHORT, VOICE, WEB
from tests.search.test_rule import FLOOR, at, problem
from tests.search.test_smallest_set import Known, tried

import forebay
from forebay.effort import Effort
from forebay.engines.base import NetworkTraffic
from forebay.laws.assumptions import Sawtooths, sawtooths_s
from forebay.outcome import Outcome
from forebay.scenario import Duration, Measure, Scenario, ScenarioError, loads
from forebay.search import answer, budget, carry, cost, evidence, recommended, run_within, scaling
from forebay.search.goals import GOAL_KINDS, Goal, GoalNotAnswered, NobodyCrosses, NoGoals, goals_of
from forebay.search.level import Level, Options
from forebay.search.network_links import NetworkLinks, NetworkLoad, link_sizes, smallest_set
from forebay.search.parameter import notes_of, parameter_of
from forebay.search.problem import (
    Problem,
    first_guess,
    most_by_delay,
    square_root_rule,
    upper_limit,
)
from forebay.search.recommended import Chosen, choose, price
from forebay.search.refine import next_size
from forebay.search.remarks import assumed, late_starts, link_rates, remarks
from forebay.search.rows import crossing, least, region

SHIPPED = Path(__file__).parents[2] / "scenarios"
TYPICAL = ("oc3-gsr", "mix", "class-queues", "l4s", "video-and-tcp", "pareto", "incast",
           "cellular-4g", "leo-satellite", "wi-fi", "abilene-slow-edge-small")  # fmt: skip
FILE = '[[traffic]]\nkind = "session"\nflows = 30\nfile = "30 kB"\n'
TABLE = 'link.rate = "1 Gbit/s"\nqueue.size = "99 packets"\nmeasure.duration = "5 s"\n[[traffic]]\n'
MOVED = TABLE + 'kind = "transfers"\nload = 0.5\nsize = "web-search"\nrtt = "5 ms"\n'
BURSTY = TABLE + 'kind = "onoff"\nflows = 9\npeak_rate = "99 Mbit/s"\non = "1 s"\noff = "3 s"\n'
FILM = TABLE + 'kind = "video"\nflows = 9\nrate = "9 Mbit/s"\n'
BESIDE = '[[traffic]]\nkind = "udp"\nflows = 20\nload = 0.1\n'
RED = (
    'queue.discipline = "classes"\n'
    'queue.classes = [{ name = "one", default = true, red = { min = "60 kB" } }]\n'
)


def links() -> Iterator[tuple[str, Scenario]]:
    """Yield links of every kind."""
    for name in TYPICAL:
        yield name, forebay.load(SHIPPED / f"{name}.toml")
    for name, text, *sets in OF_KINDS:
        yield name, loads(text, overrides=sets)


OF_KINDS = (
    ("long", LONG), ("short beside", SHORT), ("voice beside", VOICE), ("web", WEB), ("data", DATA),
    ("answers", ANSWERS), ("sessions", LONG + FILE), ("transfers", MOVED), ("on and off", BURSTY),
    ("film", FILM), ("poisson", DATA, "traffic.0.arrivals=poisson"),
    ("datagrams above the link", DATA, "traffic.0.load=1.4"),
    ("datagrams of a rate", VOICE, "traffic.1.flows=3"),
    ("small packets", LONG, "traffic.0.packet=200 B"),
    ("bbr", LONG, "traffic.0.congestion_control=bbr"),
    ("mixed controls", SHORT, "traffic.0.congestion_control={cubic=0.6, bbr3=0.4}"),
    *((f"{n} flows at {rate}", LONG, f"traffic.0.flows={n}", f"link.rate={rate}") for n, rate in (
        (1, "1 Mbit/s"), (4, "10 Gbit/s"), (24, "1 Gbit/s"), (99, "40 Gbit/s"), (101, "40 Gbit/s"),
        (1000, "9 Gbit/s"), (12_000, "9 Gbit/s"), (300_000, "800 Gbit/s"))),
    ("a range", LONG, "traffic.0.flows=50..200"), ("offload", LONG, "traffic.0.offload=on"),
    ("no offload", LONG, "traffic.0.offload=off"), ("at once", LONG, "traffic.0.start=0 s"),
    ("late", LONG, "traffic.0.start={uniform=['0 s', '40 s']}"),
    ("later", SHORT, "traffic.0.start={uniform=['9 s', '90 s']}", "measure.warmup=30 s"),
    ("stops", LONG, "traffic.0.stop=12 s", "measure={warmup='15 s', duration='20 s'}"),
    ("all written", LONG, "traffic.0.congestion_control=reno", "traffic.0.access_rate=2 Gbit/s",
     "traffic.0.sender=ns2", "traffic.0.start=0 s", "traffic.0.packet=1000 B",
     "traffic.0.offload=off"),
    ("data beside", LONG + BESIDE), ("poisson beside", LONG + BESIDE, "traffic.1.arrivals=poisson"),
    ("slower access", LONG, "link.rate=9 Gbit/s", "traffic.0.access_rate=400 Mbit/s"),
    ("two links", LONG + '[[links]]\nname = "next"\nrate = "99 Mbit/s"\n'),
    ("five classes", LONG + "".join(
        f"[[traffic]]\nname = \"c{k}\"\nflows = {k}\nrtt = \"30 ms\"\n" for k in range(1, 6))),
    ("few transfers", MOVED, "measure.duration=20 ms"),
    ("some transfers", MOVED, "measure.duration=2 s"),
    ("few short flows", WEB, "measure.duration=1 ms", "traffic.0.load=0.02"),
    ("heavy short flows", WEB, "traffic.0.length={pareto={mean='30 packets', shape=1.1}}",
     "measure.duration=2 s"),
    *((f"under {name}", LONG, f"queue.discipline={name}") for name in (
        "codel", "fq_codel", "pie", "red", "cake", "dualpi2", "cobalt", "bfifo")),
    ("red of its own", LONG, "queue.discipline=red", "queue.min=400 kB", "queue.max=600 kB"),
    ("a step", LONG, "queue.discipline=red", "queue.min=30 kB", "queue.max=30001 B"),
    ("classes, one of red", RED + LONG),
    ("a long interval", LONG, "queue.discipline=codel", "queue.interval=200 ms"),
    ("fq_codel of 64", LONG, "queue.discipline=fq_codel", "queue.buckets=64"),
    ("ring", LONG, "queue.transmit_ring=4"), ("losses", LONG, "link.loss=0.002"),
    ("policer", LONG, "link.policer={rate='99 Mbit/s', burst='90 kB'}"),
    ("shaper", LONG, "link.shaper={rate='99 Mbit/s', burst='90 kB'}"),
    ("interval", LONG, "link.shaper={rate='99 Mbit/s', burst='90 kB', refill='interval'}"),
    ("deficit", LONG, "link.shaper={rate='99 Mbit/s', refill='deficit'}"),
    ("jitter", LONG, "link.jitter={most='1 ms'}"),
    ("reordering", LONG, "link.jitter={most='1 ms', reorder=true}"),
    ("outages", LONG, "link.down={period='9 s', times=[['1 s', '2 s'], ['4 s', '4.5 s']]}"),
    ("one outage", LONG, "link.down={times=[['24 s', '26 s']]}"),
    ("memory", LONG, "memory=3 MB", "queue.alpha=0.5"),
    ("slow access", LONG, "traffic.0.access_rate=400 Mbit/s"),
    ("access at 1/1.05 of the link", LONG, "link.rate=105 Mbit/s",
     "traffic.0.access_rate=100 Mbit/s"),
    ("peaks above ten links", BURSTY, "link.rate=5 Mbit/s", "traffic.0.flows=1"),
    ("a loss goal", LONG, "goals.loss_rate=0.01"),
    ("a class's loss goal", LONG, "traffic.0.goals.loss_rate=0.01"),
    ("a class's rate", SHORT, "traffic.0.goals.throughput=9 Mbit/s"),
)  # fmt: skip


def measured(text: str, warmup_s: float, duration_s: float) -> Outcome:
    """Return a run whose window is not the scenario's."""
    asked = loads(text).with_measure(
        Measure(warmup=Duration(warmup_s), duration=Duration(duration_s))
    )
    return KnownEngine({"utilization": saturating(9.0)}).run(asked, [1, 2])


def of_link(of: Scenario) -> dict[str, Any]:
    """Return what the parts say of a link."""
    seeds = (1, 2, 3)
    engine = KnownEngine({"utilization": saturating(9.0)}, name="simulation")
    ran = engine.run(of, seeds)
    found: dict[str, Any] = {
        "cost": [cost.packets_per_second(of), cost.cost_s(of, 10.0), cost.model_share(of)],
        "limits": [upper_limit(of), square_root_rule(of), first_guess(of, ())],
        "times": [budget.least_warmup(of), *(
            plain(budget.wanted(of, size, sawtooths)) for size in (1, 500)
            for sawtooths in (None, sawtooths_s if of.topology is None else None))],
        "not scaled": scaling.why_not(of),
        "one process": scaling.is_one_process(of),
        "remarks": remarks(of, seeds, ran),
        "assumed": assumed(of), "late": late_starts(of, seeds[:1]), "rates": link_rates(of),
        "begun": [each.model_dump(mode="json").get("start") for each in begun(of).traffic],
        "fitted": [in_time(of, share) for share in (1.0, 0.99, 0.5, 0.2, 0.02)],
    }  # fmt: skip
    if scaling.why_not(of) is None:
        rules = [
            scaling.rule_of(of, wanted, top) for wanted in (1.5, 8.0, 90.0) for top in (1.0, 9.0)
        ]
        found["rules"] = [
            [r.share, r.largest, r.by_model, r.likely, r.steepest, r.gentlest] for r in rules
        ]
        found["smaller"] = [
            smaller(scaling.scaled(of, k, share))
            for k, share in ((3.0, 1.0), (20.0, 0.4), (9.0, 0.0))
        ]
    try:
        parameter = parameter_of(of, "simulation", 400)
    except ScenarioError as error:
        return found | {"parameter": str(error)}
    sizes = (1, 7, 300)
    found["parameter"] = parameter
    found["set"] = [plain(parameter.set(of, size).to_dict()["queue"]) for size in sizes]
    found["unlimited"] = parameter.unlimited(of, 9).to_dict()["queue"]
    found["aims"] = [parameter.describe(size) for size in sizes] if not parameter.is_limit else None
    found["notes"] = [
        notes_of(of, name, parameter_of(of, name, 400)) for name in ("simulation", "theory")
    ]
    return found


def begun(of: Scenario) -> Scenario:
    return budget.measured(of, Measure(warmup=Duration(3.0), duration=Duration(4.0)))


def smaller(of: Scenario) -> list[Any]:
    document = of.to_dict()
    keys = ("flows", "arrival_rate", "access_rate", "goals")
    classes = [{key: group.get(key) for key in keys} for group in document["traffic"]]
    return [document["link"], document.get("queue", {}).get("buckets"), classes]


def in_time(of: Scenario, share: float) -> Any:
    """Return the window of a run in a share of the time that it takes, or why there is none."""
    speed = cost.Speed(2)
    limit = budget.TimeLimit(share * run_within.predict_run(of, 3, speed), lambda: 0.0, 0.0)
    try:
        return run_within.fitted(of, limit, 3, speed).measure
    except cost.TooLittleTime as error:
        return str(error)


# --- functions ----------------------------------------------------------------------------------

GOALS = [Goal(each, target) for each, target in zip(
    GOAL_KINDS, (0.98, 0.01, 0.005, 0.02, 0.1), strict=True)]  # fmt: skip
VALUES = (0.0, 1e-9, 0.00049, 0.005, 0.01, 0.0999, 0.5, 0.98, 0.9999, 1.0, 1.5, 12_345.6)
METRICS = (
    some(0.98), some(0.97, 0.96, 0.98), some(0.985, 0.97, 0.99), some(0.02, 0.01),
    some(0.0, 0.0, 0.0), some(0.01, 0.005, 0.02), some(1.0, 0.99, 1.0),
)  # fmt: skip
RULE = scaling.ScalingRule(1.0, 1000.0)
WINDOWS = scaling.ScalingRule(0.3, 1000.0)
MODELS = scaling.ScalingRule(0.3, 1000.0, 0.4)


def exponents() -> list[Any]:
    """Return the exponents by crossings of links, for each rule and each prior."""
    found = []
    for rule in (RULE, WINDOWS, MODELS):
        for steep in (False, True):
            for one_process in (False, True):
                before = carry.prior(rule, steep=steep, one_process=one_process)
                for slope, bdp in ((0.1, math.inf), (0.5, 40.0), (0.9, 9e3), (2.0, 99.0)):
                    seen = [carry.Crossing(k, bdp / k, math.log(90.0 * k**-slope), 0.05)
                            for k in (3.0, 9.0, 40.0)]  # fmt: skip
                    each = [
                        carry.exponent(before, seen[:n], rule, steep=steep) for n in (0, 1, 2, 3)
                    ]
                    found.append([before, *map(plain, each)])
    return found


def times() -> list[Any]:
    """Return how a clock corrects prices, run by run."""
    found: list[Any] = []
    for seconds in (0.01, 0.021, 3.0):
        speed, engine = cost.Speed(2), KnownEngine({"utilization": saturating(9.0)})
        engine.packets_per_s = float(loads(LONG).link.rate) / 12_000 * 60.0 / seconds
        timed = budget.Timed(engine, speed, engine.clock)
        for seeds in ((1,), (1,), (1, 2, 3), (4, 5)):
            timed.run(loads(LONG), seeds, Effort(jobs=2))
            found.append([speed.predicted_s, speed.passed_s, speed.factor])
    large = loads(LONG, overrides=["link.rate=100 Gbit/s", "traffic.0.flows=20000"])
    for share in (0.01, 0.04, 0.06, 0.5):
        speed, engine = cost.Speed(1), KnownEngine({"utilization": saturating(9.0)})
        simulated_s = float(large.measure.warmup + large.measure.duration)
        engine.packets_per_s = 1e11 / 12_000 * simulated_s / (share * speed.replication_s(large))
        budget.Timed(engine, speed, engine.clock).run(large, (1,))
        found.append([speed.predicted_s, speed.passed_s])
    speed, engine = cost.Speed(2), KnownEngine({}, stop_after=0, packets_per_s=1e5)
    with suppress(KeyboardInterrupt):  # before it has told how far it is
        budget.Timed(engine, speed, engine.clock).run(loads(LONG), (1,))
    found.append([engine.now, speed.predicted_s, speed.passed_s])
    predicted = budget.PredictedTime(KnownEngine({"utilization": saturating(9.0)}))
    for seeds in ((1,), (1, 2), (3,)):
        predicted.run(loads(LONG), seeds)
        found.append(predicted.clock())
    return found


def refusals() -> list[str]:
    """Return the texts of a time that is too short, with the options that they name."""
    plain_one = cost.TooLittleTime("it is large", 80.0, 10.0)
    facts: list[dict[str, Any]] = [
        {}, {"needs_s": 9.0}, {"needs_s": 10.0}, {"of_network": True}, {"theory_answers": True},
        {"kept_in": "s.sqlite"}, {"theory_answers": True, "kept_in": "s.sqlite"},
        {"needs_s": 4000.0},
    ]  # fmt: skip
    return [str(plain_one.told(**each)) for each in facts]


TRIES: tuple[tuple[int, float, tuple[str, ...]], ...] = (
    (0, 1e9, ()), (2, 1e9, ()), (99, 1e9, ()), (99, 60.0, ()), (99, 0.0, ()),
    (99, 1e9, ("measure.duration=9 s",)),
)  # fmt: skip


def settles() -> list[Any]:
    """Return the windows of runs that settle at the first, at the third, or at no try."""
    found = []
    for tries, left_s, sets in TRIES:
        for sawtooths in (None, sawtooths_s):
            seen: list[Any] = []

            def run(of: Scenario, seen: list[Any] = seen, tries: int = tries) -> Outcome:
                seen.append(plain(of.measure))
                done = KnownEngine({"utilization": saturating(9.0)}).run(of, [1])
                late = done.classes[0].model_copy(update={"settled": len(seen) > tries})
                return done.model_copy(update={"classes": [late]})

            asked = loads(LONG, overrides=sets)
            ended = run_within.run_settled(
                run, asked, partial(float, left_s), 2, cost.Speed(2), sawtooths
            )
            said = run_within.settled_or_said(ended)
            found.append([seen, said.classes[0].unsettled])
    return found


def fits() -> list[Any]:
    short = loads(LONG).with_measure(Measure(warmup=Duration(10), duration=Duration(20)))
    longer = Measure(warmup=Duration(100), duration=Duration(50))
    made = [run_within.fitting(short, longer, s) for s in (20, 34, 35, 45, 75, 140, 150, 300)]
    return [each and plain(each.measure) for each in made]


BUSY = "goals.utilization=0.9"
ASKED = (
    (BUSY,), (BUSY, "goals.queue_delay_p99=9 ms"), (BUSY, "goals.loss_rate=0.1"),
    (BUSY, "link.rate=2 Gbit/s", "traffic.0.flows=20"),
)  # fmt: skip


def chosen() -> list[Any]:
    """Return what the rule chooses of rows, with the price, for goals and limits."""
    found = []
    for sets in ASKED:
        for lost in (0.0, 0.004, 0.01, 0.05):
            for sizes in ((), (16, 64, 100, 256)):
                of = problem(loads(LONG, overrides=sets), sizes=sizes)
                rows = [
                    at(of, b, 1 - 0.5 * math.exp(-b / 30), lost * math.exp(-b / 400), b * 77e-6)
                    for b in (8, 16, 64, FLOOR, 100, 120, 180, 256)
                ]
                made = choose(of, rows, of.limit)
                if isinstance(made, Chosen):
                    costs = [
                        [p.packets, p.why, p.loss_rate] for p in price(rows, made.row, of.limit)
                    ]
                    found.append([made.packets, made.step, plain(made.floor), plain(costs)])
                else:
                    found.append(plain(made))
    return found


USED = (0.8, 0.95, 0.85, 0.93, 0.99), (0.5, 0.6, 0.7, 0.8, 0.85), (0.9, 0.91, 0.92, 0.93, 1.0)


def regions() -> list[Any]:
    """Return the regions and crossings of curves that rise, fall, and do both."""
    of = problem(loads(LONG, overrides=["goals.utilization=0.9", "goals.queue_delay_p99=9 ms"]))
    found = []
    for used in USED:
        rows = [
            at(of, b, u, 0.0, b * 77e-6) for b, u in zip((10, 30, 60, 90, 160), used, strict=True)
        ]
        first = least(rows)
        found.append([
            [each.packets for each in region(rows)], first and first.packets,
            [crossing(rows, part) for part in ("best", "value", "worst")],
            [each.excess() for each in rows], [each.excess("decreasing") for each in rows],
            [each.verdict() for each in rows], [each.meets for each in rows]])  # fmt: skip
    return found


def following() -> list[int | None]:
    """Return what is run after rows none of which meets the goals, up to and below a limit."""
    of = problem(loads(LONG, overrides=["goals.utilization=0.99", "goals.loss_rate=0.001"]))
    found = []
    for sizes in ((10, 40, 50), (10, 12, 50), (1, 2, 3)):
        for used in (0.5, 0.8, 0.7), (0.8, 0.7, 0.6), (0.6, 0.7, 0.8):
            for lost in (0.0, 0.02):
                rows = [at(of, b, u, lost) for b, u in zip(sizes, used, strict=True)]
                found += [next_size(rows, [], limit, 1) for limit in (sizes[-1], 99)]
    return found


def ends() -> list[Any]:
    """Return the answers at both ends of a range of flows, of which one has none."""

    def curves(of: Scenario) -> dict[str, Curve]:
        few = of.n_flows < 100
        return {"utilization": lambda b: min(0.85, b / 50) if few else min(0.99, b / 50)}

    of = loads(LONG, overrides=["traffic.0.flows=50..200", "goals.utilization=0.9"])
    found = size(of, KnownEngine(curves), largest=60)
    return [plain(each) for each in found.ends]


def always(value: float) -> Curve:
    return lambda _: value


def whole() -> list[Any]:
    """Return an outcome of a smaller link as that of the whole, with and without its windows."""
    of = loads(SHORT)
    metrics = {
        "utilization": 0.9, "loss_rate": 0.01, "queue_delay_mean": 0.004, "queue_delay_p99": 0.009,
        "queue_delay_maximum": 0.01, "traffic.0.throughput": 1e7, "traffic.0.loss_rate": 0.02,
        "traffic.1.fct_mean": 0.3, "traffic.1.fct_p99": 0.9,
    }  # fmt: skip
    flat = {name: always(value) for name, value in metrics.items()}
    small, sized = scaling.scaled(of, 5.0).with_buffer(40), of.with_buffer(120)
    run = KnownEngine(flat, {"loss_rate": 0.001}).run(small, [1, 2])
    made = [scaling.as_whole(run, sized, 5.0, 3.0, windows=w) for w in (1.0, 2.0, 0.5, 0.05)]
    return [[plain(each.links), plain(each.classes)] for each in made]


def increases() -> list[Any]:
    """Return what evidence reads of classes that end, or not, with and without intervals."""
    ends = [
        kind(2, fct=around(2.0, 0.3)),
        kind(3, least=around(6.0, 0.4, n=4)),
        kind(1, fct=some(4.0)),
    ]
    other = [kind(2, fct=around(1.0, 0.1)), kind(3, fct=around(3.0, 0.2)), kind(1, fct=some(3.0))]
    pairs = ((0, 1), (0, 3), (0, 2), (2, 3), (1, 2), (2, 2))
    found = [
        evidence.Evidence(outcome(*ends[a:b]), outcome(*other[a:b])).completion_increase(index)
        for a, b in pairs for index in (None, 0) if b > a]  # fmt: skip
    lost = [kind(sent=some(9e6), lost=around(0.1, 0.01)), kind(sent=some(1e7), lost=some(0.75)),
            kind(sent=some(2e7), lost=around(0.2, 0.05))]  # fmt: skip
    seen = evidence.Evidence(outcome(*lost))
    return found + [seen.realtime_loss(of) for of in ([0], [0, 1], [0, 2], [0, 1, 2])]


def sets() -> list[Any]:
    found: list[Any] = []
    for places in (
        Known((0.2, 0.5, 3.0)), Known((0.2, 0.5, 3.0), 0.6), Known((0.9, 0.1), -0.6), Known((4.0,)),
    ):  # fmt: skip
        told = list[float]()
        found.append([smallest_set(places, told.append), len(places.tried), told])
    return found


def of_links() -> list[Any]:
    curve = [
        tried(10, a=0.95, b=0.5, c=0.1),
        tried(40, a=0.96, b=0.8, c=0.1),
        tried(90, a=0.97, b=0.92, c=0.1),
    ]
    asked = [
        goals_of(loads(LONG, overrides=[f"goals.utilization={u}"])) for u in (0.79, 0.9, 0.96, 0.99)
    ]
    return [plain(link_sizes(curve, ["a", "b", "c", "d"], goals)) for goals in asked]


def network() -> list[Any]:
    lot = forebay.load(SHIPPED / "parking-lot.toml")
    loads_of = [NetworkLoad(lot, NetworkTraffic(*each)) for each in (
        (1e6, 3.0, 10, 300), (1e3, 1.0, 0, 1), (5e6, 9.5, 10**6, 60_000))]  # fmt: skip
    return [
        [each.replication_s, each.price(lot, 1.0), each.price(lot, 90.0)] for each in loads_of
    ] + [[NetworkLinks("two links", lot).overload or "", NetworkLinks("two links", lot).names]]


def parsed(text: str) -> Any:
    try:
        return recommended.parse_sizes(text, loads(LONG))
    except ScenarioError as error:
        return str(error)


def fields() -> list[str]:
    found = []
    for of in ("link.policer.burst", "link.shaper.burst", "queue.alpha", "queue.size"):
        try:
            parameter_of(loads(LONG), "simulation", 9, of)
        except ScenarioError as error:
            found.append(str(error))
    return found


def alphas() -> list[Any]:
    of = loads(LONG, overrides=["memory=3 MB", "queue.alpha=1.0"])
    asked = problem(of.replace({"goals.utilization": 0.9}), of="queue.alpha")
    sizes = (1, 2, 3, 100, 1000, 1980, 1997, 1999, 2000, 9000)
    return [asked.limit, *(asked.parameter.value(of, size) for size in sizes)]


def overloads() -> list[str]:
    return [
        str(
            problem(
                loads(DATA, overrides=["goals.loss_rate=0.5", f"traffic.0.load={load}"])
            ).overload
            or ""
        )
        for load in (0.5, 0.999, 1.0, 1.3)
    ]


def delays() -> list[Any]:
    return [
        most_by_delay(problem(loads(LONG, overrides=["goals.utilization=0.9", *more])))
        for more in ((), ("goals.queue_delay_p99=9 ms",),
                     ("goals.queue_delay_p99=9 ms", "goals.queue_delay_mean=1 ms"))]  # fmt: skip


def unsaid(of: Problem) -> list[Any]:
    """Return the defaults of a question and of its first link."""
    level = Level(of, KnownEngine({}), Options((1, 2), 2))
    exponent = plain(level.of)
    parameter = plain(of.parameter)
    return [of.limit, of.smallest, level.factor, plain(level.rule), exponent, parameter]


def lines() -> list[Any]:
    """Return late starts of a run whose window was lengthened, and of one that was not."""
    texts = {
        "late": LONG + 'start = { uniform = ["0 s", "90 s"] }\n',
        "transfers": MOVED,
        "web": WEB,
    }
    return [
        late_starts(loads(text), (1, 2), measured(text, *window))
        for text in texts.values()
        for window in ((30.0, 60.0), (95.0, 0.001), (5.0, 0.3))
    ]


FUNCTIONS: dict[str, Callable[[], Any]] = {
    "seconds in words": lambda: [cost.in_words(s) for s in (
        0.0, 0.0123, 0.5, 1.26, 9.99, 10.0, 45.5, 89.9, 90.0, 91.0, 150.0, 599.0, 5399.0, 5400.0,
        86_400.0)],
    "prices by flows": lambda: [
        cost.packets_s(loads(LONG, overrides=["link.rate=800 Gbit/s", flows, control]), 1e6)
        for flows in (f"traffic.0.flows={n}" for n in (1, 100, 300, 5000, 60_000, 100_000, 250_000))
        for control in (f"traffic.0.congestion_control={name}" for name in ("cubic", "bbr"))],
    "prices of seeds": lambda: [
        cost.Speed(jobs, predicted_s=2.0, passed_s=3.0).wall_s(loads(LONG), 9.0, seeds)
        for jobs in (1, 2, 5) for seeds in (1, 2, 5, 6)] + [cost.Speed(1).factor],
    "a speed that is learnt": times,
    "refusals": refusals,
    "shorter windows": lambda: [
        plain(budget.shorter(Measure(warmup=Duration(w), duration=Duration(d)), rtt, share))
        for w, d in ((20, 40), (300, 30)) for rtt in (0.001, 0.1)
        for share in (0.9, 0.5, 0.1, 0.001)],
    "measures": lambda: [plain(budget.measure_of(*each)) for each in (
        (1.23456, 7.0), (9.0, 0.0001), (90.0, 30.0, 0.25))],
    "a window beyond a day": lambda: plain(budget.wanted(
        loads(LONG), 9, lambda _, __: Sawtooths(70_000.0, 30_000.0, 1.0))),
    "time that is left": lambda: [
        (each.spent_s, each.left_s) for each in (budget.TimeLimit(9.0, lambda: 7.5, 3.0),)],
    "longer runs": settles,
    "what fits": fits,
    "exponents": exponents,
    "carried": lambda: [
        [carry.whole(b, k, bdp, e), carry.here(b, k, bdp, e)] for b in (1.0, 33.0, 9e4)
        for k in (1.5, 40.0) for bdp in (9.0, 2e3, math.inf) for e in (0.0, 0.3, 1.0)],
    "sizes": lambda: [parsed(text) for text in (
        "64,128,256 packets", "256 packets, 64 packets,128", "150 kB, 300 kB", "1,2, 4 ms", "1 ms",
        "0.5 bdp", "100 B", "", ",", "many packets", "0 packets", "5 apples", "9",
        ",".join(["1"] * 1001))],
    "chosen": chosen,
    "regions": regions,
    "bursts": lambda: [
        plain(recommended.bursts(loads(LONG, overrides=[f"link.rate={rate} Mbit/s"])))
        for rate in (1, 100, 900, 1000, 9000)],
    "rounded away from a goal": lambda: [answer._up(value) for value in (
        0.0, 0.9153, 0.91531, 0.91539, 7.0, 123.4, 123.41, 99_999.0, 2e-5, -0.9153, -0.91531)],
    "square roots": lambda: [
        recommended.square_root(of, at(problem(of), 9, 0.9, lost))
        for of in (loads(text, overrides=["goals.utilization=0.6"]) for text in (LONG, DATA))
        for lost in (0.0, 0.004, 0.01, 0.02)],
    "next sizes": following,
    "ends of a range": ends,
    "price sizes": lambda: [recommended.price_sizes(n, 100) for n in (1, 2, 50, 51)],
    "as the whole": whole,
    "increases": increases,
    "smallest sets": sets,
    "sizes of links": of_links,
    "price of a network": network,
    "fields that cannot be sized": fields,
    "alphas": alphas,
    "overloads": overloads,
    "packets that a delay allows": delays,
    "late starts": lines,
    "goals in words": lambda: [
        [str(goal), *(goal.show(value) for value in VALUES), *(goal.says(each) for each in METRICS)]
        for goal in GOALS],
    "excess": lambda: [
        [[goal.normalized_excess(each), goal.log_normalized_excess(each, 1.0),
          goal.log_normalized_excess(each, 0.5)] for each in METRICS] for goal in GOALS]
        + [Goal(GOAL_KINDS[0], 1.0).normalized_excess(each) for each in METRICS],
    "verdicts": lambda: [
        [evidence.judge(each, target, at_least=floor) for each in METRICS]
        for target in (0.0, 0.01, 0.97, 0.98, 1.0) for floor in (True, False)],
    "what is not said": lambda: [
        plain(budget.measure_of(2.0, 3.0)), plain(scaling.rule_of(loads(LONG), 40.0)),
        smaller(scaling.scaled(loads(LONG), 4.0)), plain(RULE), RULE.likely, RULE.steepest,
        plain(cost.Speed(3)) | {"price": 0}, cost.Speed(3).factor, plain(evidence.at_least(0.2, 3)),
        unsaid(problem(loads(LONG, overrides=["goals.utilization=0.9"])))],
    "errors": lambda: [str(error) for error in (
        NoGoals(), NobodyCrosses("core"), GoalNotAnswered("loss_rate", "theory"),
        GoalNotAnswered("loss_rate", "simulation"))],
    "exit statuses": lambda: [
        GoalNotAnswered("loss_rate", name).exit_status
        for name in ("theory", "simulation", "atlas")],
}  # fmt: skip
CASES: dict[str, Callable[[], Any]] = {
    **{name: partial(of_link, of) for name, of in links()},
    **FUNCTIONS,
}
KEPT = Kept(__file__.replace("test_kept_parts.py", "kept-parts.json"), CASES)


@pytest.mark.parametrize("name", CASES)
def test_a_part_of_a_search_is_kept(name: str) -> None:
    KEPT.check(name)
