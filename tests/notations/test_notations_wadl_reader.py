"""The reader of the workflow DSL: what it accepts, what it refuses and where; it refuses with ReadError only."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from steps import growth

from pytest_taskgraph.errors import ReadError
from pytest_taskgraph.notations import wadl
from pytest_taskgraph.notations.wadl import WADL
from pytest_taskgraph.notations.wadl.read_wadl import parse
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
    Value,
    Workflow,
)

SAMPLE = r"""// meals/Meal.xxp
package pantry;      // a comment behind code

workflow Meal {
  START -> Cook -> PARALLEL_1;         // before anything is declared
  PARALLEL_1 -> Taste -> PARALLEL_END_1;
  PARALLEL_1 -> Plate -> PARALLEL_END_1;
  PARALLEL_END_1 -> END;
  Cook ?-> Cook { condition "n < 3"; }
  configure tasks Cook { implementation "file://cook.py"; configure task Stir { kind "user"; } }
  define task Cook;
  define task Taste;
  define task Taste;
  task Plate { subworkflow Plating; data Dish = Soup; param size = -2; }
  define data Soup { schema "file://soup.schema"; }
  data Fold_k;
  configure data Soup { description "hot"; }
  Cook --> Soup --> Taste;
  param n = 3 in integer 0 .. 10;
  description "Meal of \"today\"";
}
// meals/Plating.xxp
package pantry;
workflow Plating from Base { configure task Lay { param heat = true; effect heat = "false"; } }
"""


def test_read_quirks_of_published_files() -> None:
    meal, plating = parse(SAMPLE, "")
    assert meal == Workflow(
        "Meal",
        "pantry",
        'Meal of "today"',
        tasks=(
            Task("Cook", implementation="file://cook.py"),
            Task("Taste"),
            Task(
                "Plate",
                parameters=(Parameter("size", -2),),
                reference=QualifiedName("Plating"),
                bindings=(("Dish", "Soup"),),
            ),
        ),
        data=(Data("Soup", "hot", "file://soup.schema"), Data("Fold_k")),
        gateways=(Gateway("PARALLEL_1", "parallel", "split"), Gateway("PARALLEL_END_1", "parallel", "join")),
        links=(
            Link("START", "Cook"),
            Link("Cook", "PARALLEL_1"),
            Link("PARALLEL_1", "Taste"),
            Link("Taste", "PARALLEL_END_1"),
            Link("PARALLEL_1", "Plate"),
            Link("Plate", "PARALLEL_END_1"),
            Link("PARALLEL_END_1", "END"),
            Link("Cook", "Cook", "n < 3"),
        ),
        data_links=(DataLink("Cook", "Soup"), DataLink("Soup", "Taste")),
        parameters=(Parameter("n", 3, Domain("integer", 0, 10)),),
        configurations=(Configuration("Cook", configurations=(Configuration("Stir", kind="user"),)),),
    )
    lay = Configuration("Lay", parameters=(Parameter("heat", True),), effects=(Effect("heat", "false"),))
    assert plating == Workflow("Plating", "pantry", base=QualifiedName("Base"), configurations=(lay,))


def test_read_samples_of_documentation() -> None:
    samples = re.findall(r"::\n\n(.*?)\n\n(?=\S)", wadl.__doc__ or "", re.DOTALL)
    meal, tea = parse("\n".join(samples), "")
    assert (meal.package, meal.base, len(meal.links)) == ("pantry", QualifiedName("Base", "pantry"), 8)
    assert (tea.package, tea.task_names) == ("", ("Boil water", "Brew"))


def test_read_windows_line_ends_and_byte_order_mark() -> None:
    assert parse("\ufeff" + SAMPLE.replace("\n", "\r\n"), "") == parse(SAMPLE, "")


def test_read_expanded_task_binds_data_and_keeps_parameters() -> None:
    (workflow,) = parse(
        """package p; workflow W { task T {
             define data A = B { schema "a"; }  define data C;
             task U {}  START -> U -> END;  A --> U --> C;  param n = 1;  subworkflow { param n = 0; description "in"; }
           } define data B; B --> T; }""",
        "",
    )
    task = workflow.task("T")
    assert task.bindings == (("A", "B"),)
    assert task.parameters == (Parameter("n", 1),)
    assert task.subworkflow is not None
    assert task.subworkflow.data == (Data("A", schema="a"), Data("C"))
    assert (task.subworkflow.name, task.subworkflow.description) == ("T", "in")
    assert task.subworkflow.parameters == (Parameter("n", 0),)


def test_read_several_files_first_workflow_is_main() -> None:
    first, second = SAMPLE.split("// meals/Plating.xxp")
    assert WADL.read_files({"a.xxp": first, "b.xxp": second}) == WADL.read(SAMPLE)
    with pytest.raises(ReadError, match=r"^b\.xxp:2:1: "):
        WADL.read_files({"a.xxp": first, "b.xxp": "\n}"})


def test_read_heading_lines_are_ignored() -> None:
    assert parse(WADL.heading("some folder/W.xxp") + "\npackage p; workflow W {}", "") == (Workflow("W", "p"),)


def test_read_keywords_as_names_where_unambiguous() -> None:
    (workflow,) = parse("package data; workflow task { define task kind; define task in; START -> kind -> in; }", "")
    assert workflow.qualified == QualifiedName("task", "data")
    assert workflow.task_names == ("kind", "in")


@pytest.mark.parametrize(
    ("written", "value"),
    [("4", 4), ("0.20", 0.2), ("-1e-3", -0.001), ("true", True), ('"4"', "4"), ("[]", ()), ('[1, ["a"]]', (1, ("a",)))],
)
def test_read_values_keep_types(written: str, value: Value) -> None:
    (workflow,) = parse(f"package p; workflow W {{ param v = {written}; }}", "")
    assert workflow.parameters == (Parameter("v", value),)
    assert type(workflow.parameters[0].value) is type(value)


@pytest.mark.parametrize(
    ("written", "domain"),
    [
        ("integer", Domain("integer")),
        ("integer 0..10", Domain("integer", 0, 10)),
        ("real .. -0.5", Domain("real", None, -0.5)),
        ("real 1 ..", Domain("real", 1)),
        ('{ "a", "b" }', Domain("words", words=("a", "b"))),
    ],
)
def test_read_domains_open_at_either_end(written: str, domain: Domain) -> None:
    (workflow,) = parse(f"package p; workflow W {{ param v in {written}; }}", "")
    assert workflow.parameters == (Parameter("v", None, domain),)


def test_read_other_escapes_stay_as_written() -> None:
    (workflow,) = parse(r'package p; workflow W { description "C:\temp\x \"q\" a\\b c\nd // text"; }', "")
    assert workflow.description == 'C:\\temp\\x "q" a\\b c\nd // text'


@pytest.mark.parametrize("kind", ["parallel", "exclusive", "inclusive"])
def test_read_markers_become_gateways_even_if_flawed(kind: str) -> None:
    word = kind.upper()
    (workflow,) = parse(f"package p; workflow W {{ START -> {word}_2; {word}_END_9 -> END; }}", "")
    assert [(gateway.name, gateway.kind, gateway.role) for gateway in workflow.gateways] == [
        (f"{word}_2", kind, "split"),
        (f"{word}_END_9", kind, "join"),
    ]


ERRORS = [
    ("", 1, 1, "the end of the text", "`package`"),
    ("package p;\nworkflow W {", 2, 13, "the end of the text", "`}`"),
    ("package p; workflow W from a.B from a.C {}", 1, 32, "`from`", "`{`"),
    ("package p; workflow W {\n  task A {}\n  A -> ;\n}", 3, 8, "`;`", "a name"),
    ("package p; workflow W {\n  task A {}\n  A => A;\n}", 3, 5, "`=`", "`-->`, `->` or `?->`"),
    ("package p; workflow W { task A {} A ?-> A; }", 1, 42, "`;`", "`{`"),
    ('package p; workflow W {\n  description "open;\n}', 2, 15, "a text that no quotation mark ends", "before the end"),
    ("package p; workflow W { task A {} A -> Chop; }", 1, 40, "'Chop'", "START, END or a marker ('A')"),
    ("package p; workflow W { task A {} A --> Soup; }", 1, 41, "'Soup'", "task or data of this block ('A')"),
    ("package p; workflow W { data D; D -> END; }", 1, 33, "'D'", "a task of this block"),
    ("package p; workflow W {\n task A {}\n task A {} }", 3, 7, "a second block of the task 'A'", "one"),
    ("package p; workflow W { data D {} data D {} }", 1, 40, "a second block of the data 'D'", "one"),
    ("package p; workflow W { task A {} data A; }", 1, 40, "data named 'A', as a task is", "another name"),
    ("package p; workflow W { param a = 1; param a = 2; }", 1, 44, "a second parameter 'a'", "one"),
    ('package p; workflow W { description "a"; description "b"; }', 1, 42, "'description'", "one at most"),
    ("package p; workflow W { task A { subworkflow B; subworkflow C; } }", 1, 49, "a second `subworkflow`", "one"),
    ("package p; workflow W { task A { subworkflow B; task C {} } }", 1, 34, "a reference from 'A'", "only one"),
    ("package p; workflow W { configure task A {} }", 1, 40, "'A'", "a task of this block (it declares none)"),
    ("package p; workflow W { task A { configure task B { data D; } subworkflow C; } }", 1, 58, "data", "a renaming"),
    ("package p; workflow W { define task START; }", 1, 37, "the reserved name START", "another name"),
    ("package p; workflow W { define task PARALLEL_1; }", 1, 37, "the marker PARALLEL_1", "quotation marks"),
    ('package p; workflow W { task "PARALLEL_1"; START -> PARALLEL_1; }', 1, 53, "the marker PARALLEL_1", "number"),
    ('package p; workflow W { task ""; }', 1, 30, "an empty name", "one character"),
    ("package p; workflow W { param n = 1e999; }", 1, 35, "the number 1e999", "double-precision"),
    (f"package p; workflow W {{ param n = {'9' * 5000}; }}", 1, 35, "5000 characters", "1000"),
    ("package p; workflow W {}\npackage p; workflow W {}", 2, 21, "a second workflow 'p.W'", "one"),
    ('package p; workflow W { condition "x"; }', 1, 25, "`condition`", "an item"),
    ('package p; workflow W { task A {} kind "user"; }', 1, 35, "`kind`", "a name"),
    ('package p; workflow W { task A { description "a" } }', 1, 50, "`}`", "`;`"),
    ('package p; workflow W { "A" "B" }', 1, 29, '`"B"`', "`->`"),
]


@pytest.mark.parametrize(("text", "line", "column", "found", "expected"), ERRORS)
def test_read_malformed_text_names_place_and_expectation(
    text: str, line: int, column: int, found: str, expected: str
) -> None:
    with pytest.raises(ReadError) as caught:
        parse(text, "W.xxp")
    error = caught.value
    assert (error.where, error.line, error.column) == ("W.xxp", line, column)
    assert found in error.found
    assert expected in error.expected


@pytest.mark.parametrize("opening", ["task T {", "param p = [", "[" * 3, "configure task T {"])
def test_read_deep_nesting_raises_read_error(opening: str) -> None:
    rest = "[" * 10_000 if "[" in opening else opening * 10_000
    with pytest.raises(ReadError):
        parse(f"package p; workflow W {{ {opening}{rest}", "")


def test_read_sixty_levels_of_subworkflows() -> None:
    (workflow,) = parse("package p; workflow W {" + "task T {" * 60 + "task U {}" + "}" * 61, "")
    for _ in range(60):
        inner = workflow.task("T").subworkflow
        assert inner is not None
        workflow = inner
    assert workflow.task_names == ("U",)


@pytest.mark.parametrize("part", ["\\", "\\\\", '\\"', "// ", "-", "A -> ", "1", "A."])
def test_read_hostile_text_is_refused_in_linear_time(part: str) -> None:
    def refuse(size: int) -> None:
        with pytest.raises(ReadError):
            parse(f'package p; workflow W {{ description "{part * size}', "")
        with pytest.raises(ReadError):
            parse(f"package p; workflow W {{ {part * size}", "")

    assert growth(refuse, 2000) < 2.5


def refusal(text: str) -> ReadError | None:
    try:
        parse(text, "")
    except ReadError as error:
        return error
    return None


PIECES = [
    "{",
    "}",
    ";",
    "->",
    "?->",
    "-->",
    '"',
    "\\",
    "task ",
    "data ",
    "= B",
    "PARALLEL_1",
    "subworkflow",
    "\n",
    "in",
]


@given(st.lists(st.tuples(st.integers(0, len(SAMPLE)), st.integers(0, 9), st.sampled_from(PIECES)), max_size=4))
def test_read_damaged_text_is_workflow_or_error_with_place(damage: list[tuple[int, int, str]]) -> None:
    text = SAMPLE
    for at, cut, piece in damage:
        text = text[:at] + piece + text[at + cut :]
    error = refusal(text)
    if error:
        lines = text.split("\n")
        assert 1 <= error.line <= len(lines)
        assert 1 <= error.column <= len(lines[error.line - 1]) + 1


@given(st.text())
def test_read_any_text_is_workflow_or_read_error(text: str) -> None:
    assert refusal(text) is not None
    for whole in (f"package p; workflow W {{ {text}", f'package p; workflow W {{ description "{text}"; }}'):
        error = refusal(whole)
        assert error is None or error.line >= 1
