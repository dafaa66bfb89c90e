"""What a report says of the time, and of smaller links."""

from forebay.outcome import Metric, SizeResult
from forebay.report.headline import (
    cost_lines,
)
from forebay.report.scaling import scaled_lines


def metric(value: float, low: float, high: float) -> dict[str, float | int]:
    return {"value": value, "low": low, "high": high, "n": 6}


def link(factor: float, packets: float) -> dict[str, object]:
    return {
        "factor": factor, "rate_bps": 1e11 / factor, "flows": round(200_000 / factor),
        "window_packets": 4.0, "packets": metric(packets, packets - 1, packets + 1),
    }  # fmt: skip


def answer(share: float) -> SizeResult:
    return SizeResult.from_dict(
        {
            "schema": 1,
            "buffer": {"packets": 40, "bytes": 60_000, "seconds": 4.8e-6},
            "cost": {"predicted_s": 54.0, "spent_s": 58.1, "budget_s": 60.0},
            "scaled": {
                "factor": 100.0, "error": metric(0.0, -0.2, 0.5), "flows_share": share,
                "exponent": metric(0.12, 0.05, 0.2), "links": [link(100.0, 13), link(400.0, 11)],
            },
        }
    )  # fmt: skip


def test_it_says_plainly_that_and_how_a_link_was_scaled() -> None:
    first, second = scaled_lines(answer(1.0))
    assert "too large" in first and "100 times smaller" in first
    assert "each flow keeps its window" in first
    assert "1 Gbit/s with 2000 flows needs 13.0 (12.0 to 14.0)" in first
    assert "power of 0.12" in second and "-20 % to +50 %" in second
    assert "smaller windows" in scaled_lines(answer(0.0))[0]


def test_an_exponent_that_was_not_measured_is_not_given() -> None:
    of = answer(1.0)
    assert of.scaled is not None
    known = of.scaled.model_copy(update={"exponent": Metric(value=0.0, low=0.0, high=0.0, n=6)})
    said = scaled_lines(of.model_copy(update={"scaled": known}))[1]
    assert "power" not in said and "same, in packets, at any rate" in said


def test_it_says_what_was_spent() -> None:
    assert cost_lines(answer(1.0)) == ["Took 58.1 s of 60.0 s (expected: 54.0 s)."]


def test_a_link_that_was_played_itself_needs_no_words() -> None:
    plain = SizeResult.from_dict({"schema": 1, "buffer": None})
    assert scaled_lines(plain) == [] == cost_lines(plain)
