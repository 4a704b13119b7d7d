"""Runs whose episode asks several requests for an answer, side by side and one after the other."""

from __future__ import annotations

import asyncio
import csv
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from math import fsum
from types import SimpleNamespace
from typing import Any

import pytest
import virtual_time
from html_page import Page
from loopback import Answer, Loopback, refuse, reply
from plugin_project import Project, Ran, properties, right
from scripted_model import ScriptedModel

from pytest_taskgraph import redaction
from pytest_taskgraph.asking import Episode, Model, Transcript, Turns
from pytest_taskgraph.benchmarks.episodes import single
from pytest_taskgraph.models.clients.simulated import SimulatedModel
from pytest_taskgraph.plugin.asking import ask as ask_module
from pytest_taskgraph.plugin.asking.ask import ask, may_wait, trial_of
from pytest_taskgraph.results.record import exchanges as exchanges_module
from pytest_taskgraph.trial import Question, Reply, Request, Trial, digest_of

# Two drafts side by side, then one request that quotes both. The scored reply is the last one.
CONFTEST = """
from dataclasses import replace

from pytest_taskgraph import understanding
from pytest_taskgraph.asking import Transcript
from pytest_taskgraph.trial import Request


def message(role, content):
    return {"role": role, "content": content}


def committee(question):
    opening = message("user", question.prompt)
    hints = [Request(messages=[opening, message("user", f"Draft {at} of {question.id}.")]) for at in (1, 2)]
    drafts = yield hints
    answers = [message("assistant", draft.text) for draft in drafts]
    (last,) = yield [Request(messages=[opening, *answers, message("user", f"Decide {question.id}: {question.prompt}")])]
    agree = float(drafts[0].text == drafts[1].text)
    notes = [{"step": "draft"}, {"step": "draft"}, {"step": "decision"}]
    return Transcript(last, {"agreement": agree}, {"agreement": [agree, 1.0]}, notes)


class Committee(type(understanding)):
    name = "committee"

    def question(self, reference, settings):
        return replace(super().question(reference, settings), family=self.name, episode="committee")

    def episode(self, name):
        return {"committee": committee}[name]


COMMITTEE = Committee()


def pytest_taskgraph_register(registry):
    registry.family(COMMITTEE)
"""
SUITE = """
from conftest import COMMITTEE
from pytest_taskgraph import suite


@suite(COMMITTEE, patterns=["flow_start", "flow_end"], instances=2)
def test_graph(trial):
    trial.check()
"""
PRICE = (1e-6, 20e-6)  # US dollars a token in and out
REPORTS = (
    "--taskgraph-price=1/20", "--taskgraph-model-option=max_tokens=99", "--taskgraph-report=json=record.json",
    "--taskgraph-report=csv=r.csv", "--taskgraph-report=md=r.md", "--taskgraph-report=html=r.html",
    "--junitxml=junit.xml",
)  # fmt: skip


class Provider:
    """Answers with other numbers of tokens each time, and remembers their sums."""

    def __init__(self, server: Loopback) -> None:
        self.server = server
        self.served: list[tuple[int, int]] = []
        server.answer = self.answer

    def answer(self, prompt: str) -> Answer:
        decides = prompt.startswith("Decide ")
        took = (100 + len(self.served), 10 + len(self.served) % 7)
        self.served.append(took)
        return reply(right(prompt.partition(": ")[2]) if decides else f"Perhaps. {prompt}", usage=took)

    @property
    def tokens(self) -> tuple[int, int]:
        return sum(number for number, _ in self.served), sum(number for _, number in self.served)

    @property
    def cost(self) -> float:
        return fsum(tokens * price for tokens, price in zip(self.tokens, PRICE, strict=True))


@pytest.fixture
def provider(project: Project, server: Loopback) -> Provider:
    project.write("conftest.py", CONFTEST)
    project.write("test_graph.py", SUITE)
    return Provider(server)


def model(provider: Provider) -> str:
    return f"--model={provider.server.url}#any"


def trials(project: Project) -> list[dict[str, Any]]:
    return list(project.record()["trials"])


