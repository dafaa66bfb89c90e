"""Checks that involve several fields."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from forebay.catalogue.metrics import BOTTLENECK, REVERSE
from forebay.errors import entry
from forebay.scenario.base import DAY, MAX_FLOWS, MAX_PERIODS
from forebay.scenario.errors import ScenarioError, one_of
from forebay.scenario.goals import (
    COMPLETING_KINDS,
    COMPLETION_GOALS,
    OPEN_LOOP_KINDS,
    REQUEST_GOALS,
)
from forebay.scenario.quantity import DataSize, Duration, Rate
from forebay.scenario.source import Standing, Stopping, Switched
from forebay.scenario.tcp import Fetching, Long, Session, Short, Tcp
from forebay.scenario.traffic import OnOff
from forebay.scenario.transfers import Transfers

if TYPE_CHECKING:
    from forebay.scenario.link import Link, TokenBucket
    from forebay.scenario.model import Scenario
    from forebay.scenario.queue import BufferSize, Queue
    from forebay.scenario.traffic import Traffic


def _delay_goals(scenario: Scenario) -> None:
    mean, p99 = scenario.goals.queue_delay_mean, scenario.goals.queue_delay_p99
    table = scenario.goals.queue_delay
    if mean is not None and table is not None and table.mean is not None:
        wrong, hint = "the mean is set twice", "leave out goals.queue_delay_mean"
        raise ScenarioError("contradiction", wrong, hint, field="goals.queue_delay.mean")
    if mean is not None and p99 is not None and p99 < mean:
        wrong = f"{p99} is below queue_delay_mean, {mean}: the two goals contradict each other"
        hint = f"write {mean} or more here, or a smaller queue_delay_mean"
        raise ScenarioError("contradiction", wrong, hint, field="goals.queue_delay_p99", value=p99)


def _completion_goals(scenario: Scenario) -> None:
    """Refuse goals on completion times for flows that never complete."""
    endless = [group.kind not in COMPLETING_KINDS for group in scenario.traffic]
    hint = "leave this goal out, or write a class of flows that end"
    if scenario.goals.fct_increase is not None and all(endless):
        wrong = "no flow ever completes"
        raise ScenarioError("contradiction", wrong, hint, field="goals.fct_increase")
    for index, group in enumerate(scenario.traffic):
        goals = [name for name in COMPLETION_GOALS if getattr(group.goals, name, None) is not None]
        if goals and endless[index]:
            field = f"traffic.{index}.goals.{goals[0]}"
            wrong = "no flow of this class ever completes"
            raise ScenarioError("contradiction", wrong, hint, field=field)
        asked = [name for name in REQUEST_GOALS if getattr(group.goals, name, None) is not None]
        if asked and group.kind != "requests":
            field = f"traffic.{index}.goals.{asked[0]}"
            wrong, like = (
                "this class has no requests with several answers",
                asked[0][-4:].strip("_"),
            )
            hint = f"write {entry('kind', 'requests')}, or a goal fct_{like}"
            raise ScenarioError("contradiction", wrong, hint, field=field)


def _realtime_goal(scenario: Scenario) -> None:
    kinds = {group.kind for group in scenario.traffic}
    if scenario.goals.realtime_loss is None or kinds & OPEN_LOOP_KINDS:
        return
    hint = f"leave it out, or write a class of kind {one_of(sorted(OPEN_LOOP_KINDS))}"
    raise ScenarioError("contradiction", "no class is real-time", hint, field="goals.realtime_loss")


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
        raise ScenarioError("contradiction", wrong, hint, field="goals.utilization", value=goal)


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


MAX_BUFFER_PACKETS = 1_000_000_000
_LONGEST_ROUTE = 30


def check(scenario: Scenario) -> None:
    """Raise ScenarioError for the first contradiction."""
    _forward(scenario)
    _names(scenario)
    _known_routes(scenario)
    _lengths(scenario)
    _flows(scenario)
    _access_rates(scenario)
    _on_times(scenario)
    _counted(scenario)
    _buffer(scenario)
    _links(scenario)
    _class_queues(scenario)
    _buckets(scenario)
    _imperfect(scenario)
    _routes(scenario)
    _memory(scenario)
    _starts(scenario)
    _transfers(scenario)
    _delay_goals(scenario)
    _utilization_goal(scenario)
    _completion_goals(scenario)
    _realtime_goal(scenario)


def class_names(traffic: Sequence[Traffic]) -> tuple[str, ...]:
    """Return each class's own name, else its kind and index."""
    return tuple(group.name or f"{group.kind}-{index}" for index, group in enumerate(traffic))


