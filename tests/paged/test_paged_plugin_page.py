"""The page of a run of PAGED: gold graph and answered graph side by side, with what differs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from loopback import Loopback, reply
from plugin_project import Project

from pytest_taskgraph.diagram import MOST_NODES

GOLD = """\
For cook:
Start -> lay the table
lay the table -> OR1
OR1 -> (dishes are needed) wash the plates
OR1 -> (drinks are needed) chill the wine
wash the plates -> OR2
chill the wine -> OR2
OR2 -> End
DataConstraint(wine list) -> chill the wine
"""
ARGUMENTS = ("--taskgraph-data=paged=data", "--taskgraph-report=json=r.json", "--taskgraph-report=html=r.html")


def run(project: Project, server: Loopback, text: str) -> dict[str, Any]:
    """Run one question with this reply, and return its trial."""
    project.write("data/dinner.graph.txt", GOLD)
    project.write("data/dinner.document.txt", "The cook lays the table.")
    server.answer = reply(text)
    ran = project.run(f"--model={server.url}#any", *ARGUMENTS)
    assert ran.clean, ran.output
    [trial] = project.record("r.json")["trials"]
    assert isinstance(trial, dict)
    return trial


def page_text(project: Project) -> str:
    """Return the text of the page, without tags."""
    page = (project.path / "r.html").read_text(encoding="utf-8")
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def test_page_draws_both_graphs_and_counts_what_differs(project: Project, server: Loopback) -> None:
    # Another type of gateway, two nodes and six links; one datum and its link are missing; one action is added.
    given = GOLD.replace("OR", "XOR").replace("DataConstraint(wine list) ->", "chill the wine -> taste the soup #")
    given = "\n".join(line.partition(" #")[0] for line in given.splitlines())
    trial = run(project, server, given)
    pair = trial["diagram_pair"]
    expected, answered = ({node["id"] for node in pair[side]["nodes"]} for side in ("expected", "given"))
    assert (len(expected - answered), len(answered - expected), len(expected & answered)) == (3, 3, 5)
    text = page_text(project)
    assert "Expected: dinner" in text
    assert "Given: dinner" in text
    assert "missing from the answer: 3 nodes, 7 links" in text
    assert "not expected: 3 nodes, 7 links" in text
    assert "the same: 5 nodes, 1 link" in text


def test_page_of_the_gold_graph_shows_no_difference(project: Project, server: Loopback) -> None:
    # Other numbers of gateways, other order of lines: the same graph.
    lines = GOLD.replace("OR1", "OR7").splitlines()
    trial = run(project, server, "\n".join([lines[0], *reversed(lines[1:])]))
    assert trial["score"]["value"] == 1.0
    pair = trial["diagram_pair"]
    assert {node["id"] for node in pair["expected"]["nodes"]} == {node["id"] for node in pair["given"]["nodes"]}
    assert "missing from the answer: 0 nodes, 0 links" in page_text(project)


def test_page_of_a_reply_with_two_hundred_nodes_is_bounded(project: Project, server: Loopback) -> None:
    chain = "\n".join(f"do the task {at} -> do the task {at + 1}" for at in range(200))
    trial = run(project, server, chain)
    pair = trial["diagram_pair"]
    node_count = sum(len(pair[side]["nodes"]) for side in ("expected", "given"))
    assert node_count + pair["given"].get("omitted", 0) == 8 + 201
    assert node_count <= MOST_NODES
    assert (project.path / "r.html").stat().st_size < 1_000_000


@pytest.mark.parametrize("text", ["There is no graph.", "->", "```\n```"])
def test_page_of_a_reply_without_a_graph_draws_nothing_given(project: Project, server: Loopback, text: str) -> None:
    trial = run(project, server, text)
    assert trial["outcome"] == "unparseable"
    assert trial["score"]["value"] == 0.0
    assert trial["score"]["parts"]["action_recall"] == [0, 3]
    assert "Given: dinner" not in page_text(project)
