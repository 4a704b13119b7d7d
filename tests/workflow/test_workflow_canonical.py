"""The canonical form: what does not count is gone, what counts has stayed."""

from __future__ import annotations

import os
import random
import sys
from dataclasses import replace
from typing import TypeVar

import bounded_process
import pytest
from canonical_form import canonical
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_taskgraph.errors import WorkflowError
from pytest_taskgraph.workflow.graph import task_graph
from pytest_taskgraph.workflow.model import (
    END,
    START,
    Data,
    DataLink,
    Domain,
    Effect,
    Flaw,
    Gateway,
    GatewayKind,
    Link,
    Parameter,
    QualifiedName,
    Task,
    Workflow,
)

_Some = TypeVar("_Some")
TASKS = ("A", "B", "C", "D")
GATEWAYS = ("g1", "g2", "g3", "g4")
GUARDS = (None, None, "a > 1", " a  > 1", "otherwise")


@st.composite
def wild_levels(draw: st.DrawFn) -> Workflow:
    """Levels with any links at all, well-formed or not, to see that order and names never count."""
    sources = st.sampled_from((*TASKS, *GATEWAYS, START))
    targets = st.sampled_from((*TASKS, *GATEWAYS, END))
    links = st.lists(st.builds(Link, sources, targets, st.sampled_from(GUARDS)), max_size=14)
    kinds: st.SearchStrategy[GatewayKind] = st.sampled_from(["parallel", "exclusive", "inclusive"])
    return Workflow(
        "W",
        tasks=tuple(Task(name) for name in TASKS),
        gateways=tuple(Gateway(name, draw(kinds), draw(st.sampled_from(["split", "join"]))) for name in GATEWAYS),
        links=tuple(draw(links)),
    )


def shuffled(some: tuple[_Some, ...], rng: random.Random) -> tuple[_Some, ...]:
    return tuple(rng.sample(some, len(some)))


def respelt(level: Workflow, rng: random.Random) -> Workflow:
    """The level with its declarations in another order and its gateways under other names."""
    fresh = tuple(f"n{number}" for number in range(len(level.gateways)))
    names = dict(zip((gateway.name for gateway in level.gateways), shuffled(fresh, rng), strict=True))
    links = (Link(names.get(x.source, x.source), names.get(x.target, x.target), x.guard) for x in level.links)
    return replace(
        level,
        tasks=shuffled(level.tasks, rng),
        gateways=shuffled(tuple(replace(gateway, name=names[gateway.name]) for gateway in level.gateways), rng),
        links=shuffled(tuple(links), rng),
    )


def of_links(*links: tuple[str, str] | tuple[str, str, str], **gateways: str) -> Workflow:
    """Return a workflow of these links; a gateway is given as name="kind role"."""
    node_names = dict.fromkeys(end for link in links for end in link[:2])
    gateway_list = []
    for name, kind_and_role in gateways.items():
        kind, role = kind_and_role.split()
        gateway_list.append(Gateway(name, kind, role))  # type: ignore[arg-type]
    tasks = tuple(Task(name) for name in node_names if name not in (START, END, *gateways))
    return Workflow("W", tasks=tasks, gateways=tuple(gateway_list), links=tuple(Link(*link) for link in links))


@given(wild_levels(), st.integers(0, 99))
@example(
    of_links((START, "g1"), (START, "g2"), ("g1", "g3"), ("g2", "g4"), ("g3", END), ("g4", END), ("g1", "A"),
             ("g2", "A"),
             g1="parallel split", g2="parallel split", g3="parallel join", g4="parallel join"), 3,
)  # fmt: skip
@example(of_links(("D", "g2", "otherwise"), ("C", "g2"), ("g2", "g4"), ("g4", "g3"), ("g3", "A"),
                g2="exclusive join", g3="exclusive join", g4="exclusive split"), 0)  # fmt: skip
def test_canonical_other_order_and_gateway_names_is_equal(level: Workflow, seed: int) -> None:
    assert canonical(respelt(level, random.Random(seed))) == canonical(level)


@given(wild_levels())
def test_canonical_of_canonical_is_unchanged(level: Workflow) -> None:
    assert canonical(canonical(level)) == canonical(level)


