"""Checks that involve several fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from forebay.catalogue.metrics import BOTTLENECK, REVERSE
from forebay.scenario.base import DAY, MAX_FLOWS, MAX_PERIODS
from forebay.scenario.errors import ScenarioError
from forebay.scenario.goals import COMPLETING_KINDS, OPEN_LOOP_KINDS
from forebay.scenario.quantity import DataSize, Duration, Rate
from forebay.scenario.queue import check_rates, check_traffic
from forebay.scenario.source import Standing, Stopping, Switched
from forebay.scenario.tcp import Fetching, Long, Session, Short, Tcp
from forebay.scenario.traffic import OnOff
from forebay.scenario.transfers import Transfers
from forebay.words import Fact, one_of

if TYPE_CHECKING:
    from forebay.scenario.link import Link, TokenBucket
    from forebay.scenario.model import Scenario
    from forebay.scenario.queue import BufferSize, Queue
    from forebay.scenario.traffic import Traffic

MAX_BUFFER_PACKETS = 1_000_000_000
_LONGEST_ROUTE = 30
_CONDITIONS = ("loss", "rate_trace", "down", "jitter")
"""Fields of a link that make it no constant wire."""
_COMPLETION_GOALS = ("fct_mean", "fct_p99", "fct_increase")
_REQUEST_GOALS = ("request_mean", "request_p99")
"""Goals of a class that need flows that end, and requests with several answers."""


def _of_each_class(
    check_class: Callable[[Scenario, Traffic, str], None],
) -> Callable[[Scenario], None]:
    """Make a check of all classes, in their order, of one of a class and its place."""

    def check_all(scenario: Scenario) -> None:
        for index, group in enumerate(scenario.traffic):
            check_class(scenario, group, f"traffic.{index}")

    return check_all


class _Place(NamedTuple):
    """A link with the queue before it, and where both are written."""

    name: str
    field: str
    link: Link
    at_queue: str
    queue: Queue


def _places(scenario: Scenario) -> Iterator[_Place]:
    yield _Place(BOTTLENECK, "link", scenario.link, "queue", scenario.queue)
    for index, link in enumerate(scenario.links):
        field = f"links.{index}"
        yield _Place(link.name, field, link, f"{field}.queue", link.queue)


def _directions(scenario: Scenario) -> tuple[str, ...]:
    """The bottleneck, and its reverse direction if a class sends that way."""
    reverse = any(group.direction == "reverse" for group in scenario.traffic)
    return (BOTTLENECK, REVERSE) if reverse else (BOTTLENECK,)


def _queues(scenario: Scenario) -> Iterator[_Place]:
    """Yield the places; that of the bottleneck for each direction."""
    first, *others = _places(scenario)
    yield from (first._replace(name=name) for name in _directions(scenario))
    yield from others


def _end(scenario: Scenario) -> Duration:
    return Duration(scenario.measure.warmup + scenario.measure.duration)


def class_names(traffic: Sequence[Traffic]) -> tuple[str, ...]:
    """Return each class's own name, else its kind and index."""
    return tuple(group.name or f"{group.kind}-{index}" for index, group in enumerate(traffic))


def _topology(scenario: Scenario) -> None:
    if scenario.topology is None:
        return
    if scenario.links:
        raise ScenarioError("contradiction.topology-gives", field="links")
    for index, group in enumerate(scenario.traffic):
        for name in ("direction", "route", "return_route", "rtt", "access_rate"):
            declared = type(group).model_fields.get(name)
            if declared is not None and getattr(group, name) != declared.default:
                field = f"traffic.{index}.{name}"
                raise ScenarioError("contradiction.topology-gives", field=field)


def _forward(scenario: Scenario) -> None:
    if all(group.direction == "reverse" for group in scenario.traffic):
        raise ScenarioError("contradiction.all-reverse", field="traffic")


def _names(scenario: Scenario) -> None:
    names = class_names(scenario.traffic)
    for index, name in enumerate(names):
        if name in names[:index]:
            # The error is about a name that was written, not about a default name.
            written = index if scenario.traffic[index].name else names.index(name)
            field = f"traffic.{written}.name"
            raise ScenarioError("contradiction.name-of-a-class", field=field, value=name)


