"""The three writers of the workflow DSL, on an invented kitchen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from canonical_form import canonical

from pytest_taskgraph.errors import UnsupportedFeatureError, UsageError
from pytest_taskgraph.notations.notation import Notation
from pytest_taskgraph.notations.wadl import WADL, WADL_EXPANDED, WADL_SEPARATE
from pytest_taskgraph.notations.wadl.words import quote
from pytest_taskgraph.workflow.model import (
    Configuration,
    Data,
    DataLink,
    Domain,
    Effect,
    Gateway,
    Link,
    Parameter,
    QualifiedName,
    Task,
    Workflow,
)
from pytest_taskgraph.workflow.references import recursion

VARIANTS = (WADL, WADL_SEPARATE, WADL_EXPANDED)

BAKING = Workflow(
    "Baking",
    description="Oven work",
    tasks=(Task("Heat"), Task("Bake", effects=(Effect("rounds", "rounds + 1"),)), Task("Look")),
    data=(Data("Dough"), Data("Loaf", schema="file://loaf.schema")),
    links=(
        Link("START", "Heat"),
        Link("Heat", "Bake"),
        Link("Bake", "Look"),
        Link("Look", "Bake", "rounds < 3"),
        Link("Look", "END", "otherwise"),
    ),
    data_links=(DataLink("Dough", "Bake"), DataLink("Bake", "Loaf")),
    parameters=(Parameter("rounds", 0, Domain("integer", 0, 10)),),
)

DINNER = Workflow(
    "Dinner",
    "kitchen",
    'A meal for "two"',
    tasks=(
        Task("Knead", "Work it", "user", parameters=(Parameter("minutes", 12.5, Domain("real", 0)),)),
        Task("Boil water", parameters=(Parameter("heat", "low", Domain("words", words=("low", "high"))),)),
        Task("Oven", subworkflow=BAKING, bindings=(("Dough", "Batter"),), parameters=(Parameter("lid"),)),
        Task("Salad", implementation="file://salad.py", parameters=(Parameter("herbs", ("dill", (-1, True))),)),
        Task("Serve"),
    ),
    data=(Data("Batter", "sticky"),),
    gateways=(
        Gateway("fork", "parallel", "split"),
        Gateway("sync", "parallel", "join"),
        Gateway("any", "inclusive", "split"),
        Gateway("merge", "inclusive", "join"),
    ),
    links=(
        Link("START", "fork"),
        Link("fork", "Knead"),
        Link("Knead", "Oven"),
        Link("Oven", "sync"),
        Link("fork", "Boil water"),
        Link("Boil water", "sync"),
        Link("sync", "any"),
        Link("any", "Salad", "guests > -1"),
        Link("any", "Serve", "guests < 5"),
        Link("Salad", "merge"),
        Link("Serve", "merge"),
        Link("merge", "END"),
    ),
    data_links=(DataLink("Knead", "Batter"), DataLink("Batter", "Oven")),
    parameters=(Parameter("guests", 2, Domain("integer", -5)),),
)

HEAD = """package kitchen;

workflow Dinner {
  description "A meal for \\"two\\"";
  param guests = 2 in integer -5 ..;

  // tasks
  task Knead {
    description "Work it";
    kind "user";
    param minutes = 12.5 in real 0 ..;
  }
  task "Boil water" {
    param heat = "low" in { "low", "high" };
  }
"""

FLOW = """
  // control flow
  START -> PARALLEL_1;
  PARALLEL_1 -> Knead -> Oven -> PARALLEL_END_1;
  PARALLEL_1 -> "Boil water" -> PARALLEL_END_1;
  PARALLEL_END_1 -> INCLUSIVE_1;
  INCLUSIVE_1 ?-> Salad {
    condition "guests > -1";
  }
  INCLUSIVE_1 ?-> Serve {
    condition "guests < 5";
  }
  Salad -> INCLUSIVE_END_1;
  Serve -> INCLUSIVE_END_1;
  INCLUSIVE_END_1 -> END;

  // data flow
  Knead --> Batter;
  Batter --> Oven;
}
"""

TAIL = """  task Salad {
    implementation "file://salad.py";
    param herbs = ["dill", [-1, true]];
  }
  task Serve {}

  // data
  define data Batter {
    description "sticky";
  }
