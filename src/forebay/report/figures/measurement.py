"""The curves of a measurement, each with the estimate that is read off it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from forebay.report.figures.style import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    VERMILLION,
    clean,
    house_style,
    save,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 2
_THIN: dict[str, Any] = {"linewidth": 0.9}


def draw_measurement(document: Mapping[str, Any], path: Path) -> None:
    """Draw every curve of the document of ``measure --json`` into a .svg, .png or .pdf file."""
    panels = [(name, draw) for name, draw in _PANELS.items() if name in document["curves"]]
    rows = max(-(-len(panels) // _COLUMNS), 1)
    with house_style():
        figure = Figure(figsize=(7.6, 2.5 * rows + 0.4), layout="constrained")
        for place, (name, draw) in enumerate(panels):
            axes = figure.add_subplot(rows, _COLUMNS, place + 1)
            draw(axes, document["curves"][name], document["estimates"])
            clean(axes)
        figure.suptitle(", ".join(Path(name).name for name in document["sources"]), color=INK)
        save(figure, path)


def _load(axes: Axes, curve: Any, estimates: Any) -> None:
    at = np.arange(len(curve["share"])) * curve["step_s"]
    axes.plot(at, curve["share"], color=BLUE, **_THIN)
    axes.set(xlabel="time, s", ylabel="load", ylim=(0, None))


def _flows(axes: Axes, curve: Any, estimates: Any) -> None:
    colours = {"concurrent": FAINT, "avoiding": BLUE, "lossy": GREEN}
    words = {"concurrent": "open", "avoiding": "in avoidance", "lossy": "that lost something"}
    for name, colour in colours.items():
        at = np.arange(len(curve[name])) * curve["step_s"]
        axes.step(at, curve[name], color=colour, label=words[name], where="post", **_THIN)
    n = estimates.get("long_flows")
    if n is not None:
        axes.axhline(n["value"], color=VERMILLION, linestyle="--", label="n", **_THIN)
    axes.set(xlabel="time, s", ylabel="flows", ylim=(0, None))
    axes.legend(fontsize=7)


def _burstiness(axes: Axes, curve: Any, estimates: Any) -> None:
    axes.loglog(curve["seconds"], curve["beta"], "o-", color=BLUE, markersize=3, **_THIN)
    knee = estimates["burstiness_knee_s"]["value"]
    axes.axvline(knee, color=VERMILLION, linestyle="--", **_THIN)
    axes.set(xlabel="interval s, s", ylabel="coefficient of variation β(s)")
    if "hurst_by_slope" in estimates:
        slope = estimates["hurst_by_slope"]["value"]
        axes.set_title(f"beyond the knee H = {slope:.2f}", fontsize=8, color=INK)


def _hill(axes: Axes, curve: Any, estimates: Any) -> None:
    axes.semilogx(curve["flows"], curve["exponent"], color=BLUE, **_THIN)
    tail = estimates["flow_tail"]
    axes.plot([tail["n"]], [tail["value"]], "o", color=VERMILLION, markersize=4)
    axes.set(xlabel="longest flows taken", ylabel="Hill's exponent", ylim=(0, None))


def _lengths(axes: Axes, curve: Any, estimates: Any) -> None:
    longer = np.array(curve["longer"])
    some = longer > 1e-12
    axes.loglog(np.array(curve["bytes"])[some], longer[some], color=BLUE, **_THIN)
    axes.minorticks_off()
    axes.set(xlabel="length of a flow, B", ylabel="share that is longer")


def _sizes(axes: Axes, curve: Any, estimates: Any) -> None:
    axes.step(curve["bytes"], curve["share"], color=BLUE, where="post", **_THIN)
    axes.set(xlabel="IP packet, B", ylabel="share no larger", ylim=(0, 1.02), xlim=(0, None))


def _bursts(axes: Axes, curve: Any, estimates: Any) -> None:
    axes.vlines(curve["packets"], 0, curve["bursts"], color=BLUE, linewidth=1.5)
    axes.set(xlabel="slow-start burst, packets", ylabel="bursts", ylim=(0, None))


def _times(words: str) -> Callable[[Axes, Any, Any], None]:
    def draw(axes: Axes, curve: Any, estimates: Any) -> None:
        axes.plot(np.array(curve["value"]) * 1e3, curve["share"], color=BLUE, **_THIN)
        axes.set(xlabel=f"{words}, ms", ylabel="share no longer", ylim=(0, 1.02))

    return draw


_PANELS: dict[str, Callable[[Axes, Any, Any], None]] = {
    "load": _load,
    "flows": _flows,
    "rtt_s": _times("round trip"),
    "min_rtt_s": _times("least round trip of a flow"),
    "burstiness": _burstiness,
    "bursts": _bursts,
    "packet_bytes": _sizes,
    "flow_bytes": _lengths,
    "hill": _hill,
}
