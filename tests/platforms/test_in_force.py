"""What a text switches off, and rates with decimals or that are not understood."""

from __future__ import annotations

import pytest
from tests.platforms.reading import one, said, wanted

from forebay.platforms import Port, lint

BRACES = """class-of-service {
 schedulers {
  A {
   buffer-size temporal 8k;
  }
  inactive: B {
   buffer-size temporal 1k;
  }
  C {
   transmit-rate 1g;
   inactive: buffer-size temporal 1k;
  }
 }
}
"""
SET = """set class-of-service schedulers A buffer-size temporal 8000
set class-of-service schedulers B buffer-size temporal 1000
deactivate class-of-service schedulers B
set class-of-service schedulers C inactive: buffer-size temporal 1000
"""


@pytest.mark.parametrize("text", [BRACES, SET])
def test_a_junos_statement_that_is_inactive_is_no_size(text: str, gigabit: Port) -> None:
    found = lint(text, gigabit, wanted=wanted(83, gigabit))
    assert [each.bytes for each in found.readings] == [1_000_000, None, None]
    assert [each.queue for each in found.readings] == ["scheduler A", "scheduler B", "scheduler C"]
    assert all("not in force" in said(each) for each in found.readings[1:])
    assert found.exit_status == 1 and not found.unread


def test_activate_switches_on_again(gigabit: Port) -> None:
    text = f"{SET}activate class-of-service schedulers B\n"
    assert [each.bytes for each in lint(text, gigabit).readings] == [1_000_000, 125_000, None]


def test_an_inactive_shaping_rate_shapes_nothing(gigabit: Port) -> None:
    head = "set class-of-service schedulers A"
    text = f"{head} buffer-size temporal 8000\n{head} shaping-rate 100m\n"
    assert one(text, gigabit).served is not None
    assert (
        one(f"{text}deactivate class-of-service schedulers A shaping-rate", gigabit).served is None
    )


@pytest.mark.parametrize(
    ("rate", "served"),
    [
        ("percent-rate 10.00 cir 5.00", 1e8),
        ("percent-rate 25.50", 2.55e8),
        ("percent-rate 10", 1e8),
        ("rate 4000 cir 2000", 4e6),
        ("rate max", None),
        ("percent-rate 100.5", None),
        ("rate 4x", None),
    ],
)
def test_a_rate_of_sr_os_is_read_or_said(rate: str, served: float | None, gigabit: Port) -> None:
    text = f"sap-egress 30 create\n queue 1 create\n  {rate}\n  mbs 1000 kilobytes\n exit\nexit\n"
    reading = one(text, gigabit)
    found = None if reading.served is None else reading.served.rate_bps
    assert found == (None if served is None else pytest.approx(served))
    unclear = served is None and "max" not in rate
    assert ("is not understood: the queue may drain more slowly" in said(reading)) == unclear


def test_a_rule_named_pir_does_not_make_it_the_model_driven_cli(gigabit: Port) -> None:
    text = "sap-egress 5 create\n queue 1 create\n  adaptation-rule pir max\n  mbs 7\n exit\nexit\n"
    assert one(text, gigabit).bytes == 7000
