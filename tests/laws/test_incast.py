"""The buffer that holds the first windows of workers that answer at once, by hand."""

import pytest

from forebay.laws.incast import first_windows, one_window
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
def test_a_window_is_the_initial_one_or_the_whole_answer(response, window):
    law = first_windows(loads(PORT.format(response=response)))
    assert law.packets == 10 * window


@pytest.mark.parametrize(("response", "holds"), [(3, True), (10, True), (11, False)])
def test_an_answer_longer_than_the_initial_window_breaks_it(response, holds):
    scenario = loads(PORT.format(response=response))
    said = one_window(scenario)
    assert (said is None) == holds
    assert holds or f"answers of {response} packets, initial windows of 10" in str(said)
    assert one_window(loads('link.rate = "1 Gbit/s"\n[[traffic]]\nflows = 1\n')) is None
