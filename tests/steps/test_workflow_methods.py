"""Questions about next steps of workflows as they are put: the answer follows from the text that is shown."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import bounded_process
import pytest
from brute_force_beginnings import all_traces, allowed_next
from hypothesis import given, settings
from hypothesis import strategies as st
from workflow_builders import level

from pytest_taskgraph.benchmarks.family import QuestionReference
from pytest_taskgraph.benchmarks.steps.step_baselines.step_prompts import AskedCandidate, read_step_prompt
from pytest_taskgraph.benchmarks.steps.steps_options import StepsSettings
from pytest_taskgraph.benchmarks.steps.workflows import step_levels
from pytest_taskgraph.benchmarks.steps.workflows.step_levels import PLACES, generated_questions, places_of
from pytest_taskgraph.benchmarks.steps.workflows.workflow_methods import (
    METHODS,
    check_workflows,
    workflow_diagram,
    workflow_labels,
    workflow_notices,
)
from pytest_taskgraph.benchmarks.understanding.patterns.scope import all_scopes
from pytest_taskgraph.errors import NothingToAskError, UnknownNameError, UsageError
from pytest_taskgraph.notations import NOTATIONS, notation
from pytest_taskgraph.scoring.grade import grade, read_answer
from pytest_taskgraph.trial import Question, Reply
from pytest_taskgraph.workflow.model import Domain, Gateway, Link, Parameter, Task, Workflow

STEP, CHOICE = METHODS
CHOICES = level(
    "START -> Ring\nRing -> Greet [n > 4]\nRing -> Wait [n <= 4]\nGreet -> Cook\nWait -> Cook\nCook -> Eat\nEat -> END",
    parameters=(Parameter("n", domain=Domain("integer", 0, 9)),),
)
LOOP = level("START -> A\nA -> B\nB -> A [n < 3]\nB -> C [otherwise]\nC -> END", parameters=(Parameter("n"),))
SHORT = level("START -> A\nA -> B\nB -> END")


class PromptParts(NamedTuple):
    """What a prompt shows."""

    text: str
    place: str
    prefix: tuple[str, ...]
    candidates: tuple[str, ...]  # the candidate, or the options


PROMPT = re.compile(
    r"^(?P<fence>`{3,})\n(?P<text>.*)\n(?P=fence)\n\n"
    r"The steps are tasks of the (?P<place>[^\n]*)\. Those done so far stand in the order in which they ran\.\n\n"
    r"Steps done so far:\n(?P<steps>(?:\d+\. [^\n]*\n)+)\n"
    r"(?:Candidate for the next step: (?P<candidate>[^\n]*)"
    r"|Options for the next step:\nA\. (?P<a>[^\n]*)\nB\. (?P<b>[^\n]*))"
    r"\n\n[^\n]*, and nothing else\.\Z",
    re.MULTILINE | re.DOTALL,
)


def read_prompt_parts(prompt: str) -> PromptParts:
    """Return what a prompt shows, read from its text alone."""
    (match,) = PROMPT.finditer(prompt)
    steps = match["steps"].splitlines()
    assert [step.partition(". ")[0] for step in steps] == [str(i + 1) for i in range(len(steps))]
    options_shown = (match["candidate"],) if match["candidate"] is not None else (match["a"], match["b"])
    return PromptParts(match["text"], match["place"], tuple(step.partition(". ")[2] for step in steps), options_shown)


def right_answer(question: Question) -> str:
    """Return the answer by all traces of the level that the prompt names, read from the text that it shows."""
    prompt_parts = read_prompt_parts(question.prompt)
    project = notation(str(question.labels["notation"])).read(prompt_parts.text)
    (scope,) = [scope for scope in all_scopes(project) if scope.place == prompt_parts.place]
    following = allowed_next(all_traces(scope.workflow), prompt_parts.prefix)
    possible = [task in following for task in prompt_parts.candidates]
    if len(possible) == 1:
        return "yes" if possible[0] else "no"
    assert sum(possible) == 1
    return "AB"[possible.index(True)]


def all_questions(chosen: StepsSettings, count: int = 4) -> list[Question]:
    """Return the questions of both methods."""
    return [method.question(reference, chosen) for method in METHODS for reference in method.references(chosen, count)]


def own(folder: Path, workflow: Workflow, name: str = "json", **further: object) -> StepsSettings:
    """Return settings that ask about a workflow in a file of a notation."""
    file = folder / f"own{NOTATIONS[name].suffixes[0]}"
    file.write_text(NOTATIONS[name].write(workflow), encoding="utf-8")
    return StepsSettings(workflows=(str(file),), **further)  # type: ignore[arg-type]


def test_references_of_four_workflows_are_24_steps_and_12_choices() -> None:
    chosen = StepsSettings(tasks=(8, 12), notations=("wadl", "mermaid"))
    for method, each in ((STEP, 24), (CHOICE, 12)):
        references = method.references(chosen, 4)

        assert Counter((entry.labels["size"], entry.labels["notation"]) for entry in references) == {
            (size, name): each for size in (8, 12) for name in ("wadl", "mermaid")
        }
        assert len({entry.id for entry in references}) == len(references)
        assert all(re.fullmatch(r"[A-Za-z0-9_-]+", entry.id) and entry.group == method.name for entry in references)


def test_references_of_steps_ask_for_yes_and_no_of_each_place() -> None:
    references = STEP.references(StepsSettings(seed=5), 2)

    assert [entry.id for entry in references[:3]] == [
        "workflow_step-wadl-n012-s5-000-1-yes",
        "workflow_step-wadl-n012-s5-000-1-no",
        "workflow_step-wadl-n012-s5-000-2-yes",
    ]
    assert [entry.labels["expected"] for entry in references] == ["yes", "no"] * 6


def test_references_of_many_workflows_build_none() -> None:
    before = generated_questions.cache_info()
    references = STEP.references(StepsSettings(seed=77), 1700)

    assert len(references) == 10_200
    assert generated_questions.cache_info() == before
    assert len(json.dumps(dict(references[-1].payload))) < 120


def test_references_of_more_workflows_begin_with_the_fewer_ones() -> None:
    chosen = StepsSettings()

    assert STEP.references(chosen, 5)[:18] == STEP.references(chosen, 3)


def test_references_with_names_differ_in_their_ids() -> None:
    kinds = ("mixed", "neutral", "domain", "misleading")
    references = [STEP.references(StepsSettings(names=kind), 2) for kind in kinds]  # type: ignore[arg-type]

    assert len({reference.id for some in references for reference in some}) == 4 * 12


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(3, 9),
    st.integers(0, 20),
    st.sampled_from(["wadl", "wadl-separate", "wadl-expanded", "mermaid", "json", "prose"]),
    st.sampled_from(["mixed", "neutral", "domain", "misleading"]),
)
def test_question_of_generated_workflow_agrees_with_all_traces(
    seed: int, size: int, number: int, name: str, names: str
) -> None:
    chosen = StepsSettings(seed=seed, tasks=(size,), notations=(name,), names=names)  # type: ignore[arg-type]
    for method in METHODS:
        references = method.references(chosen, number + 1)
        for reference in references[-len(references) // (number + 1) :]:
            question = method.question(reference, chosen)

            assert right_answer(question) == question.reference


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 50), st.integers(3, 30))
def test_generated_questions_have_all_places_and_few_tasks_done(seed: int, number: int, size: int) -> None:
    questions = generated_questions(seed, number, size, "mixed")

    assert len(questions.pairs) == places_of(size) == min(PLACES, size - 2)
    assert sum(pair.kind == "done" for pair in questions.pairs) <= 1


@pytest.mark.parametrize("size", [5, 12])
def test_generated_questions_ask_about_tasks_done_in_every_second_workflow(size: int) -> None:
    questions = [generated_questions(1, number, size, "mixed") for number in range(40)]
    done = [sum(pair.kind == "done" for pair in entry.pairs) for entry in questions]

    assert set(done[::2]) == {0}
    assert set(done[1::2]) == {0, 1}


def test_generated_questions_without_a_suitable_draw_take_the_best_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_levels, "_DRAWS", 1)
    questions = generated_questions.__wrapped__(
        1, 0, 3, "mixed"
    )  # of three tasks with a fork, only done ones are wrong

    assert [pair.kind for pair in questions.pairs] == ["done"]


def test_generated_questions_without_enough_places_name_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_levels, "places_of", lambda tasks: 9)
    with pytest.raises(UsageError, match="--taskgraph-tasks: none of 12 workflows of 5 tasks has 9 places"):
        generated_questions.__wrapped__(1, 0, 5, "mixed")


def test_question_about_a_step_states_what_it_is_about() -> None:
    chosen = StepsSettings(seed=2, parsing="strict")
    yes, no = (STEP.question(reference, chosen) for reference in STEP.references(chosen, 1)[2:4])

    assert (yes.form, yes.metric, yes.place, yes.chance) == ("yes-no", "class_accuracy", "whole", 0.5)
    assert (yes.episode, yes.parsing, yes.section, yes.pass_threshold) == ("single", "strict", "workflows", 1.0)
    assert (yes.reference, no.reference) == ("yes", "no")
    assert read_prompt_parts(yes.prompt).prefix == read_prompt_parts(no.prompt).prefix
    assert yes.labels.keys() == no.labels.keys() - {"wrong"}
    assert no.labels["wrong"] in ("later", "excluded", "done")
    assert yes.labels["previous"] == len(read_prompt_parts(yes.prompt).prefix)
    assert yes.labels["names"] == "neutral"
    assert (yes.cluster, yes.digests["procedure"]) == (no.cluster, no.digests["procedure"])
    assert yes.digests["prompt"] != no.digests["prompt"]


def test_question_about_a_choice_states_letters_and_their_texts() -> None:
    chosen = StepsSettings(seed=2)
    question = CHOICE.question(CHOICE.references(chosen, 1)[1], chosen)
    options = read_prompt_parts(question.prompt).candidates

    assert (question.form, question.metric, question.chance) == ("letter", "choice_accuracy", 0.5)
    assert question.names == ["A", "B", "tie"]
    assert question.spellings == {options[0]: "A", options[1]: "B"}
    assert question.reference == question.labels["expected"] == right_answer(question)


def test_reply_to_a_choice_is_read_by_letter_or_by_text() -> None:
    chosen = StepsSettings(seed=14, parsing="lenient")
    for reference in CHOICE.references(chosen, 12):
        question = CHOICE.question(reference, chosen)
        for letter, text in zip("AB", read_prompt_parts(question.prompt).candidates, strict=True):
            for reply in (letter, f"{letter}.", f"({letter})", f"{letter}. {text}", text, f"**{text}**"):
                score = grade(question, Reply(reply))

                assert (score.given, score.value) == (letter, float(letter == question.reference))


@pytest.mark.parametrize("notation_name", ["wadl", "mermaid", "prose"])
def test_prompts_are_read_by_the_baselines(notation_name: str, tmp_path: Path) -> None:
    hostile = own(tmp_path, renamed(HOSTILE[1]), notations=(notation_name,), convert=True)
    for chosen in (StepsSettings(seed=15, notations=(notation_name,)), hostile):
        for question in all_questions(chosen):
            prompt_parts, step = read_prompt_parts(question.prompt), read_step_prompt(question.prompt)

            assert step.previous == " . ".join(prompt_parts.prefix)
            if isinstance(step, AskedCandidate):
                assert (step.candidate,) == prompt_parts.candidates
            else:
                assert tuple(step.options.items()) == tuple(zip("AB", prompt_parts.candidates, strict=True))


def test_question_labels_are_those_that_are_declared_and_stated_before() -> None:
    chosen = StepsSettings(seed=4, notations=("mermaid",))
    for method in METHODS:
        for reference in method.references(chosen, 3):
            labels = method.question(reference, chosen).labels

            assert labels.keys() <= workflow_labels().keys() | {"expected"}
            assert {name: labels.get(name) for name in reference.labels} == dict(reference.labels)


def test_question_in_another_notation_asks_the_same() -> None:
    collected = [
        [
            (q.reference, read_prompt_parts(q.prompt)[1:], q.cluster)
            for q in all_questions(StepsSettings(seed=6, notations=(name,)))
        ]
        for name in ("wadl", "mermaid", "json", "prose")
    ]

    assert all(entry == collected[0] for entry in collected)


def test_questions_have_as_many_yes_as_no_and_balanced_letters() -> None:
    chosen = StepsSettings(seed=9, tasks=(8,))
    steps = Counter(STEP.question(reference, chosen).reference for reference in STEP.references(chosen, 120))
    letters = Counter(CHOICE.question(reference, chosen).reference for reference in CHOICE.references(chosen, 120))

    assert steps == {"yes": 360, "no": 360}
    assert 145 < letters["A"] < 215


@pytest.mark.parametrize("size", [6, 12])
def test_questions_are_not_answered_by_what_has_run_or_by_order(size: int) -> None:
    rules = Counter[str]()
    chosen = StepsSettings(seed=21, tasks=(size,))
    references = [STEP.question(reference, chosen) for reference in STEP.references(chosen, 80)]
    for question in references:
        text, _, prefix, (candidate,) = read_prompt_parts(question.prompt)
        says = {
            "has not run": candidate not in prefix,
            "alphabet": candidate > prefix[-1],
            "declaration": text.index(candidate) > text.index(prefix[-1]),
            "length": len(candidate) > len(prefix[-1]),
            "mentions": text.count(candidate) <= 3,
        }
        rules.update(rule for rule, yes in says.items() if yes == (question.reference == "yes"))

    for rule, right in rules.items():
        assert 0.4 < right / len(references) < 0.62, rule


def test_question_of_a_payload_from_elsewhere_is_the_same(tmp_path: Path) -> None:
    for chosen in (StepsSettings(seed=8), own(tmp_path, CHOICES)):
        for method in METHODS:
            for reference in method.references(chosen, 2):
                payload, labels = json.loads(json.dumps([dict(reference.payload), dict(reference.labels)]))
                again = QuestionReference(reference.id, reference.group, payload, labels)

                assert method.question(again, chosen) == method.question(reference, chosen)


SCRIPT = """
import hashlib, sys
from pytest_taskgraph.benchmarks.steps.step_baselines.step_prompts import AskedCandidate, read_step_prompt
from pytest_taskgraph.benchmarks.steps.steps_options import StepsSettings
from pytest_taskgraph.benchmarks.steps.workflows.workflow_methods import METHODS

