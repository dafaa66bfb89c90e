"""GML, in which the Topology Zoo is published beside GraphML: keys, values and lists in [ ]."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Any

from forebay.topology.errors import refuse

if TYPE_CHECKING:
    from forebay.scenario import NetworkFile

_TOKEN = re.compile(r'"[^"]*"|[\[\]]|[^\s\[\]"]+')
_MOST_DEEP = 64
_Pairs = list[tuple[str, Any]]


def parse(
    file: NetworkFile,
) -> tuple[dict[int, dict[str, Any]], list[tuple[int, int, dict[str, Any]]]]:
    """Return the nodes by their id, and the edges. Raises ScenarioError."""
    graph = _graph(file)
    nodes = {_id(file, of, "id", "node"): of for of in _lists(graph, "node")}
    if not nodes:
        raise refuse(f"{file.path} has no nodes", "write a GML file with a graph", "file")
    edges = []
    for of in _lists(graph, "edge"):
        ends = _id(file, of, "source", "edge"), _id(file, of, "target", "edge")
        for end in ends:
            if end not in nodes:
                wrong = f"an edge ends at {end}, which is no node"
                raise refuse(wrong, "write the id of a node", "file")
        edges.append((*ends, of))
    return nodes, edges


def is_directed(file: NetworkFile) -> bool:
    """Whether the edges have a direction."""
    return dict(_graph(file)).get("directed") == "1"


def _graph(file: NetworkFile) -> _Pairs:
    try:
        text = file.content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = file.content.decode("latin-1")  # the standard's own: ASCII and entities
    lines = (line for line in text.split("\n") if not line.lstrip().startswith("#"))
    pairs = _pairs(file, _TOKEN.findall("\n".join(lines)))
    found = [value for key, value in pairs if key == "graph" and isinstance(value, list)]
    if not found:
        raise refuse(f"{file.path} has no graph", "write a GML file with one", "file")
    graph: _Pairs = found[0]
    return graph


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


def _lists(graph: _Pairs, name: str) -> list[dict[str, Any]]:
    return [dict(value) for key, value in graph if key == name and isinstance(value, list)]


def _id(file: NetworkFile, of: dict[str, Any], key: str, what: str) -> int:
    try:
        return int(str(of.get(key)))
    except ValueError:
        wrong = f"{file.path}: the {key} of a {what} is {str(of.get(key))[:40]}"
        raise refuse(wrong, "write a whole number", "file") from None