def _known_routes(scenario: Scenario) -> None:
    known = {BOTTLENECK, *(link.name for link in scenario.links)}  # what other checks follow
    classes = enumerate(scenario.traffic)
    for (index, group), way in product(classes, ("route", "return_route")):
        names, field = getattr(group, way), f"traffic.{index}.{way}"
        if len(names) > _LONGEST_ROUTE:
            raise ScenarioError(
                "out-of-range.route", field=field, links=len(names), most=_LONGEST_ROUTE
            )
        for name in names:
            if name not in known:
                raise ScenarioError(
                    "unknown-link", field=field, value=name, known=one_of(sorted(known))
                )


@_of_each_class
def _lengths(scenario: Scenario, group: Traffic, place: str) -> None:
    if not isinstance(group, Short | Fetching):
        return
    waits = "file" if isinstance(group, Session) else "response"
    named = "length" if isinstance(group, Short) else waits
    try:
        (group.length if isinstance(group, Short) else group.fetched).check(group.packet)
    except ScenarioError as error:
        raise error.at("", f"{place}.{named}") from None


def _flows(scenario: Scenario) -> None:
    standing = sum(group.flows for group in scenario.traffic)
    if standing > MAX_FLOWS:
        raise ScenarioError("out-of-range.flows", field="traffic", flows=standing, most=MAX_FLOWS)


@_of_each_class
def _access_rates(scenario: Scenario, group: Traffic, place: str) -> None:
    """Refuse a source that sends faster than its own link, where both were written."""
    peak = group.flow_peak(float(scenario.link.rate))
    writes_rate = isinstance(group, OnOff) or getattr(group, "rate", None) is not None
    if group.access_rate is not None and peak > group.access_rate and writes_rate:
        field = "peak_rate" if isinstance(group, OnOff) else "rate"
        raise ScenarioError(
            "contradiction.above-access-rate", field=f"{place}.{field}", value=Rate(peak),
            access_rate=group.access_rate, name=field,
        )  # fmt: skip


@_of_each_class
def _on_times(scenario: Scenario, group: Traffic, place: str) -> None:
    end = _end(scenario)
    if isinstance(group, OnOff) and group.flows * group.periods(end) > MAX_PERIODS:
        raise ScenarioError("out-of-range.on-times", field=f"{place}.on", most=MAX_PERIODS, end=end)


def _counted(scenario: Scenario) -> None:
    """Refuse a size of bdp/sqrt(n) without n."""
    if scenario.topology is not None and scenario.topology.counts_connections:
        return
    for place in _queues(scenario):
        size = place.queue.size
        if size.unit == "bdp/sqrt(n)" and not scenario.at_link(place.name).n_for_size:
            raise _without_n(size, f"{place.at_queue}.size")


def _without_n(size: BufferSize, field: str) -> ScenarioError:
    return ScenarioError("contradiction.size-without-n", field=field, value=size)


def _buffer(scenario: Scenario) -> None:
    """Check the size in both directions; each counts its own flows."""
    size, of_topology = scenario.queue.size, scenario.topology is not None
    if not scenario.queue.reads_size or (of_topology and size.unit in ("bdp", "bdp/sqrt(n)")):
        return  # of a network such a size counts the round trips and flows of each link
    written = "queue" in scenario.model_fields_set and "size" in scenario.queue.model_fields_set
    for name in _directions(scenario):
        packets = scenario.at_link(name).packets(size)
        if 1 <= packets <= MAX_BUFFER_PACKETS:
            continue
        raise ScenarioError(
            "out-of-range.size" if written else "out-of-range.size-by-default", field="queue.size",
            value=size, packets=packets, packet=scenario.at_link(name).packet,
            where=Fact("size.in-reverse") if name == REVERSE else "", most=MAX_BUFFER_PACKETS,
        )  # fmt: skip


