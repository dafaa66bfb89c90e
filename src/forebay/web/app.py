"""The web application: the page, the laws of a question, and its answer as a stream of events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import forebay
from forebay.web import answers, exports, opening
from forebay.web.answering import Answer
from forebay.web.guard import Guard
from forebay.web.question import Refused, error_of, scenario_of, toml_of
from forebay.web.replaying import Replay
from forebay.web.requests import (
    budget_of,
    bytes_of,
    client_of,
    json_of,
    packets_of,
    text_of,
)
from forebay.web.runs import Run, Runs, Work

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
    names = await run_in_threadpool(opening.shipped)
    running = request.app.state.runs.open
    return JSONResponse({"shipped": names, "platforms": exports.platforms(), "running": running})


async def _laws(request: Request) -> Response:
    asked = await json_of(request)
    found = await run_in_threadpool(lambda: answers.laws_of(scenario_of(asked)))
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
    return JSONResponse(await run_in_threadpool(opening.opened, text))


async def _shipped(request: Request) -> Response:
    name = await text_of(request, "name")
    return JSONResponse(await run_in_threadpool(opening.shipped_question, name))


async def _measure(request: Request) -> Response:
    rate, content = request.query_params.get("rate", ""), await bytes_of(request)
    return JSONResponse(await run_in_threadpool(opening.measured, content, rate))


async def _report(request: Request) -> Response:
    kept = request.app.state.runs.kept(client_of(request))
    return HTMLResponse(await run_in_threadpool(exports.report, *kept))


async def _configuration(request: Request) -> Response:
    platform = await text_of(request, "platform")
    if platform not in exports.platforms():
        raise Refused(f"there is no platform {platform[:40]!r}", "choose one of the list")
    _, answer = request.app.state.runs.kept(client_of(request))
    return JSONResponse(await run_in_threadpool(exports.configuration, answer, platform))
