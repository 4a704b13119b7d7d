"""What a plan says of questions whose first request another question sends, too."""

from __future__ import annotations

from loopback import Loopback, reply
from plugin_project import Project

FAMILY = """
from pytest_taskgraph import Family, Question, QuestionReference, Request, Transcript, one_turn


@one_turn
def draft(question):
    (reply,) = yield [Request([{"role": "user", "content": question.prompt}])]
    return Transcript(reply)


def revise(question):
    (reply,) = yield [Request([{"role": "user", "content": question.prompt}])]
    (better,) = yield [Request([{"role": "user", "content": f"Better: {reply.text}"}])]
    return Transcript(better)


class Drafts(Family):
    name = "drafts"

    def references(self, settings, options):
        return [QuestionReference("draft", "draft"), QuestionReference("revise", "revise")]

    def question(self, reference, settings):
        return Question(
            id=reference.id, family="drafts", group=reference.group, section="", text="Is it?", prompt="Is it?",
            form="yes-no", reference="yes", metric="correctness", place="whole", episode=reference.group,
        )

    def episode(self, name):
        return {"draft": draft, "revise": revise}[name]


def pytest_taskgraph_register(registry):
    registry.family(drafts)


drafts = Drafts()
"""
SUITE = """
from conftest import drafts
from pytest_taskgraph import suite

@suite(drafts)
def test_drafts(trial):
    trial.check()
"""


def test_plan_shared_first_request_says_at_least(project: Project, server: Loopback) -> None:
    project.write("conftest.py", FAMILY)
    project.write("test_graph.py", SUITE)
    server.answer = reply("yes")
    planned = project.run(f"--model={server.url}#any", "--taskgraph-dry-run")
    assert "plan: at least 1 request" in " ".join(planned.output.split()), planned.output
    ran = project.run(f"--model={server.url}#any")
    assert (ran.code, len(server.requests)) == (0, 2), ran.output
    again = project.run(f"--model={server.url}#any", "--taskgraph-dry-run")
    assert "at least" not in again.output
