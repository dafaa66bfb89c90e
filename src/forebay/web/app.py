"""The web application: the page, the laws of a question, and its answer as a stream of events."""

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial, wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

import h11
import uvicorn
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
from uvicorn.protocols.http.h11_impl import H11Protocol

import forebay
from forebay import platforms
from forebay.errors import written_in
from forebay.web import opening
from forebay.web.answering import Answer, warm_up
from forebay.web.guard import Guard, budget_of, bytes_of, client_of, json_of, packets_of, texts_of
from forebay.web.opening import Refused, error_of, scenario_of, toml_of
from forebay.web.runs import Replay, Run, Runs, Work
from forebay.words import Notation

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
        *(Route(path, _answering(post), methods=["POST"]) for path, post in posts.items()),
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
            with written_in(Notation.FILE):
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
    offered = {"shipped": names, "platforms": list(platforms.names())}
    return JSONResponse({**offered, "running": running})


async def _laws(request: Request) -> Response:
    asked = await json_of(request)
    laws = await run_in_threadpool(lambda: opening.laws_of(scenario_of(asked)))
    return JSONResponse({**laws, "toml": toml_of(asked)})


async def _answer(request: Request) -> Response:
    client, budget = client_of(request), budget_of(request)
    scenario = await run_in_threadpool(scenario_of, await json_of(request))
    runs: Runs = request.app.state.runs

    work = Answer(scenario, runs.jobs, runs.side_by_side, budget, runs.keep)
    return _begin(request, client, "answer", work)


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
    (text,), keep = await texts_of(request, "text"), request.app.state.runs.keep
    return JSONResponse(await run_in_threadpool(opening.opened, text, keep))


async def _shipped(request: Request) -> Response:
    (name,) = await texts_of(request, "name")
    return JSONResponse(await run_in_threadpool(opening.shipped_question, name))


async def _measure(request: Request) -> Response:
    rate, content = request.query_params.get("rate", ""), await bytes_of(request)
    return JSONResponse(await run_in_threadpool(opening.measured, content, rate))


async def _report(request: Request) -> Response:
    kept = request.app.state.runs.kept(*await texts_of(request, "kept"))
    return HTMLResponse(await run_in_threadpool(opening.page_of, kept))


async def _configuration(request: Request) -> Response:
    platform, kept = await texts_of(request, "platform", "kept")
    if platform not in list(platforms.names()):
        raise Refused("refused.platform", value=platform)
    answer = request.app.state.runs.kept(kept)
    return JSONResponse(await run_in_threadpool(opening.configuration, answer, platform))


_MOST_CONNECTIONS, _IDLE_S, _HEAD_S, _LOOK_S = 256, 10, 10, 0.2
_MOST_HEAD = 16_384


class _Connection(H11Protocol):
    """Closed if the head of a request has not come whole in time: it holds one of few places."""

    _ends: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._expect_head()

    def _expect_head(self) -> None:
        if self.conn.their_state is not h11.IDLE and self._ends is not None:
            self._ends.cancel()
            self._ends = None
        elif self.conn.their_state is h11.IDLE and self._ends is None:
            self._ends = self.loop.call_later(_HEAD_S, self.timeout_keep_alive_handler)


def serve(
    host: str, port: int, token: str | None, jobs: int, *, ready: Callable[[str], None]
) -> None:
    """Serve the workbench until a signal. Raises OSError: the address cannot be used.

    Parameters
    ----------
    port : 0 takes one that is free.
    token : what clients must bring; None for loopback.
    ready : called with the address once connections are accepted.
    """
    server = Background(host, port, token, jobs)
    try:
        ready(server.address)
        server.wait()
    finally:
        server.close()


class Background:
    """A server in a thread that ends with the process. An interrupt does not reach its loop."""

    def __init__(
        self, host: str = "127.0.0.1", port: int = 0, token: str | None = None, jobs: int = 0,
        *, framed: bool = False,
    ) -> None:  # fmt: skip
        self._listening = _listening(host, port)
        self.address = _address(self._listening)
        self._runs = Runs(jobs)
        self._server = uvicorn.Server(_config(application(self._runs, host, token, framed=framed)))
        # An interrupted Thread.join of Python 3.11 takes the thread for ended.
        self._ended: Future[None] = Future()
        threading.Thread(target=self._run, name="workbench", daemon=True).start()

    def _run(self) -> None:
        try:
            self._runs.warm(warm_up)
            self._server.run(sockets=[self._listening])
        except BaseException as error:
            self._ended.set_exception(error)
        else:
            self._ended.set_result(None)

    def wait(self) -> None:
        """Return when the server has ended; raise what ended it."""
        # A signal that the system gives to another thread does not wake this one.
        while not self._ended.done():
            wait([self._ended], _LOOK_S)
        self._ended.result()

    def close(self) -> None:
        """Cancel all work and end the server; a stream that is open ends with its run."""
        self._runs.close()
        self._server.should_exit = self._server.force_exit = True
        wait([self._ended], timeout=5)
        self._listening.close()


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns off Nagle's algorithm only where a socket is said to be TCP's. With it the body
    # of a small answer waits 40 ms, for the client's delayed ACK of the head.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise OSError(error.errno, error.strerror, f"{host} port {port}") from None
    return listener


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _config(app: Guard) -> uvicorn.Config:
    return uvicorn.Config(
        app, log_level="critical", access_log=False, limit_concurrency=_MOST_CONNECTIONS,
        timeout_keep_alive=_IDLE_S, lifespan="off", server_header=False, http=_Connection,
        h11_max_incomplete_event_size=_MOST_HEAD,
    )  # fmt: skip
