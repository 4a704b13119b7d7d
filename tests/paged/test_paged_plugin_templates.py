"""Prompt templates of the user for PAGED over the plugin: used, or refused before anything is asked."""

from __future__ import annotations

import pytest
from loopback import Loopback
from plugin_project import Project

GRAPH = "Start -> boil water\nboil water -> End"
OWN = (
    "--taskgraph-templates=mine", "--taskgraph-instances=2", "--taskgraph-shots=1", "--taskgraph-report=json=r.json",
)  # fmt: skip


@pytest.mark.parametrize(
    ("method", "name", "template", "prompt"),
    [
        ("extract", "extract", "Draw this:\n{{ document }}", "Draw this:\n"),
        (
            "reason",
            "extract",
            "{{ 'Think. ' if reasoning }}{{ examples | length }} {{ document }}\nFinal answer:",
            "Think. 1 ",
        ),
        ("elements", "elements", "{{ format }}\nOf:\n{{ document }}", "activity: what is done"),
    ],
)
def test_template_of_user_replaces_the_prompt_of_its_name(
    project: Project, server: Loopback, method: str, name: str, template: str, prompt: str
) -> None:
    project.write(f"mine/paged/{name}.jinja", template)
    server.answer = GRAPH
    ran = project.run(f"--model={server.url}#any", *OWN, f"--taskgraph-paged-method={method}")
    assert (ran.code, ran.counts) == (0, {"passed": 2}), ran.output
    documents = [trial["question"]["text"].partition("\n")[2] for trial in project.record("r.json")["trials"]]
    assert all(received.prompt.startswith(prompt) for received in server.requests)
    assert sorted(any(document in received.prompt for received in server.requests) for document in documents) == [
        True,
        True,
    ]


def test_feedback_template_of_user_is_the_second_message(project: Project, server: Loopback) -> None:
    project.write("mine/paged/feedback.jinja", "Think about {{ feedback | map(attribute='kind') | join(', ') }}.")
    server.answer = "Start -> buy the tent\nbuy the tent -> wash the car\nwash the car -> End"
    ran = project.run(f"--model={server.url}#any", *OWN, "--taskgraph-paged-method=refine")
    assert ran.code == 0, ran.output
    assert [received.prompt for received in server.requests if len(received.body["messages"]) == 3] == [
        "Think about sequential."
    ] * 2


@pytest.mark.parametrize(
    ("name", "template", "message"),
    [
        ("extract", "Draw the graph.", "paged/extract.jinja does not show the document; add {{ document }}"),
        (
            "extract",
            "{% if not reasoning %}{{ document }}{% endif %}",
            "paged/extract.jinja does not show the document; add {{ document }}",
        ),
        ("elements", "{{ format }}", "paged/elements.jinja does not show the document; add {{ document }}"),
        ("extract", "{{ text }}", "'text' is undefined; the template sees: document, examples, reasoning"),
        (
            "elements",
            "{{ document }}{{ graph }}",
            "'graph' is undefined; the template sees: document, examples, format",
        ),
        ("feedback", "{{ found }}", "'found' is undefined; the template sees: feedback, marked"),
        ("extract", "{{ document", "extract.jinja:1: unexpected end of template"),
        (
            "extraction",
            "{{ document }}",
            "unknown prompt of paged 'extraction'; known: elements, extract, feedback, paraphrase",
        ),
    ],
)
def test_template_with_a_mistake_is_a_usage_error_before_asking(
    project: Project, server: Loopback, name: str, template: str, message: str
) -> None:
    project.write(f"mine/paged/{name}.jinja", template)
    ran = project.run(f"--model={server.url}#any", *OWN)
    assert (ran.code, ran.clean) == (4, True), ran.output
    assert message in " ".join(ran.output.split())
    assert server.requests == []
