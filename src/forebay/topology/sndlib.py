"""SNDlib's XML: a network with modules of capacity, and its demands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forebay.errors import entry
from forebay.scenario import Rate
from forebay.topology.adjacency import Adjacency
from forebay.topology.errors import refuse
from forebay.topology.file_values import (
    CORE,
    DEMANDS,
    LONGEST,
    RATES,
    in_range,
    light,
    named,
    number_of,
    place,
)

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from forebay.scenario import NetworkFile

_MBIT = 1e6
_UNITS = {
    "BITPERSEC": 1.0, "KBITPERSEC": 1e3, "MBITPERSEC": _MBIT, "GBITPERSEC": 1e9,
    "BPS": 1.0, "KBPS": 1e3, "MBPS": _MBIT, "GBPS": 1e9,
    "BIT/S": 1.0, "KBIT/S": 1e3, "MBIT/S": _MBIT, "GBIT/S": 1e9,
}  # fmt: skip


def read(file: NetworkFile, root: Element, unit_bps: float | None) -> Adjacency:
    """Convert SNDlib's XML: the installed module, else the largest that can be added."""
    made, names = Adjacency(), dict[str, int]()
    capacities = _Capacities(*_unit(root, unit_bps))
    made.demand_unit_bps = capacities.unit_bps
    space = root.tag[: root.tag.find("}") + 1]
    for node in root.iter(f"{space}node"):
        name = named(node.get("id"))
        if not 0 < len(name) <= LONGEST:
            wrong = f'the id of a node is "{name[:60]}"'
            raise refuse(wrong, f"write 1 to {LONGEST} characters", "file")
        if name in names:
            raise refuse(f'two nodes are "{name}"', "give each its own id", "file")
        x, y = (node.findtext(f"{space}coordinates/{space}{axis}") for axis in "xy")
        names[name] = made.router(name, place=place(x, y, name))
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
        rate = capacities.of(link, space, f"{made.names[here]}->{made.names[there]}")
        delay = light(made, here, there) if geographic else None
        made.link(here, there, CORE, rate, delay)
    for demand in root.iter(f"{space}demand"):
        here, there = _ends(demand, space, names)
        text = demand.findtext(f"{space}demandValue", "")
        what = f"demandValue of {made.names[here]}->{made.names[there]}"
        made.demands.append((here, there, in_range(text, DEMANDS, what) or 0.0))
    made.notes += capacities.notes(sum(each[2] for each in made.demands))
    return made


def _ends(element: Element, space: str, names: dict[str, int]) -> tuple[int, int]:
    here, there = (
        number_of(named(element.findtext(f"{space}{end}")), names, "file")
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
        found = (in_range(each.text or "", DEMANDS, f"capacity of {ends}") for each in modules)
        return self.unit_bps * max((value or 0.0 for value in found), default=0.0)

    def notes(self, demand: float) -> list[str]:
        """Return what a reader of the answer has to know of the file's numbers."""
        said = []
        if not self.written and (self.rates or demand):
            many = _span(self.rates)
            offered = Rate(float(f"{self.unit_bps * demand:.4g}"))
            total = f", demands of {offered} together" if demand else ""
            field = entry("topology.file_unit", "1 Gbit/s")
            said.append(
                f"no unit in the file: read as Mbit/s ({many}{total}); {field} reads others"
            )
        if self.added:
            links = f"{self.added} link{'' if self.added == 1 else 's'}"
            said.append(f"no installed capacity on {links}: the largest module that can be added")
        if self.unlimited:
            links = f"{self.unlimited} link{'' if self.unlimited == 1 else 's'}"
            said.append(f"unlimited capacity on {links}: {Rate(RATES[1])} taken")
        return said


def _span(rates: list[float]) -> str:
    if not rates:
        return "no capacities"
    low, high = Rate(min(rates)), Rate(max(rates))
    return f"links of {low}" if low == high else f"links of {low} to {high}"


def _unit(root: Element, given: float | None) -> tuple[float, bool]:
    """Return bit/s of 1, and whether the scenario or the file's <unit> says so."""
    if given is not None:
        return given, True
    for element in root.iter():
        if element.tag.rpartition("}")[2] == "unit":
            found = _UNITS.get("".join((element.text or "").split()).upper())
            if found is not None:
                return found, True
    return _MBIT, False
