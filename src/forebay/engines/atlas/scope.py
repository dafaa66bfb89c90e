"""What the atlas covers: a scenario as a point of its design, or a refusal with the bound passed.

Two controls at most, on flows that last, before one drop-tail queue; everything else in a scenario
must be as it is when nobody writes it. That is a list of what is covered, not of what is not, so a
new field of a scenario is refused until it was simulated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from forebay.engines.errors import OutsideAtlas
from forebay.scenario import Long, Scenario
from forebay.words import Fact
from forebay.workload.drawing import apportion

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

FAMILIES = {("reno", "cubic"): 16.0, ("cubic", "bbr3"): 43.0, ("cubic", "bbr"): 43.0}
"""Seconds that the flows of each family had to settle. The first that has all controls of a
scenario, and a model, answers."""
_COVERED = {
    "link": {"rate"},
    "queue": {"discipline", "size"},
    "traffic": {"kind", "name", "flows", "congestion_control", "rtt", "access_rate", "start",
                "packet", "offload", "goals"},
}  # fmt: skip
_ALIKE = ("rtt", "access_rate", "packet", "offload")
_PACKETS = (1400, 1514)
_OTHERS = {
    "links": Fact("atlas.links"),
    "topology": Fact("unsupported.topology"),
    "memory": Fact("atlas.memory"),
}


@dataclass(frozen=True, slots=True)
class Point:
    """A link and its buffer as the model sees them.

    Attributes
    ----------
    controls : the family.
    flows, second : long flows; those of the family's second control.
    pps : full packets a second.
    rtt_s, spread : mean propagation round trip; the longest over the shortest, of uniform ones.
    access : rate of a flow's access link over the link's.
    packets : the buffer.
    """

    controls: tuple[str, str]
    flows: int
    second: int
    pps: float
    rtt_s: float
    spread: float
    access: float
    packets: int

    @property
    def bdp(self) -> float:
        """Bandwidth-delay product, packets."""
        return self.pps * self.rtt_s

    @property
    def window(self) -> float:
        """Packets in flight that a flow has of the bandwidth-delay product."""
        return self.bdp / self.flows

    def with_packets(self, packets: int) -> Point:
        """Return the same link with another buffer."""
        return replace(self, packets=packets)


BOUNDS: dict[str, tuple[str, float, float, str]] = {
    "flows": ("traffic.0.flows", 8, 1024, "atlas.flows"),
    "window": ("link.rate", 3.0, 500.0, "atlas.window"),
    "pps": ("link.rate", 0.0, 1_000_000.0, "atlas.packet-rate"),
    "rtt_s": ("traffic.0.rtt", 0.002, 0.3, "atlas.round-trip"),
    "spread": ("traffic.0.rtt", 1.02, 8.0, "atlas.spread"),
    "access": ("traffic.0.access_rate", 0.1, 10.0, "atlas.access"),
}
"""Of a point: the field that sets it, least, most, and the kind that says how much is there."""
_ROUNDING = 1e-3
LARGEST_BDP, SMALLEST = 4.0, 1
"""The largest buffer in bandwidth-delay products, if that is some packets; the least, packets."""
ALIKE_RATES = 5e-4
"""Nearer to 1 than this, access over link is 1: one flow may then fill the link without a queue and
lock out all others, which no link does beside it."""
LEAST_ACCESS = 3.0
"""Rate of all access links together over the link's: with less, they are the bottleneck."""


def point_of(scenario: Scenario, controls: tuple[str, str] | None = None) -> Point:
    """Return a scenario as a point of a family, by default of one that has a model.

    Raises OutsideAtlas.
    """
    point = _link_of(scenario, controls)
    least, most = _buffers(point, scenario)
    if not least <= point.packets <= most:
        bound = Fact("atlas.buffers", least=least, most=most, lower=least > SMALLEST)
        raise OutsideAtlas("queue.size", Fact("atlas.packets", packets=point.packets), bound)
    return point


def buffers(scenario: Scenario) -> tuple[int, int]:
    """Return the least and the largest buffer of a link that is covered, packets.

    Raises OutsideAtlas.
    """
    return _buffers(_link_of(scenario), scenario)


