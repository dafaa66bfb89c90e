"""Several class queues as configuration, read back by the platform's own reader."""

import random
from typing import Any

import pytest

from forebay import Scenario, platforms
from forebay.platforms import PlatformError, Port


def port(classes: list[dict[str, Any]], **link: Any) -> Scenario:
    traffic = [
        {"name": each["name"], "flows": 2, "packet": each.pop("packet", "1500 B")}
        for each in classes
    ]
    queues = [{"traffic": [each["name"]], "size": "9 packets"} | each for each in classes]
    return Scenario.from_dict(
        {
            "link": {"rate": "1 Gbit/s"} | link,
            "queue": {"discipline": "classes", "classes": queues},
            "traffic": traffic,
        }
    )


@pytest.mark.parametrize("platform", ["junos", "ios-xe"])
def test_what_is_written_is_read_back_as_the_same_sizes(platform: str) -> None:
    draw = random.Random(43)
    for _ in range(50):
        names = [f"c{n}" for n in range(draw.randint(2, 6))]
        scenario = port(
            [
                {
                    "name": name,
                    "size": f"{draw.randint(1, 5000)} packets",
                    "weight": draw.choice([0.5, 1.0, 2.0, 3.0, 7.5]),
                    **({"priority": draw.randint(1, 2)} if draw.random() < 0.3 else {}),
                }
                for name in names
            ]
        )
        made = platforms.emit_classes(scenario, platform)
        read = platforms.lint(made.text, Port(1e9), platform=platform).readings
        found = {each.queue.split()[-1]: each for each in read}
        assert set(found) == set(names)
        for limit in made.limits:
            reading = found[limit.queue.name]
            assert reading.bytes is not None
            assert abs(reading.bytes - limit.bytes) <= reading.rounding_bytes


def test_a_shaped_port_is_read_at_its_shapers_rate() -> None:
    scenario = port([{"name": "a"}, {"name": "b"}], shaper={"rate": "100 Mbit/s", "burst": "15 kB"})
    for platform in ("junos", "ios-xe"):
        made = platforms.emit_classes(scenario, platform)
        for reading in platforms.lint(made.text, Port(1e9), platform=platform).readings:
            assert reading.served is not None
            assert reading.served.rate_bps == 100e6
            assert reading.bytes is not None
            assert abs(reading.bytes - 9 * 1500) <= reading.rounding_bytes


def test_shares_are_whole_and_add_up_to_what_guaranteed_rates_leave() -> None:
    scenario = port(
        [
            {"name": "a", "weight": 1.0},
            {"name": "b", "weight": 1000.0},
            {"name": "c", "min_rate": "250 Mbit/s", "max_rate": "300 Mbit/s"},
        ]
    )
    text = platforms.emit_classes(scenario, "junos").text
    assert "schedulers a transmit-rate percent 1\n" in text
    assert "schedulers b transmit-rate percent 74\n" in text
    assert "schedulers c transmit-rate 250000000\n" in text
    assert "schedulers c shaping-rate 300000000\n" in text
    with pytest.raises(PlatformError, match="min_rate of c"):
        platforms.emit_classes(scenario, "ios-xe")


def test_a_default_queue_is_class_default_and_small_packets_are_counted_as_such() -> None:
    scenario = port([{"name": "voice", "packet": "200 B", "priority": 3}, {"name": "rest"}])
    text = platforms.emit_classes(scenario, "ios-xe").text
    assert "! voice: 9 packets of 200 B = 1800 B" in text
    assert " class voice\n  priority level 1\n  queue-limit 9 packets\n" in text
    default = Scenario.from_dict(
        scenario.to_dict()
        | {"queue": {"discipline": "classes", "classes": [{"name": "all", "default": True}]}}
    )
    assert " class class-default\n" in platforms.emit_classes(default, "ios-xe").text


@pytest.mark.parametrize(
    ("platform", "classes", "said"),
    [
        ("ios-xe", [{"name": f"c{n}", "priority": n} for n in range(3)], "3 strict priorities"),
        ("junos", [{"name": f"c{n}", "priority": n} for n in range(5)], "5 strict priorities"),
        ("junos", [{"name": f"c{n}"} for n in range(9)], "9 class queues, and a port has 8"),
        ("junos", [{"name": "a"}, {"name": "b", "min_rate": "1 Gbit/s"}], "less than 1 %"),
        ("sonic", [{"name": "a"}], "several class queues are not written for sonic"),
    ],
)
def test_what_a_platform_cannot_express_is_refused(
    platform: str, classes: list[dict[str, Any]], said: str
) -> None:
    with pytest.raises(PlatformError, match=said):
        platforms.emit_classes(port(classes), platform)


@pytest.mark.parametrize("platform", ["junos", "ios-xe"])
def test_a_burst_of_the_ports_shaper_is_said_not_to_be_written(platform: str) -> None:
    shaper = {"rate": "100 Mbit/s", "burst": "30 kB"}
    made = platforms.emit_classes(port([{"name": "a"}], shaper=shaper), platform)
    assert "the shaper's burst of 30000 B is not written" in made.text
    plain = platforms.emit_classes(port([{"name": "a"}]), platform)
    assert "burst" not in plain.text
