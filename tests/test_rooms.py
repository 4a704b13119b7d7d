"""The drawing of ARCHITECTURE.md, held: which room may use which, what a shelf lists, how long things may be."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path, PurePosixPath

import networkx
import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "pytest_taskgraph"

# Everyone may use the ground, and nobody the front: the public names of `pytest_taskgraph`, and `__main__`.
GROUND = {
    "errors", "catalog", "source", "positioned_json", "positioned_yaml", "usage", "trial", "diagram", "asking",
    "redaction", "family_description", "installation", "version", "local_adapters", "local_weights",
    "validation_faults",
}  # fmt: skip
FRONT = {"__init__", "__main__"}
ALL_BELOW = {
    *("workflow", "notations", "generation", "scoring", "benchmarks", "families", "models", "results", "reports"),
    *("tuning", "soundness", "registry", "hookspec"),
}
MAY_USE: dict[str, set[str]] = {
    "workflow": set(),
    "notations": {"workflow"},
    "generation": {"workflow"},
    "scoring": {"workflow", "notations"},
    "benchmarks": {"scoring", "reports"},
    "families": {"workflow", "notations", "generation", "scoring", "benchmarks", "reports", "results"},
    "models": set(),
    "tuning": {"benchmarks", "models"},
    "results": set(),
    "reports": {"results", "scoring"},
    "soundness": {"scoring", "benchmarks", "families", "reports"},
    "registry": {"notations", "generation", "scoring", "benchmarks", "families", "models", "results", "reports"},
    "hookspec": {"registry"},
    "commands": ALL_BELOW,
    "plugin": ALL_BELOW,
}
SHELVES = ("notations", "models", "families/understanding/patterns/structure", "scoring/metrics", "reports")

MODULE_LINES = 500
FUNCTION_LINES = 40
NAMES_THAT_SAY_NOTHING = {"util", "utils", "helper", "helpers", "common", "manager", "managers"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def sources() -> Mapping[str, str]:
    """The modules of the package, path below it to source."""
    folder = ROOT / PACKAGE
    paths = (path for path in sorted(folder.rglob("*.py")) if not any(part.startswith(".") for part in path.parts))
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}


@cache
def parsed(source: str) -> ast.Module:
    """Return the tree of a module, which nobody changes."""
    return ast.parse(source)


@cache
def imported(path: str, source: str) -> tuple[str, ...]:
    """The dotted names, below the package, that a module imports: at the top, in functions, for type checkers.

    `from x import y` gives x.y, for y may be a module. An import by a name that is computed gives "?".
    """
    return tuple(_imported(path, source))


def _imported(path: str, source: str) -> Iterator[str]:
    inside = (PACKAGE, *PurePosixPath(path).parent.parts)
    for node in ast.walk(parsed(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{_absolute(inside, node.level, node.module or '')}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and _last_name(node.func) in ("import_module", "__import__"):
            names = [_called(inside, node)]
        for name in names:
            package, _, below = f"{name}.".partition(".")
            if package in (PACKAGE, "?"):
                yield below.rstrip(".") or ("?" if package == "?" else "__init__")


def _last_name(function: ast.expr) -> str:
    """Return the name that is called, without the object before its dot."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _absolute(inside: tuple[str, ...], level: int, module: str) -> str:
    base = inside[: len(inside) - level + 1] if level else ()
    return ".".join((*base, *filter(None, [module])))


def _called(inside: tuple[str, ...], call: ast.Call) -> str:
    name = call.args[0] if call.args else None
    if not isinstance(name, ast.Constant):
        return "?"
    module = str(name.value)
    bare = module.lstrip(".")
    return _absolute(inside, len(module) - len(bare), bare)


def room(path: str) -> str:
    """The room of a module: the folder, or the name of a module that stands in none."""
    return PurePosixPath(path).with_suffix("").parts[0]


def arrows(modules: Mapping[str, str]) -> dict[tuple[str, str], list[str]]:
    """What rooms use, (from, to) to the modules that do it, without the ground and without a room's use of itself."""
    rooms = {room(path) for path in modules}
    imports: dict[tuple[str, str], list[str]] = {}
    for path, source in modules.items():
        for name in imported(path, source):
            first = name.split(".")[0]
            target = first if first in rooms | GROUND | {"?"} else "__init__"
            if target not in GROUND | {room(path)}:
                imports.setdefault((room(path), target), []).append(path)
    return imports


def forbidden(modules: Mapping[str, str]) -> list[str]:
    """The arrows outside the table, each with the modules to blame."""
    return [
        f"{start} uses {target}: {', '.join(sorted(set(blamed)))}"
        for (start, target), blamed in arrows(modules).items()
        if start not in FRONT and target not in MAY_USE.get(start, set())
    ]


