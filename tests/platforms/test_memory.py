"""What memory a buffer takes: Figure 15's column RAM, and the tiers' edges."""

import re

import pytest

from forebay.platforms import REFERENCE_POINTS, TIERS, memory_for
from forebay.platforms.memory import ram_device_bits

# Appenzeller et al. 2004, Figure 15: packets (of 1500 B) and the RAM device, all 16 rows
FIGURE_15 = [
    (64, "1 Mbit"), (129, "2 Mbit"), (258, "4 Mbit"), (387, "8 Mbit"),
    (46, "1 Mbit"), (91, "2 Mbit"), (182, "4 Mbit"), (273, "4 Mbit"),
    (37, "512 kbit"), (74, "1 Mbit"), (148, "2 Mbit"), (222, "4 Mbit"),
    (32, "512 kbit"), (64, "1 Mbit"), (128, "2 Mbit"), (192, "4 Mbit"),
]  # fmt: skip


@pytest.mark.parametrize(("packets", "ram"), FIGURE_15)
def test_ram_column_of_figure_15(packets: int, ram: str) -> None:
    number, unit = ram.split()
    power = {"kbit": 10, "Mbit": 20}[unit]
    assert ram_device_bits(packets * 1500) == int(number) << power


@pytest.mark.parametrize(
    ("size", "tier"),
    [
        (10_000_000 // 8, "on-chip memory"),  # abstract: 10 Mbit for 10 Gbit/s, 50,000 flows
        (16_000_000, "on-chip memory"),
        (16_000_001, "shared memory of a large switch chip"),
        (132_000_000, "shared memory of a large switch chip"),
        (132_000_001, "external memory"),
        (1_250_000_000, "external memory"),  # §1.3: 250 ms at 40 Gbit/s
        (8_000_000_001, "external memory of several chips"),
    ],
)
def test_tiers(size: int, tier: str) -> None:
    assert memory_for(size).tier == tier


def test_dram_is_too_slow_for_least_packets() -> None:
    # §1.3: 50 ns of access, a 40-byte packet every 8 ns at 40 Gbit/s
    assert memory_for(1, 40e9).faster_than_one_dram is True
    assert memory_for(1, 155e6).faster_than_one_dram is False
    assert memory_for(1).faster_than_one_dram is None


def test_every_fact_has_date_and_source() -> None:
    for fact in (*TIERS, *REFERENCE_POINTS):
        assert fact.date[:4].isdigit() and fact.source and fact.says


def test_the_sram_of_2004_is_beside_the_classes_of_today() -> None:
    # §1.3: the largest SRAM chip held 36 Mbit
    assert memory_for(4_500_000).fits_sram_of_2004
    assert not memory_for(4_500_001).fits_sram_of_2004


@pytest.mark.parametrize("size", [1, 1500, 193_500, 10**6, 86_400_000, 10**9, 10**12])
def test_the_text_says_no_number_with_an_exponent_and_nothing_of_2004(size: int) -> None:
    said = memory_for(size).text
    assert not re.search(r"\de[+-]\d", said) and "2004" not in said and "SRAM" not in said


def test_a_buffer_larger_than_a_chip_says_how_many_times() -> None:
    assert "5.4 times 16 MB, 65 % of 132 MB" in memory_for(86_400_000).text
    assert "20 times 8 GB" in memory_for(160 * 10**9).text
