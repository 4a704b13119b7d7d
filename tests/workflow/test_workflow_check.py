"""What is malformed, and what is a flaw to ask about and so is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from canonical_form import canonical

from pytest_taskgraph.errors import WorkflowError
from pytest_taskgraph.workflow.check import check, problems
from pytest_taskgraph.workflow.model import (
    END,
    START,
    Configuration,
    Data,
    DataLink,
    Domain,
    Gateway,
    Link,
    Parameter,
    QualifiedName,
    Task,
    Workflow,
)

FORK, JOIN = Gateway("fork", "parallel", "split"), Gateway("join", "parallel", "join")
STEW = Workflow(
    "Stew",
    "kitchen",
    tasks=(Task("Chop"), Task("Boil", reference=QualifiedName("Boiling")), Task("Serve")),
    data=(Data("carrots"), Data("cubes")),
    gateways=(FORK, JOIN),
    links=(
        Link(START, "fork"),
        Link("fork", "Chop"),
        Link("fork", "Boil"),
        Link("Chop", "join"),
        Link("Boil", "join"),
        Link("join", "Serve"),
        Link("Serve", END),
    ),
    data_links=(DataLink("carrots", "Chop"), DataLink("Chop", "cubes")),
    others=(Workflow("Boiling", "kitchen", tasks=(Task("Heat"),)),),
)


def with_task(**fields: object) -> Workflow:
    return replace(STEW, tasks=(*STEW.tasks, replace(Task("New"), **fields)))  # type: ignore[arg-type]


def with_link(source: str, target: str) -> Workflow:
    return replace(STEW, links=(*STEW.links, Link(source, target)))


def test_problems_well_formed_workflow_has_none() -> None:
    assert problems(STEW) == ()
    assert problems(canonical(STEW)) == ()
    check(STEW)


CHOP_BY_X = Configuration("Chop", reference=QualifiedName("X"))
LOWER_FIRST = Parameter("n", domain=Domain("integer", 9, 1))
SPLIT_THAT_JOINS = (Link("Chop", "fork"), Link("Boil", "fork"), Link("fork", "Serve"))
JOIN_THAT_SPLITS = (Link("Chop", "join"), Link("join", "Boil"), Link("join", "Serve"))


@pytest.mark.parametrize(
    ("broken", "message", "expected"),
    [
        (with_task(name="Chop"), "'Chop' is found 2 times", "once"),
        (with_task(name="carrots"), "'carrots' is found 2 times", "once"),
        (with_task(name="join"), "'join' is found 2 times", "once"),
        (with_task(name="START"), "task name 'START'", "not START"),
        (with_task(name=" "), "task name ' '", "empty"),
        (replace(STEW, data=(*STEW.data, Data("END"))), "data name 'END'", "not START"),
        (with_task(parameters=(Parameter("n"), Parameter("n"))), "task 'New' has the parameter 'n' 2 times", "once"),
        (replace(STEW, parameters=(Parameter("n"), Parameter("n"))), "it has the parameter 'n' 2 times", "once"),
        (with_task(parameters=(LOWER_FIRST,)), "domain 9 to 1", "lower bound first"),
        (replace(STEW, parameters=(Parameter("w", domain=Domain("words")),)), "without words", "at least one"),
        (with_task(subworkflow=Workflow("I"), reference=QualifiedName("Boiling")), "inline and refers to", "one of"),
        (with_task(reference=QualifiedName("Ghost")), "'New' refers to 'Ghost'", "kitchen.Stew, kitchen.Boiling"),
        (replace(STEW, base=QualifiedName("Ghost")), "derived from 'Ghost'", "one workflow of the project"),
        (replace(STEW, configurations=(CHOP_BY_X,)), "'Chop' refers to 'X'", "one workflow"),
        (replace(STEW, configurations=(Configuration("Fry"),)), "configures the task 'Fry'", "Chop, Boil, Serve"),
        (with_link("Chop", "Ghost"), "link 'Chop' -> 'Ghost'", "a task, gateway, START or END"),
        (with_link("carrots", "Chop"), "found 'carrots'", "a task, gateway"),
        (with_link("Chop", START), "link 'Chop' -> 'START'", "no link into START"),
        (with_link(END, "Chop"), "link 'END' -> 'Chop'", "none out of END"),
        (replace(STEW, data_links=(DataLink("Chop", "Boil"),)), "found a task to a task", "a task to data"),
        (replace(STEW, data_links=(DataLink("cubes", "carrots"),)), "found data to data", "data to a task"),
        (replace(STEW, data_links=(DataLink("cubes", END),)), "'END', which is neither", "data to a task"),
        (replace(STEW, links=SPLIT_THAT_JOINS), "'fork' is a split with 2 ways in", "a join"),
        (replace(STEW, links=JOIN_THAT_SPLITS), "'join' is a join with one way in", "a split"),
        (with_task(subworkflow=Workflow("I", data=(Data("x"),)), bindings=(("x", "fog"),)), "'fog' to 'x'", "around"),
        (with_task(subworkflow=Workflow("I"), bindings=(("x", "cubes"),)), "'cubes' to 'x'", "its sub-workflow"),
        (with_task(subworkflow=Workflow("I", base=QualifiedName("Stew"))), "has a base", "by name"),
        (replace(STEW, others=(*STEW.others, *STEW.others)), "'kitchen.Boiling': found 2 times", "once"),
    ],
)  # fmt: skip
def test_problems_broken_rule_states_found_and_expected(broken: Workflow, message: str, expected: str) -> None:
    messages = problems(broken)
    assert len(messages) == 1
    assert message in messages[0]
    assert expected in messages[0].split(message)[1]
    with pytest.raises(WorkflowError) as error:
        check(broken)
    assert str(error.value) == messages[0]


@pytest.mark.parametrize(
    "flawed",
    [
        Workflow("W", tasks=(Task("A"), Task("B")), links=(Link(START, "A"), Link("A", "B"), Link("B", "A"))),  # no END
        Workflow("W", tasks=(Task("A"),), links=(Link(START, "A"), Link("A", "A", "again"))),
        Workflow("W", tasks=(Task("A"), Task("Stray")), links=(Link(START, "A"), Link("A", END))),
        Workflow("W", tasks=(Task("A"),)),
        Workflow("W"),
        Workflow("W", tasks=(Task("A", reference=QualifiedName("W")),)),
        Workflow("W", base=QualifiedName("W")),
        with_link("Serve", "fork"),  # a loop back to a fork
        replace(STEW, tasks=(Task("Chop", description="Boils."), *STEW.tasks[1:])),
        *(replace(STEW, links=STEW.links[:n] + STEW.links[n + 1 :]) for n in range(len(STEW.links))),
    ],
)
def test_problems_planted_flaw_is_well_formed(flawed: Workflow) -> None:
    assert problems(flawed) == ()


def test_problems_same_name_at_two_levels_has_none() -> None:
    assert problems(with_task(subworkflow=Workflow("I", tasks=(Task("Chop"),), data=(Data("carrots"),)))) == ()


def test_problems_message_names_workflow_and_task() -> None:
    inner = Workflow("I", tasks=(Task("Deep", subworkflow=Workflow("D", tasks=(Task(END),))),))
    assert problems(with_task(subworkflow=inner))[0].startswith("workflow 'kitchen.Stew', in task 'New.Deep': ")
    other = Workflow("Other", "hall", tasks=(Task("A"), Task("A")))
    assert problems(replace(STEW, others=(*STEW.others, other)))[0].startswith("workflow 'hall.Other': ")


def test_check_several_problems_have_a_line_each() -> None:
    broken = replace(STEW, links=(Link("Ghost", "Chop"), Link("Chop", START)))
    with pytest.raises(WorkflowError) as error:
        check(broken)
    assert len(str(error.value).splitlines()) == len(problems(broken)) == 2


def test_problems_derived_workflow_is_checked_with_bases() -> None:
    base = replace(STEW, name="Base", others=())
    more = Workflow("W", "kitchen", base=QualifiedName("Base"), links=(Link("Serve", "Chop"),))
    assert problems(replace(more, others=(base, *STEW.others))) == ()
    wrong = replace(more, links=(Link("Serve", "Ghost"),), others=(base, *STEW.others))
    assert ["Ghost" in messages for messages in problems(wrong)] == [True]


def test_problems_inherited_data_may_be_bound() -> None:
    base = Workflow("Base", "kitchen", data=(Data("roots"),))
    derived = Workflow("Derived", "kitchen", base=QualifiedName("Base"))
    level = with_task(reference=QualifiedName("Derived"), bindings=(("roots", "carrots"),))
    assert problems(replace(level, others=(*STEW.others, base, derived))) == ()


def test_problems_endless_nesting_is_reported() -> None:
    level = Workflow("W")
    for _ in range(2000):
        level = Workflow("W", tasks=(Task("T", subworkflow=level),))
    assert "nested" in problems(level)[0]
