"""The rules of the linter about suites of patterns: each finds a suite that breaks it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lint_project import PATTERN_LINE, LintProject, lint_project

FIRST = "In {{ place }}, which task comes first in the list {{ names }}?"
SECOND = "Of the tasks {{ names }} of {{ place }}, which is the first?"
BODY = "yield case(workflow.task_names[0], names=', '.join(workflow.task_names))"
ORDERS = """package main;
workflow Orders {
  START -> Take;
  Take -> Ship;
  Ship -> END;
  task Take {}
  task Ship {}
}
"""


@pytest.fixture
def project(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[LintProject]:
    with lint_project(pytester, monkeypatch, capsys) as project:
        yield project


def test_lint_sound_pattern_finds_nothing(project: LintProject) -> None:
    project.write_pattern(FIRST, SECOND, body=BODY)
    linted = project.lint("--examples=0")
    assert (linted.code, linted.lines) == (0, []), linted


def test_lint_pattern_without_cases_is_no_case_at_the_suite(project: LintProject) -> None:
    project.write_pattern(FIRST, SECOND, body="yield from ()")
    linted = project.lint("--examples=0")
    assert linted.code == 1
    (line,) = linted.lines
    assert line.startswith(f"test_chosen.py:{PATTERN_LINE + 5}: no-case test_chosen: ")


def test_lint_name_in_an_untaken_branch_is_an_undefined_variable(project: LintProject) -> None:
    project.write_pattern(FIRST, SECOND + "{% if nested %} Not {{ nobody }}.{% endif %}", body=BODY)
    linted = project.lint("--examples=0")
    assert linted.lines == [
        f"test_chosen.py:{PATTERN_LINE}: undefined-variable chosen: phrasing 2 uses 'nobody', which no case has; "
        "known: 'names', 'nested', 'place', 'workflow'"
    ]


def test_lint_field_that_no_phrasing_uses_is_an_unused_variable(project: LintProject) -> None:
    body = "yield case(workflow.task_names[0], names=', '.join(workflow.task_names), last=workflow.task_names[-1])"
    project.write_pattern(FIRST, SECOND, body=body)
    linted = project.lint("--examples=0")
    assert linted.rules == ["unused-variable"]
    assert "no phrasing uses the field 'last', which differs from case to case" in linted.output


def test_lint_prompt_of_the_project_is_checked_for_its_names(project: LintProject) -> None:
    project.write_pattern(FIRST, SECOND, body=BODY)
    project.write(
        "mine.jinja",
        "{# answer: whole #}\n{{ workflow }}\n{{ question }}{% if not question %}{{ nobody }}{% endif %}\n",
    )
    linted = project.lint("--examples=0", "--", "--taskgraph-prompt=mine.jinja")
    lines = [line for line in linted.output.splitlines() if line.startswith("mine.jinja:1: ")]
    assert [line.split(" ")[1] for line in lines] == ["undefined-variable", "unused-variable"]
    assert "the prompt mine uses 'nobody'" in lines[0]
    assert "does not use 'instruction'" in lines[1]


def test_lint_notation_without_words_for_a_pattern_is_unsupported(project: LintProject) -> None:
    project.write(
        "test_data.py",
        "from pytest_taskgraph import suite, understanding\n"
        "@suite(understanding, patterns=['next_tasks', 'infinite_recursion'], notations='mermaid')\n"
        "def test_data(trial):\n    trial.check()\n",
    )
    linted = project.lint("--examples=0")
    assert linted.rules == ["unsupported-notation"]
    assert "infinite_recursion is left out in mermaid, which does not support references" in linted.lines[0]


def test_lint_size_without_room_for_a_pattern_is_left_out(project: LintProject) -> None:
    project.write(
        "test_small.py",
        "from pytest_taskgraph import suite, understanding\n"
        "@suite(understanding, patterns=['next_tasks', 'flow_connected'], tasks=3, instances=1)\n"
        "def test_small(trial):\n    trial.check()\n",
    )
    linted = project.lint("--examples=0")
    assert linted.rules == ["left-out-pattern"]
    assert "flow_connected is left out at 3 tasks: it needs at least 5" in linted.lines[0]


def test_lint_question_with_hidden_name_violates_names_shown(project: LintProject) -> None:
    project.write_pattern(
        "Which task comes directly after the one that {{ place }} begins with? {% if names %}{% endif %}",
        body="yield case(workflow.task_names[0], names=workflow.task_names)\n"
        "    yield case(workflow.task_names[-1], names=workflow.task_names)",
    )
    linted = project.lint("--examples=4", "--select=one-answer")
    assert linted.rules == ["one-answer"]
    assert f"test_chosen.py:{PATTERN_LINE}: one-answer chosen: the question" in linted.output
    assert "    question: Which task comes directly after" in linted.output


def test_lint_words_in_a_template_folder_are_the_place(project: LintProject) -> None:
    project.write(
        "words/patterns/next_tasks.jinja",
        "What follows '{{ task }}' in {{ place }}, {{ flow }}?{% if nested %}{{ nobody }}{% endif %}\n",
    )
    project.write(
        "test_words.py",
        "from pytest_taskgraph import suite, understanding\n"
        "@suite(understanding, patterns='next_tasks', instances=1)\ndef test_words(trial):\n    trial.check()\n",
    )
    linted = project.lint("--examples=0", "--select=undefined", "--", "--taskgraph-templates=words")
    assert linted.output.startswith("words/patterns/next_tasks.jinja:1: undefined-variable next_tasks: phrasing 1 uses")


def property_of(project: LintProject, rule: str, *options: str, notation: str = "wadl") -> list[str]:
    """Return the lines of the findings of one property among drawn questions in one notation."""
    linted = project.lint("--examples=4", f"--select={rule}", "--", f"--taskgraph-notation={notation}", *options)
    assert linted.code == (1 if linted.lines else 0), linted
    return linted.lines


def test_lint_phrasing_without_the_task_violates_phrasings_agree(project: LintProject) -> None:
    body = "for task in workflow.task_names:\n        yield case({link.target for link in workflow.links}, task=task)"
    templates = ("Which links lead away from '{{ task }}' in {{ place }}?", "Which links are there in {{ place }}?")
    project.write_pattern(*templates, body=body, form="task-set")
    (line,) = property_of(project, "phrasings-agree")
    assert line.startswith(f"test_chosen.py:{PATTERN_LINE}: phrasings-agree chosen: phrasing 1 names")


def test_lint_answer_in_the_question_violates_not_given_away(project: LintProject) -> None:
    project.write_pattern(
        "Which task is meant by '{{ task }}' in {{ place }}?",
        body="for task in workflow.task_names:\n        yield case(task, task=task)",
    )
    (line,) = property_of(project, "answer-not-given-away")
    assert "the rule" in line
    assert "answers right" in line


@pytest.mark.parametrize(
    ("prompt", "rule"),
    [
        pytest.param(
            "{{ workflow }}\n{{ question[:30] }}{% if question|length < 40 %}{{ question }}{% endif %}",
            "template",
            marks=pytest.mark.exhaustive,  # shown by test_fuzzing_broken_questions.py
        ),
        pytest.param(
            "{{ workflow[:90] }}{% if workflow|length < 90 %}{{ workflow }}{% endif %}\n{{ question }}",
            "irrelevant-parts",
            marks=pytest.mark.exhaustive,  # likewise
        ),
    ],
)
def test_lint_prompt_that_cuts_off_violates_a_property(project: LintProject, prompt: str, rule: str) -> None:
    body = "for task in workflow.task_names:\n        "
    body += "yield case({link.target for link in workflow.links if link.source == task}, task=task)"
    question = "Where do the links lead to that come directly from task '{{ task }}' of {{ place }}?"
    project.write_pattern(question, body=body, form="task-set")
    project.write("mine.jinja", f"{{# answer: whole #}}\n{prompt}\n{{{{ instruction }}}}\n")
    assert property_of(project, rule, "--taskgraph-prompt=mine.jinja")


LOSSY = """
from dataclasses import replace
from pytest_taskgraph.notations import notation
JSON = notation("json")

