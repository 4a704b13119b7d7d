"""Controlled English."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import ReadError
from pytest_taskgraph.notations import phrases
from pytest_taskgraph.notations.prose import PROSE
from pytest_taskgraph.notations.prose.sentences import SENTENCES
from pytest_taskgraph.workflow.model import (
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

SOUP = Workflow(
    "Soup",
    "kitchen",
    description="It's hot",
    parameters=(
        Parameter("salt", 3, Domain("integer", 0, 10)),
        Parameter("mode", "mild", Domain("words", words=("mild", "hot"))),
    ),
    tasks=(
        Task(
            "Cook",
            "boils",
            "user",
            "cook.py",
            (Parameter("heat", ("low", 0.5), Domain("real", None, 1)),),
            (Effect("salt", "salt + 1"),),
        ),
        Task("Chop"),
        Task(
            "Plate",
            subworkflow=Workflow("Plating", tasks=(Task("Rest"),), data=(Data("Dish"),)),
            bindings=(("Dish", "Broth"),),
        ),
        Task("Taste", reference=QualifiedName("Tasting", "pantry")),
    ),
    data=(Data("Broth", "clear", "broth.json"), Data("Bones")),
    gateways=(Gateway("F", "parallel", "split"), Gateway("X", "exclusive", "split")),
    links=(
        *(Link("START", "F"), Link("F", "Cook"), Link("F", "Chop")),
        *(Link("Cook", "X"), Link("X", "Cook", "salt < 3"), Link("X", "Plate", "otherwise"), Link("Plate", "END")),
    ),
    data_links=(DataLink("Broth", "Cook"), DataLink("Bones", "Cook"), DataLink("Cook", "Broth")),
    others=(
        Workflow(
            "Tasting", "pantry", tasks=(Task("Sip"),), links=(Link("START", "END", "late"), Link("Sip", "END", ""))
        ),
    ),
)
DOCUMENTED = """\
Workflow 'Soup':
The workflow belongs to the package 'kitchen'.
The workflow is described as 'It\\'s hot'.
The workflow has the parameter 'salt', set to 3, a whole number from 0 to 10.
The workflow has the parameter 'mode', set to "mild", one of 'mild', 'hot'.
The workflow has the tasks 'Cook', 'Chop', 'Plate' and 'Taste'.
The workflow has the data 'Broth' and 'Bones'.
The task 'Cook' is described as 'boils'.
The task 'Cook' is of the kind 'user'.
The task 'Cook' is implemented by 'cook.py'.
The task 'Cook' has the parameter 'heat', set to ["low", 0.5], a real number up to 1.
The task 'Cook' sets 'salt' to 'salt + 1'.
The task 'Plate' is composite and consists of a sub-workflow told below.
Inside the task 'Plate', the data 'Dish' stands for 'Broth'.
The task 'Taste' is composite and uses the workflow 'Tasting' of the package 'pantry'.
The data 'Broth' is described as 'clear'.
The data 'Broth' has the schema 'broth.json'.
The fork 'F' starts all of its branches.
The exclusive choice 'X' takes exactly one of its branches.
The workflow starts with the fork 'F'.
After the fork 'F' come 'Cook' and 'Chop', side by side.
After 'Cook' comes the exclusive choice 'X'.
After the exclusive choice 'X' comes 'Cook' if 'salt < 3'.
After the exclusive choice 'X' comes 'Plate' otherwise.
After 'Plate', the workflow ends.
The task 'Cook' reads 'Broth' and 'Bones'.
The task 'Cook' writes 'Broth'.

Inside the composite task 'Plate':
The sub-workflow is called 'Plating'.
The sub-workflow has the task 'Rest'.
The sub-workflow has the data 'Dish'.

