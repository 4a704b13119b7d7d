"""The lossless notation: JSON."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest

from pytest_taskgraph.errors import ReadError, WorkflowError
from pytest_taskgraph.notations import plain_json
from pytest_taskgraph.notations.plain_json import JSON, digest, dumps
from pytest_taskgraph.workflow.model import (
    Configuration,
    Data,
    DataLink,
    Domain,
    Effect,
    Flaw,
    Gateway,
    Link,
    Parameter,
    QualifiedName,
    Task,
    Workflow,
)

INNER = Workflow("Inside", "kitchen", tasks=(Task("Stir"),), flaw=Flaw("cut-cycle"))
FULL = Workflow(
    name="Soup",
    package="kitchen",
    description='Says "now",\nand waits',
    tasks=(
        Task(
            "Cook",
            "boils",
            "heat",
            "cook.py",
            (Parameter("n", 0, Domain("integer", 0, None)),),
            (Effect("n", "n + 1"),),
        ),
        Task("Plate", subworkflow=INNER, bindings=(("Dish", "Broth"),)),
        Task("Taste", reference=QualifiedName("Tasting", "pantry")),
    ),
    data=(Data("Broth", "hot", "broth.json"),),
    gateways=(Gateway("F", "inclusive", "split"),),
    links=(Link("START", "F"), Link("F", "Cook", ""), Link("F", "Plate", "n < 3")),
    data_links=(DataLink("Broth", "Plate"),),
    parameters=(
        Parameter("empty", ""),
        Parameter("none"),
        Parameter("list", (1, 1.0, True, ("é", ()))),
        Parameter("word", "a", Domain("words", words=("b", "a"))),
    ),
    base=QualifiedName("Meal"),
    configurations=(Configuration("Cook", "task", configurations=(Configuration("D", "data", schema="s"),)),),
    others=(Workflow("Meal", flaw=Flaw("k", ("x",))), Workflow("Tasting", "pantry")),
    flaw=Flaw("drop-link", ("Cook", "END")),
)


def test_read_dumped_workflow_keeps_everything() -> None:
    assert JSON.read(dumps(FULL)) == FULL
    shuffled = replace(FULL, tasks=FULL.tasks[::-1])
    assert JSON.read(dumps(shuffled)) == shuffled


def test_read_dumped_values_keep_types() -> None:
    given = (1, 1.0, True, False, "1", (), 10**30, -0.5)
    back = JSON.read(dumps(Workflow("W", parameters=(Parameter("p", given),)))).parameters[0].value
    assert isinstance(back, tuple)
    assert [(type(value), value) for value in back] == [(type(value), value) for value in given]


def test_write_workflow_omits_only_flaws() -> None:
    unflawed = replace(
        FULL,
        flaw=None,
        tasks=(FULL.tasks[0], replace(FULL.tasks[1], subworkflow=replace(INNER, flaw=None)), FULL.tasks[2]),
        others=tuple(replace(other, flaw=None) for other in FULL.others),
    )
    assert JSON.read(JSON.write(FULL)) == unflawed
    assert "flaw" not in JSON.write(FULL)
    assert "drop-link" in dumps(FULL)


def test_dumps_is_plain_json_without_empty_fields() -> None:
    assert json.loads(dumps(Workflow("W", tasks=(Task("A"),)))) == {
        "format": "taskgraph-workflow",
        "version": 1,
        "name": "W",
        "tasks": [{"name": "A"}],
    }


def test_dumps_breaks_only_what_exceeds_the_width() -> None:
    def lines_of(name: str) -> list[str]:
        return dumps(Workflow("W", tasks=(Task(name), Task("B", bindings=(("a", "b"),)))))[:-1].split("\n")

    assert lines_of("A" * 53)[4:-1] == [
        f'  "tasks": [{{"name": "{"A" * 53}"}}, {{"name": "B", "bindings": [["a", "b"]]}}]'
    ]
    assert lines_of("A" * 54)[4:-1] == [
        '  "tasks": [',
        f'    {{"name": "{"A" * 54}"}},',
        '    {"name": "B", "bindings": [["a", "b"]]}',
        "  ]",
    ]
    assert lines_of("A" * 200)[5:8] == ["    {", f'      "name": "{"A" * 200}"', "    },"]


@pytest.mark.parametrize("name", ["A", 'é"\n', "", "A" * 120])
def test_dumps_brief_texts_equal_those_of_all_fields(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = (Task(name), Task(name, kind="user"), Task(name, reference=QualifiedName("W")))
    data = (Data(name), Data(name, "d"), Data(name, schema="s"))
    links = (Link(name, "END"), Link("START", name, ""), Link(name, name, "n > 1"))
    workflow = Workflow("W", tasks=tasks, data=data, links=links, data_links=(DataLink(name, name),))
    brief = dumps(workflow)
    monkeypatch.setattr(plain_json, "_BRIEF_TEXTS", {})
    assert dumps(workflow) == brief


def test_digest_differs_for_different_workflows() -> None:
    assert digest(FULL) == digest(JSON.read(dumps(FULL)))
    assert (
        len({digest(variant) for variant in (FULL, replace(FULL, flaw=None), replace(FULL, tasks=FULL.tasks[::-1]))})
        == 3
    )
    text = b'{\n  "format": "taskgraph-workflow",\n  "version": 1,\n  "name": "W"\n}\n'
    assert digest(Workflow("W")) == hashlib.sha256(text).hexdigest()


def test_read_deep_hierarchy_reads_back() -> None:
    workflow = Workflow("W", tasks=(Task("A"),))
    for _ in range(64):
        workflow = Workflow("W", tasks=(Task("A", subworkflow=workflow),))
    assert JSON.read(dumps(workflow)) == workflow


def test_dumps_infinite_value_raises_error() -> None:
    with pytest.raises(WorkflowError, match="'W' cannot be written"):
        dumps(Workflow("W", parameters=(Parameter("p", float("nan")),)))


HEAD = '{"format": "taskgraph-workflow", "version": 1, "name": "W"'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "w.json:1:1: found no document, expected a JSON object"),
        ("{", "w.json:1:2: found the end of the text, expected a key in double quotes"),
        ('{"a" 1}', "w.json:1:6: found '1}', expected ':' after a key"),
        ("[1, 2", "w.json:1:6: found the end of the text, expected ',' or ']'"),
        ("[1,]", "w.json:1:4: found ']', expected a value after ','"),
        ('{"a": "\n"}', "w.json:1:8: found the end of the line, expected JSON"),
        ('{"a": nul}', "w.json:1:7: found 'nul}', expected a JSON value"),
        ('{"a": 1, "a": 2}', "w.json:1:10: found the key 'a' a second time"),
        ("[]", "w.json:1:1: found a list, expected an object that holds a workflow"),
        ('{"name": "W"}', 'w.json:1:1: found no \'format\', expected "format": "taskgraph-workflow"'),
        ('{"format": "taskgraph-workflow", "version": 2}', 'w.json:1:45: found 2, expected "version": 1'),
        ('{"format": "taskgraph-workflow", "version": true}', "w.json:1:45: found true"),
        (
            HEAD + ',\n "taks": []}',
            "w.json:2:2: found the unknown key 'taks', expected one of name, description, package, tasks",
        ),
        (HEAD + ',\n "tasks": [{}]}', "w.json:2:12: found an object without 'name', expected Task with 'name'"),
        (HEAD + ',\n "tasks": [{"name": 3}]}', "w.json:2:21: found 3, expected a text"),
        (HEAD + ',\n "tasks": [{"name": "\\ud800"}]}', "w.json:2:21: found half a surrogate pair"),
        (HEAD + ',\n "tasks": {"name": "A"}}', "w.json:2:11: found an object, expected a list"),
        (HEAD + ',\n "links": ["A"]}', 'w.json:2:12: found "A", expected an object (Link)'),
        (
            HEAD + ',\n "gateways": [{"name": "G", "kind": "or", "role": "split"}]}',
            'found "or", expected one of "parallel"',
        ),
        (
            HEAD + ',\n "parameters": [{"name": "p", "value": [null]}]}',
            "w.json:2:41: found null, expected a number, a text",
        ),
        (HEAD + ',\n "parameters": [{"name": "p", "value": 1e999}]}', "w.json:2:40: found a number that is not finite"),
        (
            HEAD + ',\n "parameters": [{"name": "p", "value": ' + "9" * 5000 + "}]}",
            "found a number of thousands of digits",
        ),
        (
            HEAD + ',\n "parameters": [{"name": "p", "domain": {"kind": "real", "low": true}}]}',
            "found true, expected a number",
        ),
        (HEAD + ',\n "tasks": [{"name": "A", "bindings": [["a"]]}]}', "found a list, expected a list of two names"),
        (HEAD + "}\nx", "w.json:2:1: found 'x', expected a JSON value"),
        ("[" * 1000, "w.json:1:202: found a value nested too deeply, expected at most 200"),
    ],
)
def test_read_malformed_text_names_place_and_expectation(text: str, message: str) -> None:
    with pytest.raises(ReadError) as raised:
        JSON.read(text, "w.json")
    assert message in str(raised.value)


def test_parse_documents_under_headings_reads_all() -> None:
    text = f"// a.json\n{dumps(Workflow('A', others=(Workflow('B'),)))}\n// c.json\n{dumps(Workflow('C'))}"
    assert [workflow.name for workflow in JSON.parse(text, "")] == ["A", "B", "C"]
