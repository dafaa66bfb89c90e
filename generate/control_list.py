"""The simulator's list of congestion controls, made from the records.

It stands between the lines ``// Begin`` and ``// End`` of crates/sim/src/cc/mod.rs and list.rs.
"""

import re
from pathlib import Path

from forebay.catalogue.controls import OURS, Control

CC = Path(__file__).parents[1] / "crates/sim/src/cc"
_MARKED = re.compile(r"(// Begin[^\n]*\n).*?(// End\n)", re.DOTALL)


def sources(folder: Path) -> dict[Path, str]:
    """Return both files as they should be, by path; ``folder`` has them now."""
    names = {re.split("::", re.sub("^Box<", "", our.in_core))[0] for our in OURS.values()}
    parts = {
        folder / "mod.rs": "".join(f"mod {name};\n" for name in sorted(names)),
        folder / "list.rs": f"controllers! {{\n{''.join(map(_line, OURS.values()))}}}\n",
    }
    return {path: _between(path.read_text(encoding="utf-8"), part) for path, part in parts.items()}


def _line(control: Control) -> str:
    boxed = re.fullmatch(r"Box<(.*)>", control.in_core)
    kept = f"super::{control.in_core}" if boxed is None else f"Box<super::{boxed[1]}>"
    return f'    "{control.name}" => {_variant(control.name)}({kept});\n'


def _variant(name: str) -> str:
    """Return the name of the enum's variant: CubicBeta08 for "cubic-beta-0.8"."""
    parts = re.split("[-_]", name.replace(".", ""))
    return "".join(part[:1].upper() + part[1:] for part in parts)


def _between(text: str, part: str) -> str:
    return _MARKED.sub(lambda match: f"{match[1]}{part}{match[2]}", text)


def write() -> None:
    """Write both files."""
    for path, text in sources(CC).items():
        path.write_text(text, encoding="utf-8")
