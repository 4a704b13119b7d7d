"""Questions about the next steps of workflows, against all traces; drawn, worded, and read from files."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import bounded_process
import pytest
from brute_force_beginnings import Trace, all_traces, allowed_later, allowed_next
from brute_force_game import TooMuchError
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from workflow_builders import level

from pytest_taskgraph.benchmarks.steps.workflows.workflow_sources import (
    NAME_KINDS,
    PLAIN_DRAWS,
    StepSource,
    generate_source,
    generate_sources,
    read_sources,
    sources_of,
)
from pytest_taskgraph.benchmarks.steps.workflows.workflow_steps import (
    StepPair,
    WorkflowQuestions,
    step_pairs,
    step_texts,
    workflow_questions,
)
from pytest_taskgraph.errors import NoCaseError, UsageError
from pytest_taskgraph.generation.strategies import recipes, workflows
from pytest_taskgraph.generation.vocabularies import vocabulary
from pytest_taskgraph.notations import notation
from pytest_taskgraph.workflow.features import features
from pytest_taskgraph.workflow.model import Domain, Parameter, Task, Workflow

AMONG = ("guards", "exclusive", "inclusive", "mixed", "parallel", "domains", "hierarchy")
SMALL = recipes(max_tasks=8, among=AMONG, avoid=("loop", "effects"))
CHOICE = level(
    "START -> A\nA -> B [n > 4]\nA -> C [n <= 4]\nB -> D\nC -> D\nD -> E\nD -> F\nE -> G\nF -> G\nG -> END",
    parameters=(Parameter("n", domain=Domain("integer", 0, 9)),),
)
ROW = level("START -> A\nA -> B\nB -> C\nC -> D\nD -> END")
LOOP = level("START -> A\nA -> B\nB -> A [n < 3]\nB -> C [otherwise]\nC -> END", parameters=(Parameter("n"),))


def right_kind(traces: set[Trace], pair: StepPair) -> str:
    """Return why the wrong task cannot come next, by all traces; "next" if it can."""
    if pair.wrong in allowed_next(traces, pair.prefix):
        return "next"
    if pair.wrong in pair.prefix:
        return "done"
    return "later" if pair.wrong in allowed_later(traces, pair.prefix) else "excluded"


@settings(max_examples=60, deadline=None)
@given(workflows(SMALL), st.integers(0, 99))
def test_step_pairs_of_generated_workflows_agree_with_all_traces(workflow: Workflow, seed: int) -> None:
    try:
        traces, pairs = all_traces(workflow), list(step_pairs(workflow, seed, runs=3))
    except (TooMuchError, NoCaseError):
        assume(False)
        raise
    assert len({pair.prefix for pair in pairs}) == len(pairs)
    for pair in pairs:
        assert pair.right in allowed_next(traces, pair.prefix)
        assert right_kind(traces, pair) == pair.kind


@pytest.mark.parametrize("names", NAME_KINDS)
def test_step_pairs_of_generated_sources_agree_with_all_traces(names: str) -> None:
    kinds = Counter[str]()
    for source in generate_sources(5, 8, 9, names):  # type: ignore[arg-type]
        traces = all_traces(source.level)
        for pair in step_pairs(source.level, 5):
            assert pair.right in allowed_next(traces, pair.prefix)
            assert right_kind(traces, pair) == pair.kind
            kinds[pair.kind] += 1

    assert all(kinds[kind] for kind in ("later", "excluded", "done"))


def test_step_pairs_ask_every_place_from_the_second_to_the_last_but_one() -> None:
    pairs = list(step_pairs(CHOICE, 1))

    assert [pair.position for pair in pairs] == [2, 3, 4, 5]
    assert [len(pair.prefix) for pair in pairs] == [1, 2, 3, 4]
    assert all(later.prefix == (*pair.prefix, pair.right) for pair, later in pairwise(pairs))


def test_step_pairs_over_many_runs_take_both_branches_and_all_orders() -> None:
    pairs = list(step_pairs(CHOICE, 1, runs=30))

    assert {pair.prefix for pair in pairs if len(pair.prefix) == 2} == {("A", "B"), ("A", "C")}
    assert {pair.prefix[-2:] for pair in pairs if len(pair.prefix) == 4} == {("D", "E"), ("D", "F")}
    assert {pair.kind for pair in pairs} == {"later", "excluded", "done"}


def test_step_pairs_of_a_row_seldom_take_what_was_done() -> None:
    long = level("START -> T0\n" + "\n".join(f"T{i} -> T{i + 1}" for i in range(20)) + "\nT20 -> END")

    assert Counter(pair.kind for pair in step_pairs(long, 3)) == {"later": 15, "done": 4}


def test_step_pairs_with_a_number_of_places_ask_at_most_so_many() -> None:
    pairs = list(step_pairs(CHOICE, 2, places=2))

    assert len(pairs) == 2
    assert pairs[0].position < pairs[1].position


def test_step_pairs_of_a_level_with_short_runs_only_raise_no_case_error() -> None:
    with pytest.raises(NoCaseError, match="no run with at least 3 tasks"):
        list(step_pairs(level("START -> A\nA -> B\nB -> END"), 0))


def questions(workflow: Workflow, seed: int = 0, **options: object) -> list[WorkflowQuestions]:
    """Return the questions about all levels of a project."""
    return list(workflow_questions(sources_of(workflow, "own-0"), seed, **options))  # type: ignore[arg-type]


def test_workflow_questions_hold_a_yes_and_a_no_and_a_choice_for_each_pair() -> None:
    (parts,) = questions(CHOICE, runs=2)

    assert len(parts.classification) == 2 * len(parts.choices) == 2 * len(parts.pairs)
    assert Counter(sample.label for sample in parts.classification) == {True: len(parts.pairs), False: len(parts.pairs)}
    for at, (pair, choice) in enumerate(zip(parts.pairs, parts.choices, strict=True)):
        yes, no = parts.classification[2 * at : 2 * at + 2]
        assert (yes.prefix, yes.candidate, yes.label) == (pair.prefix, pair.right, True)
        assert (no.prefix, no.candidate, no.label) == (pair.prefix, pair.wrong, False)
        assert (choice.prefix, choice.right, choice.wrong) == (pair.prefix, pair.right, pair.wrong)
        assert yes.recipe == no.recipe == choice.recipe == f"own-0-0-{pair.run}"
        assert yes.position == no.position == choice.position == len(pair.prefix) + 1


def test_workflow_questions_of_all_runs_have_own_recipe_and_position() -> None:
    parts = [
        question for part in workflow_questions(generate_sources(2, 6, 10), 2, runs=4) for question in part.choices
    ]

    assert len({(question.recipe, question.position) for question in parts}) == len(parts) > 40
    assert all(re.fullmatch(r"[A-Za-z0-9-]+", question.recipe) for question in parts)


def test_workflow_questions_about_a_loop_are_left_out_with_the_reason() -> None:
    inside = replace(ROW, name="Inner")
    whole = replace(
        LOOP, tasks=tuple(replace(task, subworkflow=inside if task.name == "A" else None) for task in LOOP.tasks)
    )
    outer, inner = questions(whole)

    assert (outer.left_out, outer.choices) == ("it has a loop", ())
    assert (inner.left_out, len(inner.choices)) == ("", 2)
    assert inner.source.place == "composite task 'A' of workflow 'W'"


def described(*descriptions: str) -> Workflow:
    tasks = tuple(Task(name, text) for name, text in zip("ABCD", descriptions, strict=True))
    return replace(ROW, tasks=tasks)


def test_step_texts_with_descriptions_take_them_only_if_all_differ() -> None:
    full = described("Fill  the pot.", "Boil it.", "Add salt.", "Serve.")

    assert step_texts(full, "names") == {name: name for name in "ABCD"}
    assert step_texts(full, "descriptions")["A"] == "Fill the pot."
    for poor in (described("Fill the pot.", "", "Add salt.", "Serve."), described("Stir", "stir.", "Add.", "Serve.")):
        assert step_texts(poor, "descriptions") == {name: name for name in "ABCD"}


def test_workflow_questions_with_descriptions_ask_in_their_words() -> None:
    (parts,) = questions(described("Fill the pot.", "Boil it.", "Add salt.", "Serve."), wording="descriptions")

    assert parts.choices[1].prefix == ("Fill the pot.", "Boil it.")
    assert parts.choices[1].right == "Add salt."


def test_generate_sources_takes_the_kinds_of_names_in_turn() -> None:
    sources = list(generate_sources(1, 6, 12))

    assert [entry.names for entry in sources] == [*NAME_KINDS, *NAME_KINDS]
    for entry in sources:
        names = {entry.name for entry in vocabulary(entry.project.package).tasks}
        assert (entry.names == "neutral") == (not names)
        assert entry.names == "neutral" or names.issuperset(entry.level.task_names)


@pytest.mark.parametrize("tasks", [3, 4, 6, 12, 40, 120])
def test_generate_sources_of_any_size_gives_levels_that_are_exact(tasks: int) -> None:
    parts = list(workflow_questions(generate_sources(3, 4, tasks), 3, places=2))

    assert [entry.left_out for entry in parts] == [""] * 4
    assert all(not {"loop", "effects"} & features(entry.source.project) for entry in parts)
    assert sum(map(len, (entry.choices for entry in parts))) >= (8 if tasks > 6 else 4)


def test_generate_sources_of_two_tasks_raises_usage_error() -> None:
    with pytest.raises(UsageError, match="2"):
        list(generate_sources(0, 1, 2))


def test_generate_sources_of_another_seed_gives_other_workflows() -> None:
    first, other = (set(generate_sources(seed, 6)) for seed in (0, 1))

    assert not {source.project for source in first} & {source.project for source in other}


def test_generate_sources_of_more_begin_with_the_fewer_ones() -> None:
    assert list(generate_sources(4, 7))[:3] == list(generate_sources(4, 3))


SCRIPT = """
import hashlib
from pytest_taskgraph.benchmarks.steps.workflows.workflow_sources import generate_sources
from pytest_taskgraph.benchmarks.steps.workflows.workflow_steps import workflow_questions

