"""Our congestion controls, compiled on this machine at first use."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

from forebay.engines.errors import EngineUnavailable
from forebay.engines.testbed.owner import Owner

SOURCES = Path(__file__).with_name("bpf_programs")
"""Source code of the programs. A wheel contains it, as a checkout does."""

_BTF = Path("/sys/kernel/btf/vmlinux")
_INSTALL = "install the compiler: `apt-get install clang libbpf-dev`"
_TIMEOUT_S = 60


def built() -> Path:
    """Return the folder with objects and loader of these sources; compile them if missing.

    Raises
    ------
    EngineUnavailable
        The kernel cannot load them, or a compiler or library is missing.
    """
    _require_type_information()
    folder = _cache() / _digest()
    if not folder.exists():
        _build(folder)
    return folder


def _require_type_information() -> None:
    if not _BTF.exists():
        hint = "use a kernel with CONFIG_DEBUG_INFO_BTF, 6.4 or later"
        raise EngineUnavailable("testbed", f"the kernel has no type information ({_BTF})", hint)


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "forebay" / "congestion"


def _digest() -> str:
    """Return a digest of all compiled sources, so that a changed source is compiled again."""
    digest = hashlib.sha256(platform.machine().encode())
    for path in sorted(SOURCES.glob("*.[ch]")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _build(folder: Path) -> None:
    """Build in a temporary folder, then rename it: no process ever sees an incomplete build."""
    if shutil.which("clang") is None:
        raise EngineUnavailable("testbed", "clang is missing", _INSTALL)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _remove_halves(folder.parent)
    temporary = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=folder.parent))
    try:
        for source in sorted(SOURCES.glob("*.bpf.c")):
            out = temporary / source.name.replace(".bpf.c", ".o")
            _compile("-O2", "-g", "-target", "bpf", "-c", str(source), "-o", str(out))
        _compile("-O2", str(SOURCES / "loader.c"), "-lbpf", "-o", str(temporary / "loader"))
        temporary.rename(folder)
    except OSError:
        if not folder.exists():
            raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _remove_halves(place: Path) -> None:
    """Remove temporary folders of killed builds; skip those of a live process."""
    for path in place.glob("*-*"):
        pid = path.name.partition("-")[0]
        if pid.isdigit() and Owner.of(int(pid)) is None:
            shutil.rmtree(path, ignore_errors=True)


def _compile(*arguments: str) -> None:
    done = subprocess.run(
        ["clang", *arguments], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    if done.returncode:
        wrong = next((line for line in done.stderr.splitlines() if "error" in line), "failed")
        raise EngineUnavailable("testbed", f"clang: {wrong}", _INSTALL)
