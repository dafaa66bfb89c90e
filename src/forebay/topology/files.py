"""Networks and matrices from files: GraphML (the Topology Zoo's), SNDlib XML, CSV.

XML is parsed by defusedxml first, which refuses entities, because they can expand without limit.
"""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING, Any

from forebay.topology.adjacency import Adjacency
from forebay.topology.errors import refuse

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from forebay.scenario import NetworkFile

_CORE = "core"
_RATE_KEY = "LinkSpeedRaw"  # the Topology Zoo's, bit/s
_RATES, _DELAYS = (1e3, 1e13), (0.0, 60.0)  # bit/s and seconds, as in a scenario's own links
_HOSTS, _DEMANDS = (0, 10_000_000), (0.0, 1e18)
_LONGITUDE, _LATITUDE = 360.0, 90.0  # degrees; some count the longitude from 0 to 360
_LONGEST = 64  # characters of a router's name, as in a scenario's own links
_EARTH_KM = 6371.0
_KM_PER_S = 2.0e5  # light in fibre: two thirds of the speed in vacuum


def read(file: NetworkFile) -> Adjacency:
    """Read GraphML or SNDlib XML, by the root element. Raises ScenarioError."""
    root = _root(file)
    name = root.tag.rpartition("}")[2]
    if name == "graphml":
        return _graphml(file, root)
    if name == "network":
        return _sndlib(root)
    hint = "write the path of a GraphML or SNDlib XML file"
    raise refuse(f"{file.path} is <{name}>", hint, "file")


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
    found = [_entry(row, line, file.path, names) for line, row in enumerate(rows[1:], 2) if row]
    if not found:
        raise refuse(f"{file.path} has no demand", "write a line source,target,weight", where)
    return found


def number_of(name: str, names: dict[str, int], field: str) -> int:
    """Return a router's number. Raises ScenarioError for an unknown one."""
    if name not in names:
        hint = f"write the name of a router, such as {next(iter(names), 'one of links')}"
        raise refuse(f'there is no router "{name[:60]}"', hint, field)
    return names[name]


def _entry(row: list[str], line: int, path: str, names: dict[str, int]) -> tuple[int, int, float]:
    try:
        source, target, text = (cell.strip() for cell in row)
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not _DEMANDS[0] <= weight <= _DEMANDS[1]:
        hint = f"write source,target,weight with a weight of 0 to {_DEMANDS[1]:g}"
        raise refuse(f"{path}: line {line} is not a demand", hint, "demand_file")
    ends = [number_of(name, names, "demand_file") for name in (source, target)]
    return ends[0], ends[1], weight


def _root(file: NetworkFile) -> Element:
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root: Element = fromstring(file.content, forbid_dtd=False)
    except DefusedXmlException:
        wrong = f"{file.path} defines XML entities or names others' files"
        raise refuse(wrong, "write it without a DOCTYPE", "file") from None
    except (ParseError, ValueError, LookupError) as error:
        hint = "write the path of a GraphML or SNDlib XML file"
        raise refuse(f"{file.path} is not XML ({error})", hint, "file") from None
    return root


def _check_edges(root: Element) -> None:
    """Refuse an edge of GraphML to a node that is not there: the reader would add the node."""
    nodes = {node.get("id") for node in root.iter("node")}
    for edge in root.iter("edge"):
        for end in ("source", "target"):
            if edge.get(end) not in nodes:
                wrong = f'the {end} of an edge is "{str(edge.get(end))[:60]}", which is no node'
                raise refuse(wrong, "write the id of a <node>", "file")


def _graphml(file: NetworkFile, root: Element) -> Adjacency:
    import os
    import tempfile
    from xml.etree.ElementTree import tostring

    import rustworkx

    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    _check_edges(root)
    try:
        text = tostring(root, "utf-8")  # the reader knows no other encoding
    except RecursionError:
        wrong = f"{file.path} is not GraphML (elements in elements, too many times)"
        raise refuse(wrong, "write the path of a GraphML file", "file") from None
    with tempfile.NamedTemporaryFile(suffix=".graphml", delete=False) as copy:
        copy.write(text)
    try:
        graphs = rustworkx.read_graphml(copy.name)
    except Exception as error:
        wrong = f"{file.path} is not GraphML ({' '.join(str(error).split())[:80]})"
        raise refuse(wrong, "write the path of a GraphML file", "file") from None
    finally:
        os.unlink(copy.name)
    if not graphs or not graphs[0].num_nodes():
        raise refuse(f"{file.path} has no nodes", "write a GraphML file with a graph", "file")
    return _from_rustworkx(graphs[0])


def _from_rustworkx(graph: Any) -> Adjacency:
    """Convert a graph; nodes without a label, or with a repeated one, use their id as name."""
    import rustworkx

    made, numbers = Adjacency(), dict[int, int]()
    taken = set[str]()
    for index in graph.node_indices():
        data = graph[index]
        own = _named(data.get("id")) or str(index)
        name = _named(data.get("label"))[:_LONGEST] or own
        name = _unused(name, own, taken)
        hosts = _in_range(data.get("hosts"), _HOSTS, f'hosts of "{name}"', whole=True)
        place = _place(data.get("Longitude"), data.get("Latitude"), name)
        numbers[index] = made.router(name, int(hosts or 0), place)
    one_way = isinstance(graph, rustworkx.PyDiGraph)
    for source, target, data in graph.weighted_edge_list():
        here, there = numbers[source], numbers[target]
        if here != there:
            ends = f"{made.names[here]}->{made.names[there]}"
            rate = _in_range(data.get(_RATE_KEY), _RATES, f"{_RATE_KEY} of {ends}")
            delay = _in_range(data.get("delay_s"), _DELAYS, f"delay_s of {ends}")
            if delay is None:
                delay = _light(made, here, there)
            name = _named(data.get("link_class")) or _CORE
            made.link(here, there, name, rate, delay, one_way=one_way)
    return made


