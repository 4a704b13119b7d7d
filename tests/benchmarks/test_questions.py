from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from pytest_taskgraph.asking import is_one_turn
from pytest_taskgraph.catalog import registrations
from pytest_taskgraph.errors import NoCaseError, NotAskedError, UnknownNameError, UsageError
from pytest_taskgraph.families.understanding.family_options import Names
from pytest_taskgraph.families.understanding.patterns import select
from pytest_taskgraph.families.understanding.patterns.pattern import Pattern
from pytest_taskgraph.families.understanding.questions import assembly
from pytest_taskgraph.families.understanding.questions.left_out import size_problem
from pytest_taskgraph.families.understanding.questions.sample import DrawnCase, draw
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.generation.vocabularies import VOCABULARIES
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.scoring.forms import form
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Question, Reply, Request
from pytest_taskgraph.workflow.model import END, START, Data, DataLink, Link, Task, Workflow

UNUSUAL = ("a, b", "none", "it's", "final answer", "x.y", "- c", "`d`", "f")


def unusual_workflow() -> Workflow:
    """Return a chain of tasks with names at which an answer could be split."""
    nodes = [START, *UNUSUAL, END]
    links = tuple(map(Link, nodes, nodes[1:]))
    inner = Workflow("g", tasks=(Task("f"), Task("yes")), links=(Link(START, "f"), Link("f", "yes"), Link("yes", END)))
    tasks = tuple(Task(name, subworkflow=inner if name == "x.y" else None) for name in UNUSUAL)
    flow = (DataLink("a, b", "sa; lt"), DataLink("sa; lt", "none"), DataLink("sa; lt", "it's"))
    return Workflow("W", tasks=tasks, links=links, data=(Data("sa; lt"),), data_links=flow)


def build_questions(options: dict[str, Any] | None = None, **chosen: Any) -> list[Question]:  # noqa: ANN401
    settings = UnderstandingSettings(**chosen)
    return [
        understanding.question(reference, settings) for reference in understanding.references(settings, options or {})
    ]


def reader_reply(question: Question) -> Reply:
    request = Request(messages=[{"role": "user", "content": question.prompt}])
    return asyncio.run(understanding.baseline("reader", UnderstandingSettings()).answer(request))


def _prompts_and_notations() -> Iterator[object]:
    """Yield a prompt with every notation, and the others with one; the further pairs are exhaustive."""
    for prompt, name in product(("direct", "chain-of-thought", "answer-first"), sorted(NOTATIONS)):
        in_default_tier = prompt == "direct" or name == "wadl"
        yield pytest.param(prompt, name, marks=() if in_default_tier else pytest.mark.exhaustive)


