"""Networks and matrices from files: GraphML (the Topology Zoo's), SNDlib XML, CSV.

XML is parsed by defusedxml first, which refuses entities, because they can expand without limit.
"""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING, Any

from forebay.network.errors import refuse
from forebay.network.wiring import Wiring

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from forebay.scenario import NetworkFile

_CORE = "core"
_RATE_KEY = "LinkSpeedRaw"  # the Topology Zoo's, bit/s
_RATES, _DELAYS = (1e3, 1e13), (0.0, 60.0)  # bit/s and seconds, as in a scenario's own links
_HOSTS, _DEMANDS = (0, 10_000_000), (0.0, 1e18)
_EARTH_KM = 6371.0
_KM_PER_S = 2.0e5  # light in fibre: two thirds of the speed in vacuum


def read(file: NetworkFile) -> Wiring:
    """Read GraphML or SNDlib XML, by the root element. Raises ScenarioError."""
    root = _root(file)
    name = root.tag.rpartition("}")[2]
    if name == "graphml":
        _check_edges(root)
        return _graphml(file)
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
    if not 0.0 <= weight < math.inf:
        hint = "write source,target,weight with a weight of 0 or more"
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
    space = root.tag[: root.tag.find("}") + 1]
    nodes = {node.get("id") for node in root.iter(f"{space}node")}
    for edge in root.iter(f"{space}edge"):
        for end in ("source", "target"):
            if edge.get(end) not in nodes:
                wrong = f'the {end} of an edge is "{str(edge.get(end))[:60]}", which is no node'
                raise refuse(wrong, "write the id of a <node>", "file")


def _graphml(file: NetworkFile) -> Wiring:
    import os
    import tempfile

    import rustworkx

    with tempfile.NamedTemporaryFile(suffix=".graphml", delete=False) as copy:
        copy.write(file.content)
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


def _from_rustworkx(graph: Any) -> Wiring:
    """Convert a graph; nodes without a label, or with a repeated one, use their id as name."""
    import rustworkx

    made, numbers = Wiring(), dict[int, int]()
    taken = set[str]()
    for index in graph.node_indices():
        data = graph[index]
        name = str(data.get("label") or data.get("id", index))[:64]
        name = name if name not in taken else f"{name} {data.get('id', index)}"
        taken.add(name)
        hosts = _in_range(data.get("hosts"), _HOSTS, f'hosts of "{name}"')
        numbers[index] = made.router(name, int(hosts or 0), _geography(data))
    one_way = isinstance(graph, rustworkx.PyDiGraph)
    for source, target, data in graph.weighted_edge_list():
        here, there = numbers[source], numbers[target]
        if here != there:
            ends = f"{made.names[here]}->{made.names[there]}"
            rate = _in_range(data.get(_RATE_KEY), _RATES, f"{_RATE_KEY} of {ends}")
            delay = _in_range(data.get("delay_s"), _DELAYS, f"delay_s of {ends}")
            if delay is None:
                delay = _light(made.place[here], made.place[there])
            name = str(data.get("link_class") or _CORE)
            made.link(here, there, name, rate, delay, one_way=one_way)
    return made


def _sndlib(root: Element) -> Wiring:
    """Convert SNDlib's XML: capacities and demands in Mbit/s; the largest of several modules."""
    made, names = Wiring(), dict[str, int]()
    space = root.tag[: root.tag.find("}") + 1]
    for node in root.iter(f"{space}node"):
        name = node.get("id", "")
        if name in names:
            raise refuse(f'two nodes are "{name[:60]}"', "give each its own id", "file")
        x, y = (_number(node, f"{space}coordinates/{space}{axis}") for axis in "xy")
        names[name] = made.router(name, place=(x, y))
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
        delay = _light(made.place[here], made.place[there]) if geographic else None
        made.link(here, there, _CORE, rate, delay)
    for demand in root.iter(f"{space}demand"):
        here, there = _ends(demand, space, names)
        text = demand.findtext(f"{space}demandValue", "")
        what = f"demandValue of {made.names[here]}->{made.names[there]}"
        made.demands.append((here, there, _in_range(text, _DEMANDS, what) or 0.0))
    return made


def _ends(element: Element, space: str, names: dict[str, int]) -> tuple[int, int]:
    here, there = (
        number_of(element.findtext(f"{space}{end}", "").strip(), names, "file")
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


def _in_range(value: object, limits: tuple[float, float], what: str) -> float | None:
    """Return a number of a file; None where there is none. Raises ScenarioError."""
    if value is None:
        return None
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not limits[0] <= number <= limits[1]:
        said = " ".join(str(value).split())[:40]
        raise refuse(f'{what} is "{said}"', f"write {limits[0]:g} to {limits[1]:g}", "file")
    return number


def _number(element: Element, path: str) -> float:
    try:
        return float(element.findtext(path) or "nan")
    except ValueError:
        return math.nan


def _geography(data: dict[str, Any]) -> tuple[float, float]:
    x, y = (data.get(key) for key in ("Longitude", "Latitude"))
    known = isinstance(x, int | float) and isinstance(y, int | float)
    return (float(x), float(y)) if known else (math.nan, math.nan)  # type: ignore[arg-type]


def _light(here: tuple[float, float], there: tuple[float, float]) -> float | None:
    """Return the delay in seconds along the great circle in fibre; None without both positions."""
    if any(math.isnan(each) for each in (*here, *there)):
        return None
    (a, b), (c, d) = ((math.radians(x), math.radians(y)) for x, y in (here, there))
    half = math.sin((d - b) / 2) ** 2 + math.cos(b) * math.cos(d) * math.sin((c - a) / 2) ** 2
    return 2 * _EARTH_KM * math.asin(min(math.sqrt(half), 1.0)) / _KM_PER_S
