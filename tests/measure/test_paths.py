"""What is said of round trips and losses besides their values."""

from typing import Any

import pytest

from forebay.measure.capture import _losses
from forebay.measure.estimate import Measured


@pytest.mark.parametrize(("lost", "said"), [(50, False), (150, True)])
def test_heavy_loss_is_said_to_bias_round_trips_and_losses(lost, said):
    found = Measured()
    counted: Any = {"data_segments": 1000, "lost_before": lost, "repeated": 0, "late": 0}
    _losses(counted, "egress", found)
    assert any("too long" in note for note in found.notes) is said
