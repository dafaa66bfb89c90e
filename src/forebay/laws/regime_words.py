"""The sentences of `forebay.laws.regime`: why a law governs the link, or why none does."""

from forebay.catalogue import KINDS
from forebay.laws.incast import FirstWindows
from forebay.laws.quantities import halves, other_queues, path_window, share, short_share
from forebay.scenario import OPEN_LOOP_KINDS, Duration, Long, Scenario, Standing, TokenBucket

SIMULATE = (
    "No published law is known to fit here. Use simulation and read its evidence: the queue's "
    "distribution (forebay run), synchronization (forebay trace), and the share of each congestion "
    "control, in a class of its own."
)
_ONE_HALVING = "The law gives 0.7 to 1 times the buffer that simulation needs."
_FEW_HALVING = "It gives 0.8 to 1.9 times the buffer that simulation needs."
_FEW_OTHERS = "It gives up to 8 times the buffer that simulation needs; these cut less than Reno."
_GENTLE = (
    "A buffer that keeps utilization above the goal at every instant is 1.1 to 3.6 times the one "
    "that simulation needs; one that meets the goal on average is 0.6 to 1.5 times that."
)
NO_TRAFFIC = "No class sends data over this link, so there is no queue."
NO_TRAFFIC_CHANGE = "A class with this link on its route."
UNCONGESTED_CHANGE = (
    "Faster access links, larger windows or more flows would congest it. Until then a few packets "
    "are enough for any number of flows."
)
TOGETHER = (
    "Fewer workers for each request, a smaller initial window, or a service_time with a spread "
    f"would need less. {SIMULATE}"
)
LOWER_LOAD = "A load below the link's rate; no buffer replaces missing capacity."
VARYING_CHANGE = f"If the sum of the peaks fitted the link, a few packets would do. {SIMULATE}"
MANAGED_CHANGE = "With drop-tail a law of the flows would govern."
CLASS_QUEUES = (
    "Several class queues share the wire by priority and weight, each with its own limit. No "
    f"published law gives the share of each class. {SIMULATE}"
)
CLASS_QUEUES_CHANGE = "With one queue for all traffic a law of the flows would govern."
SHARED = (
    "The queue shares its memory: what others hold decides how long it may become. Laws assume a "
    f"buffer of fixed size. {SIMULATE}"
)
SHARED_CHANGE = "With a memory of its own a law of the flows would govern."
PACED_CHANGE = f"A law exists for Reno or CUBIC alone. {SIMULATE}"
ENDING_CHANGE = (
    "Flows that end within slow start would queue as bursts. Long flows with at least 10 % of the "
    f"traffic would dominate. {SIMULATE}"
)
BURSTS_CHANGE = (
    "A higher load or longer bursts (a larger initial window) would need a larger buffer. Long "
    "flows with at least 10 % of the traffic would dominate."
)
REAL_TIME_CHANGE = f"With less real-time traffic the law of the TCP flows would govern. {SIMULATE}"
FEWER_ENDING = f"With fewer of them the law of the long flows would govern. {SIMULATE}"
COME_AND_GO = (
    "Long flows are switched on and off, or stop within the measured window. Laws of long flows "
    "describe the steady state of flows that all send, and know nothing of the time without them."
)
COME_AND_GO_CHANGE = (
    "With flows that send through the whole window a law of long flows would govern. " + SIMULATE
)
ACKS_CHANGE = (
    f"Without a queue on the ACKs' path the law of the data flows would govern. {SIMULATE}"
)
ONE_CHANGE = "More flows with different round trips would need a smaller buffer."
FEW_CHANGE = (
    "Ten or more flows with different round trips are not synchronized; the buffer then shrinks "
    "with the square root of their number."
)
ALIKE_CHANGE = (
    "Round trips that differ by as little as 1 % would desynchronize the flows, and eq. 6 would "
    f"govern. {SIMULATE}"
)
TINY_CHANGE = f"Fewer flows or more capacity. {SIMULATE}"
MANY_CHANGE = (
    "Identical round trips may synchronize the flows, which then need up to a bandwidth-delay "
    "product. Four times as many flows halve the buffer."
)


POLICED_CHANGE = (
    "a burst near the policer's rate times a round trip; or a shaper, whose queue holds what a "
    "policer drops (--of link.policer.burst sizes the burst)"
)


def policed(policer: TokenBucket) -> str:
    """Say that the policer drops, and no queue behind it."""
    return (
        f"A policer of {policer.rate} drops before the queue, at a burst of "
        f"{policer.depth} B: no buffer behind it changes that."
    )


