"""The scenario: a link with its token buckets, its queue, the traffic, window and goals."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from operator import index
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, Self, SupportsIndex, Unpack

from pydantic import AfterValidator, Field, Strict, model_validator

from forebay import foreign
from forebay.catalogue import is_ours
from forebay.catalogue.metrics import BOTTLENECK
from forebay.files.atomic import replacing
from forebay.scenario import consistency
from forebay.scenario.base import FOLDER, LISTED, Between, ScenarioModel, printable, such_as
from forebay.scenario.crossing import CrossingFlows, count_crossing
from forebay.scenario.errors import ScenarioError
from forebay.scenario.goals import Goals
from forebay.scenario.link import Link, Measure, OtherLink
from forebay.scenario.overrides import as_tree, replace
from forebay.scenario.quantity import DataSize, Duration
from forebay.scenario.queue import BufferSize, Queue, queue_of_traffic
from forebay.scenario.source import End, Standing, with_starts
from forebay.scenario.tcp import Long, Requests, Session, Tcp
from forebay.scenario.topology import Topology
from forebay.scenario.traffic import Replay, Traffic
from forebay.scenario.transfers import Transfers

if TYPE_CHECKING:
    from forebay.scenario import inputs

_MEMORY = Between(DataSize(64), DataSize(10**12))


class Scenario(ScenarioModel):
    """A link or a network, its traffic, the measured window and the goals.

    Made from its parts, ``Scenario(link=Link(rate="155 Mbit/s"), traffic=[Long(flows=100)])``, from
    dicts instead of parts, or by `forebay.load` from a file. It is immutable; `replace` returns
    another scenario.

    Raises
    ------
    ScenarioError
        The first error: the field's path, what is wrong, what to write instead.

    >>> link = forebay.Link(rate="155 Mbit/s")
    >>> scenario = forebay.Scenario(link=link, traffic=[forebay.Long(flows=100, rtt="100 ms")])
    >>> scenario.replace({"queue.size": "1 bdp/sqrt(n)"}).buffer_packets
    129
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.ScenarioDict]) -> None: ...

    name: Annotated[
        str, Strict(), Field(min_length=1, max_length=200), AfterValidator(printable)
    ] = "unnamed"
    """Name in tables and figures; 1 to 200 characters."""
    link: Link
    """The bottleneck."""
    queue: Queue = Queue.model_construct()
    """The buffer in front of it."""
    links: Annotated[tuple[OtherLink, ...], LISTED] = ()
    """Further links, for routes over more than the bottleneck."""
    topology: Topology | None = None
    """A network for the traffic, instead of one link."""
    memory: Annotated[DataSize | None, _MEMORY] = such_as("16 MB")
    """A switch's packet memory, shared by the queues that set alpha."""
    traffic: Annotated[tuple[Traffic, ...], Field(min_length=1), LISTED]
    """The classes of traffic; at least one."""
    measure: Measure = Measure.model_construct()
    """The measured window."""
    goals: Goals = Goals.model_construct()
    """What the buffer must reach."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        # Frozen is what others see: until here no one has seen it.
        self.__dict__["traffic"] = with_starts(self.traffic, self.measure)
        self._count_framed_packets()
        consistency.check(self)
        return self

    def _count_framed_packets(self) -> None:
        """Let the capacity of links with framing be that for this scenario's full packets."""
        if self.link.framing is None and all(each.framing is None for each in self.links):
            return
        link = self.link.with_packets(int(self.packet))
        links = tuple(each.with_packets(int(self.at_link(each.name).packet)) for each in self.links)
        self.__dict__.update(link=link, links=links)

    def at_link(self, link: str = BOTTLENECK) -> CrossingFlows:
        """Flows that count at "bottleneck", "reverse" or one of ``links``; else KeyError."""
        return count_crossing(self)[link]

    @property
    def class_names(self) -> tuple[str, ...]:
        """Name of each class in answers: its own name, else its kind and index."""
        return consistency.class_names(self.traffic)

    @property
    def n_flows(self) -> int:
        """n of the laws: flows, or users, of the `persistent` classes; may be 0."""
        return self.at_link().n_flows

    @property
    def persistent(self) -> tuple[Long, ...] | tuple[Session | Requests, ...]:
        """Classes that cross the bottleneck with long flows; without such classes, users."""
        return self.at_link().persistent

    @property
    def crossing(self) -> tuple[Traffic, ...]:
        """Classes whose data crosses the bottleneck; may be empty."""
        return self.at_link().classes

    @property
    def mean_rtt(self) -> Duration:
        """Mean two-way propagation delay, in seconds, over the flows that count at the bottleneck.

        These are the `persistent` ones; without them, short flows as they arrive; without TCP data,
        see `CrossingFlows.mean_rtt`.
        """
        return self.at_link().mean_rtt

    @property
    def packet(self) -> DataSize:
        """Mean size of a full packet over the flows that count, in whole bytes."""
        return self.at_link().packet

    @property
    def bdp_packets(self) -> float:
        """Bandwidth-delay product: ``mean_rtt`` times the link's rate, in mean packets."""
        return self.at_link().bdp_packets

    @property
    def buffer_packets(self) -> int:
        """Packets that may wait in the queue, without the one on the wire.

        With class queues, the size of each one without its own size; `with_buffer` sets it.
        """
        return self.at_link().packets(self.queue.size)

    def queue_packets(self, link: str) -> int:
        """Packets that may wait before a link; "reverse" has the bottleneck's size."""
        queue = self.queue_at(link)
        if not queue.classes:
            return self.at_link(link).packets(queue.size)
        return sum(packets for packets, _ in self.class_limits(link))

    def class_limits(self, link: str = BOTTLENECK) -> list[tuple[int, DataSize]]:
        """For each class queue before a link: packets that may wait, and their size."""
        here, queue = self.at_link(link), self.queue_at(link)
        limits = []
        for part, own in zip(queue.classes, self.class_counts(link), strict=True):
            if part.size is not None:
                limits.append((own.packets(part.size), own.packet))
                continue
            packets = here.packets(queue.size)
            share = packets if part.share is None else max(1, round(part.share * packets))
            limits.append((share, here.packet))
        return limits

    def class_counts(self, link: str = BOTTLENECK) -> list[CrossingFlows]:
        """Flows that count at each class queue before a link: those of its own traffic."""
        placed = list(zip(self.traffic, self.class_queue_of(link), strict=True))
        return [
            self.at_link(link).part([group for group, place in placed if place == index])
            for index in range(len(self.queue_at(link).classes))
        ]

    def class_queue_of(self, link: str = BOTTLENECK) -> list[int]:
        """Index of each traffic class's class queue before a link; 0 if it does not cross it."""
        placed = queue_of_traffic(self.queue_at(link).classes, self.class_names)
        return [place or 0 for place in placed]

    @property
    def largest_packet(self) -> int:
        """The largest packet of any class, bytes."""
        return max(group.largest_packet for group in self.traffic)

    @property
    def two_bursts(self) -> float:
        """Bytes of two bursts of hosts: 1.05 ms at line rate, at most 64 KiB each (GSO)."""
        return min(1.05e-3 * float(self.link.capacity) / 8, 128 << 10)

    def queue_at(self, link: str) -> Queue:
        """The queue before a link; "reverse" has the bottleneck's."""
        return next((place.queue for place in self.links if place.name == link), self.queue)

    def with_buffer(self, packets: int) -> Scenario:
        """Return the same scenario with another buffer. Raises ScenarioError below 1 packet."""
        if not isinstance(packets, SupportsIndex) or index(packets) < 1:
            raise ScenarioError("out-of-range.packets", field="packets", value=packets)
        return self.with_queue({"size": BufferSize(float(packets), "packets")})

    def with_class_buffers(self, packets: Mapping[str, int]) -> Scenario:
        """Return the same scenario with so many packets in the class queues of these names."""
        classes = list(self.queue.classes)
        for place, (_, packet) in enumerate(self.class_limits()):
            part = classes[place]
            if part.name in packets:
                size = BufferSize(float(packets[part.name]), "packets")
                if part.discipline != "drop-tail":  # it counts bytes: those of its sizing
                    size = BufferSize(float(packets[part.name] * int(packet)), "bytes")
                classes[place] = part.model_copy(update={"size": size})
        return self.with_queue({"classes": tuple(classes)})

    def with_queue(self, changes: Mapping[str, object]) -> Scenario:
        """Return the same scenario with other fields of its queue, which are not checked."""
        return self.model_copy(update={"queue": self.queue.model_copy(update=changes)})

    def with_traffic(self, traffic: Iterable[Traffic]) -> Scenario:
        """Return the same scenario with other traffic, which is not checked."""
        return self.model_copy(update={"traffic": tuple(traffic)})

    def with_link(self, link: Link) -> Scenario:
        """Return the same scenario with another link, which is not checked."""
        return self.model_copy(update={"link": link})

    def with_measure(self, measure: Measure) -> Scenario:
        """Return the same scenario with another warm-up and window."""
        return self.model_copy(update={"measure": measure})

    @property
    def flows_uncertain(self) -> bool:
        """Whether a class has a range of flows."""
        return any(isinstance(g, Standing) and g.flows.is_range for g in self.traffic)

    def at_flows(self, end: End) -> Scenario:
        """Return the same scenario with every range of flows at its low or high end."""
        return self.with_traffic(
            g.model_copy(update={"flows": g.flows.end(end)}) if isinstance(g, Standing) else g
            for g in self.traffic
        )

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of the files that the scenario reads."""
        read = [group.file for group in self.traffic if isinstance(group, Replay | Transfers)]
        lists = [file.path for file in read if file is not None]
        traces = [link.rate_trace for link in (self.link, *self.links) if link.rate_trace]
        of_network = () if self.topology is None else self.topology.files
        of_traces = (trace.file.path for trace in traces if trace.file is not None)
        return (*lists, *of_traces, *of_network)

    def replace(self, changes: Mapping[str, object]) -> Scenario:
        """Return another scenario with new values at dotted paths; it is checked as a whole.

        Parameters
        ----------
        changes
            Such as ``{"queue.size": "64 packets", "traffic.0.flows": 200}``. Indices of lists start
            at 0; values are those that the classes accept; None removes a value, a table or an
            entry.

        Raises ScenarioError: an invalid path or value.
        """
        tree = as_tree(self)
        replace(tree, changes)
        return Scenario.from_dict(tree)

    def to_dict(self, *, folder: str | None = None, defaults: bool = True) -> dict[str, Any]:
        """Return data for JSON; quantities are text with units, unset goals are omitted.

        Relative paths in it start at the current folder, or at ``folder``. Without ``defaults`` it
        has what was written alone.
        """
        data = self.model_dump(
            mode="json", exclude_none=True, exclude_unset=not defaults, context={FOLDER: folder}
        )
        kinds = zip(self.traffic, data.get("traffic", ()), strict=True)
        return data | {"traffic": [{"kind": group.kind} | table for group, table in kinds]}

    def to_toml(self, *, folder: str | None = None) -> str:
        """Return TOML with every field, as written by `save`."""
        import tomli_w

        return tomli_w.dumps(self.to_dict(folder=folder))

    def save(self, path: str | PathLike[str]) -> None:
        """Write a scenario file atomically; `forebay.load` reads back an equal scenario.

        Raises ScenarioError: the file cannot be written.
        """
        text = self.to_toml(folder=os.path.dirname(os.path.abspath(path)))
        try:
            with replacing(path) as file:
                file.write(text.encode())
        except OSError as error:
            raise ScenarioError(
                "file-unwritable", file=os.fspath(path), why=error.strerror
            ) from None

    def __repr__(self) -> str:
        flows = ", ".join(f"{g.flows} {g.kind}" if g.flows else g.kind for g in self.traffic[:3])
        more = ", …" if len(self.traffic) > 3 else ""
        name = self.name if len(self.name) <= 60 else self.name[:59] + "…"
        queue = "network" if self.topology else f"{self.queue.discipline} {self.queue.size}"
        return f'<Scenario "{name}": {self.link.rate}, {queue}, {flows}{more}>'

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """Return the link, queue, classes of traffic, window and goals, with what was written."""
        cells = (map(escape, row) for row in _rows(self))
        rows = "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in cells)
        return f"<div><b>{escape(self.name)}</b><table><tbody>{rows}</tbody></table></div>"

    @property
    def foreign_controls(self) -> dict[str, foreign.Installed]:
        """Its congestion controls that are not the simulator's own, by name.

        Raises ScenarioError: one has been removed since the scenario was made.
        """
        tcp = [group for group in self.traffic if isinstance(group, Tcp)]
        names = {name for group in tcp for name in group.control_names if not is_ours(name)}
        controls = {name: foreign.find(name) for name in sorted(names)}
        for name, control in controls.items():
            if control is None:
                raise ScenarioError("unknown-name.removed-control", value=name)
        return {name: control for name, control in controls.items() if control is not None}

    def sha256(self) -> str:
        """Return the hash of the meaning, independent of layout and units.

        Of a control from outside its library counts, not its name alone. Hosts without offload have
        the hash of scenarios from before there was any.
        """
        meaning = self.model_dump(mode="python", exclude_none=True)
        for group, data in zip(self.traffic, meaning["traffic"], strict=True):
            data.pop("offload", None)
            if isinstance(group, Tcp) and group.offloads:
                data["offload"] = "on"
        if outside := self.foreign_controls:
            meaning["foreign_controls"] = {name: each.sha256 for name, each in outside.items()}
        text = json.dumps(meaning, sort_keys=True, default=lambda part: part.canonical())
        return hashlib.sha256(text.encode()).hexdigest()


_last: tuple[Scenario, str, str] | None = None


def document_and_hash(scenario: Scenario) -> tuple[dict[str, Any], str]:
    """Return `Scenario.to_dict` and `Scenario.sha256`; those of the last scenario are kept.

    Each call returns a dict of its own. A scenario that reads files is not kept, because their
    paths depend on the current folder.
    """
    global _last
    if scenario.files:
        return scenario.to_dict(), scenario.sha256()
    known = _last
    if known is None or known[0] is not scenario:
        known = _last = (scenario, json.dumps(scenario.to_dict()), scenario.sha256())
    document: dict[str, Any] = json.loads(known[1])
    return document, known[2]


_MOST, _FEW = 12, 3


def _rows(scenario: Scenario) -> Iterator[tuple[str, str]]:
    written = scenario.to_dict(defaults=False)
    if scenario.topology is not None:
        yield "network", _words(written["topology"])
    yield "link", _words(written["link"])
    yield "queue", _words({"size": str(scenario.queue.size)} | written.get("queue", {}))
    named = list(zip(scenario.class_names, written["traffic"], strict=True))
    for name, table in named[:_MOST]:
        yield name, _class(table)
    if len(named) > _MOST:
        yield "", f"and {len(named) - _MOST} more classes"
    measure = scenario.measure
    yield "measured", f"{measure.duration} after {measure.warmup}"
    if written.get("goals"):
        yield "goals", _words(written["goals"])


def _class(table: dict[str, object]) -> str:
    listed = table.pop("transfers", ())
    known = f"{len(listed)} transfers" if isinstance(listed, list) and listed else ""
    return ", ".join(filter(None, (known, _words(table))))


def _words(table: dict[str, object]) -> str:
    return ", ".join(f"{name} {_value(value)}" for name, value in table.items())


def _value(value: object) -> str:
    if isinstance(value, dict):
        if list(value) == ["uniform"]:
            return " to ".join(map(str, value["uniform"]))
        return f"({_words(value)})"
    if isinstance(value, list):
        return ", ".join(map(_value, value)) if len(value) <= _FEW else f"{len(value)} values"
    return str(value)
