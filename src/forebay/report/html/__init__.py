"""The papers' artefacts as one page of HTML that needs nothing beside it."""

from forebay.report.html.page import write_page

__all__ = ["write_page"]
