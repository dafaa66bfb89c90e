"""Shorter words for what the tests ask of a reading."""

from dataclasses import dataclass
from typing import Any

import pytest

from forebay.platforms import ConfiguredQueue, Port, Wanted, lint

GIGABIT, TEN_GBIT_S = Port(1e9), Port(1e10)


def one(
    text: str, port: Port, platform: str | None = None, model: str | None = None
) -> ConfiguredQueue:
    """Lint a text in which there is just one queue."""
    (reading,) = lint(text, port, platform=platform, model=model).readings
    return reading


def said(reading: ConfiguredQueue, kind: str = "trap") -> str:
    """Every note of a kind, in one text."""
    return " | ".join(each.text for each in reading.notes if each.kind == kind)


def wanted(packets: int, port: Port) -> Wanted:
    return Wanted(packets * port.packet_bytes, packets, f"{packets} packets")


@dataclass(frozen=True)
class Case:
    """A text, and what is read of its one queue; what is not given (...) is not compared.

    ``queue`` is in the name of the queue, if there are several; ``served`` is its rate in bit/s.
    ``trap``, ``note`` and ``uncertain`` are said, ``silent`` is no trap. ``sizes`` are the bytes of
    all queues; ``unread`` is in each of the statements that are not understood, by default none.
    """

    text: str
    platform: str | None = None
    model: str | None = None
    port: Port = GIGABIT
    queue: str = ""
    bytes: Any = ...
    packets: Any = ...
    ms: Any = ...
    served: Any = ...
    marks: Any = ...
    sizes: Any = ...
    trap: str | tuple[str, ...] = ()
    note: str | tuple[str, ...] = ()
    uncertain: str | tuple[str, ...] = ()
    silent: str = ""
    unread: tuple[str, ...] | None = ()

    def check(self) -> None:
        found = lint(self.text, self.port, platform=self.platform, model=self.model)
        if self.unread is not None:
            assert len(found.unread) == len(self.unread), found.text
            assert all(x in y.written for x, y in zip(self.unread, found.unread, strict=True))
        if self.sizes is not ...:
            assert [each.bytes for each in found.readings] == self.sizes
            return
        (reading,) = (each for each in found.readings if self.queue in each.queue)
        seconds, served = reading.seconds(self.port), reading.served
        for name, value in (
            ("bytes", reading.bytes), ("packets", reading.packets), ("marks", reading.marks_bytes),
            ("served", served and served.rate_bps),
            ("ms", None if seconds is None else pytest.approx(1000 * seconds, rel=1e-3)),
        ):  # fmt: skip
            expected = getattr(self, name)
            assert expected is ... or expected == value, name
        for kind in ("trap", "note", "uncertain"):
            words = getattr(self, kind)
            for each in [words] if isinstance(words, str) else words:
                assert each in said(reading, kind)
        assert not self.silent or self.silent not in said(reading)
