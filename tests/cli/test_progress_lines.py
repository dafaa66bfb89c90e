"""Progress where no terminal is: lines with the time that is left."""

import time

from forebay.cli import output


def test_the_time_left_is_told_from_where_a_stage_or_a_repeated_part_began(capsys, monkeypatch):
    """A run that was done again had the time of the first one in its speed: 32 min for 5."""
    now = iter([0.0, 20.0, 40.0, 60.0, 80.0, 100.0, 120.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    shown = output._Lines("testbed")
    for fraction in (0.25, 0.5, 0.25, 0.5):
        shown(fraction)
    shown.stage("paths")
    shown(0.5)
    said = [line.partition(": ")[2] for line in capsys.readouterr().err.splitlines()]
    assert said == [
        "25%, about 60 s left", "50%, about 40 s left", "25%", "50%, about 40 s left", "0%",
        "50%, about 20 s left",
    ]  # fmt: skip
