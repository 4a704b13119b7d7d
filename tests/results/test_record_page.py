"""docs/reference/record.md describes each property of docs/reference/record.schema.json."""

from __future__ import annotations

import json

from record_page import COMMAND, PAGE, SCHEMA, START, TITLES, render_tables


def test_record_page_tables_are_those_of_the_schema() -> None:
    tables = PAGE.read_text(encoding="utf-8").partition(START)[2].strip()
    assert tables == render_tables().strip(), f"docs/reference/record.md is out of date; run: {COMMAND}"


def test_record_page_has_a_section_for_each_definition() -> None:
    assert set(TITLES) == set(json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"])