@pytest.mark.parametrize("instances", [1, pytest.param(2, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize(("prompt", "name"), [*_prompts_and_notations()])
def test_unusual_names_answered_and_scored(prompt: str, name: str, instances: int, tmp_path: Path) -> None:
    path = tmp_path / f"w{NOTATIONS[name].suffixes[0]}"
    path.write_text(NOTATIONS[name].write(unusual_workflow()), encoding="utf-8")
    for question in build_questions(workflows=(str(path),), prompt=prompt, instances=instances):
        text = form(question.form).write(question.reference, question.names)
        lead = "Final answer: " if question.place == "marker" else ""
        assert grade(question, Reply(lead + text)).value == 1.0, (question.text, text)
        assert grade(question, reader_reply(question)).value == 1.0, question.text


def test_phrasing_option_selects_and_is_in_id() -> None:
    first, second, both = (
        build_questions({"patterns": "task_list"}, phrasing=phrasing, instances=4)
        for phrasing in ("first", "second", "both")
    )
    assert {q.labels["phrasing"] for q in first} == {1}
    assert {q.labels["phrasing"] for q in second} == {2}
    assert [q.labels["phrasing"] for q in both] == [1, 1, 2, 2]
    assert [q.id.rpartition("-")[2] for q in (first[0], second[0], both[0])] == ["p1", "p2", "000"]
    assert [q.reference for q in first] == [q.reference for q in second] == [q.reference for q in both]


def test_pass_threshold_of_form_or_user() -> None:
    assert {q.pass_threshold for q in build_questions({"patterns": "next_tasks"})} == {1.0}
    assert {q.pass_threshold for q in build_questions({"patterns": "next_tasks"}, pass_threshold=0.5)} == {0.5}


def test_suite_options_overridden_by_user() -> None:
    suite = {"patterns": ["task_list"], "tasks": 8, "instances": 2, "notations": ["json", "prose"]}
    assert [q.id for q in build_questions(suite)] == [
        f"task_list-{n}-n008-s0-00{i}" for n in ("json", "prose") for i in (0, 1)
    ]
    given = frozenset({"tasks", "notation"})
    assert [q.id for q in build_questions(suite, given=given)] == [
        "task_list-wadl-n012-s0-000",
        "task_list-wadl-n012-s0-001",
    ]


def test_references_misfits_left_out_with_notice() -> None:
    chosen = UnderstandingSettings(tasks=(3, 12), notations=("mermaid",), instances=2)
    options = {"patterns": ["task_list", "flow_cycle", "infinite_recursion"]}
    references = understanding.references(chosen, options)
    assert [(reference.group, reference.payload["tasks"]) for reference in references] == [
        *[("task_list", 3)] * 2, *[("task_list", 12)] * 2, *[("flow_cycle", 12)] * 2,
    ]  # fmt: skip
    notices = understanding.notices(chosen, options)
    assert "flow_cycle is left out at 3 tasks: it needs at least 5" in notices
    assert "infinite_recursion is left out in mermaid, which does not support references" in notices


def test_references_empty_refused_with_reasons() -> None:
    with pytest.raises(NoCaseError, match="there is nothing to ask: infinite_recursion is left out in mermaid"):
        build_questions({"patterns": "infinite_recursion"}, notations=("mermaid",))


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"notations": ("bpmnn",)}, "unknown notation 'bpmnn'"),
        ({"prompt": "dirct"}, "unknown prompt 'dirct'"),
        ({"workflows": ("none.xxp",)}, r"none\.xxp: no such file or folder"),
    ],
)
def test_check_invalid_settings_refused(chosen: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        understanding.check(UnderstandingSettings(**chosen))
    with pytest.raises(UsageError, match=message):
        build_questions(**chosen)


def test_episode_is_single_turn() -> None:
    (question, *_) = build_questions({"patterns": "task_list"})
    episode = understanding.episode(question.episode)
    assert is_one_turn(episode)
    turns = episode(question)
    assert [request.prompt for request in next(turns)] == [question.prompt]
    with pytest.raises(StopIteration) as stop:
        turns.send([Reply("A")])
    assert stop.value.value.reply == Reply("A")
    with pytest.raises(UnknownNameError, match=r"unknown episode 'twice'; known: agent, single"):
        understanding.episode("twice")


def test_references_duplicate_project_asked_once(tmp_path: Path) -> None:
    text = NOTATIONS["json"].write(unusual_workflow())
    for name, content in {"a": text, "b": text, "c": text.replace('"none"', '"nothing"')}.items():
        (tmp_path / f"{name}.json").write_text(content, encoding="utf-8")
    (tmp_path / "d.mmd").write_text(NOTATIONS["mermaid"].write(unusual_workflow()), encoding="utf-8")
    paths = tuple(str(tmp_path / name) for name in ("a.json", "b.json", "c.json", "d.mmd"))
    ids = [q.id for q in build_questions({"patterns": "composite_tasks"}, workflows=paths)]
    assert len(set(ids)) == len(ids) == 3 * 2  # about the workflow and its composite task


OWN_PHRASINGS = """Name each task of {{ place }}.
{# or #}
What are {{ workflow.tasks | length }} tasks in {{ place }}?
{# or #}
Third: {{ place }}?
"""


def write_phrasings(folder: Path, text: str, name: str = "task_list") -> str:
    (folder / "patterns").mkdir(exist_ok=True)
    (folder / "patterns" / f"{name}.jinja").write_text(text, encoding="utf-8")
    return str(folder)


def test_templates_folder_replaces_phrasings(tmp_path: Path) -> None:
    folder = write_phrasings(tmp_path, OWN_PHRASINGS)
    both_patterns = build_questions(
        {"patterns": ["task_list", "next_tasks"]}, templates=folder, instances=7, shots=1, names="neutral"
    )
    lists, counts = ([q for q in both_patterns if q.group == name] for name in ("task_list", "next_tasks"))
    first = "Name each task of workflow 'Process'"
    assert [q.labels["phrasing"] for q in lists] == [1, 1, 2, 2, 3, 3, 1]
    assert lists[0].text == f"{first}."
    assert lists[0].prompt.count(first) == 2  # the example is asked in the same words
    assert lists[4].text.startswith("Third: ")
    assert lists[4].text.endswith("workflow 'Process'?")
    assert {q.labels["phrasing"] for q in counts} == {1, 2}
    plain = build_questions({"patterns": ["task_list"]}, instances=7, shots=1, names="neutral")
    assert [q.reference for q in lists] == [q.reference for q in plain]
    assert not {q.digests["template"] for q in lists} & {q.digests["template"] for q in plain}


@pytest.mark.parametrize(("phrasing", "text"), [("first", "Only one, of W?"), ("second", "Only one, of W?")])
def test_templates_folder_single_phrasing_used_for_both(tmp_path: Path, phrasing: Any, text: str) -> None:  # noqa: ANN401
    folder = write_phrasings(tmp_path, "Only one, of W?")
    assert {q.text for q in build_questions({"patterns": "task_list"}, templates=folder, phrasing=phrasing)} == {text}


def test_reader_own_phrasing_refuses(tmp_path: Path) -> None:
    folder = write_phrasings(tmp_path, OWN_PHRASINGS)
    with pytest.raises(NotAskedError, match="no question that it knows"):
        reader_reply(build_questions({"patterns": "task_list"}, templates=folder)[0])


def test_phrasing_undefined_name_refused(tmp_path: Path) -> None:
    folder = write_phrasings(tmp_path, "Which of {{ taks }}?")
    with pytest.raises(UsageError, match=r"pattern task_list: 'taks' is undefined; the template sees: .*place"):
        understanding.references(UnderstandingSettings(templates=folder), {"patterns": "task_list"})


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the patterns of which collection draws a case."""
    names: list[str] = []

    def noted(pattern: Pattern, *rest: Any) -> DrawnCase:  # noqa: ANN401 - the arguments of draw
        names.append(pattern.name)
        return draw(pattern, *rest)

    monkeypatch.setattr(assembly, "draw", noted)
    return names


def test_references_of_built_in_patterns_draw_nothing(drawn: list[str]) -> None:
    assert understanding.references(UnderstandingSettings(), {"patterns": "*"})
    assert not drawn


def test_references_with_own_templates_draw_two_cases(tmp_path: Path, drawn: list[str]) -> None:
    understanding.references(UnderstandingSettings(templates=write_phrasings(tmp_path, "W?")), {"patterns": "task_*"})
    assert drawn.count("task_list") == 2


def test_references_with_registered_vocabulary_draw_two_cases(drawn: list[str]) -> None:
    with registrations() as registered:
        registered.add("vocabulary", "mine", VOCABULARIES["kitchen"], "conftest.py")
        understanding.references(UnderstandingSettings(), {"patterns": "task_list"})
    assert drawn == ["task_list"] * 2


def _sizes_and_names() -> Iterator[object]:
    """Yield sizes with either sort of names; the least and a usual one are in the default tier."""
    default_tier = {(3, "mixed"), (5, "misleading"), (8, "mixed")}
    for tasks, names in product((3, 5, 8, 13, 20, 40), ("mixed", "misleading")):
        yield pytest.param(tasks, names, marks=() if (tasks, names) in default_tier else pytest.mark.exhaustive)


@pytest.mark.parametrize(("tasks", "names"), [*_sizes_and_names()])
def test_draw_of_each_built_in_pattern_finds_case(tasks: int, names: Names) -> None:
    possible = [pattern for pattern in select("*") if not size_problem(pattern, tasks)]
    assert possible
    for pattern in possible:
        for ordinal in range(2):
            draw(pattern, tasks, 11, ordinal, names)
