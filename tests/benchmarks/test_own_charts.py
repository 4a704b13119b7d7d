"""Questions about the user's own Mermaid charts: their names, and the guide to the chart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from chart_corpus import READ

from pytest_taskgraph.errors import NothingToAskError
from pytest_taskgraph.families.understanding.baselines import read_back
from pytest_taskgraph.families.understanding.own_files import projects
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Question, Reply

UNTITLED = "flowchart TD\n  Boil[Boil water] --> Cook[Cook pasta]\n  Boil --> Fry[Fry onions]\n  Cook & Fry --> Serve\n"


def questions(path: Path, patterns: object = "*", **more: object) -> list[Question]:
    chosen = UnderstandingSettings(workflows=(str(path),), **more)  # type: ignore[arg-type]
    return [
        understanding.question(reference, chosen)
        for reference in understanding.references(chosen, {"patterns": patterns})
    ]


def write_file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_question_about_untitled_chart_uses_no_name(tmp_path: Path) -> None:
    chart_questions = questions(write_file(tmp_path / "supper.mmd", UNTITLED))
    assert len(chart_questions) > 30
    plain = [question for question in chart_questions if "edit" not in question.labels]
    assert not any("supper" in question.prompt or "Flowchart" in question.text for question in plain)
    assert sum("the workflow" in question.text for question in plain) > 20
    assert all(read_back(question.prompt)[1] == question.reference for question in chart_questions)


def test_question_about_chart_in_folder_shows_this_chart_alone(tmp_path: Path) -> None:
    write_file(tmp_path / "supper.mmd", UNTITLED)
    write_file(tmp_path / "lunch.mmd", UNTITLED.replace("water", "eggs"))
    chart_questions = questions(tmp_path, "task_list")
    assert sorted("Boil eggs" in question.prompt for question in chart_questions) == [False, True]
    assert not any("Boil eggs" in question.prompt and "Boil water" in question.prompt for question in chart_questions)
    assert all(read_back(question.prompt)[1] == question.reference for question in chart_questions)


def test_question_about_chart_converted_uses_file_name(tmp_path: Path) -> None:
    chart_questions = questions(
        write_file(tmp_path / "supper.mmd", UNTITLED), "task_list", notations=("prose",), convert=True
    )
    assert "Workflow 'supper'" in chart_questions[0].prompt
    assert "workflow 'supper'" in chart_questions[0].text


@pytest.mark.parametrize("suffix", [".md", ".markdown", ".mdx"])
@pytest.mark.parametrize("before", ["", "import Note from './note'\n\n# Supper <Note n={1} />\n\nSome words.\n\n"])
def test_markdown_with_charts_shows_only_charts(tmp_path: Path, before: str, suffix: str) -> None:
    other = "```mermaid\nsequenceDiagram\n  A->>B: hi\n```\n"
    text = f"{before}```mermaid\n{UNTITLED}```\nMore words.\n{other}\n~~~mermaid\n{UNTITLED}~~~\n"
    chart_questions = questions(write_file(tmp_path / f"README{suffix}", text), "task_list")
    assert {re.findall(r"workflow '([\w ]+)'", question.text)[0] for question in chart_questions} == {
        "README 1",
        "README 2",
    }
    assert not any("words" in question.prompt or "sequenceDiagram" in question.prompt for question in chart_questions)
    assert all(read_back(question.prompt)[1] == question.reference for question in chart_questions)


def test_markdown_with_invalid_chart_names_line(tmp_path: Path) -> None:
    path = write_file(tmp_path / "README.md", "# Tea\n\n```mermaid\nflowchart TD\n  A[Boil --> B\n```\n")
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
    chart_questions = questions(write_file(tmp_path / "x.mmd", LABELS), "next_tasks", instances=10)
    after_build = next(question for question in chart_questions if question.reference == ["Run all tests"])
    assert grade(after_build, Reply(f"Final answer: {given}")).value == score


@pytest.mark.parametrize(
    "given",
    ["Build<br/>the image", "Build the image", "Build\nthe image", "Build<br>the image", "a", '"Build<br/>the image"'],
)
def test_answer_with_line_break_in_label_is_right(tmp_path: Path, given: str) -> None:
    (question,) = questions(write_file(tmp_path / "x.mmd", LABELS), "flow_start")
    assert question.reference == "Build the image"
    assert grade(question, Reply(f"Final answer: {given}")).value == 1.0


@pytest.mark.parametrize("given", ['Say "done" & stop', "Say #quot;done#quot; &amp; stop", "c"])
def test_answer_with_entities_in_label_is_right(tmp_path: Path, given: str) -> None:
    (question,) = questions(write_file(tmp_path / "x.mmd", LABELS), "flow_end")
    assert grade(question, Reply(f"Final answer: {given}")).value == 1.0


def test_answer_id_equal_to_other_label_resolved(tmp_path: Path) -> None:
    path = write_file(tmp_path / "x.mmd", "flowchart TD\n  A[B] --> B[C] --> D\n")
    (question,) = questions(path, "flow_start")
    assert question.reference == "B"
    assert question.spellings == {"A": "B"}
    assert grade(question, Reply("Final answer: A")).value == 1.0


def test_nodes_with_equal_labels_named_by_id(tmp_path: Path) -> None:
    text = "flowchart TD\n  t1[Test] --> Build --> t2[Test] --> Ship\n"
    (question,) = questions(write_file(tmp_path / "x.mmd", text), "task_list")
    assert question.reference == ["Build", "Ship", "t1", "t2"]
    assert 'Nodes that share a label have their ids as names: "t1" and "t2".' in question.prompt


README = Path(__file__).parents[2] / "README.md"
FROM_README = re.findall(r"^```mermaid\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[0]
CHARTS = {"README": FROM_README, **{chart.title: chart.chart for chart in READ[::2]}}


@pytest.mark.parametrize(
    "title",
    [
        pytest.param(title, marks=pytest.mark.exhaustive if i % 3 else ())  # those of the default tier: of all kinds
        for i, title in enumerate(CHARTS)
    ],
)
def test_reader_untitled_chart_right(tmp_path: Path, title: str) -> None:
    chart_questions = questions(write_file(tmp_path / "it.mmd", CHARTS[title]), instances=1)
    assert len(chart_questions) > 3
    assert {question.id: read_back(question.prompt)[1] for question in chart_questions} == {
        question.id: question.reference for question in chart_questions
    }


def test_chart_corpus_has_25_charts_and_readme() -> None:
    assert len(CHARTS) > 25


def test_guide_with_examples_separates_examples_from_chart(tmp_path: Path) -> None:
    path = write_file(tmp_path / "x.mmd", UNTITLED.replace("Cook[", "Cook[(").replace("pasta]", "pasta)]"))
    (question,) = questions(path, "task_list", instances=1, prompt="few-shot")
    assert "Of the examples: The workflow is a Mermaid flowchart: rectangles are tasks" in question.prompt
    assert "Of the workflow that you are asked about: The workflow is a Mermaid flowchart. Each node" in question.prompt


def fenced(*charts: str) -> str:
    return "\n".join(f"```mermaid\n{chart}```\n" for chart in charts)


def test_guide_of_document_covers_all_charts(tmp_path: Path) -> None:
    charts = "flowchart TD\n  A --> db[(Store)]\n", "flowchart TD\n  x[(One)] --> y[(Two)]\n"
    for question in questions(write_file(tmp_path / "a.md", fenced(*charts)), "task_list"):
        assert "A cylinder is a task like any other." in question.prompt
        assert question.reference in (["A", "Store"], ["One", "Two"])


def test_document_with_ids_in_one_chart_uses_ids_in_all(tmp_path: Path) -> None:
    ids = "flowchart TD\n  A[Load] --> x[Check] --> y[Check] --> B[x]\n"
    path = write_file(tmp_path / "a.md", fenced(ids, "flowchart TD\n  p[Wash] --> q[Dry]\n"))
    chart_questions = questions(path, "task_list")
    assert sorted((question.reference for question in chart_questions), key=str) == [["A", "B", "x", "y"], ["p", "q"]]
    assert all("its name is its id, such as A for A[Cook]" in question.prompt for question in chart_questions)


PLAIN_CHART = """flowchart LR
  A[Read] --> B[Check] --> C[Store]
