"""The schema that JUnit files are checked against."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xmlschema


@cache
def junit_schema() -> xmlschema.XMLSchema:
    """Return the schema, which takes a moment to build."""
    import xmlschema  # a tenth of a second, which the collection of tests does not need

    return xmlschema.XMLSchema(Path(__file__).parent / "reports" / "xunit2.xsd")
