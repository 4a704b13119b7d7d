"""Python 3.12 warns of placeholders with numbers or names that get a sequence; with warnings as errors a run ends."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import pytest_taskgraph

ROOT = Path(pytest_taskgraph.__file__).parent
NUMBERED = re.compile(r"\?\d|[\s(,=][:@$][A-Za-z_]\w*")


def statements(path: Path) -> list[str]:
    """Return the texts of a module that SQLite takes for the beginning of a statement."""
    texts = [
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return [text for text in texts if re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b", text)]


FILES = [path for path in sorted(ROOT.rglob("*.py")) if statements(path)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_statements_have_placeholders_without_number_or_name(path: Path) -> None:
    assert not [text for text in statements(path) if NUMBERED.search(text)]


def test_statements_of_store_are_found() -> None:
    assert {"claims.py", "ledger.py", "reply_rows.py"} <= {path.name for path in FILES}
    assert NUMBERED.search("DELETE FROM claims WHERE owner = ?1")
    assert NUMBERED.search("DELETE FROM claims WHERE owner = :owner")
