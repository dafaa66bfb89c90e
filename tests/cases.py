"""Cases of a test of which some run with every change, and the others by `make long`."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def cases(every: Iterable[Any], quick: Callable[[Any], bool]) -> list[Any]:
    """Mark those as long that are not quick."""
    return [pytest.param(each, marks=() if quick(each) else pytest.mark.long) for each in every]