Workflow 'Tasting':
The workflow belongs to the package 'pantry'.
The workflow has the task 'Sip'.
The workflow ends right after its start if 'late'.
After 'Sip', the workflow ends if ''.
"""


def test_write_workflow_gives_documented_text() -> None:
    assert PROSE.write(SOUP) == DOCUMENTED
    assert PROSE.read(DOCUMENTED) == SOUP


def test_read_sentences_under_headings_and_bullets() -> None:
    text = "\n".join(f"- {line}" if line else line for line in DOCUMENTED.splitlines()).replace(
        "- Workflow", "## Workflow"
    )
    assert PROSE.read(text.replace("\n", "\r\n")) == SOUP


def test_sentence_example_matches_only_its_own_pattern() -> None:
    for sentence in SENTENCES:
        assert [other.example for other in SENTENCES if other.pattern.fullmatch(sentence.example)] == [sentence.example]


def test_read_nested_composite_tasks_by_path() -> None:
    inner = Workflow("B", tasks=(Task("C"),))
    other = Workflow("A", tasks=(Task("B", subworkflow=inner),))
    nested = Workflow("W", tasks=(Task("A", subworkflow=other), Task("B", subworkflow=inner)))
    assert "Inside the composite task 'B' of the task 'A':" in PROSE.write(nested)
    assert PROSE.read(PROSE.write(nested)) == nested


texts = st.text(st.characters(exclude_categories=["Cs"]))


@given(texts)
def test_unquote_quoted_name_is_name_on_one_line(name: str) -> None:
    assert phrases.quote(name).isprintable()
    assert phrases.quoted_names(f"a {phrases.quote(name)}, {phrases.quote(name)} b") == (name, name)


@given(texts, texts)
def test_read_written_phrase_returns_value(one: str, other: str) -> None:
    assert phrases.read_effect(phrases.effect_phrase(Effect(one, other))) == Effect(one, other)
    assert phrases.read_binding(phrases.binding_phrase((one, other))) == (one, other)
    for value in (None, 1, True, 0.5, "", (one, (2, ()))):
        for domain in (
            None,
            Domain("words", words=(one, other)),
            Domain("integer", -3, None),
            Domain("real", None, 0.5),
        ):
            parameter = Parameter(other, value, domain)
            assert phrases.read_parameter(phrases.parameter_phrase(parameter)) == parameter


@pytest.mark.parametrize(
    "phrase",
    [
        "n",
        "'n', set to",
        "'n', set to {}",
        "'n', set to 1 x",
        "'n', a number",
        "'n', a real number from 1e999",
        "'n', one of 'a' 'b'",
    ],
)
def test_read_parameter_other_phrase_is_none(phrase: str) -> None:
    assert phrases.read_parameter(phrase) is None


HEAD = "Workflow 'W':\nThe workflow has the tasks 'A' and 'B'.\nThe workflow has the data 'D'.\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "p.txt:1:1: found no workflow, expected a line such as: Workflow 'Name':"),
        (
            "After 'A' comes 'B'.",
            "p.txt:1:1: found \"After 'A' comes 'B'.\", expected first a line such as: Workflow 'Name':",
        ),
        (HEAD + "  Then comes 'B'.", "p.txt:4:3: found \"Then comes 'B'.\", expected a sentence such as: "),
        (HEAD + "After 'A' goes 'B'.", "After 'A' comes 'B' if 'n < 3'."),
        (
            HEAD + "After 'A' comes 'C'.",
            "p.txt:4:17: found the unknown name 'C', expected a task or a gateway declared before",
        ),
        (HEAD + "After 'D' comes 'A'.", "p.txt:4:7: found the unknown name 'D', expected a task or a gateway"),
        (HEAD + "The task 'C' reads 'D'.", "p.txt:4:10: found the unknown task 'C', expected a task declared before"),
        (HEAD + "The task 'A' reads 'B'.", "p.txt:4:20: found the unknown data 'B', expected data declared before"),
        (HEAD + "The data 'A' has the schema 's'.", "p.txt:4:10: found the unknown data 'A'"),
        (
            HEAD + "The workflow has the task 'A'.",
            "p.txt:4:27: found the name 'A' a second time, expected a name of its own",
        ),
        (HEAD + "The workflow has the task 'END'.", "p.txt:4:27: found the name 'END' a second time"),
        (HEAD + "The task 'A' has the parameter n.", "p.txt:4:32: found 'n', expected 'name', set to 1"),
        (HEAD + "The task 'A' sets x.", "p.txt:4:19: found 'x', expected 'name' to 'expression'"),
        (
            HEAD + "The task 'A' is of the kind 'a'.\nThe task 'A' is of the kind 'b'.",
            "p.txt:5:1: found the kind a second time",
        ),
        (
            HEAD + "Inside the composite task 'A':",
            "p.txt:4:27: found the task 'A', expected a task declared as composite before",
        ),
        (
            HEAD + "\n".join(["The task 'A' is composite and uses the workflow 'V'."] * 2),
            "p.txt:5:10: found a second sub-workflow of the task 'A'",
        ),
    ],
)
def test_read_malformed_prose_names_place_and_expectation(text: str, message: str) -> None:
    with pytest.raises(ReadError) as raised:
        PROSE.read(text, "p.txt")
    assert message in str(raised.value)
