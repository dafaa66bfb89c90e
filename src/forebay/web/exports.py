"""An answer written out: the one-page report, and configuration of a platform."""

from __future__ import annotations

from typing import Any

import forebay
from forebay.packages import check_file

_SOURCE = "forebay serve"


def platforms() -> list[str]:
    """Return the names of the platforms that a size can be written for."""
    from forebay.platforms import names

    return list(names())


def report(scenario: forebay.Scenario, answer: forebay.SizeResult) -> str:
    """Return the answer as one HTML page, as ``forebay size --html`` writes it.

    Raises MissingPackage without ``forebay[report]``.
    """
    check_file("report.html")
    from forebay.report import size_page

    return size_page(answer, scenario.to_toml())


def configuration(answer: forebay.SizeResult, platform: str) -> dict[str, Any]:
    """Return the recommended size for a platform, with its notes. Raises PlatformError."""
    from forebay.platforms import emit, of_sizing

    made = emit(*of_sizing(answer, _SOURCE), platform)
    comments = [] if made.comment_mark else list(made.comments)
    return {"platform": made.platform, "text": made.text, "comments": comments}
