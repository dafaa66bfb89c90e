"""Networks that are generated: two levels, an ISP, a fat tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, Strict, model_validator

from forebay.scenario.base import Between, ScenarioModel
from forebay.scenario.errors import ScenarioError

if TYPE_CHECKING:
    from typing import Unpack

    from forebay.scenario.inputs import (
        FatTreeDict,
        IspDict,
        TwoLevelDict,
    )


class TwoLevel(ScenarioModel):
    """Core routers, middle routers below them, edge routers below those, and hosts (paper C)."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[TwoLevelDict]) -> None: ...

    core: Literal["abilene", "ring", "mesh"] = Field(
        default="abilene",
        description='How core routers are connected: "abilene" as the 11 of Abilene in 2005 '
        '(14 links), "ring", or a full "mesh".',
    )
    cores: Annotated[int, Strict(), Between(2, 1000, "routers")] = Field(
        default=11, description="Number of core routers; 11 for abilene."
    )
    middles: Annotated[int, Strict(), Between(1, 1_000_000, "routers")] = Field(
        default=54, description="Middle routers, distributed evenly over the core routers."
    )
    edges: Annotated[int, Strict(), Between(2, 1_000_000, "routers")] = Field(
        default=106, description="Edge routers, distributed evenly over the middle routers."
    )
    hosts: Annotated[int, Strict(), Between(2, 10_000_000, "hosts")] = Field(
        default=812, description="Hosts, distributed over the edge routers."
    )
    spread: Annotated[float, Between(0.0, 1.0)] = Field(
        default=0.0,
        description="How unevenly hosts are distributed: with 0 each edge router has the same"
        " number; with s a router has 1 - s to 1 + s times the mean, in equal "
        "steps.",
    )
    tail: Annotated[float, Between(0.5, 100.0)] | None = Field(
        default=None,
        description="Instead of `spread`: hosts are distributed in proportion to the quantiles of "
        "a Pareto distribution of this shape, in random order, at least one to each edge router; "
        "the smaller, the more uneven.",
    )
    core_links: Annotated[int, Strict(), Between(1, 1_000_000, "links")] | None = Field(
        default=None,
        description="Number of links between core routers: those of `core`, and chords that are "
        "drawn from all sets of so many that keep `core_diameter`.",
    )
    core_diameter: Annotated[int, Strict(), Between(1, 1000, "links")] | None = Field(
        default=None,
        description="With core_links: the links between the two core routers that are farthest "
        "apart.",
    )
    chords: tuple[str, ...] = Field(
        default=(),
        description="Links between core routers besides those of `core`, by name.",
        examples=[["Denver->Chicago"]],
    )
    seed: Annotated[int, Strict(), Between(0, 2**63 - 1)] = Field(
        default=1, description="Of the draws of tail and core_links."
    )

    @model_validator(mode="after")
    def _drawn_once(self) -> Self:
        for name, other, both in (
            ("tail", "spread", self.tail is not None and self.spread > 0.0),
            ("core_links", "chords", self.core_links is not None and bool(self.chords)),
        ):
            if both:
                wrong, hint = f"{name} and {other} are both set", "leave one of them out"
                raise ScenarioError("contradiction", wrong, hint, field=name)
        if self.core_diameter is not None and self.core_links is None:
            wrong, hint = "holds for drawn chords alone", "write core_links too, or leave it out"
            raise ScenarioError("contradiction", wrong, hint, field="core_diameter")
        return self


class Isp(ScenarioModel):
    """A provider of any size: core, metropolitan and edge routers, hosts."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[IspDict]) -> None: ...

    core: Literal["ring", "mesh", "chords"] = Field(
        default="chords",
        description='How core routers are connected: "ring", "mesh", or "chords", a ring in '
        "which each router is also connected to the one a third of the way round.",
    )
    cores: Annotated[int, Strict(), Between(3, 2000, "routers")] = Field(
        default=16, description="Core routers."
    )
    metros: Annotated[int, Strict(), Between(1, 100_000, "routers")] = Field(
        default=64, description="Metropolitan routers, each on two neighbouring core routers."
    )
    edges: Annotated[int, Strict(), Between(2, 1_000_000, "routers")] = Field(
        default=512, description="Edge routers, each on one metropolitan router."
    )
    hosts: Annotated[int, Strict(), Between(2, 10_000_000, "hosts")] = Field(
        default=10_000, description="Hosts, distributed evenly over the edge routers."
    )


class FatTree(ScenarioModel):
    """A data centre of switches with k ports: k pods, (k / 2)^2 core switches, k^3 / 4 hosts."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[FatTreeDict]) -> None: ...

    k: Annotated[int, Strict(), Between(2, 128, "ports")] = Field(
        default=4, description="Ports of a switch; an even number."
    )

    @model_validator(mode="after")
    def _even(self) -> Self:
        if self.k % 2:
            wrong = f"{self.k} ports cannot be divided by two"
            raise ScenarioError("out-of-range", wrong, "write an even number", field="k")
        return self
