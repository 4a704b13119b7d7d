from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import xmlschema

SCHEMA = xmlschema.XMLSchema(Path(__file__).with_name("xunit2.xsd"))
CASE = '<testsuite name="s" tests="1" failures="0" errors="0"><testcase name="a">{}</testcase></testsuite>'


def test_junit_schema_allows_outcomes_but_no_case_properties() -> None:
    for child in ('<failure message="m">t</failure>', '<error message="m"/>', '<skipped type="x"/>', "<system-out/>"):
        assert SCHEMA.is_valid(ElementTree.fromstring(CASE.format(child))), child
    assert not SCHEMA.is_valid(ElementTree.fromstring(CASE.format("<properties/>")))
    assert not SCHEMA.is_valid(ElementTree.fromstring(CASE.format("<failed/>")))
