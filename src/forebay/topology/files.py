"""Networks and matrices from files: GraphML, SNDlib XML, GML, REPETITA; matrices in CSV.

XML is parsed by defusedxml first, which refuses entities, because they can expand without limit.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from forebay.scenario import Rate, ScenarioError
from forebay.scenario.topology import NetworkFile
from forebay.topology import graph, graphml
from forebay.topology.graph import DEMANDS, RATES, Adjacency, in_range, named, place
from forebay.words import Fact

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_FILE = "topology.file"
_GML = re.compile(rb"\s*((#[^\n]*|[A-Za-z_]\w*\s+(\"[^\"]*\"|[\w.+-]+))\s+)*graph\s*\[")
_REPETITA = re.compile(rb"\s*NODES\s+\d+\s")


def read(file: NetworkFile, unit_bps: float | None = None) -> Adjacency:
    """Read a network's file, by what is in it.

    Parameters
    ----------
    unit_bps : what 1 is of capacities without a unit and of SNDlib's demands, bit/s; None: what
        the file says, or a guess, which is noted.

    Raises ScenarioError.
    """
    head = file.content[:65536].removeprefix(b"\xef\xbb\xbf")
    if _GML.match(head):
        nodes, edges, directed = parse(file)
        return graphml.from_nodes(nodes, edges, one_way=directed, unit_bps=unit_bps)
    if _REPETITA.match(head):
        return read_repetita(file)
    if head.lstrip().startswith(b"?SNDlib native format"):
        raise ScenarioError("topology.native-sndlib", field=_FILE, path=file.path)
    root = _root(file)
    name = root.tag.rpartition("}")[2]
    if name == "graphml":
        return graphml.read(file, root, unit_bps)
    if name == "network":
        return read_sndlib(file, root, unit_bps)
    raise ScenarioError("topology.other-xml", field=_FILE, path=file.path, name=name)


def read_matrix(file: NetworkFile, names: dict[str, int]) -> list[tuple[int, int, float]]:
    """Read ``source,target,weight`` lines. Raises ScenarioError."""
    where = "topology.demand_file"
    try:
        rows = list(csv.reader(io.StringIO(file.content.decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ScenarioError(
            "topology.no-csv", field=where, path=file.path, why=str(error)
        ) from None
    if not rows or [cell.strip() for cell in rows[0]] != ["source", "target", "weight"]:
        raise ScenarioError("topology.no-header", field=where, path=file.path)
    demands = [_entry(row, line, file.path, names) for line, row in enumerate(rows[1:], 2) if row]
    if not demands:
        raise ScenarioError("topology.no-demands", field=where, path=file.path)
    return demands


def _entry(row: list[str], line: int, path: str, names: dict[str, int]) -> tuple[int, int, float]:
    try:
        source, target, text = (cell.strip() for cell in row)
        weight = float(text)
    except ValueError:
        weight = math.nan
    where = "topology.demand_file"
    if not DEMANDS[0] <= weight <= DEMANDS[1]:
        raise ScenarioError("topology.line", field=where, path=path, line=line, most=DEMANDS[1])
    ends = [graph.number_of(name, names, where) for name in (source, target)]
    return ends[0], ends[1], weight


def _root(file: NetworkFile) -> Element:
    try:
        root: Element = fromstring(file.content, forbid_dtd=False)
    except DefusedXmlException:
        raise ScenarioError("topology.entities", field=_FILE, path=file.path) from None
    except (ParseError, ValueError, LookupError) as error:
        why = str(error)
        raise ScenarioError("topology.no-xml", field=_FILE, path=file.path, why=why) from None
    return root


_TOKEN = re.compile(r'"[^"]*"|[\[\]]|[^\s\[\]"]+')
_MOST_DEEP = 64
_Pairs = list[tuple[str, Any]]


def parse(
    file: NetworkFile,
) -> tuple[dict[int, dict[str, Any]], list[tuple[int, int, dict[str, Any]]], bool]:
    """Return nodes by id, edges, and whether they have a direction. Raises ScenarioError."""
    pairs = _graph(file)
    nodes = {_id(file, of, "id", "node"): of for of in _lists(pairs, "node")}
    if not nodes:
        raise ScenarioError("topology.no-gml-nodes", field=_FILE, path=file.path)
    edges = []
    for of in _lists(pairs, "edge"):
        ends = _id(file, of, "source", "edge"), _id(file, of, "target", "edge")
        for end in ends:
            if end not in nodes:
                raise ScenarioError("topology.edge-to-nowhere", field=_FILE, end=end)
        edges.append((*ends, of))
    return nodes, edges, dict(pairs).get("directed") == "1"


def _graph(file: NetworkFile) -> _Pairs:
    try:
        text = file.content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = file.content.decode("latin-1")  # the standard's own: ASCII and entities
    lines = (line for line in text.split("\n") if not line.lstrip().startswith("#"))
    pairs = _pairs(file, _TOKEN.findall("\n".join(lines)))
    graphs = [value for key, value in pairs if key == "graph" and isinstance(value, list)]
    if not graphs:
        raise ScenarioError("topology.no-gml-graph", field=_FILE, path=file.path)
    first: _Pairs = graphs[0]
    return first


def _pairs(file: NetworkFile, tokens: list[str]) -> _Pairs:
    """Return keys and values; a list in brackets is a list of pairs again."""
    levels: list[_Pairs] = [[]]
    key = ""
    for token in tokens:
        if token == "[" and key and len(levels) < _MOST_DEEP:
            inside: _Pairs = []
            levels[-1].append((key, inside))
            levels.append(inside)
            key = ""
        elif token == "]" and not key and len(levels) > 1:
            levels.pop()
        elif token in "[]":
            raise ScenarioError(
                "topology.no-gml", field=_FILE, path=file.path, token=token, after=key[:40]
            )
        elif not key:
            key = token
        else:
            levels[-1].append((key, unescape(token.strip('"'))))
            key = ""
    if key or len(levels) > 1:
        raise ScenarioError("topology.half-a-gml", field=_FILE, path=file.path)
    return levels[0]


def _lists(pairs: _Pairs, name: str) -> list[dict[str, Any]]:
    return [dict(value) for key, value in pairs if key == name and isinstance(value, list)]


def _id(file: NetworkFile, of: dict[str, Any], key: str, what: str) -> int:
    try:
        return int(str(of.get(key)))
    except ValueError:
        said = str(of.get(key))[:40]
        raise ScenarioError(
            "topology.gml-id", field=_FILE, path=file.path, key=key, of=what, said=said
        ) from None


_NODE, _EDGE = 3, 6  # words of a line


def read_repetita(file: NetworkFile) -> Adjacency:
    """Read the NODES and EDGES of a file. Raises ScenarioError."""
    network, taken = Adjacency(), set[str]()
    for number, words in _rows(file, "NODES", _NODE):
        name = graph.unused(named(words[0])[: graph.LONGEST] or str(number), str(number), taken)
        network.router(name, place=place(words[1], words[2], name))
    weights = set[str]()
    for number, words in _rows(file, "EDGES", _EDGE):
        here, there = (_router(file, network, word, number) for word in words[1:3])
        ends = f"{network.names[here]}->{network.names[there]}"
        kbits = (1e-3 * RATES[0], 1e-3 * RATES[1])
        rate = 1e3 * (in_range(words[4], kbits, Fact("network.kbits", ends=ends)) or 0.0)
        micros = (1e6 * graph.DELAYS[0], 1e6 * graph.DELAYS[1])
        delay = 1e-6 * (in_range(words[5], micros, Fact("network.micros", ends=ends)) or 0.0)
        network.link(here, there, graph.CORE, rate, delay, one_way=True)
        weights.add(words[3])
    if len(weights) > 1:
        network.notes.append(Fact("network.weights-unused"))
    return network


def _rows(file: NetworkFile, title: str, least: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the words of each row below a title and its line of names."""
    inside = False
    for number, line in enumerate(file.content.decode("utf-8", "replace").splitlines(), 1):
        words = line.split()
        if len(words) == 2 and words[0].isupper() and words[1].isdigit():
            inside = words[0] == title
        elif inside and words and words[0] != "label":
            if len(words) < least:
                raise ScenarioError(
                    "topology.short-line", field=_FILE, path=file.path, line=number,
                    words=len(words), least=least, title=title,
                )  # fmt: skip
            yield number, words


