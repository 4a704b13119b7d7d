"""ARCHITECTURE.md: the paths and the names that it mentions exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from test_rooms import parsed, sources

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "pytest_taskgraph"
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
# Files stand below the root, the package, or the folder that the section is about.
FAMILIES = PACKAGE / "families"
BASES = (
    ROOT,
    PACKAGE,
    PACKAGE / "models" / "middleware",
    FAMILIES / "understanding",
    FAMILIES / "tasklama",
    FAMILIES / "steps",
)
_PATH = re.compile(r"[\w*]+(?:/[\w.*]*)+|[\w*]+\.(?:py|md|toml)")
# A class or constant, a decorator, a function that is called, an attribute; the last name of a dotted one counts.
_NAME = re.compile(r"(?=[A-Z@]|[\w.]+\(|\w+\.\w+)@?(?:\w+\.)*(\w+)(?:\(\w*\))?")


def quoted(page: str) -> list[str]:
    """Return what stands between single backticks outside of fenced blocks, and the targets of links."""
    text = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    return [*re.findall(r"`([^`\n]+)`", text), *re.findall(r"\]\(([^)#]+)\)", text)]


def paths(page: str) -> list[str]:
    """Return the paths that a page mentions."""
    return sorted({text for text in quoted(page) if _PATH.fullmatch(text)})


def words_of_drawing(page: str) -> list[str]:
    """Return the words of the drawing that stand for rooms, packages and modules."""
    block = page.split("```")[1]
    words = re.sub(r"\([^)]*\)|when:|`[^`]*`|ground:|[^\w/\s]", " ", block).split()
    return sorted({word for word in words if re.match("[a-z]", word)})


def missing(mentioned: list[str]) -> list[str]:
    """Return the paths that are in none of the folders."""
    return [path for path in mentioned if not any(any(base.glob(path.rstrip("/"))) for base in BASES)]


def defined() -> Iterator[str]:
    """Yield the names of the package: its functions, classes, attributes of classes and values of modules."""
    of_tests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "families").glob("*.py")]
    for source in (*sources().values(), *of_tests):
        for node in ast.walk(parsed(source)):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield node.name
            elif isinstance(node, ast.AnnAssign | ast.Assign):
                targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
                yield from (target.id for target in targets if isinstance(target, ast.Name))


def test_page_mentions_paths_that_exist() -> None:
    mentioned = paths(PAGE)
    assert len(mentioned) > 40
    assert missing(mentioned) == []


def test_page_draws_rooms_and_modules_that_exist() -> None:
    stems = {path.stem for path in PACKAGE.rglob("*.py")} | {path.name for path in PACKAGE.rglob("*") if path.is_dir()}
    assert [word for word in words_of_drawing(PAGE) if word.rstrip("/") not in stems] == []


def test_page_mentions_names_that_exist() -> None:
    names = set(defined())
    mentioned = {match[1] for text in quoted(PAGE) if text not in paths(PAGE) and (match := _NAME.fullmatch(text))}
    assert len(mentioned) > 20
    assert sorted(mentioned - names - {"Random"}) == []


def test_page_names_layers_of_chain_in_files() -> None:
    layers = re.findall(r"^\d\. `(\w+)` \(`(\w+\.py)`", PAGE, re.MULTILINE)
    assert [name for name, _ in layers] == [
        "StoreLayer",
        "SingleTextLayer",
        "RetryLayer",
        "LimitLayer",
        "ScoreCheckLayer",
        "TimeoutLayer",
        "BudgetLayer",
        "ClientLayer",
    ]
    for name, file in layers:
        assert re.search(
            rf"^class {name}\b", (PACKAGE / "models" / "middleware" / file).read_text("utf-8"), re.MULTILINE
        )


def test_modules_of_one_base_name_are_those_that_page_explains() -> None:
    stems = [path.stem for path in PACKAGE.rglob("*.py") if path.name not in ("__init__.py", "__main__.py")]
    stems += [path.parent.name for path in PACKAGE.rglob("__init__.py")]
    twice = sorted({stem for stem in stems if stems.count(stem) > 1})
    assert twice == ["asking", "guards", "prompts"]
    assert all(re.search(rf"`[\w/]*\b{stem}(\.py|/)`", PAGE) for stem in twice)


def test_path_or_name_that_does_not_exist_is_found() -> None:
    page = "```\nreports widgets/\n```\n`plugin/ahead.py` and `Ahead` in [docs](docs/none.md), `trial.py`."
    assert missing(paths(page)) == ["docs/none.md", "plugin/ahead.py"]
    assert words_of_drawing(page) == ["reports", "widgets/"]
