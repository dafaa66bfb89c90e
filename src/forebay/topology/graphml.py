"""GraphML: the Topology Zoo's, and what yEd writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forebay.topology.adjacency import Adjacency
from forebay.topology.attributes import LinkValues, lowered, place_of
from forebay.topology.errors import refuse
from forebay.topology.file_values import (
    CORE,
    HOSTS,
    LONGEST,
    in_range,
    light,
    named,
    place,
    unused,
)

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from forebay.scenario import NetworkFile

_TYPES = ("boolean", "int", "long", "float", "double", "string")
_OWNERS = ("all", "graph", "node", "edge")
_DRAWN = "yed-label"  # the key of a label that stood in a drawing


def _check_edges(root: Element) -> None:
    """Refuse an edge of GraphML to a node that is not there: the reader would add the node."""
    nodes = {node.get("id") for node in root.iter("node")}
    for edge in root.iter("edge"):
        for end in ("source", "target"):
            if edge.get(end) not in nodes:
                wrong = f'the {end} of an edge is "{str(edge.get(end))[:60]}", which is no node'
                raise refuse(wrong, "write the id of a <node>", "file")


def read(file: NetworkFile, root: Element, unit_bps: float | None = None) -> Adjacency:
    """Read the first graph of a file. Raises ScenarioError."""
    import os
    import tempfile
    from xml.etree.ElementTree import tostring

    import rustworkx

    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    _flatten(root)
    _check_edges(root)
    _complete_keys(root)
    _take_drawn_labels(root)
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
    graph = graphs[0]
    nodes = {index: dict(graph[index]) for index in graph.node_indices()}
    one_way = isinstance(graph, rustworkx.PyDiGraph)
    return from_nodes(nodes, list(graph.weighted_edge_list()), one_way=one_way, unit_bps=unit_bps)


def _flatten(root: Element) -> None:
    """Put the nodes and edges of a group's own graph, as yEd draws groups, into the one around it.

    The group itself stays a node only where an edge ends at it.
    """
    ends = {edge.get(end) for edge in root.iter("edge") for end in ("source", "target")}
    for outer in root.findall("graph"):
        groups = [node for node in outer.iter("node") if node.find("graph") is not None]
        for node in groups:
            for inner in node.findall("graph"):
                outer.extend(each for each in inner if each.tag in {"node", "edge"})
                node.remove(inner)
            if node.get("id") not in ends and node in list(outer):
                outer.remove(node)


def _complete_keys(root: Element) -> None:
    """Give keys without a name or a type both, as yEd's are; take out those of ports."""
    for key in list(root.iter("key")):
        if key.get("for", "all") not in _OWNERS:
            root.remove(key)
            continue
        name = key.get("attr.name") or key.get("yfiles.type") or key.get("id")
        key.set("attr.name", name or "")
        if key.get("attr.type") not in _TYPES:
            key.set("attr.type", "string")


def _take_drawn_labels(root: Element) -> None:
    """Make the text of a NodeLabel in a drawing a node's label, and take drawings out."""
    from xml.etree.ElementTree import SubElement

    label = _label_key(root)
    for node in root.iter("node"):
        own = any(data.get("key") == label for data in node.findall("data"))
        texts = (each.text or "" for each in node.iter("NodeLabel"))
        drawn = next((text.strip() for text in texts if text.strip()), "")
        if drawn and not own:
            SubElement(node, "data", {"key": label}).text = drawn
    known = {key.get("id") for key in root.iter("key")}
    for parent in [root, *root.iter("node"), *root.iter("edge"), *root.iter("graph")]:
        for each in list(parent):
            drawing = each.tag == "data" and (len(each) or each.get("key") not in known)
            if drawing or each.tag == "port":
                parent.remove(each)


def _label_key(root: Element) -> str:
    """Return the id of the key of nodes' labels, which is made if there is none."""
    from xml.etree.ElementTree import Element

    for key in root.iter("key"):
        if key.get("attr.name") == "label" and key.get("for", "all") in ("node", "all"):
            return key.get("id", "")
    made = {"id": _DRAWN, "for": "node", "attr.name": "label", "attr.type": "string"}
    root.insert(0, Element("key", made))
    return _DRAWN


def from_nodes(
    nodes: dict[int, dict[str, Any]],
    edges: list[tuple[int, int, dict[str, Any]]],
    *,
    one_way: bool,
    unit_bps: float | None = None,
) -> Adjacency:
    """Convert a graph; nodes without a label, or with a repeated one, use their id as name."""
    made, numbers = Adjacency(), dict[int, int]()
    taken, values = set[str](), LinkValues(unit_bps)
    nodes = {index: lowered(data) for index, data in nodes.items()}
    links = [lowered(data) for *_, data in edges]
    values.look(links)
    for index, data in nodes.items():
        own = named(data.get("id")) or str(index)
        name = unused(named(data.get("label"))[:LONGEST] or own, own, taken)
        hosts = in_range(data.get("hosts"), HOSTS, f'hosts of "{name}"', whole=True)
        numbers[index] = made.router(name, int(hosts or 0), place(*place_of(data), name))
    for (source, target, _), data in zip(edges, links, strict=True):
        here, there = numbers[source], numbers[target]
        if here != there:
            ends = f"{made.names[here]}->{made.names[there]}"
            rate, delay = values.rate(data, ends), values.delay(data, ends)
            if delay is None:
                delay = light(made, here, there)
            name = named(data.get("link_class")) or CORE
            made.link(here, there, name, rate, delay, one_way=one_way)
    made.notes += values.notes(list(nodes.values()), links)
    return made
