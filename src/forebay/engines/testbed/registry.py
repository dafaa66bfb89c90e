"""A record of everything that a run creates, written before, so that it can be removed.

A JSON file per run in the runtime directory says what to remove: at the run's end, or at the next
start if its owner is dead. Only records of this user, where nobody else may write, with names that
a run of ours gives, are believed. The owner locks a second file, and so do its forks, which may
outlive it and create a namespace later: the cleanup waits until no process holds it.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import NamedTuple

from forebay.engines.testbed import namespaces
from forebay.engines.testbed.errors import TestbedError, asking

_START_TIME = 19  # index of the field after the name, proc(5); state is 0


class Owner(NamedTuple):
    """A process, its start time in clock ticks since boot, and the ID of the boot."""

    pid: int
    started: int
    boot: str

    @classmethod
    def of(cls, pid: int) -> Owner | None:
        """Return the live process with this PID, or None."""
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        if fields[0] in "ZX":
            return None
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return cls(pid, int(fields[_START_TIME]), boot)

    @classmethod
    def here(cls) -> Owner:
        """Return this process."""
        owner = cls.of(os.getpid())
        assert owner is not None
        return owner

    @property
    def alive(self) -> bool:
        """Whether this process still runs. Another process with the same PID does not count."""
        return Owner.of(self.pid) == self

    def end(self) -> None:
        """Kill it, if it still runs."""
        if self.alive:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


_PLACE = "/run/forebay"
_ENDING = ".json"
_HELD = ".held"
_NEW = ".new"
_LONGEST_WAIT_S = 5.0
_NAMESPACE = re.compile(r"forebay-[A-Za-z0-9_-]{1,60}")
_SCRATCH = re.compile(r"forebay-[0-9]+-[0-9]+-[0-9a-f]{16}")

_number = count()


def directory() -> Path:
    """Return the runtime directory. FOREBAY_RUNTIME_DIR overrides the default."""
    return Path(os.environ.get("FOREBAY_RUNTIME_DIR", _PLACE))


@dataclass
class RunResources:
    """Everything that one run creates. ``close`` removes it, in reverse order of creation."""

    path: Path
    owner: Owner
    namespaces: list[str] = field(default_factory=list)
    scratch: str | None = None
    children: list[Owner] = field(default_factory=list)
    _made_scratch: bool = field(default=False, repr=False)

    def will_make(self, *names: str) -> None:
        """Record namespaces, and with them their contents, before they are created."""
        self.namespaces.extend(names)
        self._write()

    def make_scratch(self) -> Path:
        """Make a folder for plan and result."""
        name = f"forebay-{self.path.stem}-{secrets.token_hex(8)}"
        self.scratch = str(Path(tempfile.gettempdir()) / name)
        self._write()
        with asking("testbed.making-scratch", path=self.scratch):
            Path(self.scratch).mkdir(mode=0o700)
        self._made_scratch = True
        return Path(self.scratch)

    def started(self, pid: int) -> None:
        """Record a child process. If we die first, the kernel ends it."""
        child = Owner.of(pid)
        if child is not None:
            self.children.append(child)
            self._write()

    def close(self) -> None:
        """Remove everything that the record names, then the record."""
        for child in self.children:
            child.end()
        for name in self.namespaces:
            namespaces.remove(name)
        if self.scratch is not None and self._made_scratch:
            shutil.rmtree(self.scratch, ignore_errors=True)
        for ending in (_ENDING, _NEW, _HELD):
            self.path.with_suffix(ending).unlink(missing_ok=True)

    def _write(self) -> None:
        temporary = self.path.with_suffix(_NEW)
        document = {
            "path": str(self.path), "owner": self.owner, "namespaces": self.namespaces,
            "scratch": self.scratch, "children": self.children,
        }  # fmt: skip
        temporary.write_text(json.dumps(document))
        temporary.replace(self.path)

    @classmethod
    def read(cls, path: Path) -> RunResources:
        """Read a record back.

        Raises ValueError: it belongs to somebody else, or names what no run of ours makes.
        """
        if not _is_ours(path, stat.S_ISREG):
            raise ValueError(f"{path} belongs to somebody else")
        document = json.loads(path.read_text())
        namespaces_, scratch = document["namespaces"], document["scratch"]
        if not all(_NAMESPACE.fullmatch(name) for name in namespaces_):
            raise ValueError(f"{path} names another namespace")
        matches = scratch is not None and bool(_SCRATCH.fullmatch(Path(scratch).name))
        return cls(
            path, Owner(*document["owner"]), namespaces_, scratch,
            [Owner(*child) for child in document["children"]],
            matches and _is_ours(Path(scratch), stat.S_ISDIR),
        )  # fmt: skip


def _is_ours(path: Path, is_kind: Callable[[int], bool]) -> bool:
    """Whether a file, not a link to one, is of this kind, ours, and only we may write to it."""
    try:
        status = path.lstat()
    except OSError:
        return False
    mine = status.st_uid == os.geteuid() and not status.st_mode & 0o022
    return mine and is_kind(status.st_mode)


def _check_directory(place: Path) -> None:
    """Refuse a runtime directory in which others could plant records."""
    if not _is_ours(place, stat.S_ISDIR):
        raise TestbedError("testbed.others-may-write", path=place)


@contextmanager
def recording() -> Iterator[RunResources]:
    """Remove the leftovers of dead owners, then hold our own record until the context ends."""
    place = directory()
    with asking("testbed.making-folder", path=place):
        place.mkdir(mode=0o755, parents=True, exist_ok=True)
        _check_directory(place)
        remove_leftovers()
        record = RunResources(place / f"{os.getpid()}-{next(_number)}{_ENDING}", Owner.here())
        # Locked while this process, or one that it forks, is alive.
        held = os.open(record.path.with_suffix(_HELD), os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(held, fcntl.LOCK_EX)
    try:
        with asking("testbed.writing", path=place):
            record._write()
        yield record
    finally:
        os.close(held)
        # An interrupt may come while our fork creates a namespace. The fork also holds the lock,
        # and without this wait it could create the namespace after the record is removed.
        _is_let_go(record.path.with_suffix(_HELD))
        record.close()


def _is_let_go(path: Path) -> bool:
    """Wait until no process locks the file; return False after a timeout."""
    deadline = time.monotonic() + _LONGEST_WAIT_S
    with suppress(FileNotFoundError), path.open() as held:
        while True:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                if time.monotonic() > deadline:
                    return False
                time.sleep(0.01)
    return True


def remove_leftovers() -> list[str]:
    """Remove what the records of dead owners name; return the names of those records."""
    place = directory()
    if not place.is_dir():
        return []
    _check_directory(place)
    removed = []
    with open(place / "lock", "w") as lock, suppress(FileNotFoundError):
        fcntl.flock(lock, fcntl.LOCK_EX)
        for path in sorted(place.glob(f"*{_ENDING}")):
            try:
                record = RunResources.read(path)
            except (OSError, ValueError, KeyError, TypeError):
                continue  # not ours, or removed meanwhile
            if not record.owner.alive and _is_let_go(path.with_suffix(_HELD)):
                record.close()
                removed.append(path.stem)
        # Partial files of owners that died while writing; complete records remain.
        for path in [*place.glob(f"*{_NEW}"), *place.glob(f"*{_HELD}")]:
            pid = path.stem.partition("-")[0]
            recorded = path.suffix == _HELD and path.with_suffix(_ENDING).exists()
            if pid.isdigit() and not recorded and Owner.of(int(pid)) is None:
                path.unlink(missing_ok=True)
    return removed
