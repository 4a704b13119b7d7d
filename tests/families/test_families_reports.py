"""What the reports of every benchmark family hold, whatever it asks, and what they must not."""

from __future__ import annotations

import csv
import json
import re
from html import unescape
from xml.etree import ElementTree

import pytest
from benchmark_families import (
    FAMILIES,
    KINDS,
    PAGED,
    REPORTS,
    Benchmark,
    each_family,
    each_suite,
    line_of,
    simulated_run,
    write,
)
from informed_provider import Provider
from loopback import Loopback
from plugin_project import Project
from record_schema_file import record_validator

from pytest_taskgraph.reports.wording import fact_name

FORBIDDEN = [chr(code) for code in (*range(9), 11, 12, *range(14, 32), 127, 0x202E)]
HOSTILE = "\x00\x1b[31m\x1b]0;title\x07 \u202e ]]> <script>alert(1)</script> @everyone ::error::no | \r \x0b\n=1+1\n"


@each_suite
def test_reports_are_well_formed_without_raw_hostile_text(
    project: Project, server: Loopback, family: Benchmark
) -> None:
    provider = Provider(project, family, server)
    server.answer = lambda prompt: f"{HOSTILE}Final answer: {HOSTILE.strip()} {provider.wrong[prompt]}"
    ran = project.run(*provider.arguments, *REPORTS)
    assert (ran.code, ran.clean) == (family.failing, True), ran.output
    texts = {kind: (project.path / f"r.{kind}").read_text(encoding="utf-8") for kind in KINDS}
    texts |= {"terminal": ran.output, "junit": (project.path / "junit.xml").read_text(encoding="utf-8")}
    for kind, text in texts.items():
        assert [char for char in FORBIDDEN if char in text] == [], kind
    assert "<script>alert" not in texts["html"]
    assert "\n::error::" not in texts["terminal"]
    record = json.loads(texts["json"])
    record_validator().validate(record)
    assert len(record["trials"]) == len(list(csv.DictReader(texts["csv"].splitlines()))) == family.size
    assert len(ElementTree.fromstring(texts["junit"]).findall("testsuite/testcase")) == family.size


@each_suite
def test_reports_hold_tables_of_family(project: Project, family: Benchmark) -> None:
    run = simulated_run(project, family, "0.5")
    record = run.record
    (described,) = record["families"]
    declared = family.filled(described)
    assert declared
    assert declared <= {table["name"] for table in described["tables"]}
    assert declared <= {table["name"] for table in record["tables"]}
    rows = csv.DictReader(run.texts["tables"].splitlines())
    assert declared <= {table["table"] for table in rows if table["family"] == family.name}
    texts = [run.ran.output, unescape(run.texts["md"]), unescape(run.texts["html"])]
    for name in {row["name"] for table in record["tables"] for row in table["rows"]}:
        assert all(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for text in texts), name
    for table in described["tables"]:
        for published in table["references"] if table["name"] in declared else ():
            assert all(published["source"] in text for text in texts)


@each_family
def test_reports_state_facts_of_run(project: Project, family: Benchmark) -> None:
    run = simulated_run(project, family, "1")
    (described,) = run.record["families"]
    facts = {fact_name(name, value): value for name, value in described["facts"].items()}
    markdown, html = (unescape(run.texts[kind]) for kind in ("md", "html"))
    assert facts
    for name, value in facts.items():
        first = value.split(", ")[0][:40]  # a long path is cut
        assert f"{name} {first}" in line_of(run.ran)
        assert f"- {name}: `{first}" in markdown
        assert f"<dt>{name}</dt><dd><bdi>{first}" in html


@pytest.mark.parametrize("asked", [FAMILIES[0], PAGED], ids=lambda family: family.name)
def test_reports_omit_families_that_were_not_asked(project: Project, asked: Benchmark) -> None:
    write(project, asked)
    saved = project.run("--model=simulated:1", *asked.flags, "--taskgraph-save=base", "-v")
    ran = project.run("--model=simulated:0", *asked.flags, *REPORTS, "--taskgraph-compare=base", "-v")
    assert "failed compare::base" in line_of(ran)
    texts = {kind: (project.path / f"r.{kind}").read_text(encoding="utf-8") for kind in KINDS}
    texts |= {"first": saved.output, "terminal": ran.output, "junit": (project.path / "junit.xml").read_text()}
    for name, text in texts.items():
        foreign = re.search(r"\b(pattern|workflow|notation|categor|understanding|baseline:reader)", text, re.IGNORECASE)
        assert foreign is None, (name, text[foreign.start() - 200 : foreign.end() + 200])