def _names(scenario: Scenario) -> None:
    names = class_names(scenario.traffic)
    for index, name in enumerate(names):
        if name not in names[:index]:
            continue
        # The error is about a name that was written, not about a default name.
        written = index if scenario.traffic[index].name else names.index(name)
        hint, field = "write a name of its own", f"traffic.{written}.name"
        wrong = "another class has this name"
        raise ScenarioError("contradiction", wrong, hint, field=field, value=name)


def _forward(scenario: Scenario) -> None:
    if all(group.direction == "reverse" for group in scenario.traffic):
        hint = f"write {entry('direction', 'forward')} in at least one class"
        raise ScenarioError("contradiction", "all classes send in reverse", hint, field="traffic")


def _lengths(scenario: Scenario) -> None:
    for index, group in enumerate(scenario.traffic):
        if isinstance(group, Short | Fetching):
            waits = "file" if isinstance(group, Session) else "response"
            named = "length" if isinstance(group, Short) else waits
            try:
                (group.length if isinstance(group, Short) else group.fetched).check(group.packet)
            except ScenarioError as error:
                raise error.at("", f"traffic.{index}.{named}") from None


def _flows(scenario: Scenario) -> None:
    standing = sum(group.flows for group in scenario.traffic)
    if standing > MAX_FLOWS:
        wrong = f"{standing} flows in all are above the most, {MAX_FLOWS}"
        raise ScenarioError("out-of-range", wrong, "write fewer flows", field="traffic")


def _access_rates(scenario: Scenario) -> None:
    """Refuse a source that sends faster than its own link, where both were written."""
    for index, group in enumerate(scenario.traffic):
        peak = group.flow_peak(float(scenario.link.rate))
        if group.access_rate is None or peak <= group.access_rate or not _writes_rate(group):
            continue
        field = "peak_rate" if isinstance(group, OnOff) else "rate"
        wrong = f"{Rate(peak)} is above access_rate, {group.access_rate}"
        hint = f"write a lower {field}, or a higher access_rate"
        raise ScenarioError("contradiction", wrong, hint, field=f"traffic.{index}.{field}")


def _writes_rate(group: Traffic) -> bool:
    return isinstance(group, OnOff) or getattr(group, "rate", None) is not None


def _on_times(scenario: Scenario) -> None:
    seconds = scenario.measure.warmup + scenario.measure.duration
    for index, group in enumerate(scenario.traffic):
        if isinstance(group, OnOff) and group.flows * group.periods(seconds) > MAX_PERIODS:
            wrong = f"more than {MAX_PERIODS} on times in {Duration(seconds)}"
            hint = "write longer on and off times; of such short ones a udp class is the same"
            raise ScenarioError("out-of-range", wrong, hint, field=f"traffic.{index}.on")


def _directions(scenario: Scenario) -> tuple[str, ...]:
    """The bottleneck, and its reverse direction if a class sends that way."""
    reverse = any(group.direction == "reverse" for group in scenario.traffic)
    return (BOTTLENECK, REVERSE) if reverse else (BOTTLENECK,)


def _counted(scenario: Scenario) -> None:
    """Refuse a size of bdp/sqrt(n) without n."""
    if scenario.topology is not None and scenario.topology.counts_connections:
        return
    sizes = [("queue.size", scenario.queue.size, name) for name in _directions(scenario)]
    sizes += [
        (f"links.{i}.queue.size", link.queue.size, link.name)
        for i, link in enumerate(scenario.links)
    ]
    for field, size, link in sizes:
        if size.unit == "bdp/sqrt(n)" and not scenario.at_link(link).n_for_size:
            raise _without_n(size, field)


