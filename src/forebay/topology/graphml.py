"""GraphML: the Topology Zoo's, and what yEd writes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forebay.scenario import Rate, ScenarioError
from forebay.scenario.topology import NetworkFile
from forebay.topology import graph
from forebay.topology.graph import DELAYS, RATES, Adjacency, in_range, named
from forebay.words import Fact

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_PLACES = (("longitude", "lon", "lng"), ("latitude", "lat"))
_RAW_RATE, _RAW_DELAY = "linkspeedraw", "delay_s"  # bit/s and s
_RATES = ("capacity", "bandwidth", "bw")
_DELAYS, _LENGTHS = ("latency", "delay"), ("dist", "distance", "length")
_NAMES = {"id", "label", "hosts", "link_class", "source", "target", "graphics", "directed"}
"""Keys that are read elsewhere, or only draw."""

_VALUE = re.compile(r"(-?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*([A-Za-zµ/]*)")
_PER_S = re.compile(r"([kKMGT]?)(?:bit/s|bits/s|bps|b/s|bit)?")
_SCALES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_METRES = {"km": 1e3, "m": 1.0, "mi": 1609.344}
_PLAIN_BITS = 1e6
"""A capacity without a unit above this is in bit/s: no link has 10^12 bit/s in Mbit/s."""
_MOST_NAMED = 6


def lowered(data: dict[str, Any]) -> dict[str, Any]:
    """Return a node's or link's values by their keys in lower case; without empty ones."""
    return {key.lower(): value for key, value in data.items() if value not in (None, "")}


def place_of(data: dict[str, Any]) -> tuple[Any, Any]:
    """Return longitude and latitude as they are written; None where there is none."""
    x, y = (next((data[key] for key in keys if key in data), None) for keys in _PLACES)
    return x, y


def _first(data: dict[str, Any], keys: Iterable[str]) -> tuple[str, Any]:
    """Return the first of some keys whose value is a number with or without a unit."""
    pairs = ((key, data[key]) for key in keys if key in data)
    return next(((key, value) for key, value in pairs if _split(value)), ("", None))


def _split(value: Any) -> tuple[float, str] | None:
    match = _VALUE.fullmatch(str(value).strip())
    return None if match is None else (float(match[1]), match[2])


@dataclass(slots=True)
class LinkValues:
    """Rates and delays of a file's links, and what a reader has to know of them.

    ``unit_bps`` is what 1 of a capacity without unit is; None: a guess, which is said.
    """

    unit_bps: float | None
    guessed: dict[str, Fact] = field(default_factory=dict)
    plain: float = 0.0

    def look(self, links: Iterable[dict[str, Any]]) -> None:
        """Find the largest capacity without a unit, by which the unit is guessed."""
        for data in links:
            parts = _split(_first(data, _RATES)[1])
            if parts is not None and not parts[1]:
                self.plain = max(self.plain, parts[0])

    def rate(self, data: dict[str, Any], ends: str) -> float | None:
        """Return bit/s; None where there is none."""
        if _RAW_RATE in data:
            return in_range(data[_RAW_RATE], RATES, Fact("network.raw-rate", ends=ends))
        key, text = _first(data, _RATES)
        parts = _split(text)
        if parts is None:
            return None
        number, unit = parts
        scale = _PER_S.fullmatch(unit)
        if unit and scale is None:
            return in_range(text, RATES, Fact("network.value", key=key, ends=ends))
        factor = _SCALES[scale[1].lower()] if unit and scale is not None else self._plain(key)
        return in_range(number * factor, RATES, Fact("network.bits", key=key, ends=ends))

    def _plain(self, key: str) -> float:
        if self.unit_bps is not None:
            return self.unit_bps
        factor, unit = (1.0, "bit/s") if self.plain >= _PLAIN_BITS else (1e6, "Mbit/s")
        most = Rate(self.plain * factor)
        self.guessed[key] = Fact("network.guessed-rate", key=key, unit=unit, most=most)
        return factor

    def delay(self, data: dict[str, Any], ends: str) -> float | None:
        """Return seconds, by a delay or a length of fibre; None where there is neither."""
        if _RAW_DELAY in data:
            return in_range(data[_RAW_DELAY], DELAYS, Fact("network.raw-delay", ends=ends))
        for keys, units, usual, per in (
            (_DELAYS, _TIMES, "ms", 1.0), (_LENGTHS, _METRES, "km", 1e-3 / graph.KM_PER_S),
        ):  # fmt: skip
            key, text = _first(data, keys)
            parts = _split(text)
            if parts is not None and (not parts[1] or parts[1] in units):
                if not parts[1]:
                    self.guessed[key] = Fact("network.guessed-delay", key=key, unit=usual)
                seconds = parts[0] * units[parts[1] or usual] * per
                return in_range(seconds, DELAYS, Fact("network.seconds", key=key, ends=ends))
        return None

    def notes(self, nodes: list[dict[str, Any]], links: list[dict[str, Any]]) -> list[Fact]:
        """Return the units that were guessed, and the keys that were not read, with how many."""
        said = list(self.guessed.values())
        unread = Counter(
            [f"{key} of nodes" for data in nodes for key in data.keys() - _read_of_node(data)]
            + [f"{key} of links" for data in links for key in data.keys() - _read_of_link(data)]
        )
        if unread:
            named = [f"{key} ({many})" for key, many in unread.most_common(_MOST_NAMED)]
            rest = len(unread) - len(named)
            more = Fact("network.more-keys", more=rest) if rest else ""
            said.append(Fact("network.unread", named=", ".join(named), more=more))
        return said


def _read_of_node(data: dict[str, Any]) -> set[str]:
    return {*_NAMES, *(next((key for key in keys if key in data), "") for keys in _PLACES)}


def _read_of_link(data: dict[str, Any]) -> set[str]:
    rate = _RAW_RATE if _RAW_RATE in data else _first(data, _RATES)[0]
    delay = _RAW_DELAY if _RAW_DELAY in data else ""
    return {*_NAMES, rate, delay or _first(data, _DELAYS)[0] or _first(data, _LENGTHS)[0]}


def read(file: NetworkFile, root: Element, unit_bps: float | None = None) -> Adjacency:
    """Read the first graph of a file. Raises ScenarioError."""
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    _flatten(root)
    first = root.find("graph")
    if first is None or first.find("node") is None:
        raise ScenarioError("topology.no-graphml-nodes", field="topology.file", path=file.path)
    elements, way = first.findall("node"), first.get("edgedefault")
    number = {node.get("id"): index for index, node in enumerate(elements)}
    faults = {
        "network.edgedefault": way not in ("directed", "undirected"),
        "network.id-missing": None in number,
        "network.id-twice": len(number) < len(elements),
        "network.hyperedges": first.find("hyperedge") is not None,
    }
    for fault, holds in faults.items():
        if holds:
            raise ScenarioError(
                "topology.no-graphml", field="topology.file", path=file.path, why=Fact(fault)
            )
    keys = {owner: _keys(root, owner) for owner in ("node", "edge")}
    nodes = {
        index: {"id": node.get("id")} | _values(node, keys["node"])
        for index, node in enumerate(elements)
    }
    edges = []
    for edge in first.findall("edge"):
        for end in ("source", "target"):
            if edge.get(end) not in number:
                said = str(edge.get(end))[:60]
                raise ScenarioError("topology.edge", field="topology.file", end=end, said=said)
        ends = number[edge.get("source")], number[edge.get("target")]
        edges.append((*ends, _values(edge, keys["edge"])))
    return from_nodes(nodes, edges, one_way=way == "directed", unit_bps=unit_bps)


def _flatten(root: Element) -> None:
    """Put the nodes and edges of a group's own graph, as yEd draws groups, into the one around it.

    The group itself stays a node only where an edge ends at it.
    """
    ends = {edge.get(end) for edge in root.iter("edge") for end in ("source", "target")}
    for outer in root.findall("graph"):
        groups = [node for node in outer.iter("node") if node.find("graph") is not None]
        for node in groups:
            for inner in node.findall("graph"):
                outer.extend(child for child in inner if child.tag in {"node", "edge"})
                node.remove(inner)
            if node.get("id") not in ends and node in list(outer):
                outer.remove(node)


def _keys(root: Element, owner: str) -> dict[str | None, tuple[str, str]]:
    """Return the name and the default of each key of nodes or edges; yEd's have a type alone."""
    return {
        key.get("id"): (
            key.get("attr.name") or key.get("yfiles.type") or key.get("id") or "",
            key.findtext("default") or "",
        )
        for key in root.iter("key")
        if key.get("for", "all") in ("all", owner)
    }


