"""The assumptions of the laws. Each is a check that returns how a scenario breaks it.

The lines are printed to users. Sources: paper A (Appenzeller et al. 2004), §3 for
desynchronization, §5.1.1 for 250 flows and a window of two, §5.3 for scope.
"""

from collections.abc import Callable
from typing import NamedTuple

from forebay.catalogue import kinds_that
from forebay.laws import quantities, sawtooth
from forebay.laws.quantities import ack_queues, other_queues
from forebay.outcome.settling import models_settle_s
from forebay.scenario import Long, Scenario, Session, Standing

COMMONLY_SYNCHRONIZED = 100
"""Below this many flows synchronization is common (§3.2)."""
MODEL_HOLDS = 250
"""From this many flows on, eq. 6 matched the paper's OC3 simulations (§5.1.1)."""
RARELY_SYNCHRONIZED = 500
"""Above this many flows synchronization is very rare (§3.2)."""
PERIODS_MEASURED = 5
"""With fewer sawtooth periods, a measured mean depends on the start of the window."""


def long_lived(scenario: Scenario) -> str | None:
    """Every flow lasts longer than the measurement."""
    others = sorted({t.kind for t in scenario.crossing} - kinds_that(lambda kind: kind.lasts))
    if not others:
        return None
    return f"traffic of kind {', '.join(others)}: the law covers long-lived TCP flows only"


def one_way(scenario: Scenario) -> str | None:
    """No ACK has to queue, and no ACKs of reverse traffic wait before the link."""
    queues = ack_queues(scenario)
    if queues:
        return f"traffic in reverse ({', '.join(queues)}): the law assumes that no ACK ever queues"
    if scenario.at_link().acknowledged:
        return "traffic in reverse: its ACKs wait in the same queue; the law has none"
    return None


def one_queue(scenario: Scenario) -> str | None:
    """No further link that the flows cross is congested."""
    queues = ", ".join(other_queues(scenario))
    said = f"flows cross {queues} too, where they may queue: the law covers only one link"
    return said if queues else None


def drop_tail(scenario: Scenario) -> str | None:
    """The queue drops arrivals when full, and only then."""
    if scenario.queue.alpha is not None:
        return "the queue shares its memory (alpha): the law assumes a fixed size"
    if scenario.queue.discipline == "drop-tail":
        return None
    if scenario.queue.discipline == "bfifo" and len({t.packet for t in scenario.crossing}) == 1:
        return None
    if scenario.queue.classes:
        return "several class queues before the wire: the law assumes one queue for all traffic"
    return f"queue discipline {scenario.queue.discipline}: the law assumes drop-tail"


def halving(scenario: Scenario) -> str | None:
    """Every flow halves its window at a loss and adds one packet a round trip."""
    used = {name for t in scenario.persistent for name in t.shares}
    others = ", ".join(sorted(used - {"reno"}))
    return f"congestion control {others}: the law assumes reno's halving" if others else None


def congested(scenario: Scenario) -> str | None:
    """The access links can overload the link; so can arriving transfers, each on its own one."""
    rate = scenario.link.capacity
    standing = [t for t in scenario.crossing if isinstance(t, Standing)]
    access = sum(t.access_links * t.access(rate) for t in standing)
    if access > rate or len(standing) < len(scenario.crossing):
        return None
    return "access links together no faster than the link: it is never congested"


def window_unlimited(scenario: Scenario) -> str | None:
    """No receiver's window keeps the flows from filling path and buffer."""
    needed = scenario.bdp_packets + scenario.buffer_packets
    limits = [t.flows * t.max_window for t in scenario.persistent if t.max_window is not None]
    if len(limits) < len(scenario.persistent) or sum(limits) > needed:
        return None
    return "max_window is reached before the buffer is full: the queue never overflows"


def settled(scenario: Scenario) -> str | None:
    """All flows start before the measured window, and none stops in it."""
    if any(t.start.high > scenario.measure.warmup for t in scenario.persistent):
        return "flows still start after the warm-up: the law describes the steady state"
    return come_and_go(scenario)


def come_and_go(scenario: Scenario) -> str | None:
    """No long flow is switched on and off, or stops in the measured window."""
    begin, end = scenario.measure.warmup, scenario.measure.warmup + scenario.measure.duration
    lasting = [t for t in scenario.persistent if isinstance(t, Long | Session)]
    if any(isinstance(t, Long) and t.schedule is not None for t in lasting):
        return "flows are switched on and off: the law describes the steady state"
    stops = [t.stop for t in lasting if t.stop is not None]
    if any(stop.low < end and stop.high > begin for stop in stops):
        return "flows stop within the window: the law describes the steady state"
    return None


