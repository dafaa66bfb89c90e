"""The web application: the page, the laws of a question, and its answer as a stream of events."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from urllib.parse import urlsplit

import numpy as np
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import forebay
from forebay.packages import check_file
from forebay.web import answering, question
from forebay.web.answering import MEMORY, Answer, shorter
from forebay.web.question import (
    Refused,
    budget_of,
    bytes_of,
    client_of,
    error_of,
    json_of,
    packets_of,
    scenario_of,
    text_of,
    toml_of,
)
from forebay.web.runs import Run, Runs, Work

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
            return PlainTextResponse("forebay: this host is not served\n", 421)
        if not _same_origin(headers):
            return PlainTextResponse("forebay: a foreign page may ask nothing here\n", 403)
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit():
            return PlainTextResponse("forebay: the length is no number\n", 400)
        digits = length.lstrip("0")
        if len(digits) > len(str(MOST_BYTES)) or int(digits or "0") > MOST_BYTES:
            return PlainTextResponse("forebay: more than 1 MB; send less\n", 413)
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
    return PlainTextResponse("forebay: open the address with ?token= and the token\n", 401)


_SAMPLES, _MOST_FLOWS = 600, 4
_MOST_PACKETS = 5_000_000
"""Packets of the replication: a second or two of a processor."""


@dataclass(frozen=True, slots=True)
class Replay:
    """Work that traces seed 1 of a question at one buffer."""

    scenario: forebay.Scenario

    def __call__(self, run: Run) -> None:
        """Send the series."""
        scenario, note = _short_enough(self.scenario)
        flows = watched(scenario)
        step_s = float(scenario.measure.duration) / _SAMPLES

        def progress(fraction: float) -> None:
            run.goes_on(fraction)
            run.send("progress", {"fraction": fraction})

        trace = forebay.trace(
            scenario, step=f"{step_s:.9f} s", flows=flows, memory_limit=MEMORY, progress=progress
        )
        run.send("replayed", {**series(trace), "note": note})


def watched(scenario: forebay.Scenario) -> list[int]:
    """Return a few of the long flows' numbers, evenly through the first class of them.

    None behind a class whose number of flows is drawn: their numbers are not known.
    """
    first = 0
    for group in scenario.traffic:
        many = int(getattr(group, "flows", None) or 0)
        if group.kind == "long" and many:
            some = min(many, _MOST_FLOWS)
            return sorted({first + index * (many - 1) // max(1, some - 1) for index in range(some)})
        if not many:
            return []  # how many flows come before is drawn
        first += many
    return []


def _short_enough(scenario: forebay.Scenario) -> tuple[forebay.Scenario, str]:
    """Return the scenario with a window that is simulated in seconds, and what was shortened."""
    short = shorter(scenario, _MOST_PACKETS, float(scenario.measure.warmup))
    if short is None:
        return scenario, ""
    warmup, window = short.measure.warmup, short.measure.duration
    note = f"{window:.2g} s after {warmup:.2g} s are replayed, less than the search simulates"
    return short, note


def series(trace: forebay.Trace) -> dict[str, Any]:
    """Return a trace as JSON lists; ``windows`` by flow, ``drops`` in each step."""
    link, fit = trace.bottleneck, trace.window_sum_fit
    steps = np.round((trace.drops.at_s - trace.at_s[0]) / trace.step_s).astype(int)
    inside = np.clip(steps, 0, trace.at_s.size - 1)
    drops = np.bincount(inside, weights=trace.drops.count, minlength=trace.at_s.size)
    return {
        "at_s": _rounded(trace.at_s),
        "queue": link.queue_packets.tolist(),
        "buffer": link.buffer_packets,
        "sum": _rounded(trace.window_sum_packets),
        "windows": {str(n): _rounded(flow.cwnd_packets) for n, flow in trace.flows.items()},
        "drops": drops.astype(int).tolist(),
        "utilization": link.utilization,
        "seed": trace.seed,
        "fit": None if fit is None else {
            "mean": fit.mean, "deviation": fit.standard_deviation,
            "distance": fit.kolmogorov_smirnov,
        },
    }  # fmt: skip


def _rounded(values: Sequence[float] | np.ndarray[Any, Any]) -> list[float]:
    return [round(float(value), 4) for value in values]


PAGE = Path(__file__).with_name("page")
_STREAM = {"X-Accel-Buffering": "no"}
_SHORT = ThreadPoolExecutor(4, "short")
"""Few threads for what is short: each keeps memory of its own."""
Handler = Callable[[Request], Awaitable[Response]]
P = ParamSpec("P")
T = TypeVar("T")


async def run_in_threadpool(work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """Do short work beside the server's own thread."""
    return await asyncio.get_running_loop().run_in_executor(_SHORT, partial(work, *args, **named))