found = []
for workflows in ((), (sys.argv[1],)):
    chosen = StepsSettings(seed=7, notations=("mermaid",), workflows=workflows)
    for method in METHODS:
        for one in reversed(method.references(chosen, 4)):
            question = method.question(one, chosen)
            found.append((one.id, question.prompt, question.reference, sorted(question.labels.items())))
print(hashlib.sha256(repr(found).encode()).hexdigest())
"""


def test_questions_of_a_seed_are_the_same_under_any_hash_seed(tmp_path: Path) -> None:
    path = own(tmp_path, CHOICES).workflows[0]
    printed = set()
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        printed.add(bounded_process.run([sys.executable, "-c", SCRIPT, path], env=environment).stdout.strip())

    assert len(printed) == 1
    assert len(printed.pop()) == len(hashlib.sha256().hexdigest())


@pytest.mark.parametrize("name", ["wadl", "mermaid", "json", "prose"])
def test_own_file_is_shown_as_it_is_written(tmp_path: Path, name: str) -> None:
    chosen = own(tmp_path, CHOICES, name)
    text = Path(chosen.workflows[0]).read_text(encoding="utf-8").strip("\n")
    questions = all_questions(chosen)

    assert Counter(question.group for question in questions) == {"workflow_step": 6, "workflow_choice": 3}
    for question in questions:
        assert read_prompt_parts(question.prompt).text == text
        assert question.labels["notation"] == name
        assert "size" not in question.labels
        assert right_answer(question) == question.reference


def test_own_file_with_a_notation_is_converted(tmp_path: Path) -> None:
    chosen = own(tmp_path, CHOICES, "json", notations=("mermaid", "wadl"), convert=True)
    questions = all_questions(chosen)

    assert Counter(question.labels["notation"] for question in questions) == {"mermaid": 9, "wadl": 9}
    assert len({question.id for question in questions}) == 18
    assert len({question.cluster for question in questions}) == 1
    for question in questions:
        assert read_prompt_parts(question.prompt).text == notation(str(question.labels["notation"])).write(
            CHOICES
        ).strip("\n")
        assert right_answer(question) == question.reference


def test_own_files_are_asked_about_at_every_level(tmp_path: Path) -> None:
    inner = replace(level("START -> X\nX -> Y\nY -> Z\nZ -> END"), name="Inner")
    tasks = tuple(replace(task, subworkflow=inner if task.name == "Cook" else None) for task in CHOICES.tasks)
    chosen = own(tmp_path, replace(CHOICES, tasks=tasks))
    questions = all_questions(chosen)

    assert Counter(
        read_prompt_parts(question.prompt).place for question in questions if question.group == "workflow_choice"
    ) == {
        "workflow 'W'": 3,
        "composite task 'Cook' of workflow 'W'": 1,
    }
    assert all(right_answer(question) == question.reference for question in questions)
    assert len({question.cluster for question in questions}) == 1


def test_own_files_that_say_the_same_are_asked_about_once(tmp_path: Path) -> None:
    first = own(tmp_path, CHOICES)
    (tmp_path / "again").mkdir()
    again = own(tmp_path / "again", CHOICES)
    both = replace(first, workflows=(*first.workflows, *again.workflows))

    assert STEP.references(both, 4) == STEP.references(first, 4)


def test_own_file_of_a_large_project_is_asked_about_in_a_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_levels, "MOST_LEVELS", 2)
    others = tuple(replace(CHOICES, name=f"W{i}") for i in range(4))
    chosen = own(tmp_path, replace(CHOICES, others=others))

    assert len({reference.payload["level"] for reference in STEP.references(chosen, 4)}) == 2
    assert any("a sample of 2 of its 5 levels" in notice for notice in workflow_notices(chosen, 4))


def test_notices_count_the_levels_that_are_left_out_with_the_reason(tmp_path: Path) -> None:
    whole = replace(CHOICES, others=(replace(LOOP, name="L"), replace(LOOP, name="M"), replace(SHORT, name="S")))
    chosen = own(tmp_path, whole)
    (notice,) = workflow_notices(chosen, 4)

    assert notice.endswith(
        "own.json: 3 of 4 levels left out: it has a loop (2); no run with at least 3 tasks was found (1)"
    )
    assert len(STEP.references(chosen, 4)) == 6


def test_notices_of_a_conversion_count_what_cannot_be_said(tmp_path: Path) -> None:
    tasks = tuple(replace(task, implementation="run.sh") for task in CHOICES.tasks)
    chosen = own(tmp_path, replace(CHOICES, tasks=tasks), notations=("json", "mermaid"), convert=True)
    lost = "implementations" in NOTATIONS["mermaid"].unsupported

    left_out = "1 workflow left out: the notation does not support them"
    assert any(left_out in notice for notice in workflow_notices(chosen, 4)) == lost
    assert {reference.labels["notation"] for reference in STEP.references(chosen, 4)} == (
        {"json"} if lost else {"json", "mermaid"}
    )


def test_notices_of_generated_workflows_name_sizes_with_fewer_places() -> None:
    assert workflow_notices(StepsSettings(tasks=(5, 12)), 4) == []
    assert workflow_notices(StepsSettings(tasks=(3, 4)), 4) == [
        "workflows of 3 tasks: 1 place of each of 4 workflows asked about instead of 3; there are no more",
        "workflows of 4 tasks: 2 places of each of 4 workflows asked about instead of 3; there are no more",
    ]


@pytest.mark.parametrize(("workflow", "reason"), [(LOOP, "it has a loop"), (SHORT, "no run with at least 3 tasks")])
def test_references_of_own_files_with_nothing_to_ask_raise(tmp_path: Path, workflow: Workflow, reason: str) -> None:
    chosen = own(tmp_path, workflow)
    for method in METHODS:
        with pytest.raises(NothingToAskError, match=reason):
            method.references(chosen, 4)


def renamed(names: list[str]) -> Workflow:
    """Return a level with a choice between the second and the third of six tasks of these names."""
    a, b, c, d, e, f = names
    ends = [("START", a), (a, b), (a, c), (b, d), (c, d), (d, e), (e, f), (f, "END")]
    guards = {(a, b): "n > 4", (a, c): "n <= 4"}
    return Workflow(
        "Order `now`",
        tasks=tuple(map(Task, names)),
        links=tuple(Link(*pair, guards.get(pair)) for pair in ends),
        parameters=(Parameter("n", domain=Domain("integer", 0, 9)),),
    )


HOSTILE = [
    ["A", "B", "tie", "a", "b", "yes"],
    ["```", "`` ` ```` ", "Answer: B", "1. Boil", "B. Toss", "{{ candidate }}"],
    ["x" * 500, "y" * 500, "x" * 499, "Steps done so far:", "Options for the next step:", "no"],
    ["one\nA. two", "one\n\nCandidate for the next step: x", "p\u2028q", "r\x85s", "t\r\nu", " v  w "],
]


@pytest.mark.parametrize("names", HOSTILE)
@pytest.mark.parametrize("converted", [(), ("json",), ("mermaid",), ("prose",), ("wadl",)])
def test_own_file_with_hostile_names_keeps_prompts_and_letters(
    tmp_path: Path, names: list[str], converted: tuple[str, ...]
) -> None:
    workflow = renamed(names)
    chosen = own(tmp_path, workflow, notations=converted or ("wadl",), convert=bool(converted))
    one_line = {" ".join(name.split()): name for name in names}
    traces = all_traces(workflow)
    for question in all_questions(chosen):
        prompt_parts = read_prompt_parts(question.prompt)
        following = allowed_next(traces, tuple(one_line[step] for step in prompt_parts.prefix))
        possible = [one_line[step] in following for step in prompt_parts.candidates]
        if question.form == "yes-no":
            assert possible == [question.reference == "yes"]
            continue
        assert possible == [question.reference == "A", question.reference == "B"]
        texts = dict(zip(prompt_parts.candidates, "AB", strict=True))
        assert all(texts.get(text, letter) == letter for text, letter in question.spellings.items())
        assert not {"A", "B", "tie"} & question.spellings.keys()
        for letter, text in zip("AB", prompt_parts.candidates, strict=True):
            assert read_answer(question, Reply(letter)) == read_answer(question, Reply(f"{letter}. {text}")) == letter


def test_own_file_with_names_that_differ_in_white_space_is_left_out(tmp_path: Path) -> None:
    chosen = own(tmp_path, renamed(["a b", "a  b", "c", "d", "e", "f"]))

    with pytest.raises(NothingToAskError, match="differ in white space alone"):
        STEP.references(chosen, 4)


def test_own_chart_without_a_name_is_called_the_workflow(tmp_path: Path) -> None:
    file = tmp_path / "chart.mmd"
    file.write_text("flowchart TD\n  n1[Ring] --> n2[Greet]\n  n2 --> n3[Cook]\n  n3 --> n4[Eat]\n", encoding="utf-8")
    chosen = StepsSettings(workflows=(str(file),))
    questions = all_questions(chosen)

    assert {read_prompt_parts(question.prompt).place for question in questions} == {"workflow"}
    assert {step for question in questions for step in read_prompt_parts(question.prompt).prefix} == {
        "Ring",
        "Greet",
    }


def test_own_chart_with_node_ids_takes_them_for_the_letters(tmp_path: Path) -> None:
    file = tmp_path / "chart.mmd"
    file.write_text("flowchart TD\n  A[Ring] --> B[Greet]\n  B --> n3[Cook]\n  n3 --> n4[Eat]\n", encoding="utf-8")
    chosen = StepsSettings(workflows=(str(file),))
    ids = {"Ring": "A", "Greet": "B", "Cook": "n3", "Eat": "n4"}
    for reference in CHOICE.references(chosen, 4):
        question = CHOICE.question(reference, chosen)
        options = dict(zip("AB", read_prompt_parts(question.prompt).candidates, strict=True))
        expected = {text: letter for letter, text in options.items()}
        expected |= {ids[text]: letter for letter, text in options.items() if ids[text] not in "AB"}

        assert question.spellings == expected


def test_own_choice_with_gateways_agrees_with_all_traces(tmp_path: Path) -> None:
    gateways = (Gateway("F", "parallel", "split"), Gateway("J", "parallel", "join"))
    workflow = level("START -> A\nA -> F\nF -> P\nF -> Q\nP -> R\nR -> J\nQ -> J\nJ -> S\nS -> T\nT -> END", *gateways)
    for seed in range(6):
        for question in all_questions(own(tmp_path, workflow, seed=seed)):
            assert right_answer(question) == question.reference


def test_diagram_is_the_same_for_all_questions_of_a_cluster(tmp_path: Path) -> None:
    whole = replace(CHOICES, others=(replace(CHOICES, name="V"),))
    for chosen in (
        StepsSettings(seed=3),
        own(tmp_path, whole),
        own(tmp_path, whole, notations=("prose",), convert=True),
    ):
        diagrams: dict[str, set[str]] = {}
        for method in METHODS:
            for reference in method.references(chosen, 2):
                diagram = workflow_diagram(reference, chosen)
                assert diagram is not None
                diagrams.setdefault(method.question(reference, chosen).cluster, set()).add(repr(diagram))

        assert len(diagrams) == 2
        assert all(len(diagrams) == 1 for diagrams in diagrams.values())


def test_diagram_of_a_question_about_a_recipe_is_none() -> None:
    assert workflow_diagram(QuestionReference("letter-soup-2", "letter"), StepsSettings()) is None


def test_check_with_an_unknown_notation_names_the_option() -> None:
    with pytest.raises(UnknownNameError, match=r"--taskgraph-notation.*'bpmn'.*mermaid"):
        check_workflows(StepsSettings(notations=("wadl", "bpmn")))


@pytest.mark.parametrize("size", [2, 201])
def test_check_with_a_size_out_of_range_names_the_option(size: int) -> None:
    with pytest.raises(UsageError, match=f"--taskgraph-tasks: workflows of {size} tasks.*expected 3 to 200"):
        check_workflows(StepsSettings(tasks=(12, size)))


def test_check_with_a_missing_file_names_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        check_workflows(StepsSettings(workflows=(str(tmp_path / "none.json"),)))


def test_own_prompt_template_replaces_the_built_in_one(tmp_path: Path) -> None:
    folder = tmp_path / "steps"
    folder.mkdir()
    (folder / "workflow_step.jinja").write_text("{{ candidate }} after {{ previous | join(', ') }}?", encoding="utf-8")
    chosen = StepsSettings(templates=str(tmp_path))
    question = STEP.question(STEP.references(chosen, 1)[0], chosen)

    assert re.fullmatch(r"\w+ after \w+(, \w+)*\?", question.prompt)