def _without_n(size: BufferSize, field: str) -> ScenarioError:
    wrong = f'"{size}" without flows that last: n counts long flows, or else users'
    hint = 'write a size such as "129 packets" or "1 bdp"'
    return ScenarioError("contradiction", wrong, hint, field=field, value=size)


def _buffer(scenario: Scenario) -> None:
    """Check the size in both directions; each counts its own flows."""
    if not scenario.queue.reads_size or _counted_by_topology(scenario):
        return
    for name in _directions(scenario):
        packets = scenario.at_link(name).packets(scenario.queue.size)
        if not 1 <= packets <= MAX_BUFFER_PACKETS:
            raise _size_out_of_range(scenario, name, packets)


def _counted_by_topology(scenario: Scenario) -> bool:
    """Whether the size is a rule that refers to the round trips and flows of a network's links."""
    rule = scenario.queue.size.unit in ("bdp", "bdp/sqrt(n)")
    return scenario.topology is not None and rule


def _size_out_of_range(scenario: Scenario, link: str, packets: int) -> ScenarioError:
    size = scenario.queue.size
    way = " in reverse" if link == REVERSE else ""
    wrong = f'"{size}" is {packets} packets of {scenario.at_link(link).packet}{way}'
    hint = f"write a size that comes to 1 to {MAX_BUFFER_PACKETS} packets"
    if "queue" not in scenario.model_fields_set or "size" not in scenario.queue.model_fields_set:
        wrong = f'is not written, and its default, "{size}", is {packets} packets here{way}'
        hint = f"write one, such as {entry('size', '100 packets')}; a sizing tries larger ones"
    return ScenarioError("out-of-range", wrong, hint, field="queue.size", value=size)


def _links(scenario: Scenario) -> None:
    seen = {BOTTLENECK, REVERSE}
    for index, link in enumerate(scenario.links):
        if link.name in seen:
            wrong, hint = "another link has this name", "write a name of its own"
            field = f"links.{index}.name"
            raise ScenarioError("contradiction", wrong, hint, field=field, value=link.name)
        seen.add(link.name)
        packets = scenario.at_link(link.name).packets(link.queue.size)
        if link.queue.reads_size and not 1 <= packets <= MAX_BUFFER_PACKETS:
            packet = scenario.at_link(link.name).packet
            wrong = f'"{link.queue.size}" is {packets} packets of {packet}'
            hint = f"write a size that comes to 1 to {MAX_BUFFER_PACKETS} packets"
            raise ScenarioError("out-of-range", wrong, hint, field=f"links.{index}.queue.size")


def _class_queues(scenario: Scenario) -> None:
    """Check traffic and sizes of class queues against the traffic of their link."""
    queues = [(name, "queue", scenario.queue) for name in _directions(scenario)]
    queues += [(o.name, f"links.{i}.queue", o.queue) for i, o in enumerate(scenario.links)]
    for link, field, queue in queues:
        if not queue.classes:
            continue
        from forebay.scenario.queue import check_rates, check_traffic

        if scenario.topology is not None:
            wrong, hint = (
                "cannot be set with a topology",
                "leave it out: a network's links have one queue",
            )
            raise ScenarioError("contradiction", wrong, hint, field=f"{field}.classes")
        names = dict(zip(map(id, scenario.traffic), scenario.class_names, strict=True))
        here = scenario.at_link(link)
        crossing = [names[id(group)] for group in (*here.classes, *here.acknowledged)]
        check_traffic(f"{field}.classes", queue.classes, scenario.class_names, crossing)
        check_rates(f"{field}.classes", queue.classes, here.rate)
        _class_sizes(scenario, link, f"{field}.classes", queue)


