"""The schema that JUnit files are checked against."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import xmlschema


@cache
def junit_schema() -> xmlschema.XMLSchema:
    """Return the schema, which takes a moment to build."""
    return xmlschema.XMLSchema(Path(__file__).parent / "reports" / "xunit2.xsd")
