"""Figures as SVG inside a page."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from markupsafe import Markup

from forebay.reproduction.result import Reproduction

_NAMED = re.compile(r'(\bid="|href="#|url\(#)')


def anchor(made: Reproduction) -> str:
    """Return the artefact's name as an id in a page."""
    return re.sub(r"[^A-Za-z0-9]+", "-", made.artefact)


def inline_svg(made: Reproduction) -> Markup:
    """Return the figure as an <svg> element.

    Its ids begin with the artefact's name, so that ids of two figures in a page differ.
    """
    from forebay.reproduction.figure import draw_reproduction

    with TemporaryDirectory() as folder:
        path = Path(folder) / "figure.svg"
        draw_reproduction(made, path)
        text = path.read_text(encoding="utf-8")
    element = text[text.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    element = _NAMED.sub(rf"\g<1>{anchor(made)}-", element)
    return Markup(element)  # matplotlib escapes all text that it writes
