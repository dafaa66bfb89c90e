"""A record of everything that a run creates, written before, so that it can be removed.

There is one JSON file per run in the runtime directory. A run that ends removes what its file
names, then the file. A killed run leaves its file, and the next start removes what the file names
if its owner is dead. Nothing else is ever removed.

The owner also locks a second file. The netlink library creates a namespace in a forked process,
which may outlive a killed owner and create the namespace later. The fork holds the same lock, so
the cleanup waits until no process holds it.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path

from forebay.engines.testbed import namespaces
from forebay.engines.testbed.errors import asking
from forebay.engines.testbed.owner import Owner

_PLACE = "/run/forebay"
_ENDING = ".json"
_HELD = ".held"
_NEW = ".new"
_LONGEST_WAIT_S = 5.0

_number = count()


def directory() -> Path:
    """Return the runtime directory. FOREBAY_RUNTIME_DIR overrides the default."""
    return Path(os.environ.get("FOREBAY_RUNTIME_DIR", _PLACE))


@dataclass
class Record:
    """Everything that one run creates. ``close`` removes it, in reverse order of creation."""

    path: Path
    owner: Owner
    namespaces: list[str] = field(default_factory=list)
    scratch: str | None = None
    children: list[Owner] = field(default_factory=list)

    def will_make(self, *names: str) -> None:
        """Record namespaces, and with them their contents, before they are created."""
        self.namespaces.extend(names)
        self._write()

    def make_scratch(self) -> Path:
        """Make a folder for plan and result."""
        name = f"forebay-{self.path.stem}"
        self.scratch = str(Path(tempfile.gettempdir()) / name)
        self._write()
        with asking(f"making {self.scratch}", "make room there, or set TMPDIR"):
            Path(self.scratch).mkdir(mode=0o700)
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
        if self.scratch is not None:
            shutil.rmtree(self.scratch, ignore_errors=True)
        self.path.unlink(missing_ok=True)
        self.path.with_suffix(_NEW).unlink(missing_ok=True)
        self.path.with_suffix(_HELD).unlink(missing_ok=True)

    def _write(self) -> None:
        temporary = self.path.with_suffix(_NEW)
        temporary.write_text(json.dumps({**asdict(self), "path": str(self.path)}))
        temporary.replace(self.path)

    @classmethod
    def read(cls, path: Path) -> Record:
        """Read a record back."""
        document = json.loads(path.read_text())
        return cls(
            path, Owner(*document["owner"]), document["namespaces"], document["scratch"],
            [Owner(*child) for child in document["children"]],
        )  # fmt: skip


@contextmanager
def recording() -> Iterator[Record]:
    """Remove the leftovers of dead owners, then hold our own record until the context ends."""
    place = directory()
    with asking(f"making {place}", "run it as root, or set FOREBAY_RUNTIME_DIR"):
        place.mkdir(mode=0o755, parents=True, exist_ok=True)
        remove_leftovers()
        record = Record(place / f"{os.getpid()}-{next(_number)}{_ENDING}", Owner.here())
        held = _hold(record.path.with_suffix(_HELD))
    try:
        with asking(f"writing to {place}", "make room there, or set FOREBAY_RUNTIME_DIR"):
            record._write()
        yield record
    finally:
        os.close(held)
        # An interrupt may come while our fork creates a namespace. The fork also holds the lock,
        # and without this wait it could create the namespace after the record is removed.
        _is_let_go(record.path.with_suffix(_HELD))
        record.close()


def _hold(path: Path) -> int:
    """Lock a file while this process, or a process that it forks, is alive."""
    held = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(held, fcntl.LOCK_EX)
    return held


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
    removed = []
    with _alone(place):
        for path in sorted(place.glob(f"*{_ENDING}")):
            record = _dead(path)
            if record is not None and _is_let_go(path.with_suffix(_HELD)):
                record.close()
                removed.append(path.stem)
        _remove_halves(place)
    return removed


def _dead(path: Path) -> Record | None:
    try:
        record = Record.read(path)
    except (OSError, ValueError, KeyError, TypeError):
        return None  # not ours, or removed meanwhile
    return None if record.owner.alive else record


def _remove_halves(place: Path) -> None:
    """Remove partial files of owners that died while writing; complete records remain."""
    for path in [*place.glob(f"*{_NEW}"), *place.glob(f"*{_HELD}")]:
        pid = path.stem.partition("-")[0]
        recorded = path.suffix == _HELD and path.with_suffix(_ENDING).exists()
        if pid.isdigit() and not recorded and Owner.of(int(pid)) is None:
            path.unlink(missing_ok=True)


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    with open(place / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            yield