print(hashlib.sha256(repr(list(workflow_questions(generate_sources(7, 6), 7, runs=2))).encode()).hexdigest())
"""


def test_same_seed_gives_the_same_questions_under_any_hash_seed() -> None:
    parts = list(workflow_questions(generate_sources(7, 6), 7, runs=2))
    here = hashlib.sha256(repr(parts).encode()).hexdigest()

    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        assert bounded_process.run([sys.executable, "-c", SCRIPT], env=environment).stdout.strip() == here


def test_another_seed_draws_other_questions_about_the_same_workflows() -> None:
    collected = [
        {
            (sample.prefix, sample.right, sample.wrong)
            for part in workflow_questions(generate_sources(1, 6), seed)
            for sample in part.choices
        }
        for seed in range(3)
    ]

    assert all(len(sample & other) < len(sample) / 2 for sample, other in combinations(collected, 2))


@pytest.mark.parametrize(("name", "suffix"), [("wadl", ".xxp"), ("mermaid", ".mmd"), ("json", ".json")])
def test_read_sources_of_a_file_asks_about_the_workflow_in_it(tmp_path: Path, name: str, suffix: str) -> None:
    file = tmp_path / f"own{suffix}"
    file.write_text(notation(name).write(replace(CHOICE, name="Order")), encoding="utf-8")
    (source,) = read_sources(str(file))
    pairs = list(step_pairs(source.level, 1, runs=4))

    assert re.fullmatch(r"own-[0-9a-f]{6}-[0-9a-f]{6}", source.id)
    assert isinstance(source, StepSource)
    assert {pair.prefix[0] for pair in pairs} == {"A"}
    assert all(pair.right in allowed_next(all_traces(CHOICE), pair.prefix) for pair in pairs)


def test_read_sources_of_a_file_elsewhere_have_the_same_ids(tmp_path: Path) -> None:
    inner = replace(ROW, name="Inner")
    tasks = tuple(replace(task, subworkflow=inner if task.name in "BC" else None) for task in ROW.tasks)
    whole = replace(ROW, tasks=tasks, others=(replace(ROW, name="V"),))
    collected = []
    for place in ("one", "other"):
        (tmp_path / place).mkdir()
        file = tmp_path / place / f"{place}.json"
        file.write_text(notation("json").write(whole), encoding="utf-8")
        collected += [read_sources(str(file)), read_sources(str(file), "wadl")]

    assert len({source.id for source in collected[0]}) == 4
    assert all([entry.id for entry in some] == [entry.id for entry in collected[0]] for some in collected)
    assert [source.root.name for source in collected[0]] == ["W", "W", "W", "V"]


def test_step_texts_of_names_in_several_lines_are_one_line() -> None:
    texts = step_texts(Workflow("W", tasks=tuple(map(Task, ("A\nb", "C\u2028 d")))), "names")

    assert texts == {"A\nb": "A b", "C\u2028 d": "C d"}


def test_step_texts_of_names_that_differ_in_white_space_raise() -> None:
    tasks = tuple(map(Task, ("A B", "A  B")))
    with pytest.raises(NoCaseError, match="differ in white space alone"):
        step_texts(Workflow("W", tasks=tasks), "names")


def test_generate_source_of_another_draw_is_another_workflow() -> None:
    sources = [generate_source(1, 2, 8, None, draw) for draw in range(PLAIN_DRAWS + 2)]

    assert len({source.project for source in sources}) == len({source.id for source in sources}) == len(sources)
    assert {features(source.project) - {"descriptions", "kinds"} for source in sources[PLAIN_DRAWS:]} == {frozenset()}


def test_workflow_questions_with_most_stop_at_so_many_places() -> None:
    parts = questions(CHOICE, runs=4, places=2, most=3)

    assert [len(entry.pairs) for entry in parts] == [3]
    assert len(parts[0].choices) == 3


def test_read_sources_of_a_missing_file_raises_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        read_sources(str(tmp_path / "none.wadl"))
