import pytest
from tests.outcomes import metric

from forebay.report.tables import (
    count,
    duration,
    number,
    percent,
    plain,
    show,
    show_interval,
    show_significant,
    whole_packets,
    with_prefix,
)
from forebay.words import Fact, format_number


def test_percent_scales_value_and_interval():
    assert percent(metric(0.98, 0.97, 0.985)) == metric(98.0, 97.0, 98.5)
    assert percent(metric(0.98)) == metric(98.0)
    assert percent(None) is None


def test_not_measured_is_not_zero_and_no_interval_is_past_its_ends():
    assert (show(None), show(metric(0.0))) == ("–", "0.00")
    assert show(metric(0.99, 0.975, 1.0), 100) == "99.00 (97.50 … 100.00)"
    assert show_significant(metric(0.9972, 0.9328, 1.0), 100) == "99.7 (93.3 … 100)"


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [(9_800, 0.0, "0.0098 ±0.0000"), (120, 44, "0.00012 ±0.00004"), (9_800, 2e6, "0.01 ±2.00"),
     (340_000, 1e4, "0.34 ±0.01"), (997_000, 5e3, "1.00 ±0.01")],
)  # fmt: skip
def test_a_slow_link_has_two_digits_too(value, half, text):
    """In Mbit/s, with two decimals on any other link."""
    assert show(metric(value, value - half, value + half), 1e-6) == text
    assert show(metric(0.4, 0.3, 0.5), 1.0, 0) == "0 ±0"


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [(0.381, 0.0204, "0.381 ±0.020"), (79.88, 2.4, "79.9 ±2.4"), (5.158, 0.063, "5.16 ±0.06"),
     (1234.5, 67.0, "1234 ±67"), (0.32, 0.96, "0.3 ±1.0"), (0.204, 1e-17, "0.204"),
     (0.034, 0.0, "0.0340"), (3e-5, 2e-6, "0.000030 ±0.000002")],
)  # fmt: skip
def test_a_value_goes_as_far_as_its_interval(value, half, text):
    assert show_significant(metric(value, value - half, value + half)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (0.0123456, "0.0123"), (12.345, "12.3"), (9.999, "10.0"), (123456.0, "123456"),
     (1.5e-7, "1.50e-07"), (2e9, "2000000000")],
)  # fmt: skip
def test_three_digits(value, text):
    assert plain(value) == text


@pytest.mark.parametrize(
    ("value", "spec", "text"),
    [(11207.0, ".4g", "11207"), (7044.2, ".3g", "7044"), (704.42, ".3g", "704"),
     (1.1e-6, ".3g", "1.1e-06"), (1e100, "g", "1e+100"), (0.5, "g", "0.5")],
)  # fmt: skip
def test_a_large_number_has_no_exponent(value, spec, text):
    assert format_number(value, spec) == text


def test_a_sentence_and_a_table_say_large_numbers_alike():
    assert number(11207.0, 1.0) == "11207"
    assert "7044 s" in str(Fact("broken.long-enough", periods=5, period_s=7044.2))


def test_units():
    assert [with_prefix(size, "B") for size in (193_500, 640)] == ["193.5 kB", "640 B"]
    assert [duration(s) for s in (0.01, 2.5e-5, 1.25)] == ["10.0 ms", "25.0 µs", "1.25 s"]


def test_what_is_only_known_to_be_at_least_says_so():
    least = metric(3.2, 2.9)
    assert show(least, 1.0, 1) == "≥ 3.2"
    assert show_significant(least) == "≥ 3.20"
    assert show_interval(least, 1.0, 1) == "2.9 or more"


def test_laws_are_rounded_up_but_for_dust():
    assert [whole_packets(x) for x in (127.03, 128.0, 128.0000000001, 0.4)] == [128, 128, 128, 1]
    assert (count(1, "packet"), count(2, "packet")) == ("1 packet", "2 packets")


def test_a_lopsided_interval_shows_both_ends():
    loss = metric(0.0114, 0.0057, 0.0376)
    assert show_significant(loss, 100) == "1.14 (0.570 … 3.76)"
    even = metric(0.0114, 0.0103, 0.0126)
    assert show_significant(even, 100) == "1.14 ±0.12"
