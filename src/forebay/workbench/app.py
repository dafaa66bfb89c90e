"""The web application: the page, the laws of a question, and its answer as a stream of events."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import forebay
from forebay.workbench import answers
from forebay.workbench.guard import MOST_BYTES, Guard
from forebay.workbench.question import Refused, error_of, scenario_of
from forebay.workbench.runs import Run, Runs

PAGE = Path(__file__).with_name("page")
_CLIENT = re.compile(r"[A-Za-z0-9-]{8,64}")
_SLOWEST_S = 10.0
_STREAM = {"X-Accel-Buffering": "no"}


def application(runs: Runs, host: str = "127.0.0.1", token: str | None = None) -> Guard:
    """Return the application of one server."""
    routes = [
        Route("/", _index),
        Route("/laws", _laws, methods=["POST"]),
        Route("/answer", _answer, methods=["POST"]),
        Mount("/page", StaticFiles(directory=PAGE)),
    ]
    app = Starlette(routes=routes)
    app.state.runs = runs
    return Guard(app, host, token)


async def _index(request: Request) -> Response:
    return FileResponse(PAGE / "index.html")


async def _laws(request: Request) -> Response:
    try:
        found = await run_in_threadpool(lambda asked: answers.laws_of(scenario_of(asked)),
                                        await _body(request))  # fmt: skip
    except forebay.ForebayError as error:
        return JSONResponse({"error": error_of(error)}, 422)
    return JSONResponse(found)


async def _answer(request: Request) -> Response:
    client = request.headers.get("x-client", "")
    try:
        if not _CLIENT.fullmatch(client):
            raise Refused("X-Client is missing", "send 8 to 64 letters and digits")
        scenario = await run_in_threadpool(scenario_of, await _body(request))
        run = request.app.state.runs.begin(client, scenario)
    except forebay.ForebayError as error:
        return JSONResponse({"error": error_of(error)}, 422)
    stream = _stream(request.app.state.runs, client, run)
    return StreamingResponse(stream, media_type="text/event-stream", headers=_STREAM)


async def _stream(runs: Runs, client: str, run: Run) -> AsyncIterator[str]:
    """Yield server-sent events; the run ends with its reader."""
    try:
        async for name, data in run.events():
            yield f"event: {name}\ndata: {json.dumps(data)}\n\n"
        yield "event: end\ndata: {}\n\n"
    finally:
        runs.end(client, run)


async def _body(request: Request) -> object:
    """Return a request's JSON. Raises Refused: too large, too slow, no JSON."""
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        raise Refused("the question is no JSON", "send Content-Type: application/json")
    content = bytearray()
    try:
        async with asyncio.timeout(_SLOWEST_S):
            async for part in request.stream():
                content += part
                if len(content) > MOST_BYTES:
                    raise Refused("the question has more than 1 MB", "send less")
        return json.loads(content)
    except (TimeoutError, ClientDisconnect):
        raise Refused("the question did not arrive in 10 s", "send it again") from None
    except (ValueError, RecursionError):
        raise Refused("the question is no JSON", "send the JSON of a scenario") from None