def cannot_fill(scenario: Scenario) -> str | None:
    """Return why the classes that cross a link cannot fill it; None if they can."""
    rate, groups = scenario.link.capacity, scenario.crossing
    if all(isinstance(t, Standing) for t in groups):
        most = sum(t.peak(rate) for t in groups if isinstance(t, Standing))
        if most <= rate:
            return (
                f"The flows together can send at most {most / 1e6:.4g} Mbit/s, which is no more "
                "than the link's rate: a queue forms only when packets arrive at the same time."
            )
    limits = [t.flows * t.max_window for t in groups if isinstance(t, Long) and t.max_window]
    if len(limits) == len(groups) and sum(limits) <= scenario.bdp_packets:
        return (
            f"The receivers' windows allow {sum(limits)} packets in flight. The path alone holds "
            f"{scenario.bdp_packets:.0f} packets."
        )
    return None


def datagrams(load: float) -> str:
    """A link with datagrams only, below its capacity."""
    return (
        f"All traffic is single datagrams, which offer {100 * load:.3g} % of the link's rate: a "
        "queue forms only when they arrive at the same time."
    )


def together(windows: FirstWindows) -> str:
    """Workers that answer a request at once."""
    said = (
        f"{windows.workers} workers answer a request at once. Their first windows are "
        f"{windows.packets} packets, of which the link sends {windows.sent_meanwhile} while they "
        f"come: {windows.buffer} packets hold them if nothing spreads them."
    )
    if windows.answer > windows.window:
        said += (
            f" An answer has {windows.answer:.4g} packets: slow start brings the others, and may "
        )
        said += "need more."
    return said


def too_much(load: float) -> str:
    """Open-loop traffic above the link's rate."""
    return (
        f"Traffic that does not respond to losses offers {100 * load:.4g} % of the link's rate: "
        f"with any buffer at least {100 * (1 - 1 / load):.3g} % of it is lost, the queue is full, "
        "and TCP gets the rest."
    )


def short_overload(load: float) -> str:
    """Flows that end, with a load above the capacity."""
    return (
        f"Flows that end offer {100 * load:.4g} % of the link's rate. They arrive faster than they "
        "finish, so their number grows without limit and there is no steady state."
    )


def varying(load: float) -> str:
    """Open-loop traffic with a varying rate."""
    return (
        f"All traffic is open-loop. It offers {100 * load:.3g} % of the link's rate on average, "
        "but its rate varies and can exceed the link's. How long it does so determines the queue."
    )


def managed(discipline: str) -> str:
    """AQM: a queue that drops or marks before it is full, or drops queued packets."""
    if discipline == "pfifo_head_drop":
        return f"{discipline} drops the packet that has waited longest: no law sizes it. {SIMULATE}"
    return (
        f"{discipline} drops or marks before the queue is full. Its target and interval (red: its "
        "thresholds) decide the queue; the limit should hardly ever be reached. Laws of drop-tail "
        "do not apply. " + SIMULATE
    )


def paced(scenario: Scenario, names: list[str]) -> str:
    """Controls without a sawtooth."""
    others = {n for t in scenario.crossing for n in getattr(t, "shares", {})} - set(names)
    shared = f" together with {', '.join(sorted(others))}" if others else ""
    return (
        f"{' and '.join(names)}{shared}: a model of the path paces these flows, so the sum of the "
        "windows is not a sum of sawtooths, and other flows get the rest of the link. In "
        "simulation one bbr flow among 60 CUBIC flows moved the answer from 33 packets, close to "
        "eq. 6, to 2; 20 bbr3 flows alone needed 504, eight times eq. 6."
    )


def ending(scenario: Scenario, load: float, *, in_slow_start: bool) -> str:
    """Flows that end, but not as bursts of slow start."""
    if any(KINDS[t.kind].waits_for_itself for t in scenario.crossing):
        return (
            "Users fetch files and wait for them. The link itself determines how many fetch at "
            "the same time, and therefore n."
        )
    if any(KINDS[t.kind].lasts for t in scenario.crossing):
        return (
            f"Flows that end offer up to {100 * load:.3g} % of the link's rate. They leave the "
            "long flows so little that neither law, that of long flows or that of bursts, "
            "describes the queue."
        )
    if in_slow_start and any(t.kind == "transfers" for t in scenario.crossing):
        return (
            f"The flows end within slow start and offer {100 * load:.4g} % of the link's rate. The "
            'law of bursts is of flows of kind "short" alone, not of transfers.'
        )
    if in_slow_start:
        return (
            f"The flows end within slow start, but offer {100 * load:.4g} % of the link's rate. "
            "The queue fills and empties so slowly that no run is long enough."
        )
    return (
        f"The flows end and offer {100 * load:.3g} % of the link's rate, but some leave slow "
        "start. The link itself determines how many of these run at the same time, and the law of "
        "bursts does not describe them."
    )


