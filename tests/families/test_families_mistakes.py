"""What is said of a family that raises an exception or returns what it should not; no run ends within pytest."""

from __future__ import annotations

import pytest
from plugin_project import Project, Ran

FAMILY = """
import json

from pytest_taskgraph import *
from pytest_taskgraph import Option, Question, QuestionReference, Family, Reply, Request, Transcript
from pytest_taskgraph.family_description import Column, FamilyDescription, ReferenceValue, TableSpec


class Odd(Family):
    name = "odd"

    def references(self, settings, options):
        return [QuestionReference("odd-1", "group"), QuestionReference("odd-2", "group")]

    def question(self, reference, settings):
        return self.built(reference)

    def built(self, reference, **changed):
        stated = dict(
            id=reference.id, family="odd", group="group", section="", text="Is it?", prompt=f"Is it, {reference.id}?",
            form="yes-no", reference="yes", metric="correctness", place="whole",
        )
        return Question(**stated | changed)


class Wrong(Odd):
    def METHOD

odd = Wrong()


def answer(prompt):
    return "yes"


def pytest_taskgraph_register(registry):
    registry.family(odd)
    registry.model("yes", answer)
"""
SUITE = """
from conftest import odd
from pytest_taskgraph import suite

@suite(odd)
def test_odd(trial):
    trial.check()
"""
EPISODE = (
    "question(self, reference, settings): return self.built(reference, episode='own')\n    def episode(self, name): "
)
REFUSED = {
    "check(self, settings): raise ValueError('no such file')": "check raised ValueError: no such file (conftest.py:",
    "description(self, settings): return None": "description returned None; expected a FamilyDescription",
    "description(self, settings): return 1 / 0": "description raised ZeroDivisionError: division by zero",
    "description(self, settings): return FamilyDescription('even')": "description has the name 'even'; expected 'odd'",
    "stated(self, settings): return {'size': {1}}": "stated returned what JSON cannot hold",
    "stated(self, settings): return {}['size']": "stated raised KeyError: 'size'",
    "question_set(self, group): return 'v1'": "question_set('group') returned 'v1'; expected a whole number or None",
    "question_set(self, group): return 1 / 0": "question_set('group') raised ZeroDivisionError",
    "notices(self, settings, options): return 'all'": "notices returned an object of type str; expected a list",
    "references(self, settings, options): return None": "references returned None; expected a list of",
    "references(self, settings, options): return ['odd']": "an object of type str in its list; expected a QuestionRef",
    "references(self, settings, options): return [QuestionReference(1, '')]": "returned the id 1; expected a text",
    "references(self, settings, options): return 2 * [QuestionReference('q', '')]": "returned the id 'q' twice",
    "references(self, settings, options): return [QuestionReference('q', 'g', labels={'a': [1]})]": "label 'a' has the",
    "references(self, settings, options): return []": "the benchmark family 'odd' has no question for this suite",
}  # fmt: skip
TABLES = {
    "TableSpec('t', 't', (Column('n'),), rows='groups')": "unknown rows 'groups'; expected one of group",
    "TableSpec('t', 't', (Column('n'),), references=(ReferenceValue('a', 'n', '2', 'Doe'),))": "'a' has the value '2'",
    "TableSpec('t', 't', (Column('n'),), references=(ReferenceValue('a', 'n', 1e999, 'Doe'),))": "has the value inf",
    "TableSpec('t', 't', (Column('n'),), headline='rate')": "its headline is 'rate'; expected one of its columns n",
}
# Mistakes that are found before the suites are collected, or that leave no suite with a question.
ENDING_RUN = {
    method
    for method in REFUSED
    if method.startswith(("check(", "description(")) or method.endswith("options): return []")
}
OPTIONS = {
    "Option('odd size!', 'N', 'size')": "the option 'odd size!': expected a name of lower-case letters, digits and",
    "Option('odd-size', 'N', 'size', '1', kind='int')": "--taskgraph-odd-size: unknown kind 'int'; known: text, ",
    "Option('odd-size', 'N', 'size', 2, kind='whole')": "--taskgraph-odd-size: its default is 2; expected it as typed",
    "Option('odd-size', 'N', 'size', 'many', kind='whole')": "--taskgraph-odd-size: 'many'; expected a whole number",
    "'odd-size'": "family 'odd': 'odd-size' in its options is no Option",
}
FAILED = {
    "question(self, reference, settings): return None": "question('odd-1') returned None; expected a Question",
    "question(self, reference, settings): return 1 / 0": "ZeroDivisionError: division by zero",
    "question(self, reference, settings): return self.built(reference, id='q')": "has the id 'q'; expected 'odd-1'",
    "question(self, reference, settings): return self.built(reference, family='q')": "the family 'q'; expected 'odd'",
    "question(self, reference, settings): return self.built(reference, labels={'a': {1}})": "the label 'a' has the",
    "question(self, reference, settings): return self.built(reference, prompt=None)": "prompt is None; expected a text",
    EPISODE + "return 1 / 0": "ZeroDivisionError: division by zero",
    EPISODE + "return lambda question: None": "an episode returned None; expected a generator that yields lists",
}
TURNS = {
    "yield None": "an episode yielded None; expected a list of requests",
    "yield 'all'": "an episode yielded an object of type str; expected a list of requests",
    "yield ['all']": "an episode yielded a list with an object of type str; expected a Request",
    "yield [Request('all')]": "an episode yielded a request with an object of type str as its messages",
    "yield [Request([{'role': 'user'}])]": "an episode yielded a request with the message {'role': 'user'}",
    "yield [Request(settings={'stop': {1}})]": "an episode yielded a request that JSON cannot hold",
    "raise SystemExit(3); yield": "the episode 'own' raised SystemExit(3)",
    "yield [Request([{'role': 'user', 'content': 'x'}])]; raise SystemExit(3)": "the episode 'own' raised SystemExit",
    "yield []": "an episode returned None at its end; expected a Transcript",
    "return Transcript('yes'); yield": "an episode returned a Transcript without a Reply of text",
    "return Transcript(Reply('yes'), notes=['all']); yield": "an episode returned a note that is no JSON object",
}


