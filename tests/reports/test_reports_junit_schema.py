from __future__ import annotations

from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import xmlschema

CASE = '<testsuite name="s" tests="1" failures="0" errors="0"><testcase name="a">{}</testcase></testsuite>'


@cache
def schema() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(Path(__file__).with_name("xunit2.xsd"))


def test_junit_schema_allows_outcomes_but_no_case_properties() -> None:
    for child in ('<failure message="m">t</failure>', '<error message="m"/>', '<skipped type="x"/>', "<system-out/>"):
        assert schema().is_valid(ElementTree.fromstring(CASE.format(child))), child
    assert not schema().is_valid(ElementTree.fromstring(CASE.format("<properties/>")))
    assert not schema().is_valid(ElementTree.fromstring(CASE.format("<failed/>")))
