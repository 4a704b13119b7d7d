"""The laws of every notation on the shelf (DESIGN, section 3)."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import bounded_process
import pytest
from canonical_form import canonical
from drawn_workflows import generate
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_taskgraph.errors import ReadError, UnknownNameError, UnsupportedFeatureError
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.generation.strategies import recipes, workflows
from pytest_taskgraph.notations import NOTATIONS, Notation, notation
from pytest_taskgraph.workflow import graph
from pytest_taskgraph.workflow.features import FEATURES, features
from pytest_taskgraph.workflow.model import (
    END,
    SECONDS,
    START,
    Data,
    DataLink,
    Domain,
    Duration,
    Effect,
    Flaw,
    Flow,
    Gateway,
    GatewayKind,
    Link,
    Parameter,
    QualifiedName,
    Task,
    Value,
    Workflow,
)
from pytest_taskgraph.workflow.references import assemble, levels, nested_task_paths

few = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
every = pytest.mark.parametrize("name", sorted(NOTATIONS))

FLOWS: tuple[Flow, ...] = ("control", "data")

RICH = Recipe(tasks=30, features=FEATURES - {"derivation", "references"})
SEPARATE = Recipe(tasks=40, features=FEATURES)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
words = st.sampled_from(
    ["start", "End", "end", "class", "it's", 'a "b"', "a, b and c", "#35;", "x<br/>y", "otherwise", "\\u{41}"]
)
names = st.one_of(texts, words).filter(lambda name: name.strip() and name.strip() not in (START, END))
flat = st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts)
values: st.SearchStrategy[Value] = st.recursive(
    flat, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=5
)
bounds = st.tuples(st.integers(-9, 0) | st.none(), st.integers(1, 9) | st.none())


@st.composite
def domains(draw: st.DrawFn) -> Domain:
    if draw(st.booleans()):
        return Domain("words", words=tuple(draw(st.lists(names, min_size=1, max_size=3, unique=True))))
    low, high = draw(bounds)
    return Domain(draw(st.sampled_from(["integer", "real"])), low, high)


@st.composite
def parameters(draw: st.DrawFn) -> tuple[Parameter, ...]:
    held = draw(st.lists(names, max_size=2, unique=True))
    return tuple(Parameter(name, draw(st.none() | values), draw(st.none() | domains())) for name in held)


@st.composite
def odd_workflows(draw: st.DrawFn, depth: int = 2, name: str | None = None) -> Workflow:
    """Workflows of any text, links anywhere, nothing sensible: what no recipe builds."""
    held = draw(st.lists(names, min_size=1, max_size=7, unique_by=lambda name: name.strip()))
    cut, cut2 = draw(st.integers(1, len(held))), draw(st.integers(1, len(held)))
    tasks = tuple(draw(odd_tasks(name, depth)) for name in held[:cut])
    data = tuple(Data(name, draw(texts), draw(texts)) for name in held[cut:cut2])
    kinds: st.SearchStrategy[GatewayKind] = st.sampled_from(["parallel", "exclusive", "inclusive"])
    gates = tuple(
        Gateway(name, draw(kinds), draw(st.sampled_from(["split", "join"]))) for name in held[max(cut, cut2) :]
    )
    nodes = [name for name in held if name not in {datum.name for datum in data}]
    guards = st.none() | st.sampled_from(["n < 3", "otherwise", 'm = "a | b"']) | names
    pairs = st.tuples(st.sampled_from([START, *nodes]), st.sampled_from([*nodes, END]), guards)
    flows = [(datum.name, task.name) for datum in data for task in tasks]
    flows += [(task, datum) for datum, task in flows]
    return Workflow(
        name=name or draw(names),
        package=draw(st.sampled_from(["", "kitchen", "main"])),
        description=draw(texts),
        tasks=tasks,
        data=data,
        gateways=gates,
        links=tuple(Link(*ends) for ends in draw(st.lists(pairs, max_size=8))),
        data_links=tuple(DataLink(*ends) for ends in draw(st.lists(st.sampled_from(flows), max_size=4, unique=True)))
        if flows
        else (),
        parameters=draw(parameters()),
        flaw=draw(st.none() | st.just(Flaw("drop-link", ("A", "B")))),
    )


@st.composite
def odd_tasks(draw: st.DrawFn, name: str, depth: int) -> Task:
    below = draw(st.none() | odd_workflows(depth - 1)) if depth else None
    renamed = [datum.name for datum in below.data] if below else []
    return Task(
        name,
        description=draw(texts),
        kind=draw(texts),
        implementation=draw(texts),
        parameters=draw(parameters()),
        effects=tuple(Effect(name, draw(names)) for name in draw(st.lists(names, max_size=1))),
        subworkflow=below,
        bindings=tuple((name, draw(names)) for name in renamed),
        duration=draw(st.none() | st.builds(Duration, st.integers(1, 10**12 - 1), st.sampled_from(sorted(SECONDS)))),
    )


whole = st.one_of(odd_workflows(), workflows(recipes()))


def notations_for(workflow: Workflow) -> list[Notation]:
    """Return the notations that can say the workflow."""
    return [chosen for chosen in map(notation, sorted(NOTATIONS)) if not features(workflow) & chosen.unsupported]


def contradicts_roles(workflow: Workflow) -> bool:
    """Return True if a gateway is called a split and only joins, or the other way round, at any level."""
    between = [link for link in workflow.links if link.source != link.target]
    into, out = Counter(link.target for link in between), Counter(link.source for link in between)
    ends = {gate.name: (into[gate.name], out[gate.name]) for gate in workflow.gateways}
    here = any(
        (many > 1 >= few) for gate in workflow.gateways
        for many, few in [ends[gate.name] if gate.role == "split" else ends[gate.name][::-1]]
    )  # fmt: skip
    below = [task.subworkflow for task in workflow.tasks if task.subworkflow is not None]
    return here or any(map(contradicts_roles, below))


@few
@given(workflow=whole)
def test_read_written_text_returns_workflow(workflow: Workflow) -> None:
    expected = canonical(workflow)
    for chosen in notations_for(workflow):
        if chosen.name == "mermaid" and contradicts_roles(workflow):
            continue  # there such a label is taken for a mistake of people
        assert canonical(chosen.read(chosen.write(workflow))) == expected, chosen.name


@every
@pytest.mark.parametrize("seed", range(3))
def test_read_rich_workflow_returns_it(name: str, seed: int) -> None:
    chosen, workflow = notation(name), generate(SEPARATE if name in ("json", "wadl-separate") else RICH, seed)
    assert canonical(chosen.read(chosen.write(workflow))) == canonical(workflow)


@every
def test_read_deep_hierarchy_returns_it(name: str) -> None:
    workflow = Workflow("T", tasks=(Task("T"),))
    for _ in range(50):
        workflow = Workflow("T", tasks=(Task("T", subworkflow=workflow),), links=(Link(START, "T"), Link("T", END)))
    assert canonical(notation(name).read(notation(name).write(workflow))) == canonical(workflow)


@every
def test_write_flaw_is_omitted(name: str) -> None:
    plain = Workflow("W", tasks=(Task("A", subworkflow=Workflow("A", tasks=(Task("B"),))),))
    inner = replace(plain.tasks[0].subworkflow or plain, flaw=Flaw("drop-link", ("B",)))
    planted = replace(plain, tasks=(Task("A", subworkflow=inner),), flaw=Flaw("back-link", ("A", "A")))
    chosen = notation(name)
    assert chosen.write(planted) == chosen.write(plain)


SAMPLES: dict[str, Workflow] = {
    "references": Workflow(
        "W", tasks=(Task("A", reference=QualifiedName("V")),), others=(Workflow("V", tasks=(Task("B"),)),)
    ),
    "derivation": Workflow("W", base=QualifiedName("V"), others=(Workflow("V", tasks=(Task("B"),)),)),
}


@every
def test_write_unsupported_feature_is_refused_by_name(name: str) -> None:
    chosen = notation(name)
    assert chosen.unsupported <= set(SAMPLES)
    for feature, workflow in SAMPLES.items():
        if feature in chosen.unsupported:
            with pytest.raises(UnsupportedFeatureError, match=feature):
                chosen.write(workflow)
        else:
            assert canonical(chosen.read(chosen.write(workflow))) == canonical(workflow)


@every
def test_notation_states_known_features_only(name: str) -> None:
    chosen = notation(name)
    assert chosen.says <= FEATURES
    assert chosen.name == name
    assert chosen.suffixes
    assert all(suffix.startswith(".") for suffix in chosen.suffixes)
    assert 2 <= chosen.guide.count(". ") + 1 <= 9


PRINT = """
import hashlib
from random import Random
from pytest_taskgraph.generation.builder import build
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.workflow.features import FEATURES
workflow = build(Recipe(tasks=30, features=FEATURES - {"derivation", "references"}), Random(5))
print(*(f"{n} {hashlib.sha256(one.write(workflow).encode()).hexdigest()}" for n, one in sorted(NOTATIONS.items())))
"""


def test_write_any_hash_seed_gives_same_text() -> None:
    def run(seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        return bounded_process.run([sys.executable, "-c", PRINT], env=environment).stdout

    first = run("1")
    assert first == run("2")
    assert len(first.split()) == 2 * len(NOTATIONS)


SIGNS = st.sampled_from([*"{}[]()\"'`\\;:,.-=>|<&%#/~? \n\t\r\x00aZ09é\u2028", "subgraph", " end", "-->", "-.->", "//"])
EDITS = st.lists(
    st.tuples(st.sampled_from(["cut", "put", "swap", "drop line", "twice", "end"]), st.integers(0, 10_000), SIGNS),
    min_size=1,
    max_size=4,
)


def edited(text: str, edits: list[tuple[str, int, str]]) -> str:
    for kind, number, sign in edits:
        at = number % (len(text) + 1)
        lines = text.split("\n")
        line = number % len(lines)
        text = {
            "cut": text[:at] + text[at + 1 + number % 7 :],
            "put": text[:at] + sign + text[at:],
            "swap": text[:at] + sign + text[at + 1 :],
            "drop line": "\n".join(lines[:line] + lines[line + 1 :]),
            "twice": "\n".join(lines[: line + 1] + lines[line:]),
            "end": text[:at],
        }[kind]
    return text


RICH_ONE = generate(RICH, 1)
SMALL_ONE = generate(Recipe(tasks=5, features=frozenset({"exclusive", "data", "hierarchy"})), 1)


def refusal(chosen: Notation, text: str) -> ReadError | None:
    """Why the text cannot be read, None if it can; any other error comes through."""
    try:
        chosen.read(text, "some/file")
    except ReadError as error:
        return error
    return None


def well_placed(error: ReadError | None, text: str) -> bool:
    lines = text.split("\n")
    return error is None or (error.line <= len(lines) and 1 <= error.column <= len(lines[error.line - 1]) + 1)


@every
@few
@given(workflow=st.sampled_from([SMALL_ONE, RICH_ONE]), edits=EDITS)
def test_parse_damaged_text_raises_read_errors_only(
    name: str, workflow: Workflow, edits: list[tuple[str, int, str]]
) -> None:
    text = edited(notation(name).write(workflow), edits)
    assert well_placed(refusal(notation(name), text), text)


@every
@few
@given(text=st.text(max_size=80))
def test_parse_any_text_raises_read_errors_only(name: str, text: str) -> None:
    assert well_placed(refusal(notation(name), text), text)


@every
@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "{" * 100_000,
        '{"a":' * 100_000,
        "-" * 100_000,
        "flowchart TD\n" + "A -- " * 20_000,
        "flowchart TD\nA" + "-" * 100_000,
        "flowchart TD\n" + "subgraph\n" * 50_000,
        "flowchart TD\n" + " & ".join(["A"] * 2_000) + " --> " + " & ".join(["B"] * 2_000),
        "flowchart TD\n" + 'A["' * 50_000,
        "Workflow 'W':\nThe workflow has the tasks " + "'a', " * 50_000,
        "Workflow '" + "\\'" * 50_000,
        "Inside the composite task 'a'" + " of the task 'a'" * 50_000 + ":",
        "package a;\nworkflow W {" + "task A {" * 20_000,
        "package a;\nworkflow W { param p = " + "[" * 20_000,
        '"' * 99_999,
        "/" * 100_000,
    ],
    ids=lambda text: repr(text[:20]),
)
def test_parse_hostile_text_is_refused_quickly(name: str, text: str) -> None:
    with pytest.raises(ReadError):
        notation(name).read(text)


@few
@given(workflow=workflows(recipes()))
def test_answers_about_text_equal_those_about_workflow(workflow: Workflow) -> None:
    expected = answers_about(assemble(workflow))
    for chosen in notations_for(workflow):
        assert answers_about(assemble(chosen.read(chosen.write(workflow)))) == expected, chosen.name


def answers_about(workflow: Workflow) -> list[object]:
    """Return the tasks, their neighbours and ancestors in both flows, and the shape of the whole."""
    neighbours = {
        (task, flow): [set(ask(workflow, task, flow)) for ask in (graph.successors, graph.ancestors)]
        for task in workflow.task_names
        for flow in FLOWS
    }
    every_ask: list[Callable[[Workflow], object]] = [
        lambda flow: set(graph.starts(flow)),
        lambda flow: set(graph.ends(flow)),
        lambda flow: len(graph.shortest_cycle(flow)),
        graph.is_connected,
        lambda flow: set(nested_task_paths(flow)),
    ]
    return [neighbours, *(ask(workflow) for ask in every_ask)]


def shuffled(workflow: Workflow, rng: Random) -> Workflow:
    tasks = [replace(task, subworkflow=task.subworkflow and shuffled(task.subworkflow, rng)) for task in workflow.tasks]
    parts: dict[str, Any] = {
        name: tuple(rng.sample(some, len(some)))
        for name in ("data", "gateways", "links", "data_links", "parameters")
        if (some := getattr(workflow, name))
    }
    return replace(workflow, tasks=tuple(rng.sample(tasks, len(tasks))), **parts)


@settings(few, max_examples=10)
@given(workflow=workflows(recipes(max_tasks=12)), rng=st.randoms(use_true_random=False))
def test_read_other_declaration_order_is_same_workflow(workflow: Workflow, rng: Random) -> None:
    other, expected = shuffled(workflow, rng), canonical(workflow)
    for chosen in notations_for(other):
        assert canonical(chosen.read(chosen.write(other))) == expected, chosen.name


@every
def test_parse_several_files_in_one_text_is_one_project(name: str) -> None:
    chosen = notation(name)
    first, second = Workflow("First", "p", tasks=(Task("A"),)), Workflow("Second", "p", tasks=(Task("B"),))
    texts = {f"p/{flow.name}{chosen.suffixes[0]}": chosen.write(flow) for flow in (first, second)}
    joined = "\n".join(f"{chosen.heading(path)}\n{text}" for path, text in texts.items())
    for read in (chosen.read(joined), chosen.read_files(texts)):
        assert [flow.name for flow in (read, *read.others)] == ["First", "Second"]
        assert [flow.task_names for flow in (read, *read.others)] == [("A",), ("B",)]


def test_notation_unknown_name_lists_known_names() -> None:
    with pytest.raises(UnknownNameError, match="known: bpmn, json, mermaid"):
        notation("morse")


def test_rich_workflow_holds_features_of_most_notations() -> None:
    assert features(RICH_ONE) == RICH.features
    assert len(levels(RICH_ONE)) > 1
