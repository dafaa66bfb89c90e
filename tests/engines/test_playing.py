"""Scenarios that an engine does not support are refused in one line, with exit status 3."""

import pickle

import pytest

from forebay.engines import NoLaw, get
from forebay.scenario import loads

HEAD = 'queue.size = "9 packets"\nlink.rate = "100 Mbit/s"\n[[traffic]]\nflows = 3\n'
VIDEO = '[[traffic]]\nkind = "video"\nflows = 1\nrate = "1 Mbit/s"\n'
SHORT = '[[traffic]]\nkind = "short"\nlength = "3 packets"\nload = 0.1\n'


def test_theory_needs_flows_that_last_or_bursts():
    head = HEAD.partition("[[traffic]]")[0]
    with pytest.raises(NoLaw, match="open-loop traffic"):
        get("theory").run(loads(head + VIDEO), [1])
    with pytest.raises(NoLaw) as caught:
        get("theory").run(loads(head + VIDEO), [1])
    assert len(str(caught.value).splitlines()) == 1
    assert caught.value.exit_status == 3
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert get("theory").run(loads(head + SHORT), [1]).links["bottleneck"].utilization is not None


def test_theory_answers_a_mix_and_says_what_it_left_out():
    outcome = get("theory").run(loads(HEAD + VIDEO + SHORT), [1])
    assert "traffic of kind short, video: the law covers long-lived TCP flows only" in (
        outcome.broken_assumptions
    )
    assert outcome.classes[1].rtt_s is None
