"""An interval holds its value, at the ends of the range too; and what is said besides values."""

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit
from tests.measure.test_exports import PROTOCOLS, written

from forebay.measure.capture import _losses
from forebay.measure.estimate import BATCHES, STUDENT_95, Measured, share


@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_a_share_lies_in_its_interval(part, whole):
    told = share(min(part, whole), whole)
    assert 0.0 <= told.low <= told.value <= told.high <= 1.0


@pytest.mark.parametrize("whole", [1, 7, 7491, 10**6])
def test_none_and_all_are_in_their_intervals(whole):
    assert share(0, whole).low == 0.0
    assert share(whole, whole).high == 1.0


def test_the_interval_of_twenty_batches_is_student_s():
    assert pytest.approx(float(stdtrit(BATCHES - 1, 0.975)), rel=1e-12) == STUDENT_95


def test_a_capture_without_an_h_needs_no_scipy_and_no_asyncio(tmp_path):
    """Half a second of each command was their loading."""
    path = written(tmp_path / "x.pcap", PROTOCOLS["v5"])
    code = (
        "import sys; from forebay import measure;"
        f"measure.exports([{str(path)!r}], rate='100 Mbit/s');"
        "print(*{'scipy', 'asyncio', 'ssl'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("", "")


@pytest.mark.parametrize(("lost", "said"), [(50, False), (150, True)])
def test_heavy_loss_is_said_to_bias_round_trips_and_losses(lost, said):
    found = Measured()
    counted: Any = {"data_segments": 1000, "lost_before": lost, "repeated": 0, "late": 0}
    _losses(counted, "egress", found)
    assert any("too long" in note for note in found.notes) is said
