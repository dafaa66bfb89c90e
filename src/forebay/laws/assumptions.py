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
from forebay.words import Fact

COMMONLY_SYNCHRONIZED = 100
"""Below this many flows synchronization is common (§3.2)."""
MODEL_HOLDS = 250
"""From this many flows on, eq. 6 matched the paper's OC3 simulations (§5.1.1)."""
RARELY_SYNCHRONIZED = 500
"""Above this many flows synchronization is very rare (§3.2)."""
PERIODS_MEASURED = 5
"""With fewer sawtooth periods, a measured mean depends on the start of the window."""


def long_lived(scenario: Scenario) -> Fact | None:
    """Every flow lasts longer than the measurement."""
    others = sorted({t.kind for t in scenario.crossing} - kinds_that(lambda kind: kind.lasts))
    return Fact("broken.long-lived", kinds=", ".join(others)) if others else None


def one_way(scenario: Scenario) -> Fact | None:
    """No ACK has to queue, and no ACKs of reverse traffic wait before the link."""
    queues = ack_queues(scenario)
    if queues:
        return Fact("broken.acks-queue", links=", ".join(queues))
    return Fact("broken.acks-here") if scenario.at_link().acknowledged else None


def one_queue(scenario: Scenario) -> Fact | None:
    """No further link that the flows cross is congested."""
    queues = ", ".join(other_queues(scenario))
    return Fact("broken.one-queue", links=queues) if queues else None


def drop_tail(scenario: Scenario) -> Fact | None:
    """The queue drops arrivals when full, and only then."""
    if scenario.queue.alpha is not None:
        return Fact("broken.shared-memory")
    if scenario.queue.discipline == "drop-tail":
        return None
    if scenario.queue.discipline == "bfifo" and len({t.packet for t in scenario.crossing}) == 1:
        return None
    if scenario.queue.classes:
        return Fact("broken.class-queues")
    return Fact("broken.drop-tail", discipline=scenario.queue.discipline)


def halving(scenario: Scenario) -> Fact | None:
    """Every flow halves its window at a loss and adds one packet a round trip."""
    used = {name for t in scenario.persistent for name in t.shares}
    others = ", ".join(sorted(used - {"reno"}))
    return Fact("broken.halving", controls=others) if others else None


def congested(scenario: Scenario) -> Fact | None:
    """The access links can overload the link; so can arriving transfers, each on its own one."""
    rate = scenario.link.capacity
    standing = [t for t in scenario.crossing if isinstance(t, Standing)]
    access = sum(t.access_links * t.access(rate) for t in standing)
    if access > rate or len(standing) < len(scenario.crossing):
        return None
    return Fact("broken.congested")


def window_unlimited(scenario: Scenario) -> Fact | None:
    """No receiver's window keeps the flows from filling path and buffer."""
    needed = scenario.bdp_packets + scenario.buffer_packets
    limits = [t.flows * t.max_window for t in scenario.persistent if t.max_window is not None]
    if len(limits) < len(scenario.persistent) or sum(limits) > needed:
        return None
    return Fact("broken.window-unlimited")


def settled(scenario: Scenario) -> Fact | None:
    """All flows start before the measured window, and none stops in it."""
    if any(t.start.high > scenario.measure.warmup for t in scenario.persistent):
        return Fact("broken.still-start")
    return come_and_go(scenario)


def come_and_go(scenario: Scenario) -> Fact | None:
    """No long flow is switched on and off, or stops in the measured window."""
    begin, end = scenario.measure.warmup, scenario.measure.warmup + scenario.measure.duration
    lasting = [t for t in scenario.persistent if isinstance(t, Long | Session)]
    if any(isinstance(t, Long) and t.schedule is not None for t in lasting):
        return Fact("broken.switched")
    stops = [t.stop for t in lasting if t.stop is not None]
    if any(stop.low < end and stop.high > begin for stop in stops):
        return Fact("broken.stop")
    return None


def one_flow(scenario: Scenario) -> Fact | None:
    """There is exactly one flow."""
    return None if scenario.n_flows == 1 else Fact("broken.one-flow", flows=scenario.n_flows)


def synchronized_flows(scenario: Scenario) -> Fact | None:
    """There is one flow, or so few that they are synchronized."""
    n = scenario.n_flows
    if n < COMMONLY_SYNCHRONIZED:
        return None
    if n <= RARELY_SYNCHRONIZED:
        return Fact("broken.partly-synchronized", least=COMMONLY_SYNCHRONIZED)
    return Fact("broken.rarely-synchronized", most=RARELY_SYNCHRONIZED)


def enough_flows(scenario: Scenario) -> Fact | None:
    """There are so many flows that they are not synchronized."""
    return None if scenario.n_flows >= MODEL_HOLDS else Fact("broken.few", least=MODEL_HOLDS)


def varied_rtt(scenario: Scenario) -> Fact | None:
    """Round-trip times differ."""
    lowest = min(t.rtt.low for t in scenario.persistent)
    if scenario.n_flows == 1 or max(t.rtt.high for t in scenario.persistent) > lowest:
        return None
    return Fact("broken.varied-rtt")


def window_above_two(scenario: Scenario) -> Fact | None:
    """Windows are large enough to repair losses without timeouts."""
    window = quantities.average_window(scenario)
    return None if window > 2.0 else Fact("broken.window-above-two", window=window)


def half_growth(scenario: Scenario) -> Fact | None:
    """Windows grow by half a packet in each RTT, as with delayed ACKs that are counted."""
    if all(quantities.growth_of(t) == 0.5 for t in scenario.persistent):
        return None
    return Fact("broken.half-growth")


def long_enough(scenario: Scenario) -> Fact | None:
    """The measured window has several sawtooth periods."""
    growth = scenario.n_flows * quantities.growth(scenario)
    buffer, capacity = scenario.buffer_packets, quantities.capacity(scenario)
    return _periods(
        scenario, float(sawtooth.period(buffer, capacity, scenario.bdp_packets, growth))
    )


def long_enough_each(scenario: Scenario) -> Fact | None:
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


def _periods(scenario: Scenario, period_s: float) -> Fact | None:
    if scenario.measure.duration >= PERIODS_MEASURED * period_s:
        return None
    return Fact("broken.long-enough", periods=PERIODS_MEASURED, period_s=period_s)


TCP_SAWTOOTHS = (
    long_lived, one_way, one_queue, drop_tail, halving, congested, window_unlimited, settled,
)  # fmt: skip
"""Assumptions of every law of long TCP flows."""

DESYNCHRONIZED = (*TCP_SAWTOOTHS, enough_flows, varied_rtt, window_above_two, long_enough_each)
"""Assumptions of the laws of many desynchronized flows."""
