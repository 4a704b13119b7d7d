"""Mermaid flowcharts: our own, and those that people write."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import ReadError, WorkflowError
from pytest_taskgraph.notations.mermaid import MERMAID
from pytest_taskgraph.notations.mermaid.node_text import decode, encode
from pytest_taskgraph.workflow.check import check
from pytest_taskgraph.workflow.graph import ends, starts, successors
from pytest_taskgraph.workflow.model import Data, DataLink, Domain, Effect, Gateway, Link, Parameter, Task, Workflow

SOUP = Workflow(
    "Soup of the day",
    "kitchen",
    description="Fast.\nAnd hot",
    parameters=(Parameter("salt", 3, Domain("integer", 0, 10)),),
    tasks=(
        Task("Boil water", "heats; then waits", "user", "file://boil.py", (Parameter("heat", ("low", 0.5)),)),
        Task("Season", effects=(Effect("salt", "salt + 1"),)),
        Task(
            "Plate",
            subworkflow=Workflow(
                "Plating", tasks=(Task("Season"),), data=(Data("Dish"),), links=(Link("START", "Season"),)
            ),
            bindings=(("Dish", "Broth"),),
        ),
    ),
    data=(Data("Broth", "clear", "broth.json"),),
    gateways=(Gateway("F", "parallel", "split"), Gateway("X", "exclusive", "join")),
    links=(
        Link("START", "F"),
        Link("F", "Boil water"),
        Link("F", "Season", 'salt < 3 and mode = "a"'),
        Link("Season", "END", ""),
    ),
    data_links=(DataLink("Boil water", "Broth"), DataLink("Broth", "Plate")),
)
DOCUMENTED = """\
---
title: "Soup of the day"
---
flowchart TD
  %% package: kitchen
  %% description: Fast.#10;And hot
  %% parameter: 'salt', set to 3, a whole number from 0 to 10
  START((START))
  END((END))
  n_Boil_water["Boil water<br/>description: heats; then waits<br/>kind: user<br/>implementation: file://boil.py\
<br/>parameter: 'heat', set to [#quot;low#quot;, 0.5]"]
  Season["Season<br/>effect: 'salt' to 'salt + 1'"]
  subgraph Plate ["Plate<br/>binding: 'Dish' stands for 'Broth'"]
    %% workflow: Plating
    Plate__START((START))
    Plate__END((END))
    Plate__Season["Season"]
    Plate__Dish[("Dish")]
    Plate__START --> Plate__Season
  end
  Broth[("Broth<br/>description: clear<br/>schema: broth.json")]
  F{{"parallel split"}}
  X{"exclusive join"}
  START --> F
  F --> n_Boil_water
  F -->|"salt #lt; 3 and mode = #quot;a#quot;"| Season
  Season -->|" "| END
  n_Boil_water -.-> Broth
  Broth -.-> Plate
