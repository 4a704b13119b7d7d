"""Questions about the user's own Mermaid charts: what names they use, and what the prompt says of the chart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from chart_corpus import READ

from pytest_taskgraph.benchmarks.understanding import understanding
from pytest_taskgraph.benchmarks.understanding.baselines import read_back
from pytest_taskgraph.benchmarks.understanding.family_options import UnderstandingSettings
from pytest_taskgraph.benchmarks.understanding.own_files import projects
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Question, Reply

UNTITLED = "flowchart TD\n  Boil[Boil water] --> Cook[Cook pasta]\n  Boil --> Fry[Fry onions]\n  Cook & Fry --> Serve\n"


def questions(path: Path, patterns: object = "*", **more: object) -> list[Question]:
    chosen = UnderstandingSettings(workflows=(str(path),), **more)  # type: ignore[arg-type]
    return [understanding.question(one, chosen) for one in understanding.references(chosen, {"patterns": patterns})]


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_question_about_untitled_chart_uses_no_name(tmp_path: Path) -> None:
    asked = questions(written(tmp_path / "supper.mmd", UNTITLED))
    assert len(asked) > 30
    plain = [one for one in asked if "edit" not in one.labels]
    assert not any("supper" in one.prompt or "Flowchart" in one.text for one in plain)
    assert sum("the workflow" in one.text for one in plain) > 20
    assert all(read_back(one.prompt)[1] == one.reference for one in asked)


def test_question_about_untitled_charts_in_folder_names_files(tmp_path: Path) -> None:
    written(tmp_path / "supper.mmd", UNTITLED)
    written(tmp_path / "lunch.mmd", UNTITLED.replace("water", "eggs"))
    asked = questions(tmp_path, "task_list")
    assert {re.findall(r"workflow '(\w+)'", one.text)[0] for one in asked} == {"supper", "lunch"}
    assert all("%% file: supper.mmd\n" in one.prompt and "%% file: lunch.mmd\n" in one.prompt for one in asked)
    assert all(read_back(one.prompt)[1] == one.reference for one in asked)


def test_question_about_chart_converted_uses_file_name(tmp_path: Path) -> None:
    asked = questions(written(tmp_path / "supper.mmd", UNTITLED), "task_list", notations=("prose",), convert=True)
    assert "Workflow 'supper'" in asked[0].prompt
    assert "workflow 'supper'" in asked[0].text


@pytest.mark.parametrize("before", ["", "# Supper\n\nSome words.\n\n"])
def test_markdown_with_charts_shows_charts_alone(tmp_path: Path, before: str) -> None:
    other = "```mermaid\nsequenceDiagram\n  A->>B: hi\n```\n"
    text = f"{before}```mermaid\n{UNTITLED}```\nMore words.\n{other}\n~~~mermaid\n{UNTITLED}~~~\n"
    asked = questions(written(tmp_path / "README.md", text), "task_list")
    assert {re.findall(r"workflow '([\w ]+)'", one.text)[0] for one in asked} == {"README 1", "README 2"}
    assert not any("words" in one.prompt or "sequenceDiagram" in one.prompt for one in asked)
    assert all(read_back(one.prompt)[1] == one.reference for one in asked)


def test_markdown_with_chart_that_is_not_read_names_line(tmp_path: Path) -> None:
    path = written(tmp_path / "README.md", "# Tea\n\n```mermaid\nflowchart TD\n  A[Boil --> B\n```\n")
    with pytest.raises(Exception, match=r"README\.md:5:5: found 'Boil --> B'"):
        projects.load(str(path))


LABELS = """flowchart TD
  a["Build<br/>the image"] --> b["`Run **all** tests`"]
  b --> c["Say #quot;done#quot; &amp; stop"]
