"""Settings of the site that `make docs` builds: Sphinx reads the Markdown pages where they are.

The source folder is the repository's own, so that links between pages work in both places.
"""

from __future__ import annotations

import inspect
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from pygments.lexers.special import TextLexer

import forebay

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "Forebay"
author = "The Forebay developers"
copyright = "The Forebay developers"
version = release = forebay.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "README"
include_patterns = [
    "*.md",
    "docs/*.md",
    "docs/**/*.md",
    "docs/**/*.ipynb",
    "crates/sim/*.md",
    "src/forebay/reproduction/papers/**/README.md",
]
# A page may begin below the first level; `why` of a docstring may be an attribute of several.
suppress_warnings = ["myst.header", "ref.python"]
nb_execution_mode = "off"  # `make gallery` runs them
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
autodoc_typehints = "none"  # the docstring's own types say more
napoleon_google_docstring = False

html_theme = "furo"
html_title = "Forebay"
html_show_sourcelink = False
html_copy_source = False

_CONTENTS = {
    "Learn it": "docs/tutorial/*",
    "Do one thing": "docs/how-to/*",
    "Which size for which link": "docs/sizes/*",
    "The gallery": "docs/gallery/*",
    "Understand an answer": "docs/explanation/*",
    "Look it up": "docs/reference/*",
    "Why it is as it is": "docs/decisions/*\ncrates/sim/*",
    "The proof": "src/forebay/reproduction/papers/**",
    "The project": "[A-QS-Z]*\ndocs/README",
}


def _contents() -> str:
    """Return the navigation, a part for each folder: a new page needs no line of its own."""
    part = "```{{toctree}}\n:hidden:\n:glob:\n:caption: {}\n\n{}\n```\n"
    return "\n".join(part.format(caption, pages) for caption, pages in _CONTENTS.items())


def _names() -> str:
    """Return the directives that print the docstring of every public name."""
    lines = []
    for name in forebay.__all__:
        thing = getattr(forebay, name)
        if inspect.ismodule(thing):
            continue
        error = inspect.isclass(thing) and issubclass(thing, Exception)
        kind = "exception" if error else "class" if inspect.isclass(thing) else "function"
        members = "" if kind == "function" else "\n   :members:"
        lines.append(f".. auto{kind}:: forebay.{name}{members}\n")
    return "\n".join(["```{eval-rst}", *lines, "```"])


def _add(app: Sphinx, page: str, source: list[str]) -> None:
    if page == root_doc:
        source[0] += "\n\n" + _contents()
    if page == "docs/reference/python":
        source[0] += "\n\n## Every name in full\n\n" + _names()


def _make_index(app: Sphinx, error: Exception | None) -> None:
    """Give the folder an index.html: the README's page."""
    if error is None and app.builder.name == "html":
        shutil.copy(Path(app.outdir, f"{root_doc}.html"), Path(app.outdir, "index.html"))


def setup(app: Sphinx) -> None:
    app.add_lexer("csv", TextLexer)  # Pygments has none
    app.connect("source-read", _add)
    app.connect("build-finished", _make_index)
