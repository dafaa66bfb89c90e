"""What the self-contained HTML pages share: their style, and pictures inside them."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE = """\
body { font: 15px/1.5 sans-serif; color: #222; padding: 0 1rem;
  max-width: 60rem; margin: 2rem auto }
h1 { font-size: 1.3rem; overflow-wrap: anywhere }
h2 { font-size: 1.05rem; margin-top: 1.8rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid #ddd }
th:nth-child(n+2), td:nth-child(n+2) { text-align: right; font-variant-numeric: tabular-nums }
img { width: 100% }"""
"""The style of a page."""


def embedded(figure: Figure) -> str:
    """Return a picture as base64 of SVG."""
    from forebay.report.figures.style import rendered

    return base64.b64encode(rendered(figure, "svg")).decode()
