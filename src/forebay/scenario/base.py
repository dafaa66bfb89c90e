"""What every table of a scenario has in common."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from forebay.scenario.bounds import Between
from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import Duration, Rate

RATES = Between(Rate(1e3), Rate(1e13))
MAX_FLOWS = 10_000_000
MAX_OFFERED = 500_000_000
"""Most flows that start, and most datagrams, in one run: one of so many is refused for its memory,
but a sizing may play a smaller link in its place."""
MAX_PACKETS = 20_000_000
"""Most packets of open-loop sources in one run: each is held in memory."""
MAX_PERIODS = 100_000_000
"""Most on times in one run: each takes some 100 ns to draw."""
DAY = Duration(86_400)


def _listed(value: object) -> object:
    if isinstance(value, BaseModel):  # which pydantic would take for a list of its fields
        name = type(value).__name__
        wrong = f"{name}(…) where a list belongs"
        raise ScenarioError("wrong-type", wrong, f"write it in brackets: [{name}(…)]")
    return value


LISTED = BeforeValidator(_listed)
"""Of a field that holds a list of tables."""


class ScenarioModel(BaseModel):
    """A frozen table of a scenario: made with keywords, or validated from a file's dict."""

    # A base class, or a kind that no file asks for, never needs a validator of its own.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    example: ClassVar[dict[str, Any]] = {}
    """What a message shows where a key of a small table is wrong."""

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            found = format_validation_error(error, type(self))
        else:
            return
        raise found

    # Tells pydantic that this is its own __init__, which dicts inside need not pass through.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        self._refuse_change(name)

    def __delattr__(self, name: str) -> NoReturn:
        self._refuse_change(name)

    def _refuse_change(self, name: str) -> NoReturn:
        hint = 'write scenario.replace({"link.rate": "1 Gbit/s"}), which returns another scenario'
        wrong = "cannot be set: a scenario is frozen"
        raise ScenarioError("frozen", wrong, hint, file=type(self).__name__, field=name)

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Return the table that a dict says, as a file would hold it. Raises ScenarioError."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            found = format_validation_error(error, cls)
        raise found

    def __repr__(self) -> str:
        written = self.model_dump(mode="json", exclude_defaults=True)
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in written.items())})"

    __str__ = __repr__


def format_validation_error(error: ValidationError, model: type[ScenarioModel]) -> ScenarioError:
    """Return the first thing that is wrong, in our words; a scenario's needs no name before it."""
    from forebay.scenario.format_error import format_error

    name = "" if model.__name__ == "Scenario" else model.__name__
    return format_error(error, model).at(name)
