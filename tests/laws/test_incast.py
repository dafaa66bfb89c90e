"""The buffer that holds the first windows of workers that answer at once, by hand."""

from __future__ import annotations

import pytest

from forebay.laws.incast import first_windows
from forebay.scenario import loads

PORT = """
link.rate = "1 Gbit/s"
queue.size = "100 packets"
[[traffic]]
kind = "requests"
flows = 10
response = "{response} packets"
rtt = "200 us"
access_rate = "1 Gbit/s"
"""


@pytest.mark.parametrize(("response", "window"), [(3, 3), (10, 10), (50, 10)])
def test_a_window_is_the_initial_one_or_the_whole_answer(response: int, window: int) -> None:
    law = first_windows(loads(PORT.format(response=response)))
    assert law is not None
    assert law.packets == 10 * window
