"""Bodies and parameters of requests, bounded in size and in time."""

from __future__ import annotations

import asyncio
import json
import re
from typing import NoReturn

from starlette.requests import ClientDisconnect, Request

import forebay
from forebay.web.guard import MOST_BYTES
from forebay.web.question import Refused

_CLIENT = re.compile(r"[A-Za-z0-9-]{8,64}")
_WHOLE = re.compile(r"[1-9][0-9]{0,8}")
_SLOWEST_S = 10.0
_MOST_BUDGET_S = 600.0
_MOST_BUFFER = 10_000_000


async def json_of(request: Request) -> object:
    """Return a request's JSON. Raises Refused: too large, too slow, no JSON."""
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        raise Refused("the question is no JSON", "send Content-Type: application/json")
    content = await bytes_of(request)
    try:
        asked = json.loads(content, parse_constant=_no_constant)
        # A lone surrogate is no character, and 1e999 no number.
        json.dumps(asked, ensure_ascii=False, allow_nan=False).encode()
        return asked
    except (ValueError, RecursionError):
        raise Refused("the question is no JSON", "send the JSON of a scenario") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


async def bytes_of(request: Request) -> bytes:
    """Return a request's body. Raises Refused: too large, too slow."""
    content = bytearray()
    try:
        async with asyncio.timeout(_SLOWEST_S):
            async for part in request.stream():
                content += part
                if len(content) > MOST_BYTES:
                    raise Refused("the question has more than 1 MB", "send less")
    except (TimeoutError, ClientDisconnect):
        raise Refused("the question did not arrive in 10 s", "send it again") from None
    return bytes(content)


async def text_of(request: Request, name: str) -> str:
    """Return one text of a request's JSON, by its name. Raises Refused."""
    table = await json_of(request)
    text = table.get(name) if isinstance(table, dict) else None
    if not isinstance(text, str):
        raise Refused(f"there is no {name}", f"send {{{name!r}: text}}")
    return text


def client_of(request: Request) -> str:
    """Return the name that a page gave itself. Raises Refused."""
    client = request.headers.get("x-client", "")
    if not _CLIENT.fullmatch(client):
        raise Refused("X-Client is missing", "send 8 to 64 letters and digits")
    return client


def budget_of(request: Request) -> str | None:
    """Return the time of a search; None is that of `forebay.size`. Raises ScenarioError."""
    text = request.query_params.get("budget")
    if text is None:
        return None
    seconds = float(forebay.Duration.parse_argument("budget", text))
    if not 0.0 < seconds <= _MOST_BUDGET_S:
        raise Refused(f"{seconds:g} s is out of range", "write up to 10 min", "budget")
    return text


def packets_of(request: Request) -> int | None:
    """Return the buffer that is asked for, packets; None is the scenario's. Raises Refused."""
    text = request.query_params.get("packets")
    if text is None:
        return None
    if not _WHOLE.fullmatch(text) or int(text) > _MOST_BUFFER:
        raise Refused("the buffer is no number of packets", f"write 1 to {_MOST_BUFFER}")
    return int(text)
