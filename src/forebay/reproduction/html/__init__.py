"""The artefacts as one self-contained page, and as a section of a notebook."""

from forebay.reproduction.html.page import section, write_page

__all__ = ["section", "write_page"]