"""
GROUPED_CHART = """flowchart LR
  A[Read] --> box
  subgraph box [Check]
    B[Parse] --> C[Compare]
  end
"""
LISTS = ["task_list_with_property", "conditional_links", "parallel_to_task", "composite_tasks", "nested_tasks"]


def test_patterns_whose_answers_are_all_none_are_not_asked(tmp_path: Path) -> None:
    plain = write_file(tmp_path / "plain.mmd", PLAIN_CHART)
    settings = UnderstandingSettings(workflows=(str(plain),))
    assert {question.group for question in questions(plain, [*LISTS, "task_list"])} == {"task_list"}
    assert understanding.notices(settings, {"patterns": LISTS}) == [
        f"{plain}: not asked, because every answer is none: {', '.join(LISTS)}"
    ]


def test_pattern_is_asked_about_kinds_of_cases_that_chart_has(tmp_path: Path) -> None:
    grouped = write_file(tmp_path / "grouped.mmd", GROUPED_CHART)
    asked = questions(grouped, LISTS)
    assert {(question.group, question.labels.get("property")) for question in asked} == {
        ("task_list_with_property", "sub-workflow"), ("composite_tasks", None), ("nested_tasks", None),
    }  # fmt: skip
    (notice,) = understanding.notices(
        UnderstandingSettings(workflows=(str(grouped),)), {"patterns": ["task_list_with_property"]}
    )
    assert notice.endswith(": task_list_with_property (description, implementation, parameter)")


def test_chart_of_document_without_composite_tasks_is_not_asked_for_them(tmp_path: Path) -> None:
    path = write_file(tmp_path / "it.md", fenced(GROUPED_CHART, PLAIN_CHART))
    asked = questions(path, ["composite_tasks", "task_list"])
    assert {(question.group, "'it 2'" in question.text) for question in asked} == {
        ("composite_tasks", False), ("task_list", False), ("task_list", True),
    }  # fmt: skip
    notices = understanding.notices(
        UnderstandingSettings(workflows=(str(path),)), {"patterns": ["composite_tasks", "task_list"]}
    )
    assert notices == [f"{path}: not asked, because every answer is none: composite_tasks (of some workflows)"]


def test_always_answering_none_earns_little_more_than_half(tmp_path: Path) -> None:
    scores: dict[str, list[bool]] = {}
    for number, sample in enumerate(READ):
        path = write_file(tmp_path / f"{number}.mmd", sample.chart)
        for question in questions(path, LISTS) if _asks(path) else ():
            scores.setdefault(question.group, []).append(question.reference == [])
    assert scores.keys() == {*LISTS}
    assert max(sum(none) / len(none) for none in scores.values()) < 0.6


def _asks(path: Path) -> bool:
    try:
        return bool(understanding.references(UnderstandingSettings(workflows=(str(path),)), {"patterns": LISTS}))
    except NothingToAskError:
        return False


BRANCHES = """flowchart TD
  Read --> Check --> Fix --> Store
  Check --> Keep --> Store
  Store --> Log & Tell --> Close
