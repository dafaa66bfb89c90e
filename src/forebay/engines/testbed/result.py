"""RESULT.json back into the arrays that every engine's core hands over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from forebay.engines.testbed.errors import TestbedError
from forebay.outcome.reading import FloatArray, IntArray
from forebay.replication import RawReadings
from forebay.replication.raw import RawDetail, RawHistogram, RawIncidents, RawLink, RawTrace

_DEFECT = "forebay and forebay-emulator must be of one version: run `make setup`"


class Result(NamedTuple):
    """What the emulator read; of itself too."""

    raw: RawReadings
    gate: dict[str, float]
    provenance: dict[str, Any]


def read_result(path: Path) -> Result:
    """Read the file that the emulator wrote.

    Raises
    ------
    TestbedError
        It is not there, or not what this version reads.
    """
    try:
        told = json.loads(path.read_text())
        return Result(_readings(told), told["gate"], told.get("provenance", {}))
    except (OSError, ValueError, KeyError, TypeError) as error:
        wrong = f"the result of forebay-emulator cannot be read ({error!r})"
        raise TestbedError(wrong, _DEFECT) from error


def _readings(told: dict[str, Any]) -> RawReadings:
    classes = len(told["rtt"])
    trace = told.get("trace")
    return RawReadings(
        links=[_link(each, classes) for each in told["links"]],
        sent=_table(told["sent"], classes),
        drops=_table(told["drops"], classes),
        passed=_table(told["passed"], classes),
        delivered_bytes=_table(told["delivered_bytes"], classes),
        timeouts=_table(told["timeouts"], classes),
        retransmissions=_table(told["retransmissions"], classes),
        flow_bytes=_whole(told["flow_bytes"]),
        flow_drops=_whole(told["flow_drops"]),
        flow_passed=_whole(told["flow_passed"]),
        rtt=[_histogram(each) for each in told["rtt"]],
        completions_s=[_numbers(each) for each in told["completions_s"]],
        unfinished_s=[_numbers(each) for each in told["unfinished_s"]],
        trace=None if trace is None else _trace(trace),
        packets=told["packets"],
        events=told["events"],
        wall_s=told["wall_s"],
    )


def _link(told: dict[str, Any], classes: int) -> RawLink:
    detail = told.get("detail")
    return RawLink(
        busy_s=_numbers(told["busy_s"]),
        queue_packet_s=_numbers(told["queue_packet_s"]),
        delay_sum_s=_numbers(told["delay_sum_s"]),
        queue_s=_numbers(told["queue_s"]),
        queue_bin_width=told["queue_bin_width"],
        delay=_histogram(told["delay"]),
        classes=np.arange(classes),
        longest_s=told["longest_s"],
        delays=[_histogram(each) for each in told["delays"]],
        held=_whole(told["held"]),
        arrivals=_table(told["arrivals"], classes),
        drops=_table(told["drops"], classes),
        marks=_table(told["marks"], classes),
        accepted=_table(told["accepted"], classes),
        sent=_table(told["sent"], classes),
        sent_bytes=_table(told["sent_bytes"], classes),
        class_busy_s=_numbers(told["class_busy_s"]).reshape(-1, classes),
        detail=None if detail is None else _detail(detail),
    )


def _detail(told: dict[str, Any]) -> RawDetail:
    return RawDetail(
        seen=_whole(told["seen"]), busy=_stretches(told["busy"]), idle=_stretches(told["idle"])
    )


def _stretches(told: list[Any]) -> tuple[float, RawHistogram]:
    total_s, lengths = told
    return float(total_s), _histogram(lengths)


def _trace(told: dict[str, Any]) -> RawTrace:
    return RawTrace(
        at_s=_numbers(told["at_s"]),
        queue=_whole(told["queue"]),
        window_sum=_numbers(told["window_sum"]),
        in_avoidance=_whole(told["in_avoidance"]),
        cwnd=_numbers(told["cwnd"]),
        srtt_s=_numbers(told["srtt_s"]),
        state=_whole(told["state"]),
        window_mean=_numbers(told["window_mean"]),
        window_variance=_numbers(told["window_variance"]),
        drops=_incidents(told["drops"]),
        reductions=_incidents(told["reductions"]),
    )


def _incidents(told: dict[str, Any]) -> RawIncidents:
    return RawIncidents(
        at_s=_numbers(told["at_s"]), flow=_whole(told["flow"]), count=_whole(told["count"])
    )


def _histogram(told: list[Any]) -> RawHistogram:
    edges, counts = told
    return _numbers(edges), _numbers(counts)


def _numbers(told: list[Any]) -> FloatArray:
    return np.asarray(told, dtype=np.float64)


def _whole(told: list[Any]) -> IntArray:
    return np.asarray(told, dtype=np.int64)


def _table(told: list[list[int]], classes: int) -> IntArray:
    return _whole(told).reshape(-1, classes)
