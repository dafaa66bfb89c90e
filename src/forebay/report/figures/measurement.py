"""The curves of a measurement, each with its estimate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from forebay.report.figures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 2
_OF_ESTIMATES = ("hurst", "lost_before_share")
"""Estimates that are drawn as values and intervals, without a curve."""
_THIN: dict[str, Any] = {"linewidth": 0.9}


def draw_measurement(document: Mapping[str, Any], path: Path) -> None:
    """Draw every curve of the document of ``measure --json`` to a .svg, .png or .pdf file."""
    style.save(measurement_figure(document), path)


def measurement_figure(document: Mapping[str, Any]) -> Figure:
    """Return a figure with every curve of the document of ``measure --json``."""
    drawn = {name for name in _OF_ESTIMATES if name in document["estimates"]} | {
        *document["curves"]
    }
    panels = [(name, draw) for name, draw in _PANELS.items() if name in drawn]
    rows = max(-(-len(panels) // _COLUMNS), 1)
    with style.house_style():
        figure = Figure(figsize=(7.6, 2.5 * rows + 0.4), layout="constrained")
        for place, (name, draw) in enumerate(panels):
            axes = figure.add_subplot(rows, _COLUMNS, place + 1)
            draw(axes, document["curves"].get(name), document["estimates"])
            style.clean(axes)
        figure.suptitle(
            style.literal(", ".join(Path(name).name for name in document["sources"])),
            color=style.INK,
        )
    return figure


def _load(axes: Axes, curve: Any, estimates: Any) -> None:
    at = np.arange(len(curve["share"])) * curve["step_s"]
    axes.plot(at, curve["share"], color=style.BLUE, **_THIN)
    axes.set(xlabel="time, s", ylabel="load", ylim=(0, None))


def _flows(axes: Axes, curve: Any, estimates: Any) -> None:
    colours = {"concurrent": style.FAINT, "avoiding": style.BLUE, "lossy": style.GREEN}
    words = {"concurrent": "open", "avoiding": "in avoidance", "lossy": "that lost something"}
    for name, colour in colours.items():
        at = np.arange(len(curve[name])) * curve["step_s"]
        wide = {"linewidth": 2.2} if name == "avoiding" else _THIN  # the next mostly covers it
        axes.step(at, curve[name], color=colour, label=words[name], where="post", **wide)
    n = estimates.get("long_flows")
    if n is not None:
        axes.axhline(n["value"], color=style.VERMILLION, linestyle="--", label="n", **_THIN)
    axes.set(xlabel="time, s", ylabel="flows", ylim=(0, None))
    axes.legend(fontsize=7)


def _burstiness(axes: Axes, curve: Any, estimates: Any) -> None:
    axes.loglog(curve["seconds"], curve["beta"], "o-", color=style.BLUE, markersize=3, **_THIN)
    if (knee := estimates.get("burstiness_knee_s")) is not None:  # refused for short captures
        axes.axvline(knee["value"], color=style.VERMILLION, linestyle="--", **_THIN)
    axes.set(xlabel="interval s, s", ylabel="coefficient of variation β(s)")
    style.plain_ticks(axes.yaxis, (1, 3), 9)
    if "hurst_by_slope" in estimates:
        slope = estimates["hurst_by_slope"]["value"]
        axes.set_title(f"beyond the knee H = {slope:.2f}", fontsize=8, color=style.INK)


def _hill(axes: Axes, curve: Any, estimates: Any) -> None:
    axes.semilogx(curve["flows"], curve["exponent"], color=style.BLUE, **_THIN)
    if (tail := estimates.get("flow_tail")) is not None:
        axes.plot([tail["n"]], [tail["value"]], "o", color=style.VERMILLION, markersize=4)
    axes.set(xlabel="number of longest flows", ylabel="Hill's exponent", ylim=(0, None))
    style.plain_ticks(axes.xaxis, (1, 3), 9)


def _lengths(axes: Axes, curve: Any, estimates: Any) -> None:
    longer = np.array(curve["longer"])
    some = longer > 1e-12
    axes.loglog(np.array(curve["bytes"])[some], longer[some], color=style.BLUE, **_THIN)
    axes.minorticks_off()
    axes.set(xlabel="length of a flow, B", ylabel="share that is longer")


def _sizes(axes: Axes, curve: Any, estimates: Any) -> None:
    axes.step(curve["bytes"], curve["share"], color=style.BLUE, where="post", **_THIN)
    axes.set(xlabel="IP packet, B", ylabel="share no larger", ylim=(0, 1.02), xlim=(0, None))


def _bursts(axes: Axes, curve: Any, estimates: Any) -> None:
    axes.vlines(curve["packets"], 0, curve["bursts"], color=style.BLUE, linewidth=1.5)
    axes.set(xlabel="slow-start burst, packets", ylabel="bursts", ylim=(0, None))


def _hurst(axes: Axes, curve: Any, estimates: Any) -> None:
    _intervals(axes, estimates["hurst"])
    axes.axvline(0.5, color=style.VERMILLION, linestyle="--", **_THIN)
    axes.set(xlabel="Hurst parameter; 0.5 has no memory")


def _losses(axes: Axes, curve: Any, estimates: Any) -> None:
    words = {
        "lost before the\ncapture": "lost_before_share",
        "sent again\nbehind it": "repeated_share",
        "reordered": "reordered_share",
    }
    known = {word: estimates[name] for word, name in words.items() if name in estimates}
    _intervals(axes, known, 100)
    axes.set(xlabel="share of the data segments, %", xlim=(0, None))


def _intervals(axes: Axes, found: Mapping[str, Any], scale: float = 1.0) -> None:
    """Draw one value with its interval per row, the first at the top."""
    values = scale * np.array([[one["low"], one["value"], one["high"]] for one in found.values()])
    rows = np.arange(len(found))
    axes.hlines(rows, values[:, 0], values[:, 2], color=style.BLUE, linewidth=2)
    axes.plot(values[:, 1], rows, "o", color=style.BLUE, markersize=4)
    axes.set_yticks(rows, list(found))
    axes.set_ylim(len(found) - 0.4, -0.6)


def _left(axes: Axes, curve: Any, estimates: Any) -> None:
    axes.vlines(curve["share"], 0, curve["losses"], color=style.BLUE, linewidth=1.2)
    for bound in curve["bounds"]:
        axes.axvline(bound, color=style.FAINT, linestyle=":", **_THIN)
    axes.set(xlabel="flight that is left after a loss", ylabel="losses", ylim=(0, None))
    if (told := estimates.get("congestion_control_hint")) is not None:
        axes.axvline(
            told["left_after_loss"]["value"], color=style.VERMILLION, linestyle="--", **_THIN
        )
        axes.set_title(f"indication: {told['hint']}", fontsize=8, color=style.INK)


def _times(words: str) -> Callable[[Axes, Any, Any], None]:
    def draw(axes: Axes, curve: Any, estimates: Any) -> None:
        axes.plot(np.array(curve["value"]) * 1e3, curve["share"], color=style.BLUE, **_THIN)
        axes.set(xlabel=f"{words}, ms", ylabel="share no longer", ylim=(0, 1.02))

    return draw


_PANELS: dict[str, Callable[[Axes, Any, Any], None]] = {
    "load": _load,
    "flows": _flows,
    "rtt_s": _times("round trip"),
    "min_rtt_s": _times("least round trip of a flow"),
    "lost_before_share": _losses,
    "left_after_loss": _left,
    "burstiness": _burstiness,
    "hurst": _hurst,
    "bursts": _bursts,
    "packet_bytes": _sizes,
    "flow_bytes": _lengths,
    "hill": _hill,
}
