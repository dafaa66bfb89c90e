"""An interval holds its value, at the ends of the range too."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.measure.estimate import share


@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_a_share_lies_in_its_interval(part, whole):
    told = share(min(part, whole), whole)
    assert 0.0 <= told.low <= told.value <= told.high <= 1.0


@pytest.mark.parametrize("whole", [1, 7, 7491, 10**6])
def test_none_and_all_are_in_their_intervals(whole):
    assert share(0, whole).low == 0.0
    assert share(whole, whole).high == 1.0


def test_the_interval_of_twenty_batches_is_student_s():
    from scipy.special import stdtrit

    from forebay.measure.estimate import BATCHES, STUDENT_95

    assert pytest.approx(float(stdtrit(BATCHES - 1, 0.975)), rel=1e-12) == STUDENT_95


def test_a_capture_without_an_h_needs_no_scipy_and_no_asyncio(tmp_path):
    """Half a second of each command was their loading."""
    import subprocess
    import sys

    from tests.measure.test_exports import PROTOCOLS, written

    path = written(tmp_path / "x.pcap", PROTOCOLS["v5"])
    code = (
        "import sys; from forebay import measure;"
        f"measure.exports([{str(path)!r}], rate='100 Mbit/s');"
        "print(*{'scipy', 'asyncio', 'ssl'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("", "")
