"""The Rust files: no circle of files that use each other's names, and none above 350 lines."""

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

CRATES = Path(__file__).parents[2] / "crates"
MOST_LINES = 350
TEST_MODULE = re.compile(
    r"#\[cfg\((?:any\()?test[^\n]*\)\]\s*(?:pub(?:\([^)]*\))? )?mod (\w+)\s*([;{])"
)
USE = re.compile(r"^[ \t]*((?:pub(?:\([^)]*\))? )?)use ([^;]+);", re.MULTILINE)
PATH = re.compile(r"\b((?:crate|self|super)(?:::super)*(?:::\w+)+)")


def without_tests(text: str) -> str:
    """Return a file's text without comments and its inline test modules, which end the file."""
    text = re.sub(r"//[^\n]*", "", text)
    inline = [found.start() for found in TEST_MODULE.finditer(text) if found[2] == "{"]
    return text[: min(inline, default=len(text))]


def expanded(tree: str) -> Iterator[str]:
    """Yield each path of a use tree: ``a::{b, c::{d, e}}`` names three."""
    tree = tree.strip()
    opening = tree.find("{")
    if opening < 0:
        if tree:
            yield re.sub(r"\s+as\s+\w+", "", tree)
        return
    depth, start = 0, opening + 1
    for place in range(opening, len(tree)):
        depth += {"{": 1, "}": -1}.get(tree[place], 0)
        if (tree[place] == "," and depth == 1) or (tree[place] == "}" and depth == 0):
            for path in expanded(tree[start:place]):
                yield tree[:opening] + path
            start = place + 1


class Crate:
    """The modules of one crate by path, without the modules of tests."""

    def __init__(self, src: Path):
        paths = {self.module(path.relative_to(src)): path for path in src.rglob("*.rs")}
        texts = {module: path.read_text(encoding="utf-8") for module, path in paths.items()}
        tests = [
            (*module, found[1])
            for module, text in texts.items()
            for found in TEST_MODULE.finditer(text)
            if found[2] == ";"
        ]
        self.paths = {
            module: path
            for module, path in paths.items()
            if not any(module[: len(test)] == test for test in tests)
        }
        self.texts = {module: without_tests(texts[module]) for module in self.paths}

    @staticmethod
    def module(path: Path) -> tuple[str, ...]:
        """Return a file's module path; the crate's root is empty."""
        parts = path.with_suffix("").parts
        return parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts

    def definer(
        self, module: tuple[str, ...], path: str, seen: frozenset[str] = frozenset()
    ) -> tuple[str, ...] | None:
        """Return the module that defines what ``path`` names in ``module``; None: another crate."""
        parts = path.replace(" ", "").split("::")
        at: tuple[str, ...] = ()
        if parts[0] == "crate":
            parts = parts[1:]
        elif parts[0] in ("self", "super") or (*module, parts[0]) in self.texts:
            at = module
        else:
            return None
        for nth, part in enumerate(parts):
            if part == "self":
                continue
            if part == "super":
                at = at[:-1]
            elif (*at, part) in self.texts:
                at = (*at, part)
            else:
                return self.reexported(at, "::".join(parts[nth:]), seen)
        return at

    def reexported(
        self, at: tuple[str, ...], name: str, seen: frozenset[str]
    ) -> tuple[str, ...] | None:
        """Return where ``at`` has a name from, if it only passes it on."""
        head, _, rest = name.partition("::")
        for public, tree in USE.findall(self.texts.get(at, "")):
            for path in expanded(tree) if public else ():
                key = f"{at} {path}"
                if path.rsplit("::", 1)[-1] == head and key not in seen:
                    return self.definer(at, f"{path}::{rest}" if rest else path, seen | {key})
        return at

    def needs(self) -> dict[tuple[str, ...], set[tuple[str, ...]]]:
        """Return, for each module, the others whose definitions it names, but not its parents.

        A file and the files of its folder are one for Rust: they see each other's private names.
        """
        graph: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
        for module, text in self.texts.items():
            used = [path for _, tree in USE.findall(text) for path in expanded(tree)]
            inline = PATH.findall(USE.sub("", text))
            definers = {self.definer(module, path) for path in used + inline}
            graph[module] = {
                there for there in definers if there is not None and module[: len(there)] != there
            }
        return graph


def circle(src: Path) -> list[str]:
    """Return a circle of files, each of which uses a name of the next; empty if there is none."""
    try:
        TopologicalSorter(Crate(src).needs()).prepare()
    except CycleError as error:
        return ["::".join(module) or "root" for module in reversed(error.args[1])]
    return []


def test_no_circle_of_files() -> None:
    circles = {
        crate.name: circle(crate / "src") for crate in CRATES.iterdir() if (crate / "src").is_dir()
    }
    assert circles and not any(circles.values()), circles


def long_files(src: Path) -> list[str]:
    """Return the files with more lines than MOST_LINES, without those of tests."""
    paths = Crate(src).paths.values()
    return [
        path.relative_to(src).as_posix()
        for path in paths
        if len(path.read_text(encoding="utf-8").splitlines()) > MOST_LINES
    ]


def test_no_file_is_long() -> None:
    assert not [name for src in CRATES.glob("*/src") for name in long_files(src)]


def test_a_long_file_is_seen_and_a_long_file_of_tests_is_not_one(tmp_path: Path) -> None:
    lines = "// x\n" * MOST_LINES
    planted(tmp_path, {"lib.rs": "#[cfg(test)]\nmod tests;\n", "tests.rs": lines + "// x\n"})
    assert long_files(tmp_path) == []
    planted(tmp_path, {"a.rs": lines, "b.rs": lines + "// x\n"})
    assert long_files(tmp_path) == ["b.rs"]


def planted(src: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        (src / name).parent.mkdir(parents=True, exist_ok=True)
        (src / name).write_text(text, encoding="utf-8")
    return circle(src)


def test_a_planted_circle_is_seen(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a;\nmod b;\n",
        "a.rs": "use crate::{b::B};\npub struct A(B);\n",
        "b.rs": "pub struct B;\n",
    }
    assert planted(tmp_path, files) == []
    assert planted(tmp_path, {"b.rs": "pub struct B;\nfn f(_: crate::a::A) {}\n"}) in (
        ["a", "b", "a"],
        ["b", "a", "b"],
    )


def test_a_circle_through_a_reexport_is_seen_and_the_room_itself_is_not_one(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod room;\n",
        "room/mod.rs": "mod a;\nmod b;\npub use a::A;\npub use b::B;\n",
        "room/a.rs": "use super::B;\npub struct A(B);\n",
        "room/b.rs": "pub struct B;\n#[cfg(test)]\nmod tests {\n    use super::super::A;\n}\n",
    }
    assert planted(tmp_path, files) == []
    circular = planted(tmp_path, {"room/b.rs": "use super::A;\npub struct B;\n"})
    assert circular in (["room::a", "room::b", "room::a"], ["room::b", "room::a", "room::b"])