def _class_sizes(scenario: Scenario, link: str, field: str, queue: Queue) -> None:
    for index, (each, own) in enumerate(
        zip(queue.classes, scenario.class_counts(link), strict=True)
    ):
        if each.size is None:
            continue
        place = f"{field}.{index}.size"
        if each.size.unit == "bdp/sqrt(n)" and not own.n_for_size:
            raise _without_n(each.size, place)
        packets = own.packets(each.size)
        if not 1 <= packets <= MAX_BUFFER_PACKETS:
            wrong = f'"{each.size}" is {packets} packets of {own.packet}, those of its traffic'
            hint = f"write a size that comes to 1 to {MAX_BUFFER_PACKETS} packets"
            raise ScenarioError("out-of-range", wrong, hint, field=place, value=each.size)


def _buckets(scenario: Scenario) -> None:
    """Check shapers and policers against their link and against every packet of the scenario."""
    places = [("link", scenario.link, "queue", scenario.queue)]
    places += [
        (f"links.{i}", link, f"links.{i}.queue", link.queue)
        for i, link in enumerate(scenario.links)
    ]
    for place, link, at_queue, queue in places:
        for name, bucket in (("shaper", link.shaper), ("policer", link.policer)):
            if bucket is not None:
                _bucket(scenario, f"{place}.{name}", bucket, link)
        if link.shaper is not None and queue.transmit_ring:
            wrong, hint = "never fills behind a shaper", "leave it out, or leave the shaper out"
            field = f"{at_queue}.transmit_ring"
            raise ScenarioError("contradiction", wrong, hint, field=field)


def _imperfect(scenario: Scenario) -> None:
    """Check links that are no constant wire; the many others import no check."""
    links = (scenario.link, *scenario.links)
    fields = ("loss", "rate_trace", "down", "jitter", "framing")
    if any(getattr(link, name) for link in links for name in fields):
        check_links(scenario)


def _bucket(scenario: Scenario, field: str, bucket: TokenBucket, link: Link) -> None:
    link_rate = link.rate
    if scenario.topology is not None:
        wrong, hint = "cannot be set with a topology", "leave it out: a network's links have none"
        raise ScenarioError("contradiction", wrong, hint, field=field)
    if bucket.rate > link_rate:
        wrong = f"{bucket.rate} is above the rate of the link, {link_rate}"
        hint = f"write {link_rate} or less here, or a higher rate of the link"
        raise ScenarioError("contradiction", wrong, hint, field=f"{field}.rate", value=bucket.rate)
    if field.endswith("policer") and bucket.refill == "deficit":
        wrong = "a policer without a bucket drops every burst"
        hint = f"write {entry('refill', 'continuous')} and a burst"
        raise ScenarioError("contradiction", wrong, hint, field=f"{field}.refill")
    largest = scenario.largest_packet
    if bucket is link.shaper:
        largest = link.on_line(largest)
    if bucket.burst is not None and bucket.burst < largest:
        wrong = f"{bucket.burst} is smaller than a packet of {DataSize(largest)}"
        hint = f"write {DataSize(largest)!s} or more"
        raise ScenarioError("contradiction", wrong, hint, field=f"{field}.burst")
    if 8 * bucket.depth / bucket.rate > DAY:
        wrong = f"a bucket of {DataSize(bucket.depth)} takes more than {DAY} to fill"
        hint = "write a smaller burst or excess, or a higher rate"
        raise ScenarioError("out-of-range", wrong, hint, field=f"{field}.burst")


def largest(group: Traffic) -> int:
    """Return the bytes of the largest packet of a class."""
    return group.largest_packet


def _routes(scenario: Scenario) -> None:
    delays = {BOTTLENECK: scenario.link.delay} | {each.name: each.delay for each in scenario.links}
    for index, group in enumerate(scenario.traffic):
        if group.direction == "reverse" and (group.route or group.return_route):
            wrong = 'direction = "reverse" has a route of its own'
            hint = "leave direction out if route is written"
            raise ScenarioError("contradiction", wrong, hint, field=f"traffic.{index}.direction")
        interior = [delays[name] for way in (group.route, group.return_route) for name in way[:-1]]
        if isinstance(group, Tcp) and group.rtt.low < sum(interior):
            wrong = f"the links on the route take {Duration(sum(interior))} of an rtt that is less"
            hint = "write a longer rtt, or shorter link delays"
            raise ScenarioError("contradiction", wrong, hint, field=f"traffic.{index}.rtt")