def unlisted(shelf: str, modules: Mapping[str, str]) -> list[str]:
    """Return the modules of a shelf that its `__init__` neither imports, directly or through others, nor lists.

    A docstring lists a module by a line that starts with its name below the shelf and two blanks.
    """
    paths = {_dotted(path): path for path in modules if path.startswith(f"{shelf}/")}
    front = shelf.replace("/", ".")
    modules_ = re.findall(r"^([\w.]+)(?=  )", ast.get_docstring(parsed(modules[paths[front]])) or "", re.MULTILINE)
    reached: set[str] = set()
    todo = [front, *(name for name in (f"{front}.{name_}" for name_ in modules_) if name in paths)]
    while todo:
        module = todo.pop()
        # A module of a package comes with the package.
        reached |= {module, *(package for package in paths if module.startswith(f"{package}."))}
        for name in imported(paths[module], modules[paths[module]]):
            used = next((name_ for name_ in (name, name.rpartition(".")[0]) if name_ in paths), None)
            todo += [used] if used is not None and used not in reached else []
    return sorted(name.removeprefix(f"{front}.") for name in paths.keys() - reached)


def _dotted(path: str) -> str:
    """Return the dotted name of a module below the package."""
    return ".".join(PurePosixPath(path).with_suffix("").parts).removesuffix(".__init__")


def circles(modules: Mapping[str, str]) -> list[list[str]]:
    """Return the groups of modules that import each other, at their top or late, with the packages that come with them.

    To import a.b.c runs a and a.b first. Those packages run before any module in them, so a module does not depend on
    its own.
    """
    paths = {_dotted(path): path for path in modules}
    graph: networkx.DiGraph[str] = networkx.DiGraph()
    for module, path in paths.items():
        for name in imported(path, modules[path]):
            target = name if name in paths else name.rpartition(".")[0]
            parts = target.split(".")
            run = (".".join(parts[: at + 1]) for at in range(len(parts)))
            graph.add_edges_from(
                (module, name_) for name_ in run if name_ in paths and not f"{module}.".startswith(f"{name_}.")
            )
    imports = (sorted(group) for group in networkx.strongly_connected_components(graph))
    return sorted(group for group in imports if len(group) > 1)


def lines_of(function: Function) -> int:
    """The lines of a function without its decorators and its docstring."""
    first = function.body[0]
    documented = ast.get_docstring(function, clean=False) is not None
    doc = (first.end_lineno or first.lineno) - first.lineno + 1 if documented else 0
    return (function.end_lineno or function.lineno) - function.lineno + 1 - doc


def test_rooms_import_only_as_drawing_allows() -> None:
    assert forbidden(sources()) == []


def test_ground_stands_on_nothing() -> None:
    assert {start for start, _ in arrows(sources())} & GROUND == set()


def test_rooms_have_order() -> None:
    used: dict[str, set[str]] = {}
    for start, target in arrows(sources()):
        used.setdefault(start, set()).add(target)
    order = tuple(TopologicalSorter(used).static_order())
    assert order.index("workflow") < order.index("notations") < order.index("benchmarks")
    assert set(TopologicalSorter(MAY_USE).static_order()) == set(MAY_USE)


def test_rooms_table_lists_all_folders() -> None:
    assert {room(path) for path in sources()} == MAY_USE.keys() | GROUND | FRONT


