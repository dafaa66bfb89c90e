"""The sizes of transfers: points of a distribution function, or a published one by name."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BeforeValidator, Field, Strict, model_validator

from forebay.scenario.base import Between, ScenarioModel
from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import DataSize

if TYPE_CHECKING:
    from typing import Unpack

    from forebay.scenario.inputs import TransferSizesDict

Points = tuple[tuple[float, float], ...]
"""Bytes, and the share of the transfers that have no more, both rising."""

_PACKET = 1460
"""Bytes of a packet's payload in the simulations that published sizes in packets."""


def _packets(*points: tuple[int, float]) -> Points:
    return tuple((float(_PACKET * packets), share) for packets, share in points)


PUBLISHED: Mapping[str, Points] = {
    # Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, Figure 4: background flows of a
    # cluster for web search; in packets as Alizadeh et al., "pFabric", SIGCOMM 2013, simulated it.
    "web-search": _packets(
        (1, 0.0), (6, 0.15), (13, 0.2), (19, 0.3), (33, 0.4), (53, 0.53), (133, 0.6), (667, 0.7),
        (1333, 0.8), (3333, 0.9), (6667, 0.97), (20_000, 1.0),
    ),
    # Greenberg et al., "VL2", SIGCOMM 2009, Figure 2: a cluster for data mining; in packets as
    # the same paper on pFabric simulated it: half of the flows are one packet.
    "data-mining": _packets(
        (1, 0.5), (2, 0.6), (3, 0.7), (7, 0.8), (267, 0.9), (2107, 0.95), (66_667, 0.99),
        (666_667, 1.0),
    ),
    # Roy et al., "Inside the social network's (datacenter) network", SIGCOMM 2015, Figure 6:
    # Hadoop at Facebook; as read by Li et al., "HPCC", SIGCOMM 2019.
    "hadoop": (
        (1.0, 0.0), (100.0, 0.01), (200.0, 0.02), (300.0, 0.05), (350.0, 0.15), (400.0, 0.2),
        (500.0, 0.3), (600.0, 0.4), (700.0, 0.5), (1e3, 0.6), (2e3, 0.67), (7e3, 0.7), (3e4, 0.72),
        (5e4, 0.82), (8e4, 0.87), (1.2e5, 0.9), (3e5, 0.95), (1e6, 0.975), (2e6, 0.99), (1e7, 1.0),
    ),
}  # fmt: skip
"""Published distributions by name: sizes are linear between two points."""

_SIZES = Between(DataSize(1), DataSize(10**13))
_WRITE = 'write points such as [["1 kB", 0.5], ["1 MB", 1.0]], both rising, the last share 1'


def _named(value: object) -> object:
    """Read a published distribution's name, or the one size of all transfers."""
    if not isinstance(value, str):
        return value
    if value in PUBLISHED:
        return {"published": value}
    try:
        return {"cdf": [[DataSize.parse(value), 1.0]]}
    except ScenarioError as error:
        hint = f'write one of {", ".join(PUBLISHED)}, a size such as "20 kB", or points of a cdf'
        raise ScenarioError("unknown-name", str(error).split(";")[0], hint, value=value) from None


class TransferSizes(ScenarioModel):
    """Sizes of transfers, drawn from a distribution function that is linear between its points."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[TransferSizesDict]) -> None: ...

    published: Literal["web-search", "data-mining", "hadoop"] | None = Field(
        default=None,
        description="A published distribution: web-search (Alizadeh et al. 2010, DCTCP), "
        "data-mining (Greenberg et al. 2009, VL2), hadoop (Roy et al. 2015, Facebook).",
    )
    cdf: tuple[tuple[Annotated[DataSize, _SIZES], Annotated[float, Strict()]], ...] = Field(
        default=(),
        description="Points of another: a size, and the share of the transfers that are no larger. "
        "The first size has its share to itself.",
        examples=[[["1 kB", 0.5], ["1 MB", 1.0]]],
    )

    @model_validator(mode="after")
    def _rising(self) -> Self:
        if (self.published is None) == (not self.cdf):
            wrong = "neither published nor cdf is given" if not self.cdf else "cdf is given too"
            raise ScenarioError("contradiction", wrong, _WRITE, field="cdf")
        points = self.cdf
        apart = all(a[0] < b[0] and a[1] <= b[1] for a, b in pairwise(points))
        if points and not (apart and points[0][1] >= 0.0 and points[-1][1] == 1.0):
            raise ScenarioError("out-of-range", "no distribution function", _WRITE, field="cdf")
        return self

    @property
    def points(self) -> Points:
        """Its points: bytes and share."""
        if self.published is not None:
            return PUBLISHED[self.published]
        return tuple((float(size), share) for size, share in self.cdf)

    @property
    def mean_square(self) -> float:
        """The mean of the squared size over the square of the mean: 1 if all are equal."""
        (first, share), *_ = points = self.points
        mean, square = share * first, share * first**2
        for (low, below), (high, up_to) in pairwise(points):
            mean += (up_to - below) * (low + high) / 2
            square += (up_to - below) * (low**2 + low * high + high**2) / 3
        return square / mean**2

    def mean_packets(self, payload: int) -> float:
        """Return the mean of whole packets with so many bytes of payload each."""
        (first, share), *_ = points = self.points
        total = share * ceil(first / payload)
        for (low, below), (high, up_to) in pairwise(points):
            span = _ceilings(high / payload) - _ceilings(low / payload)
            total += (up_to - below) * span / ((high - low) / payload)
        return total


def _ceilings(packets: float) -> float:
    """Return the integral from 0 of whole packets, rounded up."""
    whole = ceil(packets)
    return (whole - 1) * whole / 2 + whole * (packets - whole + 1)


AnyTransferSizes = Annotated[
    TransferSizes,
    BeforeValidator(_named, json_schema_input_type=str | TransferSizes),
]
"""A field's value: a name, one size, or a table."""
