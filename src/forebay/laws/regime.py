"""Which law governs a link, why, and what would change it: sentences for a colleague.

`governing_law` chooses among the laws of long flows; this also knows the links that those laws
are not about: never congested, short flows alone, open-loop traffic among TCP. The lines drawn
are paper A's (Appenzeller et al. 2004): 100 and 250 flows (§3.2, §5.1.1), a window of two
(§5.1.1), a tenth of the traffic in long flows (§5.1.4), windows that the receiver limits (§4);
and for real-time traffic paper B's (Theagarajan, Ravichandran, Sivaraman), Figures 4 and 5. What
simulation found of few flows is in docs/explanation/which-law-governs.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.laws.assumptions import COMMONLY_SYNCHRONIZED, MODEL_HOLDS
from forebay.laws.quantities import average_window
from forebay.scenario import COMPLETING_KINDS, OPEN_LOOP_KINDS

if TYPE_CHECKING:
    from forebay.scenario import Duration, Scenario, Traffic

LONG_FLOWS_MATTER = 0.1
"""From this share of the traffic on, long flows drive what a buffer needs (A, §5.1.4)."""


@dataclass(frozen=True, slots=True)
class Regime:
    """What governs a link.

    Attributes
    ----------
    regime : "uncongested", "short flows only", "real-time mixed", "one flow", "few flows in
        step", "flows partly in step" or "many flows out of step".
    law : name of the law to believe first, None where no law of this room covers the link.
    why, would_change : sentences for a person.
    """

    regime: str
    law: str | None
    why: str
    would_change: str


def regime_of(scenario: Scenario) -> Regime:
    """Say which law governs `scenario`, from its facts alone."""
    forward = [t for t in scenario.traffic if t.direction == "forward"]
    kinds: set[str] = {t.kind for t in forward}
    for tell in (_uncongested, _short_only, _mixed):
        told = tell(scenario, forward, kinds)
        if told is not None:
            return told
    if scenario.n_flows == 1:
        return _one(scenario)
    return _few(scenario) if scenario.n_flows < COMMONLY_SYNCHRONIZED else _many(scenario)


def _uncongested(scenario: Scenario, forward: list[Traffic], kinds: set[str]) -> Regime | None:
    change = "Faster access links, larger windows or more flows would congest it"
    rate = scenario.link.rate
    most = sum(getattr(t, "access_links", t.flows) * t.access(rate) for t in forward)
    if "short" not in kinds and most <= rate:
        why = f"The access links together carry {_rate(most)}, no more than the link's own rate"
        return _free(f"{why}: the queue holds nothing but coincidences of packets.", change)
    windows = _windows(forward)
    if windows is not None and windows <= scenario.bdp_packets:
        why = f"The receivers' windows allow {windows} packets in flight, which the path alone"
        return _free(f"{why} holds ({scenario.bdp_packets:.0f} packets).", change)
    if kinds <= OPEN_LOOP_KINDS:
        load = sum(offered(t, scenario.link.rate) or 0.0 for t in forward) / scenario.link.rate
        if load < 1.0:
            why = f"All traffic is open-loop and offers {100 * load:.3g} % of the link's rate"
            return _free(f"{why}: only its bursts queue.", "A load near 100 % would congest it")
    return None


def _free(why: str, change: str) -> Regime:
    words = f"{change}; until then a few packets are enough, however many flows there are."
    return Regime("uncongested", None, why, words)


def _windows(forward: list[Traffic]) -> int | None:
    """Packets that the receivers let into flight in all; None where one does not limit."""
    total = 0
    for t in forward:
        limit: int | None = getattr(t, "max_window", None)
        if limit is None or t.kind != "long":
            return None
        total += t.flows * limit
    return total


def _short_only(scenario: Scenario, forward: list[Traffic], kinds: set[str]) -> Regime | None:
    """No long flows to speak of, and short ones among what there is."""
    if not kinds & COMPLETING_KINDS:
        return None
    loads = {t.kind: offered(t, scenario.link.rate) for t in forward}
    load = sum(value or 0.0 for value in loads.values()) / scenario.link.rate
    if "long" in kinds and load < 1.0 - LONG_FLOWS_MATTER:
        return None
    said = f" and offer {100 * load:.3g} % of the link's rate" if load else ""
    why = (
        f"The flows end before they leave slow start{said}: they queue as bursts of 2, 4, 8, … "
        "packets, whatever the rate, the round trip or their number."
    )
    change = (
        "A higher load or longer bursts (a larger initial window) would ask for more; long "
        f"flows with {100 * LONG_FLOWS_MATTER:.0f} % of the traffic would take over."
    )
    return Regime("short flows only", None, why, change)


def _mixed(scenario: Scenario, forward: list[Traffic], kinds: set[str]) -> Regime | None:
    if not kinds & OPEN_LOOP_KINDS:
        return None
    real = [t for t in forward if t.kind in OPEN_LOOP_KINDS]
    share = sum(offered(t, scenario.link.rate) or 0.0 for t in real) / scenario.link.rate
    why = (
        f"Real-time traffic with {100 * share:.3g} % of the link's rate shares the queue with TCP "
        "and does not slow down for it: its bursts make TCP need more buffer, while more buffer "
        "first lowers and then can raise its own losses, for TCP keeps any queue full."
    )
    change = (
        "Without the real-time traffic the law of the TCP flows alone would govern; no closed "
        "form covers the mix, so believe a simulation first."
    )
    return Regime("real-time mixed", None, why, change)


def _one(scenario: Scenario) -> Regime:
    why = (
        f"A single long flow has the link to itself. Each loss {_cut(scenario)}, and the link "
        "runs dry unless the buffer holds what is missing: up to a whole bandwidth-delay product "
        f"({scenario.bdp_packets:.0f} packets) where the window is halved."
    )
    change = (
        "More flows of different round trips would ask for less, as one over the root of their "
        f"number once they are about {MODEL_HOLDS}; so would a gentler decrease (cubic)."
    )
    return Regime("one flow", "appenzeller-2004/single-flow", why, change)


def _few(scenario: Scenario) -> Regime:
    why = (
        f"{_flows(scenario)}: fewer than {COMMONLY_SYNCHRONIZED}, so that an overflow can hit most "
        "of them at once; they then rise and fall in step, like one large flow."
    )
    low, high = _rtts(scenario)
    if low < high and scenario.n_flows >= 10:
        why += (
            " With round trips this different they may well be out of step already: simulations of "
            "such links found a half to an eighth of what this law asks for, near bdp/sqrt(n)."
        )
    change = (
        f"{COMMONLY_SYNCHRONIZED} flows or more, of different round trips, fall out of step, and "
        "the buffer shrinks with the root of their number; round trips all alike keep them in step."
    )
    return Regime("few flows in step", "appenzeller-2004/synchronized", why, change)


def _many(scenario: Scenario) -> Regime:
    surely = scenario.n_flows >= MODEL_HOLDS and _rtts(scenario)[0] < _rtts(scenario)[1]
    why = (
        f"{_flows(scenario)}: they are cut at different times, so that the sum of their windows "
        "varies less than each of them, by the root of their number, and so does the buffer."
    )
    if not surely:
        said = (
            f"fewer than {MODEL_HOLDS}" if scenario.n_flows < MODEL_HOLDS else "round trips alike"
        )
        why += f" With {said} some may still move in step, and need more than the law says."
    change = (
        f"Fewer than {COMMONLY_SYNCHRONIZED} flows, or a few that carry most of the bytes, would "
        "bring them in step and ask for up to a bandwidth-delay product; four times the flows "
        "halve the buffer."
    )
    window = average_window(scenario)
    if window <= 2.0:
        change += (
            f" Windows of {window:.2g} packets are too small: timeouts set in, and no law holds."
        )
    name = "many flows out of step" if surely else "flows partly in step"
    return Regime(name, "appenzeller-2004/utilization", why, change)


def _flows(scenario: Scenario) -> str:
    low, high = _rtts(scenario)
    trips = (
        f"all with a round trip of {low}" if low == high else f"round trips from {low} to {high}"
    )
    window = f"a window of about {average_window(scenario):.3g} packets each"
    return f"{scenario.n_flows} flows share the link, {window}, {trips}"


def _rtts(scenario: Scenario) -> tuple[Duration, Duration]:
    """Shortest and longest propagation round trip of the long flows."""
    long = [t for t in scenario.traffic if t.kind == "long"]
    return min(t.rtt.low for t in long), max(t.rtt.high for t in long)


def _cut(scenario: Scenario) -> str:
    names = {name for t in scenario.traffic for name in getattr(t, "shares", {})}
    return "halves its window" if names <= {"reno"} else "cuts its window"


def _rate(bits: float) -> str:
    return f"{bits / 1e6:.4g} Mbit/s"


def offered(traffic: Traffic, link_rate: float) -> float | None:
    """Bit/s that a class brings whatever happens to it; None where TCP decides that."""
    rate = getattr(traffic, "flow_rate", None)
    if rate is not None:
        return float(traffic.flows * rate(link_rate))
    arrivals = getattr(traffic, "arrivals_per_second", None)
    if arrivals is None:
        return None
    packets = getattr(traffic, "length").mean_packets(traffic.packet)  # noqa: B009
    return float(arrivals(link_rate) * packets * 8 * traffic.packet)
