from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pytest_taskgraph.benchmarks.episodes import opening
from pytest_taskgraph.errors import UnknownNameError, UsageError
from pytest_taskgraph.families.understanding.prompts import PROMPTS, Example, prompt_template
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.notations import NOTATIONS, Notation
from pytest_taskgraph.trial import Question

PARTS: dict[str, Any] = {
    "workflow": "A -> B;",
    "notation": "DSL",
    "in_notation": "in a DSL",
    "guide": "Read it.",
    "question": "What?",
    "instruction": "One name.",
}


@pytest.mark.parametrize("name", sorted(PROMPTS))
def test_prompt_shows_all_parts_in_order(name: str) -> None:
    prompt = "\n".join(prompt_template(name).compose(**PARTS))
    places = [prompt.index(part) for part in ("DSL", "Read it.", "A -> B;", "What?", "One name.")]
    assert places == sorted(places)
    assert prompt.count("A -> B;") == 1


@pytest.mark.parametrize("notation", NOTATIONS.values(), ids=lambda notation: notation.name)
@pytest.mark.parametrize("name", sorted(PROMPTS))
def test_prompt_any_notation_has_its_phrase(name: str, notation: Notation) -> None:
    parts = {**PARTS, "notation": notation.title, "in_notation": notation.phrase}
    assert f"written {notation.phrase}. Read it." in "\n".join(prompt_template(name).compose(**parts))
    assert re.fullmatch(r"in a .+|as an? .+|as JSON|in plain .+", notation.phrase)


def test_prompts_state_place_of_answer() -> None:
    assert {name: prompt_template(name).place for name in PROMPTS} == {
        "direct": "whole", "chain-of-thought": "marker", "answer-first": "first-line",
        "few-shot": "marker", "guided": "marker",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["a ``` b", "```` \n```", "`" * 50_000])
def test_prompt_fence_not_in_text(text: str) -> None:
    prompt = prompt_template("direct").compose(**{**PARTS, "workflow": text}).prompt
    fence = next(line for line in prompt.split("\n") if line.startswith("```"))
    assert fence not in text
    assert f"\n{fence}\n{text}\n{fence}\n" in prompt


def test_prompt_template_from_file(tmp_path: Path) -> None:
    path = tmp_path / "my own.jinja"
    path.write_bytes(b"\xef\xbb\xbf{# answer: first-line #}\r\n{{ question }}\r\n{{ instruction }} {{ workflow }}")
    mine = prompt_template(str(path))
    assert (mine.name, mine.place) == ("my own", "first-line")
    assert mine.compose(**PARTS) == ("", "What?\nOne name. A -> B;")


def test_prompt_file_name_in_ids_is_safe(tmp_path: Path) -> None:
    path = tmp_path / "my own $prompt.jinja"
    path.write_text("{# answer: whole #}{{ workflow }} {{ question }}", encoding="utf-8")
    chosen = UnderstandingSettings(prompt=str(path), instances=1)
    (reference,) = understanding.references(chosen, {"patterns": "task_list"})
    assert reference.id == "task_list-wadl-n012-s0-000-my_own__prompt"
    assert understanding.question(reference, chosen).labels["prompt"] == "my own $prompt"


def test_prompt_template_unknown_name_lists_prompts() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown prompt 'dirct'; known: .*chain-of-thought.*direct"):
        prompt_template("dirct")


def test_prompt_template_missing_file_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.jinja"):
        prompt_template(str(tmp_path / "none.jinja"))


def test_prompt_template_without_place_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jinja"
    path.write_text("{{ question }}", encoding="utf-8")
    with pytest.raises(UsageError, match=r"a\.jinja:1: a prompt template begins with a line .*answer: marker"):
        prompt_template(str(path))


def test_prompt_template_invalid_file_named(tmp_path: Path) -> None:
    path = tmp_path / "b.jinja"
    path.write_text("{# answer: whole #}\n\n{{ question", encoding="utf-8")
    with pytest.raises(UsageError, match=r"b\.jinja:3: "):
        prompt_template(str(path))
    invalid_path = tmp_path / "c.jinja"
    invalid_path.write_bytes(b"{# answer: whole #}\xff")
    with pytest.raises(UsageError, match=r"c\.jinja: .*utf-8"):
        prompt_template(str(invalid_path))


def test_prompt_template_undefined_name_lists_variables(tmp_path: Path) -> None:
    path = tmp_path / "d.jinja"
    path.write_text("{# answer: whole #}{{ questoin }}", encoding="utf-8")
    with pytest.raises(
        UsageError, match=r"prompt d: 'questoin' is undefined; the template sees: examples, fence, guide"
    ):
        prompt_template(str(path)).compose(**PARTS)


SYSTEM = """{# answer: marker, shots: 3 #}
You know {{ notation }}. {{ guide }}
{# user #}
{% for example in examples %}{{ example.fence }} {{ example.workflow }}: {{ example.answer }}
{% endfor %}
{{ workflow }} {{ question }} {{ instruction }}
"""


