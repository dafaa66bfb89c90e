"""The server of the workbench: one process, one address, ended by a signal within a second."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from types import FrameType

import uvicorn

from forebay.web.answering import warm_up
from forebay.web.app import application
from forebay.web.guard import Guard
from forebay.web.runs import Runs

_MOST_CONNECTIONS, _IDLE_S = 256, 10


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
        timeout_keep_alive=_IDLE_S, lifespan="off", server_header=False,
    )  # fmt: skip