"""


@pytest.mark.parametrize(
    ("given", "score"),
    [
        ("Run all tests", 1.0),
        ("Run **all** tests", 1.0),
        ("`Run **all** tests`", 1.0),
        ("b", 1.0),
        ("B", 0.0),
        ("c", 0.0),
        ("b, Run all tests", 1.0),
    ],
)
def test_answer_with_markdown_label_or_id_is_right(tmp_path: Path, given: str, score: float) -> None:
    asked = questions(written(tmp_path / "x.mmd", LABELS), "next_tasks", instances=10)
    after_build = next(one for one in asked if one.reference == ["Run all tests"])
    assert grade(after_build, Reply(f"Final answer: {given}")).value == score


@pytest.mark.parametrize(
    "given",
    ["Build<br/>the image", "Build the image", "Build\nthe image", "Build<br>the image", "a", '"Build<br/>the image"'],
)
def test_answer_with_line_break_in_label_is_right(tmp_path: Path, given: str) -> None:
    (asked,) = questions(written(tmp_path / "x.mmd", LABELS), "flow_start")
    assert asked.reference == "Build the image"
    assert grade(asked, Reply(f"Final answer: {given}")).value == 1.0


@pytest.mark.parametrize("given", ['Say "done" & stop', "Say #quot;done#quot; &amp; stop", "c"])
def test_answer_with_entities_in_label_is_right(tmp_path: Path, given: str) -> None:
    (asked,) = questions(written(tmp_path / "x.mmd", LABELS), "flow_end")
    assert grade(asked, Reply(f"Final answer: {given}")).value == 1.0


def test_id_that_is_label_of_other_node_means_that_node(tmp_path: Path) -> None:
    path = written(tmp_path / "x.mmd", "flowchart TD\n  A[B] --> B[C] --> D\n")
    (asked,) = questions(path, "flow_start")
    assert asked.reference == "B"
    assert asked.spellings == {"A": "B"}
    assert grade(asked, Reply("Final answer: A")).value == 1.0


def test_nodes_with_one_label_are_asked_about_by_id(tmp_path: Path) -> None:
    text = "flowchart TD\n  t1[Test] --> Build --> t2[Test] --> Ship\n"
    (asked,) = questions(written(tmp_path / "x.mmd", text), "task_list")
    assert asked.reference == ["Build", "Ship", "t1", "t2"]
    assert 'Nodes that share a label have their ids as names: "t1" and "t2".' in asked.prompt


OWN_WORKFLOWS_PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "own-workflows.md"
FROM_PAGE = re.findall(
    r"^```mermaid\n(.*?)^```", OWN_WORKFLOWS_PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)[0]
CHARTS = {"docs": FROM_PAGE, **{one.title: one.chart for one in READ[::2]}}


@pytest.mark.parametrize("title", CHARTS)
def test_question_about_untitled_chart_is_understood_from_prompt(tmp_path: Path, title: str) -> None:
    asked = questions(written(tmp_path / "it.mmd", CHARTS[title]), instances=1)
    assert len(asked) > 3
    assert {one.id: read_back(one.prompt)[1] for one in asked} == {one.id: one.reference for one in asked}


def test_corpus_of_questions_holds_25_charts_and_the_readme() -> None:
    assert len(CHARTS) > 25


def test_guide_with_examples_tells_examples_from_chart(tmp_path: Path) -> None:
    path = written(tmp_path / "x.mmd", UNTITLED.replace("Cook[", "Cook[(").replace("pasta]", "pasta)]"))
    (asked,) = questions(path, "task_list", instances=1, prompt="few-shot")
    assert "Of the examples: The workflow is a Mermaid flowchart: rectangles are tasks" in asked.prompt
    assert "Of the workflow that you are asked about: The workflow is a Mermaid flowchart. Each node" in asked.prompt


def test_guide_of_folder_states_rules_for_all_charts(tmp_path: Path) -> None:
    written(tmp_path / "a.mmd", "flowchart TD\n  A --> db[(Store)]\n")
    written(tmp_path / "b.mmd", "flowchart TD\n  x[(One)] --> y[(Two)]\n")
    for one in questions(tmp_path, "task_list"):
        assert "A cylinder is a task like any other." in one.prompt
        assert one.reference in (["A", "Store"], ["One", "Two"])


def test_names_are_ids_in_all_charts_where_they_are_in_one(tmp_path: Path) -> None:
    written(tmp_path / "a.mmd", "flowchart TD\n  A[Load] --> x[Check] --> y[Check] --> B[x]\n")
    written(tmp_path / "b.mmd", "flowchart TD\n  p[Wash] --> q[Dry]\n")
    asked = questions(tmp_path, "task_list")
    assert sorted((one.reference for one in asked), key=str) == [["A", "B", "x", "y"], ["p", "q"]]
    assert all("its name is its id, such as A for A[Cook]" in one.prompt for one in asked)
