"""Python 3.12 warns of placeholders with numbers or names that get a sequence; with warnings as errors a run ends."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest_taskgraph

ROOT = Path(pytest_taskgraph.__file__).parent
VERBS = r"(SELECT|INSERT|UPDATE|DELETE|WITH)\b"
NUMBERED = re.compile(r"\?\d|[\s(,=][:@$][A-Za-z_]\w*")


def statements(path: Path) -> list[str]:
    """Return the texts of a module that SQLite takes for the beginning of a statement."""
    source = path.read_text(encoding="utf-8")
    if not re.search(VERBS, source):
        return []
    texts = [
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return [text for text in texts if re.match(rf"\s*{VERBS}", text)]


def test_statements_have_placeholders_without_number_or_name() -> None:
    found = {path.name: texts for path in ROOT.rglob("*.py") if (texts := statements(path))}
    assert {"ledger.py", "operations.py", "reply_rows.py"} <= found.keys()
    assert {name: text for name, texts in found.items() for text in texts if NUMBERED.search(text)} == {}
    assert NUMBERED.search("DELETE FROM claims WHERE owner = ?1")
    assert NUMBERED.search("DELETE FROM claims WHERE owner = :owner")