def test_prompt_template_system_part_is_system_prompt(tmp_path: Path) -> None:
    path = tmp_path / "e.jinja"
    for text in (SYSTEM, SYSTEM.replace("\n", "\r\n")):
        path.write_bytes(text.encode())
        prompt_template.cache_clear()
        mine = prompt_template(str(path))
        assert (mine.place, mine.shots, mine.shows_examples) == ("marker", 3, True)
        assert mine.compose(**PARTS) == ("You know DSL. Read it.", "A -> B; What? One name.")
        composed = mine.compose(**PARTS, examples=[Example("``` ```", "?", "yes")])
        assert composed.prompt.split() == ["````", "```", "```:", "yes", "A", "->", "B;", "What?", "One", "name."]


def test_prompts_only_guided_has_system_prompt() -> None:
    prompts = {name: prompt_template(name).compose(**PARTS) for name in PROMPTS}
    assert {name for name, prompt in prompts.items() if prompt.system} == {"guided"}
    assert "DSL" in prompts["guided"].system
    assert "A -> B;" not in prompts["guided"].system


def test_question_has_system_prompt_and_digest() -> None:
    def put(name: str) -> Question:
        chosen = UnderstandingSettings(prompt=name, instances=1)
        return understanding.question(understanding.references(chosen, {"patterns": "task_list"})[0], chosen)

    guided, plain = put("guided"), put("direct")
    assert guided.system.startswith("You are an expert in workflow modelling")
    assert guided.system not in guided.prompt
    assert [message["role"] for message in opening(guided)] == ["system", "user"]
    assert ("system" in guided.digests, "system" in plain.digests, plain.system) == (True, False, "")
    assert guided.digests["prompt_template"] != plain.digests["prompt_template"]


def test_prompt_template_error_after_system_part_has_line(tmp_path: Path) -> None:
    path = tmp_path / "f.jinja"
    path.write_text("{# answer: whole #}\nYou are.\n{# user #}\n{{ question", encoding="utf-8")
    with pytest.raises(UsageError, match=r"f\.jinja:4: "):
        prompt_template(str(path))


def test_check_prompt_without_examples_refuses_shots(tmp_path: Path) -> None:
    path = tmp_path / "g.jinja"
    path.write_text("{# answer: whole #}{{ workflow }} {{ question }}", encoding="utf-8")
    understanding.check(UnderstandingSettings(prompt=str(path), shots=0))
    with pytest.raises(UsageError, match=r"prompt g shows no examples; .*0 shots"):
        understanding.check(UnderstandingSettings(prompt=str(path), shots=1))
    path = tmp_path / "h.jinja"
    path.write_text("{# answer: whole, shots: 1 #}{{ workflow }} {{ question }}", encoding="utf-8")
    with pytest.raises(UsageError, match="prompt h shows no examples"):
        understanding.check(UnderstandingSettings(prompt=str(path)))


def test_check_undefined_example_name_refused(tmp_path: Path) -> None:
    path = tmp_path / "i.jinja"
    path.write_text("{# answer: whole #}{% for e in examples %}{{ e.answr }}{% endfor %}", encoding="utf-8")
    with pytest.raises(UsageError, match=r"prompt i: .*answr"):
        understanding.check(UnderstandingSettings(prompt=str(path)))


def test_templates_folder_replaces_and_adds_prompts(tmp_path: Path) -> None:
    (tmp_path / "chain_of_thought.jinja").write_text(
        "{# answer: first-line #}My {{ workflow }} {{ question }}", encoding="utf-8"
    )
    (tmp_path / "terse.jinja").write_text("{# answer: whole #}{{ workflow }} {{ question }}", encoding="utf-8")
    (tmp_path / "README.md").write_text("What stands here.", encoding="utf-8")
    folder = str(tmp_path)
    assert prompt_template("chain-of-thought", folder).compose(**PARTS).prompt == "My A -> B; What?"
    assert prompt_template("terse", folder).compose(**PARTS).prompt == "A -> B; What?"
    assert prompt_template("direct", folder) == prompt_template("direct")
    assert prompt_template("chain-of-thought").place == "marker"
    with pytest.raises(UnknownNameError, match=r"unknown prompt 'tarse'; known: .*direct.*terse"):
        prompt_template("tarse", folder)
    chosen = UnderstandingSettings(prompt="terse", templates=folder, instances=1)
    (reference,) = understanding.references(chosen, {"patterns": "task_list"})
    assert reference.id.endswith("-terse")
    assert understanding.question(reference, chosen).place == "whole"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("none/", "", r"none: no such folder; --taskgraph-templates takes a folder"),
        ("a.txt", "x", r"a\.txt: no template; expected files NAME\.jinja"),
        ("a.jinja", "{{ question }}", r"a\.jinja:1: a prompt template begins with a line"),
        ("a.jinja", "{# answer: whole #}{{ qestion }}", "prompt a: 'qestion' is undefined"),
        ("patterns/task_lists.jinja", "List all.", r"unknown pattern .*'task_lists'; known: .*task_list,"),
        ("patterns/task_list.jinja", "List {{", r"task_list\.jinja \(phrasing 1\):1: "),
        ("patterns/task_list.jinja", "A\n{# or #}\nB {% if %}", r"task_list\.jinja \(phrasing 2\):1: "),
        ("patterns/task_list.jinja", "A\n{# or #}\n", r"task_list\.jinja: an empty phrasing"),
        ("patterns/task_list.txt", "A", r"task_list\.txt: no template"),
    ],
)
def test_templates_folder_invalid_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    folder = tmp_path
    if name.endswith("/"):
        folder = path
    else:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        understanding.check(UnderstandingSettings(templates=str(folder)))
