"""Networks and matrices from files: GraphML, SNDlib XML, GML, REPETITA; matrices in CSV.

XML is parsed by defusedxml first, which refuses entities, because they can expand without limit.
"""

from __future__ import annotations

import csv
import io
import math
import re
from typing import TYPE_CHECKING

from forebay.topology.adjacency import Adjacency
from forebay.topology.errors import refuse
from forebay.topology.file_values import DEMANDS, number_of

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from forebay.scenario import NetworkFile
    from forebay.topology.adjacency import Adjacency

FORMATS = "GraphML, SNDlib XML, GML or REPETITA"
_GML = re.compile(rb"\s*((#[^\n]*|[A-Za-z_]\w*\s+(\"[^\"]*\"|[\w.+-]+))\s+)*graph\s*\[")
_REPETITA = re.compile(rb"\s*NODES\s+\d+\s")


def read(file: NetworkFile, unit_bps: float | None = None) -> Adjacency:
    """Read a network's file, by what is in it.

    Parameters
    ----------
    unit_bps : what 1 is of capacities without a unit and of SNDlib's demands, bit/s; None: what
        the file says, or a guess, which is noted.

    Raises
    ------
    ScenarioError
    """
    from forebay.topology import gml, graphml, repetita, sndlib

    head = file.content[:65536].removeprefix(b"\xef\xbb\xbf")
    if _GML.match(head):
        nodes, edges = gml.parse(file)
        return graphml.from_nodes(nodes, edges, one_way=gml.is_directed(file), unit_bps=unit_bps)
    if _REPETITA.match(head):
        return repetita.read(file)
    if head.lstrip().startswith(b"?SNDlib native format"):
        wrong = f"{file.path} is in SNDlib's native format"
        raise refuse(wrong, "write the path of the same network's SNDlib XML file", "file")
    root = _root(file)
    name = root.tag.rpartition("}")[2]
    if name == "graphml":
        return graphml.read(file, root, unit_bps)
    if name == "network":
        return sndlib.read(file, root, unit_bps)
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
    found = [_entry(row, line, file.path, names) for line, row in enumerate(rows[1:], 2) if row]
    if not found:
        raise refuse(f"{file.path} has no demand", "write a line source,target,weight", where)
    return found


def _entry(row: list[str], line: int, path: str, names: dict[str, int]) -> tuple[int, int, float]:
    try:
        source, target, text = (cell.strip() for cell in row)
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not DEMANDS[0] <= weight <= DEMANDS[1]:
        hint = f"write source,target,weight with a weight of 0 to {DEMANDS[1]:g}"
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
        hint = f"write the path of a {FORMATS} file"
        raise refuse(f"{file.path} is not XML ({error})", hint, "file") from None
    return root
