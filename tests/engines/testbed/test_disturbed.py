"""Losses that a stall of the machine explains are said."""

import pytest

from forebay.engines import get
from forebay.engines.testbed.retry import disturbed
from forebay.report import print_outcome


@pytest.mark.parametrize(("after", "said"), [(0, False), (4, False), (5, True), (100, True)])
def test_from_a_twentieth_of_the_losses_on(after, said):
    assert bool(disturbed([{"drops": 100, "stall_drops": after}])) is said


def test_of_all_runs_together():
    (line,) = disturbed([{"drops": 60, "stall_drops": 10}, {"drops": 40, "stall_drops": 0}])
    assert line.startswith("This machine stalled: 10 of 100 losses (10%)")
    assert disturbed([{}]) == (), "a record of before has no such reading"
    assert disturbed([{"drops": 0, "stall_drops": 0}]) == ()


def test_it_stands_in_the_first_lines(fake, small, capsys):
    fake("stalled")
    outcome = get("testbed").run(small, [1])
    assert "400 of 1600 losses (25%)" in outcome.disturbed[0]
    print_outcome(outcome)
    head = " ".join(capsys.readouterr().out.split()).partition("Link bottleneck")[0]
    assert "This machine stalled: 400 of 1600 losses (25%)" in head
