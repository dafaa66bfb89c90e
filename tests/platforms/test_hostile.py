"""For any text, lint returns a result or raises PlatformError, quickly and in one line.

Its own output with damage is tried in `tests/fuzz/test_platforms.py`.
"""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import cases
from tests.platforms.reading import GIGABIT as PORT

from forebay.platforms import PlatformError, Snippet, lint, names
from forebay.platforms.snippet import MOST_BYTES

_WORDS = (
    "policy-map class class-default queue-limit bandwidth percent shape average priority ms us "
    "bytes packets interface service-policy output end-policy-map set class-of-service "
    "schedulers buffer-size temporal remainder { } ; sap-egress queue mbs network-queue tc "
    "qdisc add dev root bfifo pfifo netem limit delay 10ms tbf rate burst latency 1kb kind=bfifo "
    "bfifo-limit= qos policy drop-tail traffic-policy ! # \\ 0 1 129 99999999999999999 -1 1e9 % "
    "\u0660 \x00 \udc80"
)
WORDS = _WORDS.split(" ")
snippets = st.lists(st.sampled_from([*WORDS, "\n"]), max_size=60).map(" ".join)


def answers(text: str, platform: str | None) -> None:
    try:
        found = lint(text, PORT, platform=platform)
    except PlatformError as error:
        assert "\n" not in str(error) and len(str(error)) < 400
    else:
        json.dumps(found.to_dict(), allow_nan=False)
        found.text.encode()
        assert all(each.bytes is None or each.bytes >= 0 for each in found.readings)


@given(platform=st.sampled_from([None, *names()]), text=st.one_of(st.text(), snippets))
def test_garbage_never_breaks_it(platform: str | None, text: str) -> None:
    answers(text, platform)


leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8))
keys = st.sampled_from(
    ["BUFFER_PROFILE", "BUFFER_POOL", "p", "pool", "size", "static_th", "dynamic_th", "mode",
     "openconfig-qos:qos", "config", "name", "dedicated-buffer", "use-shared-buffer",
     "static-shared-buffer-limit", "dynamic-limit-scaling-factor"]
)  # fmt: skip
documents = st.recursive(
    leaves, lambda part: st.dictionaries(keys, part) | st.lists(part), max_leaves=12
)


@given(platform=st.sampled_from(["sonic", "openconfig"]), document=documents)
def test_json_of_any_shape_never_breaks_it(platform: str, document: object) -> None:
    answers(json.dumps(document), platform)


@pytest.mark.parametrize("raw", [b"\xff\xfe", b"queue-limit \xc3", b"a" * (MOST_BYTES + 1)])
def test_what_is_no_text_or_too_long_is_refused(raw: bytes) -> None:
    with pytest.raises(PlatformError):
        Snippet.decode(raw)


MANY = 65_000
BOMBS = {
    "braces": "a {" * MANY,
    "wide": "x " * MANY + "{" + "y;" * MANY,
    "mbs": "mbs 5 " * MANY,
    "json": "[" * MOST_BYTES,
    "keys": '{"a":' * MANY,
    "digits": '{"BUFFER_PROFILE":{"p":{"size":' + "9" * 500_000 + "}}}",
    "classes": "policy-map P\n" + "class C\nqueue-limit 1 ms\n" * 15_000,
    "limits": "policy-map P\nclass C\n" + "queue-limit 1 ms\n" * 25_000,
    "profiles": json.dumps({"BUFFER_PROFILE": {f"p{n}": {} for n in range(20_000)}}),
    "qdiscs": "qdisc bfifo 1: limit 5\n" * 15_000,
    "line": "tc qdisc " + "dev " * 200_000,
    "slashes": "a\\\n" * 100_000,
    "quotes": "'" * MOST_BYTES,
    "tells": ("buffer-size " * 160 + "\n") * 200,
}


SLOWEST = ("classes", "limits", "line", "slashes", "qdiscs")


@pytest.mark.parametrize("bomb", cases(BOMBS, lambda bomb: bomb not in SLOWEST))
def test_the_worst_texts_are_answered_soon(bomb: str) -> None:
    begun = time.process_time()
    for name in (None, *names()):
        answers(BOMBS[bomb][:MOST_BYTES], name)
    assert time.process_time() - begun < 20.0  # ten readers; a quadratic one takes minutes
