"""The answer: one closed, versioned type for every engine."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Metric(_Frozen):
    """A value with its 95 % confidence interval.

    ``n`` counts replications. ``low`` and ``high`` are None where one run gives no
    interval; "not measured" is a None in the Metric's place, never a zero.
    """

    value: float
    low: float | None
    high: float | None
    n: int


class Quantiles(_Frozen):
    """Mean and quantiles of one distribution, each with its interval."""

    mean: Metric | None
    p50: Metric | None
    p95: Metric | None
    p99: Metric | None


class LinkOutcome(_Frozen):
    """What one link did in the measured window.

    ``asked`` holds what the scenario's goals ask for beyond the rest, by the name of
    `outcome.asked`; a goal that the engine cannot answer has no entry.
    """

    utilization: Metric | None
    loss_rate: Metric | None
    queue_packets: Quantiles | None
    queue_delay_s: Quantiles | None
    buffer_packets: int
    bdp_packets: float
    marks: Metric | None = None
    asked: dict[str, Metric] = Field(default_factory=dict)


class ClassOutcome(_Frozen):
    """What one traffic class got in the measured window."""

    kind: str
    flows: int
    throughput_bps: Metric | None
    goodput_bps: Metric | None
    jain: Metric | None
    rtt_s: Quantiles | None
    loss_rate: Metric | None
    timeouts: Metric | None
    fct_s: Quantiles | None
    retransmissions: Metric | None = None


class Provenance(BaseModel):
    """Where an answer came from; engines may add facts of their own."""

    model_config = ConfigDict(frozen=True, extra="allow")

    version: str
    seeds: list[int]
    scenario_sha256: str
    wall_s: float
    packets: int | None = None


class Outcome(_Frozen):
    """One engine's answer to one scenario (schema 1)."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    scenario: dict[str, Any]
    engine: str
    links: dict[str, LinkOutcome]
    classes: list[ClassOutcome]
    broken_assumptions: list[str]
    provenance: Provenance
