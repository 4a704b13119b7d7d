"""What answers are wrapped in beside text: values of JSON and tables, as the text that the forms of answers parse."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from ..errors import UnparseableError
from ..trial import Json

_REASON_KEYS = """
reason reasons reasoning explanation explanations rationale thinking thought thoughts analysis why justification
confidence note notes comment steps_taken evidence
"""
_REASONS = frozenset(_REASON_KEYS.split())
_ANSWERS = ("final_answer", "finalanswer", "answer", "result", "output", "verdict", "decision", "response")
_DECIDED = frozenset({"yes", "no", "true", "false", "✓", "✗", "✔", "✘", "✅", "❌"})
_TASK_KEYS = ("task", "name", "id", "task_name")


def parse_json(text: str) -> Json:
    """Return the list or object that the text is as JSON; None for any other text."""
    bare = text.strip()
    if bare[:1] not in ("{", "[") or bare[-1:] not in ("}", "]"):
        return None
    try:
        value: Json = json.loads(bare)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list | dict) else None


def write_json(value: Json) -> str:
    """Return a value of JSON as the forms write answers."""
    if isinstance(value, dict):
        return _write_object(value)
    if isinstance(value, list):
        if not value:
            return "[]"
        if any(isinstance(item, list | dict) for item in value):
            return "\n".join(write_json(item) for item in value)
        mark = ", " if not any("," in str(item) for item in value) else "\n"
        return mark.join(write_json(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def _write_object(value: dict[str, Json]) -> str:
    """Return the answer in an object: under a name of answers, or the only one beside reasons, with its reason."""
    if not value:
        return "{}"
    plain = {name.strip().lower().replace(" ", "_"): name for name in value}
    reasons = [name for key, name in plain.items() if key in _REASONS]
    others = [name for name in value if name not in reasons]
    chosen = next((plain[key] for key in _ANSWERS if key in plain), None)
    chosen = chosen or next((plain[key] for key in _TASK_KEYS if key in plain and reasons), None)
    if chosen is None and len(others) != 1:
        if all(isinstance(member, str) for member in value.values()) and not reasons:
            return "\n".join(f"{name}: {member}" for name, member in value.items())
        raise UnparseableError(
            f"expected an answer, found an object with {', '.join(map(repr, others[:5])) or 'reasons'}"
        )
    name = chosen or others[0]
    answer = write_json(value[name])
    if isinstance(value[name], str) and not reasons and chosen is None and " " in str(value[name]) and _is_name(name):
        return f"{name}: {answer}"
    reason = str(value[reasons[0]]) if reasons and isinstance(value[reasons[0]], str) else ""
    return f"{answer}: {reason}" if reason and "\n" not in answer else answer


def _is_name(key: str) -> bool:
    """Return True for a key that is the name of a task and not that of a field."""
    return re.search(r"[a-z][A-Z]|\d", key) is not None and key[:1].isupper()


def write_rows(lines: Sequence[str]) -> str:
    """Return the rows of a table below its heading: the names in its column of tasks, with their reasons."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    rows = [row for row in rows if not all(re.fullmatch(r":?-*:?", cell) for cell in row)]
    heading = [cell.strip("*_` ").lower() for cell in rows[0]] if len(rows) > 1 else []
    if heading:
        rows = rows[1:]
    at = next((place for place, cell in enumerate(heading) if re.search(r"task|name|step|answer", cell)), None)
    if at is None:
        at = 1 if rows and len(rows[0]) > 1 and all(re.fullmatch(r"\W*\d*\W*", row[0]) for row in rows) else 0
    why = next((place for place, cell in enumerate(heading) if re.search(r"reason|why|explan", cell)), None)
    columns = [
        {row[at].strip("*_` ").lower() for row in rows if len(row) > at} for at in range(1, len(rows[0]) if rows else 0)
    ]
    if any(len(column & _DECIDED) > 1 for column in columns):
        raise UnparseableError("expected an answer, found a table with a verdict on each row")
    written = [
        row[at] + (f": {row[why]}" if why is not None and len(row) > why and why != at else "")
        for row in rows
        if len(row) > at
    ]
    return "\n".join(written)
