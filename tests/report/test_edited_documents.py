"""Documents that somebody edited: a value of another kind is refused in a line, or printed."""

import contextlib
import io
import json
import math
from collections.abc import Iterator
from copy import deepcopy
from itertools import islice, product
from typing import Any

import pytest

import forebay
from forebay import ForebayError, Link, Long, Measure, Queue, Scenario
from forebay.report import Comparison, print_answer, read_answer
from forebay.scenario import loads

VALUES: tuple[Any, ...] = (
    {}, math.inf, 10**400, [], -1, "a\nb\ud800", None, math.nan, 1e308, [{}], {"x": 1}, True,
)  # fmt: skip
LINK = Scenario(
    link=Link(rate="1 Mbit/s"),
    queue=Queue(size="9 packets"),
    traffic=[Long(flows=2, rtt="20 ms")],
    measure=Measure(warmup="100 ms", duration="200 ms"),
)
MADE = {
    "outcome": lambda: forebay.run(LINK),
    "comparison": lambda: Comparison(outcomes=tuple(forebay.compare(LINK))),
    "size": lambda: forebay.size(LINK.replace({"goals.utilization": 0.5})),
    "trace": lambda: forebay.trace(LINK),
}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value; of a list's items that of the first."""
    if path:
        yield path
    if isinstance(value, dict):
        for name, each in value.items():
            yield from places(each, (*path, name))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*path, 0))


def edited(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    made = deepcopy(document)
    here = made
    for part in path[:-1]:
        here = here[part]
    here[path[-1]] = value
    return made


def read(document: Any) -> str:
    """Return how a document ends, as the command prints it: refused, or printed whole."""
    try:
        answer = read_answer(json.dumps(document), "edited.json")
        with contextlib.redirect_stdout(io.StringIO()):
            print_answer(answer)
        answer.to_json().encode()
    except ForebayError as error:
        assert error.exit_status == 2, error
        assert "\n" not in str(error)
        return "refused"
    return "printed"


@pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", MADE)
def test_an_edited_value_is_refused_in_a_line_or_printed(kind: str, every: int) -> None:
    answer = MADE[kind]()
    document = json.loads(answer.to_json())
    assert read(document) == "printed"
    wrong, refused = [], 0
    for path, value in islice(product(places(document), VALUES), 0, None, every):
        try:
            refused += read(edited(document, path, value)) == "refused"
        except Exception as error:  # all are wanted, and what they are of
            at = ".".join(map(str, path))
            wrong.append(f"{at} = {str(value)[:40]!r}: {type(error).__name__}: {error}"[:200])
    assert not wrong, f"{len(wrong)} of them\n" + "\n".join(wrong[:200])
    assert refused > 100 / every


SERIES = {
    "trace": [
        ("at_s",), ("window_sums",), ("links", "bottleneck", "queue_packets"),
        ("flows", "0", "srtt_s"), ("drops", "flow"),
    ],
    "transient": [("at_s",), ("rtt_s",), ("links", "core", "loss_rate")],
}  # fmt: skip
NETWORK = """
link = { rate = "5 Mbit/s", delay = "9 ms" }
traffic = [{ flows = 9 }]
[topology]
model = "hisamatsu-2007"
[[topology.links]]
between = ["A", "B"]
buffer = "9 packets"
"""
WITH_SERIES = {
    "trace": MADE["trace"],
    "transient": lambda: forebay.networks.transient(loads(NETWORK), "1 s", samples=9),
}


@pytest.mark.parametrize("kind", SERIES)
def test_series_with_a_value_too_many_are_refused(kind: str) -> None:
    document = json.loads(WITH_SERIES[kind]().to_json())
    for path in SERIES[kind]:
        here = document
        for part in path:
            here = here[part]
        with pytest.raises(ForebayError, match=r"has \d+ values, and at_s \d+") as refused:
            read_answer(json.dumps(edited(document, path, [*here, 1])), "edited.json")
        assert "\n" not in str(refused.value)