@given(wild_levels())
def test_canonical_any_level_keeps_successors(level: Workflow) -> None:
    before = {task: set(after) for task, after in task_graph(level).items()}
    assert {task: set(after) for task, after in task_graph(canonical(level)).items()} == before


@pytest.mark.parametrize("join", ["exclusive join", "inclusive join"])
@pytest.mark.parametrize("straight", ["parallel split", "exclusive split", "inclusive split", "parallel join"])
def test_canonical_straight_gateway_after_join_is_removed(join: str, straight: str) -> None:
    level = of_links(("A", "g"), ("B", "g", "n > 1"), ("g", "h"), ("h", "C"), g=join, h=straight)
    form = canonical(of_links(("A", "C"), ("B", "C", "n > 1")))
    assert [canonical(replace(level, gateways=each)) for each in (level.gateways, level.gateways[::-1])] == [form] * 2


def circles(*lengths: int) -> Workflow:
    """Parallel splits on circles of these lengths, which nothing else is linked to."""
    around = [[f"g{length}-{at}" for at in range(length)] for length in lengths]
    links = (Link(*way) for names in around for way in zip(names, names[1:] + names[:1], strict=True))
    gateways = (Gateway(name, "parallel", "split") for names in around for name in names)
    return Workflow("W", gateways=tuple(gateways), links=tuple(links))


@given(st.lists(st.integers(1, 6), max_size=4, unique=True), st.integers(0, 99))
@example([2, 4], 0)
@example([1, 2, 4], 0)
def test_new_names_similar_gateways_differ_by_place(lengths: list[int], seed: int) -> None:
    level = circles(*lengths)
    assert canonical(respelt(level, random.Random(seed))) == canonical(level) == canonical(canonical(level))


def test_canonical_different_workflows_differ() -> None:
    chain = of_links((START, "A"), ("A", "B"), ("B", END))
    assert canonical(chain) != canonical(of_links((START, "A"), ("A", "B", "n > 1"), ("B", END)))
    assert canonical(chain) != canonical(of_links((START, "A"), ("A", "B"), ("B", "A"), ("B", END)))
    assert canonical(chain) != canonical(replace(chain, description="Two steps."))


def test_canonical_join_of_choice_is_removed_of_fork_kept() -> None:
    ways = (("A", "g"), ("B", "g"), ("g", "C"))
    for kind in ("exclusive join", "inclusive join"):
        assert canonical(of_links(*ways, g=kind)) == canonical(of_links(("A", "C"), ("B", "C")))
    assert canonical(of_links(*ways, g="parallel join")).gateways == (Gateway("parallel-join-1", "parallel", "join"),)


def test_canonical_choice_after_task_becomes_guarded_links() -> None:
    split = of_links(("A", "g"), ("g", "B", "n > 1"), ("g", "C", "otherwise"), g="exclusive split")
    assert canonical(split) == canonical(of_links(("A", "B", "n > 1"), ("A", "C", "otherwise")))


def test_canonical_choice_after_tasks_becomes_links_of_each() -> None:
    ways = (("g", "C", "n > 1"), ("g", END, "otherwise"))
    split = of_links(("A", "m"), ("B", "m"), ("m", "g"), *ways, m="exclusive join", g="exclusive split")
    each = [("A", "C", "n > 1"), ("A", END, "otherwise"), ("B", "C", "n > 1"), ("B", END, "otherwise")]
    assert canonical(split) == canonical(of_links(*each))


def test_canonical_unguarded_exclusive_way_is_otherwise() -> None:
    split = of_links(("A", "g"), ("g", "B", "n > 1"), ("g", "C"), g="exclusive split")
    assert canonical(split) == canonical(of_links(("A", "B", "n > 1"), ("A", "C", "otherwise")))


def test_canonical_only_way_on_is_not_otherwise() -> None:
    level = of_links(("A", "g"), ("B", "g"), ("g", "C"), g="exclusive split")
    assert {link.guard for link in canonical(level).links} == {None}