def _links(scenario: Scenario) -> None:
    seen = {BOTTLENECK, REVERSE}
    for index, link in enumerate(scenario.links):
        if link.name in seen:
            field = f"links.{index}.name"
            raise ScenarioError("contradiction.name-of-a-link", field=field, value=link.name)
        seen.add(link.name)
        here, size = scenario.at_link(link.name), link.queue.size
        if link.queue.reads_size and not 1 <= here.packets(size) <= MAX_BUFFER_PACKETS:
            raise ScenarioError(
                "out-of-range.size", field=f"links.{index}.queue.size", value=size,
                packets=here.packets(size), packet=here.packet, where="", most=MAX_BUFFER_PACKETS,
            )  # fmt: skip


def _class_queues(scenario: Scenario) -> None:
    """Check traffic and sizes of class queues against the traffic of their link."""
    for place in _queues(scenario):
        classes, field = place.queue.classes, f"{place.at_queue}.classes"
        if not classes:
            continue
        if scenario.topology is not None:
            raise ScenarioError("contradiction.queues-of-a-network", field=field)
        names = dict(zip(map(id, scenario.traffic), scenario.class_names, strict=True))
        here = scenario.at_link(place.name)
        crossing = [names[id(group)] for group in (*here.classes, *here.acknowledged)]
        check_traffic(field, classes, scenario.class_names, crossing)
        check_rates(field, classes, here.rate)
        counts = scenario.class_counts(place.name)
        for index, (part, own) in enumerate(zip(classes, counts, strict=True)):
            if part.size is None:
                continue
            at = f"{field}.{index}.size"
            if part.size.unit == "bdp/sqrt(n)" and not own.n_for_size:
                raise _without_n(part.size, at)
            packets = own.packets(part.size)
            if not 1 <= packets <= MAX_BUFFER_PACKETS:
                raise ScenarioError(
                    "out-of-range.size", field=at, value=part.size, packets=packets,
                    packet=own.packet, where=Fact("size.of-its-traffic"), most=MAX_BUFFER_PACKETS,
                )  # fmt: skip


def _buckets(scenario: Scenario) -> None:
    """Check shapers and policers against their link and against every packet of the scenario."""
    for place in _places(scenario):
        link = place.link
        for name, bucket in (("shaper", link.shaper), ("policer", link.policer)):
            if bucket is not None:
                _bucket(scenario, f"{place.field}.{name}", bucket, link)
        if link.shaper is not None and place.queue.transmit_ring:
            field = f"{place.at_queue}.transmit_ring"
            raise ScenarioError("contradiction.ring-behind-shaper", field=field)


def _bucket(scenario: Scenario, field: str, bucket: TokenBucket, link: Link) -> None:
    if scenario.topology is not None:
        raise ScenarioError("contradiction.not-of-a-network", field=field)
    if bucket.rate > link.rate:
        raise ScenarioError(
            "contradiction.above-the-link", field=f"{field}.rate", value=bucket.rate, rate=link.rate
        )
    if field.endswith("policer") and bucket.refill == "deficit":
        raise ScenarioError("contradiction.policer-without-bucket", field=f"{field}.refill")
    largest = scenario.largest_packet
    if bucket is link.shaper:
        largest = link.on_line(largest)
    if bucket.burst is not None and bucket.burst < largest:
        raise ScenarioError(
            "contradiction.burst-below-packet", field=f"{field}.burst", value=bucket.burst,
            largest=DataSize(largest),
        )  # fmt: skip
    if 8 * bucket.depth / bucket.rate > DAY:
        depth = DataSize(bucket.depth)
        raise ScenarioError("out-of-range.bucket", field=f"{field}.burst", depth=depth, most=DAY)


def _imperfect(scenario: Scenario) -> None:
    for place in _places(scenario):
        _conditions(scenario, place)
    links = {place.name: place.link for place in _places(scenario)}
    for index, group in enumerate(scenario.traffic):
        route = group.route or (BOTTLENECK,)
        last = links[route[-1]]  # round trips hold the delay of a last link too, if it reorders
        if isinstance(group, Tcp) and last.jitter is not None and last.jitter.reorder:
            ways = (*route, *group.return_route[:-1])
            _fits(group, sum(links[name].delay for name in ways), f"traffic.{index}")


