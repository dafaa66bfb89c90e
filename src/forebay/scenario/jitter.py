"""What some packets take longer behind a link than others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field, Strict

from forebay.scenario.base import SHARE, Between, ScenarioModel
from forebay.scenario.quantity import Duration

if TYPE_CHECKING:
    from typing import Unpack

    from forebay.scenario.inputs import JitterDict

_LONGEST = Between(Duration(1e-9), Duration(60))


class Jitter(ScenarioModel):
    """A delay behind the wire, drawn for each packet by the seed, evenly from 0 to the longest.

    A duration alone is the longest.
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[JitterDict]) -> None: ...

    most: Annotated[Duration, _LONGEST] = Field(
        description="The longest delay. It is no part of a flow's rtt, and no wait in the queue.",
        examples=["5 ms"],
    )
    share: Annotated[float, Strict(), SHARE] = Field(
        default=1.0, description="Share of the packets that are delayed; the others are not."
    )
    reorder: Annotated[bool, Strict()] = Field(
        default=False,
        description="Whether data that is delayed less overtakes other data; if not, what follows "
        "a packet waits until that has gone on. ACKs keep their order.",
    )


def _longest_alone(data: Any) -> Any:
    """Return the table of a duration."""
    if data is None or isinstance(data, Mapping | Jitter):
        return data
    return {"most": data}


DURATION_OR_TABLE = BeforeValidator(_longest_alone, json_schema_input_type=Duration | Jitter | None)
"""Validator of a field with a Jitter: a duration is its longest."""
