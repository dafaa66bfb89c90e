"""Routers and the links between them, from generators and files, before rates are set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from forebay.scenario import BufferSize


@dataclass(slots=True)
class Adjacency:
    """Routers and links. Links are bidirectional unless in ``one_way``.

    ``rate_bps``, ``delay_s`` and ``buffer`` of a link are None if its class gives them.
    ``demand_unit_bps`` is what 1 of the file's demands is, None if it does not say; ``notes`` are
    what a reader of the answer has to know of the file.
    """

    names: list[str] = field(default_factory=list)
    hosts: list[int] = field(default_factory=list)
    place: list[tuple[float, float]] = field(default_factory=list)
    source: list[int] = field(default_factory=list)
    target: list[int] = field(default_factory=list)
    link_class: list[str] = field(default_factory=list)
    rate_bps: list[float | None] = field(default_factory=list)
    delay_s: list[float | None] = field(default_factory=list)
    buffer: list[BufferSize | None] = field(default_factory=list)
    one_way: set[int] = field(default_factory=set)
    demands: list[tuple[int, int, float]] = field(default_factory=list)
    demand_unit_bps: float | None = None
    notes: list[str] = field(default_factory=list)

    def router(
        self, name: str, hosts: int = 0, place: tuple[float, float] = (float("nan"), float("nan"))
    ) -> int:
        """Add a router and return its number."""
        self.names.append(name)
        self.hosts.append(hosts)
        self.place.append(place)
        return len(self.names) - 1

    def link(
        self,
        source: int,
        target: int,
        link_class: str,
        rate_bps: float | None = None,
        delay_s: float | None = None,
        buffer: BufferSize | None = None,
        *,
        one_way: bool = False,
    ) -> None:
        """Connect two routers."""
        if one_way:
            self.one_way.add(len(self.source))
        self.source.append(source)
        self.target.append(target)
        self.link_class.append(link_class)
        self.rate_bps.append(rate_bps)
        self.delay_s.append(delay_s)
        self.buffer.append(buffer)

    def keep_links(self, kept: list[int]) -> None:
        """Keep the links at these places alone, in this order."""
        new = {place: number for number, place in enumerate(kept)}
        self.one_way = {new[place] for place in self.one_way if place in new}
        columns: tuple[list[Any], ...] = (
            self.source, self.target, self.link_class, self.rate_bps, self.delay_s, self.buffer,
        )  # fmt: skip
        for column in columns:
            column[:] = [column[place] for place in kept]