def _router(file: NetworkFile, network: Adjacency, word: str, line: int) -> int:
    if not (word.isdigit() and len(word) < 10 and int(word) < len(network.names)):
        raise ScenarioError(
            "topology.no-node", field=_FILE, path=file.path, line=line, word=word[:20],
            last=len(network.names) - 1,
        )  # fmt: skip
    return int(word)


_MBIT = 1e6
_UNITS = {
    "BITPERSEC": 1.0, "KBITPERSEC": 1e3, "MBITPERSEC": _MBIT, "GBITPERSEC": 1e9,
    "BPS": 1.0, "KBPS": 1e3, "MBPS": _MBIT, "GBPS": 1e9,
    "BIT/S": 1.0, "KBIT/S": 1e3, "MBIT/S": _MBIT, "GBIT/S": 1e9,
}  # fmt: skip


def read_sndlib(file: NetworkFile, root: Element, unit_bps: float | None) -> Adjacency:
    """Convert SNDlib's XML: the installed module, else the largest that can be added."""
    network, names = Adjacency(), dict[str, int]()
    capacities = _Capacities(*_unit(root, unit_bps))
    network.demand_unit_bps = capacities.unit_bps
    space = root.tag[: root.tag.find("}") + 1]
    for node in root.iter(f"{space}node"):
        name = named(node.get("id"))
        if not 0 < len(name) <= graph.LONGEST:
            raise ScenarioError("topology.id", field=_FILE, name=name[:60], most=graph.LONGEST)
        if name in names:
            raise ScenarioError("topology.same-id", field=_FILE, name=name)
        x, y = (node.findtext(f"{space}coordinates/{space}{axis}") for axis in "xy")
        names[name] = network.router(name, place=place(x, y, name))
    if not names:
        raise ScenarioError("topology.no-sndlib-nodes", field=_FILE)
    kinds = {nodes.get("coordinatesType") for nodes in root.iter(f"{space}nodes")}
    geographic = "geographical" in kinds
    for link in root.iter(f"{space}link"):
        here, there = _ends(link, space, names)
        if here == there:
            raise ScenarioError("topology.link-to-itself", field=_FILE, name=network.names[here])
        rate = capacities.of(link, space, f"{network.names[here]}->{network.names[there]}")
        delay = graph.light(network, here, there) if geographic else None
        network.link(here, there, graph.CORE, rate, delay)
    for demand in root.iter(f"{space}demand"):
        here, there = _ends(demand, space, names)
        text = demand.findtext(f"{space}demandValue", "")
        ends = f"{network.names[here]}->{network.names[there]}"
        what = Fact("network.demand", ends=ends)
        network.demands.append((here, there, in_range(text, DEMANDS, what) or 0.0))
    network.notes += capacities.notes(sum(demand[2] for demand in network.demands))
    return network