"""

BAKING_FLOW = """
  // control flow
  START -> Heat -> Bake -> Look;
  Look ?-> Bake {
    condition "rounds < 3";
  }
  Look ?-> END {
    condition "otherwise";
  }

  // data flow
  Dough --> Bake --> Loaf;
}
"""

ASSEMBLED = f"""{HEAD}  task Oven {{
    subworkflow Baking;
    param lid;
    data Dough = Batter;
  }}
{TAIL}{FLOW}
package kitchen;

workflow Baking {{
  description "Oven work";
  param rounds = 0 in integer 0 .. 10;

  // tasks
  task Heat {{}}
  task Bake {{
    effect rounds = "rounds + 1";
  }}
  task Look {{}}

  // data
  define data Dough;
  define data Loaf {{
    schema "file://loaf.schema";
  }}
{BAKING_FLOW}"""

EXPANDED = f"""{HEAD}  task Oven {{
    param lid;

    subworkflow {{
      description "Oven work";
      param rounds = 0 in integer 0 .. 10;
    }}

    // tasks
    task Heat {{}}
    task Bake {{
      effect rounds = "rounds + 1";
    }}
    task Look {{}}

    // data
    define data Dough = Batter;
    define data Loaf {{
      schema "file://loaf.schema";
    }}

    // control flow
    START -> Heat -> Bake -> Look;
    Look ?-> Bake {{
      condition "rounds < 3";
    }}
    Look ?-> END {{
      condition "otherwise";
    }}

    // data flow
    Dough --> Bake --> Loaf;
  }}
{TAIL}{FLOW}"""

SEPARATE = f"""package kitchen;

workflow Dinner from base.AbstractDinner {{
  description "A meal for \\"two\\"";

  // configurations
  configure task Knead {{
    description "Work it";
    kind "user";
    param minutes = 12.5 in real 0 ..;
  }}
  configure task "Boil water" {{
    param heat = "low" in {{ "low", "high" }};
  }}
  configure task Oven {{
    subworkflow Baking;
    param lid;
    data Dough = Batter;
  }}
  configure task Salad {{
    implementation "file://salad.py";
    param herbs = ["dill", [-1, true]];
  }}
  configure data Batter {{
    description "sticky";
  }}
}}

package kitchen;

workflow Baking from base.AbstractBaking {{
  description "Oven work";

  // configurations
  configure task Bake {{
    effect rounds = "rounds + 1";
  }}
  configure data Loaf {{
    schema "file://loaf.schema";
  }}
}}

package base;

workflow AbstractDinner {{
  param guests = 2 in integer -5 ..;

  // tasks
  define task Knead;
  define task "Boil water";
  define task Oven;
  define task Salad;
  define task Serve;

  // data
  define data Batter;
{FLOW}
package base;

workflow AbstractBaking {{
  param rounds = 0 in integer 0 .. 10;

  // tasks
  define task Heat;
  define task Bake;
  define task Look;

  // data
  define data Dough;
  define data Loaf;
{BAKING_FLOW}"""


@pytest.mark.parametrize(
    ("notation", "text"), [(WADL, ASSEMBLED), (WADL_SEPARATE, SEPARATE), (WADL_EXPANDED, EXPANDED)]
)
def test_write_rich_kitchen_in_style_of_each_variant(notation: Notation, text: str) -> None:
    assert notation.write(DINNER) == text
    assert canonical(notation.read(text)) == canonical(DINNER)


def test_write_read_assembled_text_is_same_text() -> None:
    assert WADL.write(WADL.read(ASSEMBLED)) == ASSEMBLED
    assert WADL_EXPANDED.write(WADL_EXPANDED.read(EXPANDED)) == EXPANDED


def flow(*tasks: str, gateways: Sequence[Gateway] = (), links: Sequence[tuple[str, str]] = ()) -> Workflow:
    return Workflow(
        "W", tasks=tuple(map(Task, tasks)), gateways=tuple(gateways), links=tuple(Link(a, b) for a, b in links)
    )


def test_markers_nested_are_numbered_in_pairs_beside_task_names() -> None:
    gateways = [Gateway(name, "parallel", "split" if name < "c" else "join") for name in "abcd"]
    links = [("START", "a"), ("a", "X"), ("a", "b"), ("b", "Y"), ("b", "PARALLEL_1"), ("Y", "d"), ("PARALLEL_1", "d")]
    text = WADL.write(
        flow("X", "Y", "PARALLEL_1", gateways=gateways, links=[*links, ("d", "c"), ("X", "c"), ("c", "END")])
    )
    assert "START -> PARALLEL_2;" in text
    assert "PARALLEL_2 -> X;" in text
    assert 'PARALLEL_3 -> "PARALLEL_1";' in text
    assert "PARALLEL_END_3 -> PARALLEL_END_2;" in text


def test_markers_read_before_keep_their_numbers() -> None:
    gateways = [Gateway("PARALLEL_7", "parallel", "split")]
    text = WADL.write(flow("A", "B", gateways=gateways, links=[("START", "PARALLEL_7"), ("PARALLEL_7", "A")]))
    assert "START -> PARALLEL_7;\n  PARALLEL_7 -> A;" in text


def test_write_cycle_names_no_task_twice_per_line() -> None:
    assert "START -> A -> B;\n  B -> A;" in WADL.write(flow("A", "B", links=[("START", "A"), ("A", "B"), ("B", "A")]))


def test_write_reference_has_package_only_if_ambiguous() -> None:
    tasks = (Task("A", reference=QualifiedName("X", "one")), Task("B", reference=QualifiedName("X", "two")))
    others = (Workflow("X", "one"), Workflow("X", "two"), Workflow("Y", "two"))
    third = Task("C", reference=QualifiedName("Y", "two"))
    text = WADL.write(Workflow("W", "one", tasks=(*tasks, third), others=others))
    assert [line.strip() for line in text.splitlines() if "subworkflow" in line] == [
        "subworkflow X;",
        "subworkflow two.X;",
        "subworkflow Y;",
    ]


def test_write_empty_package_is_main_and_main_is_quoted() -> None:
    assert WADL.write(Workflow("W")).startswith("package main;")
    assert WADL.write(Workflow("W", "main")).startswith('package "main";')
    assert [WADL.read(WADL.write(Workflow("W", package))).package for package in ("", "main", "a.b")] == [
        "",
        "main",
        "a.b",
    ]


def test_lift_recursive_inline_subworkflow_stays_inline() -> None:
    again = Workflow("Inner", tasks=(Task("Again", reference=QualifiedName("W")),), links=(Link("START", "Again"),))
    whole = Workflow("W", tasks=(Task("T", "first", subworkflow=again),), links=(Link("START", "T"),))
    for notation in (WADL, WADL_SEPARATE):
        back = notation.read(notation.write(whole))
        assert recursion(back) == recursion(whole) == ("W",)
        assert canonical(back) == canonical(whole)


def test_lift_subworkflows_get_unique_names() -> None:
    tasks = (Task("W", subworkflow=flow("A")), Task("T", subworkflow=Workflow("", tasks=(Task("A"),))))
    text = WADL.write(Workflow("W", tasks=tasks))
    assert [workflow.name for workflow in WADL.parse(text, "")] == ["W", "W2", "T"]


def test_split_derived_project_is_unchanged() -> None:
    base = Workflow("B", "p", tasks=(Task("T", implementation="t.py"), Task("U", reference=QualifiedName("S"))))
    inside = Configuration("U", configurations=(Configuration("V", kind="user"),))
    derived = Workflow("D", "q", base=base.qualified, configurations=(Configuration("T", description="done"), inside))
    project = replace(derived, others=(base, Workflow("S", "p", tasks=(Task("V"),))))
    text = WADL_SEPARATE.write(project)
    assert "workflow D from p.B {" in text
    assert WADL_SEPARATE.read(text) == project


def test_write_assembled_and_expanded_refuse_unsupported() -> None:
    with pytest.raises(UnsupportedFeatureError, match="derivation"):
        WADL.write(Workflow("D", base=QualifiedName("B"), others=(Workflow("B"),)))
    with pytest.raises(UnsupportedFeatureError, match="references"):
        WADL_EXPANDED.write(Workflow("W", tasks=(Task("T", reference=QualifiedName("X")),)))


@pytest.mark.parametrize(
    ("workflow", "named"),
    [
        (flow("START"), "'START'"),
        (flow(""), "''"),
        (Workflow("W", parameters=(Parameter("p", float("nan")),)), "nan"),
    ],
)
@pytest.mark.parametrize("notation", VARIANTS, ids=lambda one: one.name)
def test_write_unsupported_name_is_refused(notation: Notation, workflow: Workflow, named: str) -> None:
    with pytest.raises(UsageError, match=named):
        notation.write(workflow)


def test_quote_backslash_is_doubled_only_before_escape() -> None:
    assert quote(r"C:\temp\runs") == r'"C:\temp\runs"'
    assert quote("C:\\new\\") == r'"C:\\new\\"'
