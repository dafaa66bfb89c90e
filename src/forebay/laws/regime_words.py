"""The sentences of `forebay.laws.regime`: why a law governs or none does, for a colleague."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.laws import mix
from forebay.laws.quantities import halves, other_queues, path_window, share
from forebay.scenario import OPEN_LOOP_KINDS, Long, OnOff, Standing

if TYPE_CHECKING:
    from forebay.scenario import Duration, Scenario

SIMULATE = (
    "No law here fits within a factor that could be named: believe a simulation, and read its own "
    "evidence: the queue's distribution (forebay run), synchronization (forebay trace), and what "
    "each control gets, in classes of their own."
)
_ONE_HALVING = "The law gives 0.7 to 1 times the buffer that simulation needs."
_FEW_HALVING = "It gives 0.8 to 1.9 times the buffer that simulation needs."
_FEW_OTHERS = "It gives up to 8 times the buffer that simulation needs: these cut less than Reno."
_GENTLE = (
    "A link that is never below the goal takes 1.1 to 3.6 times what simulation needs, one that "
    "reaches it in the mean 0.6 to 1.5 times."
)
NO_TRAFFIC = "No class sends data over this link, so that nothing queues."
NO_TRAFFIC_CHANGE = "A class with the link on its route."
UNCONGESTED_CHANGE = (
    "Faster access links, larger windows or more flows would congest it; until then a few packets "
    "are enough, however many flows there are."
)
LOWER_LOAD = "A load below the link's rate; no buffer makes up for the lack of capacity."
VARYING_CHANGE = f"Peaks that together fit the link would need a few packets only. {SIMULATE}"
MANAGED_CHANGE = "With drop-tail a law of the flows would govern."
CLASS_QUEUES = (
    "Several class queues share the wire by priority and weight, each with a limit of its own: no "
    f"published law says what each class then gets. {SIMULATE}"
)
CLASS_QUEUES_CHANGE = "With one queue for all traffic a law of the flows would govern."
PACED_CHANGE = f"Reno or CUBIC alone would have a law. {SIMULATE}"
ENDING_CHANGE = (
    "Flows that end within slow start would queue as bursts; long flows with "
    f"10 % of the traffic would take over. {SIMULATE}"
)
BURSTS_CHANGE = (
    "A higher load or longer bursts (a larger initial window) would ask for more; long flows with "
    "10 % of the traffic would take over."
)
REAL_TIME_CHANGE = f"With less real-time traffic the law of the TCP flows would govern. {SIMULATE}"
BESIDE_CHANGE = f"With fewer of them the law of the long flows would govern. {SIMULATE}"
ACKS_CHANGE = (
    f"Without a queue on the way back the law of the data's flows would govern. {SIMULATE}"
)
ONE_CHANGE = "More flows of different round trips would ask for less."
FEW_CHANGE = (
    "Ten flows or more, of different round trips, fall out of step, and the buffer shrinks with "
    "the root of their number."
)
ALIKE_CHANGE = (
    "Round trips that differ, if only by one in a hundred, would bring the flows out of step, and "
    f"eq. 6 would govern. {SIMULATE}"
)
TINY_CHANGE = f"Fewer flows or more capacity. {SIMULATE}"
MANY_CHANGE = (
    "Round trips all alike may bring the flows in step, and ask for up to a bandwidth-delay "
    "product; four times the flows halve the buffer."
)


def cannot_fill(scenario: Scenario) -> str | None:
    """Why the classes that cross a link cannot fill it; None where they can."""
    rate, groups = scenario.link.capacity, scenario.crossing
    if all(isinstance(t, Standing) for t in groups):
        most = sum(_fastest(t, rate) for t in groups if isinstance(t, Standing))
        if most <= rate:
            return (
                f"The flows together can send {_rate(most)} at once, no more than the link's own "
                "rate: the queue holds nothing but coincidences of packets."
            )
    windows = _windows(scenario)
    if windows is not None and windows <= scenario.bdp_packets:
        return (
            f"The receivers' windows allow {windows} packets in flight, which the path alone holds "
            f"({scenario.bdp_packets:.0f} packets)."
        )
    return None


def _fastest(group: Standing, rate: float) -> float:
    """Bit/s that a class can send at any moment."""
    access = group.access_links * group.access(rate)
    return min(access, group.flows * group.peak_rate) if isinstance(group, OnOff) else access


def _windows(scenario: Scenario) -> int | None:
    """Packets that the receivers let into flight in all; None where one does not limit."""
    total = 0
    for group in scenario.crossing:
        if not isinstance(group, Long) or group.max_window is None:
            return None
        total += group.flows * group.max_window
    return total


def datagrams(load: float) -> str:
    """A link below capacity that carries datagrams alone."""
    return (
        f"All traffic is datagrams that come one by one, and offers {100 * load:.3g} % of the "
        "link's rate: only coincidences queue."
    )


def too_much(load: float) -> str:
    """Open-loop traffic above the link's rate."""
    return (
        f"Traffic that does not answer to losses offers {100 * load:.4g} % of the link's rate: "
        f"with any buffer {100 * (1 - 1 / load):.3g} % of it or more is lost, the queue is full, "
        "and TCP gets what is left over."
    )