@pytest.mark.parametrize("kind", ["parallel split", "exclusive split", "inclusive split", "parallel join"])
def test_canonical_gateway_cycles_of_other_length_differ(kind: str) -> None:
    ways = [(START, "g1"), (START, "g2"), (START, "g3"), ("g1", "g1"), ("g2", "g3"), ("g3", "g2")]
    level = of_links(*ways, g1=kind, g2=kind, g3=kind)
    level = replace(level, gateways=(*level.gateways, Gateway("g4", "parallel", "split")))
    assert len({repr(canonical(respelt(level, random.Random(seed)))) for seed in range(9)}) == 1


def test_canonical_unguarded_inclusive_way_stays_unguarded() -> None:
    split = of_links(("A", "g"), ("g", "B", "n > 1"), ("g", "C"), g="inclusive split")
    assert canonical(split) == canonical(of_links(("A", "B", "n > 1"), ("A", "C")))


@pytest.mark.parametrize(
    "level",
    [
        of_links((START, "g"), ("g", "A", "n > 1"), ("g", "B", "otherwise"), g="exclusive split"),  # no task before it
        of_links(("A", "g"), ("g", "B"), ("g", "C"), g="exclusive split"),  # no guards: links would be a fork
        of_links(("A", "g"), ("A", "C", "n > 9"), ("g", "B", "n > 1"), ("g", "C", "otherwise"), g="exclusive split"),
        of_links(("A", "g"), ("g", "B"), ("g", "C"), g="parallel split"),
        of_links(("A", "g"), ("g", "B", "otherwise"), ("g", "C"), g="exclusive split"),  # two ways if no guard holds
        of_links(("A", "g"), ("g", "B", "n > 1"), ("g", "C"), ("g", "D"), g="exclusive split"),
    ],
)
def test_canonical_irreplaceable_gateway_is_kept(level: Workflow) -> None:
    assert len(canonical(level).gateways) == 1


def test_canonical_choices_side_by_side_keep_their_guards() -> None:
    ways = [("g", "B", "n > 1"), ("g", "C", "otherwise"), ("h", "D", "m > 1"), ("h", "E", "otherwise")]
    level = of_links(("A", "g"), ("A", "h"), *ways, g="exclusive split", h="exclusive split")
    assert len(canonical(level).gateways) == 2


def test_canonical_straight_gateway_passes_its_guard_on() -> None:
    level = of_links(("A", "g"), ("g", "B", " n >  1 "), ("A", "C"), g="inclusive split")
    assert canonical(level) == canonical(of_links(("A", "B", "n > 1"), ("A", "C")))
    assert canonical(of_links(("A", "g"), ("g", "B"), g="parallel join")) == canonical(of_links(("A", "B")))


def test_new_names_never_equal_task_names() -> None:
    level = of_links((START, "parallel-split-1"), ("parallel-split-1", "g"), ("g", "B"), ("g", "C"), g="parallel split")
    assert canonical(level).gateways[0].name not in canonical(level).task_names


def test_canonical_drops_packages_flaws_and_unneeded_others() -> None:
    plain = of_links((START, "A"), ("A", END))
    decorated = replace(plain, package="p", flaw=Flaw("drop-link"), others=(Workflow("Unused"),))
    assert canonical(decorated) == canonical(plain)


def test_canonical_inline_and_reference_are_equal() -> None:
    inner = Workflow("Inner", "kitchen", tasks=(Task("B"), Task("A")), links=(Link(START, "A"),))
    by_name = Workflow("W", "hall", tasks=(Task("T", reference=QualifiedName("Inner")),), others=(inner,))
    inline = Workflow("W", tasks=(Task("T", subworkflow=replace(inner, name="T", package="")),))
    assert canonical(by_name) == canonical(inline)
    assert canonical(by_name).tasks[0].subworkflow == Workflow(
        "T", tasks=(Task("A"), Task("B")), links=(Link(START, "A"),)
    )


