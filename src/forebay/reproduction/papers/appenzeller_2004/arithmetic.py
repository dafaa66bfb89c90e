"""What the paper calculates: eq. 6's table, the model's curve of Figure 12, memory chips."""

import math
from typing import Any

import numpy as np

import forebay
from forebay.report import Line
from forebay.reproduction import FORMULA, OURS, Check, Reproduction, Row, Work, artefact, chart

MBIT, GBIT = 1e6, 1e9
SRAM_BITS, DRAM_BITS, EMBEDDED_BITS = 36 * MBIT, 1 * GBIT, 256 * MBIT
ROWS = (  # Figure 15: packets of 1500 bytes, and the printed RAM, Mbit
    (64, 1), (129, 2), (258, 4), (387, 8), (46, 1), (91, 2), (182, 4), (273, 4),
    (37, 0.5), (74, 1), (148, 2), (222, 4), (32, 0.5), (64, 1), (128, 2), (192, 4),
)  # fmt: skip


@artefact()
def eq6(work: Work) -> Reproduction:
    """The table below eq. 6: utilization of 1, 1.5 and 2 times RTT x C / sqrt(n)."""
    stated = work.toml("published.toml")
    wrong = {erratum["multiple"]: erratum for erratum in work.toml("errata.toml")["wrong"]}
    rows = [_eq6_row(row, wrong.get(row["multiple"]), stated["flows"]) for row in stated["rows"]]
    multiples = np.linspace(0.25, 2.25, 81)
    idle = 100.0 - _percent(multiples, stated["flows"])
    printed = [100.0 - row["percent"] for row in stated["rows"]]
    at = [row["multiple"] for row in stated["rows"]]
    lines = [
        Line(multiples.tolist(), np.log10(idle).tolist(), "eq. 6", "line"),
        Line(at, np.log10(printed).tolist(), "printed", "dots"),
    ]
    return work.table(
        rows,
        notes=[f"Printed wrong at {k:g}: {erratum['why']}." for k, erratum in wrong.items()],
        picture=chart(lines, "buffer / (RTT C / √n)", "log10 of the idle share, %"),
    )


def _percent(multiple: Any, flows: int) -> Any:
    """Eq. 6 in percent, with the buffer in units of the bdp."""
    return 100.0 * forebay.laws.utilization.utilization(multiple / math.sqrt(flows), 1.0, flows)


def _eq6_row(row: dict[str, Any], wrong: dict[str, Any] | None, flows: int) -> Row:
    ours = float(_percent(row["multiple"], flows))
    expected = wrong or row
    idle = [1e4 * (100.0 - percent) for percent in (row["percent"], ours, expected["percent"])]
    said = "wrong" if wrong else "right"
    cells = [row["multiple"], str(row["percent"]), f"{ours:.7f}", *idle, said]
    near = abs(ours - expected["percent"]) <= expected["unit"]
    reason = "" if near else f"{ours:.7f} %, not {expected['percent']} %"
    check = Check(OURS if wrong else FORMULA, near, not wrong)
    return Row(cells, reason, [check], prints_wrong=bool(wrong))


LAWS = {
    "second order": "appenzeller-2004/short-flows",
    "whole": "appenzeller-2004/short-flows-full",
    "exact": "appenzeller-2004/exact-bursts",
}
DRAWN = range(1, 91)
"""Flows that never leave slow start (section 4)."""


@artefact()
def fig12_model(work: Work) -> Reproduction:
    """The buffer with P(Q > B) = 0.025 by flow length."""
    stated = work.toml("published.toml")
    rows = []
    for row in stated["rows"]:
        at_rates = [_buffers(work, row["length"], rate) for rate in stated["rates"]]
        cells = [row["length"], row["packets"], *(at_rates[0][name] for name in LAWS)]
        ours, reason = at_rates[0]["second order"], ""
        if any(other != at_rates[0] for other in at_rates):
            reason = "the three rates do not need the same buffer"
        elif ours is None or abs(ours - row["packets"]) > stated["half"] + 1e-12:
            reason = f"{ours} packets, by hand {row['packets']}"
        rows.append(Row(cells, reason, [Check(OURS, not reason, published=False)]))
    sizes = [_buffers(work, length, stated["rates"][1]) for length in DRAWN]
    # The exact curve lies on that of the complete series.
    lines = [
        Line(list(DRAWN), [b[name] for b in sizes], name, "dashes" if name == "exact" else "line")
        for name in LAWS
    ]
    x, y = ([row[name] for row in stated["rows"]] for name in ("length", "packets"))
    lines.append(Line(x, y, "by hand", "dots"))
    return work.table(rows, picture=chart(lines, "length of a flow, packets", "buffer, packets"))


def _buffers(work: Work, length: int, rate: str) -> dict[str, Any]:
    """The buffer by each law, packets."""
    scenario = work.load([f"traffic.0.length={length} packets", f"link.rate={rate}"])
    said = {answer.law: answer.packets for answer in forebay.laws.for_scenario(scenario)}
    return {name: said[law] for name, law in LAWS.items()}


@artefact()
def memory(work: Work) -> Reproduction:
    """Sections 1.1, 1.3, 3 and 5.2: what a buffer is in the memory chips that the paper names."""
    rule = forebay.laws.rule_of_thumb.buffer
    line_card = float(rule(40 * GBIT, 0.25))
    return work.judge(
        {
            "oc192": float(rule(10 * GBIT, 0.25)) / GBIT,
            "oc768": line_card / GBIT,
            "bytes": line_card / 8 / GBIT,
            "sram": math.ceil(line_card / SRAM_BITS),
            "dram": math.ceil(line_card / DRAM_BITS),
            "packet": 40 * 8 / (40 * GBIT) * 1e9,
            "one-chip": 0.02 * line_card / EMBEDDED_BITS,
            "modems": 2.5 * GBIT / 56e3,
            "rule": math.floor(float(rule(155 * MBIT, 0.1)) / 12_000),
            "ram": sum(ram(packets) == printed for packets, printed in ROWS),
        }
    )


def ram(packets: int) -> float:
    """Smallest memory of a power of two, in Mbit of 2^20 bits, that holds this many packets."""
    return 2.0 ** math.ceil(math.log2(packets * 12_000 / 2**20))
