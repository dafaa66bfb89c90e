"""The papers' artefacts as one page that needs no other file, and as a section of a notebook."""

from forebay.reproduction.html.page import section, write_page

__all__ = ["section", "write_page"]
