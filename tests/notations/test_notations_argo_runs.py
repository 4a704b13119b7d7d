"""What both readings of a random dag say holds in every run of Argo, simulated without the reader."""

from __future__ import annotations

import re
from itertools import combinations, product

from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.notations import FILE_FORMATS
from pytest_taskgraph.workflow.graph import ends, starts, successors
from pytest_taskgraph.workflow.model import Workflow
from pytest_taskgraph.workflow.semantics.all_runs import always_before, executed_in_every_situation, some_run_in_order
from pytest_taskgraph.workflow.semantics.concurrency import can_run_in_parallel

ARGO = FILE_FORMATS["argo"]
NAMES = ("a", "b", "c", "d", "e")
CONDITIONS = ("x", "y")
RESULTS = ("", ".Succeeded", ".Skipped", ".Failed", ".Omitted")
DEFAULT = {"Succeeded", "Skipped", "Daemoned"}
Tasks = dict[str, tuple[str, str]]  # the expression of `depends` and the condition of each task
World = dict[str, bool]

# What the conditions may have to do with each other: nothing, at most one holds, or all or none hold.
EVERY = [dict(zip(CONDITIONS, values, strict=True)) for values in product((True, False), repeat=2)]
WORLDS = [EVERY, [world for world in EVERY if sum(world.values()) < 2], [EVERY[0], EVERY[-1]]]


@st.composite
def dags(draw: st.DrawFn) -> Tasks:
    tasks: Tasks = {}
    for name in NAMES:
        before = draw(st.lists(st.sampled_from([*tasks]), max_size=2, unique=True)) if tasks else []
        parts = [f"{other}{draw(st.sampled_from(RESULTS))}" for other in before]
        expression = f" {draw(st.sampled_from(['&&', '&&', '||']))} ".join(parts)
        tasks[name] = expression, draw(st.sampled_from(["", "", *CONDITIONS]))
    return tasks


def manifest(tasks: Tasks) -> str:
    lines = ["apiVersion: argoproj.io/v1alpha1", "kind: Workflow", "spec:", "  entrypoint: main", "  templates:"]
    lines += ["  - {name: run, container: {image: busybox}}", "  - name: main", "    dag:", "      tasks:"]
    for name, (expression, condition) in tasks.items():
        keys = [f"name: {name}", "template: run"]
        keys += [f'depends: "{expression}"'] if expression else []
        keys += [f'when: "{{{{workflow.parameters.{condition}}}}} == yes"'] if condition else []
        lines.append(f"      - {{{', '.join(keys)}}}")
    return "\n".join(lines)


def phases(tasks: Tasks, world: World) -> dict[str, str]:
    """Return the phase of each task at the end of a run in which none fails, as Argo's controller decides it."""
    found: dict[str, str] = {}
    for name, (expression, condition) in tasks.items():
        held = [_holds(part.strip(), found) for part in re.split(r"&&|\|\|", expression) if part]
        reached = any(held) if "||" in expression else all(held)
        found[name] = "Omitted" if not reached else "Succeeded" if world.get(condition, True) else "Skipped"
    return found


def _holds(part: str, found: dict[str, str]) -> bool:
    task, _, wanted = part.partition(".")
    return found[task] in ({wanted} if wanted else DEFAULT)


def waits(tasks: Tasks) -> dict[str, set[str]]:
    """Return all tasks for which each task waits, directly or through others."""
    found: dict[str, set[str]] = {}
    for name, (expression, _) in tasks.items():
        direct = set(re.findall(r"(?<!\.)\b[a-z]\b", expression))
        found[name] = direct.union(*(found[other] for other in direct))
    return found


def ran(tasks: Tasks, worlds: list[World]) -> list[set[str]]:
    return [{name for name, phase in phases(tasks, world).items() if phase == "Succeeded"} for world in worlds]


def agreed(readings: list[Workflow], question: object, *names: str) -> object:
    """Return the answer of both readings; None if they differ, or the level is left open."""
    if any(not reading.tasks for reading in readings):
        return None
    answers = [question(reading, *names) for reading in readings]  # type: ignore[operator]
    return answers[0] if all(answer == answers[0] for answer in answers) else None


def read(tasks: Tasks) -> list[Workflow]:
    interpretation = ARGO.interpret(manifest(tasks))
    return [workflows[0] for workflows in (interpretation.workflows, interpretation.doubtful) if workflows]


@given(dags())
def test_agreed_answers_about_runs_hold_whatever_conditions_mean(tasks: Tasks) -> None:
    readings, before = read(tasks), waits(tasks)
    for worlds in WORLDS:
        runs = ran(tasks, worlds)
        for name in tasks:
            always = agreed(readings, executed_in_every_situation, name)
            assert always in (None, all(name in run for run in runs))
        for a, b in combinations(tasks, 2):
            together = any({a, b} <= run for run in runs)
            assert agreed(readings, can_run_in_parallel, a, b) in (None, together and a not in before[b])
            if agreed(readings, always_before, a, b) is not None and together:
                assert agreed(readings, always_before, a, b) is (a in before[b])
            in_order = agreed(readings, some_run_in_order, (b, a))  # type: ignore[arg-type]
            assert in_order in (None, together and a not in before[b])


@given(dags())
def test_agreed_answers_about_links_are_those_of_the_text(tasks: Tasks) -> None:
    readings = read(tasks)
    direct = {name: set(re.findall(r"(?<!\.)\b[a-z]\b", expression)) for name, (expression, _) in tasks.items()}
    failing = {name for reading in readings[:1] for link in reading.exceptional_links for name in [link.target]}
    for name in tasks:
        after = agreed(readings, successors, name)
        assert after in (None, tuple(other for other in tasks if name in direct[other] and other not in failing))
    first = tuple(name for name in tasks if not direct[name])
    assert agreed(readings, starts) in (None, first)
    followed = {other for name in tasks if name not in failing for other in direct[name]}
    assert agreed(readings, ends) in (None, tuple(name for name in tasks if name not in followed))


@given(dags())
def test_dag_without_conditions_and_results_leaves_nothing_open(tasks: Tasks) -> None:
    plain = {name: (re.sub(r"\.\w+", "", expression), "") for name, (expression, _) in tasks.items()}
    readings, runs = read(plain), ran(plain, EVERY)
    assert len(readings) == 1
    assert all(run == set(plain) for run in runs)
    assert all(agreed(readings, executed_in_every_situation, name) for name in plain)
