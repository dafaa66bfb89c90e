"""What a platform is: how it writes a size, how it reads one back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from forebay.platforms.port import Port, Wanted
from forebay.platforms.reading import Note, Reading
from forebay.platforms.snippet import Snippet


@dataclass(frozen=True, slots=True)
class Order:
    """What to write: the buffer, the port, and the choices that a platform leaves.

    ``form`` is one of the platform's forms, ``model`` one of its models, ``interface`` the
    port's name; all three are checked before a platform sees them.
    """

    wanted: Wanted
    port: Port
    form: str
    model: str
    interface: str


@dataclass(frozen=True, slots=True)
class Written:
    """Configuration lines; ``rounding_bytes`` is how far they may lie from what was asked."""

    lines: tuple[str, ...]
    rounding_bytes: int
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Platform:
    """One router platform. The first form and the first model are the defaults.

    Attributes
    ----------
    comment : what begins a comment, or None where the format (JSON) has none.
    forms : ways to write a size: "bytes", "packets", "time", …
    models : hardware on which the same words mean something else.
    rounds : what the device rounds a size to, or that it does not; said with every size.
    tells : regular expressions that recognise the platform's text, searched line by line.
    write : lines for an Order; raises PlatformError where the platform cannot say it.
    read : every queue of a Snippet on a Port, for a model; lazily, for snippets may be hostile.
    ports : (rate in bit/s, name) of the ports there are, slowest first, where the name tells
        the rate; the interface is then an example of the slowest that carries the link.
    """

    name: str
    title: str
    comment: str | None
    forms: tuple[str, ...]
    models: tuple[str, ...]
    interface: str
    tells: tuple[str, ...]
    source: str
    rounds: Note
    write: Callable[[Order], Written]
    read: Callable[[Snippet, Port, str], Iterator[Reading]]
    ports: tuple[tuple[float, str], ...] = ()

    def port_name(self, rate_bps: float) -> str:
        """Return what the slowest port that carries a rate is called; an example."""
        return next((name for rate, name in self.ports if rate_bps <= rate), self.interface)

    def is_slowed(self, rate_bps: float) -> bool:
        """Whether a link of this rate can only be a shaped part of a port."""
        return bool(self.ports) and rate_bps not in (rate for rate, _ in self.ports)
