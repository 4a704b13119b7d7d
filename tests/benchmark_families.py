"""Suites of the benchmark families, for tests of what holds for each: a further family is an entry of FAMILIES."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from plugin_project import Project, Ran

KINDS = ("json", "md", "html", "csv", "tables")
REPORTS = (*(f"--taskgraph-report={kind}=r.{kind}" for kind in KINDS), "--junitxml=junit.xml")
RECORD = "--taskgraph-report=json=r.json"
REPORT_ONLY = "--taskgraph-fail-on=nothing"
FAMILY_FILES = Path(__file__).parent / "families"
TERMS = ["fork", "join", "trace", "cluster", "jackknife", "guard", "gateway", "loop"]
GLOSSARY = "term,topic,definition\n" + "".join(f"{term},{term[0]},{term} is what a {term[::-1]} is\n" for term in TERMS)
SUITE = """
from pytest_taskgraph import suite
from {module} import {family}

@suite({family}{options})
def test_{family}(trial):
    trial.check()
"""
TWO_METHODS = """
from pytest_taskgraph import suite
from {module} import {family}

@suite({family}, tasklama_method=["icl"])
def test_steps(trial):
    trial.check()

@suite({family}, tasklama_method=["golden_whole"], pass_threshold=1)
def test_graphs(trial):
    trial.check()