def short_overload(load: float) -> str:
    """Flows that end, and come faster than the link can carry them."""
    return (
        f"Flows that end offer {100 * load:.4g} % of the link's rate: they come faster than they "
        "can end, so that ever more of them share the link and no state is steady."
    )


def varying(load: float) -> str:
    """Open-loop traffic whose rate varies by itself."""
    return (
        f"All traffic is open-loop and offers {100 * load:.3g} % of the link's rate in the mean, "
        "but its rate varies and can exceed the link's: how long it does so sets the queue."
    )


def managed(discipline: str) -> str:
    """A queue that drops or marks before it is full, or drops what waits."""
    if discipline == "pfifo_head_drop":
        return f"{discipline} drops the packet that has waited longest: no law sizes it. {SIMULATE}"
    return (
        f"{discipline} drops or marks before the queue is full: what is sized is its target and "
        "interval (red: its thresholds), and the limit is a guard that should hardly ever be "
        "reached. Laws of drop-tail do not size it. " + SIMULATE
    )


def paced(scenario: Scenario, names: list[str]) -> str:
    """Controls without a sawtooth."""
    others = {n for t in scenario.crossing for n in getattr(t, "shares", {})} - set(names)
    beside = f" beside {', '.join(sorted(others))}" if others else ""
    return (
        f"{' and '.join(names)}{beside}: paced by a model of the path, so that the sum of the "
        "windows is no sum of sawtooths, and the others get what this leaves them. One "
        "bbr flow among 60 of CUBIC moved the answer from near eq. 6's 33 packets to 2, and 20 of "
        "bbr3 alone asked for 504, eight times eq. 6."
    )


def ending(scenario: Scenario, load: float, *, in_slow_start: bool) -> str:
    """Flows that end, but not as bursts of slow start."""
    if any(t.kind == "session" for t in scenario.crossing):
        return (
            "Users fetch files and wait for them: how many are at it at once, and so n, is set by "
            "the link itself."
        )
    if any(t.kind == "long" for t in scenario.crossing):
        return (
            f"Flows that end bring up to {100 * load:.3g} % of the link's rate, and leave the long "
            "flows so little that neither their law nor that of bursts describes the queue."
        )
    if in_slow_start:
        return (
            f"The flows end within slow start, but offer {100 * load:.4g} % of the link's rate: "
            "its queue takes so long to fill and to empty that no run is long enough."
        )
    return (
        f"The flows end, and offer {100 * load:.3g} % of the link's rate, but some outgrow slow "
        "start: how many of these are there at once is set by the link itself, and bursts do not "
        "describe them."
    )


def bursts(load: float) -> str:
    """Short flows."""
    return (
        f"The flows end before they leave slow start and offer {100 * load:.3g} % of the link's "
        "rate: they queue as bursts that double each round trip, whatever the rate, the round trip "
        "or their number. Simulation lost between a quarter and all of what this law says."
    )


def real_time(load: float) -> str:
    """Much real-time traffic beside TCP."""
    return (
        f"Real-time traffic with {100 * load:.3g} % of the link's rate shares the queue with TCP "
        "and does not slow down for it: the TCP flows fill what is left, and how its bursts fall "
        "decides how large a buffer they need."
    )


