"""The mutants of the Python packages that decide an answer."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

PACKAGES = ("search", "laws", "outcome")
_BINARY = ("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Div", "Pow_Mul")
_COMPARISON = (
    "Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is",
)  # fmt: skip
_PLAIN = (
    "AddNot", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr",
    "ReplaceOrWithAnd", "ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "NumberReplacer",
    "ZeroIterationForLoop", "ReplaceUnaryOperator_USub_UAdd", "ReplaceUnaryOperator_Delete_Not",
)  # fmt: skip
OPERATORS = (
    *(f"ReplaceBinaryOperator_{each}" for each in _BINARY),
    *(f"ReplaceComparisonOperator_{each}" for each in _COMPARISON),
    *_PLAIN,
)
"""cosmic-ray's, without those that give a mutant twice, or one that no program would contain."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one line.

    Attributes
    ----------
    file : from the repository's root.
    line : its number, from 1.
    source : the line.
    operator, occurrence : cosmic-ray's name of the change, and its number in the file, from 0.
    of_line : its number among the same changes of the line.
    """

    file: Path
    line: int
    source: str
    operator: str
    occurrence: int
    of_line: int

    def __str__(self) -> str:
        return f"{self.source} [{self.operator} {self.of_line}]"

    def order(self, sample: int) -> str:
        """A hash that nothing but the line, the change and the sample decides."""
        return hashlib.sha256(f"{sample} {self}".encode()).hexdigest()

    def applied(self, code: str) -> str:
        """Return a file's code with the change."""
        made = mutate_code(code, get_operator(f"core/{self.operator}")(), self.occurrence)
        assert made is not None, "the occurrence was found in this code"
        return str(made)


def mutants(root: Path, many: int, sample: int) -> list[Mutant]:
    """Return a sample of so many mutants, always the same ones of the same lines."""
    files = [path for name in PACKAGES for path in (root / "src/forebay" / name).rglob("*.py")]
    found = {str(each): each for path in sorted(files) for each in _of_file(root, path)}
    return sorted(found.values(), key=lambda each: each.order(sample))[:many]


def _of_file(root: Path, path: Path) -> Iterator[Mutant]:
    """Yield a file's mutants, but not of decorators and of how arguments are passed."""
    code = path.read_text("utf-8")
    nodes, lines = list(ast_nodes(get_ast(code))), code.splitlines()
    for name in OPERATORS:
        operator, before = get_operator(f"core/{name}")(), Counter[int]()
        places = (place for node in nodes for place in operator.mutation_positions(node))
        for occurrence, ((line, _), _) in enumerate(places):
            source = lines[line - 1].strip()
            if not source.startswith("@") and ", *," not in source:
                yield Mutant(path.relative_to(root), line, source, name, occurrence, before[line])
            before[line] += 1
