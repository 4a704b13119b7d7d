"""Tables of a family that a project registers: in the terminal, in the reports, over workers, beside another family."""

from __future__ import annotations

import csv
import json
import re
from typing import Any

import pytest
from plugin_project import Project

CONFTEST = """
from pytest_taskgraph import Aggregate, Column, Family, FamilyDescription, Measurement, Question, QuestionReference
from pytest_taskgraph import ReferenceValue, TableSpec

SOURCE = "Doe et al. (2023), table 2"

def overlap(given, reference):
    hit = float(given == reference)
    return Measurement(hit, parts={"words": (3 * hit, 4)})

class Claims(Family):
    name = "claims"

    def references(self, settings, options):
        return [QuestionReference(f"claim-{at}", "pairs" if at % 2 else "whole", {"at": at}) for at in range(8)]

    def question(self, reference, settings):
        return Question(
            reference.id, self.name, reference.group, "", "?", f"Is claim {reference.id} true?", "yes-no",
            "yes" if reference.payload["at"] < 6 else "no", "overlap", place="whole", cluster=reference.id,
        )

    def metrics(self, group, settings):
        return ("overlap",)

    def description(self, settings):
        table = TableSpec(
            "methods", "method", (Column("n"), Column(COLUMN, "words found"), Column("rate")),
            references=(ReferenceValue("pairs", COLUMN, 0.71, SOURCE),),
        )
        return FamilyDescription(
            self.name, group="method", cluster="document", groups=("whole", "pairs"),
            aggregates=(Aggregate("found", "ratio", ("words",)),), tables=(table,),
        )

CLAIMS = Claims()

def pytest_taskgraph_register(registry):
    registry.metric("overlap", overlap)
    registry.family(CLAIMS)
    registry.model("agrees", lambda prompt: "yes")
"""
SUITE = """
from conftest import CLAIMS
from pytest_taskgraph import suite

@suite(CLAIMS)
def test_claims(trial):
    trial.check()
"""
RUN = ("--model=agrees", "--taskgraph-fail-on=nothing")


@pytest.fixture
def claims(project: Project) -> Project:
    """Return a project with two families, of its conftest and of `test_graph.py`."""
    write_family(project, "found")
    project.write("test_claims.py", SUITE)
    return project


def write_family(project: Project, column: str) -> None:
    project.write("conftest.py", f"COLUMN = {column!r}\n{CONFTEST}")


def rows(project: Project, name: str = "t.csv") -> list[dict[str, str]]:
    with (project.path / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_family_shows_table_with_published_numbers(claims: Project) -> None:
    ran = claims.run(*RUN, "test_claims.py", "-vv")
    lines = [re.sub(r"\d\.\d{3}-\d\.\d{3}", "(low)-(high)", line) for line in ran.output.splitlines()]
    at = next(at for at, line in enumerate(lines) if line.startswith("method"))
    assert lines[at : at + 5] == [
        "method  n   words found  95% interval  published  pass rate",
        "whole   4*        0.562   (low)-(high)                 0.750",
        "pairs   4*        0.562   (low)-(high)      0.710      0.750",
        "total   8*        0.562   (low)-(high)                 0.750",
        "published: Doe et al. (2023), table 2",
    ]
    assert "family claims" not in ran.output


def test_tables_of_two_families_are_in_all_reports(claims: Project) -> None:
    kinds = ("json=r.json", "md=r.md", "html=r.html", "tables=t.csv")
    ran = claims.run(*RUN, "-v", "--junitxml=j.xml", *(f"--taskgraph-report={kind}" for kind in kinds))
    assert ran.code == 0, ran.output
    for name in ("family claims", "family understanding", "method", "pattern"):
        assert any(line.startswith(name) for line in ran.output.splitlines()), name
    record: dict[str, Any] = json.loads((claims.path / "r.json").read_text(encoding="utf-8"))
    assert [table["family"] for table in record["tables"]] == ["understanding", "claims", ""]
    total = record["tables"][-1]["rows"][-1]["cells"]
    assert total["n"]["value"] == sum(row["cells"]["n"]["value"] for row in record["tables"][-1]["rows"][:-1])
    (cell,) = (row for row in rows(claims) if (row["row"], row["column"]) == ("pairs", "found"))
    assert (cell["value"], cell["reference"], cell["source"]) == ("0.5625", "0.71", "Doe et al. (2023), table 2")
    assert "#### `claims`" in (claims.path / "r.md").read_text(encoding="utf-8")
    assert "words found" in (claims.path / "r.html").read_text(encoding="utf-8")
    assert "taskgraph.claims.method.pairs" in (claims.path / "j.xml").read_text(encoding="utf-8")


def test_tables_are_same_over_workers(claims: Project) -> None:
    claims.run(*RUN, "--taskgraph-report=tables=one.csv")
    assert claims.spread(*RUN, "--taskgraph-report=tables=two.csv", workers=1).clean
    assert rows(claims, "one.csv") == rows(claims, "two.csv")
    assert {row["family"] for row in rows(claims, "two.csv")} == {"understanding", "claims", ""}


def test_column_that_is_not_known_is_collection_error(claims: Project) -> None:
    write_family(claims, "fuond")
    ran = claims.run(*RUN)
    assert (ran.code, ran.counts["error"]) == (1, 1)
    assert "the benchmark family 'claims': table 'methods': unknown column 'fuond'; expected one of " in ran.output
    assert "found" in ran.output
    assert "Traceback" not in ran.output