def _sndlib(root: Element) -> Adjacency:
    """Convert SNDlib's XML: capacities and demands in Mbit/s; the largest of several modules."""
    made, names = Adjacency(), dict[str, int]()
    space = root.tag[: root.tag.find("}") + 1]
    for node in root.iter(f"{space}node"):
        name = _named(node.get("id"))
        if not 0 < len(name) <= _LONGEST:
            wrong = f'the id of a node is "{name[:60]}"'
            raise refuse(wrong, f"write 1 to {_LONGEST} characters", "file")
        if name in names:
            raise refuse(f'two nodes are "{name}"', "give each its own id", "file")
        x, y = (node.findtext(f"{space}coordinates/{space}{axis}") for axis in "xy")
        names[name] = made.router(name, place=_place(x, y, name))
    if not names:
        raise refuse("there is no <node> in it", "write an SNDlib XML file", "file")
    geographic = any(
        nodes.get("coordinatesType") == "geographical" for nodes in root.iter(f"{space}nodes")
    )
    for link in root.iter(f"{space}link"):
        here, there = _ends(link, space, names)
        if here == there:
            wrong = f'a link leads from "{made.names[here]}" to itself'
            raise refuse(wrong, "write two routers", "file")
        rate = _capacity(link, space, f"{made.names[here]}->{made.names[there]}")
        delay = _light(made, here, there) if geographic else None
        made.link(here, there, _CORE, rate, delay)
    for demand in root.iter(f"{space}demand"):
        here, there = _ends(demand, space, names)
        text = demand.findtext(f"{space}demandValue", "")
        what = f"demandValue of {made.names[here]}->{made.names[there]}"
        made.demands.append((here, there, _in_range(text, _DEMANDS, what) or 0.0))
    return made


def _ends(element: Element, space: str, names: dict[str, int]) -> tuple[int, int]:
    here, there = (
        number_of(_named(element.findtext(f"{space}{end}")), names, "file")
        for end in ("source", "target")
    )
    return here, there


def _capacity(link: Element, space: str, ends: str) -> float | None:
    """Return bit/s; None if none is given. A module of 0 next to larger ones is ignored."""
    given = [each.text or "" for each in link.iter(f"{space}capacity")]
    what = f"capacity of {ends}, Mbit/s,"
    modules = [_in_range(each, (0.0, 1e-6 * _RATES[1]), what) or 0.0 for each in given]
    if not modules:
        return None
    least = (1e-6 * _RATES[0], 1e-6 * _RATES[1])
    return 1e6 * (_in_range(max(modules), least, what) or 0.0)


def _named(text: object) -> str:
    """Return a name with single spaces between its words; empty where there is none."""
    name = " ".join(str("" if text is None else text).split())
    if not name.isprintable():
        wrong = f"{name[:60]!r} has a character that cannot be printed"
        raise refuse(wrong, "write letters, digits, signs and spaces", "file")
    return name


def _unused(name: str, own: str, taken: set[str]) -> str:
    """Return a name that no other router has, and take it; `own` is the router's id."""
    while name in taken:
        name = f"{name} {own}"
    taken.add(name)
    return name


def _in_range(
    value: object, limits: tuple[float, float], what: str, *, whole: bool = False
) -> float | None:
    """Return a number of a file; None where there is none. Raises ScenarioError."""
    if value is None:
        return None
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not limits[0] <= number <= limits[1] or (whole and number % 1.0):
        said = " ".join(str(value).split())[:40]
        kind = "a whole number from " if whole else ""
        raise refuse(f'{what} is "{said}"', f"write {kind}{limits[0]:g} to {limits[1]:g}", "file")
    return number


def _place(x: object, y: object, name: str) -> tuple[float, float]:
    """Return a position on a map or a drawing; NaN where there is none."""
    return _number(x, name), _number(y, name)


def _number(value: object, name: str) -> float:
    """Return a coordinate; NaN where there is none. Raises ScenarioError."""
    text = "" if value is None else str(value).strip()
    try:
        number = float(text or "nan")
    except ValueError:
        number = math.inf
    if math.isinf(number):
        raise refuse(f'a coordinate of "{name}" is "{text[:40]}"', "write a number", "file")
    return number


def _light(made: Adjacency, here: int, there: int) -> float | None:
    """Return the delay in seconds along the great circle in fibre; None without both positions."""
    if any(math.isnan(each) for router in (here, there) for each in made.place[router]):
        return None
    for router in (here, there):
        x, y = made.place[router]
        if abs(x) > _LONGITUDE or abs(y) > _LATITUDE:
            wrong = f'"{made.names[router]}" is at longitude {x:g}, latitude {y:g}'
            hint = f"write up to {_LONGITUDE:g} and {_LATITUDE:g} degrees, or the links' delay_s"
            raise refuse(wrong, hint, "file")
    (a, b), (c, d) = (tuple(map(math.radians, made.place[router])) for router in (here, there))
    half = math.sin((d - b) / 2) ** 2 + math.cos(b) * math.cos(d) * math.sin((c - a) / 2) ** 2
    return 2 * _EARTH_KM * math.asin(min(math.sqrt(half), 1.0)) / _KM_PER_S