"""
COMPARED = """flowchart TD
  Read -->|"errors > 0"| Fix --> Store
  Read -->|otherwise| Store
"""
WITHOUT_CONDITIONS = ["every_situation", "order_of_two_conditional", "order_of_many_conditional"]


@pytest.mark.parametrize("phrasing", ["first", "second"])
def test_questions_about_chart_without_parameters_mention_none(tmp_path: Path, phrasing: str) -> None:
    path = write_file(tmp_path / "w.mmd", BRANCHES)
    asked = questions(path, WITHOUT_CONDITIONS, phrasing=phrasing)
    assert {question.group for question in asked} == {*WITHOUT_CONDITIONS}
    assert not [question.text for question in asked if "parameter" in question.text]
    assert all(read_back(question.prompt)[1] == question.reference for question in asked)


def test_stated_question_about_chart_without_parameters_is_asked(tmp_path: Path) -> None:
    path = write_file(tmp_path / "w.mmd", BRANCHES)
    text = (
        "Take the runs of the workflow in which both task 'Fix' and task 'Tell' run: does every execution of 'Fix' "
        "come before every execution of 'Tell' in all of them?"
    )
    settings = UnderstandingSettings(workflows=(str(path),))
    (reference,) = understanding.references(settings, {"patterns": "order_of_two_conditional", "question": text})
    assert understanding.question(reference, settings).reference == "yes"


def test_questions_about_chart_with_compared_parameters_mention_them(tmp_path: Path) -> None:
    path = write_file(tmp_path / "w.mmd", COMPARED)
    asked = questions(path, "every_situation")
    assert asked
    assert all("parameters" in question.text for question in asked)
