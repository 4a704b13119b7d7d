"""Which words hold of a workflow: one example for every word, and what must not be mistaken for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_taskgraph.workflow.features import FEATURES, features
from pytest_taskgraph.workflow.model import (
    END,
    START,
    Configuration,
    Data,
    DataLink,
    Domain,
    Duration,
    Effect,
    Gateway,
    Link,
    Parameter,
    QualifiedName,
    Task,
    Workflow,
)

PLAIN = Workflow("W", tasks=(Task("A"), Task("B")), links=(Link(START, "A"), Link("A", "B"), Link("B", END)))
N = Parameter("n", 1)
FROM_1_TO_9 = Parameter("n", domain=Domain("integer", 1, 9))


def links(*pairs: tuple[str, str] | tuple[str, str, str]) -> Workflow:
    return replace(PLAIN, links=tuple(Link(*pair) for pair in pairs))


def task(**fields: object) -> Workflow:
    return replace(PLAIN, tasks=(replace(Task("A"), **fields), Task("B")))  # type: ignore[arg-type]


def configured(**fields: object) -> Workflow:
    inside = replace(Configuration("A"), **fields)  # type: ignore[arg-type]
    return replace(PLAIN, configurations=(Configuration("B", configurations=(inside,)),))


def gateway(kind: str) -> Workflow:
    return replace(PLAIN, gateways=(Gateway("g", kind, "split"),))  # type: ignore[arg-type]


NAME = QualifiedName("X")
EXAMPLES: dict[str, list[tuple[Workflow, set[str]]]] = {
    "exceptional": [
        (replace(PLAIN, exceptional_links=(Link("A", END),)), set()),
        (replace(PLAIN, exceptional_links=(Link("B", "A"),)), set()),
    ],
    "durations": [
        (task(duration=Duration(3, "hours")), set()),
        (configured(duration=Duration(1, "days")), {"derivation"}),
    ],
    "parallel": [
        (gateway("parallel"), set()),
        (links(("A", "B"), ("A", END)), set()),
        (links((START, "A"), (START, "B")), set()),
        (replace(links(("g", "A"), ("g", "B")), gateways=(Gateway("g", "parallel", "join"),)), set()),
    ],
    "exclusive": [
        (gateway("exclusive"), set()),
        (links(("A", "B", "n > 1"), ("A", END, "otherwise")), {"guards"}),
        (links(("A", "B", "n > 1"), ("A", END, "n < 1")), {"guards"}),
    ],
    "inclusive": [
        (gateway("inclusive"), set()),
        (links(("A", "B", "n > 1"), ("A", END, "n < 10")), {"guards"}),
        (links(("A", "B", "n > 1"), ("A", END)), {"guards", "mixed"}),
    ],
    "loop": [(links(("A", "B"), ("B", "A")), set()), (links(("A", "A")), set())],
    "guards": [(links(("A", "B", "enough")), set()), (links(("A", "B", "enough"), ("A", END, "too much")), set())],
    "mixed": [
        (links(("A", "B", "n > 1"), ("A", END)), {"guards", "inclusive"}),
        (links((START, "A", "n > 1"), (START, "B")), {"guards", "inclusive"}),
        (links(("A", "B", "n > 1"), ("A", "A0", "n < 1"), ("A", END)), {"guards", "inclusive"}),
    ],
    "domains": [
        (replace(PLAIN, parameters=(FROM_1_TO_9,)), set()),
        (task(parameters=(FROM_1_TO_9,)), {"parameters"}),
        (configured(parameters=(FROM_1_TO_9,)), {"parameters", "derivation"}),
    ],
    "effects": [(task(effects=(Effect("n", "n + 1"),)), set())],
    "parameters": [(task(parameters=(N,)), set()), (configured(parameters=(N,)), {"derivation"})],
    "implementations": [(task(implementation="a.py"), set()), (configured(implementation="a.py"), {"derivation"})],
    "descriptions": [
        (task(description="Does."), set()),
        (replace(PLAIN, description="Is."), set()),
        (replace(PLAIN, data=(Data("x", "An x."),)), {"data"}),
        (configured(description="Does."), {"derivation"}),
    ],
    "kinds": [(task(kind="k"), set())],
    "data": [(replace(PLAIN, data=(Data("x"),)), set()), (replace(PLAIN, data_links=(DataLink("x", "A"),)), set())],
    "schemas": [(replace(PLAIN, data=(Data("x", schema="s"),)), {"data"}), (configured(schema="s"), {"derivation"})],
    "hierarchy": [(task(subworkflow=Workflow("I")), set()), (task(reference=NAME), {"references"})],
    "references": [
        (task(reference=NAME), {"hierarchy"}),
        (configured(reference=NAME), {"hierarchy", "derivation"}),
    ],
    "bindings": [(task(bindings=(("x", "y"),)), set())],
    "derivation": [(replace(PLAIN, base=NAME), set()), (replace(PLAIN, configurations=(Configuration("A"),)), set())],
}  # fmt: skip


def test_features_plain_workflow_has_none() -> None:
    assert features(PLAIN) == frozenset()
    assert features(replace(PLAIN, parameters=(N,))) == frozenset()  # the workflow's, not a task's own


@pytest.mark.parametrize("name", sorted(FEATURES))
def test_features_examples_have_exactly_theirs(name: str) -> None:
    for workflow, also in EXAMPLES[name]:
        assert features(workflow) == {name} | also


@pytest.mark.parametrize("name", sorted(FEATURES))
def test_features_inside_task_and_in_others_count(name: str) -> None:
    for workflow, also in EXAMPLES[name]:
        assert features(replace(PLAIN, others=(workflow,))) == {name} | also
        assert features(task(subworkflow=workflow)) == {name, "hierarchy"} | also


def test_features_undecided_guards_are_no_choice() -> None:
    prose = links(("A", "B", "it rains"), ("A", END, "the sun shines"))
    assert features(prose) == {"guards"}
    between = links(("A", "B", "n > 1"), ("A", END, "n < 2"))  # some real number is both, no whole one
    assert features(between) == {"guards"}


def test_features_domain_decides_kind_of_choice() -> None:
    between = links(("A", "B", "n > 1"), ("A", END, "n < 2"))
    assert "exclusive" in features(replace(between, parameters=(FROM_1_TO_9,)))
    real = Parameter("n", domain=Domain("real", 1, 9))
    assert "inclusive" in features(replace(between, tasks=(Task("A", parameters=(real,)), Task("B"))))


def test_features_composite_domain_decides_inside() -> None:
    between = links(("A", "B", "n > 1"), ("A", END, "n < 2"))
    assert "exclusive" in features(task(subworkflow=between, parameters=(FROM_1_TO_9,)))


def test_features_links_of_choice_are_no_fork() -> None:
    split = replace(links(("g", "A"), ("g", "B")), gateways=(Gateway("g", "exclusive", "split"),))
    assert features(split) == {"exclusive"}


def test_features_among_some_returns_those_present() -> None:
    assert features(links((START, "A"), ("A", "B", "n > 1")), {"guards", "data"}) == {"guards"}
