"""Tables of docs/reference/record.md, written from docs/reference/record.schema.json.

`python tests/record_page.py` writes the tables again after a change of the schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
PAGE = FOLDER / "record.md"
SCHEMA = FOLDER / "record.schema.json"
COMMAND = "python tests/record_page.py"
START = "<!-- Tables of the schema: written by tests/record_page.py -->\n"
TITLES = {
    "trial": "Trial",
    "question": "Question",
    "reply": "Reply",
    "score": "Score",
    "failure": "Failure",
    "exchange": "Exchange",
    "row": "Row of totals",
    "verdict": "Gate, budget or comparison",
    "shown_table": "Table",
    "cell": "Cell of a table",
    "family": "Family",
    "aggregate": "Aggregate",
    "table": "Declared table",
    "diagram": "Diagram",
    "diagram_pair": "Pair of diagrams",
}


def render_tables() -> str:
    """Return the sections of the page: one table for the record, one for its usage, and one for each definition."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    usage = next(option for option in schema["properties"]["usage"]["anyOf"] if "properties" in option)
    sections = [("Record", schema), ("Usage", {"description": schema["properties"]["usage"]["description"]} | usage)]
    sections += [(title, schema["$defs"][name]) for name, title in TITLES.items()]
    return "\n".join(line for title, part in sections for line in _section(title, part))


def write_page() -> None:
    """Write the tables behind the start mark of the page, which ends with them."""
    intro, mark, _ = PAGE.read_text(encoding="utf-8").partition(START)
    PAGE.write_text(f"{intro}{mark}\n{render_tables()}", encoding="utf-8")


def _section(title: str, part: Mapping[str, Any]) -> Iterator[str]:
    required = part.get("required", [])
    yield from (f"## {title}", "", part["description"], "", "| property | type | meaning |", "|---|---|---|")
    for name, definition in part["properties"].items():
        optional = "" if name in required or not required else ", optional"
        yield f"| `{name}` | {_type_of(definition)}{optional} | {_escape(definition['description'])} |"
    yield ""


def _type_of(definition: Mapping[str, Any]) -> str:
    if "enum" in definition:
        return ", ".join(f"`{value}`" for value in definition["enum"])
    if "const" in definition:
        return f"`{definition['const']}`"
    if "$ref" in definition:
        title = TITLES[definition["$ref"].rpartition("/")[2]]
        return f"[{title.lower()}](#{title.lower().replace(',', '').replace(' ', '-')})"
    if "anyOf" in definition:
        return " or ".join(_type_of(option) for option in definition["anyOf"])
    kinds = definition.get("type", "any JSON value")
    if kinds == "array" and "$ref" in definition.get("items", {}):
        return f"array of {_type_of(definition['items'])}"
    return " or ".join(kinds) if isinstance(kinds, list) else kinds


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    write_page()
