"""Runs against a simulation with tokens that goes through every interleaving."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from workflow_builders import level
from workflow_simulation import a_level, linear_extensions, simulated, some_situation

from pytest_taskgraph.generation.builder import generate
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.generation.strategies import recipes, workflows
from pytest_taskgraph.workflow.guards.cells import Constant
from pytest_taskgraph.workflow.model import Domain, Effect, Gateway, Parameter, QualifiedName, Task, Workflow
from pytest_taskgraph.workflow.semantics.execution import MAX_EXECUTIONS, Endless, Run, Undecided, outcome, run
from pytest_taskgraph.workflow.semantics.situations import situations
from pytest_taskgraph.workflow.semantics.variables import evaluate, fixed_step, parse_expression, slope

AMONG = ("guards", "exclusive", "inclusive", "loop", "effects", "domains", "mixed", "parallel")
FLOWS = recipes(max_tasks=10, among=AMONG, max_cross_links=2)
RANDOMS = st.randoms(use_true_random=False)
LOOP = "START -> A\nA -> B\nB -> A [n < 5]\nB -> C [n >= 5]\nC -> END"


def with_effects(text: str, **effects: str) -> Workflow:
    found = level(text, parameters=(Parameter("n"),))
    changed = {task: tuple(Effect(*part.split(" := ")) for part in said.split("; ")) for task, said in effects.items()}
    return Workflow(
        "W",
        tasks=tuple(Task(name, effects=changed.get(name, ())) for name in found.task_names),
        links=found.links,
        parameters=found.parameters,
    )


def check(found: Workflow, situation: dict[str, Constant]) -> None:
    told = outcome(found, situation)
    if isinstance(told, Run) and len(told.tasks) < 13:
        assert simulated(found, situation, 14) == linear_extensions(told)
    if isinstance(told, Endless):
        assert simulated(found, situation, 30) is None


@settings(max_examples=150, deadline=None)
@given(workflows(FLOWS), RANDOMS)
def test_the_run_of_a_generated_workflow_allows_just_what_tokens_do(workflow: Workflow, rng: Random) -> None:
    check(workflow, some_situation(workflow, rng))


@settings(max_examples=400, deadline=None)
@given(RANDOMS)
def test_the_run_of_any_level_allows_just_what_tokens_do(rng: Random) -> None:
    found = a_level(rng)
    check(found, {"n": Fraction(rng.randrange(20) - 7, 2), "m": Fraction(rng.randrange(5) - 1)})


def test_random_levels_end_never_end_and_are_undecided() -> None:
    told = [outcome(a_level(Random(seed)), {"n": 1, "m": 2}) for seed in range(400)]
    counts = [sum(isinstance(one, kind) for one in told) for kind in (Run, Endless, Undecided)]
    assert min(counts) > 8


def test_generated_workflows_are_decided_in_every_situation() -> None:
    for seed in range(40):
        found = generate(Recipe(tasks=20, features=frozenset({*AMONG} - {"guards"}), cross_links=1), seed)
        for situation in situations(found)[:20]:
            assert not isinstance(outcome(found, situation), Undecided)


def test_a_choice_takes_one_branch_a_fork_all_and_the_join_waits() -> None:
    found = level(
        "START -> A\nA -> B [n > 1]\nA -> C [otherwise]\nB -> D\nC -> D\nD -> E\nD -> F\nE -> G\nF -> G\nG -> END"
    )
    told = run(found, {"n": 2})
    assert told is not None
    assert linear_extensions(told) == {tuple("ABDEFG"), tuple("ABDFEG")}
    assert set(told.pairs) == {(0, 1), (1, 2), (2, 3), (2, 4), (3, 5), (4, 5)}
    other = run(found, {"n": 0.5})
    assert other is not None
    assert sorted(other.tasks) == list("ACDEFG")


def test_a_loop_repeats_while_its_guard_holds() -> None:
    told = run(with_effects(LOOP, A="n := n + 2"), {"n": 0})
    assert told is not None
    assert linear_extensions(told) == {tuple("ABABABC")}


@pytest.mark.parametrize(
    ("effect", "start"),
    [
        ("n := n", 0),  # nothing changes
        ("n := n - 1", 4),  # away from the exit
        ("n := 2 * n", 0),
        ("n := 3 - n", 1),  # 1, 2, 1, 2 ...
        ("n := 4", 1),
        ("n := n - 0.5", 5.25),
    ],
)
def test_a_loop_that_never_ends_is_recognised(effect: str, start: float) -> None:
    told = outcome(with_effects(LOOP, A=effect), {"n": start})
    assert told == Endless(frozenset("AB"), (frozenset("AB"),))


def test_a_loop_past_its_only_exit_never_ends_and_one_before_it_does() -> None:
    found = with_effects("START -> A\nA -> A [n != 6]\nA -> C [n = 6]\nC -> END", A="n := n + 4")
    assert isinstance(outcome(found, {"n": 7}), Endless)
    assert isinstance(outcome(found, {"n": 1}), Endless)  # 1, 5, 9: never 6
    told = run(found, {"n": -6})
    assert told is not None
    assert told.tasks == tuple("AAAC")


def test_a_loop_in_a_loop_is_followed_too() -> None:
    text = "START -> A\nA -> B\nB -> B [m < 2]\nB -> C [m >= 2]\nC -> A [n < 2]\nC -> D [n >= 2]\nD -> END"
    told = run(with_effects(text, A="m := 0", B="m := m + 1", C="n := n + 1"), {"n": 0, "m": 7})
    assert told is not None
    assert linear_extensions(told) == {tuple("ABBCABBCD")}
    stuck = outcome(with_effects(text, A="m := 0", B="m := m + 1", C="n := n - 1"), {"n": 0, "m": 7})
    assert stuck == Endless(frozenset("ABC"), (frozenset("ABC"),))
    inner = outcome(with_effects(text, B="m := m - 1", C="n := n + 1"), {"n": 0, "m": 1})
    assert isinstance(inner, Endless)
    assert inner.loops == (frozenset("B"), frozenset("ABC"))


def test_what_runs_beside_an_endless_loop_runs_and_what_waits_for_it_does_not() -> None:
    text = "START -> A\nSTART -> B\nA -> A [n < 5]\nA -> C [otherwise]\nB -> D\nC -> E\nD -> E\nE -> END"
    told = outcome(with_effects(text, A="n := n - 1"), {"n": 0})
    assert told == Endless(frozenset("ABD"), (frozenset("A"),))


RACE = "START -> A\nA -> B\nA -> C\nB -> D [n > 1]\nB -> E [otherwise]\nD -> F\nE -> F\nC -> F\nF -> END"
PARALLEL = "START -> A\nA -> B\nA -> C\nB -> D\nC -> D\nD -> E [n > 1]\nD -> F [otherwise]\nE -> END\nF -> END"


@pytest.mark.parametrize(
    ("workflow", "reason"),
    [
        (level("START -> A\nA -> B [n > 1]\nA -> C [n > 2]\nB -> END\nC -> END", parameters=(Parameter("m"),)), ""),
        (level("START -> A\nA -> B [n > 7]\nA -> C [n > 8]\nB -> END\nC -> END"), "no way is open"),
        (level("START -> A\nA -> B [n > 1]\nA -> C [n < 4.5]\nB -> END\nC -> END"), ""),
        (level("START -> A\nA -> B [n > 2]\nA -> C [n < 4]\nB -> END\nC -> END"), ""),
        (level("START -> A\nA -> B [all is well]\nA -> C [otherwise]\nB -> END\nC -> END"), "cannot be computed"),
        (level("START -> A\nA -> B [m > 1]\nA -> C [otherwise]\nB -> END\nC -> END"), "m has no value"),
        (level(LOOP), "no task states what it changes"),
        (with_effects(LOOP, A="n := as it likes"), "cannot be computed"),
        (with_effects(LOOP, A="n := n + 0.001"), "more than"),
        (with_effects(LOOP, A="n := n + m; m := 2"), "cannot be computed"),  # is m old or new?
        (level(RACE), ""),
        (with_effects(RACE, C="n := 0"), "beside it"),
        (with_effects(RACE, C="m := 0"), ""),
        (with_effects(PARALLEL, B="n := n + 1", C="n := n + 2"), "beside it"),
        (with_effects(PARALLEL, B="n := n + 1"), ""),
        (level("START -> A\nA -> B [n > 1]\nB -> END\nA -> C [n > 5]\nC -> B"), ""),
        (level("START -> A\nA -> B\nA -> C\nB -> C\nC -> B\nB -> END"), "more than one entry"),
        (level("START -> A\nA -> A\nA -> END"), "left and repeated at once"),
        (
            level("START -> G\nG -> A\nG -> B\nA -> END\nB -> END", Gateway("G", "exclusive", "split")),
            "it is undecided which way",
        ),
        (
            level("START -> A\nSTART -> B\nA -> J\nB -> J\nJ -> END", Gateway("J", "exclusive", "join")),
            "awaits one",
        ),
        (
            level(
                "START -> A [n > 1]\nSTART -> B [otherwise]\nA -> J\nB -> J\nJ -> END", Gateway("J", "parallel", "join")
            ),
            "awaits them",
        ),
        (
            level("START -> A\nSTART -> B\nA -> C [n > 9]\nA -> D [otherwise]\nB -> C\nC -> END\nD -> END"),
            "may or may not wait",
        ),
    ],
)
def test_what_can_be_read_two_ways_is_undecided(workflow: Workflow, reason: str) -> None:
    told = outcome(workflow, {"n": 3})
    assert isinstance(told, Undecided) == bool(reason)
    assert reason in (told.reason if isinstance(told, Undecided) else "")


def test_a_parameter_that_leaves_its_domain_is_undecided() -> None:
    found = with_effects(LOOP, A="n := n + 3")
    bounded = Workflow(
        "W", tasks=found.tasks, links=found.links, parameters=(Parameter("n", domain=Domain("integer", 0, 6)),)
    )
    assert isinstance(outcome(bounded, {"n": 1}), Undecided)
    assert isinstance(outcome(bounded, {"n": 3}), Run)


def test_an_effect_hidden_in_a_composite_task_is_not_overlooked() -> None:
    inner = Workflow("Inner", tasks=(Task("X", effects=(Effect("n", "n + 1"),)),))
    found = level(LOOP)
    for composite in (Task("A", subworkflow=inner), Task("A", reference=QualifiedName("Inner"))):
        tasks = (composite, *(task for task in found.tasks if task.name != "A"))
        whole = Workflow("W", tasks=tasks, links=found.links, others=(inner,))
        assert isinstance(outcome(whole, {"n": 1}), Undecided)


def test_a_task_of_its_own_parameter_reads_that() -> None:
    found = level("START -> A\nA -> B [n > 1]\nA -> C [otherwise]\nB -> END\nC -> END")
    own = Workflow("W", tasks=(Task("A", parameters=(Parameter("n"),)), *found.tasks[1:]), links=found.links)
    told = run(own, {"A.n": 2, "n": 0})
    assert told is not None
    assert told.tasks == ("A", "B")


def test_a_run_has_a_bound() -> None:
    found = with_effects(LOOP, A="n := n + 1")
    assert isinstance(outcome(found, {"n": 5 - MAX_EXECUTIONS // 4}), Run)
    assert isinstance(outcome(found, {"n": 5 - MAX_EXECUTIONS}), Undecided)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n + 1", 4),
        ("2 * (n - step)", 5),
        ("-n", -3),
        ("1 - 2 - n", -4),
        ("0.1 + 0.2", Fraction(3, 10)),
        ('"slow"', "slow"),
    ],
)
def test_expressions_are_exact(text: str, value: object) -> None:
    found = parse_expression(text)
    assert found is not None
    assert evaluate(found, {"n": Fraction(3), "step": Fraction(1, 2)}) == value


@pytest.mark.parametrize("text", ["", "n +", "n / 2", "n ** 2", "__import__('os')", "n + 'a", "(" * 300, "n n"])
def test_anything_else_is_no_expression(text: str) -> None:
    assert parse_expression(text) is None


@given(
    st.sampled_from(["n + 2", "m - n", "2 * n + m", "n * 3 - 1", "n * m"]),
    st.lists(st.integers(-9, 9), min_size=4, max_size=4),
)
def test_a_slope_is_what_an_expression_changes_by_each_time(text: str, numbers: list[int]) -> None:
    found, (n, m, by_n, by_m) = parse_expression(text), map(Fraction, numbers)
    assert found is not None
    told = slope(found, {"n": n, "m": m}, {"n": by_n, "m": by_m})
    values = [evaluate(found, {"n": n + i * by_n, "m": m + i * by_m}) for i in range(4)]
    moves = {b - a for a, b in pairwise(values) if isinstance(a, Fraction) and isinstance(b, Fraction)}
    assert moves == ({told} if told is not None else moves)
    assert told is not None or "*" in text
    assert fixed_step(found, "n") == {"n + 2": 2}.get(text)
