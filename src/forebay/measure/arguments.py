"""Arguments that are texts with a unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from forebay.errors import argument
from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import Rate

if TYPE_CHECKING:
    from forebay.scenario.buffer_size import BufferSize
    from forebay.scenario.quantity import DataSize, Duration

    Q = TypeVar("Q", BufferSize, DataSize, Duration, Rate)


def parse(name: str, kind: type[Q], text: str) -> Q:
    """Return the quantity that an argument says. Raises ScenarioError that names the argument."""
    try:
        return kind.parse(text)
    except ScenarioError as error:
        raise error.at("", argument(name)) from None


def bits_per_second(rate: str) -> float:
    """Return the argument ``rate`` in bit/s, above 0. Raises ScenarioError."""
    found = parse("rate", Rate, rate)
    if not found > 0:
        wrong, hint = f"{found} is not above 0", 'write the link\'s rate, such as "155 Mbit/s"'
        raise ScenarioError("out-of-range", wrong, hint, field=argument("rate"))
    return float(found)