"""


@dataclass(frozen=True)
class Benchmark:
    """A family and a suite of it with `size` questions, of which some are graded or some right or wrong, or both."""

    name: str
    module: str  # that a test file imports it from
    size: int
    requests: int  # of each question
    flags: tuple[str, ...] = ()
    options: str = ""  # of the suite
    files: Mapping[str, str] = field(default_factory=dict)
    own: tuple[str, Any, int] = ("", None, 0)  # an option of its own, its value, and how many requests there are then
    suite: str = SUITE
    tables: tuple[str, ...] = ()  # that its questions fill; all where empty
    unmoved: tuple[str, ...] = ()  # aggregates that right answers do not make 1, or wrong ones less
    unmeasured: tuple[str, ...] = ()  # aggregates of which its questions hold nothing
    undefined: tuple[str, ...] = ()  # aggregates that are undefined where every answer is wrong
    graded: bool = True  # whether some of its questions are
    rated: bool = True  # whether some of its questions are right or wrong
    variant: str = ""  # what tells the suite from the family's other one

    @property
    def failing(self) -> int:
        """The exit code of a run whose only fault is wrong answers: graded ones fail nothing."""
        return int(self.rated)

    @property
    def outcomes(self) -> set[str]:
        """The outcomes of its questions where all answers are right."""
        return {outcome for outcome, some in (("right", self.rated), ("graded", self.graded)) if some}

    def filled(self, described: Mapping[str, Any]) -> set[str]:
        """The names of the tables that its questions fill."""
        return set(self.tables or (table["name"] for table in described["tables"]))

    @property
    def plugin(self) -> list[str]:
        """The arguments that tell a command where the family is registered."""
        return ["-p", self.module] if self.files else []


FAMILIES = (
    Benchmark(
        "glossary", "glossary", 16, 2, ("--taskgraph-data=glossary=terms.csv", "--taskgraph-instances=8"),
        files={
            "glossary.py": (FAMILY_FILES / "glossary.py").read_text(encoding="utf-8"), "terms.csv": GLOSSARY,
        },
        own=("glossary-revisions", 2, 16 * 3),
    ),
    Benchmark(
        "tasklama", "pytest_taskgraph", 16, 1, ("--taskgraph-instances=8",), suite=TWO_METHODS,
        own=("tasklama-context", "without", 16), tables=("steps", "matchings", "rates"), unmoved=("majority_accuracy",),
    ),
    Benchmark(
        "steps", "pytest_taskgraph", 46, 1, ("--taskgraph-instances=1", "--taskgraph-seed=7"),
        ", steps_method=['zero_shot', 'one_shot', 'letter'], steps_seeds=2, "
        "steps_answer='text'",
        own=("steps-seeds", 1, 32), graded=False, unmoved=("by_logprobs", "ties", "chosen_a", "right_a"),
    ),
    Benchmark(
        "understanding", "pytest_taskgraph", 18, 1, ("--taskgraph-instances=6",),
        ", patterns=['flow_start', 'parallel_block', 'describe_task']", own=("phrasing", "second", 18),
        tables=("patterns", "graded"),
    ),
    Benchmark(
        "paged", "pytest_taskgraph", 8, 1, ("--taskgraph-instances=8",), own=("paged-quality", "concatenated", 8),
        tables=("elements", "overall", "precision", "recall"), rated=False, unmoved=("unread_lines",),
        unmeasured=tuple(f"round_{at}_gateway_{rate}" for at in range(6) for rate in ("precision", "recall", "f1")),
        undefined=tuple(f"{element}_precision" for element in
                        ("actor", "data", "notice", "exclusive", "inclusive", "parallel", "condition", "constraint")),
    ),
)  # fmt: skip
PAGED = FAMILIES[-1]
REFINED = replace(
    PAGED, variant="refined", options=", paged_method=['refine'], paged_rounds=2", tables=(*PAGED.tables, "rounds"),
    unmeasured=tuple(name for name in PAGED.unmeasured if int(name.split("_")[1]) > 2),
    undefined=(*PAGED.undefined, *(f"round_{at}_gateway_precision" for at in range(3))),
)  # fmt: skip
"""Several requests a question, and their number depends on the answers: for tests that do not count them."""
_SIMULATED: dict[tuple[str, str, str], SimulatedRun] = {}
each_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
telling_families = pytest.mark.parametrize(
    "family",
    [
        pytest.param(
            family, id=family.name, marks=() if family.name in ("glossary", "paged") else pytest.mark.exhaustive
        )
        for family in FAMILIES
    ],
)
"""By default one of several requests a question, and one that is graded; for what no family has code of its own."""
one_family = pytest.mark.parametrize(
    "family",
    [
        pytest.param(family, id=family.name, marks=() if family.name == "glossary" else pytest.mark.exhaustive)
        for family in FAMILIES
    ],
)
"""By default one of several requests a question, some graded, some right or wrong; for what no family changes."""
each_suite = pytest.mark.parametrize(
    "family",
    [
        pytest.param(family, id="-".join(filter(None, (family.name, family.variant))), marks=marks)
        for family in (*FAMILIES, REFINED)
        for marks in (pytest.mark.exhaustive if family == PAGED else (),)
    ],
)
"""By default every family, paged with the method that fills all its tables."""


def write(project: Project, *families: Benchmark) -> None:
    """Write files and suites of the families."""
    project.write("conftest.py", f"pytest_plugins = {[family.module for family in families if family.files]}\n")
    for family in families:
        for name, text in family.files.items():
            project.write(name, text)
        suite = family.suite.format(module=family.module, family=family.name, options=family.options)
        project.write(f"test_{family.name}.py", suite)


@dataclass(frozen=True)
class SimulatedRun:
    """A run of the simulated model that fails nothing, and the texts of its reports by their kind."""

    ran: Ran
    texts: Mapping[str, str]

    @property
    def record(self) -> dict[str, Any]:
        """The record, each time anew, so that a test may change it."""
        return dict(json.loads(self.texts["json"]))


def simulated_run(project: Project, family: Benchmark, accuracy: str) -> SimulatedRun:
    """Write the suite of the family, and return a run of it, which all tests of that accuracy share."""
    write(project, family)
    key = family.name, family.variant, accuracy
    if key not in _SIMULATED:
        kinds = KINDS if accuracy != "0" else KINDS[:1]  # no test reads the other reports of it
        reports = [f"--taskgraph-report={kind}=r.{kind}" for kind in kinds]
        ran = project.run(f"--model=simulated:{accuracy}", *family.flags, *reports, REPORT_ONLY, "-vv")
        texts = {kind: (project.path / f"r.{kind}").read_text(encoding="utf-8") for kind in kinds}
        _SIMULATED[key] = SimulatedRun(ran, texts)
    return _SIMULATED[key]


def save_base(project: Project, family: Benchmark, accuracy: str) -> None:
    """Save the shared run of that accuracy as `base`."""
    project.write(".taskgraph/runs/base.json", simulated_run(project, family, accuracy).texts["json"])


def line_of(ran: Ran) -> str:
    """The output with line breaks and what wraps lines made one space."""
    return " ".join(ran.output.split())
