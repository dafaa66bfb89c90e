"""Common to all pictures: colours, fonts, and how a file is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from forebay.files.atomic import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis


# Okabe and Ito's palette: distinguishable with all common colour blindnesses, and in grey.
BLUE, VERMILLION, GREEN, ORANGE, PURPLE = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7"
INK, FAINT = "#222222", "#777777"
_KEY = 6
"""Characters that the key before a name takes in a legend."""
PAPER: Any = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.6}
"""Background of text that lines cross."""

_STYLE: Any = {
    "font.family": ["DejaVu Sans"],  # comes with matplotlib: the same picture on every machine
    "font.size": 9,
    "axes.labelsize": 9,
    "axes.edgecolor": FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "svg.hashsalt": "forebay",  # same data, same bytes
}

_DEFAULTS: Any = {
    name: value for name, value in mpl.rcParamsDefault.items() if not name.startswith("backend")
}


@contextmanager
def house_style() -> Iterator[None]:
    """Draw in this style alone: no matplotlibrc changes a picture, and the caller's style stays."""
    with mpl.rc_context(_DEFAULTS | _STYLE):
        yield


@contextmanager
def framed(title: str, width: float, height: float) -> Iterator[Figure]:
    """Yield a figure of so many inches to draw on, with a title, in the house style."""
    with house_style():
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        figure.suptitle(literal(title), fontsize=10, color=INK)


def plain_ticks(axis: Axis, subs: Sequence[float], most: int | None = None) -> None:
    """Label a logarithmic axis with plain numbers at these multiples of powers of ten."""
    locator = LogLocator(subs=subs) if most is None else LogLocator(subs=subs, numticks=most)
    axis.set_major_locator(locator)
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def legend_below(figure: Figure, characters: float, most: int = 1000) -> None:
    """Draw one legend of all panels, in as many columns as so many characters hold."""
    named: dict[str, Any] = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        named.update({str(label): handle for handle, label in zip(handles, labels, strict=True)})
    if named:
        columns = max(1, min(most, int(characters / (_KEY + max(map(len, named))))))
        figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=columns)


def literal(text: str) -> str:
    """Escape a user's text for matplotlib, so that ``$`` starts no formula."""
    return text.replace("$", r"\$")


def clean(axes: Axes) -> None:
    """Draw the grid behind the data."""
    axes.set_axisbelow(True)


def save(figure: Figure, path: Path) -> None:
    """Write the picture to a temporary file and rename it, so that no file is partial.

    The suffix of the name (.svg, .png, .pdf) sets the format.
    """
    with replacing(path) as file:
        file.write(rendered(figure, path.suffix.lower().lstrip(".")))


def rendered(figure: Figure, kind: str) -> bytes:
    """Return the picture as a file of a kind: svg, png or pdf. It contains no date."""
    dateless = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
    file = BytesIO()
    with house_style():
        _settle(figure)
        figure.savefig(file, format=kind, dpi=160, metadata=dateless)
    return file.getvalue()


def _settle(figure: Figure) -> None:
    """Compute the layout of the panels once, on a grid.

    The layout's solver depends on memory addresses, so its last digits differ from run to run, and
    so do the names of an SVG's clip paths.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        left, bottom, width, height = (round(bound, 5) for bound in axes.get_position().bounds)
        axes.set_position((left, bottom, width, height))
