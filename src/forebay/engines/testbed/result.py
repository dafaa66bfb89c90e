"""Converts RESULT.json into the arrays that every engine's core returns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from forebay.engines.replication import RawReadings
from forebay.engines.replication.raw import RawDetail, RawHistogram, RawIncidents, RawLink, RawTrace
from forebay.engines.testbed.errors import TestbedError
from forebay.outcome.reading import FloatArray, IntArray

_DEFECT = "forebay and forebay-emulator must be of one version: run `make setup testbed`"


class Result(NamedTuple):
    """The emulator's readings, including those of its own process."""

    raw: RawReadings
    gate: dict[str, float]
    provenance: dict[str, Any]


def read_result(path: Path) -> Result:
    """Read the file that the emulator wrote.

    Raises
    ------
    TestbedError
        The file does not exist, or has another format than this version reads.
    """
    try:
        fields = json.loads(path.read_text())
        return Result(_readings(fields), fields["gate"], fields.get("provenance", {}))
    except (OSError, ValueError, KeyError, TypeError) as error:
        wrong = f"the result of forebay-emulator cannot be read ({error!r})"
        raise TestbedError(wrong, _DEFECT) from error


def _readings(fields: dict[str, Any]) -> RawReadings:
    classes = len(fields["rtt"])
    trace = fields.get("trace")
    return RawReadings(
        links=[_link(each, classes) for each in fields["links"]],
        sent=_table(fields["sent"], classes),
        drops=_table(fields["drops"], classes),
        passed=_table(fields["passed"], classes),
        delivered_bytes=_table(fields["delivered_bytes"], classes),
        timeouts=_table(fields["timeouts"], classes),
        retransmissions=_table(fields["retransmissions"], classes),
        flow_bytes=_whole(fields["flow_bytes"]),
        flow_drops=_whole(fields["flow_drops"]),
        flow_passed=_whole(fields["flow_passed"]),
        rtt=[_histogram(each) for each in fields["rtt"]],
        completions_s=[_numbers(each) for each in fields["completions_s"]],
        unfinished_s=[_numbers(each) for each in fields["unfinished_s"]],
        trace=None if trace is None else _trace(trace),
        packets=fields["packets"],
        events=fields["events"],
        wall_s=fields["wall_s"],
    )


def _link(fields: dict[str, Any], classes: int) -> RawLink:
    detail = fields.get("detail")
    return RawLink(
        busy_s=_numbers(fields["busy_s"]),
        queue_packet_s=_numbers(fields["queue_packet_s"]),
        delay_sum_s=_numbers(fields["delay_sum_s"]),
        queue_s=_numbers(fields["queue_s"]),
        queue_bin_width=fields["queue_bin_width"],
        delay=_histogram(fields["delay"]),
        classes=np.arange(classes),
        longest_s=fields["longest_s"],
        delays=[_histogram(each) for each in fields["delays"]],
        held=_whole(fields["held"]),
        lost=_whole(fields["lost"]),
        arrivals=_table(fields["arrivals"], classes),
        drops=_table(fields["drops"], classes),
        marks=_table(fields["marks"], classes),
        accepted=_table(fields["accepted"], classes),
        sent=_table(fields["sent"], classes),
        sent_bytes=_table(fields["sent_bytes"], classes),
        class_busy_s=_numbers(fields["class_busy_s"]).reshape(-1, classes),
        detail=None if detail is None else _detail(detail),
    )


def _detail(fields: dict[str, Any]) -> RawDetail:
    return RawDetail(
        seen=_whole(fields["seen"]),
        busy=_stretches(fields["busy"]),
        idle=_stretches(fields["idle"]),
    )


def _stretches(fields: list[Any]) -> tuple[float, RawHistogram]:
    total_s, lengths = fields
    return float(total_s), _histogram(lengths)


def _trace(fields: dict[str, Any]) -> RawTrace:
    return RawTrace(
        at_s=_numbers(fields["at_s"]),
        queue=_whole(fields["queue"]),
        window_sum=_numbers(fields["window_sum"]),
        in_avoidance=_whole(fields["in_avoidance"]),
        cwnd=_numbers(fields["cwnd"]),
        srtt_s=_numbers(fields["srtt_s"]),
        state=_whole(fields["state"]),
        window_mean=_numbers(fields["window_mean"]),
        window_variance=_numbers(fields["window_variance"]),
        drops=_incidents(fields["drops"]),
        reductions=_incidents(fields["reductions"]),
    )


def _incidents(fields: dict[str, Any]) -> RawIncidents:
    return RawIncidents(
        at_s=_numbers(fields["at_s"]),
        flow=_whole(fields["flow"]),
        count=_whole(fields["count"]),
    )


def _histogram(fields: list[Any]) -> RawHistogram:
    edges, counts = fields
    return _numbers(edges), _numbers(counts)


def _numbers(fields: list[Any]) -> FloatArray:
    return np.asarray(fields, dtype=np.float64)


def _whole(fields: list[Any]) -> IntArray:
    return np.asarray(fields, dtype=np.int64)


def _table(fields: list[list[int]], classes: int) -> IntArray:
    return _whole(fields).reshape(-1, classes)
