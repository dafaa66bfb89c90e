"""Slides 14 to 19: networks of thousands of links, and what their printed numbers imply."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import forebay
from forebay.report import Line
from forebay.reproduction import Reproduction, Work, artefact, chart, farthest

SCENARIOS = Path(forebay.__file__).resolve().parent / "scenarios"
RULES = ("small", "traditional")
_FOUND = ("core_links", "core_diameter", "tail", "seed", "sigma_factor")
"""Fields of the shipped files that were deduced, fitted or drawn."""
READINGS: dict[str, tuple[str, ...]] = {
    "σ × 2.5, as fitted": (),
    "σ × 1": ("topology.sigma_factor=1",),
}


@cache
def solved(
    edge: str, rule: str, changes: Sequence[str] = (), *, own_core: bool = False
) -> forebay.Outcome:
    """Solve one of the shipped networks, with changes in the notation of --set.

    ``own_core`` : on Abilene's own 14 links, with even hosts, instead of the core found.
    """
    path = SCENARIOS / f"abilene-{edge}-edge-{rule}.toml"
    lines = path.read_text("utf-8").splitlines()
    if own_core:
        lines = [line for line in lines if not line.startswith(_FOUND)]
    scenario = forebay.scenario.loads("\n".join(lines), overrides=list(changes))
    return forebay.run(scenario, engine="network")


def readings(outcome: forebay.Outcome, link_class: str) -> dict[str, list[float]]:
    """Utilization and loss of every link of a class."""
    mine = [link for link in outcome.links.values() if link.link_class == link_class]
    return {
        "utilization": [link.utilization.value for link in mine if link.utilization],
        "loss": [link.loss_rate.value for link in mine if link.loss_rate],
    }


def mean(values: Sequence[float]) -> float:
    """Mean over links without weights, because the slides do not define theirs."""
    return sum(values) / len(values)


def numbers(
    edge: str, rule: str, changes: Sequence[str] = (), *, own_core: bool = False
) -> dict[str, float]:
    """The numbers of slides 14 to 18, in their units."""
    outcome = solved(edge, rule, tuple(changes), own_core=own_core)
    core, whole = readings(outcome, "core"), outcome.network
    assert whole is not None, "the engine network has one"
    return {
        "delay": 1e3 * whole.mean_propagation_s,
        "utilization": mean(core["utilization"]),
        "largest": max(core["utilization"]),
        "loss": mean(core["loss"]),
        "throughput": 1e-6 * (whole.mean_throughput_bps or 0.0),
        "rtt": 1e3 * (whole.mean_rtt_s or 0.0),
    }


def by_hops(
    edge: str, rule: str, changes: Sequence[str] = (), *, own_core: bool = False
) -> dict[int, float]:
    """Throughput of a connection by hops, Mbit/s (slide 19)."""
    whole = solved(edge, rule, tuple(changes), own_core=own_core).network
    assert whole is not None, "the engine network has one"
    return {hop.hops: 1e-6 * (hop.throughput_bps or 0.0) for hop in whole.by_hops}


def _under_each(
    work: Work, found: Callable[[tuple[str, ...]], Mapping[str, float]]
) -> Reproduction:
    ours = found(())
    variants = work.under_each(READINGS, ours, lambda _, changes: found(changes))
    return work.judge(ours, variants=variants)


@artefact()
def fast_edge(work: Work) -> Reproduction:
    """Slides 16 to 18: small against traditional buffers in the core."""
    return _under_each(work, _fast)


def _fast(changes: tuple[str, ...]) -> dict[str, float]:
    got = {rule: numbers("fast", rule, changes) for rule in RULES}
    small, large = (got[rule] for rule in RULES)
    ours = {"delay": large["delay"]}
    names = {"core": "utilization", "loss": "loss", "throughput": "throughput", "rtt": "rtt"}
    for rule, values in got.items():
        ours |= {f"{shown}-{rule}": values[name] for shown, name in names.items()}
    ours |= {f"order-{shown}": small[name] / large[name] for shown, name in names.items()}
    return ours | {"order-rtt": large["rtt"] / small["rtt"]}


@artefact()
def slow_edge(work: Work) -> Reproduction:
    """Slides 14 and 15: small against traditional buffers in the core."""
    return _under_each(work, _slow)


def _slow(changes: tuple[str, ...]) -> dict[str, float]:
    small, large = (numbers("slow", rule, changes) for rule in RULES)
    edge = readings(solved("slow", "traditional", changes), "edge")["utilization"]
    few, many = (by_hops("slow", rule, changes) for rule in RULES)
    return {
        "delay": large["delay"],
        "core-small": small["largest"],
        "core-traditional": large["largest"],
        "throughput": small["throughput"] / large["throughput"],
        "rtt": small["rtt"] / large["rtt"],
        "edge": sum(share > 0.99 for share in edge) / len(edge),
        "core-load": small["utilization"] / large["utilization"],
        "hops": farthest([few[hops] / many[hops] for hops in few if many.get(hops)], 1.0),
    }


@dataclass(frozen=True, slots=True)
class Slides:
    """The printed numbers: delay in ms, throughputs in Mbit/s, by hops in the order of `HOPS`."""

    delay: float = 4.829
    mean_small: float = 9.29
    mean_traditional: float = 9.23
    used_small: float = 0.638
    used_traditional: float = 0.968
    small: tuple[float, ...] = (160.32, 67.33, 3.29, 2.41, 2.15)
    traditional: tuple[float, ...] = (141.94, 47.04, 7.10, 3.33, 2.32)


PRINTED = Slides()
HOPS, CORE_LINKS = (4, 6, 7, 8, 9), np.array([0.0, 0.0, 1.0, 2.0, 3.0])


@artefact()
def hops(work: Work) -> Reproduction:
    """Slide 19: throughput of connections by hops."""
    got = {rule: by_hops("fast", rule) for rule in RULES}
    ours = {f"{rule}-{at}": got[rule][at] for rule in RULES for at in HOPS}
    gained = {at: got["small"][at] / got["traditional"][at] for at in HOPS}
    ours |= {f"gain-{at}": gained[at] for at in (4, 6)}
    ours |= {f"lose-{at}": gained[at] for at in (7, 8, 9)}
    lines = []
    for rule, rates in got.items():
        axis = tuple(range(min(rates), max(rates) + 1))  # no path has 5: there is no line over it
        lines.append(Line(axis, [rates.get(n, math.nan) for n in axis], f"{rule}, ours"))
        lines.append(Line(HOPS, getattr(PRINTED, rule), f"{rule}, printed", "dots"))
    label = "throughput of a connection, Mbit/s"
    return work.judge(ours, picture=chart(lines, "hops", label, log="y"))


CONNECTIONS, CORE_MBPS = 52_394, 10_000.0
DELAYS_MS = np.array([4.4, 4.8, 4.82, 4.84, 4.86])
"""Slide 16: two l_ee and two l_me; from 6 hops on two l_cm; a link of 0.01 ms for each l_cc."""
ROUNDINGS = 4000
PACKETS_BITS = (4000, 8000, 12_000, 72_000)
RTT_S = {"small": 16.72e-3, "traditional": 23.93e-3}


@artefact()
def implied(work: Work) -> Reproduction:
    """Solve the five equations of slides 16 to 19, and slide 9 for the loss that it needs."""
    low, high = np.percentile(over_roundings(), [2.5, 97.5])
    small, traditional = by_links("small"), by_links("traditional")
    ways = [(bits, timeouts) for bits in PACKETS_BITS for timeouts in (True, False)]
    pairs = (zip(by_links("small", *w), by_links("traditional", *w), strict=True) for w in ways)
    return work.judge(
        {
            "core-links": core_links(PRINTED),
            "core-links-low": float(low),
            "core-links-high": float(high),
            "beside": float(shares(PRINTED)[0]),
            "needed-traditional-most": max(traditional),
            "needed-traditional-least": min(traditional),
            "needed-small-least": min(small),
            "needed-small-most": max(small),
            "needed-ratio": min(a / b for pair in pairs for a, b in pair),
        }
    )


def shares(slides: Slides) -> NDArray[np.float64]:
    """Return the shares of connections by hops, shape (5,)."""
    load = CORE_LINKS * (
        np.array(slides.small) / slides.used_small
        - np.array(slides.traditional) / slides.used_traditional
    )
    left = np.array([np.ones(5), DELAYS_MS, slides.small, slides.traditional, load])
    right = np.array([1.0, slides.delay, slides.mean_small, slides.mean_traditional, 0.0])
    return np.linalg.solve(left, right)


def core_links(slides: Slides) -> float:
    """Return the number of directed core links: their load over what one carries."""
    load = float(shares(slides) @ (CORE_LINKS * np.array(slides.small)))
    return CONNECTIONS * load / (slides.used_small * CORE_MBPS)


def over_roundings() -> NDArray[np.float64]:
    """Return the core links for numbers drawn from what rounds to the printed ones."""
    chance = np.random.default_rng(1)

    def near(digits: int, *values: float) -> tuple[float, ...]:
        half = 0.5 * 10.0**-digits
        return tuple(value + float(chance.uniform(-half, half)) for value in values)

    def drawn() -> Slides:
        p = PRINTED
        (delay,), means = near(3, p.delay), near(2, p.mean_small, p.mean_traditional)
        used = near(3, p.used_small, p.used_traditional)
        curves = near(2, *p.small), near(2, *p.traditional)
        return Slides(delay, means[0], means[1], used[0], used[1], *curves)

    return np.array([core_links(drawn()) for _ in range(ROUNDINGS)])


def loss_on_path(mbps: float, rtt_s: float, packet_bits: float, timeouts: bool) -> float:
    """Return the loss at which slide 9 sends that much: w^2 (1 + d_to) = 3 (1 - d) / (2 d)."""
    window = 1e6 * mbps * rtt_s / packet_bits
    share = min(1.0, 3.0 / window) if timeouts else 0.0
    return float(forebay.laws.tcp_and_link.loss_rate_of_window(window, share))


def by_links(rule: str, packet_bits: float = 8000.0, timeouts: bool = True) -> list[float]:
    """Return the loss of one core link from connections over 1, 2 and 3 of them."""
    throughputs = getattr(PRINTED, rule)[2:]
    whole = [loss_on_path(mbps, RTT_S[rule], packet_bits, timeouts) for mbps in throughputs]
    return [1.0 - (1.0 - loss) ** (1.0 / links) for links, loss in enumerate(whole, 1)]
