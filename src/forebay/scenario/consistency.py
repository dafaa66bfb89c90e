"""Checks that involve several fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from forebay.catalogue.metrics import BOTTLENECK, REVERSE
from forebay.errors import entry
from forebay.scenario.base import DAY, MAX_FLOWS, MAX_PERIODS
from forebay.scenario.errors import ScenarioError, contradiction, one_of
from forebay.scenario.goals import COMPLETING_KINDS, OPEN_LOOP_KINDS
from forebay.scenario.quantity import DataSize, Duration, Rate
from forebay.scenario.queue import check_rates, check_traffic
from forebay.scenario.source import Standing, Stopping, Switched
from forebay.scenario.tcp import Fetching, Long, Session, Short, Tcp
from forebay.scenario.traffic import OnOff
from forebay.scenario.transfers import Transfers

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
_WITH_A_TOPOLOGY = "cannot be set with a topology"
_ONE_OF_TWO = "leave one of the two out"


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
    hint = "leave it out: the topology gives it"
    if scenario.links:
        raise contradiction("links", _WITH_A_TOPOLOGY, hint)
    for index, group in enumerate(scenario.traffic):
        for name in ("direction", "route", "return_route", "rtt", "access_rate"):
            field = type(group).model_fields.get(name)
            if field is not None and getattr(group, name) != field.default:
                raise contradiction(f"traffic.{index}.{name}", _WITH_A_TOPOLOGY, hint)


def _forward(scenario: Scenario) -> None:
    if all(group.direction == "reverse" for group in scenario.traffic):
        hint = f"write {entry('direction', 'forward')} in at least one class"
        raise contradiction("traffic", "all classes send in reverse", hint)


def _names(scenario: Scenario) -> None:
    names = class_names(scenario.traffic)
    for index, name in enumerate(names):
        if name in names[:index]:
            # The error is about a name that was written, not about a default name.
            written = index if scenario.traffic[index].name else names.index(name)
            field, hint = f"traffic.{written}.name", "write a name of its own"
            raise contradiction(field, "another class has this name", hint, name)


def _known_routes(scenario: Scenario) -> None:
    known = {BOTTLENECK, *(link.name for link in scenario.links)}  # what other checks follow
    classes = enumerate(scenario.traffic)
    for (index, group), way in product(classes, ("route", "return_route")):
        names, field = getattr(group, way), f"traffic.{index}.{way}"
        if len(names) > _LONGEST_ROUTE:
            wrong, hint = f"{len(names)} links in a row", f"write {_LONGEST_ROUTE} links at most"
            raise ScenarioError("out-of-range", wrong, hint, field=field)
        for name in names:
            if name not in known:
                wrong, hint = f'there is no link "{name}"', f"write {one_of(sorted(known))}"
                raise ScenarioError("unknown-link", wrong, hint, field=field, value=name)


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
        wrong = f"{standing} flows in all are above the most, {MAX_FLOWS}"
        raise ScenarioError("out-of-range", wrong, "write fewer flows", field="traffic")


@_of_each_class
def _access_rates(scenario: Scenario, group: Traffic, place: str) -> None:
    """Refuse a source that sends faster than its own link, where both were written."""
    peak = group.flow_peak(float(scenario.link.rate))
    writes_rate = isinstance(group, OnOff) or getattr(group, "rate", None) is not None
    if group.access_rate is not None and peak > group.access_rate and writes_rate:
        field = "peak_rate" if isinstance(group, OnOff) else "rate"
        wrong = f"{Rate(peak)} is above access_rate, {group.access_rate}"
        raise contradiction(
            f"{place}.{field}", wrong, f"write a lower {field}, or a higher access_rate"
        )


@_of_each_class
def _on_times(scenario: Scenario, group: Traffic, place: str) -> None:
    end = _end(scenario)
    if isinstance(group, OnOff) and group.flows * group.periods(end) > MAX_PERIODS:
        wrong = f"more than {MAX_PERIODS} on times in {end}"
        hint = "write longer on and off times; of such short ones a udp class is the same"
        raise ScenarioError("out-of-range", wrong, hint, field=f"{place}.on")


def _counted(scenario: Scenario) -> None:
    """Refuse a size of bdp/sqrt(n) without n."""
    if scenario.topology is not None and scenario.topology.counts_connections:
        return
    for place in _queues(scenario):
        size = place.queue.size
        if size.unit == "bdp/sqrt(n)" and not scenario.at_link(place.name).n_for_size:
            raise _without_n(size, f"{place.at_queue}.size")


def _without_n(size: BufferSize, field: str) -> ScenarioError:
    wrong = f'"{size}" without flows that last: n counts long flows, or else users'
    return contradiction(field, wrong, 'write a size such as "129 packets" or "1 bdp"', size)


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
        way = " in reverse" if name == REVERSE else ""
        wrong = f'"{size}" is {packets} packets of {scenario.at_link(name).packet}{way}'
        hint = f"write a size that comes to 1 to {MAX_BUFFER_PACKETS} packets"
        if not written:
            wrong = f'is not written, and its default, "{size}", is {packets} packets here{way}'
            hint = f"write one, such as {entry('size', '100 packets')}; a sizing tries larger ones"
        raise ScenarioError("out-of-range", wrong, hint, field="queue.size", value=size)


def _links(scenario: Scenario) -> None:
    seen = {BOTTLENECK, REVERSE}
    for index, link in enumerate(scenario.links):
        if link.name in seen:
            field, hint = f"links.{index}.name", "write a name of its own"
            raise contradiction(field, "another link has this name", hint, link.name)
        seen.add(link.name)
        here, size = scenario.at_link(link.name), link.queue.size
        if link.queue.reads_size and not 1 <= here.packets(size) <= MAX_BUFFER_PACKETS:
            wrong = f'"{size}" is {here.packets(size)} packets of {here.packet}'
            hint = f"write a size that comes to 1 to {MAX_BUFFER_PACKETS} packets"
            field = f"links.{index}.queue.size"
            raise ScenarioError("out-of-range", wrong, hint, field=field, value=size)


def _class_queues(scenario: Scenario) -> None:
    """Check traffic and sizes of class queues against the traffic of their link."""
    for place in _queues(scenario):
        classes, field = place.queue.classes, f"{place.at_queue}.classes"
        if not classes:
            continue
        if scenario.topology is not None:
            hint = "leave it out: a network's links have one queue"
            raise contradiction(field, _WITH_A_TOPOLOGY, hint)
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
                wrong = f'"{part.size}" is {packets} packets of {own.packet}, those of its traffic'
                hint = f"write a size that comes to 1 to {MAX_BUFFER_PACKETS} packets"
                raise ScenarioError("out-of-range", wrong, hint, field=at, value=part.size)


def _buckets(scenario: Scenario) -> None:
    """Check shapers and policers against their link and against every packet of the scenario."""
    for place in _places(scenario):
        link = place.link
        for name, bucket in (("shaper", link.shaper), ("policer", link.policer)):
            if bucket is not None:
                _bucket(scenario, f"{place.field}.{name}", bucket, link)
        if link.shaper is not None and place.queue.transmit_ring:
            wrong, hint = "never fills behind a shaper", "leave it out, or leave the shaper out"
            raise contradiction(f"{place.at_queue}.transmit_ring", wrong, hint)


def _bucket(scenario: Scenario, field: str, bucket: TokenBucket, link: Link) -> None:
    if scenario.topology is not None:
        raise contradiction(field, _WITH_A_TOPOLOGY, "leave it out: a network's links have none")
    if bucket.rate > link.rate:
        wrong = f"{bucket.rate} is above the rate of the link, {link.rate}"
        hint = f"write {link.rate} or less here, or a higher rate of the link"
        raise contradiction(f"{field}.rate", wrong, hint, bucket.rate)
    if field.endswith("policer") and bucket.refill == "deficit":
        hint = f"write {entry('refill', 'continuous')} and a burst"
        raise contradiction(f"{field}.refill", "a policer without a bucket drops every burst", hint)
    largest = scenario.largest_packet
    if bucket is link.shaper:
        largest = link.on_line(largest)
    if bucket.burst is not None and bucket.burst < largest:
        wrong = f"{bucket.burst} is smaller than a packet of {DataSize(largest)}"
        raise contradiction(f"{field}.burst", wrong, f"write {DataSize(largest)!s} or more")
    if 8 * bucket.depth / bucket.rate > DAY:
        wrong = f"a bucket of {DataSize(bucket.depth)} takes more than {DAY} to fill"
        hint = "write a smaller burst or excess, or a higher rate"
        raise ScenarioError("out-of-range", wrong, hint, field=f"{field}.burst")


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
        hint = "leave it out: a network's links have none"
        raise contradiction(f"{field}.{present[0]}", _WITH_A_TOPOLOGY, hint)
    if not set(present) & set(_CONDITIONS):
        return
    if link.down is not None and link.rate_trace is not None:
        hint = 'leave it out, and write a rate of "0 Mbit/s" at these times into the trace'
        raise contradiction(f"{field}.down", "cannot be set beside rate_trace", hint)
    varying = next((name for name in ("down", "rate_trace") if name in present), None)
    if varying is not None and link.shaper is not None:
        wrong = "cannot be simulated before a wire of varying rate"
        raise contradiction(f"{field}.shaper", wrong, _ONE_OF_TWO)
    if varying is not None and scenario.goals.need_round_trips:
        wrong = "cannot be set with a goal that has a probability"
        raise contradiction(f"{field}.{varying}", wrong, _ONE_OF_TWO)
    if queue.transmit_ring:
        wrong = f"cannot be simulated with {present[0]} of the link"
        raise contradiction(f"{place.at_queue}.transmit_ring", wrong, _ONE_OF_TWO)
    if queue.alpha is not None and link.loss is not None and link.loss.place == "before-queue":
        wrong = "cannot be simulated with loss before the queue"
        raise contradiction(f"{place.at_queue}.alpha", wrong, _ONE_OF_TWO)


def _routes(scenario: Scenario) -> None:
    delays = {place.name: place.link.delay for place in _places(scenario)}
    for index, group in enumerate(scenario.traffic):
        if group.direction == "reverse" and (group.route or group.return_route):
            field, hint = f"traffic.{index}.direction", "leave direction out if route is written"
            raise contradiction(field, 'direction = "reverse" has a route of its own', hint)
        interior = [delays[name] for way in (group.route, group.return_route) for name in way[:-1]]
        if isinstance(group, Tcp):
            _fits(group, sum(interior), f"traffic.{index}")


def _fits(group: Tcp, delay: float, place: str) -> None:
    """Refuse a round trip that is shorter than the links on its route."""
    if group.rtt.low < delay:
        wrong = f"the links on the route take {Duration(delay)} of an rtt that is less"
        raise contradiction(f"{place}.rtt", wrong, "write a longer rtt, or shorter link delays")


def _memory(scenario: Scenario) -> None:
    shares = any(place.queue.alpha is not None for place in _places(scenario))
    if scenario.memory is None and shares:
        hint = f"write {entry('memory', '16 MB')}"
        raise contradiction("memory", "alpha is set, but there is no shared memory", hint)
    if scenario.memory is not None and not shares:
        hint = f"write {entry('alpha', 1.0)} for a queue, or leave memory out"
        raise contradiction("memory", "no queue uses it, because none sets alpha", hint)


@_of_each_class
def _starts(scenario: Scenario, group: Traffic, place: str) -> None:
    if isinstance(group, Standing) and group.start.low >= _end(scenario):
        wrong = f"no flow starts before the run ends at {_end(scenario)}"
        hint = "write an earlier start, or a longer measure.duration"
        raise contradiction(f"{place}.start", wrong, hint)


@_of_each_class
def _stops(scenario: Scenario, group: Traffic, place: str) -> None:
    schedule = group.schedule if isinstance(group, Switched) else None
    if schedule and scenario.topology is not None:
        hint = "leave it out, or write start and stop"
        raise contradiction(f"{place}.schedule", _WITH_A_TOPOLOGY, hint)
    if schedule and schedule.times and schedule.times[0][0] >= _end(scenario):
        wrong = f"no flow is switched on before the run ends at {_end(scenario)}"
        hint = "write earlier times, or a longer measure.duration"
        raise contradiction(f"{place}.schedule.times", wrong, hint)
    if isinstance(group, Stopping) and group.stop and group.stop.high <= group.start.low:
        wrong = f"every flow stops by {group.stop.high}, before it starts"
        raise contradiction(f"{place}.stop", wrong, "write a later stop, or an earlier start")


@_of_each_class
def _tables(scenario: Scenario, group: Traffic, place: str) -> None:
    """Refuse a column of another kind of scenario, and a table of late starts."""
    table = group.table if isinstance(group, Transfers) else None
    if table is None:
        return
    columns = [name for name in ("source", "target", "route") if any(table.texts.get(name, ()))]
    if columns and scenario.topology is None:
        wrong = f"{columns[0]} of a transfer without a network"
        raise contradiction(place, wrong, "write a topology too")
    if int(table.start_ps.min()) >= round(_end(scenario) * 1e12):
        wrong = f"no transfer starts before the run ends at {_end(scenario)}"
        hint = "write earlier starts, or a longer measure.duration"
        raise contradiction(f"{place}.{'file' if table.path else 'transfers'}", wrong, hint)
    if table.rtt_ps is not None and scenario.topology is not None:
        raise contradiction(place, "an rtt of a transfer", "leave it out: the topology gives it")


def _delay_goals(scenario: Scenario) -> None:
    mean, p99 = scenario.goals.queue_delay_mean, scenario.goals.queue_delay_p99
    table = scenario.goals.queue_delay
    if mean is not None and table is not None and table.mean is not None:
        hint = "leave out goals.queue_delay_mean"
        raise contradiction("goals.queue_delay.mean", "the mean is set twice", hint)
    if mean is not None and p99 is not None and p99 < mean:
        wrong = f"{p99} is below queue_delay_mean, {mean}: the two goals contradict each other"
        hint = f"write {mean} or more here, or a smaller queue_delay_mean"
        raise contradiction("goals.queue_delay_p99", wrong, hint, p99)


def _utilization_goal(scenario: Scenario) -> None:
    goal, rate = scenario.goals.utilization, scenario.link.capacity
    if goal is None:
        return
    most = sum(_fastest(scenario, group) for group in scenario.crossing)
    if most < goal * rate:
        wrong = f"{goal:g} of {rate} cannot be reached: the flows can send {Rate(most)} at most"
        hint = "write a lower goal, more flows, or a larger access_rate or max_window"
        if not scenario.crossing:
            wrong, hint = "no data crosses the bottleneck", 'name "bottleneck" in a route'
        raise contradiction("goals.utilization", wrong, hint, goal)


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
    hint = "leave this goal out, or write a class of flows that end"
    if scenario.goals.fct_increase is not None and all(endless):
        raise contradiction("goals.fct_increase", "no flow ever completes", hint)
    for index, group in enumerate(scenario.traffic):
        goals = [name for name in _COMPLETION_GOALS if getattr(group.goals, name, None) is not None]
        if goals and endless[index]:
            wrong = "no flow of this class ever completes"
            raise contradiction(f"traffic.{index}.goals.{goals[0]}", wrong, hint)
        asked = [name for name in _REQUEST_GOALS if getattr(group.goals, name, None) is not None]
        if asked and group.kind != "requests":
            wrong = "this class has no requests with several answers"
            like = asked[0].removeprefix("request_")
            instead = f"write {entry('kind', 'requests')}, or a goal fct_{like}"
            raise contradiction(f"traffic.{index}.goals.{asked[0]}", wrong, instead)


def _realtime_goal(scenario: Scenario) -> None:
    kinds = {group.kind for group in scenario.traffic}
    if scenario.goals.realtime_loss is not None and not kinds & OPEN_LOOP_KINDS:
        hint = f"leave it out, or write a class of kind {one_of(sorted(OPEN_LOOP_KINDS))}"
        raise contradiction("goals.realtime_loss", "no class is real-time", hint)


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
