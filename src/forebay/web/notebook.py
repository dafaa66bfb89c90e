"""The page in a notebook's frame: a server in a thread of the kernel, which ends with it."""

from __future__ import annotations

import base64
import json
import threading
from typing import TYPE_CHECKING, Any

from forebay.packages import check_package
from forebay.scenario import Scenario, expect_scenario
from forebay.web.opening import question_of

if TYPE_CHECKING:
    from forebay.web.app import Background

_HEIGHT = 900
_lock = threading.Lock()
_server: Background | None = None


class Workbench:
    """The page with one scenario: shown as a frame where a notebook displays it.

    Attributes
    ----------
    address : of the page, with the scenario in the part that a browser never sends.
    height : of the frame, pixels.
    """

    def __init__(self, address: str, height: int = _HEIGHT) -> None:
        self.address, self.height = address, height

    def _repr_html_(self) -> str:
        return (
            f'<iframe src="{self.address}" title="Forebay workbench" width="100%" '
            f'height="{self.height}" style="border:0" allow="clipboard-write"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Workbench({self.address.partition('#')[0]!r})"


def workbench(scenario: Scenario, *, height: int = _HEIGHT) -> Workbench:
    """Show the page of ``forebay serve`` in a notebook, with a scenario.

    The server listens on a free port of 127.0.0.1, serves all frames of the kernel, and ends with
    it. Needs ``forebay[web]``.

    Parameters
    ----------
    scenario : Scenario
        A link; networks and files are not for the page.
    height : int
        Of the frame, pixels.

    Returns
    -------
    Workbench
        Its ``_repr_html_`` is the frame, and ``address`` opens the same page in a browser.

    Raises
    ------
    ScenarioError
        `scenario` is not a Scenario.
    ForebayError
        The page cannot ask it; ``forebay[web]`` is not installed (MissingPackage).
    """
    expect_scenario(scenario)
    return Workbench(f"{_serving().address}#q={packed(question_of(scenario))}", height)


def packed(question: dict[str, Any]) -> str:
    """Return a question as the part of the address that holds it."""
    return base64.urlsafe_b64encode(json.dumps(question).encode()).decode().rstrip("=")


def _serving() -> Background:
    """Return the kernel's server; it begins with the first page."""
    global _server
    with _lock:
        if _server is None:
            check_package("the workbench", "starlette", "uvicorn")
            from forebay.web.app import Background

            _server = Background(framed=True)
        return _server
