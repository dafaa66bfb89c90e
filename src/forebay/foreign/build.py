"""Compiles the source of a control to a shared library."""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from forebay.foreign.installed import ControlError
from forebay.words import argument

_HERE = Path(__file__).parent
INCLUDE, LINUX, EXAMPLES = _HERE / "include", _HERE / "linux", _HERE / "examples"
_TIMEOUT_S = 60
_SYSTEM_HEADER = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)
_OWN_HEADER = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})(?:\.\d+)?")
_COMMON = ("-O2", "-fPIC", "-shared")
_WHOLE = ("-Wl,-z,defs",) if sys.platform == "linux" else ()
"""Nothing is left undefined, which would end the process that loads it."""
# The kernel's own rules of the language: integers wrap, and pointers may alias.
_KERNEL = ("-std=gnu11", "-fno-strict-aliasing", "-fwrapv", "-w")


@dataclass(frozen=True, slots=True)
class Built:
    """A compiled library, and what it was made from and with."""

    library: Path
    source: str
    source_sha256: str
    compiler: str
    linux: str | None
    hz: int | None


def compile_control(
    files: Sequence[Path], out: Path, *, linux: str | None = None, hz: int | None = None
) -> Built:
    """Compile a control into the folder ``out``.

    Parameters
    ----------
    files : the source, C, C++, Rust or Zig by its ending; of C, further files that it needs. A .so
        is taken as it is.
    linux : version of Linux that the files, modules of its net/ipv4, are from; None if they use
        ``forebay_cc.h``.
    hz : ticks of the kernel's clock in a second, 1000 if not given.

    Raises ControlError: a file cannot be read, does not compile, or its compiler is missing.
    """
    first, digest = files[0], hashlib.sha256()
    for path in files:
        if not path.is_file():
            raise ControlError("control.no-source", field=str(path))
        digest.update(path.read_bytes())
    library = out / "control.so"
    if linux is None and hz is not None:
        raise ControlError("control.hz-without-linux", field=argument("hz"))
    if first.suffix == ".so":
        shutil.copyfile(first, library)
        compiler = "none"
    elif linux is not None:
        compiler = _compile_module(files, library, out, linux, hz or 1000)
    else:
        if "net/tcp.h" in _headers(files):
            raise ControlError("control.of-kernel", field=str(first))
        compiler = _compile(files, library)
    kept = (hz or 1000) if linux is not None else None
    names = " ".join(path.name for path in files)
    return Built(library, names, digest.hexdigest(), compiler, linux, kept)


def _compile(files: Sequence[Path], library: Path) -> str:
    sources = [str(path) for path in files]
    suffix = files[0].suffix
    if suffix == ".c":
        command = [*_program("CC", "cc"), *_COMMON, "-Wall", f"-I{INCLUDE}", *sources]
        return _call([*command, *_WHOLE, "-o", str(library), "-lm"], files[0])
    if suffix in {".cc", ".cpp", ".cxx"}:
        command = [*_program("CXX", "c++"), *_COMMON, "-Wall", f"-I{INCLUDE}", *sources]
        return _call([*command, "-o", str(library)], files[0])
    if suffix == ".rs":
        command = [*_program("RUSTC", "rustc"), "--edition=2024", "-O", "--crate-type=cdylib"]
        return _call([*command, *sources, "-o", str(library)], files[0])
    if suffix == ".zig":
        command = [*_program("ZIG", "zig"), "build-lib", "-dynamic", "-O", "ReleaseFast", "-lc"]
        command += [f"-I{INCLUDE}", *sources, f"-femit-bin={library}"]
        return f"zig {_call(command, files[0], version='version')}"
    raise ControlError("control.language", field=str(files[0]), value=suffix)


def _compile_module(files: Sequence[Path], library: Path, out: Path, linux: str, hz: int) -> str:
    known = _VERSION.fullmatch(linux) if isinstance(linux, str) else None
    if known is None:
        raise ControlError("control.version", field=argument("linux"), value=linux)
    if not 1 <= hz <= 10_000:
        raise ControlError("control.hz", field=argument("hz"), value=hz)
    headers = out / "headers"
    for name in sorted(_headers(files)):
        stub = headers / name
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.write_text('#include "forebay_linux.h"\n', encoding="utf-8")
    code = (int(known[1]) << 8) + int(known[2])
    command = [
        *_program("CC", "cc"), *_COMMON, *_KERNEL, f"-DFOREBAY_LINUX={code}", f"-DHZ={hz}",
        f"-I{headers}", f"-I{LINUX}", f"-I{INCLUDE}", "-include", str(LINUX / "forebay_linux.h"),
    ]  # fmt: skip
    objects = []
    for number, path in enumerate(files):
        objects.append(str(out / f"{number}.o"))
        main = ["-DFOREBAY_MAIN"] if number == 0 else []
        compiler = _call([*command, *main, "-c", str(path), "-o", objects[-1]], path)
    _call([*_program("CC", "cc"), "-shared", *_WHOLE, *objects, "-o", str(library)], files[0])
    return compiler


def _headers(files: Iterable[Path]) -> set[str]:
    """Return the system headers that files name, also by their own headers beside them."""
    headers: set[str] = set()
    left, seen = list(files), set()
    while left:
        path = left.pop()
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        text = path.read_text(encoding="utf-8", errors="replace")
        headers |= set(_SYSTEM_HEADER.findall(text))
        left += [path.parent / name for name in _OWN_HEADER.findall(text)]
    outside = {name for name in headers if name.startswith("/") or ".." in name.split("/")}
    return headers - outside


def _program(variable: str, usual: str) -> list[str]:
    program = shlex.split(os.environ.get(variable, "")) or [usual]
    if shutil.which(program[0]) is None:
        raise ControlError(
            "control.no-compiler", field=f"${variable}", value=program[0], name=variable
        )
    return program


def _call(command: list[str], source: Path, version: str = "--version") -> str:
    """Run a compiler; return its first line about itself."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT_S,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise ControlError(
            "control.slow-compiler", field=str(source), value=command[0], seconds=_TIMEOUT_S
        ) from None
    if done.returncode:
        lines = done.stderr.splitlines()
        marks = ("error", "undefined reference", "multiple definition")
        faults = [line for line in lines if any(mark in line for mark in marks)]
        first = " ".join((faults or lines or ["failed"])[0].split())
        raise ControlError("control.not-compiled", field=str(source), value=command[0], why=first)
    asked = subprocess.run(
        [command[0], version], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    return (asked.stdout.splitlines() or [command[0]])[0]
