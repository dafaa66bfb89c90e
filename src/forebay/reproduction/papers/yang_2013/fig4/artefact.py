"""Figure 4: the smallest buffer for a full link against the number of flows."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import FORMULA, Check, Progress, Reproduction

HERE = Path(__file__).resolve().parent
MIX = "mix"
COLUMNS = ["protocol", "a", "at 200", "at 1000", "fall / √5", "paper's at 200"]
NOTES = [
    "Packets of 1500 bytes; a and the buffers from Table II's growth functions and a one-sided z; "
    "paper's: with its z of 2.05 and Table III's printed deviations.",
    "fall: the buffer at 200 flows over that at 1000. A row is in its band if the fall is within "
    "5 % of √5, the paper's rough rule, and if the buffer is in the order of a.",
    "mix is that of section VIII. The paper puts RENO on top; with CTCP's right deviation CTCP is.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Calculate the curves; needs no run."""
    stated = tomllib.loads((HERE / "published.toml").read_text("utf-8"))
    made = [_row(name, stated) for name in (*stated["protocols"], MIX)]
    made.sort(key=lambda cells: cells[1])
    reasons = [_reason(cells, before) for cells, before in zip(made, [None, *made], strict=False)]
    return Reproduction(
        artefact="yang-2013/fig4",
        title="Yang et al. 2013, Figure 4: smallest buffer that keeps 622 Mbit/s full with 99 %",
        columns=COLUMNS,
        rows=made,
        reasons=reasons,
        checks=[Check(FORMULA, not reason, published=False) for reason in reasons],
        notes=NOTES,
        picture=_picture(stated),
    )


def _row(name: str, stated: dict[str, Any]) -> list[Any]:
    a, few, many = _value(name, stated), *(_buffer(name, n, stated) for n in stated["flows"])
    paper = _buffer(name, stated["flows"][0], stated, as_printed=True)
    label = stated["protocols"].get(name, name)
    return [label, a, few, many, few / many / math.sqrt(5.0), paper]


def _reason(cells: list[Any], before: list[Any] | None) -> str:
    if abs(cells[4] - 1.0) > 0.05:
        return f"falls by {cells[4] * math.sqrt(5.0):.3f} from 200 to 1000 flows, √5 is 2.236"
    if before is not None and not before[2] < cells[2]:
        return f"no more buffer than {before[0]}, though its a is larger"
    return ""


def _value(name: str, stated: dict[str, Any], *, as_printed: bool = False) -> float:
    flows = stated["mix"] if name == MIX else {name: 1}
    return float(forebay.laws.heterogeneous.mixed(flows, as_printed=as_printed))


def _buffer(name: str, n: Any, stated: dict[str, Any], *, as_printed: bool = False) -> Any:
    bdp = stated["rate_bps"] * stated["rtt_s"] / 8 / stated["packet_bytes"]
    a = _value(name, stated, as_printed=as_printed)
    buffer = forebay.laws.heterogeneous.for_utilization
    return buffer(bdp, a, n, stated["tau"], as_printed=as_printed)


def _picture(stated: dict[str, Any]) -> Picture:
    flows = np.arange(200, 1001, 10)
    lines = [
        Line(flows.tolist(), _buffer(name, flows, stated).tolist(), label)
        for name, label in stated["protocols"].items()
    ]
    mixed = _buffer(MIX, flows, stated).tolist()
    lines.append(Line(flows.tolist(), mixed, "mix of section VIII", "dashes"))
    return Picture([Panel(lines, "flows", "buffer, packets")])
