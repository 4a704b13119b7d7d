from __future__ import annotations

import pytest
from plugin_project import Project

OWN = '''
from pytest_taskgraph import Cases, Workflow, case, pattern, suite, understanding

@pattern("In {{ place }}, how is the task called that stands first?", form="task")
def first_declared(workflow: Workflow) -> Cases:
    """Check that the model reads the declarations in order."""
    yield case(workflow.task_names[0])

@pattern("Is there a task '{{ task }}' in {{ place }}?", form="yes-no")
def has_task(workflow: Workflow) -> Cases:
    """Check that the model finds a name."""
    for task in (*workflow.task_names, "Nowhere"):
        yield case(task in workflow.task_names, task=task)

@suite(understanding, patterns=[first_declared, "has_task"], instances=2)
def test_own(trial):
    trial.check()
'''
NEVER = '''
from pytest_taskgraph import Cases, Workflow, case, pattern, suite, understanding

@pattern("Which guard stands at {{ task }}?", form="task"{needs})
def guarded_loop(workflow: Workflow) -> Cases:
    """Only inside of loops."""
    if {condition}:
        yield case(workflow.task_names[0], task=workflow.task_names[0])

@suite(understanding, patterns=guarded_loop, instances=2)
def test_own(trial):
    trial.check()
'''
HIERARCHY = "any(task.subworkflow or task.reference for task in workflow.tasks)"


def never(condition: str, needs: str = "") -> str:
    return NEVER.replace("{condition}", condition).replace("{needs}", needs)


def test_pattern_in_test_file_is_asked_as_ours_are(project: Project) -> None:
    project.write("test_graph.py", OWN)
    ran = project.run("--model", "simulated:1", "-v")
    assert (ran.code, ran.counts) == (0, {"passed": 4})
    assert "test_graph.py::test_own[first_declared-wadl-n012-s0-001] PASSED" in ran.output
    assert "test_graph.py::test_own[has_task-wadl-n012-s0-000] PASSED" in ran.output
    assert [line.split()[:2] for line in ran.table if line.startswith("custom")] == [["custom", "4*"]]


def test_reader_answers_pattern_of_user(project: Project) -> None:
    project.write("test_graph.py", OWN)
    assert project.run("--taskgraph-fail-on=answers").counts == {"passed": 4}


def test_pattern_of_user_crosses_to_workers(project: Project) -> None:
    project.write("test_graph.py", OWN)
    ran = project.spread("--model", "simulated:0", "--taskgraph-report=json=record.json", workers=1)
    assert (ran.code, ran.counts) == (1, {"failed": 4})
    assert project.record()["question_sets"] == {}, "patterns of a user have no version"


def test_pattern_that_finds_no_case_names_feature_that_would_help(project: Project) -> None:
    project.write("test_graph.py", never(HIERARCHY))
    ran = project.run()
    assert ran.code == pytest.ExitCode.TESTS_FAILED
    assert "test_graph.py: test_own: pattern 'guarded_loop' finds no case in 100 workflows of 12 tasks" in ran.output
    hint = ran.output.partition("; it finds one with ")[2]
    assert "hierarchy" in hint.partition(": add it to needs=")[0].split(" or ")
    assert ran.clean


def test_own_workflow_with_named_feature_has_cases(project: Project) -> None:
    project.write("test_graph.py", never(HIERARCHY, ', needs={"hierarchy"}'))
    assert project.run("--model", "simulated:1").counts == {"passed": 2}


def test_pattern_that_can_find_no_case_says_so(project: Project) -> None:
    project.write("test_graph.py", never("False"))
    ran = project.run()
    assert ran.code == pytest.ExitCode.TESTS_FAILED
    assert "no single feature helps" in ran.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (never("True", ', needs={"speed"}'), "unknown feature (pattern 'guarded_loop') 'speed'; known: "),
        (
            never("True").replace('    """Only inside of loops."""\n', ""),
            "a template or the docstring (its rationale) is missing",
        ),
        (OWN.replace("def has_task", "def parallel_pair"), "'parallel_pair' of test_graph is defined in "),
        (OWN.replace("stands first?", "stands {{ where }}?"), "'where' is undefined; the template sees: "),
        (OWN.replace("stands first?", "stands {{ where ?"), "pattern first_declared:1: "),
        (
            OWN.replace('form="task"', 'form="tasks"'),
            "unknown answer form 'tasks'; known: composed-task-graph, condition, ",
        ),
    ],
)
def test_mistake_in_pattern_is_reported_without_traceback(project: Project, text: str, message: str) -> None:
    project.write("test_graph.py", text)
    ran = project.run("--model", "simulated:1")
    assert ran.code != 0
    assert message in ran.output
    assert ran.clean


def test_pattern_that_breaks_is_reported_with_line(project: Project) -> None:
    project.write("test_graph.py", OWN.replace("workflow.task_names[0])", "workflow.task_names[99])"))
    ran = project.run("--model", "simulated:1")
    assert ran.code == pytest.ExitCode.INTERRUPTED
    assert "yield case(workflow.task_names[99])" in ran.output
    assert "IndexError" in ran.output