def application(
    runs: Runs, host: str = "127.0.0.1", token: str | None = None, *, framed: bool = False
) -> Guard:
    """Return the application of one server; ``framed``: pages of this machine may show it."""
    posts = {
        "/laws": _laws, "/answer": _answer, "/replay": _replay, "/open": _open,
        "/shipped": _shipped, "/measure": _measure, "/report": _report,
        "/configuration": _configuration,
    }  # fmt: skip
    routes = [
        Route("/", _index),
        Route("/start", _start),
        *(Route(path, _answering(each), methods=["POST"]) for path, each in posts.items()),
        Mount("/page", StaticFiles(directory=PAGE)),
    ]
    app = Starlette(routes=routes)
    app.state.runs = runs
    return Guard(app, host, token, framed)


def _answering(handler: Handler) -> Handler:
    """Return a handler that answers a user's mistake with the error as JSON."""

    @wraps(handler)
    async def handle(request: Request) -> Response:
        try:
            return await handler(request)
        except forebay.ForebayError as error:
            return JSONResponse({"error": error_of(error)}, 422)

    return handle


async def _index(request: Request) -> Response:
    return FileResponse(PAGE / "index.html")


async def _start(request: Request) -> Response:
    """What the page offers beside its presets, and how much is being worked on."""
    names = await run_in_threadpool(question.shipped)
    running = request.app.state.runs.open
    return JSONResponse({"shipped": names, "platforms": platforms(), "running": running})


async def _laws(request: Request) -> Response:
    asked = await json_of(request)
    found = await run_in_threadpool(lambda: answering.laws_of(scenario_of(asked)))
    return JSONResponse({**found, "toml": toml_of(asked)})


async def _answer(request: Request) -> Response:
    client, budget = client_of(request), budget_of(request)
    scenario = await run_in_threadpool(scenario_of, await json_of(request))
    runs: Runs = request.app.state.runs

    def keep(asked: forebay.Scenario, answer: forebay.SizeResult) -> None:
        runs.keep(client, asked, answer)

    return _begin(
        request, client, "answer", Answer(scenario, runs.jobs, runs.side_by_side, budget, keep)
    )


async def _replay(request: Request) -> Response:
    client, packets = client_of(request), packets_of(request)
    scenario = await run_in_threadpool(scenario_of, await json_of(request))
    if packets is not None:
        scenario = scenario.with_buffer(packets)
    return _begin(request, client, "replay", Replay(scenario))


def _begin(request: Request, client: str, kind: str, work: Work) -> Response:
    runs: Runs = request.app.state.runs
    stream = _stream(runs, client, kind, runs.begin(client, kind, work))
    return StreamingResponse(stream, media_type="text/event-stream", headers=_STREAM)


async def _stream(runs: Runs, client: str, kind: str, run: Run) -> AsyncIterator[str]:
    """Yield server-sent events; the run ends with its reader."""
    try:
        async for name, data in run.events():
            yield f"event: {name}\ndata: {json.dumps(data)}\n\n"
        yield "event: end\ndata: {}\n\n"
    finally:
        runs.end(client, kind, run)


async def _open(request: Request) -> Response:
    text = await text_of(request, "text")
    return JSONResponse(await run_in_threadpool(question.opened, text))


async def _shipped(request: Request) -> Response:
    name = await text_of(request, "name")
    return JSONResponse(await run_in_threadpool(question.shipped_question, name))


async def _measure(request: Request) -> Response:
    rate, content = request.query_params.get("rate", ""), await bytes_of(request)
    return JSONResponse(await run_in_threadpool(question.measured, content, rate))


async def _report(request: Request) -> Response:
    kept = request.app.state.runs.kept(client_of(request))
    return HTMLResponse(await run_in_threadpool(report, *kept))


async def _configuration(request: Request) -> Response:
    platform = await text_of(request, "platform")
    if platform not in platforms():
        raise Refused(f"there is no platform {platform[:40]!r}", "choose one of the list")
    _, answer = request.app.state.runs.kept(client_of(request))
    return JSONResponse(await run_in_threadpool(configuration, answer, platform))
