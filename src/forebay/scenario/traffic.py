"""One class of traffic of a scenario: one of several kinds, told apart by ``kind``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Union

from pydantic import Discriminator, Tag

from forebay.scenario.base import DAY, MAX_FLOWS, MAX_PACKETS, RATES
from forebay.scenario.open_loop import OnOff, Replay, Udp, Video
from forebay.scenario.tcp import Long, Session, Short, Tcp


def _kind(value: Any) -> Any:
    """Return the kind that a table names, long if none; never a known one for what is no text."""
    named = getattr(value, "kind", "long")
    if isinstance(value, Mapping):
        named = value.get("kind", "long")
    return named if isinstance(named, str) else repr(named)[:60]


Traffic = Annotated[
    Union[  # noqa: UP007
        Annotated[Long, Tag("long")],
        Annotated[Short, Tag("short")],
        Annotated[Session, Tag("session")],
        Annotated[Udp, Tag("udp")],
        Annotated[OnOff, Tag("onoff")],
        Annotated[Video, Tag("video")],
        Annotated[Replay, Tag("replay")],
    ],
    Discriminator(_kind),
]
"""Any class of traffic: all have ``kind flows packet direction access_rate``."""

OpenLoop = Udp | OnOff | Video | Replay
"""Classes that send whatever becomes of their packets."""

KINDS: tuple[str, ...] = ("long", "short", "session", "udp", "onoff", "video", "replay")
"""Every kind, as `Traffic` lists them."""

__all__ = [
    "DAY",
    "KINDS",
    "MAX_FLOWS",
    "MAX_PACKETS",
    "RATES",
    "Long",
    "OnOff",
    "OpenLoop",
    "Replay",
    "Session",
    "Short",
    "Tcp",
    "Traffic",
    "Udp",
    "Video",
]
