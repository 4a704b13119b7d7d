from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pytest_taskgraph.asking import is_one_turn
from pytest_taskgraph.benchmarks.understanding import understanding
from pytest_taskgraph.benchmarks.understanding.family_options import UnderstandingSettings
from pytest_taskgraph.errors import NoCaseError, NotAskedError, UnknownNameError, UsageError
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.scoring.forms import form
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Question, Reply, Request
from pytest_taskgraph.workflow.model import END, START, Data, DataLink, Link, Task, Workflow

ODD = ("a, b", "none", "it's", "final answer", "x.y", "- c", "`d`", "f")


def odd_workflow() -> Workflow:
    """A chain whose tasks have names that an answer could be torn apart at."""
    nodes = [START, *ODD, END]
    links = tuple(map(Link, nodes, nodes[1:]))
    inner = Workflow("g", tasks=(Task("f"), Task("yes")), links=(Link(START, "f"), Link("f", "yes"), Link("yes", END)))
    tasks = tuple(Task(name, subworkflow=inner if name == "x.y" else None) for name in ODD)
    flow = (DataLink("a, b", "sa; lt"), DataLink("sa; lt", "none"), DataLink("sa; lt", "it's"))
    return Workflow("W", tasks=tasks, links=links, data=(Data("sa; lt"),), data_links=flow)


def asked(options: dict[str, Any] | None = None, **chosen: Any) -> list[Question]:  # noqa: ANN401
    settings = UnderstandingSettings(**chosen)
    return [understanding.question(one, settings) for one in understanding.references(settings, options or {})]


def by_the_reader(question: Question) -> Reply:
    request = Request(messages=[{"role": "user", "content": question.prompt}])
    return asyncio.run(understanding.baseline("reader", UnderstandingSettings()).answer(request))


@pytest.mark.parametrize("name", sorted(NOTATIONS))
@pytest.mark.parametrize("prompt", ["direct", "chain-of-thought", "answer-first"])
def test_names_of_any_text_are_asked_about_answered_and_scored(name: str, prompt: str, tmp_path: Path) -> None:
    path = tmp_path / f"w{NOTATIONS[name].suffixes[0]}"
    path.write_text(NOTATIONS[name].write(odd_workflow()), encoding="utf-8")
    for question in asked(workflows=(str(path),), prompt=prompt, instances=3):
        written = form(question.form).write(question.reference, question.names)
        lead = "Final answer: " if question.place == "marker" else ""
        assert grade(question, Reply(lead + written)).value == 1.0, (question.text, written)
        assert grade(question, by_the_reader(question)).value == 1.0, question.text


def test_a_phrasing_may_be_chosen_and_stands_in_the_id() -> None:
    first, second, both = (
        asked({"patterns": "task_list"}, phrasing=phrasing, instances=4) for phrasing in ("first", "second", "both")
    )
    assert {q.labels["phrasing"] for q in first} == {1}
    assert {q.labels["phrasing"] for q in second} == {2}
    assert [q.labels["phrasing"] for q in both] == [1, 1, 2, 2]
    assert [q.id.rpartition("-")[2] for q in (first[0], second[0], both[0])] == ["p1", "p2", "000"]
    assert [q.reference for q in first] == [q.reference for q in second] == [q.reference for q in both]


def test_the_pass_threshold_is_the_forms_or_the_users() -> None:
    assert {q.pass_threshold for q in asked({"patterns": "next_tasks"})} == {1.0}
    assert {q.pass_threshold for q in asked({"patterns": "next_tasks"}, pass_threshold=0.5)} == {0.5}


def test_what_a_suite_says_counts_unless_the_user_says_otherwise() -> None:
    suite = {"patterns": ["task_list"], "tasks": 8, "instances": 2, "notations": ["json", "prose"]}
    assert [q.id for q in asked(suite)] == [f"task_list-{n}-n008-s0-00{i}" for n in ("json", "prose") for i in (0, 1)]
    given = frozenset({"tasks", "notation"})
    assert [q.id for q in asked(suite, given=given)] == ["task_list-wadl-n012-s0-000", "task_list-wadl-n012-s0-001"]


def test_what_is_left_out_is_told_and_the_rest_asked() -> None:
    chosen = UnderstandingSettings(tasks=(3, 12), notations=("mermaid",), instances=2)
    options = {"patterns": ["task_list", "flow_cycle", "infinite_recursion"]}
    references = understanding.references(chosen, options)
    assert [(one.group, one.payload["tasks"]) for one in references] == [
        *[("task_list", 3)] * 2, *[("task_list", 12)] * 2, *[("flow_cycle", 12)] * 2,
    ]  # fmt: skip
    notices = understanding.notices(chosen, options)
    assert "flow_cycle is left out at 3 tasks: it needs at least 5" in notices
    assert "infinite_recursion is left out in mermaid, which does not support references" in notices