def one_flow(scenario: Scenario) -> str | None:
    """There is exactly one flow."""
    if scenario.n_flows == 1:
        return None
    return f"{scenario.n_flows} flows: the law covers a single flow"


def synchronized_flows(scenario: Scenario) -> str | None:
    """There is one flow, or so few that they are synchronized."""
    n = scenario.n_flows
    if n < COMMONLY_SYNCHRONIZED:
        return None
    if n <= RARELY_SYNCHRONIZED:
        return f"{COMMONLY_SYNCHRONIZED} flows or more: windows are at most partly synchronized"
    return f"more than {RARELY_SYNCHRONIZED} flows: windows are very rarely synchronized"


def enough_flows(scenario: Scenario) -> str | None:
    """There are so many flows that they are not synchronized."""
    if scenario.n_flows >= MODEL_HOLDS:
        return None
    return f"fewer than {MODEL_HOLDS} flows: windows may be synchronized"


def varied_rtt(scenario: Scenario) -> str | None:
    """Round-trip times differ."""
    lowest = min(t.rtt.low for t in scenario.persistent)
    if scenario.n_flows == 1 or max(t.rtt.high for t in scenario.persistent) > lowest:
        return None
    return "all round-trip times equal: windows may be synchronized"


def window_above_two(scenario: Scenario) -> str | None:
    """Windows are large enough to repair losses without timeouts."""
    window = quantities.average_window(scenario)
    if window > 2.0:
        return None
    return f"average window of {window:.2g} packets, not above 2: timeouts dominate"


def half_growth(scenario: Scenario) -> str | None:
    """Windows grow by half a packet in each RTT, as with delayed ACKs that are counted."""
    if all(quantities.growth_of(t) == 0.5 for t in scenario.persistent):
        return None
    return "windows grow by a packet a round trip: loss may be twice 0.76/w^2"


def long_enough(scenario: Scenario) -> str | None:
    """The measured window has several sawtooth periods."""
    growth = scenario.n_flows * quantities.growth(scenario)
    buffer, capacity = scenario.buffer_packets, quantities.capacity(scenario)
    return _periods(
        scenario, float(sawtooth.period(buffer, capacity, scenario.bdp_packets, growth))
    )


def long_enough_each(scenario: Scenario) -> str | None:
    """The measured window has several sawtooth periods of a single one of many flows.

    A period is from 2/3 to 4/3 of the mean window (§3.2), at the RTT with a half-full buffer.
    """
    queueing = scenario.buffer_packets / 2.0 / quantities.capacity(scenario)
    climb = 2.0 / 3.0 * quantities.average_window(scenario) / quantities.growth(scenario)
    return _periods(scenario, climb * (scenario.mean_rtt + queueing))


class Sawtooths(NamedTuple):
    """Seconds of warm-up and window that suit the sawtooths of long flows; and of one sawtooth."""

    warmup_s: float
    window_s: float
    period_s: float


SawtoothsOf = Callable[[Scenario, int], Sawtooths]
"""Returns them for a link and a buffer in packets."""


def sawtooths_s(scenario: Scenario, packets: int) -> Sawtooths:
    """Return the warm-up and the window that the sawtooths of long flows need at a buffer.

    The warm-up ends when the windows of the last flow have settled, and all models of the path. Few
    flows are commonly in step, so the window needs several sawtooths. Of many flows that are out of
    step each instant shows all phases, and one sawtooth is enough. Window and period are 0 without
    sawtooths.
    """
    fewest = scenario.at_flows("low") if scenario.flows_uncertain else scenario
    sized = fewest.with_buffer(packets)
    period, settling = quantities.sawtooth_period(sized), quantities.settling_time(sized)
    long = [group for group in sized.traffic if isinstance(group, Long)]
    by_model = max(map(models_settle_s, long), default=0.0)
    if period == 0.0:
        return Sawtooths(by_model, 0.0, 0.0)
    started = max(float(g.start.high) for g in sized.persistent)
    measured = PERIODS_MEASURED if fewest.n_flows < COMMONLY_SYNCHRONIZED else 1
    return Sawtooths(max(started + settling, by_model), measured * period, period)


def _periods(scenario: Scenario, period_s: float) -> str | None:
    if scenario.measure.duration >= PERIODS_MEASURED * period_s:
        return None
    return (
        f"measured for less than {PERIODS_MEASURED} sawtooth periods of {period_s:.3g} s: "
        "a measured mean has not settled"
    )


TCP_SAWTOOTHS = (
    long_lived, one_way, one_queue, drop_tail, halving, congested, window_unlimited, settled,
)  # fmt: skip
"""Assumptions of every law of long TCP flows."""

DESYNCHRONIZED = (*TCP_SAWTOOTHS, enough_flows, varied_rtt, window_above_two, long_enough_each)
"""Assumptions of the laws of many desynchronized flows."""
