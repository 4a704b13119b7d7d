"""Several workflows as one: names, derivation, expansion, and chains that come back to where they began."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import pairwise

import pytest
from canonical_form import canonical
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import WorkflowError
from pytest_taskgraph.generation.strategies import recipes, workflows
from pytest_taskgraph.workflow.model import (
    END,
    START,
    Configuration,
    Data,
    Domain,
    Effect,
    Link,
    Parameter,
    QualifiedName,
    Task,
    Workflow,
)
from pytest_taskgraph.workflow.references import (
    assemble,
    expand,
    find,
    levels,
    nested_task_paths,
    override_parameters,
    recursion,
)


def refers(task: str, name: str, package: str = "") -> Task:
    return Task(task, reference=QualifiedName(name, package))


def chain(*names: str) -> tuple[Link, ...]:
    return tuple(Link(a, b) for a, b in pairwise(names))


def project(first: Workflow, *others: Workflow) -> Workflow:
    return replace(first, others=others)


def calls(**graph: str) -> Workflow:
    """A project from "workflow: the workflows it uses"; the first one is asked about."""
    workflows = [
        Workflow(name, tasks=tuple(refers(f"{name}{n}", used) for n, used in enumerate(uses.split())))
        for name, uses in graph.items()
    ]
    return project(*workflows)


# A trip, planned for any trip in `base`, and made for one in `trip`.
PACK = Workflow("Pack", "base", tasks=(Task("Fold"), Task("Close")), links=chain(START, "Fold", "Close", END))
RIDE = Workflow(
    "Ride",
    "base",
    tasks=(Task("Board"), refers("Eat", "Meal")),
    data=(Data("Ticket"),),
    links=chain(START, "Board", "Eat", END),
    parameters=(Parameter("hours", 1, Domain("integer", 0, 9)),),
)
MEAL = Workflow("Meal", "base", tasks=(Task("Serve"),), links=chain(START, "Serve", END))
PLAN = Workflow(
    "Plan",
    "base",
    description="Any trip",
    tasks=(refers("Prepare", "Pack"), refers("Go", "Ride"), Task("Rest")),
    links=chain(START, "Prepare", "Go", "Rest", END),
)
OWN_MEAL = Workflow("Meal", "trip", tasks=(Task("Picnic"),), links=chain(START, "Picnic", END))
TRIP = Workflow(
    "Trip",
    "trip",
    base=QualifiedName("Plan", "base"),
    configurations=(
        Configuration("Rest", implementation="file://hotel.py", parameters=(Parameter("nights", 2),)),
        Configuration(
            "Go",
            parameters=(Parameter("hours", 4),),
            configurations=(
                Configuration("Board", implementation="file://train.py"),
                Configuration("Eat", reference=QualifiedName("Meal")),
                Configuration("Ticket", of="data", schema="file://ticket.schema"),
            ),
        ),
    ),
)
SEPARATE = project(TRIP, PACK, RIDE, MEAL, PLAN, OWN_MEAL)
ASSEMBLED = project(
    Workflow(
        "Trip",
        "trip",
        description="Any trip",
        tasks=(
            refers("Prepare", "Pack"),
            replace(refers("Go", "Ride"), parameters=(Parameter("hours", 4),)),
            Task("Rest", implementation="file://hotel.py", parameters=(Parameter("nights", 2),)),
        ),
        links=PLAN.links,
    ),
    PACK,
    replace(
        RIDE,
        tasks=(Task("Board", implementation="file://train.py"), refers("Eat", "Meal", "trip")),
        data=(Data("Ticket", schema="file://ticket.schema"),),
    ),
    OWN_MEAL,
)
EXPANDED = Workflow(
    "Trip",
    "trip",
    description="Any trip",
    tasks=(
        Task("Prepare", subworkflow=Workflow("Prepare", tasks=PACK.tasks, links=PACK.links)),
        Task(
            "Go",
            subworkflow=Workflow(
                "Go",
                tasks=(
                    Task("Board", implementation="file://train.py"),
                    Task("Eat", subworkflow=Workflow("Eat", tasks=OWN_MEAL.tasks, links=OWN_MEAL.links)),
                ),
                data=(Data("Ticket", schema="file://ticket.schema"),),
                links=RIDE.links,
                parameters=(Parameter("hours", 4, Domain("integer", 0, 9)),),
            ),
        ),
        Task("Rest", implementation="file://hotel.py", parameters=(Parameter("nights", 2),)),
    ),
    links=PLAN.links,
)


def test_assemble_and_expand_have_equal_canonical_form() -> None:
    assert canonical(SEPARATE) == canonical(ASSEMBLED) == canonical(EXPANDED)


def test_assemble_drops_derivation_and_unneeded() -> None:
    whole = assemble(SEPARATE)
    every = (whole, *whole.others)
    assert [str(workflow.qualified) for workflow in every] == ["trip.Trip", "base.Pack", "base.Ride", "trip.Meal"]
    assert not any(workflow.base or workflow.configurations for workflow in every)
    assert all(task.reference.package for workflow in every for task in workflow.tasks if task.reference)


def test_assemble_and_expand_twice_is_unchanged() -> None:
    assert assemble(assemble(SEPARATE)) == assemble(SEPARATE)
    assert expand(expand(SEPARATE)) == expand(SEPARATE)
    assert expand(SEPARATE).others == ()


def test_find_without_package_prefers_own_package() -> None:
    whole = project(Workflow("W", "a"), Workflow("S", "a"), Workflow("S", "b"), Workflow("T", "b"))
    assert find(whole, QualifiedName("S"), "b") == Workflow("S", "b")
    assert find(whole, QualifiedName("T"), "a") == Workflow("T", "b")
    assert find(whole, QualifiedName("S"), "c") is None
    assert find(whole, QualifiedName("T", "a"), "b") is None
    assert find(whole, QualifiedName("W"), "a") == whole


def test_find_duplicate_qualified_name_is_first() -> None:
    whole = project(Workflow("W"), Workflow("S", description="first"), Workflow("S", description="second"))
    assert find(whole, QualifiedName("S"), "") == Workflow("S", description="first")


def test_assemble_inherited_reference_uses_base_package() -> None:
    used = {task.name: task.reference for task in assemble(project(TRIP, PLAN, PACK, RIDE, MEAL)).tasks}
    assert used["Prepare"] == QualifiedName("Pack", "base")


def test_assemble_copy_beside_original_is_numbered() -> None:
    inside = (Configuration("Fold", implementation="file://tight.py"),)
    twice = Workflow(
        "W",
        "base",
        tasks=(refers("First", "Pack"), refers("Second", "Pack"), refers("Third", "Pack")),
        configurations=(Configuration("Second", configurations=inside), Configuration("Third", configurations=inside)),
    )
    whole = assemble(project(twice, PACK))
    used = [task.reference and task.reference.name for task in whole.tasks]
    assert used == ["Pack", "Pack_2", "Pack_2"]
    folds = [other.task("Fold").implementation for other in whole.others]
    assert folds == ["", "file://tight.py"]


def test_assemble_first_copy_takes_unneeded_original_name() -> None:
    inside = [(Configuration("Fold", implementation=name),) for name in ("a.py", "b.py")]
    twice = Workflow(
        "W",
        "base",
        tasks=(refers("First", "Pack"), refers("Second", "Pack")),
        configurations=(
            Configuration("First", configurations=inside[0]),
            Configuration("Second", configurations=inside[1]),
        ),
    )
    whole = assemble(project(twice, PACK))
    assert [task.reference for task in whole.tasks] == [QualifiedName("Pack", "base"), QualifiedName("Pack_3", "base")]
    assert [other.task("Fold").implementation for other in whole.others] == ["a.py", "b.py"]


def test_assemble_configuration_fills_all_attributes() -> None:
    task = Task(
        "T",
        "d",
        "k",
        "i",
        (Parameter("p", 1),),
        (Effect("n", "n + 1"), Effect("m", "0")),
        bindings=(("a", "x"), ("b", "y")),
    )
    by = Configuration("T", effects=(Effect("n", "n - 1"),), bindings=(("b", "z"),), kind="other")
    filled = assemble(Workflow("W", tasks=(task,), configurations=(by,))).task("T")
    assert filled == replace(
        task, kind="other", effects=(Effect("n", "n - 1"), Effect("m", "0")), bindings=(("a", "x"), ("b", "z"))
    )


def test_assemble_inline_name_uses_subworkflow_package() -> None:
    again = (Configuration("Dine", reference=QualifiedName("Meal")),)
    inline = Workflow("I", "trip", tasks=(refers("Eat", "Meal"), Task("Dine")), configurations=again)
    whole = project(Workflow("W", "base", tasks=(Task("T", subworkflow=inline), refers("Eat", "Meal"))), MEAL, OWN_MEAL)
    inner = assemble(whole).task("T").subworkflow
    assert inner is not None
    assert [task.reference for task in inner.tasks] == [QualifiedName("Meal", "trip")] * 2
    assert assemble(whole).task("Eat").reference == QualifiedName("Meal", "base")
    assert [level.package for _, level in levels(whole)] == ["base", "trip"]


def test_assemble_replaced_subworkflow_drops_configurations() -> None:
    inside = (Configuration("Fold", implementation="file://tight.py"),)
    base = Workflow("Base", tasks=(refers("T", "Pack"),), configurations=(Configuration("T", configurations=inside),))
    derived = Workflow(
        "W", base=QualifiedName("Base"), configurations=(Configuration("T", reference=QualifiedName("Meal")),)
    )
    whole = assemble(project(derived, base, PACK, MEAL))
    assert [other.qualified for other in whole.others] == [MEAL.qualified]
    assert whole.others[0].tasks == MEAL.tasks


def test_configurations_add_up_along_the_bases() -> None:
    far = Workflow(
        "Far", tasks=(refers("T", "Pack"),),
        configurations=(Configuration("T", configurations=(Configuration("Fold", kind="by hand", description="a"),)),),
    )  # fmt: skip
    near = Workflow(
        "Near", base=QualifiedName("Far"),
        configurations=(Configuration("T", configurations=(Configuration("Fold", description="b"),)),),
    )  # fmt: skip
    fold = expand(project(near, far, PACK)).task("T").subworkflow
    assert fold is not None
    assert fold.task("Fold") == Task("Fold", description="b", kind="by hand")


def test_assemble_configuration_reaches_inline_subworkflow() -> None:
    base = Workflow("Base", tasks=(Task("T", subworkflow=PACK),))
    derived = Workflow(
        "W", base=QualifiedName("Base"),
        configurations=(Configuration("T", configurations=(Configuration("Fold", kind="k"),)),),
    )  # fmt: skip
    inner = assemble(project(derived, base)).task("T").subworkflow
    assert inner is not None
    assert inner.task("Fold").kind == "k"


def test_assemble_inline_subworkflow_configures_own_tasks() -> None:
    inline = replace(PACK, configurations=(Configuration("Fold", kind="k"),))
    inner = assemble(Workflow("W", tasks=(Task("T", subworkflow=inline),))).task("T").subworkflow
    assert inner is not None
    assert inner.task("Fold").kind == "k"
    assert inner.configurations == ()


def test_expand_task_overrides_subworkflow_default() -> None:
    more = Configuration("Go", parameters=(Parameter("class", 2),))
    go = expand(replace(SEPARATE, configurations=(*TRIP.configurations, more))).task("Go")
    assert go.parameters == (Parameter("hours", 4), Parameter("class", 2))
    assert go.subworkflow is not None
    assert go.subworkflow.parameters == (Parameter("hours", 4, Domain("integer", 0, 9)),)


def test_override_parameters_keeps_order_and_defaults() -> None:
    domain = Domain("integer", 0, 9)
    defaults = (Parameter("a", 1, domain), Parameter("b", 2))
    assert override_parameters(defaults, (Parameter("c", 3), Parameter("a", 0))) == (
        Parameter("a", 0, domain), Parameter("b", 2), Parameter("c", 3),
    )  # fmt: skip
    assert override_parameters(defaults, (Parameter("b", None, domain),))[1] == Parameter("b", 2, domain)


@pytest.mark.parametrize(
    ("derived", "message"),
    [
        (Workflow("W", base=QualifiedName("Ghost")), "'Ghost' is not found"),
        (Workflow("W", tasks=(Task("T"),), configurations=(Configuration("U"),)), "configures the task 'U'.*has: T"),
        (Workflow("W", tasks=(Task("T"),), configurations=(Configuration("T", of="data"),)), "the data 'T'.*none"),
        (
            Workflow(
                "W", tasks=(Task("T"),), configurations=(Configuration("T", configurations=(Configuration("U"),)),)
            ),
            "'T' is configured inside.*not stated",
        ),
        (Workflow("W", tasks=(Task("T", subworkflow=Workflow("I", base=QualifiedName("W"))),)), "has a base"),
    ],
)  # fmt: skip
def test_assemble_unresolvable_raises_workflow_error(derived: Workflow, message: str) -> None:
    with pytest.raises(WorkflowError, match=message):
        assemble(derived)


def test_expand_missing_reference_is_kept() -> None:
    level = Workflow("W", tasks=(refers("T", "Ghost"),))
    assert expand(level) == level
    assert nested_task_paths(level) == ()
    assert recursion(level) == ()


def test_expand_recursive_reference_is_kept() -> None:
    whole = expand(calls(Main="Way", Way="Loop", Loop="Loop"))
    way = whole.task("Main0").subworkflow
    assert way is not None
    assert way.task("Way0").reference == QualifiedName("Loop")
    assert [other.name for other in whole.others] == ["Loop"]


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ({"A": ""}, ()),
        ({"A": "A"}, ("A",)),
        ({"A": "B", "B": "C", "C": "D", "D": "A"}, ("A", "B", "C", "D")),
        ({"A": "B C", "B": "A", "C": "C"}, ("C",)),
        ({"A": "B", "B": "", "C": "C"}, ()),
    ],
)
def test_recursion_is_shortest_reachable_cycle(graph: dict[str, str], expected: tuple[str, ...]) -> None:
    assert recursion(calls(**graph)) == expected


def simple_cycles_from(graph: dict[str, list[str]], first: str) -> list[list[str]]:
    """Every cycle without a repeated name among what the first one leads to, found by trying all paths."""
    near = [first]
    for name in near:
        near += [after for after in dict.fromkeys(graph[name]) if after not in near]
    paths = [[name] for name in near]
    for path in paths:
        paths += [[*path, after] for after in graph[path[-1]] if after not in path]
    return [path for path in paths if path[0] in graph[path[-1]]]


@given(st.lists(st.tuples(st.sampled_from("ABCDE"), st.sampled_from("ABCDE")), max_size=9))
def test_recursion_is_a_shortest_of_all_cycles(pairs: list[tuple[str, str]]) -> None:
    graph = {a: [b for x, b in pairs if x == a] for a in "ABCDE"}
    whole = calls(**{a: " ".join(further) for a, further in graph.items()})
    cycles = simple_cycles_from(graph, "A")
    cycle = recursion(whole)
    assert len(cycle) == min(map(len, cycles), default=0)
    assert all(b in graph[a] for a, b in zip(cycle, (*cycle[1:], *cycle[:1]), strict=True))
    circling = {name for cycle in cycles for name in cycle}
    assert {cycle.name for cycle in expand(whole).others} == circling - {"A"}


def test_recursion_cyclic_bases_are_reported() -> None:
    a = Workflow("A", tasks=(Task("Own"),), base=QualifiedName("B"))
    b = Workflow("B", tasks=(Task("Base"),), base=QualifiedName("A"))
    assert recursion(project(a, b)) == ("A", "B")
    assert set(assemble(project(a, b)).task_names) == {"Own", "Base"}
    assert recursion(Workflow("Self", base=QualifiedName("Self"))) == ("Self",)


def test_recursion_replaced_reference_is_none() -> None:
    base = Workflow("Base", tasks=(refers("T", "Trip"),))
    derived = Workflow("Trip", base=QualifiedName("Base"))
    assert recursion(project(derived, base)) == ("Trip",)
    replaced = replace(derived, configurations=(Configuration("T", reference=QualifiedName("Meal")),))
    assert recursion(project(replaced, base, MEAL)) == ()


def test_nested_tasks_have_paths_inline_or_by_reference() -> None:
    paths = [("Prepare", "Fold"), ("Prepare", "Close"), ("Go", "Board"), ("Go", "Eat"), ("Go", "Eat", "Picnic")]
    for whole in (SEPARATE, ASSEMBLED, EXPANDED):
        assert nested_task_paths(whole) == tuple(paths)


def test_recursion_is_entered_once_on_a_path() -> None:
    assert nested_task_paths(calls(A="A")) == (("A0", "A0"),)
    assert nested_task_paths(calls(A="B", B="A")) == (("A0", "B0"), ("A0", "B0", "A0"))


def test_levels_are_the_workflow_and_what_is_inline_in_it() -> None:
    inner = Workflow("I", tasks=(Task("Deep", subworkflow=Workflow("D")), refers("R", "Meal")))
    whole = project(Workflow("W", "p", tasks=(Task("A", subworkflow=inner), Task("B"))), MEAL)
    assert [path for path, _ in levels(whole)] == [(), ("A",), ("A", "Deep")]
    assert all(level.package == "p" for _, level in levels(whole))
    assert all(find(level, QualifiedName("Meal"), "p") == MEAL for _, level in levels(whole))
    assert all(find(level, QualifiedName("W"), "p") for _, level in levels(whole))


def test_levels_have_parameters_of_composite_task() -> None:
    inner = Workflow("I", parameters=(Parameter("n", 1),))
    whole = Workflow("W", tasks=(Task("A", subworkflow=inner, parameters=(Parameter("n", 5), Parameter("m", 6))),))
    assert levels(whole)[1][1].parameters == (Parameter("n", 5), Parameter("m", 6))


def test_references_long_chains_do_not_crash() -> None:
    used = {f"W{n}": f"W{n + 1}" for n in range(2000)} | {"W2000": ""}
    whole = calls(**used)
    assert len(assemble(whole).others) == 2000
    for ask in (expand, nested_task_paths):
        with pytest.raises(WorkflowError, match="nested"):
            ask(whole)


def test_assemble_long_chain_of_bases_is_resolved() -> None:
    line = [Workflow(f"W{n}", base=QualifiedName(f"W{n + 1}")) for n in range(2000)]
    last = Workflow("W2000", tasks=(Task("Root"),))
    assert assemble(project(*line, last)).task_names == ("Root",)


def test_assemble_deep_configurations_raise_workflow_error() -> None:
    inside = Configuration("T")
    for _ in range(2000):
        inside = Configuration("T", configurations=(inside,))
    with pytest.raises(WorkflowError, match="nested"):
        assemble(Workflow("W", tasks=(Task("T"),), configurations=(inside,)))


def test_expand_billions_of_tasks_raises_workflow_error() -> None:
    doubling = {f"W{n}": f"W{n + 1} W{n + 1}" for n in range(40)} | {"W40": ""}
    for ask in (expand, nested_task_paths):
        with pytest.raises(WorkflowError, match="more than"):
            ask(calls(**doubling))


@given(workflows(recipes(max_tasks=14)))
def test_assemble_independent_workflow_is_unchanged(
    whole: Workflow,
) -> None:
    assembled = assemble(whole)
    assert assemble(assembled) == assembled
    assert assemble(replace(whole, others=(*whole.others, Workflow("Unneeded", "elsewhere")))) == assembled


def test_assemble_task_declared_twice_is_merged() -> None:
    assert assemble(Workflow("W", tasks=(Task("A"), Task("B"), Task("A", "the last")))).tasks == (
        Task("A", "the last"),
        Task("B"),
    )


@given(workflows(recipes(max_tasks=14)))
def test_hash_of_equal_workflows_is_equal(whole: Workflow) -> None:
    expected = hash(whole)
    changed = replace(whole, name=whole.name + "2")
    assert hash(replace(changed, name=whole.name)) == expected == hash(pickle.loads(pickle.dumps(whole)))  # noqa: S301
    assert hash(changed) != expected
    assert whole in {replace(whole)}