def _known_routes(scenario: Scenario) -> None:
    known = {BOTTLENECK, *(each.name for each in scenario.links)}  # what other checks follow
    for index, group in enumerate(scenario.traffic):
        for field in ("route", "return_route"):
            _known_links(getattr(group, field), known, f"traffic.{index}.{field}")


def _known_links(names: tuple[str, ...], known: Collection[str], field: str) -> None:
    if len(names) > _LONGEST_ROUTE:
        hint = f"write {_LONGEST_ROUTE} links at most"
        raise ScenarioError("out-of-range", f"{len(names)} links in a row", hint, field=field)
    for name in names:
        if name not in known:
            hint = f"write {one_of(sorted(known))}"
            wrong = f'there is no link "{name}"'
            raise ScenarioError("unknown-link", wrong, hint, field=field, value=name)


def _memory(scenario: Scenario) -> None:
    queues = [scenario.queue, *(link.queue for link in scenario.links)]
    shares = any(queue.alpha is not None for queue in queues)
    if scenario.memory is None and shares:
        wrong = "alpha is set, but there is no shared memory"
        hint = f"write {entry('memory', '16 MB')}"
        raise ScenarioError("contradiction", wrong, hint, field="memory")
    if scenario.memory is not None and not shares:
        wrong = "no queue uses it, because none sets alpha"
        hint = f"write {entry('alpha', 1.0)} for a queue, or leave memory out"
        raise ScenarioError("contradiction", wrong, hint, field="memory")


def _transfers(scenario: Scenario) -> None:
    """Check tables of transfers; few scenarios have any, and the others import no check."""
    if any(group.kind == "transfers" for group in scenario.traffic):
        check_tables(scenario)


def _starts(scenario: Scenario) -> None:
    end = Duration(scenario.measure.warmup + scenario.measure.duration)
    for index, group in enumerate(scenario.traffic):
        if isinstance(group, Standing) and group.start.low >= end:
            wrong = f"no flow starts before the run ends at {end}"
            hint = "write an earlier start, or a longer measure.duration"
            raise ScenarioError("contradiction", wrong, hint, field=f"traffic.{index}.start")
    if any(isinstance(group, Stopping) and group.ends_early for group in scenario.traffic):
        check_stops(scenario)


CONDITIONS = ("loss", "rate_trace", "down", "jitter")
"""Fields of a link that make it no constant wire."""


def check_links(scenario: Scenario) -> None:
    """Raise ScenarioError for the first contradiction of a link that is not a constant wire."""
    _link(scenario, "link", scenario.link, "queue", scenario.queue)
    for index, link in enumerate(scenario.links):
        _link(scenario, f"links.{index}", link, f"links.{index}.queue", link.queue)
    _last_that_reorder(scenario)


def _last_that_reorder(scenario: Scenario) -> None:
    """Check that round trips hold the delay of a last link too, if it reorders."""
    links = {BOTTLENECK: scenario.link} | {each.name: each for each in scenario.links}
    for index, group in enumerate(scenario.traffic):
        last = links[(group.route or (BOTTLENECK,))[-1]]
        if not isinstance(group, Tcp) or last.jitter is None or not last.jitter.reorder:
            continue
        ways = (group.route or (BOTTLENECK,), group.return_route[:-1])
        delay = sum(links[name].delay for way in ways for name in way)
        if group.rtt.low < delay:
            wrong = f"the links on the route take {Duration(delay)} of an rtt that is less"
            hint = "write a longer rtt, or shorter link delays"
            raise ScenarioError("contradiction", wrong, hint, field=f"traffic.{index}.rtt")


