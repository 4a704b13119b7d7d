"""A further family beside the built-in one: its options, its data sets, and the baselines that it does not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pytest
from plugin_project import Project

from pytest_taskgraph.benchmarks.family import Family, QuestionReference
from pytest_taskgraph.benchmarks.option import Option
from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.families import FAMILIES
from pytest_taskgraph.plugin.options import OPTIONS, add_family_options
from pytest_taskgraph.trial import Question

SUITE = """
from pytest_taskgraph import suite
from pytest_taskgraph.families import FAMILIES

@suite(FAMILIES["facts"], most=3)
def test_facts(trial):
    trial.check()
"""


class Facts(Family):
    """Whether the sentences of a file are true."""

    name = "facts"
    topic = "common knowledge"
    options: ClassVar[tuple[Option, ...]] = (
        Option("most", "N", "sentences that are asked about", "1", kind="whole", least=1),
    )
    option_help: ClassVar[Mapping[str, str]] = {"instances": "per sentence"}
    suite_options = frozenset({"most"})
    data_names = ("sentences",)

    def references(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[QuestionReference]:
        count = settings.value_of(self.options[0], options)
        lines = settings.data_path("sentences").read_text(encoding="utf-8").splitlines()
        return [QuestionReference(f"fact-{at}", "facts", {"line": at}) for at in range(min(count, len(lines)))]

    def question(self, reference: QuestionReference, settings: Settings) -> Question:
        line = settings.data_path("sentences").read_text(encoding="utf-8").splitlines()[reference.payload["line"]]
        prompt = f"Is it true that {line}?"
        return Question(
            reference.id, self.name, "facts", "", prompt, prompt, "yes-no", "yes", "correctness", place="whole"
        )


CONFTEST = """
from test_plugin_family_options import Facts

def pytest_taskgraph_register(registry):
    registry.family(Facts())
"""


@pytest.fixture
def facts(project: Project) -> Project:
    """A project with a suite of the family, which it registers."""
    project.write("conftest.py", CONFTEST)
    project.write("test_graph.py", SUITE)
    project.write("sentences.txt", "snow is white\ngrass is green\nblood is red\ncoal is black\n")
    return project


def items(project: Project, *args: str) -> int:
    ran = project.run("--collect-only", "-q", "--taskgraph-data=sentences=sentences.txt", "--model=simulated:1", *args)
    assert ran.code == 0, ran.output
    return ran.output.count("test_graph.py::test_facts[fact-")


def test_family_option_is_read_as_any_other(facts: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    assert items(facts) == 3  # as the suite says
    facts.write("pytest.ini", "[pytest]\ntaskgraph_most = 1\n")
    assert items(facts) == 1
    monkeypatch.setenv("TASKGRAPH_MOST", "2")
    assert items(facts) == 2
    assert items(facts, "--taskgraph-most=4") == 4
    ran = facts.run("--taskgraph-most=0")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "ERROR: --taskgraph-most: 0; expected at least 1" in ran.output


def test_family_option_is_keyword_of_suites(facts: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Facts, "suite_options", frozenset())
    assert items(facts) == 3
    assert items(facts, "--taskgraph-most=4") == 4
    facts.write("test_graph.py", SUITE.replace("most=3", "most=0"))
    ran = facts.run("--model=simulated:1", "--taskgraph-data=sentences=sentences.txt")
    assert (ran.code, ran.clean) == (pytest.ExitCode.TESTS_FAILED, True), ran.output
    assert "test_facts: @suite(..., most=...): 0; expected at least 1" in ran.output


def test_family_option_stands_in_help_with_others(facts: Project) -> None:
    message = " ".join(facts.run("--help").output.split())
    assert "taskgraph: facts: --taskgraph-most=N sentences that are asked about (default: 1)" in message


def test_family_runs_beside_built_in_one_with_data(facts: Project) -> None:
    ran = facts.run("--taskgraph-data=sentences=sentences.txt", "--model=simulated:1")
    assert (ran.code, ran.counts) == (0, {"passed": 3}), ran.output


def test_data_may_stand_in_ini_file(facts: Project) -> None:
    facts.write("pytest.ini", "[pytest]\ntaskgraph_data =\n  sentences=sentences.txt\n")
    assert facts.run("--model=simulated:1").counts == {"passed": 3}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["sentences=there"], "--taskgraph-data: sentences=there: no such file or folder"),
        (["sentences=sentences.txt", "sentences=pytest.ini"], "--taskgraph-data: 'sentences' has two paths: "),
        (["sentence=sentences.txt"], "unknown data set (--taskgraph-data) 'sentence'; known: paged, sentences"),
    ],
)
def test_data_that_cannot_be_read_is_usage_error(facts: Project, args: list[str], message: str) -> None:
    ran = facts.run(*(f"--taskgraph-data={arg}" for arg in args))
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert f"ERROR: {message}" in ran.output
    assert ran.clean


def test_suite_of_family_without_baseline_is_usage_error(facts: Project) -> None:
    ran = facts.run("--taskgraph-data=sentences=sentences.txt")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "the family 'facts' has no baseline; name a model with --taskgraph-model" in ran.output
    assert ran.clean


@pytest.mark.parametrize(("name", "owner"), [("seed", "pytest-taskgraph"), ("tasks", "family 'understanding'")])
def test_option_declared_otherwise_elsewhere_is_refused(facts: Project, name: str, owner: str) -> None:
    clashing = f"""