def bound_names(module: ast.Module) -> Iterator[str]:
    """Yield each name as often as the module binds it at its top, by an assignment, a class or a function."""
    for node in module.body:
        if isinstance(node, ast.Assign):
            bound = (name for target in node.targets for name in ast.walk(target))
            yield from (name.id for name in bound if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not node.decorator_list:
            yield node.name


def test_modules_bind_each_name_once() -> None:
    twice = {
        path: [name for name, times in Counter(bound_names(parsed(source))).items() if times > 1]
        for path, source in sources().items()
    }
    assert {path: names for path, names in twice.items() if names} == {}
    assert [*bound_names(ast.parse("A, B = 1, 2\nA = 3\nC[0] = 4"))] == ["A", "B", "A"]


def test_page_of_architecture_shows_same_table() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\| ([^|]*) \|$", page, re.MULTILINE)
    names = {
        name: ALL_BELOW if uses.startswith("all but") else set(re.findall(r"`(\w+)`", uses)) for name, uses in rows
    }
    assert names == MAY_USE


def test_modules_do_not_import_each_other() -> None:
    assert circles(sources()) == []


@pytest.mark.parametrize("shelf", SHELVES)
def test_shelf_lists_all_that_stands_on_it(shelf: str) -> None:
    assert unlisted(shelf, sources()) == []


def test_modules_are_short() -> None:
    assert {path: n for path, text in sources().items() if (n := text.count("\n")) > MODULE_LINES} == {}


def test_functions_are_short() -> None:
    functions = {
        f"{path}:{node.lineno} {node.name}": lines_of(node)
        for path, text in sources().items()
        for node in ast.walk(parsed(text))
        if isinstance(node, Function)
    }
    assert {where: n for where, n in functions.items() if n > FUNCTION_LINES} == {}


def test_modules_and_classes_have_descriptive_names() -> None:
    names = [*sources(), *(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("*.py"))]
    for text in sources().values():
        names += [node.name for node in ast.walk(parsed(text)) if isinstance(node, ast.ClassDef)]
    words = {name: {word.lower() for word in re.findall(r"[A-Z]?[a-z]+", name)} for name in names}
    assert [name for name in names if words[name] & NAMES_THAT_SAY_NOTHING] == []


STANDING = {
    "__init__.py": "",
    "errors.py": "",
    "workflow/model.py": "",
    "benchmarks/sample.py": "",
    "plugin/hooks.py": "",
}


@pytest.mark.parametrize(
    "source",
    [
        "from ..benchmarks.sample import draw",
        "from ..benchmarks import sample",
        "from .. import benchmarks",
        "import pytest_taskgraph.benchmarks.sample",
        "from pytest_taskgraph import benchmarks",
        "def late():\n    from ..benchmarks import sample",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..benchmarks import sample",
        "from importlib import import_module\nimport_module('..benchmarks.sample', __package__)",
        "import importlib\nimportlib.import_module('pytest_taskgraph.benchmarks')",
    ],
)
def test_upward_import_is_found_however_it_is_written(source: str) -> None:
    assert forbidden(STANDING | {"workflow/graph.py": source}) == ["workflow uses benchmarks: workflow/graph.py"]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("from pytest_taskgraph import Workflow", "__init__"),  # by way of the front
        ("import pytest_taskgraph", "__init__"),
        ("from importlib import import_module\nimport_module(name)", "?"),
    ],
)
def test_way_around_table_is_found(source: str, target: str) -> None:
    assert forbidden(STANDING | {"workflow/graph.py": source}) == [f"workflow uses {target}: workflow/graph.py"]


def test_dots_are_counted_in_nested_folder() -> None:
    nested = STANDING | {
        "workflow/deep/er.py": "from ...plugin import x",
        "workflow/deep/own.py": "from ..model import y",
    }
    assert forbidden(nested) == ["workflow uses plugin: workflow/deep/er.py"]


@pytest.mark.parametrize(
    "source",
    [
        "from ..errors import UsageError",
        "from .. import errors, version",
        "from .model import Workflow",
        "import json, pytest",
        "import pytest_taskgraphics",
    ],
)
def test_ground_room_and_libraries_are_free(source: str) -> None:
    assert forbidden(STANDING | {"workflow/graph.py": source}) == []


def test_downward_import_is_free() -> None:
    assert forbidden(STANDING | {"families/questions.py": "from ..workflow.model import Workflow"}) == []


def test_circle_by_way_of_package_of_module_is_found() -> None:
    modules = {
        "results/__init__.py": "",
        "results/tally.py": "from .record.words import Word",
        "results/record/__init__.py": "from ..tally import Tally",
        "results/record/words.py": "",
    }
    assert circles(modules) == [["results.record", "results.tally"]]


@pytest.mark.parametrize(
    "late", ["def load():\n    from .tally import Tally", "if TYPE_CHECKING:\n    from .tally import Tally"]
)
def test_circle_by_late_import_is_found(late: str) -> None:
    modules = {"results/__init__.py": "", "results/tally.py": "from .words import Word", "results/words.py": late}
    assert circles(modules) == [["results.tally", "results.words"]]


def test_module_that_nothing_on_shelf_imports_is_found() -> None:
    shelf = {
        "models/__init__.py": '"""Models.\n\ntold    by the docstring\n"""\nfrom .used import X',
        "models/used.py": "from .used_by_used import Y",
        "models/used_by_used.py": "",
        "models/told.py": "",
        "models/forgotten.py": "from .used import X",
        "models/of_the_forgotten.py": "",
        "reports/forgotten.py": "",
    }
    assert unlisted("models", shelf) == ["forgotten", "of_the_forgotten"]


def test_decorators_and_docstrings_are_not_counted_as_lines_of_function() -> None:
    source = "@decorated(\n    1,\n)\ndef one():\n    '''First.\n\n    Last.\n    '''\n    return 1\n"
    function = ast.parse(source).body[0]
    assert isinstance(function, Function)
    assert lines_of(function) == 2
