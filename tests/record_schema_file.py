"""The file docs/reference/record.schema.json, written by pydantic from the models of `results/record`.

`python tests/record_schema_file.py` writes it again after a change of the models.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "docs" / "reference" / "record.schema.json"
COMMAND = "python tests/record_schema_file.py"
SCHEMA: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))


def _on_one_line(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        return {name: _on_one_line(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_on_one_line(member) for member in value]
    return " ".join(value.split()) if isinstance(value, str) else value


@cache
def record_validator() -> Any:  # noqa: ANN401 - the package states no types
    """Return a validator of the record's schema, which is a valid schema itself."""
    kind = import_module("jsonschema").Draft202012Validator
    kind.check_schema(SCHEMA)
    return kind(SCHEMA)


def schema_text() -> str:
    """Return the text of the file."""
    # Here, for most tests read the file alone, and these imports take half a second.
    from pydantic.json_schema import GenerateJsonSchema

    from pytest_taskgraph.results.record.record_schema import RecordJson

    class SchemaWriter(GenerateJsonSchema):
        """The generator of pydantic, without the titles that it makes of names; each description is on one line."""

        def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ANN401 - as the method that it replaces
            return False

        def generate(self, schema: Any, mode: Any = "validation") -> dict[str, Any]:  # noqa: ANN401
            written: dict[str, Any] = _on_one_line(super().generate(schema, mode))
            return {"$schema": self.schema_dialect} | written | {"title": "Record of a run of pytest-taskgraph"}

    schema = RecordJson.model_json_schema(schema_generator=SchemaWriter)
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(schema_text(), encoding="utf-8")
