"""Searches against links whose curves are known, kept whole: what was run, and what was said.

The clock goes on by what runs would cost, so that budgets, prices and shares of the time show.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tests.kept import Kept
from tests.search.conftest import KnownEngine

from forebay.api.size import size_link
from forebay.effort import Effort
from forebay.outcome import SizeResult
from forebay.scenario import Scenario, loads
from forebay.search.budget import Interrupted
from forebay.search.level import Options

LONG = """
link.rate = "155 Mbit/s"
[[traffic]]
flows = 100
rtt = { uniform = ["60 ms", "120 ms"] }
"""
SHORT = LONG + '[[traffic]]\nkind = "short"\nlength = "14 packets"\nload = 0.2\n'
VOICE = LONG + '[[traffic]]\nkind = "udp"\nflows = 20\nrate = "80 kbit/s"\npacket = "200 B"\n'
WEB = (
    'link.rate = "1 Gbit/s"\nqueue.size = "99 packets"\n[[traffic]]\n'
    'kind = "short"\nlength = "14 packets"\nload = 0.8\n'
)
DATA = (
    'link.rate = "1 Gbit/s"\nqueue.size = "99 packets"\n[[traffic]]\n'
    'kind = "udp"\nflows = 90\nload = 0.7\n'
)
ANSWERS = """
link.rate = "1 Gbit/s"
[[traffic]]
kind = "requests"
flows = 10
response = "20 packets"
rtt = "200 us"
"""
SET = ('measure.warmup="4 s"', 'measure.duration="8 s"')


def curves(scenario: Scenario) -> dict[str, Callable[[float], float]]:
    """Return what a link of this rate and traffic does at a size: simple, smooth and plausible."""
    bdp, rate = max(1.0, scenario.bdp_packets), float(scenario.link.capacity)
    flows, packet_s = max(1, scenario.n_flows), 8 * float(scenario.packet) / rate
    scale = 2.0 * flows**0.4 + 0.1 * bdp / math.sqrt(flows)

    def lost(b: float) -> float:
        return 0.76 / ((bdp + b) / flows + 3.0) ** 2 + 0.05 * math.exp(-b / scale)

    found: dict[str, Callable[[float], float]] = {
        "utilization": lambda b: 1.0 - 0.4 * math.exp(-b / scale),
        "loss_rate": lost,
        "queue_delay_mean": lambda b: 0.5 * b * packet_s,
        "queue_delay_p99": lambda b: 0.95 * b * packet_s,
        "queue_delay_p99.9": lambda b: 0.99 * b * packet_s,
        "queue_delay_maximum": lambda b: b * packet_s,
        "utilization_probability": lambda b: 1.0 - math.exp(-b / scale),
        "loss_rate_probability": lambda b: 1.0 - math.exp(-2 * b / scale),
    }
    share = rate / len(scenario.traffic)
    for index, group in enumerate(scenario.traffic):
        found |= {
            f"traffic.{index}.throughput": lambda b: share * (1.0 - 0.4 * math.exp(-b / scale)),
            f"traffic.{index}.loss_rate": lambda b: lost(b) + 1e-5 * b * packet_s / 0.1,
        }
        if group.kind == "short":
            found |= {
                f"traffic.{index}.fct_mean": lambda b: 0.2 + 2 * lost(b) + 0.5 * b * packet_s,
                f"traffic.{index}.fct_p99": lambda b: 0.5 + 9 * lost(b) + b * packet_s,
            }
    return found


NOISE = {"utilization": 0.004, "loss_rate": 0.0003, "queue_delay_p99": 1e-4}


def sized(
    text: str,
    *goals: str,
    engine: str = "known",
    noise: float = 0.0,
    speed: float = math.inf,
    budget_s: float | None = None,
    seeds: Sequence[int] = (1, 2, 3),
    most: int = 12,
    stop_after: int | None = None,
    of: str = "",
    sizes: tuple[int, ...] = (),
) -> Callable[[], dict[str, Any]]:
    """Return a search: of a link with goals and other values, by an engine of this speed."""

    def search() -> dict[str, Any]:
        scenario = loads(text, overrides=["name=a known link", *goals])
        scales = {name: noise * sigma for name, sigma in NOISE.items()} if noise else {}
        known = KnownEngine(curves, scales, name=engine, packets_per_s=speed)
        known.stop_after = stop_after
        told: list[float] = []
        options = Options(seeds, most, Effort(jobs=2), budget_s, told.append, known.clock, None)
        try:
            answer = size_link(known, scenario, options, of, sizes)
        except Interrupted as stopped:
            answer = stopped.result
        return {"expected_s": told, "runs": known.calls} | short(answer)

    return search


def short(answer: SizeResult) -> dict[str, Any]:
    """Return an answer without the outcomes, which the engine of these tests makes up."""
    least, chosen, limit = answer.buffer, answer.recommended, answer.limit or math.inf
    assert least is None or 1 <= least.low <= least.packets <= least.high
    assert chosen is None or 1 <= chosen.packets <= limit or answer.scaled is not None
    document = answer.to_dict()
    document["curve"] = [
        [point["packets"], point["seeds"], point["verdict"], *ends(point["goals"])]
        for point in document["curve"]
    ]
    other = document.pop("without_offload")
    dropped = {"schema", "scenario", "engine", "laws", "governs"}
    return {name: value for name, value in document.items() if name not in dropped} | {
        "other_hosts": other and [other["packets"], other["verdict"], *ends(other["goals"])],
        "in short": [repr(answer), answer.exit_status, answer.chosen, answer.seeds],
        "of it": [answer.binding, answer.class_names, answer.bdp_packets, answer.no_buffer_meets],
        "there": answer.there and [answer.there.packets, answer.there.unmet],
        "sharp": answer.buffer and [answer.buffer.is_guess, getattr(answer.aqm, "is_step", None)],
    }


def ends(goals: list[dict[str, Any]]) -> list[list[Any]]:
    return [[each["reached"][end] for end in ("low", "value", "high")] for each in goals]


BUSY, LESS = "goals.utilization=0.97", "goals.utilization=0.9"
LATE = "goals.queue_delay_p99=10 ms"
LARGE = ("link.rate=100 Gbit/s", "traffic.0.flows=20000")
FEW = ("link.rate=10 Gbit/s", "traffic.0.flows=50")


def within(seconds: float, text: str, *goals: str, speed: float = 2e7, **more: Any) -> Any:
    return sized(
        text, *goals, engine="simulation", noise=0.3, speed=speed, budget_s=seconds, **more
    )


AQM = "queue.discipline={}"
CASES: dict[str, Callable[[], Any]] = {
    "utilization, exact": sized(LONG, BUSY),
    "utilization of all, exact": sized(LONG, "goals.utilization=1.0"),
    "utilization, noisy": sized(LONG, BUSY, noise=1.0),
    "utilization, very noisy": sized(LONG, BUSY, noise=8.0),
    "utilization, one seed": sized(LONG, BUSY, noise=1.0, seeds=(7,), most=1),
    "loss": sized(LONG, "goals.loss_rate=0.004"),
    "loss, noisy": sized(LONG, "goals.loss_rate=0.004", noise=1.0),
    "loss of nothing": sized(LONG, "goals.loss_rate=0.0"),
    "mean delay": sized(LONG, LESS, "goals.queue_delay_mean=3 ms"),
    "late": sized(LONG, LESS, LATE),
    "late, noisy": sized(LONG, LESS, LATE, noise=1.0),
    "late, alone": sized(LONG, "goals.queue_delay_p99=400 us"),
    "goals that contradict": sized(LONG, "goals.utilization=0.99", "goals.queue_delay_p99=1 ms"),
    "three goals that contradict": sized(
        LONG, "goals.utilization=0.999", "goals.queue_delay_p99=1 ms", "goals.loss_rate=0.001"
    ),
    "probabilities": sized(
        LONG, "goals.utilization={at_least=0.9, probability=0.99}",
        "goals.loss_rate={at_most=0.05, probability=0.95}",
    ),
    "a quantile and a maximum": sized(
        LONG, LESS, "goals.queue_delay={quantile=0.999, at_most='12 ms', maximum='13 ms'}"
    ),
    "mean in a table": sized(LONG, LESS, "goals.queue_delay={mean='4 ms'}"),
    "a class's throughput": sized(LONG, "traffic.0.goals.throughput=150 Mbit/s"),
    "classes' goals": sized(
        SHORT, "traffic.0.goals.throughput=70 Mbit/s", "traffic.1.goals.fct_mean=240 ms",
        "traffic.1.goals.fct_p99=700 ms",
    ),
    "longer completion": sized(SHORT, "goals.fct_increase=0.02"),
    "a class's longer completion": sized(SHORT, LESS, "traffic.1.goals.fct_increase=0.02"),
    "real-time loss": sized(VOICE, LESS, "goals.realtime_loss=0.01"),
    "a class's loss": sized(VOICE, LESS, "traffic.1.goals.loss_rate=0.01", noise=1.0),
    "a range of flows": sized(LONG, BUSY, "traffic.0.flows=50..400"),
    "a range of flows, late": sized(LONG, BUSY, LATE, "traffic.0.flows=50..400"),
    "sizes of a chip": sized(LONG, BUSY, sizes=(16, 64, 256, 1024)),
    "sizes that are too small": sized(LONG, "goals.utilization=0.999", sizes=(2, 4, 8)),
    "a range of sizes": sized(LONG, BUSY, LATE, sizes=(16, 64, 256, 1024), noise=1.0),
    "ctrl-c at once": sized(LONG, BUSY, stop_after=0),
    "ctrl-c": sized(LONG, BUSY, stop_after=3),
    "ctrl-c, goals apart": sized(LONG, BUSY, "goals.queue_delay_p99=1 ms", stop_after=4),
    "shared memory": sized(
        LONG, "goals.utilization=0.9999", "memory=200 kB", "queue.alpha=0.5",
    ),
    "an alpha": sized(LONG, BUSY, "memory=3 MB", "queue.alpha=0.5", of="queue.alpha"),
    "a policer's burst": sized(
        LONG, LESS, "link.policer={rate='100 Mbit/s', burst='100 kB'}", of="link.policer.burst"
    ),
    "a shaper's burst": sized(
        LONG, LESS, "link.shaper={rate='100 Mbit/s', burst='100 kB'}", "queue.discipline=bfifo",
        of="link.shaper.burst",
    ),
    "behind a policer": sized(LONG, LESS, "link.policer={rate='100 Mbit/s', burst='100 kB'}"),
    "a lossy link": sized(LONG, LESS, "link.loss=0.001"),
    "a link of jumbo frames": sized(LONG, BUSY, "traffic.0.packet=9000 B"),
    "a slow link": sized(LONG, BUSY, "link.rate=2 Mbit/s", "traffic.0.flows=3"),
    "a slow link, more": sized(LONG, "goals.utilization=0.7", "link.rate=2 Mbit/s",
                               "traffic.0.flows=3"),
    **{f"aim of {name}": sized(LONG, LESS, LATE, AQM.format(name)) for name in (
        "codel", "fq_codel", "pie", "red", "cake", "dualpi2", "cobalt")},
    "an interval that is too short": sized(LONG, LESS, AQM.format("codel"),
                                           "traffic.0.rtt=300 ms"),
    "step of marks": sized(LONG, LESS, AQM.format("red"), "queue.min=30 kB", "queue.max=30001 B",
                           "queue.probability=1.0", "queue.ecn=true", "traffic.0.ecn=true",
                           "traffic.0.congestion_control=dctcp"),
    "limit of codel by laws": sized(LONG, LESS, AQM.format("codel"), engine="theory"),
    "hosts with offload": sized(LONG, LESS, "traffic.0.offload=on"),
    "web": sized(WEB, "goals.loss_rate=0.01"),
    "datagrams": sized(DATA, "goals.loss_rate=0.01"),
    "answers": sized(ANSWERS, "goals.loss_rate=0.001"),
    "more than the link": sized(DATA, "goals.loss_rate=0.3", "traffic.0.load=1.3"),
    **{f"large, {s} s": within(s, LONG, *LARGE, BUSY) for s in (0.5, 2, 8, 30, 120, 600, 4000)},
    **{f"large, {s} s, one seed": within(s, LONG, *LARGE, BUSY, seeds=(1,), most=4)
       for s in (4, 60)},
    **{f"large and lossy, {s} s": within(s, LONG, *LARGE, "goals.loss_rate=0.01")
       for s in (10, 200)},
    **{f"large and late, {s} s": within(s, LONG, *LARGE, BUSY, "goals.queue_delay_p99=50 us")
       for s in (10, 200)},
    "large, out of reach": within(30, LONG, *LARGE, "goals.loss_rate=0.0001"),
    **{f"few flows, {s} s": within(s, LONG, *FEW, BUSY) for s in (3, 20, 100, 900)},
    **{f"few flows, loss, {s} s": within(s, LONG, *FEW, "goals.loss_rate=0.01") for s in (20, 200)},
    **{f"bbr3, {s} s": within(s, LONG, *LARGE, BUSY, "traffic.0.congestion_control=bbr3")
       for s in (10, 200)},
    "few flows of bbr": within(20, LONG, *FEW, BUSY, "traffic.0.congestion_control=bbr"),
    "half bbr": within(30, LONG, *LARGE, BUSY,
                       "traffic.0.congestion_control={cubic=0.5, bbr3=0.5}"),
    "few flows, half bbr": within(30, LONG, *FEW, BUSY,
                                  "traffic.0.congestion_control={cubic=0.5, bbr3=0.5}"),
    **{f"codel, {s} s": within(s, LONG, *LARGE, BUSY, LATE, AQM.format("codel"))
       for s in (10, 100)},
    "fq_codel, 30 s": within(30, LONG, *LARGE, BUSY, AQM.format("fq_codel")),
    "red, 30 s": within(30, LONG, *LARGE, BUSY, AQM.format("red")),
    **{f"this link, {s} s": within(s, LONG, BUSY) for s in (0.3, 1, 3, 10, 60)},
    **{f"this link, its own window, {s} s": within(s, LONG, BUSY, *SET) for s in (0.3, 3, 60)},
    **{f"web of 100 Gbit/s, {s} s": within(s, WEB, "link.rate=100 Gbit/s", "goals.loss_rate=0.01")
       for s in (3, 40)},
    **{f"poisson, {s} s": within(s, DATA, "link.rate=100 Gbit/s", "goals.loss_rate=0.01",
                                 "traffic.0.arrivals=poisson") for s in (3, 40)},
    "a mix, 20 s": within(20, SHORT, *LARGE, BUSY),
    "voice, 20 s": within(20, VOICE, *LARGE, BUSY),
    "answers, 5 s": within(5, ANSWERS, "goals.loss_rate=0.001"),
    "a shaper, 20 s": within(20, LONG, *LARGE, BUSY,
                             "link.shaper={rate='50 Gbit/s', burst='1 MB'}"),
    "a cable's shaper, 20 s": within(20, LONG, *LARGE, BUSY,
                                     "link.shaper={rate='50 Gbit/s', refill='deficit'}"),
    "a policer, 20 s": within(20, LONG, *LARGE, BUSY,
                              "link.policer={rate='50 Gbit/s', burst='1 MB'}"),
    "slow access, 20 s": within(20, LONG, *LARGE, BUSY, "traffic.0.access_rate=20 Gbit/s"),
    "a class's share, 20 s": within(20, LONG, *LARGE, "traffic.0.goals.throughput=95 Gbit/s"),
    "a range of flows, 20 s": within(20, LONG, *LARGE, BUSY, "traffic.0.flows=10000..20000"),
    "a slow machine": within(60, LONG, *LARGE, BUSY, speed=1e6),
    "a machine that is far too slow": within(5, LONG, *LARGE, BUSY, speed=2e4),
    **{f"sizes of a chip, {s} s": within(s, LONG, BUSY, speed=1e6, sizes=(16, 64, 256, 1024))
       for s in (1, 5)},
    "a fast machine": within(60, LONG, *LARGE, BUSY, speed=1e9),
    "ctrl-c within a budget": within(30, LONG, *LARGE, BUSY, stop_after=6),
}  # fmt: skip
KEPT = Kept(__file__.replace("test_kept.py", "kept.json"), CASES)


@pytest.mark.parametrize("name", CASES)
def test_a_search_is_kept(name: str) -> None:
    KEPT.check(name)
