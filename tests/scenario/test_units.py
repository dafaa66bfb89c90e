"""Text with units: what it means, what is refused, and that printing loses nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refused import refused

from forebay.scenario import DataSize, Duration, Rate, loads

from .build import SMALLEST


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Rate, "155 Mbit/s", 155e6),
        (Rate, "155 Mbps", 155e6),
        (Rate, "155Mb/s", 155e6),
        (Rate, "0.155 Gbit/s", 155e6),
        (Rate, "2.5 Gb/s", 2.5e9),
        (Rate, "10 megabits per second", 10e6),
        (Rate, "1 MB/s", 8e6),
        (Rate, "1e6 bit/s", 1e6),
        (Rate, "60 kbit/min", 1e3),
        (Duration, "10 ms", 0.01),
        (Duration, "200 us", 2e-4),
        (Duration, "200 µs", 2e-4),
        (Duration, "35 ms", 0.035),
        (Duration, "1.5 min", 90.0),
        (DataSize, "1500 B", 1500),
        (DataSize, "1.5 MB", 1_500_000),
        (DataSize, "64 KiB", 65_536),
        (DataSize, "12 kbit", 1500),
    ],
)
def test_quantities(kind: type[Rate], text: str, value: float) -> None:
    assert kind.parse(text) == kind(text) == kind(value) == value


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
    with refused(said, code):
        kind.parse(value)


@given(st.floats(0, 1e15, allow_subnormal=False).filter(lambda x: x == 0 or x > 1e-15))
def test_floats_survive_printing(number: float) -> None:
    assert Rate.parse(str(Rate(number))) == number
    assert Duration.parse(str(Duration(number))) == number


@given(st.integers(0, 2**60))
def test_sizes_survive_printing(number: int) -> None:
    assert DataSize.parse(str(DataSize(number))) == number


def test_people_read_the_units_they_would_write() -> None:
    assert (str(Duration(-1e-3)), str(Rate(-5e6))) == ("-1 ms", "-5 Mbit/s")
    assert str(Rate(155e6)) == "155 Mbit/s"
    assert f"{Duration(0.08)} {Duration(0)} {Duration(40)}" == "80 ms 0 s 40 s"
    assert f"{DataSize(1500)} {DataSize(1_500_000)}" == "1500 B 1.5 MB"


def test_a_power_of_ten_is_no_range() -> None:
    sets = ["traffic.0.rtt=4.5e-02 s", "traffic.0.start=4e-05 s"]
    assert loads(SMALLEST, overrides=sets).mean_rtt == pytest.approx(0.045)


@pytest.mark.parametrize(
    "text", ["9" * 10**6 + " Gbit/s", "0." + "3" * 10**6 + " Mbit/s", "9" * 401, "1e400", "9" * 350]
)
def test_a_number_of_a_million_digits_is_one_line_and_no_hint_suggests_infinity(text):
    with refused(None) as error:
        Rate.parse(text)
    assert len(str(error.value)) < 500 and "inf" not in str(error.value).lower()