def bursts(load: float) -> str:
    """Short flows."""
    return (
        f"The flows end before they leave slow start and offer {100 * load:.3g} % of the link's "
        "rate. They queue as bursts that double each round trip; rate, round trip and number of "
        "flows do not matter. Simulation lost between a quarter and all of what this law predicts."
    )


def real_time(load: float) -> str:
    """A large share of real-time traffic next to TCP."""
    return (
        f"Real-time traffic with {100 * load:.3g} % of the link's rate shares the queue with TCP "
        "and does not slow down. The TCP flows use the rest, and the bursts of the real-time "
        "traffic determine the buffer that they need."
    )


def ending_with_long(load: float, known: float) -> str:
    """A large share of flows that end next to long ones."""
    return (
        f"Flows that end may offer {100 * load:.3g} % of the link's rate next to the long ones. Up "
        f"to {100 * known:.0f} % the law of the long flows was correct in simulation; beyond that "
        "its buffer is too large."
    )


def acks(links: list[str]) -> str:
    """ACKs that queue on the way back."""
    return (
        f"ACKs queue on their path ({', '.join(links)}). They arrive late and in groups, so the "
        "data arrives in bursts, and the link goes idle with the buffer of any law."
    )


def one(scenario: Scenario, known: bool) -> str:
    """One flow."""
    cut = "halves its window" if halves(scenario) else "cuts its window"
    said = (
        f"A single long flow has the link to itself. Each loss {cut}, and the link goes idle "
        "unless the buffer holds the difference: up to a whole bandwidth-delay product "
        f"({scenario.bdp_packets:.0f} packets) if the window is halved."
    )
    if not known:
        return f"{said} {SIMULATE}"
    return f"{said} {_ONE_HALVING if halves(scenario) else _GENTLE}"


def few(scenario: Scenario, gentle: bool) -> str:
    """Two to nine flows; `gentle`: the law knows the control's decrease."""
    factors = _GENTLE if gentle else _FEW_OTHERS
    if halves(scenario):
        factors = _FEW_HALVING
    return (
        f"{_flows(scenario)}. They are so few that one loss changes the sum of their windows, "
        f"synchronized or not. The law treats them as one large flow. {factors}{_others(scenario)}"
    )


def alike(scenario: Scenario) -> str:
    """Flows with equal round trips."""
    return (
        f"{_flows(scenario)}. The round trips are identical, as in no real network. The sending "
        "stack then decides if the flows stay synchronized (they need a bandwidth-delay product) "
        "or not (a hundredth of it can be enough)."
    )


def tiny(scenario: Scenario) -> str:
    """Far more flows than packets on the path."""
    return f"{_flows(scenario)}. Most flows wait for timeouts; their windows are not sawtooths."


def many(scenario: Scenario) -> str:
    """Desynchronized flows."""
    least, most = times_simulation(scenario)
    law = f"The law gives {least:g} to {most:g} times the buffer that simulation needs"
    law += "." if halves(scenario) else ", because the cuts are smaller than Reno's."
    why = (
        f"{_flows(scenario)}. Their windows are cut at different times, so the sum of the windows "
        "varies less than each window, by the square root of the number of flows. The buffer "
        f"shrinks by the same factor. {law}{_others(scenario)}"
    )
    if path_window(scenario) <= 2.0:
        why += " Windows of at most two packets recover by timeouts: losses are above 10 %."
    return why


def times_simulation(scenario: Scenario) -> tuple[float, float]:
    """Return between which factors of the simulated buffer the law of many flows lies."""
    low, high = round_trips(scenario)
    alike = high < 1.5 * low
    if not halves(scenario):
        return 1.2, 4.5 if alike else 2.6
    return 0.8, 4.0 if alike else 2.1


def _others(scenario: Scenario) -> str:
    said = ""
    short, real = short_share(scenario), share(scenario, OPEN_LOOP_KINDS)
    if short:
        said += f" Short flows use {100 * short:.3g} % of the link and need no more buffer."
    if real:
        said += f" Real-time traffic uses {100 * real:.3g} % of it, too little to affect TCP."
    queues = other_queues(scenario)
    if queues:
        said += (
            f" Other links ({', '.join(queues)}) may limit these flows; the buffer is then smaller."
        )
    return said


def _flows(scenario: Scenario) -> str:
    low, high = round_trips(scenario)
    trips = f"all have a round trip of {low}" if low == high else f"round trips are {low} to {high}"
    window = f"the path holds {path_window(scenario):.3g} packets of each"
    return f"{scenario.n_flows} flows share the link; {window}, {trips}"


def round_trips(scenario: Scenario) -> tuple[Duration, Duration]:
    """Shortest and longest propagation RTT of the long flows."""
    groups = scenario.persistent
    return min(t.rtt.low for t in groups), max(t.rtt.high for t in groups)
