"""Cases of a test of which some run with every change, and the others by `make long`."""

import os
from collections.abc import Callable, Iterable
from typing import Any

import pytest

LONG = os.environ.get("FOREBAY_LONG") == "1"


def cases(every: Iterable[Any], quick: Callable[[Any], bool]) -> list[Any]:
    """Mark those as long that are not quick."""
    return [pytest.param(each, marks=() if quick(each) else pytest.mark.long) for each in every]


def examples(most: int) -> int:
    """Return how many examples a property is tried on: a quarter of them with every change."""
    return most if LONG else max(1, most // 4)


def rows(table: str) -> list[list[str]]:
    """Return the rows of a table in text: a line each, with " | " between the cells."""
    return [line.split(" | ") for line in table.strip().splitlines()]
