"""The congestion controls from outside on this machine: built ones, and those of distributions.

A built one is a folder of `home` with the library and a record of how it was made.
"""

import hashlib
import inspect
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from forebay import plugins
from forebay.errors import ForebayError
from forebay.words import Fact, argument

GROUP = "forebay.controls"
"""Entry points of other distributions; each is a `Provided`."""
_LIBRARY, _RECORD = "control.so", "control.json"
_NAME = re.compile(r"(?!(?:nan|inf|true|false)$)[A-Za-z][A-Za-z0-9_.@+-]{0,63}")
"""What TOML reads as text, without quotes too."""


class ControlError(ForebayError):
    """A control that cannot be built, or whose name, source or record does not do."""


class ControlFailed(ForebayError):
    """A control that crashed, did not return, or set what no window can be.

    Attributes
    ----------
    names : the control; several, if it is one of these.
    """

    exit_status = 3

    def __init__(self, names: tuple[str, ...], did: str | Fact) -> None:
        self.names = names
        who = " or ".join(map(repr, names))
        did = did if isinstance(did, Fact) else " ".join(did.split())
        super().__init__("control-failed", who=who, did=did)


@dataclass(frozen=True, kw_only=True)
class Provided:
    """A control that another distribution brings; an entry point of the group ``forebay.controls``.

    Attributes
    ----------
    library : path of the shared library, with the interface of ``forebay_cc.h``.
    source : paper, draft or repository; of one that was built here, what it was built from.
    state_bytes : of a connection, as the library says; they count in a run's memory.
    paces, controls_cwnd, ecn, l4s : what it asks for, as its flags say.
    """

    library: str | os.PathLike[str]
    source: str
    state_bytes: int = 0
    paces: bool = False
    controls_cwnd: bool = False
    ecn: bool = False
    l4s: bool = False


@dataclass(frozen=True, kw_only=True)
class Installed(Provided):
    """A control from outside, on this machine.

    Attributes
    ----------
    name : in scenarios.
    sha256 : of the library.
    brought_by : its distribution; empty for what was built here.
    built : how it was made: ``source_sha256``, ``compiler``, ``linux``, ``hz``.
    python : its class, if it is one of this process (`use_class`), without a library.
    """

    name: str
    library: Path
    sha256: str
    brought_by: str = ""
    built: Mapping[str, Any] = field(default_factory=dict)
    python: type | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """What the provenance says of it."""
        if self.python is not None:
            return {"class_sha256": self.sha256, "source": self.source}
        return {"library_sha256": self.sha256, "source": self.source, **self.built}


def home() -> Path:
    """Return the folder of built controls: FOREBAY_CONTROLS, or one of the user's data."""
    if given := os.environ.get("FOREBAY_CONTROLS"):
        return Path(given)
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "forebay" / "controls"


def check_name(name: str) -> str:
    """Return a name that a control may have. Raises ControlError."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ControlError("control.no-name", field=argument("name"), value=name)
    return name


def find(name: str) -> Installed | None:
    """Return the control of that name; None if there is none, or the name is none.

    Raises BrokenPlugin: a distribution declares it, and it cannot be used.
    """
    if name in _classes:
        return _classes[name]
    if not _NAME.fullmatch(name):
        return None
    record = home() / name / _RECORD
    try:
        changed = record.stat().st_mtime_ns
    except OSError:
        return _provided(name) if name in plugins.found(GROUP) else None
    return _read(record, changed)


def names() -> list[str]:
    """Return the names of all controls from outside, sorted."""
    try:
        built = {path.parent.name for path in home().glob(f"*/{_RECORD}")}
    except OSError:
        built = set()
    return sorted(built | set(plugins.found(GROUP)) | _classes.keys())


_classes: dict[str, Installed] = {}


def use_class(python: type, name: str) -> Installed:
    """Let scenarios of this process name a Python class; another of the name is replaced."""
    try:
        text = inspect.getsource(python)
    except (OSError, TypeError):  # typed into an interpreter: another one each time
        text = f"{python!r} {id(python)}"
    _classes[name] = installed = Installed(
        name=check_name(name),
        library=Path(),
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        source=f"{python.__module__}.{python.__qualname__}",
        paces=bool(getattr(python, "paces", False)),
        controls_cwnd=bool(getattr(python, "controls_cwnd", False)),
        python=python,
    )
    return installed


@lru_cache(maxsize=64)
def _read(record: Path, changed: int) -> Installed:
    try:
        data = json.loads(record.read_text(encoding="utf-8"))
        return Installed(**data | {"library": record.parent / _LIBRARY})
    except (OSError, ValueError, TypeError) as error:
        why = " ".join(str(error).split())
        raise ControlError("control.bad-record", field=str(record), why=why) from None


@lru_cache(maxsize=64)
def _provided(name: str) -> Installed:
    given = plugins.load(GROUP, name)
    if callable(given):
        with plugins.blamed(GROUP, name):
            given = given()
    if not isinstance(given, Provided):
        raise plugins.refuse(GROUP, name, Fact("plugin.no-control"))
    library = Path(given.library)
    if not library.is_file():
        raise plugins.refuse(GROUP, name, Fact("plugin.no-library", path=library))
    rest = {key: value for key, value in asdict(given).items() if key != "library"}
    point = plugins.found(GROUP)[name]
    brought = point.dist.name if point.dist is not None else point.value
    return Installed(
        name=name, library=library, sha256=sha256_of(library), brought_by=brought, **rest
    )


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hex digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def install(library: Path, control: Mapping[str, Any]) -> Installed:
    """Keep a library under ``control["name"]``, with its record; an older one is replaced.

    Raises ControlError: the folder cannot be written.
    """
    name = check_name(control["name"])
    place = home() / name
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=place.parent))
        try:
            shutil.copyfile(library, fresh / _LIBRARY)
            record = {**control, "sha256": sha256_of(library)}
            (fresh / _RECORD).write_text(json.dumps(record, indent=2), encoding="utf-8")
            _replace(fresh, place)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except OSError as error:
        why = error.strerror
        raise ControlError("control.not-written", field=str(place), why=why) from None
    installed = find(name)
    assert installed is not None, "just written"
    return installed


def _replace(fresh: Path, place: Path) -> None:
    if place.exists():
        old = Path(tempfile.mkdtemp(prefix=".old-", dir=place.parent))
        place.rename(old / "was")
        fresh.rename(place)
        shutil.rmtree(old, ignore_errors=True)
    else:
        fresh.rename(place)