def _conditions(scenario: Scenario, place: _Place) -> None:
    link, queue, field = place.link, place.queue, place.field
    present = [name for name in (*_CONDITIONS, "framing") if getattr(link, name) is not None]
    if present and scenario.topology is not None:
        raise ScenarioError("contradiction.not-of-a-network", field=f"{field}.{present[0]}")
    if not set(present) & set(_CONDITIONS):
        return
    if link.down is not None and link.rate_trace is not None:
        raise ScenarioError("contradiction.down-beside-trace", field=f"{field}.down")
    varying = next((name for name in ("down", "rate_trace") if name in present), None)
    if varying is not None and link.shaper is not None:
        raise ScenarioError("contradiction.shaper-of-varying-rate", field=f"{field}.shaper")
    if varying is not None and scenario.goals.need_round_trips:
        raise ScenarioError("contradiction.goal-of-varying-rate", field=f"{field}.{varying}")
    if queue.transmit_ring:
        ring = f"{place.at_queue}.transmit_ring"
        raise ScenarioError("contradiction.ring-of-a-link", field=ring, other=present[0])
    if queue.alpha is not None and link.loss is not None and link.loss.place == "before-queue":
        raise ScenarioError("contradiction.alpha-and-loss", field=f"{place.at_queue}.alpha")


def _routes(scenario: Scenario) -> None:
    delays = {place.name: place.link.delay for place in _places(scenario)}
    for index, group in enumerate(scenario.traffic):
        if group.direction == "reverse" and (group.route or group.return_route):
            field = f"traffic.{index}.direction"
            raise ScenarioError("contradiction.reverse-and-route", field=field)
        interior = [delays[name] for way in (group.route, group.return_route) for name in way[:-1]]
        if isinstance(group, Tcp):
            _fits(group, sum(interior), f"traffic.{index}")


def _fits(group: Tcp, delay: float, place: str) -> None:
    """Refuse a round trip that is shorter than the links on its route."""
    if group.rtt.low < delay:
        took = Duration(delay)
        raise ScenarioError("contradiction.rtt-below-route", field=f"{place}.rtt", delay=took)


def _memory(scenario: Scenario) -> None:
    shares = any(place.queue.alpha is not None for place in _places(scenario))
    if scenario.memory is None and shares:
        raise ScenarioError("contradiction.alpha-without-memory", field="memory")
    if scenario.memory is not None and not shares:
        raise ScenarioError("contradiction.memory-without-alpha", field="memory")


@_of_each_class
def _starts(scenario: Scenario, group: Traffic, place: str) -> None:
    if isinstance(group, Standing) and group.start.low >= _end(scenario):
        raise ScenarioError(
            "contradiction.start-after-end", field=f"{place}.start", end=_end(scenario)
        )


@_of_each_class
def _stops(scenario: Scenario, group: Traffic, place: str) -> None:
    schedule = group.schedule if isinstance(group, Switched) else None
    if schedule and scenario.topology is not None:
        raise ScenarioError("contradiction.schedule-in-a-network", field=f"{place}.schedule")
    if schedule and schedule.times and schedule.times[0][0] >= _end(scenario):
        raise ScenarioError(
            "contradiction.schedule-after-end", field=f"{place}.schedule.times", end=_end(scenario)
        )
    if isinstance(group, Stopping) and group.stop and group.stop.high <= group.start.low:
        last = group.stop.high
        raise ScenarioError("contradiction.stop-before-start", field=f"{place}.stop", last=last)