def test_nothing_to_ask_is_an_error_with_its_reasons() -> None:
    with pytest.raises(NoCaseError, match="there is nothing to ask: infinite_recursion is left out in mermaid"):
        asked({"patterns": "infinite_recursion"}, notations=("mermaid",))


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ({"notations": ("bpmnn",)}, "unknown notation 'bpmnn'"),
        ({"prompt": "dirct"}, "unknown prompt 'dirct'"),
        ({"workflows": ("none.xxp",)}, r"none\.xxp: no such file or folder"),
    ],
)
def test_settings_that_cannot_be_met_are_told_before_anything_is_asked(chosen: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        understanding.check(UnderstandingSettings(**chosen))
    with pytest.raises(UsageError, match=told):
        asked(**chosen)


def test_the_episode_is_one_prompt_and_one_reply() -> None:
    (question, *_) = asked({"patterns": "task_list"})
    episode = understanding.episode(question.episode)
    assert is_one_turn(episode)
    turns = episode(question)
    assert [request.prompt for request in next(turns)] == [question.prompt]
    with pytest.raises(StopIteration) as stop:
        turns.send([Reply("A")])
    assert stop.value.value.reply == Reply("A")
    with pytest.raises(UnknownNameError, match=r"unknown episode 'twice'; known: agent, single"):
        understanding.episode("twice")


def test_a_project_that_is_given_twice_is_asked_about_once(tmp_path: Path) -> None:
    text = NOTATIONS["json"].write(odd_workflow())
    for name, written in {"a": text, "b": text, "c": text.replace('"none"', '"nothing"')}.items():
        (tmp_path / f"{name}.json").write_text(written, encoding="utf-8")
    (tmp_path / "d.mmd").write_text(NOTATIONS["mermaid"].write(odd_workflow()), encoding="utf-8")
    paths = tuple(str(tmp_path / name) for name in ("a.json", "b.json", "c.json", "d.mmd"))
    ids = [q.id for q in asked({"patterns": "composite_tasks"}, workflows=paths)]
    assert len(set(ids)) == len(ids) == 3 * 2  # about the workflow and its composite task


OWN_WORDS = """Name each task of {{ place }}.
{# or #}
What are {{ workflow.tasks | length }} tasks in {{ place }}?
{# or #}
Third: {{ place }}?
"""


def folder_of_words(folder: Path, text: str, name: str = "task_list") -> str:
    (folder / "patterns").mkdir(exist_ok=True)
    (folder / "patterns" / f"{name}.jinja").write_text(text, encoding="utf-8")
    return str(folder)


def test_a_folder_replaces_the_phrasings_of_a_pattern(tmp_path: Path) -> None:
    folder = folder_of_words(tmp_path, OWN_WORDS)
    found = asked({"patterns": ["task_list", "next_tasks"]}, templates=folder, instances=7, shots=1, names="neutral")
    lists, counts = ([q for q in found if q.group == name] for name in ("task_list", "next_tasks"))
    first = "Name each task of workflow 'Process'"
    assert [q.labels["phrasing"] for q in lists] == [1, 1, 2, 2, 3, 3, 1]
    assert lists[0].text == f"{first}."
    assert lists[0].prompt.count(first) == 2  # the example is asked in the same words
    assert lists[4].text.startswith("Third: ")
    assert lists[4].text.endswith("workflow 'Process'?")
    assert {q.labels["phrasing"] for q in counts} == {1, 2}
    plain = asked({"patterns": ["task_list"]}, instances=7, shots=1, names="neutral")
    assert [q.reference for q in lists] == [q.reference for q in plain]
    assert not {q.digests["template"] for q in lists} & {q.digests["template"] for q in plain}


@pytest.mark.parametrize(("phrasing", "text"), [("first", "Only one, of W?"), ("second", "Only one, of W?")])
def test_one_phrasing_of_ones_own_is_enough(tmp_path: Path, phrasing: Any, text: str) -> None:  # noqa: ANN401
    folder = folder_of_words(tmp_path, "Only one, of W?")
    assert {q.text for q in asked({"patterns": "task_list"}, templates=folder, phrasing=phrasing)} == {text}


def test_the_reader_does_not_know_the_words_of_ones_own(tmp_path: Path) -> None:
    folder = folder_of_words(tmp_path, OWN_WORDS)
    with pytest.raises(NotAskedError, match="no question that it knows"):
        by_the_reader(asked({"patterns": "task_list"}, templates=folder)[0])


def test_a_name_that_a_question_does_not_see_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    folder = folder_of_words(tmp_path, "Which of {{ taks }}?")
    with pytest.raises(UsageError, match=r"pattern task_list: 'taks' is undefined; the template sees: .*place"):
        understanding.references(UnderstandingSettings(templates=folder), {"patterns": "task_list"})
