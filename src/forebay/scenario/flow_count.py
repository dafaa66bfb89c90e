"""How many flows a class has: a count, or a range where nobody knows it exactly."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Literal, Self

from forebay.scenario import exact_forms
from forebay.scenario.errors import ScenarioError, show
from forebay.scenario.quantity import FromText

End = Literal["low", "high"]

_RANGE = re.compile(r"\s*([0-9]{1,12})\s*\.\.\s*([0-9]{1,12})\s*")
_WRITE = 'write digits only, such as 100, or a range "8000..12000" where it is not known exactly'


class FlowCount(FromText, int):
    """A number of flows; of a range its middle, with the ends in ``low`` and ``high``.

    Everything that needs one number takes the middle; a sizing looks at both ends.
    """

    low: int
    high: int
    json_schema: ClassVar[dict[str, Any]] = {
        "anyOf": [
            {"type": "integer"},
            {"type": "string", "pattern": r"^\s*[0-9]{1,12}\s*\.\.\s*[0-9]{1,12}\s*$"},
        ]
    }

    def __new__(cls, count: int, low: int | None = None, high: int | None = None) -> Self:
        """Return ``count`` with its ends, which are the count itself where none are given."""
        made = super().__new__(cls, count)
        made.low = int(count) if low is None else low
        made.high = int(count) if high is None else high
        return made

    @classmethod
    def parse(cls, value: object) -> Self:
        """Read a whole number, or text such as "8000..12000". Raises ScenarioError."""
        if isinstance(value, cls):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return cls(value)
        found = _RANGE.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            wrong = f"{show(value)} is not a whole number"
            exact = exact_forms.count(value)
            hint = f"write {exact}, digits only and without quotes" if exact else _WRITE
            raise ScenarioError("wrong-type", wrong, hint, value=value)
        low, high = int(found[1]), int(found[2])
        if low > high:
            wrong, hint = f"{low} is above {high}", "write the smaller end first"
            raise ScenarioError("out-of-range", wrong, hint, value=value)
        return cls((low + high) // 2, low, high)

    @property
    def is_range(self) -> bool:
        """Whether the ends differ."""
        return self.low != self.high

    def end(self, which: End) -> Self:
        """Return one end as a count that is known."""
        return type(self)(getattr(self, which))

    def written(self) -> int | str:
        """Return the form that a scenario file holds."""
        return f"{self.low}..{self.high}" if self.is_range else int(self)

    canonical = written  # a hash of the meaning needs both ends

    def __eq__(self, other: object) -> bool:
        ends = (getattr(other, "low", other), getattr(other, "high", other))
        return int(self).__eq__(other) is True and ends == (self.low, self.high)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return int.__hash__(self)
