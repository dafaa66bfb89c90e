"""Network namespaces by name, and functions that run inside one."""

import errno
import os
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from forebay.engines.testbed.errors import asking

Answer = TypeVar("Answer")
_PLACE = Path("/run/netns")


def path_of(name: str) -> Path:
    """Return the path at which a namespace is mounted, for setns."""
    return _PLACE / name


_TO_END_S = 0.4  # Ctrl-C may take one second in total


def end(child: subprocess.Popen[bytes]) -> None:
    """End a program that was started in a namespace; kill it if it does not end soon."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(_TO_END_S)
        except subprocess.TimeoutExpired:
            child.kill()
    child.wait()


@contextmanager
def _asking(kind: str, name: str) -> Iterator[Any]:
    from pyroute2 import netns  # a package that only the testbed needs

    with asking(kind, name=name):
        yield netns


def make(name: str) -> None:
    """Make an empty namespace.

    Raises TestbedError: the kernel refused.
    """
    with _asking("testbed.making-namespace", name) as netns:
        if path_of(name).exists():  # pyroute2 leaks sockets when it fails
            raise FileExistsError(errno.EEXIST, "File exists")
        netns.create(name)


def remove(name: str) -> None:
    """Remove a namespace, with its devices and routes, if it exists."""
    with _asking("testbed.removing-namespace", name) as netns, suppress(FileNotFoundError):
        os.stat(path_of(name))
        netns.remove(name)


def inside(name: str, work: Callable[[], Answer]) -> Answer:
    """Run `work` inside a namespace, in a thread that ends with it, and return its result.

    Only this thread enters the namespace, so the rest of the process is not affected.
    """

    def enter() -> Answer:
        with _asking("testbed.entering-namespace", name) as netns:
            netns.setns(str(path_of(name)), flags=0)
        return work()

    with ThreadPoolExecutor(max_workers=1) as alone:
        return alone.submit(enter).result()