def _link_of(scenario: Scenario, controls: tuple[str, str] | None = None) -> Point:
    """Return a scenario as a point whose buffer may be outside."""
    _refuse_what_was_not_simulated(scenario)
    groups = [group for group in scenario.traffic if isinstance(group, Long)]
    first = groups[0]
    counts: dict[str, int] = {}
    for group in groups:
        for name, count in apportion(int(group.flows), group.shares).items():
            counts[name] = counts.get(name, 0) + count
    controls = controls or _family({name for name, count in counts.items() if count})
    rate = float(scenario.link.capacity)
    point = Point(
        controls, sum(counts.values()), counts.get(controls[1], 0),
        rate / (8.0 * int(first.packet)), float(first.rtt.mean),
        float(first.rtt.high) / float(first.rtt.low), first.access(rate) / rate,
        scenario.buffer_packets,
    )  # fmt: skip
    for name, (field, least, most, kind) in BOUNDS.items():
        value = getattr(point, name)
        if not least * (1.0 - _ROUNDING) <= value <= most * (1.0 + _ROUNDING):
            ends = Fact("atlas.between", least=_amount(least), most=_amount(most))
            raise OutsideAtlas(field, Fact(kind, amount=_amount(value)), ends)
    if abs(point.access - 1.0) < ALIKE_RATES:
        field, same = "traffic.0.access_rate", Fact("atlas.access-alike")
        raise OutsideAtlas(field, same, Fact("atlas.access-apart"))
    together = point.access * point.flows
    if together < LEAST_ACCESS * (1.0 - _ROUNDING):
        slow = Fact("atlas.access-together", times=together)
        bound = Fact("atlas.least-access", times=LEAST_ACCESS)
        raise OutsideAtlas("traffic.0.access_rate", slow, bound)
    return point


def _buffers(link: Point, scenario: Scenario) -> tuple[int, int]:
    """Return the buffers that are covered; two bursts at least where access is not known."""
    most = round(max(12.0, LARGEST_BDP * link.bdp))
    if any(isinstance(group, Long) and group.access_rate is None for group in scenario.traffic):
        return min(math.ceil(scenario.two_bursts / int(scenario.packet)), most), most
    return SMALLEST, most


def _refuse_what_was_not_simulated(scenario: Scenario) -> None:
    for name, what in _OTHERS.items():
        if getattr(scenario, name):
            raise OutsideAtlas(name, what, Fact("atlas.one-link"))
    _refuse_set("link", scenario.link)
    if scenario.queue.discipline != "drop-tail":
        raise OutsideAtlas("queue.discipline", scenario.queue.discipline, "drop-tail")
    _refuse_set("queue", scenario.queue)
    for index, group in enumerate(scenario.traffic):
        where = f"traffic.{index}"
        if not isinstance(group, Long):
            raise OutsideAtlas(f"{where}.kind", Fact("unsupported.kind", kind=group.kind), "long")
        _refuse_set(where, group)
        if group.flows.is_range:
            raise OutsideAtlas(f"{where}.flows", Fact("atlas.range"), Fact("atlas.number"))
        if not group.offloads:
            raise OutsideAtlas(f"{where}.offload", Fact("atlas.no-offload"), Fact("atlas.offload"))
        if not _PACKETS[0] <= int(group.packet) <= _PACKETS[1]:
            what = Fact("atlas.packet", octets=int(group.packet))
            least, most = _PACKETS
            raise OutsideAtlas(
                f"{where}.packet", what, Fact("atlas.between", least=least, most=most)
            )
        if group.rtt.low != group.rtt.high and group.rtt.kind != "uniform":
            what = Fact("atlas.round-trips", law=group.rtt.kind)
            raise OutsideAtlas(f"{where}.rtt", what, Fact("atlas.uniform"))
        for name in _ALIKE:
            if getattr(group, name) != getattr(scenario.traffic[0], name):
                raise OutsideAtlas(
                    f"{where}.{name}", Fact("atlas.classes-apart"), Fact("atlas.classes-alike")
                )


def _refuse_set(where: str, part: Any) -> None:
    """Refuse a field outside of the list that is not as it is without being written."""
    covered = _COVERED[where.split(".")[0]]
    for name, field in type(part).model_fields.items():
        value = getattr(part, name)
        if name not in covered and value != field.get_default(call_default_factory=True):
            shown = f' "{value}"' if isinstance(value, str) else ""
            raise OutsideAtlas(f"{where}.{name}", f"{name}{shown}", Fact("atlas.without"))


def file_of(controls: tuple[str, str]) -> Traversable:
    """Return the file of a family's model, which need not be there."""
    return files(__package__).joinpath("models", f"{'-'.join(controls)}.npz")


@cache
def _known() -> tuple[tuple[str, str], ...]:
    return tuple(family for family in FAMILIES if file_of(family).is_file())


def _family(names: set[str]) -> tuple[str, str]:
    known = _known()
    for family in known:
        if names <= set(family):
            return family
    mixes = ", ".join(" with ".join(family) for family in known)
    mix = Fact("atlas.mix", controls=" with ".join(sorted(names)))
    raise OutsideAtlas("traffic.0.congestion_control", mix, mixes or Fact("atlas.none-yet"))


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000.0 else f"{value:.4g}"
