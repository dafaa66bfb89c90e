"""The server of the workbench: one process, one address, ended by a signal within a second."""

from __future__ import annotations

import socket
from collections.abc import Callable
from types import FrameType

import uvicorn

from forebay.web.answering import warm_up
from forebay.web.app import application
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
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)
        runs = Runs(jobs)
        runs.warm(warm_up)
        config = uvicorn.Config(
            application(runs, host, token), log_level="critical", access_log=False,
            limit_concurrency=_MOST_CONNECTIONS, timeout_keep_alive=_IDLE_S, lifespan="off",
            server_header=False,
        )  # fmt: skip
        name = f"[{host}]" if ":" in host else host
        ready(f"http://{name}:{listening.getsockname()[1]}/")
        _Server(config, runs).run(sockets=[listening])
