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

from forebay.scenario import Rate
from forebay.scenario.topology import NetworkFile
from forebay.topology import graph, graphml
from forebay.topology.graph import DEMANDS, RATES, Adjacency, in_range, named, place, refuse

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

FORMATS = "GraphML, SNDlib XML, GML or REPETITA"
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
        wrong = f"{file.path} is in SNDlib's native format"
        raise refuse(wrong, "write the path of the same network's SNDlib XML file", "file")
    root = _root(file)
    name = root.tag.rpartition("}")[2]
    if name == "graphml":
        return graphml.read(file, root, unit_bps)
    if name == "network":
        return read_sndlib(file, root, unit_bps)
    raise refuse(f"{file.path} is <{name}>", f"write the path of a {FORMATS} file", "file")


def read_matrix(file: NetworkFile, names: dict[str, int]) -> list[tuple[int, int, float]]:
    """Read ``source,target,weight`` lines. Raises ScenarioError."""
    where = "demand_file"
    try:
        rows = list(csv.reader(io.StringIO(file.content.decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error) as error:
        raise refuse(f"{file.path} is not CSV ({error})", "write CSV in UTF-8", where) from None
    if not rows or [cell.strip() for cell in rows[0]] != ["source", "target", "weight"]:
        wrong = f"{file.path} does not begin with a header"
        raise refuse(wrong, "write source,target,weight in its first line", where)
    demands = [_entry(row, line, file.path, names) for line, row in enumerate(rows[1:], 2) if row]
    if not demands:
        raise refuse(f"{file.path} has no demand", "write a line source,target,weight", where)
    return demands


def _entry(row: list[str], line: int, path: str, names: dict[str, int]) -> tuple[int, int, float]:
    try:
        source, target, text = (cell.strip() for cell in row)
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not DEMANDS[0] <= weight <= DEMANDS[1]:
        hint = f"write source,target,weight with a weight of 0 to {DEMANDS[1]:g}"
        raise refuse(f"{path}: line {line} is not a demand", hint, "demand_file")
    ends = [graph.number_of(name, names, "demand_file") for name in (source, target)]
    return ends[0], ends[1], weight


def _root(file: NetworkFile) -> Element:
    try:
        root: Element = fromstring(file.content, forbid_dtd=False)
    except DefusedXmlException:
        wrong = f"{file.path} defines XML entities or names others' files"
        raise refuse(wrong, "write it without a DOCTYPE", "file") from None
    except (ParseError, ValueError, LookupError) as error:
        hint = f"write the path of a {FORMATS} file"
        raise refuse(f"{file.path} is not XML ({error})", hint, "file") from None
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
        raise refuse(f"{file.path} has no nodes", "write a GML file with a graph", "file")
    edges = []
    for of in _lists(pairs, "edge"):
        ends = _id(file, of, "source", "edge"), _id(file, of, "target", "edge")
        for end in ends:
            if end not in nodes:
                wrong = f"an edge ends at {end}, which is no node"
                raise refuse(wrong, "write the id of a node", "file")
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
        raise refuse(f"{file.path} has no graph", "write a GML file with one", "file")
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
            wrong = f'{file.path} is not GML: "{token}" after "{key[:40]}"'
            raise refuse(wrong, "write key value, or key [ ... ]", "file")
        elif not key:
            key = token
        else:
            levels[-1].append((key, unescape(token.strip('"'))))
            key = ""
    if key or len(levels) > 1:
        raise refuse(f"{file.path} is not GML: it ends early", "write the whole file", "file")
    return levels[0]


def _lists(pairs: _Pairs, name: str) -> list[dict[str, Any]]:
    return [dict(value) for key, value in pairs if key == name and isinstance(value, list)]


def _id(file: NetworkFile, of: dict[str, Any], key: str, what: str) -> int:
    try:
        return int(str(of.get(key)))
    except ValueError:
        wrong = f"{file.path}: the {key} of a {what} is {str(of.get(key))[:40]}"
        raise refuse(wrong, "write a whole number", "file") from None


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
        rate = 1e3 * (in_range(words[4], kbits, f"the kbit/s of {ends}") or 0.0)
        micros = (1e6 * graph.DELAYS[0], 1e6 * graph.DELAYS[1])
        delay = 1e-6 * (in_range(words[5], micros, f"the microseconds of {ends}") or 0.0)
        network.link(here, there, graph.CORE, rate, delay, one_way=True)
        weights.add(words[3])
    if len(weights) > 1:
        network.notes.append("the weights of its edges are not used: topology.metric is the length")
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
                wrong = f"{file.path}: line {number} has {len(words)} words"
                raise refuse(wrong, f"write {least} of them below {title}", "file")
            yield number, words


def _router(file: NetworkFile, network: Adjacency, word: str, line: int) -> int:
    if not (word.isdigit() and len(word) < 10 and int(word) < len(network.names)):
        wrong = f'{file.path}: line {line}: there is no node "{word[:20]}"'
        raise refuse(wrong, f"write 0 to {len(network.names) - 1}", "file")
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
            wrong = f'the id of a node is "{name[:60]}"'
            raise refuse(wrong, f"write 1 to {graph.LONGEST} characters", "file")
        if name in names:
            raise refuse(f'two nodes are "{name}"', "give each its own id", "file")
        x, y = (node.findtext(f"{space}coordinates/{space}{axis}") for axis in "xy")
        names[name] = network.router(name, place=place(x, y, name))
    if not names:
        raise refuse("there is no <node> in it", "write an SNDlib XML file", "file")
    kinds = {nodes.get("coordinatesType") for nodes in root.iter(f"{space}nodes")}
    geographic = "geographical" in kinds
    for link in root.iter(f"{space}link"):
        here, there = _ends(link, space, names)
        if here == there:
            wrong = f'a link leads from "{network.names[here]}" to itself'
            raise refuse(wrong, "write two routers", "file")
        rate = capacities.of(link, space, f"{network.names[here]}->{network.names[there]}")
        delay = graph.light(network, here, there) if geographic else None
        network.link(here, there, graph.CORE, rate, delay)
    for demand in root.iter(f"{space}demand"):
        here, there = _ends(demand, space, names)
        text = demand.findtext(f"{space}demandValue", "")
        what = f"demandValue of {network.names[here]}->{network.names[there]}"
        network.demands.append((here, there, in_range(text, DEMANDS, what) or 0.0))
    network.notes += capacities.notes(sum(demand[2] for demand in network.demands))
    return network


def _ends(element: Element, space: str, names: dict[str, int]) -> tuple[int, int]:
    here, there = (
        graph.number_of(named(element.findtext(f"{space}{end}")), names, "file")
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
            raise refuse(f"capacity of {ends} is 0 bit/s", "write one above 0, or none", "file")
        if rate > RATES[1]:  # SNDlib writes 1e9 for "unlimited"
            self.unlimited += 1
            rate = RATES[1]
        elif rate:
            self.rates.append(rate)
        if rate and rate < RATES[0]:
            wrong = f"capacity of {ends} is {rate:g} bit/s"
            raise refuse(wrong, f"write {RATES[0]:g} to {RATES[1]:g} bit/s", "file")
        return rate or None

    def _largest(self, modules: list[Element], ends: str) -> float:
        values = (in_range(module.text or "", DEMANDS, f"capacity of {ends}") for module in modules)
        return self.unit_bps * max((value or 0.0 for value in values), default=0.0)

    def notes(self, demand: float) -> list[str]:
        """Return what a reader of the answer has to know of the file's numbers."""
        said = []
        if not self.written and (self.rates or demand):
            many = "no capacities"
            if self.rates:
                low, high = Rate(min(self.rates)), Rate(max(self.rates))
                many = f"links of {low}" if low == high else f"links of {low} to {high}"
            offered = Rate(float(f"{self.unit_bps * demand:.4g}"))
            total = f", demands of {offered} together" if demand else ""
            field = 'topology.file_unit = "1 Gbit/s"'
            said.append(
                f"no unit in the file: read as Mbit/s ({many}{total}); {field} reads others"
            )
        for what, links, taken in (
            ("no installed", self.added, "the largest module that can be added"),
            ("unlimited", self.unlimited, f"{Rate(RATES[1])} taken"),
        ):
            if links:
                said.append(f"{what} capacity on {links} link{'' if links == 1 else 's'}: {taken}")
        return said


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
