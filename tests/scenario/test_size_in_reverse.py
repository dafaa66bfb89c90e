"""A size over the root of n, where one direction has no flows that last."""

import pytest

from forebay.scenario import ScenarioError, loads

HEAD = '[link]\nrate = "10 Mbit/s"\n[queue]\nsize = "1 bdp/sqrt(n)"\n'
SHORT = '[[traffic]]\nkind = "short"\nload = 0.1\nlength = "9 packets"\ndirection = "reverse"\n'


def test_short_flows_in_reverse_queue_with_the_acks_that_are_counted() -> None:
    scenario = loads(f"{HEAD}[[traffic]]\nflows = 4\n{SHORT}")
    assert scenario.at_link("reverse").n_for_size == 4
    assert scenario.queue_packets("reverse") > 0


def test_without_any_lasting_flows_it_is_refused() -> None:
    forward = SHORT.replace('direction = "reverse"\n', "")
    with pytest.raises(ScenarioError) as caught:
        loads(HEAD + forward + SHORT)
    assert caught.value.field == "queue.size"
