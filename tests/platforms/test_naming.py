"""Several ports of one platform: each has objects of its own name."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.platforms.reading import wanted

from forebay.platforms import PlatformError, Port, emit, lint, names, object_names


def test_a_single_port_keeps_the_plain_name() -> None:
    assert object_names(["anything"]) == ["FOREBAY"]


def test_names_come_from_the_ports() -> None:
    assert object_names(["r1-up", "r1-down"]) == ["FOREBAY-r1-up", "FOREBAY-r1-down"]
    assert object_names(["über, port", "Über port", "§"]) == [
        "FOREBAY-uber-port", "FOREBAY-Uber-port-2", "FOREBAY-port"
    ]  # fmt: skip


@given(st.lists(st.text(min_size=1), min_size=2, max_size=30, unique=True))
def test_names_are_legal_and_differ(ports: list[str]) -> None:
    found = object_names(ports)
    assert len({name.lower() for name in found}) == len(ports)
    assert all(re.fullmatch(r"FOREBAY-[A-Za-z0-9-]{1,15}", name) for name in found)


@pytest.mark.parametrize("platform", [name for name in names() if name != "linux-tc"])
@pytest.mark.parametrize("shaped", [False, True])
def test_two_ports_share_no_object(platform: str, shaped: bool) -> None:
    """The second must not resize the first on one router; each is read back."""
    port = Port(5e8, line_bps=1e9, burst_bytes=30_000) if shaped else Port(1e9)
    made = [
        emit(wanted(size, port), port, platform, interface=f"et{size}", name=name, number=number)
        for size, name, number in ((100, "FOREBAY-a", 100), (300, "FOREBAY-b", 101))
    ]
    for size, each in zip((100, 300), made, strict=True):
        assert lint(each.text, port, platform=platform, wanted=wanted(size, port)).exit_status == 0
    first, second = ("\n".join(each.lines) for each in made)
    assert not re.search(r"forebay(?!-a)", first, re.IGNORECASE)
    assert not re.search(r"forebay(?!-b)", second, re.IGNORECASE)
    if "{" not in first:  # a text of both holds both sizes
        both = lint(f"{first}\n{second}\n", port, platform=platform)
        sizes = {each.packets for each in both.readings}
        assert {100, 300} <= sizes


def test_a_name_that_no_platform_takes_is_refused() -> None:
    port = Port(1e9)
    with pytest.raises(PlatformError, match="is no name that every platform takes"):
        emit(wanted(9, port), port, "ios-xe", name="a b")
