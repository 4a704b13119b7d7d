"""The size of the house, held: `ceilings.toml`, and what keeps modules whole and features apart.

`python tests/test_house.py` prints the present sizes. A ceiling is raised in a commit of its own, whose message names
the user's need and what was considered for removal.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import PurePosixPath
from typing import NamedTuple

from test_rooms import PACKAGE, ROOT, SHELVES, imported, parsed, sources

CEILINGS = tomllib.loads((ROOT / "ceilings.toml").read_text(encoding="utf-8"))
FAMILIES = ("understanding", "tasklama", "steps", "paged")
MODULE_CODE_LINES = 400
FRAGMENT_CODE_LINES = 60
# Called by a library, by a name that it decides: the protocols of pytest, aiohttp and xml.sax.
CALLED_FROM_OUTSIDE = {
    *("toterminal", "head_line", "iter_chunked"),
    *("setDocumentLocator", "startElementNS", "endElementNS", "characters"),
}


class Size(NamedTuple):
    """The size of a module or a room."""

    code_lines: int = 0
    statements: int = 0
    modules: int = 0

    def plus(self, other: Size) -> Size:
        return Size(*(a + b for a, b in zip(self, other, strict=True)))


def size(source: str) -> Size:
    """Return the size of a module: lines without blanks, comments and docstrings, and statements."""
    documented: set[int] = set()
    texts: set[int] = set()
    statements = 0
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            documented |= _lines_of(node)
        elif isinstance(node, ast.stmt):
            statements += 1
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts |= _lines_of(node)  # a line of a text may look blank, or like a comment
    lines = {number for number, line in enumerate(source.split("\n"), 1) if line.strip() and line.strip()[0] != "#"}
    return Size(len((lines | texts) - documented), statements, 1)


def _lines_of(node: ast.stmt | ast.expr) -> set[int]:
    return {*range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def room(path: str) -> str:
    """Return the room of a module; each family is one, and the modules beside the folders are the ground."""
    parts = PurePosixPath(path).parts
    if len(parts) > 2 and parts[0] == "families" and parts[1] in FAMILIES:
        return parts[1]
    return parts[0] if len(parts) > 1 else "ground"


@cache
def sizes() -> Mapping[str, Size]:
    """Return the size of each module of the package."""
    return {path: size(source) for path, source in sources().items()}


def sizes_of_rooms() -> dict[str, Size]:
    rooms: dict[str, Size] = {}
    for path, of_module in sizes().items():
        rooms[room(path)] = rooms.get(room(path), Size()).plus(of_module)
    return rooms


def module_of(name: str, names: set[str]) -> str | None:
    """Return the module that a dotted name below the package means: itself, or that which holds the name."""
    return next((one for one in (name, name.rpartition(".")[0]) if one in names), None)


@cache
def importers() -> Mapping[str, frozenset[str]]:
    """Return the modules that import each module, by dotted names below the package."""
    found = sources()
    dotted = {path: path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in found}
    modules, by_module = {*dotted.values()}, dict[str, set[str]]()
    for path, source in found.items():
        for name in imported(path, source):
            module = module_of(name, modules)
            if module is not None and module != dotted[path]:
                by_module.setdefault(module, set()).add(dotted[path])
    return {module: frozenset(names) for module, names in by_module.items()}


def fragments() -> list[str]:
    """Return the modules below 60 code lines that a single module imports, but for packages and shelves."""
    return [
        path
        for path, of_module in sizes().items()
        if of_module.code_lines < FRAGMENT_CODE_LINES
        and not path.endswith("__init__.py")
        and not path.startswith(tuple(f"{shelf}/" for shelf in SHELVES))
        and len(importers().get(path.removesuffix(".py").replace("/", "."), ())) == 1
    ]


def identifiers(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a module uses, without those that it defines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name.rpartition(".")[2]
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.arg


def unused_names() -> list[str]:
    """Return the functions, methods and classes that neither package, suites nor documentation name."""
    trees = {path: parsed(source) for path, source in sources().items()}
    used = {name for tree in trees.values() for name in identifiers(tree)}
    pages = [
        ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "suites").rglob("*.py"),
        *(ROOT / PACKAGE).rglob("*.jinja"),
    ]  # fmt: skip
    used |= {word for page in pages for word in re.findall(r"\w+", page.read_text(encoding="utf-8"))}
    used |= CALLED_FROM_OUTSIDE
    return sorted(
        f"{path}: {node.name}"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and node.name not in used
        and not re.match(r"__|pytest_", node.name)
    )


def test_rooms_are_within_their_ceilings() -> None:
    rooms, ceilings = sizes_of_rooms(), CEILINGS["rooms"]
    assert rooms.keys() == ceilings.keys(), "ceilings.toml names other rooms than there are"
    above = {
        name: (of_room, ceilings[name])
        for name, of_room in rooms.items()
        if any(value > ceilings[name][field] for field, value in of_room._asdict().items())
    }
    assert above == {}


def test_ceilings_are_close_to_what_is_reached() -> None:
    loose = {
        name: CEILINGS["rooms"][name]["code_lines"] - of_room.code_lines
        for name, of_room in sizes_of_rooms().items()
        if CEILINGS["rooms"][name]["code_lines"] > 1.02 * of_room.code_lines + 20
    }
    assert loose == {}, "lower these ceilings to what is reached: python tests/test_house.py prints it"


def test_module_is_within_its_ceiling() -> None:
    large = {path: of_module.code_lines for path, of_module in sizes().items()}
    assert {path: lines for path, lines in large.items() if lines > MODULE_CODE_LINES} == {}


def test_fragments_become_fewer() -> None:
    assert len(fragments()) <= CEILINGS["fragments"], "\n".join(fragments())


def test_package_holds_nothing_that_only_tests_call() -> None:
    assert unused_names() == []


def test_families_import_no_other_family() -> None:
    crossing = [
        f"{path} imports {name}"
        for path, source in sources().items()
        if room(path) in FAMILIES
        for name in imported(path, source)
        if re.match(rf"families\.(?!{room(path)}\b)({'|'.join(FAMILIES)})\b", name)
    ]
    assert len(crossing) <= CEILINGS["imports_between_families"], "\n".join(crossing)


def test_reports_import_no_other_report() -> None:
    reports = ("terminal", "html", "markdown", "junit", "csv")
    crossing = [
        f"{path} imports {name}"
        for path, source in sources().items()
        for report in reports
        if path.startswith((f"reports/{report}/", f"reports/{report}."))
        for name in imported(path, source)
        if re.match(rf"reports\.(?!{report}\b)({'|'.join(reports)})\b", name)
    ]
    assert len(crossing) <= CEILINGS["imports_between_reports"], "\n".join(crossing)


def test_format_is_switched_off_nowhere_new() -> None:
    switched = Counter(
        path
        for folder in (PACKAGE, "tests")
        for path in (ROOT / folder).rglob("*.py")
        for _ in re.findall(r"# fmt: " + "off", path.read_text(encoding="utf-8"))
    )
    assert sum(switched.values()) <= CEILINGS["format_switched_off"], switched


def main() -> None:
    rooms = sizes_of_rooms()
    for name, of_room in sorted(rooms.items()):
        counts = ", ".join(f"{field} = {value}" for field, value in of_room._asdict().items())
        print(f"{name} = {{ {counts} }}")
    total = Size()
    for of_room in rooms.values():
        total = total.plus(of_room)
    print(f"# in all: {total.code_lines} code lines, {total.statements} statements, {total.modules} modules; "
          f"{len(fragments())} fragments")  # fmt: skip


if __name__ == "__main__":
    main()