def rows(project: Project) -> list[dict[str, str]]:
    with (project.path / "r.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def sums(values: Iterator[tuple[float, ...]]) -> tuple[float, float, float]:
    """Tokens in and out, and cost in millionths of a dollar."""
    tokens_in, tokens_out, cost = zip(*values, strict=True)
    return sum(tokens_in), sum(tokens_out), round(fsum(cost) * 1e6)


def sums_of_reports(project: Project) -> dict[str, tuple[float, float, float]]:
    """Sums over what each report says of the single questions."""
    exchanges = [exchange for trial in trials(project) for exchange in trial["exchanges"] if "failure" not in exchange]
    cases = [dict(properties(case)) for case in project.junit().iter("testcase")]
    cases = [{name.removeprefix("taskgraph."): value for name, value in case.items()} for case in cases if case]
    page = (project.path / "r.html").read_text(encoding="utf-8")
    facts = re.findall(r">cost</dt>\D*\$([\d.]+)<.*?>tokens</dt>\D*>([\d,]+) in, ([\d,]+) out<", page)
    names = ("tokens_in", "tokens_out")
    return {
        "record": sums((entry["tokens_in"], entry["tokens_out"], entry["cost"]) for entry in exchanges),
        "csv": sums((*(int(row[name]) for name in names), float(row["cost_usd"])) for row in rows(project)),
        "junit": sums((*(int(entry[name]) for name in names), float(entry["cost_usd"])) for entry in cases),
        "html": sums((int(i.replace(",", "")), int(o.replace(",", "")), float(cost)) for cost, i, o in facts),
    }


def totals(project: Project, ran: Ran, provider: Provider, stored: bool) -> None:
    """Assert that every report says in sum what the provider answered."""
    (tokens_in, tokens_out), cost = provider.tokens, provider.cost
    requests = len(provider.served)
    who = f"the store answered {requests} requests: " if stored else f"this run sent {requests} requests, "
    took = f"{tokens_in:,} tokens in, {tokens_out:,} out, cost ${cost:.4f}"
    assert who + took in " ".join(line.strip() for line in ran.table), ran.output
    for name in ("r.md", "r.html"):
        assert took in (project.path / name).read_text(encoding="utf-8"), name
    head = "stored_" if stored else ""
    usage = project.record()["usage"]
    assert (usage[f"{head}tokens_in"], usage[f"{head}tokens_out"]) == (tokens_in, tokens_out)
    assert usage[f"{head}cost"] == pytest.approx(cost)
    suite = dict(properties(project.junit()))
    assert float(suite[f"taskgraph.{head}cost_usd"]) == pytest.approx(cost)
    expected = (tokens_in, tokens_out, round(cost * 1e6))
    assert sums_of_reports(project) == dict.fromkeys(("record", "csv", "junit", "html"), expected)


@pytest.mark.parametrize(
    "spread", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["one process", "two workers"]
)
def test_totals_of_every_report_count_all_exchanges(project: Project, provider: Provider, spread: bool) -> None:
    ran = (project.spread if spread else project.run)(model(provider), *REPORTS)
    assert ran.counts == {"passed": 4}, ran.output
    assert len(provider.served) == len(provider.server.requests) == 12
    totals(project, ran, provider, stored=False)
    replayed = (project.spread if spread else project.run)(model(provider), *REPORTS, "--taskgraph-replay")
    assert replayed.counts == {"passed": 4}, replayed.output
    assert len(provider.served) == 12
    totals(project, replayed, provider, stored=True)


def test_trial_keeps_messages_replies_notes_and_what_episode_measured(project: Project, provider: Provider) -> None:
    project.run(model(provider), *REPORTS)
    record = project.record()
    for trial in record["trials"]:
        exchange_id, exchanges = trial["question"]["id"], trial["exchanges"]
        prompt = "".join(record["texts"][part] for part in trial["question"]["prompt"])
        assert [each["step"] for each in exchanges] == ["draft", "draft", "decision"]
        assert [each["text"] for each in exchanges[:2]] == [f"Perhaps. Draft {at} of {exchange_id}." for at in (1, 2)]
        assert (exchanges[2]["final"], "text" in exchanges[2]) == (True, False)
        assert trial["requests"] == 3
        own = set.intersection(*({each["digest"] for each in exchange["messages"]} for exchange in exchanges))
        texts = [[record["texts"].get(each["digest"]) for each in exchange["messages"]] for exchange in exchanges]
        assert len(own) == 1  # the prompt
        assert [replies[1] for replies in texts[:2]] == [f"Draft {at} of {exchange_id}." for at in (1, 2)]
        assert texts[2][1:] == [*(each["text"] for each in exchanges[:2]), f"Decide {exchange_id}: {prompt}"]
        assert trial["score"]["metrics"]["agreement"] == 0.0
        assert trial["score"]["parts"]["agreement"] == [0.0, 1.0]


def test_wrong_answer_is_shown_with_exchanges(project: Project, provider: Provider) -> None:
    provider.server.answer = lambda prompt: reply("Final answer: Nobody", usage=(100, 10))
    assert project.run(model(provider), *REPORTS).counts == {"failed": 4}
    markdown = (project.path / "r.md").read_text(encoding="utf-8")
    assert markdown.count("exchanges:\n  1. subject, 100 tokens in, 10 out, $0.000300\n  2. subject, ") == 4
    page = Page((project.path / "r.html").read_text(encoding="utf-8"))
    (turn, *_) = page.all("li", class_="turn")
    assert turn.startswith("Request 1 of 3: model under test 100 tokens in, 10 out, $0.000300")
    assert re.search(r"asked Draft 1 of \S+\. replied Final answer: Nobody", turn)


def test_single_exchange_is_shown_as_reply_alone(project: Project, server: Loopback) -> None:
    server.answer = lambda prompt: "Final answer: Nobody"
    project.run(f"--model={server.url}#any", *REPORTS, "-k", "parallel_block")
    assert "subject" not in (project.path / "r.md").read_text(encoding="utf-8")
    assert "subject, " not in (project.path / "r.html").read_text(encoding="utf-8")
    assert [len(trial["exchanges"]) for trial in trials(project)] == [1, 1]


@pytest.mark.parametrize("spread", [False, True], ids=["one process", "two workers"])
def test_failure_in_third_request_keeps_first_two(project: Project, provider: Provider, spread: bool) -> None:
    def answer(prompt: str) -> Answer:
        return refuse(500, "out of order") if prompt.startswith("Decide ") else provider.answer(prompt)

    provider.server.answer = answer
    ran = (project.spread if spread else project.run)(model(provider), *REPORTS, "--taskgraph-retries=0")
    assert ran.counts == {"error": 4}, ran.output
    assert len(provider.served) == 8
    for trial in trials(project):
        assert (trial["outcome"], trial["reply"], trial["requests"]) == ("error", None, 3)
        assert ["text" in each for each in trial["exchanges"]] == [True, True, False]
        assert trial["exchanges"][2]["failure"] == "server"
    expected = (*provider.tokens, round(provider.cost * 1e6))
    assert sums_of_reports(project) == dict.fromkeys(("record", "csv", "junit", "html"), expected)
    assert f"cost ${provider.cost:.4f}" in " ".join(ran.table)
    assert "unknown cost" not in ran.output


def test_budget_that_ends_on_way_keeps_what_was_paid_for(project: Project, provider: Provider) -> None:
    ran = project.run(model(provider), *REPORTS, "--taskgraph-max-calls=2", "-k", "flow_start and 000")
    assert ran.counts["skipped"] == 1, ran.output
    (trial,) = trials(project)
    assert (trial["outcome"], trial["requests"], len(trial["exchanges"])) == ("skipped", 2, 2)
    assert trial["failure"]["kind"] == "budget::calls"
    assert sums_of_reports(project)["csv"] == (*provider.tokens, round(provider.cost * 1e6))


def test_plan_says_that_episode_of_several_turns_sends_more(project: Project, provider: Provider) -> None:
    ran = project.run(model(provider), "--taskgraph-dry-run", "--taskgraph-price=1/20")
    assert "8 requests" in ran.output
    assert "at least" in ran.output
    assert provider.served == []


QUESTION = Question("q", "f", "g", "s", "?", "Which?", "task", "A", "correctness", names=["A"])


class Slow:
    """Answers the first two requests at once, and any other one only after an hour."""

    name = "slow"

    def __init__(self) -> None:
        self.asked = 0

    async def answer(self, request: Request) -> Reply:
        self.asked += 1
        await asyncio.sleep(0.0 if self.asked <= 2 else 3600.0)
        return Reply("Final answer: A", 10, 1, 0.5, retries=1)


def one_by_one(question: Question) -> Turns:
    for _ in range(3):
        (replies,) = yield [Request(messages=[{"role": "user", "content": question.prompt}])]
    return Transcript(replies)


def test_question_that_times_out_keeps_what_was_answered() -> None:
    async def ask_question() -> Trial:
        result = await ask(QUESTION, one_by_one, Slow(), None, 60.0)  # type: ignore[arg-type]  # measures nothing
        return trial_of(QUESTION, "slow", result)[0]

    trial = virtual_time.run(ask_question)
    assert (trial.outcome, trial.requests, trial.retries) == ("error", 3, 2)
    assert trial.failure is not None
    assert trial.failure.kind == "timeout"
    assert trial.failure.message.startswith("no answer within 60 s")
    assert [(exchange.get("cost"), exchange.get("failure")) for exchange in trial.exchanges] == [
        (0.5, None), (0.5, None), (None, "timeout"),
    ]  # fmt: skip


def test_samples_of_episode_differ_in_every_repetition() -> None:
    def sampling(question: Question) -> Turns:
        messages = [{"role": "user", "content": question.prompt}]
        replies = yield [Request(messages=messages, repetition=at) for at in (1, 2, 3)]
        return Transcript(replies[0])

    async def repetitions(at: int) -> list[int]:
        model = ScriptedModel(lambda request: "Final answer: A")
        await ask(replace(QUESTION, repetition=at), sampling, model, None)  # type: ignore[arg-type]
        return [request.repetition for request in model.requests]

    ask_question = [asyncio.run(repetitions(at)) for at in (1, 2, 3)]
    assert [samples[0] for samples in ask_question] == [1, 2, 3]  # as questions with one request have it
    assert len({sample for samples in ask_question for sample in samples}) == 9


def test_composed_reply_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_registered", {})
    redaction.register({"api_key": "hush-hush-123"})

    def quoting(question: Question) -> Turns:
        (replies,) = yield [Request(messages=[{"role": "user", "content": question.prompt}])]
        return Transcript(Reply(f"{question.prompt} {replies.text}"))

    async def ask_question() -> Trial:
        question = replace(QUESTION, prompt="Use hush-hush-123.")
        return trial_of(question, "m", await ask(question, quoting, ScriptedModel(["Final answer: A"]), None))[0]  # type: ignore[arg-type]

    trial = asyncio.run(ask_question())
    assert trial.reply is not None
    assert trial.reply.text == "Use [key]. Final answer: A"
    assert "hush" not in json.dumps(trial.to_json())


def test_trial_of_plain_question_searches_its_prompt_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []

    def redact(text: str) -> str:
        searched.append(text)
        return redaction.redact(text)

    for module in (ask_module, exchanges_module):
        monkeypatch.setattr(module, "redact", redact)

    result = asyncio.run(ask(QUESTION, single, ScriptedModel(["Final answer: A"]), None))  # type: ignore[arg-type]
    trial, _ = trial_of(QUESTION, "m", result)
    assert sum(QUESTION.prompt in text for text in searched) == 1
    assert result.transcript is not None
    assert trial.question is QUESTION
    assert trial.reply is result.transcript.reply  # neither is copied
    assert [message["digest"] for message in trial.exchanges[0]["messages"]] == [digest_of(QUESTION.prompt)]


SIMULATED = SimulatedModel(lambda digest: ("A", "B"), 1.0)


@pytest.mark.parametrize(
    ("question", "episode", "model", "specs", "waits"),
    [
        (QUESTION, single, SIMULATED, {"judge": ""}, False),
        (QUESTION, single, SIMULATED, {"judge": "scripted"}, True),
        (replace(QUESTION, judged=["judge"]), single, SIMULATED, {"judge": ""}, True),
        (QUESTION, one_by_one, SIMULATED, {"judge": ""}, True),
        (QUESTION, single, ScriptedModel(["A"]), {"judge": ""}, True),
    ],
)
def test_question_may_wait_unless_all_that_answers_is_immediate(
    question: Question, episode: Episode, model: Model, specs: dict[str, str], waits: bool
) -> None:
    assert may_wait(question, episode, model, SimpleNamespace(specs=specs)) is waits  # type: ignore[arg-type]


def test_interrupt_while_model_answers_is_no_fault_of_episode() -> None:
    def interrupt(request: Request) -> str:
        raise KeyboardInterrupt

    async def run() -> None:
        with pytest.raises(KeyboardInterrupt):
            await ask(QUESTION, single, ScriptedModel(interrupt), None, waits=False)  # type: ignore[arg-type]

    asyncio.run(run())
