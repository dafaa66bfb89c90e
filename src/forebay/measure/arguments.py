"""Arguments: quantities with a unit, and lists that may be given as one entry."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from forebay.errors import argument
from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import Rate

if TYPE_CHECKING:
    from forebay.scenario.quantity import DataSize, Duration
    from forebay.scenario.queue import BufferSize

    Path = str | os.PathLike[str]
    Q = TypeVar("Q", BufferSize, DataSize, Duration, Rate)


def parse(name: str, kind: type[Q], text: str) -> Q:
    """Return the quantity of an argument. Raises ScenarioError that names the argument."""
    return kind.parse_argument(argument(name), text)


def bits_per_second(rate: str) -> float:
    """Return the argument ``rate`` in bit/s, above 0. Raises ScenarioError."""
    found = parse("rate", Rate, rate)
    if not found > 0:
        wrong, hint = f"{found} is not above 0", 'write the link\'s rate, such as "155 Mbit/s"'
        raise ScenarioError("out-of-range", wrong, hint, field=argument("rate"))
    return float(found)


def paths_of(records: Path | Sequence[Path]) -> list[str]:
    """Return the paths of an argument: a list of files or one file."""
    given = [records] if isinstance(records, str | os.PathLike) else records
    return [os.fspath(record) for record in given]


def texts_of(texts: str | Sequence[str]) -> list[str]:
    """Return the entries of an argument: a list of strings or one string."""
    return [texts] if isinstance(texts, str) else list(texts)