def beside(load: float, known: float) -> str:
    """Many flows that end beside long ones."""
    return (
        f"Flows that end may bring {100 * load:.3g} % of the link's rate beside the long ones; up "
        f"to {100 * known:.0f} % the law of the long flows was found right, beyond it asks for too "
        "much."
    )


def acks(links: list[str]) -> str:
    """ACKs that wait on the way back."""
    return (
        f"ACKs have to queue on their way back ({', '.join(links)}): they arrive late and in "
        "bunches, so that the data comes in bursts and the link runs dry at any buffer of a law."
    )


def one(scenario: Scenario, known: bool) -> str:
    """One flow."""
    cut = "halves its window" if halves(scenario) else "cuts its window"
    said = (
        f"A single long flow has the link to itself. Each loss {cut}, and the link runs dry unless "
        "the buffer holds what is missing: up to a whole bandwidth-delay product "
        f"({scenario.bdp_packets:.0f} packets) where the window is halved."
    )
    if not known:
        return f"{said} {SIMULATE}"
    return f"{said} {_ONE_HALVING if halves(scenario) else _GENTLE}"


def few(scenario: Scenario, gentle: bool) -> str:
    """Two to nine flows; `gentle`: the law knows how little their control cuts."""
    found = _FEW_HALVING if halves(scenario) else _GENTLE if gentle else _FEW_OTHERS
    return (
        f"{_flows(scenario)}: so few that a loss of one moves the sum of their windows, in step or "
        f"not. The law takes them as one large flow. {found}{_beside(scenario)}"
    )


def alike(scenario: Scenario) -> str:
    """Flows of exactly one round trip."""
    return (
        f"{_flows(scenario)}: with round trips exactly alike, which no network has, it hangs on "
        "the sender whether they stay in step (a bandwidth-delay product is then needed) or not (a "
        "hundredth of it can be enough)."
    )


def tiny(scenario: Scenario) -> str:
    """Far more flows than packets on the path."""
    return f"{_flows(scenario)}: most flows wait for timeouts, and windows are no sawtooths."


def many(scenario: Scenario) -> str:
    """Flows out of step."""
    why = (
        f"{_flows(scenario)}: they are cut at different times, so that the sum of their windows "
        "varies less than each of them, by the root of their number, and so does the buffer. "
        f"{_found(scenario)}{_beside(scenario)}"
    )
    if path_window(scenario) <= 2.0:
        why += " Windows of two packets and less are repaired by timeouts: losses are above 10 %."
    return why


def _found(scenario: Scenario) -> str:
    """How far the law was from simulation."""
    low, high = round_trips(scenario)
    if not halves(scenario):
        times = "1.2 to 4.5" if high < 1.5 * low else "1.2 to 2.6"
        said = f"The law gives {times} times the buffer that simulation needs"
        return f"{said}: cuts are gentler than Reno's."
    times = "0.8 to 4" if high < 1.5 * low else "0.8 to 2.1"
    return f"The law gives {times} times the buffer that simulation needs."


def _beside(scenario: Scenario) -> str:
    said = ""
    short, real = mix.short_share(scenario), share(scenario, OPEN_LOOP_KINDS)
    if short:
        said += f" Short flows take {100 * short:.3g} % of the link, and need no more buffer."
    if real:
        said += f" Real-time traffic takes {100 * real:.3g} % of it, too little to matter to TCP."
    queues = other_queues(scenario)
    if queues:
        said += (
            f" Other links ({', '.join(queues)}) may hold these flows back: less is needed then."
        )
    return said


def _flows(scenario: Scenario) -> str:
    low, high = round_trips(scenario)
    trips = (
        f"all with a round trip of {low}" if low == high else f"round trips from {low} to {high}"
    )
    window = f"{path_window(scenario):.3g} packets each on the path alone"
    return f"{scenario.n_flows} flows share the link, {window}, {trips}"


def round_trips(scenario: Scenario) -> tuple[Duration, Duration]:
    """Shortest and longest propagation round trip of the flows that last."""
    groups = scenario.persistent
    return min(t.rtt.low for t in groups), max(t.rtt.high for t in groups)


def _rate(bits: float) -> str:
    return f"{bits / 1e6:.4g} Mbit/s"
