"""What a request must be before anything is done with it, and the headers of every response."""

import asyncio
import hmac
import ipaddress
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import forebay
from forebay.web.opening import Refused
from forebay.words import Fact

COOKIE = "forebay-token"
MOST_BYTES = 1_000_000
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors "
)
_THIS_MACHINE = "http://localhost:* http://127.0.0.1:* https://localhost:* https://127.0.0.1:*"
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


@dataclass(frozen=True)
class Guard:
    """Middleware: refuses a foreign Host or Origin, a missing token, and a body that is too large.

    Attributes
    ----------
    host : the address that is served; a name that leads to it by DNS is not accepted, because a
        foreign page could be such a name.
    token : what a client must bring once, as ``/?token=…``; None on loopback.
    framed : whether pages of this machine, such as a notebook, may show the page in a frame.
    """

    app: ASGIApp
    host: str
    token: str | None
    framed: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it in one line."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        ancestors = _THIS_MACHINE if self.framed else "'none'"
        headers = {**_HEADERS, "Content-Security-Policy": _POLICY + ancestors}

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(headers)
            await send(message)

        refused = self._refused(scope)
        await (refused or self.app)(scope, receive, with_headers)

    def _refused(self, scope: Scope) -> Response | None:
        """Return the refusal of a request, or None."""
        headers = Headers(scope=scope)
        if not self._is_ours(headers.get("host", "")):
            return _unserved(Fact("unserved.host"), 421)
        if not _same_origin(headers):
            return _unserved(Fact("unserved.origin"), 403)
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit():
            return _unserved(Fact("unserved.length"), 400)
        digits = length.lstrip("0")
        if len(digits) > len(str(MOST_BYTES)) or int(digits or "0") > MOST_BYTES:
            return _unserved(Fact("unserved.long"), 413)
        return None if self.token is None else _without_token(Request(scope), self.token)

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in ("localhost", self.host):
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return self.token is not None or address.is_loopback


def _unserved(why: Fact, status: int) -> Response:
    return PlainTextResponse(f"forebay: {why!s}\n", status)


def _same_origin(headers: Mapping[str, str]) -> bool:
    origin = headers.get("origin")
    if origin is None:
        return True
    return origin.split("://", 1)[-1] == headers.get("host") and origin.startswith("http")


def _without_token(request: Request, token: str) -> Response | None:
    """Return a redirection that keeps a right token, a refusal of a wrong one, or None."""
    given = request.query_params.get("token")
    if given is not None and hmac.compare_digest(given.encode(), token.encode()):
        kept = RedirectResponse("/", 303)
        kept.set_cookie(COOKIE, token, httponly=True, samesite="strict")
        return kept
    if hmac.compare_digest(request.cookies.get(COOKIE, "").encode(), token.encode()):
        return None
    return _unserved(Fact("unserved.token"), 401)


_CLIENT = re.compile(r"[A-Za-z0-9-]{8,64}")
_WHOLE = re.compile(r"[1-9][0-9]{0,8}")
_SLOWEST_S = 10.0
_MOST_BUDGET_S = 600.0
_MOST_BUFFER = 10_000_000


async def json_of(request: Request) -> object:
    """Return a request's JSON. Raises Refused: too large, too slow, no JSON."""
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        raise Refused("refused.type")
    content = await bytes_of(request)
    try:
        asked = json.loads(content, parse_constant=_no_constant)
        # A lone surrogate is no character, and 1e999 no number.
        json.dumps(asked, ensure_ascii=False, allow_nan=False).encode()
        return asked
    except (ValueError, RecursionError):
        raise Refused("refused.no-json") from None


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
                    raise Refused("refused.long")
    except (TimeoutError, ClientDisconnect):
        raise Refused("refused.slow", seconds=_SLOWEST_S) from None
    return bytes(content)


async def texts_of(request: Request, *names: str) -> list[str]:
    """Return texts of a request's JSON, by their names. Raises Refused."""
    table = await json_of(request)
    texts = []
    for name in names:
        text = table.get(name) if isinstance(table, dict) else None
        if not isinstance(text, str):
            raise Refused("refused.without-text", name=name)
        texts.append(text)
    return texts


def client_of(request: Request) -> str:
    """Return the name that a page gave itself. Raises Refused."""
    client = request.headers.get("x-client", "")
    if not _CLIENT.fullmatch(client):
        raise Refused("refused.client")
    return client


def budget_of(request: Request) -> str | None:
    """Return the time of a search; None is that of `forebay.size`. Raises ScenarioError."""
    text = request.query_params.get("budget")
    if text is None:
        return None
    seconds = float(forebay.Duration.parse_argument("budget", text))
    if not 0.0 < seconds <= _MOST_BUDGET_S:
        raise Refused("refused.budget", field="budget", value=seconds)
    return text


def packets_of(request: Request) -> int | None:
    """Return the buffer that is asked for, packets; None is the scenario's. Raises Refused."""
    text = request.query_params.get("packets")
    if text is None:
        return None
    if not _WHOLE.fullmatch(text) or int(text) > _MOST_BUFFER:
        raise Refused("refused.buffer", most=_MOST_BUFFER)
    return int(text)
