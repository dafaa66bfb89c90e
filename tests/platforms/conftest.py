"""Ports and sizes that several tests use."""

from __future__ import annotations

import pytest

from forebay.platforms import Port


@pytest.fixture
def oc3() -> Port:
    return Port(155e6, 1500)


@pytest.fixture
def gigabit() -> Port:
    return Port(1e9, 1500)


@pytest.fixture
def ten_gigabit() -> Port:
    return Port(1e10, 1500)
