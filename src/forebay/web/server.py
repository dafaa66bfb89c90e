"""The server of the workbench: one process, one address, ended by a signal within a second."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from types import FrameType

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from forebay.web.answering import warm_up
from forebay.web.app import application
from forebay.web.guard import Guard
from forebay.web.runs import Runs

_MOST_CONNECTIONS, _IDLE_S, _HEAD_S = 256, 10, 10
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


class _Server(uvicorn.Server):
    """Cancels all runs at a signal, and waits for no client."""

    def __init__(self, config: uvicorn.Config, runs: Runs) -> None:
        super().__init__(config)
        self._runs = runs

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End the server; a stream that is open ends with its run."""
        self._runs.close()
        super().handle_exit(sig, frame)
        self.force_exit = True


def serve(
    host: str, port: int, token: str | None, jobs: int, *, ready: Callable[[str], None]
) -> None:
    """Serve the workbench until a signal.

    Parameters
    ----------
    port : 0 takes one that is free.
    token : what clients must bring; None for loopback.
    ready : called with the address once connections are accepted.

    Raises
    ------
    OSError
        The address cannot be used.
    """
    with _listening(host, port) as listening:
        runs = Runs(jobs)
        server = _Server(_config(application(runs, host, token)), runs)
        runs.warm(warm_up)
        ready(_address(listening))
        server.run(sockets=[listening])


class Background:
    """A server on a free port of loopback, in a thread that ends with the process."""

    def __init__(self) -> None:
        self._listening = _listening("127.0.0.1", 0)
        self.address = _address(self._listening)
        self._runs = Runs()
        self._server = _Server(_config(application(self._runs, framed=True)), self._runs)
        self._thread = threading.Thread(target=self._run, name="workbench", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._runs.warm(warm_up)
        self._server.run(sockets=[self._listening])

    def close(self) -> None:
        """Cancel all work and end the server."""
        self._runs.close()
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(timeout=5)
        self._listening.close()


def _listening(host: str, port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(128)
    except OSError:
        made.close()
        raise
    return made


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _config(app: Guard) -> uvicorn.Config:
    return uvicorn.Config(
        app, log_level="critical", access_log=False, limit_concurrency=_MOST_CONNECTIONS,
        timeout_keep_alive=_IDLE_S, lifespan="off", server_header=False, http=_Connection,
        h11_max_incomplete_event_size=_MOST_HEAD,
    )  # fmt: skip