def render(workflow):
    return JSON.render(replace(workflow, CHANGE))

def pytest_taskgraph_register(registry):
    registry.notation(replace(JSON, name="lossy", render=render))
"""


@pytest.mark.parametrize(
    ("change", "template", "body", "rule"),
    [
        (
            "links=workflow.links[:-1]",
            "How many links has {{ place }}?",
            "yield case(len(workflow.links))",
            "read-back",
        ),
        pytest.param(
            "data=(), data_links=()",
            "Is '{{ data }}' written in {{ place }}?",
            "for one in workflow.data:\n        yield case(1, data=one.name)",
            "names-shown",
            marks=pytest.mark.exhaustive,  # shown by test_fuzzing_broken_questions.py
        ),
    ],
)
def test_lint_notation_that_drops_something_violates_a_property(
    project: LintProject, change: str, template: str, body: str, rule: str
) -> None:
    project.write("conftest.py", LOSSY.replace("CHANGE", change))
    project.write_pattern(template, body=body, form="number")
    text = (project.path / "test_chosen.py").read_text(encoding="utf-8")
    project.write("test_chosen.py", text.replace('form="number"', 'form="number", needs=["data"]'))
    assert property_of(project, rule, notation="lossy")


def test_lint_suite_that_shows_workflows_on_request_finds_nothing(project: LintProject) -> None:
    project.write(
        "test_shown_on_request.py",
        "from pytest_taskgraph import suite, understanding\n"
        "@suite(understanding, patterns='next_tasks', presentation='agent', instances=2, vary=['names', 'order'])\n"
        "def test_agent(trial):\n    trial.check()\n",
    )
    linted = project.lint("--examples=3")
    assert (linted.code, linted.lines) == (0, []), linted


def test_lint_own_files_without_cases_for_a_pattern_are_left_out(project: LintProject) -> None:
    project.write("orders.xxp", ORDERS)
    project.write(
        "test_own.py",
        "from pytest_taskgraph import suite, understanding\n"
        "@suite(understanding, patterns=['next_tasks', 'parallel_block'], workflow='orders.xxp')\n"
        "def test_own(trial):\n    trial.check()\n",
    )
    linted = project.lint("--examples=0")
    assert linted.lines == ["test_own.py:2: left-out-pattern orders.xxp: nothing to ask for parallel_block"]


@pytest.mark.parametrize(("words", "rules"), [("task '{{ task }}'", []), ("the task", ["one-answer"])])
def test_lint_question_about_own_files_is_checked_itself(project: LintProject, words: str, rules: list[str]) -> None:
    project.write("orders.xxp", ORDERS)
    body = "for task in workflow.task_names:\n        "
    body += "yield case({link.target for link in workflow.links if link.source == task}, task=task)"
    project.write_pattern(f"In {{{{ place }}}}, what comes after {words}?", body=body, form="task-set")
    linted = project.lint(
        "--examples=0", "--select=one-answer,names,phrasings", "--", "--taskgraph-workflow=orders.xxp"
    )
    assert linted.rules == rules, linted