@_of_each_class
def _tables(scenario: Scenario, group: Traffic, place: str) -> None:
    """Refuse a column of another kind of scenario, and a table of late starts."""
    table = group.table if isinstance(group, Transfers) else None
    if table is None:
        return
    columns = [name for name in ("source", "target", "route") if any(table.texts.get(name, ()))]
    if columns and scenario.topology is None:
        raise ScenarioError("contradiction.column-of-a-network", field=place, column=columns[0])
    if int(table.start_ps.min()) >= round(_end(scenario) * 1e12):
        written = f"{place}.{'file' if table.path else 'transfers'}"
        raise ScenarioError("contradiction.table-after-end", field=written, end=_end(scenario))
    if table.rtt_ps is not None and scenario.topology is not None:
        raise ScenarioError("contradiction.rtt-of-a-transfer", field=place)


def _delay_goals(scenario: Scenario) -> None:
    mean, p99 = scenario.goals.queue_delay_mean, scenario.goals.queue_delay_p99
    table = scenario.goals.queue_delay
    if mean is not None and table is not None and table.mean is not None:
        raise ScenarioError("contradiction.mean-twice", field="goals.queue_delay.mean")
    if mean is not None and p99 is not None and p99 < mean:
        raise ScenarioError(
            "contradiction.p99-below-mean", field="goals.queue_delay_p99", value=p99, mean=mean
        )


def _utilization_goal(scenario: Scenario) -> None:
    goal, rate = scenario.goals.utilization, scenario.link.capacity
    if goal is None:
        return
    most = sum(_fastest(scenario, group) for group in scenario.crossing)
    if most < goal * rate:
        if not scenario.crossing:
            raise ScenarioError("contradiction.nobody-crosses", field="goals.utilization")
        raise ScenarioError(
            "contradiction.utilization-out-of-reach", field="goals.utilization", value=goal,
            rate=rate, most=Rate(most),
        )  # fmt: skip


def _fastest(scenario: Scenario, group: Traffic) -> float:
    """Return an upper bound of a class's rate in bit/s; for open loops the mean rate."""
    if isinstance(group, Short | Transfers):  # any number may arrive at once
        return float("inf")
    access = group.access_links * group.access(scenario.link.capacity)
    if not isinstance(group, Long | Fetching):
        return min(access, group.flows * group.flow_rate(scenario.link.capacity))
    if group.max_window is None:
        return access
    return min(access, group.flows * group.max_window * group.packet * 8 / group.rtt.low)


def _completion_goals(scenario: Scenario) -> None:
    """Refuse goals on completion times for flows that never complete."""
    endless = [group.kind not in COMPLETING_KINDS for group in scenario.traffic]
    if scenario.goals.fct_increase is not None and all(endless):
        raise ScenarioError("contradiction.nothing-completes", field="goals.fct_increase")
    for index, group in enumerate(scenario.traffic):
        goals = [name for name in _COMPLETION_GOALS if getattr(group.goals, name, None) is not None]
        if goals and endless[index]:
            field = f"traffic.{index}.goals.{goals[0]}"
            raise ScenarioError("contradiction.class-never-completes", field=field)
        asked = [name for name in _REQUEST_GOALS if getattr(group.goals, name, None) is not None]
        if asked and group.kind != "requests":
            field = f"traffic.{index}.goals.{asked[0]}"
            like = asked[0].removeprefix("request_")
            raise ScenarioError("contradiction.no-requests", field=field, like=like)


def _realtime_goal(scenario: Scenario) -> None:
    kinds = {group.kind for group in scenario.traffic}
    if scenario.goals.realtime_loss is not None and not kinds & OPEN_LOOP_KINDS:
        known = one_of(sorted(OPEN_LOOP_KINDS))
        raise ScenarioError("contradiction.no-real-time", field="goals.realtime_loss", known=known)


_CHECKS = (
    _topology, _forward, _names, _known_routes, _lengths, _flows, _access_rates, _on_times,
    _counted, _buffer, _links, _class_queues, _buckets, _imperfect, _routes, _memory, _starts,
    _stops, _tables, _delay_goals, _utilization_goal, _completion_goals, _realtime_goal,
)  # fmt: skip
"""In the order in which contradictions are said."""


def check(scenario: Scenario) -> None:
    """Raise ScenarioError for the first contradiction."""
    for rule in _CHECKS:
        rule(scenario)