"""


def test_write_workflow_gives_documented_text() -> None:
    assert MERMAID.write(SOUP) == DOCUMENTED
    assert MERMAID.read(DOCUMENTED) == SOUP


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_decode_encoded_text_is_text(text: str) -> None:
    assert decode(encode(text)) == text
    assert not set(encode(text)) & set('"<>&`\n')
    assert encode(text) == encode(text).strip()


@pytest.mark.parametrize(
    "name",
    [
        "start",
        "End",
        "subgraph",
        "end",
        "class",
        "a;b",
        "x-->y",
        "]",
        "%% c",
        "#quot;",
        "a<br/>kind: b",
        "- b",
        "é",
        "O'x",
    ],
)
def test_read_task_with_any_name_keeps_it(name: str) -> None:
    workflow = Workflow("W", tasks=(Task(name), Task("Other")), links=(Link("START", name), Link(name, "Other", name)))
    assert MERMAID.read(MERMAID.write(workflow)) == workflow


def test_read_workflow_without_start_or_end_adds_none() -> None:
    circle = Workflow("W", tasks=(Task("A"), Task("B"), Task("Stray")), links=(Link("A", "B"), Link("B", "A")))
    assert MERMAID.read(MERMAID.write(circle)) == circle


def test_write_link_to_unknown_node_raises_error() -> None:
    with pytest.raises(WorkflowError, match="'W': a link leads to 'B'"):
        MERMAID.write(Workflow("W", tasks=(Task("A"),), links=(Link("A", "B"),)))


def read(text: str) -> Workflow:
    workflow = MERMAID.read(text, "charts/Lunch.mmd")
    check(workflow)
    return workflow


def pairs(workflow: Workflow) -> set[tuple[str, str]]:
    return {(link.source, link.target) for link in workflow.links}


@pytest.mark.parametrize(
    "header", ["graph LR", "flowchart TB", "flowchart RL;", "graph", "flowchart-elk BT", "%%{init: {}}%%\ngraph TD"]
)
def test_read_header_of_any_direction_is_accepted(header: str) -> None:
    workflow = read(f"{header}\n  A --> B\n")
    assert workflow.task_names == ("A", "B")
    assert workflow.name == "Lunch"
    assert pairs(workflow) == {("START", "A"), ("A", "B"), ("B", "END")}


@pytest.mark.parametrize(
    "link",
    [
        "A-->B",
        "A ---> B",
        "A ==> B",
        "A -.-> B",
        "A-..->B",
        "A --> B;",
        "A --> B %% why",
        "A:::hot --> B:::cold",
        "A --> B\r",
    ],
)
def test_read_arrow_of_any_kind_is_control_flow(link: str) -> None:
    assert read(f"graph LR\n{link}\n").links[1:-1] == (Link("A", "B"),)


@pytest.mark.parametrize(
    "link",
    [
        "A -->|go on| B",
        'A -->|"go on"| B',
        "A -- go on --> B",
        'A -- "go on" ---> B',
        "A == go on ==> B",
        "A -. go on .-> B",
        "A-.->|go on|B",
    ],
)
def test_read_text_on_arrow_is_guard(link: str) -> None:
    assert read(f"graph LR\n{link}\n").links[1:-1] == (Link("A", "B", "go on"),)


def test_read_chain_of_node_groups_gives_all_links() -> None:
    assert pairs(read("graph LR; A & B --> C --> D & E")) == {
        *(("START", "A"), ("START", "B"), ("A", "C"), ("B", "C")),
        *(("C", "D"), ("C", "E"), ("D", "END"), ("E", "END")),
    }


@pytest.mark.parametrize(
    "shape",
    [
        "[Do it]",
        "(Do it)",
        "([Do it])",
        "((Do it))",
        "(((Do it)))",
        "[[Do it]]",
        ">Do it]",
        "[/Do it/]",
        "[\\Do it\\]",
        "[/Do it\\]",
        "{{Do it}}",
        '["Do it"]',
        '["`Do it`"]',
        "[Do<br>it]",
        '["Do\n  it"]',
        "[Do#32;it]",
        "[ Do it ]:::big",
    ],
)
def test_read_node_of_any_shape_is_task_named_by_label(shape: str) -> None:
    assert read(f"graph TD\n  a{shape} --> b").task_names == ("Do it", "b")


def test_read_node_without_label_is_named_by_id() -> None:
    assert read("graph TD\na-1.x --> b\nb[Bake]").task_names == ("a-1.x", "Bake")


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("Is it hot?", "exclusive"),
        ("XOR", "exclusive"),
        ("+", "parallel"),
        ("AND 2", "parallel"),
        ("fork", "parallel"),
        ("OR", "inclusive"),
        ("inclusive", "inclusive"),
        ("salt and pepper?", "exclusive"),
    ],
)
def test_read_diamond_is_gateway_of_kind_in_label(label: str, kind: str) -> None:
    workflow = read(f"graph TD\n A --> g{{{label}}}\n g -- yes --> B\n g -- no --> C\n B & C --> h{{{label}}} --> D")
    assert [(gateway.kind, gateway.role) for gateway in workflow.gateways] == [(kind, "split"), (kind, "join")]
    assert successors(workflow, "A") == ("B", "C")
    assert [name for name in workflow.task_names if "D" in successors(workflow, name)] == ["B", "C"]


def test_read_diamond_that_joins_and_splits_is_two_gateways() -> None:
    workflow = read("graph LR\nA[Try] --> B{Done?}\nB -- no --> C[Mend]\nC --> B\nB ----> |yes| D[Use]")
    join, split = workflow.gateways
    assert (join.role, split.role) == ("join", "split")
    assert {("Try", join.name), ("Mend", join.name), (join.name, split.name), (split.name, "Use")} <= pairs(workflow)
    assert successors(workflow, "Try") == successors(workflow, "Mend") == ("Mend", "Use")


def test_read_hexagon_is_gateway_only_by_label() -> None:
    workflow = read("graph LR\nA --> g{{fork}} --> B & C\nB --> P{{Prepare}}")
    assert workflow.task_names == ("A", "B", "C", "Prepare")
    assert [gateway.kind for gateway in workflow.gateways] == ["parallel"]


@pytest.mark.parametrize("arrow", ["-->", "-.->", "-- reads -->", "-.->|reads|"])
def test_read_cylinder_is_data_with_data_flow(arrow: str) -> None:
    workflow = read(f"graph LR\nA --> B\nA {arrow} D[(Broth)]\nD {arrow} B")
    assert workflow.data == (Data("Broth"),)
    assert workflow.data_links == (DataLink("A", "Broth"), DataLink("Broth", "B"))
    assert pairs(workflow) == {("START", "A"), ("A", "B"), ("B", "END")}


def test_read_start_and_end_are_found_by_label() -> None:
    workflow = read("graph LR\ns([Start]) --> A[Chop] --> B[Rest] & e((End))")
    assert pairs(workflow) == {("START", "Chop"), ("Chop", "Rest"), ("Chop", "END")}


def test_read_data_flow_alone_adds_no_control_flow() -> None:
    assert read("graph LR\nA --> D[(Broth)] --> B").links == ()


def test_read_subgraph_is_composite_task() -> None:
    workflow = read(
        """graph TB
        Shop --> cooking --> Eat
        subgraph cooking [Cook the soup]
          direction LR
          Chop --> inner
          subgraph inner["Boil<br/>kind: slow"]
            Heat
          end
        end
        subgraph "Wash up"
          Rinse --> Dry
        end
        """
    )
    assert workflow.task_names == ("Shop", "Eat", "Cook the soup", "Wash up")
    cooking = workflow.task("Cook the soup").subworkflow
    assert cooking is not None
    assert cooking.task_names == ("Chop", "Boil")
    assert cooking.task("Boil").kind == "slow"
    assert (starts(cooking), ends(cooking)) == (("Chop",), ("Boil",))
    assert successors(workflow, "Shop") == ("Cook the soup",)


def test_read_node_in_two_subgraphs_is_in_first_to_end() -> None:
    workflow = read("graph TD\nsubgraph outer\n subgraph inner\n  A --> B\n end\n A:::hot\n C\nend\nB:::hot")
    outer = workflow.task("outer").subworkflow
    assert outer is not None
    assert outer.task_names == ("inner", "C")


def test_read_subgraph_with_crossing_links_is_group() -> None:
    workflow = read(
        "graph TB\nsubgraph one\n A --> B\n subgraph two\n  C --> D\n end\nend\nB --> E\nsubgraph three\n  E --> F\nend"
    )
    assert not any(task.composite for task in workflow.tasks if task.name != "two")
    assert workflow.task_names == ("A", "B", "two", "E", "F")


def test_read_styles_clicks_and_comments_are_ignored() -> None:
    text = (
        "graph TD\nclassDef hot fill:#f96,stroke:#333;\nA-->B\nclass A hot\nstyle B fill:#bbf\nlinkStyle 0 stroke:red\n"
    )
    assert pairs(read(text + 'click A "https://example.org" _blank\n%% a note\nA ~~~ B')) == pairs(
        read("graph TD\nA-->B")
    )


def test_presented_chart_of_markdown_stands_alone_and_several_have_headings() -> None:
    one, two = "graph TD\nA --> B", "graph TD\nC --> D"
    fenced = "\n".join(("# Tea", "```mermaid", one, "```"))
    assert MERMAID.interpret(fenced, "tea.md").presented == one
    both = MERMAID.interpret("\n".join((fenced, "# Milk", "```mermaid", two, "```")), "tea.md").presented
    assert both == f"%% file: tea.md\n%% workflow: tea 1\n{one}\n\n%% file: tea.md\n%% workflow: tea 2\n{two}"


@pytest.mark.parametrize("title", ["Tea time", '"Tea time"', "'Tea time'"])
def test_read_front_matter_gives_name(title: str) -> None:
    assert read(f"---\nconfig:\n  theme: dark\ntitle: {title}\n---\ngraph TD\nA").name == "Tea time"


def test_read_unnamed_charts_are_named_by_file_or_number() -> None:
    text = "graph TD\nA\n%% file: b/Tea.mmd\ngraph TD\nB\n"
    assert [workflow.name for workflow in MERMAID.parse(text, "")] == ["Flowchart", "Tea"]
    assert [workflow.name for workflow in MERMAID.parse("graph TD\nA\ngraph TD\nB", "")] == [
        "Flowchart 1",
        "Flowchart 2",
    ]
    assert [workflow.name for workflow in MERMAID.parse("graph TD\nA\ngraph TD\nB", "b/Tea.mmd")] == ["Tea 1", "Tea 2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "c.mmd:1:1: found no flowchart, expected 'flowchart TD'"),
        ("sequenceDiagram", "c.mmd:1:1: found 'sequenceDiagram', which is not supported, expected 'flowchart TD'"),
        ("# Tea\n```mermaid\nstateDiagram-v2\n```", "c.mmd:3:1: found 'stateDiagram-v2', which is not supported"),
        ("graph TD\nA -- maybe B", "c.mmd:2:3: found '--' without an end, expected a text and '-->'"),
        ("graph TD\nA --> ", "c.mmd:2:7: found the end of the text, expected a node"),
        ("graph TD\nA -->\n\n", "c.mmd:2:6: found the end of the line, expected a node"),
        ("graph TD\nsubgraph a\nA -->\nend", "c.mmd:3:6: found the end of the line, expected a node"),
        ("graph TD\nA B", "c.mmd:2:3: found 'B', expected an arrow such as '-->', '&', or the end of the statement"),
        ("graph TD\n\nA[Cook --> B", "c.mmd:3:3: found 'Cook --> B', expected ']' after '['"),
        ('graph TD\nA["Cook', "c.mmd:2:2: found a label without a second quote"),
        ('graph TD\nA["Cook") --> B', "c.mmd:2:9: found ') --> B', expected ']' after '['"),
        ("graph TD\nEND[x] --> B[x]", "c.mmd:2:1: found a second node called 'x', which is not supported"),
        ("graph TD\nsubgraph a\nA --> B", "c.mmd:2:10: found the subgraph 'a' without an end, expected 'end'"),
        ("graph TD\nend", "c.mmd:2:1: found 'end' outside of a subgraph"),
        ("graph TD\nsubgraph a\nend\nsubgraph a\nend", "c.mmd:4:10: found the subgraph 'a' a second time"),
        ("graph TD\nsubgraph a b [T]\nend\nsubgraph a b [T]\nend", "c.mmd:4:10: found the subgraph 'a b' a second"),
        ("graph TD\nsubgraph a [b\nend", "c.mmd:2:10: found 'a [b', expected an id and a title"),
        (
            "graph TD\nsubgraph one\nA-->B\nend\nA --> X\none --> A",
            "c.mmd:6:5: found a link between a subgraph and a node inside it, which is not supported",
        ),
        ("graph TD\nA[A<br/>parameter: x]", "c.mmd:2:1: found the parameter 'x', expected 'name', set to 1"),
        ("graph TD\nA[A<br/>kind: x<br/>kind: y]", "c.mmd:2:1: found a second kind, expected at most one"),
        ("graph TD\n%% parameter: x", "c.mmd:2:1: found the parameter 'x', expected 'name', set to 1"),
        ("---\ntitle: x\n", "c.mmd:1:1: found front matter without an end"),
    ],
)
def test_read_malformed_chart_names_place_and_expectation(text: str, message: str) -> None:
    with pytest.raises(ReadError) as raised:
        MERMAID.read(text, "c.mmd")
    assert message in str(raised.value)


def test_write_other_workflows_are_further_charts() -> None:
    both = replace(SOUP, others=(Workflow("Tea", tasks=(Task("Brew"),)),))
    assert MERMAID.read(MERMAID.write(both)) == both
