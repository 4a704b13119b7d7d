"""The regression test of a shrunk question: it runs as it is pasted, and asks the question that was shrunk."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from plugin_project import Project

from pytest_taskgraph.benchmarks.family import Family, QuestionReference
from pytest_taskgraph.benchmarks.instances import Instance
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.soundness.regression_test import regression_test, write_files
from pytest_taskgraph.trial import Question


def shrunk(settings: UnderstandingSettings, group: str) -> Instance:
    """Return the first question of a pattern about a workflow that is a few steps smaller."""
    reference = understanding.references(settings, {"patterns": group})[0]
    reducible = understanding.reducible(reference, settings)
    assert reducible is not None
    subject = reducible.start
    for _ in range(3):
        smaller = (candidate for candidate in reducible.smaller(subject) if reducible.instance(candidate) is not None)
        subject = next(smaller, subject)
    instance = reducible.instance(subject)
    assert instance is not None
    return instance


@pytest.mark.parametrize(
    ("group", "settings"),
    [
        ("next_tasks", UnderstandingSettings(instances=1)),
        ("parallel_pair", UnderstandingSettings(instances=1, notations=("mermaid",), prompt="direct")),
        ("nested_tasks", UnderstandingSettings(instances=1, notations=("json",), presentation="agent")),
        ("contradicting_task_descriptions", UnderstandingSettings(instances=1, phrasing="second", shots=1)),
    ],
)
def test_regression_test_pasted_asks_the_shrunk_question(
    project: Project, group: str, settings: UnderstandingSettings
) -> None:
    instance = shrunk(settings, group)
    folder = project.write("regression/keep.txt", "").parent
    module = write_files(regression_test(understanding, instance, "simulated:0"), folder)[0]
    right = project.run(module, "--model=simulated:1", "--taskgraph-report=json=record.json")
    assert (right.code, right.counts) == (0, {"passed": 1}), right.output
    wrong = project.run(module, "--model=simulated:0")
    assert (wrong.code, wrong.counts["failed"]) == (1, 1), wrong.output
    (trial,) = project.record()["trials"]
    recorded_question = trial["question"]
    assert (recorded_question["text"], recorded_question["reference"]) == (
        instance.question.text,
        instance.question.reference,
    )
    assert recorded_question["digests"] == instance.question.digests
    assert recorded_question.get("specifications", {}) == instance.question.specifications


def test_regression_test_other_workflow_of_the_run_is_skipped(project: Project) -> None:
    instance = shrunk(UnderstandingSettings(instances=1), "next_tasks")
    folder = project.write("regression/keep.txt", "").parent
    module = write_files(regression_test(understanding, instance, "simulated:0"), folder)[0]
    project.write("other.xxp", "package p;\nworkflow Other { define task Mix; START -> Mix -> END; }")
    ran = project.run(module, "test_graph.py", "--model=simulated:1", "--taskgraph-workflow=other.xxp")
    assert "next_tasks does not ask" in ran.output


def test_regression_test_changed_question_is_an_error(project: Project) -> None:
    instance = shrunk(UnderstandingSettings(instances=1), "next_tasks")
    files = regression_test(understanding, instance, "simulated:0")
    name = next(iter(files))
    folder = project.write("regression/keep.txt", "").parent
    module = write_files({**files, name: files[name].replace("which tasks", "which of the tasks")}, folder)[0]
    ran = project.run(module, "--model=simulated:1")
    assert ran.code != 0
    assert "next_tasks does not ask" in ran.output
    assert "compare it with the templates" in ran.output


def test_regression_test_hostile_texts_stay_literals() -> None:
    text = 'What is """ \\ {{ x }} \n \u2028 of ' + "a very long text " * 20 + "?"
    question = Question("q", "understanding", "odd group/7", "", text, text, "number", 1, "exact")
    instance = Instance(question, files={"odd.json": "{}"}, suite={"question": text, "workflow": "odd.json"})
    files = regression_test(understanding, instance, 'm"""\nimport os')
    assert list(files) == ["test_odd_group_7_shrunk.py", "odd.json"]
    tree = ast.parse(files["test_odd_group_7_shrunk.py"])
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    (decorator,) = function.decorator_list
    assert isinstance(decorator, ast.Call)
    assert {keyword.arg: ast.literal_eval(keyword.value) for keyword in decorator.keywords} == dict(instance.suite)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(node) for node in imports] == ["from pytest_taskgraph import Trial, suite, understanding"]


class OwnFamily(Family):
    """A family of a project."""

    name = "own"

    def references(self, settings: object, options: object) -> list[QuestionReference]:
        """Return nothing."""
        return []

    def question(self, reference: object, settings: object) -> Question:
        """Return nothing."""
        raise NotImplementedError


own_family = OwnFamily()


def test_regression_test_family_of_a_project_is_imported_from_its_module() -> None:
    question = Question("q", "own", "words", "", "?", "?", "number", 1, "exact")
    (text,) = regression_test(own_family, Instance(question), "m").values()
    assert f"from {__name__} import own_family" in text
    assert "@suite(\n    own_family,\n)" in text


def test_write_files_other_content_raises_and_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("kept", encoding="utf-8")
    with pytest.raises(UsageError, match=r"b\.txt: has other content"):
        write_files({"a.txt": "new", "b.txt": "new"}, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.txt"]
    assert write_files({"b.txt": "kept"}, tmp_path) == [tmp_path / "b.txt"]


def test_write_files_folder_that_is_a_file_raises(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be written"):
        write_files({"a.txt": ""}, tmp_path / "file")