def _write(project: Project, family: str) -> None:
    project.write("conftest.py", family)
    project.write("test_odd.py", SUITE)


def _refused(project: Project, code: pytest.ExitCode) -> Ran:
    """Return a run that ends with a mistake and this exit code, without a traceback."""
    ran = project.run("--model=yes", "test_odd.py")
    assert ran.code == code
    assert ran.clean
    return ran


@pytest.mark.parametrize("method", REFUSED)
def test_family_mistake_before_asking_is_error(project: Project, method: str) -> None:
    _write(project, FAMILY.replace("METHOD", method))
    ran = _refused(project, pytest.ExitCode.USAGE_ERROR if method in ENDING_RUN else pytest.ExitCode.TESTS_FAILED)
    assert "ERROR: " in ran.output or "ERROR test_odd.py - " in ran.output
    assert REFUSED[method] in ran.output


@pytest.mark.parametrize("method", FAILED)
def test_family_mistake_in_question_fails_its_items(project: Project, method: str) -> None:
    _write(project, FAMILY.replace("METHOD", method))
    ran = project.run("--model=yes", "test_odd.py", "--taskgraph-report=json=record.json")
    assert ran.code == pytest.ExitCode.TESTS_FAILED
    assert FAILED[method] in ran.output
    assert "2 errors" in ran.output
    assert "INTERNALERROR" not in ran.output


@pytest.mark.parametrize("turn", TURNS)
def test_episode_mistake_fails_its_items_with_message(project: Project, turn: str) -> None:
    episode = f"{EPISODE}return own\n\n\ndef own(question):\n    {turn}\n"
    _write(project, FAMILY.replace("METHOD", episode))
    ran = project.run("--model=yes", "test_odd.py", "--taskgraph-report=json=record.json")
    assert ran.code == pytest.ExitCode.TESTS_FAILED
    assert TURNS[turn] in ran.output
    assert "2 errors" in ran.output
    assert "INTERNALERROR" not in ran.output


def test_episode_without_any_request_runs(project: Project) -> None:
    episode = f"{EPISODE}return own\n\n\ndef own(question):\n    return Transcript(Reply('yes'))\n    yield\n"
    _write(project, FAMILY.replace("METHOD", episode))
    ran = project.run("--model=yes", "test_odd.py")
    assert ran.code == pytest.ExitCode.OK
    assert "2 passed" in ran.output


@pytest.mark.parametrize("method", ["diagram(self, reference, settings)", "diagram_pair(self, question, score)"])
def test_family_with_failing_diagram_keeps_replies(project: Project, method: str) -> None:
    _write(project, FAMILY.replace("METHOD", f"{method}: return 1 / 0"))
    ran = project.run(
        "--model=yes", "test_odd.py", "--taskgraph-report=html=page.html", "--taskgraph-report=json=r.json"
    )
    assert ran.code == pytest.ExitCode.TESTS_FAILED
    assert "ZeroDivisionError" in ran.output
    assert [trial["outcome"] for trial in project.record("r.json")["trials"]] == ["right", "right"]


def test_notices_of_family_stay_on_one_line(project: Project) -> None:
    method = "notices(self, settings, options): return ['one\\n::error::\\x1b[31mtwo']"
    _write(project, FAMILY.replace("METHOD", method))
    ran = project.run("--model=yes", "test_odd.py")
    assert ran.code == pytest.ExitCode.OK
    assert "\n::error" not in ran.output
    assert "\x1b[31m" not in ran.output


def test_plan_of_family_with_mistake_names_it(project: Project) -> None:
    _write(project, FAMILY.replace("METHOD", "question(self, reference, settings): return 1 / 0"))
    ran = project.run("--model=yes", "test_odd.py", "--taskgraph-dry-run")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "the benchmark family 'odd': question('odd-1') raised ZeroDivisionError: division by zero" in ran.output
    assert ran.clean


@pytest.mark.parametrize("table", TABLES)
def test_table_mistake_is_error_of_suite(project: Project, table: str) -> None:
    method = f"description(self, settings): return FamilyDescription('odd', tables=({table},))"
    _write(project, FAMILY.replace("METHOD", method))
    ran = _refused(project, pytest.ExitCode.TESTS_FAILED)
    assert "the benchmark family 'odd': table 't': " in ran.output
    assert TABLES[table] in ran.output


@pytest.mark.parametrize("option", OPTIONS)
def test_option_mistake_is_usage_error(project: Project, option: str) -> None:
    _write(project, FAMILY.replace("def METHOD", f"options = ({option},)"))
    ran = _refused(project, pytest.ExitCode.USAGE_ERROR)
    assert "ERROR: conftest.py: " in ran.output
    assert OPTIONS[option] in ran.output