def _link(scenario: Scenario, place: str, link: Link, at_queue: str, queue: Queue) -> None:
    present = [name for name in (*CONDITIONS, "framing") if getattr(link, name) is not None]
    if present and scenario.topology is not None:
        wrong, hint = "cannot be set with a topology", "leave it out: a network's links have none"
        raise ScenarioError("contradiction", wrong, hint, field=f"{place}.{present[0]}")
    if not set(present) & set(CONDITIONS):
        return
    hint = "leave one of the two out"
    varying = next((name for name in ("down", "rate_trace") if name in present), None)
    if varying is not None:
        _with_varying_rate(scenario, place, link, varying)
    if queue.transmit_ring:
        wrong = f"cannot be simulated with {present[0]} of the link"
        raise ScenarioError("contradiction", wrong, hint, field=f"{at_queue}.transmit_ring")
    loss = link.loss
    if queue.alpha is not None and loss is not None and loss.place == "before-queue":
        wrong = "cannot be simulated with loss before the queue"
        raise ScenarioError("contradiction", wrong, hint, field=f"{at_queue}.alpha")


def _with_varying_rate(scenario: Scenario, place: str, link: Link, name: str) -> None:
    if link.down is not None and link.rate_trace is not None:
        hint = 'leave it out, and write a rate of "0 Mbit/s" at these times into the trace'
        raise ScenarioError(
            "contradiction", "cannot be set beside rate_trace", hint, field=f"{place}.down"
        )
    hint = "leave one of the two out"
    if link.shaper is not None:
        wrong = "cannot be simulated before a wire of varying rate"
        raise ScenarioError("contradiction", wrong, hint, field=f"{place}.shaper")
    if scenario.goals.need_round_trips:
        wrong = "cannot be set with a goal that has a probability"
        raise ScenarioError("contradiction", wrong, hint, field=f"{place}.{name}")


def check_stops(scenario: Scenario) -> None:
    """Raise ScenarioError for the first stop or schedule that cannot be."""
    for index, group in enumerate(scenario.traffic):
        if isinstance(group, Switched) and group.schedule and scenario.topology is not None:
            wrong, hint = "cannot be set with a topology", "leave it out, or write start and stop"
            raise ScenarioError("contradiction", wrong, hint, field=f"traffic.{index}.schedule")
        if isinstance(group, Switched) and group.schedule and group.schedule.times:
            _times(scenario, group.schedule.times, f"traffic.{index}.schedule.times")
        if isinstance(group, Stopping) and group.stop and group.stop.high <= group.start.low:
            wrong = f"every flow stops by {group.stop.high}, before it starts"
            hint = "write a later stop, or an earlier start"
            raise ScenarioError("contradiction", wrong, hint, field=f"traffic.{index}.stop")


def _times(scenario: Scenario, times: tuple[tuple[Duration, Duration], ...], field: str) -> None:
    end = Duration(scenario.measure.warmup + scenario.measure.duration)
    if times[0][0] >= end:
        wrong = f"no flow is switched on before the run ends at {end}"
        hint = "write earlier times, or a longer measure.duration"
        raise ScenarioError("contradiction", wrong, hint, field=field)


def check_tables(scenario: Scenario) -> None:
    """Raise ScenarioError for a column of another kind of scenario, or a table of late starts."""
    end = Duration(scenario.measure.warmup + scenario.measure.duration)
    for index, group in enumerate(scenario.traffic):
        table = group.table if isinstance(group, Transfers) else None
        if table is None:
            continue
        places = [name for name in ("source", "target", "route") if any(table.texts.get(name, ()))]
        if places and scenario.topology is None:
            wrong, hint = f"{places[0]} of a transfer without a network", "write a topology too"
            raise ScenarioError("contradiction", wrong, hint, field=f"traffic.{index}")
        if int(table.start_ps.min()) >= round(end * 1e12):
            wrong = f"no transfer starts before the run ends at {end}"
            hint = "write earlier starts, or a longer measure.duration"
            field = f"traffic.{index}.{'file' if table.path else 'transfers'}"
            raise ScenarioError("contradiction", wrong, hint, field=field)
        if table.rtt_ps is not None and scenario.topology is not None:
            wrong, hint = "an rtt of a transfer", "leave it out: the topology gives it"
            raise ScenarioError("contradiction", wrong, hint, field=f"traffic.{index}")