def _values(element: Element, keys: dict[str | None, tuple[str, str]]) -> dict[str, Any]:
    """Return the values of a node or an edge by name, as they are written; of drawings a label."""
    values = {name: default for name, default in keys.values() if default}
    drawn = ((label.text or "").strip() for label in element.iter("NodeLabel"))
    if shown := next(filter(None, drawn), ""):
        values["label"] = shown
    for data in element.findall("data"):
        text = (data.text or "").strip()
        if data.get("key") in keys and text and not len(data):
            values[keys[data.get("key")][0]] = text
    return values


def from_nodes(
    nodes: dict[int, dict[str, Any]],
    edges: list[tuple[int, int, dict[str, Any]]],
    *,
    one_way: bool,
    unit_bps: float | None = None,
) -> Adjacency:
    """Convert a graph; nodes without a label, or with a repeated one, use their id as name."""
    network, numbers = Adjacency(), dict[int, int]()
    taken, values = set[str](), LinkValues(unit_bps)
    nodes = {index: lowered(data) for index, data in nodes.items()}
    links = [lowered(data) for *_, data in edges]
    values.look(links)
    for index, data in nodes.items():
        own = named(data.get("id")) or str(index)
        name = graph.unused(named(data.get("label"))[: graph.LONGEST] or own, own, taken)
        what = Fact("network.hosts", name=name)
        hosts = in_range(data.get("hosts"), graph.HOSTS, what, whole=True)
        numbers[index] = network.router(name, int(hosts or 0), graph.place(*place_of(data), name))
    for (source, target, _), data in zip(edges, links, strict=True):
        here, there = numbers[source], numbers[target]
        if here != there:
            ends = f"{network.names[here]}->{network.names[there]}"
            rate, delay = values.rate(data, ends), values.delay(data, ends)
            if delay is None:
                delay = graph.light(network, here, there)
            name = named(data.get("link_class")) or graph.CORE
            network.link(here, there, name, rate, delay, one_way=one_way)
    network.notes += values.notes(list(nodes.values()), links)
    return network
