from __future__ import annotations

from xml.etree import ElementTree

from junit_schema import junit_schema

CASE = '<testsuite name="s" tests="1" failures="0" errors="0"><testcase name="a">{}</testcase></testsuite>'


def test_junit_schema_allows_outcomes_but_no_case_properties() -> None:
    for child in ('<failure message="m">t</failure>', '<error message="m"/>', '<skipped type="x"/>', "<system-out/>"):
        assert junit_schema().is_valid(ElementTree.fromstring(CASE.format(child))), child
    assert not junit_schema().is_valid(ElementTree.fromstring(CASE.format("<properties/>")))
    assert not junit_schema().is_valid(ElementTree.fromstring(CASE.format("<failed/>")))
