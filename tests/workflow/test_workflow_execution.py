"""Runs against a simulation with tokens that goes through every interleaving."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest
from drawn_workflows import generate
from hypothesis import given
from hypothesis import strategies as st
from situation_families import situations
from workflow_builders import level
from workflow_simulation import a_level, linear_extensions, simulated, some_situation

from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.generation.strategies import recipes, workflows
from pytest_taskgraph.workflow.guards.cells import Constant
from pytest_taskgraph.workflow.model import Domain, Effect, Gateway, Parameter, QualifiedName, Task, Workflow
from pytest_taskgraph.workflow.semantics.execution import MAX_EXECUTIONS, Endless, Run, Undecided, outcome, run
from pytest_taskgraph.workflow.semantics.variables import evaluate, fixed_step, parse_expression, slope

AMONG = ("guards", "exclusive", "inclusive", "loop", "effects", "domains", "mixed", "parallel")
FLOWS = recipes(max_tasks=10, among=AMONG, max_cross_links=2)
RANDOMS = st.randoms(use_true_random=False)
LOOP = "START -> A\nA -> B\nB -> A [n < 5]\nB -> C [n >= 5]\nC -> END"


def with_effects(text: str, **effects: str) -> Workflow:
    workflow = level(text, parameters=(Parameter("n"),))
    changed = {
        task: tuple(Effect(*part.split(" := ")) for part in texts.split("; ")) for task, texts in effects.items()
    }
    return Workflow(
        "W",
        tasks=tuple(Task(name, effects=changed.get(name, ())) for name in workflow.task_names),
        links=workflow.links,
        parameters=workflow.parameters,
    )


def check(workflow: Workflow, situation: dict[str, Constant]) -> None:
    result = outcome(workflow, situation)
    if isinstance(result, Run) and len(result.tasks) < 13:
        assert simulated(workflow, situation, 14) == linear_extensions(result)
    if isinstance(result, Endless):
        assert simulated(workflow, situation, 30) is None


@given(workflows(FLOWS), RANDOMS)
def test_run_generated_workflow_agrees_with_tokens(workflow: Workflow, rng: Random) -> None:
    check(workflow, some_situation(workflow, rng))


@given(RANDOMS)
def test_run_any_level_agrees_with_tokens(rng: Random) -> None:
    workflow = a_level(rng)
    check(workflow, {"n": Fraction(rng.randrange(20) - 7, 2), "m": Fraction(rng.randrange(5) - 1)})


def test_outcome_random_levels_has_all_kinds() -> None:
    results = [outcome(a_level(Random(seed)), {"n": 1, "m": 2}) for seed in range(400)]
    counts = [sum(isinstance(result, kind) for result in results) for kind in (Run, Endless, Undecided)]
    assert min(counts) > 8


def test_outcome_generated_workflow_is_decided() -> None:
    for seed in range(40):
        workflow = generate(Recipe(tasks=20, features=frozenset({*AMONG} - {"guards"}), cross_links=1), seed)
        for situation in situations(workflow)[:20]:
            assert not isinstance(outcome(workflow, situation), Undecided)


def test_run_choice_takes_one_branch_fork_takes_all() -> None:
    workflow = level(
        "START -> A\nA -> B [n > 1]\nA -> C [otherwise]\nB -> D\nC -> D\nD -> E\nD -> F\nE -> G\nF -> G\nG -> END"
    )
    result = run(workflow, {"n": 2})
    assert result is not None
    assert linear_extensions(result) == {tuple("ABDEFG"), tuple("ABDFEG")}
    assert set(result.pairs) == {(0, 1), (1, 2), (2, 3), (2, 4), (3, 5), (4, 5)}
    other = run(workflow, {"n": 0.5})
    assert other is not None
    assert sorted(other.tasks) == list("ACDEFG")


def test_run_loop_repeats_while_guard_holds() -> None:
    result = run(with_effects(LOOP, A="n := n + 2"), {"n": 0})
    assert result is not None
    assert linear_extensions(result) == {tuple("ABABABC")}


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
def test_outcome_endless_loop_is_recognised(effect: str, start: float) -> None:
    result = outcome(with_effects(LOOP, A=effect), {"n": start})
    assert result == Endless(frozenset("AB"), (frozenset("AB"),))


def test_outcome_loop_past_its_exit_never_ends() -> None:
    workflow = with_effects("START -> A\nA -> A [n != 6]\nA -> C [n = 6]\nC -> END", A="n := n + 4")
    assert isinstance(outcome(workflow, {"n": 7}), Endless)
    assert isinstance(outcome(workflow, {"n": 1}), Endless)  # 1, 5, 9: never 6
    result = run(workflow, {"n": -6})
    assert result is not None
    assert result.tasks == tuple("AAAC")


def test_run_nested_loop_is_executed() -> None:
    text = "START -> A\nA -> B\nB -> B [m < 2]\nB -> C [m >= 2]\nC -> A [n < 2]\nC -> D [n >= 2]\nD -> END"
    result = run(with_effects(text, A="m := 0", B="m := m + 1", C="n := n + 1"), {"n": 0, "m": 7})
    assert result is not None
    assert linear_extensions(result) == {tuple("ABBCABBCD")}
    stuck = outcome(with_effects(text, A="m := 0", B="m := m + 1", C="n := n - 1"), {"n": 0, "m": 7})
    assert stuck == Endless(frozenset("ABC"), (frozenset("ABC"),))
    inner = outcome(with_effects(text, B="m := m - 1", C="n := n + 1"), {"n": 0, "m": 1})
    assert isinstance(inner, Endless)
    assert inner.loops == (frozenset("B"), frozenset("ABC"))


def test_outcome_endless_loop_stops_only_what_waits() -> None:
    text = "START -> A\nSTART -> B\nA -> A [n < 5]\nA -> C [otherwise]\nB -> D\nC -> E\nD -> E\nE -> END"
    result = outcome(with_effects(text, A="n := n - 1"), {"n": 0})
    assert result == Endless(frozenset("ABD"), (frozenset("A"),))


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
def test_outcome_ambiguous_workflow_is_undecided(workflow: Workflow, reason: str) -> None:
    result = outcome(workflow, {"n": 3})
    assert isinstance(result, Undecided) == bool(reason)
    assert reason in (result.reason if isinstance(result, Undecided) else "")


def test_outcome_parameter_out_of_domain_is_undecided() -> None:
    workflow = with_effects(LOOP, A="n := n + 3")
    bounded = Workflow(
        "W", tasks=workflow.tasks, links=workflow.links, parameters=(Parameter("n", domain=Domain("integer", 0, 6)),)
    )
    assert isinstance(outcome(bounded, {"n": 1}), Undecided)
    assert isinstance(outcome(bounded, {"n": 3}), Run)


def test_outcome_effect_in_composite_is_undecided() -> None:
    inner = Workflow("Inner", tasks=(Task("X", effects=(Effect("n", "n + 1"),)),))
    workflow = level(LOOP)
    for composite in (Task("A", subworkflow=inner), Task("A", reference=QualifiedName("Inner"))):
        tasks = (composite, *(task for task in workflow.tasks if task.name != "A"))
        whole = Workflow("W", tasks=tasks, links=workflow.links, others=(inner,))
        assert isinstance(outcome(whole, {"n": 1}), Undecided)


def test_run_own_parameter_hides_levels() -> None:
    workflow = level("START -> A\nA -> B [n > 1]\nA -> C [otherwise]\nB -> END\nC -> END")
    own = Workflow("W", tasks=(Task("A", parameters=(Parameter("n"),)), *workflow.tasks[1:]), links=workflow.links)
    result = run(own, {"A.n": 2, "n": 0})
    assert result is not None
    assert result.tasks == ("A", "B")


def test_outcome_beyond_bound_is_undecided() -> None:
    workflow = with_effects(LOOP, A="n := n + 1")
    assert isinstance(outcome(workflow, {"n": 5 - MAX_EXECUTIONS // 4}), Run)
    assert isinstance(outcome(workflow, {"n": 5 - MAX_EXECUTIONS}), Undecided)


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
def test_evaluate_expression_is_exact(text: str, value: object) -> None:
    expression = parse_expression(text)
    assert expression is not None
    assert evaluate(expression, {"n": Fraction(3), "step": Fraction(1, 2)}) == value


@pytest.mark.parametrize("text", ["", "n +", "n / 2", "n ** 2", "__import__('os')", "n + 'a", "(" * 300, "n n"])
def test_parse_expression_other_text_is_none(text: str) -> None:
    assert parse_expression(text) is None


@given(
    st.sampled_from(["n + 2", "m - n", "2 * n + m", "n * 3 - 1", "n * m"]),
    st.lists(st.integers(-9, 9), min_size=4, max_size=4),
)
def test_slope_is_change_of_each_pass(text: str, numbers: list[int]) -> None:
    expression, (n, m, by_n, by_m) = parse_expression(text), map(Fraction, numbers)
    assert expression is not None
    change = slope(expression, {"n": n, "m": m}, {"n": by_n, "m": by_m})
    values = [evaluate(expression, {"n": n + i * by_n, "m": m + i * by_m}) for i in range(4)]
    moves = {b - a for a, b in pairwise(values) if isinstance(a, Fraction) and isinstance(b, Fraction)}
    assert moves == ({change} if change is not None else moves)
    assert change is not None or "*" in text
    assert fixed_step(expression, "n") == {"n + 2": 2}.get(text)
