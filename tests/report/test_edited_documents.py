"""Documents that somebody edited: series of different lengths are refused in a line.

`tests/fuzz/test_every_answer.py` puts other values in each place of an answer.
"""

import json

import pytest
from tests.scenarios import PAIR, scenario

import forebay
from forebay import ForebayError
from forebay.report import read_answer
from forebay.scenario import loads

LINK = scenario({"measure": {"warmup": "100 ms", "duration": "200 ms"}})
SERIES = {
    "trace": [
        ("at_s",), ("window_sums",), ("links", "bottleneck", "queue_packets"),
        ("flows", "0", "srtt_s"), ("drops", "flow"),
    ],
    "transient": [("at_s",), ("rtt_s",), ("links", "core", "loss_rate")],
}  # fmt: skip
WITH_SERIES = {
    "trace": lambda: forebay.trace(LINK),
    "transient": lambda: forebay.networks.transient(loads(PAIR), "1 s", samples=9),
}


@pytest.mark.parametrize("kind", SERIES)
def test_series_with_a_value_too_many_are_refused(kind: str) -> None:
    document = json.loads(WITH_SERIES[kind]().to_json())
    for path in SERIES[kind]:
        series = document
        for part in path:
            series = series[part]
        series.append(1)
        with pytest.raises(ForebayError, match=r"has \d+ values, and at_s \d+") as refused:
            read_answer(json.dumps(document), "edited.json")
        assert "\n" not in str(refused.value)
        series.pop()
