"""A network with the metrics of its links as GraphML, and where its routers are drawn."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from forebay.files.atomic import replacing

if TYPE_CHECKING:
    from forebay.topology import Graph


def write_graphml(
    path: str | os.PathLike[str], network: Graph, metrics: Mapping[int, Mapping[str, Any]]
) -> None:
    """Write routers, and the links between them with ``metrics`` by the number of the link."""
    import tempfile

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