class Clashing(Facts):
    options = (Option({name!r}, "X", "something else"),)
"""
    head = "from pytest_taskgraph.benchmarks.settings import Option\n"
    facts.write("conftest.py", head + CONFTEST.replace("Facts()", "Clashing()").replace("\n\n", f"\n{clashing}\n"))
    ran = facts.run()
    message = f"the option --taskgraph-{name} is declared otherwise by {owner}; declare the same Option"
    assert f"ERROR: conftest.py: family 'facts': {message}" in ran.output
    assert (ran.code, ran.clean) == (pytest.ExitCode.USAGE_ERROR, True)


def test_option_of_late_conftest_is_set_by_environment(facts: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    late = """
from test_plugin_family_options import Facts, QuestionReference

class Late(Facts):
    def references(self, settings, options):
        count = settings.value_of(self.options[0])
        return [QuestionReference(f"fact-{at}", "facts", {"line": at}) for at in range(count)]

def pytest_taskgraph_register(registry):
    registry.family(Late())
"""
    (facts.path / "conftest.py").unlink()
    (facts.path / "test_graph.py").unlink()
    facts.write("deep/er/conftest.py", late)
    facts.write("deep/er/test_graph.py", SUITE)
    collecting = ("--collect-only", "-q", "--model=simulated:1")
    assert facts.run(*collecting).output.count("test_facts[fact-") == 1
    monkeypatch.setenv("TASKGRAPH_MOST", "2")
    assert facts.run(*collecting).output.count("test_facts[fact-") == 2


def test_data_missing_is_named_where_suite_needs_it(facts: Project) -> None:
    facts.write("pytest.ini", "[pytest]\ntaskgraph_data =\n  sentence=sentences.txt\n")
    ran = facts.run("--model=simulated:1")
    assert ran.code == pytest.ExitCode.TESTS_FAILED
    message = "--taskgraph-data: the data set 'sentences' is missing; add sentences=PATH; stated: sentence"
    assert message in ran.output
    assert ran.clean


def test_suite_of_family_that_is_not_registered_is_refused(facts: Project) -> None:
    facts.write("conftest.py", "")
    own = SUITE.replace('FAMILIES["facts"]', "Facts()")
    own = own.replace("from pytest_taskgraph.families import FAMILIES", "from test_plugin_family_options import Facts")
    facts.write("test_graph.py", own)
    ran = facts.run("--model=simulated:1")
    assert "the benchmark family 'facts' is not registered; call registry.family(...) with it" in ran.output
    assert (ran.code, ran.clean) == (pytest.ExitCode.TESTS_FAILED, True)


def test_option_that_another_family_has_is_shared() -> None:
    class Sharing(Facts):
        options = (*FAMILIES["understanding"].options, OPTIONS["seed"])

    parser = pytest.Parser(_ispytest=True)
    for family in (FAMILIES["understanding"], Sharing()):
        add_family_options(parser, family)
    assert parser.parse(["--taskgraph-tasks=8", "--taskgraph-seed=3"]).taskgraph_tasks == "8"


def test_wrong_answers_are_counted_by_group_whatever_ids_are(facts: Project) -> None:
    facts.write("sentences.txt", "\n".join(f"{at} is odd" for at in range(1, 24, 2)))
    ran = facts.run("--taskgraph-data=sentences=sentences.txt", "--model=simulated:0", "--taskgraph-most=12")
    assert ran.counts == {"failed": 12}
    assert "... and 2 more wrong answers of facts" in ran.output


def test_record_states_options_of_families_asked(facts: Project) -> None:
    facts.run("--taskgraph-data=sentences=sentences.txt", "--model=simulated:1", "--taskgraph-report=json=record.json")
    stated = facts.record()["settings"]
    assert stated["most"] == 1
    assert not {"tasks", "phrasing"} & set(stated)
