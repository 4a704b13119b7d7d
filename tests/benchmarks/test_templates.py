from __future__ import annotations

from pathlib import Path

import pytest

from pytest_taskgraph.benchmarks.templates import (
    files_of,
    literals,
    printed_names,
    render,
    template,
    undeclared_names,
)
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.scope import sentence
from pytest_taskgraph.families.understanding.questions.sample import draw


def test_render_strips_surrounding_blanks() -> None:
    assert render("  Is {{ a }} before {{ b }}?\n", {"a": "Chop", "b": "Cook"}) == "Is Chop before Cook?"


def test_render_escapes_nothing() -> None:
    assert render("{{ a }}", {"a": "x < y & \r\n'z'"}) == "x < y & \r\n'z'"


def test_render_undefined_name_lists_variables() -> None:
    with pytest.raises(UsageError, match=r"pattern soup: 'taks' is undefined; the template sees: place, task"):
        render("{{ taks }}", {"task": "Cook", "place": "W"}, "pattern soup")


@pytest.mark.parametrize("source", ["a\n{% if %}", "a\n{{ x", "a\n{{ x | soup }}", "a\n{% endif %}"])
def test_template_syntax_error_names_line(source: str) -> None:
    with pytest.raises(UsageError, match=r"^prompt soup:2: "):
        template(source, "prompt soup")


@pytest.mark.parametrize(
    "source",
    ["{{ ''.__class__.__mro__ }}", "{{ 1 / 0 }}", "{{ range(10 ** 9) | list }}", "{{ x.append(1) }}", "{{ x[7] + 1 }}"],
)
def test_render_failing_or_unsafe_refused(source: str) -> None:
    with pytest.raises(UsageError, match="prompt soup: "):
        render(source, {"x": [1]}, "prompt soup")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("In {{ place }}, which tasks  come after '{{ task }}'?", "In W, which tasks come after 'A'?"),
        ("{% if nested %}not those inside{% endif %} List all.", "List all."),
        ("{% if a %}one{% elif b %}two{% else %}three{% endif %} end", "two end"),
        ("{% if a %}one{% if b %}two{% else %}three{% endif %}{% endif %}", "one three"),
        ("{% for x in y %}again{% endfor %}once", "once"),
        ("{% set a %}never shown there{% endset %}plain{{ a }}", "plain"),
        ("{{ 'x' if flow else 'y' }} a text", "y a text"),
        ("{# a comment #}{%- if a -%}b{%- endif -%} c", "c"),
        ("{{ all }}", ""),
    ],
)
def test_literals_are_within_every_rendering(source: str, text: str) -> None:
    assert literals(source).within(text)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("In {{ place }}, which tasks come after '{{ task }}'?", "In W, which data come after 'A'?"),
        ("{% if a %}one{% elif b %}two{% else %}three{% endif %} end", "four end"),
        ("{% if a %}one{% if b %}two{% else %}three{% endif %}{% else %}four{% endif %}", "one"),
        ("{% if a %}one {{ b }} two{% else %}three{% endif %}", "one"),
    ],
)
def test_literals_of_no_branch_are_not_within(source: str, text: str) -> None:
    assert not literals(source).within(text)


def test_literals_of_pattern_are_within_questions() -> None:
    for pattern in catalogue().values():
        drawn_case = draw(pattern, 12, 1, 0)
        for phrasing, source in enumerate(pattern.templates):
            text = sentence(pattern, phrasing, drawn_case.scope, drawn_case.case)
            assert literals(source).within(" ".join(text.split()))


def test_undeclared_names_are_variables() -> None:
    assert undeclared_names("{% for a in b %}{{ a.c }}{% endfor %}{% if d %}{{ 'e' }}{% endif %}") == {"b", "d"}


def test_files_of_folder_by_name(tmp_path: Path) -> None:
    for name in ("b.jinja", "a.jinja", ".hidden", "notes.md"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    assert list(files_of(str(tmp_path))) == ["a", "b"]
    assert files_of(str(tmp_path), "patterns") == {}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("Is '{{ a }}' before {{ b }}?", {("'", "a", "'"), (" ", "b", "?")}),
        ("{{ a }}{{ a | upper }}{{ a.b }}", {("", "a", "")}),
        ("{% if x %}one '{{ a }}' {{ b }}{% elif y %}'{{ a }}'{% else %}or '{{ a }}'{% endif %}", {("'", "a", "'")}),
        ("{% if x %}'{{ a }}'{% endif %}{% for a in b %}{{ a }}{% endfor %}", set()),
        ("{% if x %}'{{ a }}'{% elif y %}'{{ a }}'{% endif %}", set()),
        ("{% if x %}{% set a = 'other' %}{% endif %}{{ a }}", set()),
    ],
)
def test_printed_names_are_in_every_rendering(source: str, names: set[tuple[str, str, str]]) -> None:
    assert set(printed_names(source)) == names


def test_printed_names_of_pattern_are_in_questions() -> None:
    for pattern in catalogue().values():
        for phrasing, source in enumerate(pattern.templates):
            drawn_case = draw(pattern, 16, 1, 0)
            text, fields = sentence(pattern, phrasing, drawn_case.scope, drawn_case.case), drawn_case.case.fields
            for before, name, after in printed_names(source):
                assert name not in fields or f"{before}{fields[name]}{after}".strip() in text