def _ends(element: Element, space: str, names: dict[str, int]) -> tuple[int, int]:
    here, there = (
        graph.number_of(named(element.findtext(f"{space}{end}")), names, _FILE)
        for end in ("source", "target")
    )
    return here, there


@dataclass(slots=True)
class _Capacities:
    """The capacities of a file's links, and what is to be said of them.

    Attributes
    ----------
    unit_bps : bit/s of 1; ``written`` is whether the file or the scenario says so.
    rates : those of the links that have one.
    added, unlimited : links with modules that can be added alone; above 10 Tbit/s.
    """

    unit_bps: float
    written: bool
    rates: list[float] = field(default_factory=list)
    added: int = 0
    unlimited: int = 0

    def of(self, link: Element, space: str, ends: str) -> float | None:
        """Return bit/s; None if none is given. A module of 0 is none."""
        installed = link.findall(f"{space}preInstalledModule/{space}capacity")
        rate = self._largest(installed, ends)
        if not rate:
            rate = self._largest(list(link.iter(f"{space}capacity")), ends)
            self.added += bool(rate)
        if not rate and link.find(f".//{space}capacity") is not None:
            raise ScenarioError("topology.no-capacity", field=_FILE, ends=ends)
        if rate > RATES[1]:  # SNDlib writes 1e9 for "unlimited"
            self.unlimited += 1
            rate = RATES[1]
        elif rate:
            self.rates.append(rate)
        if rate and rate < RATES[0]:
            raise ScenarioError("topology.capacity", field=_FILE, ends=ends, rate=rate, of=RATES)
        return rate or None

    def _largest(self, modules: list[Element], ends: str) -> float:
        what = Fact("network.capacity", ends=ends)
        values = (in_range(module.text or "", DEMANDS, what) for module in modules)
        return self.unit_bps * max((value or 0.0 for value in values), default=0.0)

    def notes(self, demand: float) -> Iterator[Fact]:
        """Yield what a reader of the answer has to know of the file's numbers."""
        if not self.written and (self.rates or demand):
            rates = Fact("network.no-capacities")
            if self.rates:
                low, high = Rate(min(self.rates)), Rate(max(self.rates))
                kind = "network.one-capacity" if low == high else "network.capacities"
                rates = Fact(kind, low=low, high=high)
            total = Rate(float(f"{self.unit_bps * demand:.4g}"))
            demands = Fact("network.demands", total=total) if demand else ""
            yield Fact("network.no-unit", rates=rates, demands=demands)
        if self.added:
            yield Fact("network.not-installed", links=self.added)
        if self.unlimited:
            yield Fact("network.unlimited", links=self.unlimited, taken=Rate(RATES[1]))


def _unit(root: Element, given: float | None) -> tuple[float, bool]:
    """Return bit/s of 1, and whether the scenario or the file's <unit> says so."""
    if given is not None:
        return given, True
    for element in root.iter():
        if element.tag.rpartition("}")[2] == "unit":
            unit = _UNITS.get("".join((element.text or "").split()).upper())
            if unit is not None:
                return unit, True
    return _MBIT, False