def test_canonical_composite_parameters_move_to_subworkflow() -> None:
    domain = Domain("integer", 0, 9)
    inner = Workflow("Inner", parameters=(Parameter("n", 1, domain), Parameter("k", 2)))
    task = Task("T", subworkflow=inner, parameters=(Parameter("n", 4), Parameter("mode", "fast")))
    task_form = canonical(Workflow("W", tasks=(task,))).task("T")
    assert task_form.parameters == ()
    assert task_form.subworkflow is not None
    assert task_form.subworkflow.parameters == (Parameter("k", 2), Parameter("mode", "fast"), Parameter("n", 4, domain))


def test_canonical_composite_description_overrides_subworkflows() -> None:
    described = Workflow("Inner", description="inner")
    for task, expected in ((Task("T", "outer"), "outer"), (Task("T"), "inner")):
        level = Workflow("W", tasks=(replace(task, subworkflow=described),))
        assert canonical(level).task("T").description == expected


def test_canonical_recursive_references_are_kept() -> None:
    loop = Workflow("Loop", "q", tasks=(Task("Again", reference=QualifiedName("Loop")),))
    level = Workflow("W", "p", tasks=(Task("T", reference=QualifiedName("Loop")),), others=(loop, Workflow("Unused")))
    form = canonical(level)
    assert form.task("T").reference == QualifiedName("Loop")
    assert [other.name for other in form.others] == ["Loop"]
    assert canonical(form) == form


def test_canonical_packages_of_equal_names_are_kept() -> None:
    here = Workflow("Loop", "p", tasks=(Task("Go", reference=QualifiedName("Loop", "q")),))
    there = Workflow("Loop", "q", tasks=(Task("Back", reference=QualifiedName("Loop", "p")),))
    form = canonical(replace(here, others=(there,)))
    assert form.package == "p"
    assert form.task("Go").reference == QualifiedName("Loop", "q")
    assert canonical(form) == form


def test_canonical_elements_are_sorted_and_unique() -> None:
    level = Workflow(
        "W",
        tasks=(
            Task(
                "B",
                parameters=(Parameter("z"), Parameter("a")),
                effects=(Effect("z", "1"), Effect("a", "1"), Effect("a", "0")),
                bindings=(("y", "x"), ("x", "y")),
            ),
            Task("A"),
        ),
        data=(Data("y"), Data("x")),
        links=(Link("B", END), Link("A", "B", "n  > 1"), Link("A", "B", " n > 1")),
        data_links=(DataLink("y", "A"), DataLink("x", "A"), DataLink("y", "A")),
        parameters=(Parameter("q"), Parameter("p", domain=Domain("words", words=("slow", "fast")))),
    )
    form = canonical(level)
    assert form.task_names == ("A", "B")
    assert [element.name for element in form.task("B").parameters] == ["a", "z"]
    assert form.task("B").effects == (Effect("a", "1"), Effect("a", "0"), Effect("z", "1"))  # one after the other
    assert form.task("B").bindings == (("x", "y"), ("y", "x"))
    assert [element.name for element in form.data] == ["x", "y"]
    assert form.links == (Link("A", "B", "n > 1"), Link("B", END))
    assert form.data_links == (DataLink("x", "A"), DataLink("y", "A"))
    assert form.parameters == (Parameter("p", domain=Domain("words", words=("fast", "slow"))), Parameter("q"))


def test_canonical_endless_nesting_raises_workflow_error() -> None:
    level = Workflow("W0")
    for depth in range(2000):
        level = Workflow(f"W{depth}", tasks=(Task("T", subworkflow=level),))
    with pytest.raises(WorkflowError, match="nested"):
        canonical(level)


def test_canonical_other_hash_seed_is_equal() -> None:
    script = (
        "from canonical_form import canonical\n"
        "from pytest_taskgraph.workflow.model import *\n"
        "gates = tuple(Gateway(n, 'parallel', 'split') for n in 'ghijk')\n"
        "links = tuple(Link(a, b) for a in 'ghijk' for b in 'ABCghijk' if a != b)\n"
        "data = tuple(DataLink('x', t) for t in 'ABC')\n"
        "tasks = tuple(Task(t) for t in 'CAB')\n"
        "print(canonical(Workflow('W', tasks=tasks, gateways=gates, links=links, data=(Data('x'),), data_links=data)))"
    )
    forms = {
        bounded_process.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(forms) == 1
    assert forms != {""}
