"""Text with units: what it means, what is refused, and that printing loses nothing."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.scenario import DataSize, Duration, Rate, ScenarioError, loads


@pytest.mark.parametrize(
    ("text", "bits_per_second"),
    [
        ("155 Mbit/s", 155e6),
        ("155 Mbps", 155e6),
        ("155Mb/s", 155e6),
        ("0.155 Gbit/s", 155e6),
        ("2.5 Gb/s", 2.5e9),
        ("10 megabits per second", 10e6),
        ("1 MB/s", 8e6),
        ("1e6 bit/s", 1e6),
        ("60 kbit/min", 1e3),
    ],
)
def test_rates(text: str, bits_per_second: float) -> None:
    assert Rate.parse(text) == Rate(text) == Rate(bits_per_second) == bits_per_second


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10 ms", 0.01), ("200 us", 2e-4), ("200 µs", 2e-4), ("35 ms", 0.035), ("1.5 min", 90.0)],
)
def test_durations(text: str, seconds: float) -> None:
    assert Duration.parse(text) == seconds


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [("1500 B", 1500), ("1.5 MB", 1_500_000), ("64 KiB", 65_536), ("12 kbit", 1500)],
)
def test_data_sizes(text: str, n_bytes: int) -> None:
    assert DataSize.parse(text) == n_bytes


@pytest.mark.parametrize(
    ("kind", "value", "code", "said"),
    [
        (Rate, 155, "no-unit", "155 Mbit/s"),
        (Rate, "155", "no-unit", "155 Mbit/s"),
        (Rate, "10 ms", "wrong-dimension", "is a time, not a rate"),
        (Duration, "1 Mbit/s", "wrong-dimension", "is a rate, not a time"),
        (Duration, "3 furlongs", "unknown-unit", "s, ms, us"),
        (DataSize, "1 KB", "unknown-unit", "KiB"),
        (Duration, "-1 s", "out-of-range", "negative"),
        (Duration, "nan s", "not-finite", "not finite"),
        (Rate, "inf bit/s", "not-finite", "not finite"),
        (Rate, "1e400 bit/s", "out-of-range", "too large"),
        (Rate, "1e99999999999999999999 bit/s", "out-of-range", "out of reach"),
        (DataSize, "1.5 B", "out-of-range", "part of a byte"),
        (Duration, True, "wrong-type", "True is not a quantity"),
        (Duration, None, "wrong-type", "not a quantity"),
        (Duration, "1 s + 1 s", "unknown-unit", "s, ms, us"),
        (Duration, "1 s**1000000000", "unknown-unit", "s, ms, us"),
    ],
)
def test_refused(kind: type[Rate], value: object, code: str, said: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        kind.parse(value)
    assert caught.value.code == code
    assert said in str(caught.value)


@given(st.floats(0, 1e15, allow_subnormal=False).filter(lambda x: x == 0 or x > 1e-15))
def test_floats_survive_printing(number: float) -> None:
    assert Rate.parse(str(Rate(number))) == number
    assert Duration.parse(str(Duration(number))) == number


@given(st.integers(0, 2**60))
def test_sizes_survive_printing(number: int) -> None:
    assert DataSize.parse(str(DataSize(number))) == number


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        assert math.isfinite(Duration.parse(text))
    except ScenarioError as error:
        assert len(str(error).splitlines()) == 1


def test_people_read_the_units_they_would_write() -> None:
    assert str(Rate(155e6)) == "155 Mbit/s"
    assert f"{Duration(0.08)} {Duration(0)} {Duration(40)}" == "80 ms 0 s 40 s"
    assert f"{DataSize(1500)} {DataSize(1_500_000)}" == "1500 B 1.5 MB"


def test_a_power_of_ten_is_no_range() -> None:
    scenario = loads(
        '[link]\nrate = "1 Mbit/s"\n[[traffic]]\nflows = 1\nrtt = "4.5e-02 s"\nstart = "4e-05 s"\n'
    )
    assert scenario.mean_rtt == pytest.approx(0.045)


@pytest.mark.parametrize(
    "text", ["9" * 10**6 + " Gbit/s", "0." + "3" * 10**6 + " Mbit/s", "9" * 401]
)
def test_a_number_of_a_million_digits_is_one_line(text):
    with pytest.raises(ScenarioError) as refused:
        Rate.parse(text)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 400


@pytest.mark.parametrize("text", ["1e400", "9" * 350])
def test_no_hint_suggests_infinity(text):
    with pytest.raises(ScenarioError) as refused:
        Rate.parse(text)
    assert "inf" not in str(refused.value).lower()
