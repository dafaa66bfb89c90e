"""A network with the metrics of its links as GraphML, and where its routers are drawn."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from forebay.errors import argument
from forebay.files.atomic import replacing
from forebay.scenario import ScenarioError, loads
from forebay.scenario import load as load_scenario
from forebay.scenario.io import quoted

if TYPE_CHECKING:
    from forebay.scenario import Scenario
    from forebay.topology import Graph


def write_graphml(
    path: str | os.PathLike[str], network: Graph, metrics: Mapping[int, Mapping[str, Any]]
) -> None:
    """Write routers, and the links between them with ``metrics`` by the number of the link."""
    import rustworkx

    graph: Any = rustworkx.PyDiGraph()
    places = zip(network.names, network.hosts.tolist(), network.place.tolist(), strict=True)
    for name, hosts, (x, y) in places:
        data = {"label": name, "hosts": hosts}
        graph.add_node(data | ({"Longitude": x, "Latitude": y} if x == x else {}))
    for link in range(network.links):
        if network.kind[link] == 0:  # unused links too, without metrics
            data = {
                "link_class": network.classes[network.link_class[link]],
                "LinkSpeedRaw": float(network.rate_bps[link]),
                "delay_s": float(network.delay_s[link]),
            }
            data |= {name: each for name, each in metrics.get(link, {}).items() if name != "class"}
            graph.add_edge(int(network.source[link]), int(network.target[link]), data)
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "network.graphml")
        rustworkx.digraph_write_graphml(graph, made)
        with open(made, "rb") as file, replacing(path) as out:
            out.write(file.read())


def places(network: Graph) -> Any:
    """Return known positions, or else those of a spring layout."""
    import numpy as np

    place = network.place
    if np.isfinite(place).all():
        return place
    import rustworkx

    graph: Any = rustworkx.PyGraph()
    graph.add_nodes_from(range(len(network.names)))
    between = network.kind == 0
    ends = zip(network.source[between].tolist(), network.target[between].tolist(), strict=True)
    graph.add_edges_from_no_data(list(ends))
    laid = rustworkx.spring_layout(graph, seed=1)
    return np.array([laid[index] for index in range(len(network.names))])


_FILES = (".graphml", ".xml", ".gml", ".graph")
_CONVERT = "convert it to GraphML, as networkx.write_graphml does"
_RENAME = "give it a name that ends in "
_OTHERS = (
    (re.compile(rb"\?SNDlib native format"), "in SNDlib's native format",
     "write the path of the same network's SNDlib XML file"),
    (re.compile(rb"[{]|\[\s*[{]"), "JSON, and no network's file that is read", _CONVERT),
    (re.compile(rb"(?i)(strict\s+)?(di)?graph\b[^\[\n=]*[{]"), "Graphviz DOT", _CONVERT),
    (re.compile(rb"<"), "XML, and its name does not say so", f"{_RENAME}.graphml or .xml"),
    (re.compile(rb"(?s)(#[^\n]*\s+)*graph\s*\["), "GML, and its name does not say so",
     f"{_RENAME}.gml"),
    (re.compile(rb"Topology:\s*\(\s*\d+ Nodes"), "in BRITE's format, which is not read", _CONVERT),
    (re.compile(rb"(?i)\*(vertices|network)\b"), "in Pajek's format, which is not read", _CONVERT),
    (re.compile(rb"(?i)\"?(source|from|src)\"?\s*[,;\t]"), "a table of links, which is not read",
     _CONVERT),
    (re.compile(rb"(?i)(name:\s*\S+\s+)?topology:\s*[\n#]"), "YAML, which is not read", _CONVERT),
    (re.compile(rb"-?\d+\s+@\S+,"), "in Rocketfuel's format, which is not read", _CONVERT),
    (re.compile(rb"NODES\s+\d+\s"), "REPETITA, and its name does not say so", f"{_RENAME}.graph"),
)  # fmt: skip
"""How files begin that are no scenario, what they are, and what to write instead."""
_CARRIED = '[[traffic]]\nname = "demand"\nkind = "short"\nlength = "100 kB"\nload = 1.0\n'
"""A class that carries the whole demand; engines of networks take no note of its length."""
_RATE, _CONNECTIONS = "10 Gbit/s", 1000


def load(
    path: str | os.PathLike[str],
    overrides: Sequence[str] = (),
    *,
    connections: int | None = None,
    rate: str | None = None,
) -> Scenario:
    """Read a scenario with a [topology], or a plain GraphML, GML, SNDlib or REPETITA file.

    The demand of a plain file that gives one is offered load. Without one, connections are
    distributed by gravity, with a host on each router.

    Parameters
    ----------
    connections, rate
        For a plain file: the number of greedy Reno connections, 1000 in a file without demand and
        none beside one; and the capacity of links without one, 10 Gbit/s.

    Raises
    ------
    ScenarioError
        What is wrong, where, and what to write instead; ``rate`` or ``connections`` has no effect.
    """
    name = os.fspath(path)
    if not name.lower().endswith(_FILES):
        _refuse_other_formats(name)
        for option, value in (("connections", connections), ("rate", rate)):
            if value is not None:
                raise _without_effect(
                    argument(option), "the scenario says it", "leave it out, or use set"
                )
        return load_scenario(name, overrides)
    text = f"[link]\nrate = {quoted(rate or _RATE)}\n[topology]\nfile = {quoted(name)}\n"
    greedy = f"[[traffic]]\nflows = {connections or _CONNECTIONS}\n"
    scenario = loads(text + greedy, source=name, overrides=_of_network(overrides))
    by_set = any(each.partition("=")[0].strip() == "link.rate" for each in overrides)
    asked = "link.rate" if by_set else rate and argument("rate")
    has_demand = _check_plain(scenario, asked)
    if has_demand:
        traffic = _CARRIED + (greedy if connections else "")
        return loads(text + traffic, source=name, overrides=overrides)
    return loads(text + greedy, source=name, overrides=overrides)


def _refuse_other_formats(name: str) -> None:
    """Refuse a network's file of a format that is not read, or of a name that does not tell it."""
    try:
        with open(name, "rb") as file:
            head = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    except OSError:
        return  # a shipped scenario's name; else the reader of scenarios says what is wrong
    for begins, called, hint in _OTHERS:
        if begins.match(head):
            from forebay.scenario import ScenarioError

            raise ScenarioError("format", f"is {called}", hint, field=name)


def _of_network(overrides: Sequence[str]) -> list[str]:
    """Return the overrides that decide what the file says of demands."""
    return [each for each in overrides if each.lstrip().startswith(("topology.", "link."))]


def _check_plain(scenario: Scenario, asked: str | None) -> bool:
    """Whether a plain file's demand is offered load; refuse a rate that no link takes."""
    from forebay.topology.building import connected, offered_bps

    assert scenario.topology is not None, "load has written one"
    wiring = connected(scenario.topology)
    if asked and all(each is not None for each in wiring.rate_bps):
        raise _without_effect(asked, "every link of the file has a capacity", "leave it out")
    return offered_bps(scenario.topology, wiring) is not None


def _without_effect(name: str, why: str, hint: str) -> ScenarioError:
    return ScenarioError("no-effect", f"{name} has no effect: {why}", hint)
