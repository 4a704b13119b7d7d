"""The episode of self-refinement: what it asks, when it stops, and the gateways after each round."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from procedure_texts import DINNER

from pytest_taskgraph.asking import Exchange, Transcript, drive
from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.errors import UnknownNameError, UsageError
from pytest_taskgraph.families.paged.document_sets import load
from pytest_taskgraph.families.paged.paged_settings import PagedSettings
from pytest_taskgraph.families.paged.refinement.conflict_rules import ConflictVerdict
from pytest_taskgraph.families.paged.refinement.refine_episode import (
    CONFLICT_RULES,
    ConflictRuleMaker,
    conflict_rule,
    refine,
    refine_settings,
)
from pytest_taskgraph.families.paged.refinement.verifier_feedback import (
    VerifierFeedback,
    feedback_message,
    feedback_template,
)
from pytest_taskgraph.notations.procedural_text import read_procedural_graph
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Json, Place, Question, Reply, Request

GOLD = DINNER
FIRST = GOLD.replace("OR", "XOR")
CHAIN = "Start -> buy the tent\nbuy the tent -> buy the map\nbuy the map -> End"


def make_question(place: Place = "whole", **settings: Json) -> Question:
    return Question(
        id="paged/refine/1",
        family="paged",
        group="refine",
        section="",
        text="Lay the table ...",
        prompt="Document: Lay the table ...",
        form="procedural-graph",
        reference={"flows": [*read_procedural_graph(GOLD).graph.to_json()]},
        metric="procedural_f1",
        pass_threshold=0.0,
        place=place,
        episode="refine",
        episode_settings={"rounds": 2, "verifier": "lexical", **settings},
    )


def run(question: Question, *texts: str | Reply) -> tuple[Transcript, list[Exchange]]:
    """Run the episode with scripted replies; it must take all of them."""
    replies: Iterator[str | Reply] = iter(texts)
    exchanges: list[Exchange] = []

    async def answer(request: Request) -> Reply:
        reply = next(replies)
        return Reply(reply) if isinstance(reply, str) else reply

    transcript = asyncio.run(drive(refine(question), answer, exchanges))
    assert next(replies, None) is None
    return transcript, exchanges


def gateway_f1(transcript: Transcript) -> list[float]:
    """Return the F1 of gateways for each round."""
    f1_by_round = []
    for number in range(len(transcript.parts) // 2):
        right, extracted = transcript.parts[f"round_{number}_gateway_precision"]
        found_gold, gold = transcript.parts[f"round_{number}_gateway_recall"]
        precision, recall = right / extracted if extracted else 0.0, found_gold / gold
        f1_by_round.append(2 * precision * recall / (precision + recall) if precision + recall else 0.0)
    return f1_by_round


def shown_texts(exchange: Exchange) -> list[tuple[Any, Any]]:
    feedback: Any = exchange.note["feedback"]
    return [(entry["kind"], entry["gateway"]) for entry in feedback]


def test_refine_gateway_repaired_in_round_two_raises_gateway_f1() -> None:
    question = make_question(rounds=3)
    transcript, exchanges = run(question, FIRST, FIRST, f"Here is the graph:\n```\n{GOLD}```")
    # Of XOR1, XOR2, AND1 and AND2 two are right, and two of the gold OR1, OR2, AND1 and AND2 are found.
    assert transcript.parts["round_0_gateway_precision"] == [2, 4]
    assert transcript.parts["round_0_gateway_recall"] == [2, 4]
    assert transcript.parts["round_2_gateway_precision"] == [4, 4]
    assert gateway_f1(transcript) == [0.5, 0.5, 1.0, 1.0]
    assert [shown_texts(exchange) for exchange in exchanges] == [[], [("exclusive", "XOR1")], [("exclusive", "XOR1")]]
    assert grade(question, transcript.reply).value == 1.0


def test_refine_feedback_is_further_message_of_conversation() -> None:
    _, exchanges = run(make_question(), FIRST, GOLD)
    first, second = (exchange.request.messages for exchange in exchanges)
    assert [message["role"] for message in second] == ["user", "assistant", "user"]
    assert second[:1] == first == [{"role": "user", "content": "Document: Lay the table ..."}]
    assert second[1]["content"] == FIRST
    assert '"dishes are needed" and "drinks are needed" can hold at the same time' in second[2]["content"]
    assert "Document:" not in second[2]["content"]


def test_refine_right_graph_asks_once() -> None:
    transcript, exchanges = run(make_question(), GOLD)
    assert len(exchanges) == 1
    assert gateway_f1(transcript) == [1.0, 1.0, 1.0]


def test_refine_stops_after_stated_rounds() -> None:
    transcript, exchanges = run(make_question(rounds=1), FIRST, FIRST)
    assert len(exchanges) == 2
    assert gateway_f1(transcript) == [0.5, 0.5]


def test_refine_sequential_hint_is_told_once() -> None:
    _, exchanges = run(make_question(rounds=5), CHAIN, CHAIN)
    assert [shown_texts(exchange) for exchange in exchanges] == [[], [("sequential", "")]]


@pytest.mark.parametrize("later", ["The graph is right as it is.", Reply(GOLD, finish_reason="length")])
def test_refine_unreadable_later_reply_keeps_last_readable_one(later: str | Reply) -> None:
    transcript, exchanges = run(make_question(), FIRST, later)
    assert transcript.reply.text == FIRST
    assert gateway_f1(transcript) == [0.5, 0.5, 0.5]
    assert exchanges[1].note["read"] == "unparseable"


def test_refine_unreadable_first_reply_is_returned_as_it_came() -> None:
    transcript, exchanges = run(make_question(), "I cannot help with that.")
    assert transcript.reply is exchanges[0].reply
    assert transcript.parts["round_2_gateway_precision"] == [0, 0]
    assert transcript.parts["round_2_gateway_recall"] == [0, 4]


def test_refine_of_marked_answers_asks_for_marker() -> None:
    _, exchanges = run(
        make_question("marker"), f"I reason.\nFinal answer:\n{FIRST}", f"I reason again.\nFinal answer:\n{GOLD}"
    )
    assert '"Final answer:"' in exchanges[1].request.prompt


def test_refine_template_of_settings_replaces_message() -> None:
    template = "{% for item in feedback %}{{ item.kind }} {{ item.gateway }}{% endfor %}"
    _, exchanges = run(make_question(feedback=template), FIRST, GOLD)
    assert exchanges[1].request.prompt == "exclusive XOR1"


def test_refine_settings_hold_rounds_verifier_and_template() -> None:
    settings = PagedSettings(rounds=4)
    pair = load(settings).test[0]
    assert refine_settings(pair, settings) == {
        "rounds": 4,
        "verifier": "lexical",
        "feedback": feedback_template(settings),
    }


def test_refine_settings_of_nli_name_its_model() -> None:
    settings = PagedSettings(nli="models/mine")
    stated = refine_settings(load(settings).test[0], settings)
    assert (stated["verifier"], stated["model"]) == ("nli", "models/mine")


class SlowRule:
    """A rule of which each gateway takes long: it keeps how often other tasks had their turn when it is asked."""

    def __init__(self) -> None:
        self.turns = 0
        self.seen: list[int] = []

    def find_conflict(self, first: str, second: str) -> ConflictVerdict:
        self.seen.append(self.turns)
        return "unknown"


def test_refine_lets_other_questions_go_on_between_gateways(monkeypatch: pytest.MonkeyPatch) -> None:
    rule, models = SlowRule(), []
    maker = ConflictRuleMaker(lambda model: models.append(model) or rule, with_model=True)  # type: ignore[func-returns-value]
    monkeypatch.setitem(CONFLICT_RULES, "slow", maker)
    twice = GOLD.replace("AND", "OR").replace("OR1 -> bake", "OR3 -> (bread is left) bake").replace(
        "OR1 -> slice", "OR3 -> (cheese is left) slice"
    )  # fmt: skip

    async def answer(request: Request) -> Reply:
        return Reply(twice)

    async def count() -> None:
        while True:
            rule.turns += 1
            await asyncio.sleep(0)

    async def ask() -> None:
        other = asyncio.create_task(count())
        await drive(refine(make_question(verifier="slow", model="mine")), answer)
        other.cancel()

    asyncio.run(ask())
    assert models == ["mine"]
    assert len(rule.seen) > 1
    assert len(set(rule.seen)) == len(rule.seen)


def test_refine_without_possible_settings_raises() -> None:
    with pytest.raises(UsageError, match="rounds"):
        run(make_question(rounds=0))
    with pytest.raises(UnknownNameError, match="condition verifier"):
        conflict_rule("guess")


@pytest.mark.parametrize(
    ("feedback", "told_text"),
    [
        (
            VerifierFeedback("inclusive", "OR1", "OR2", ("it is wet", "it is dry")),
            '- OR1 with its join OR2 is an inclusive gateway, but its conditions conflict: of "it is wet" and',
        ),
        (
            VerifierFeedback("parallel", "AND1", "", ("bake the cake", "ice the cake")),
            '- AND1 is a parallel gateway, but "bake the cake" and "ice the cake" act on the same object',
        ),
        (
            VerifierFeedback("sequential", "", "", ("bake the cake", "set the table")),
            '- "bake the cake" and "set the table" run in sequence, but act on different objects',
        ),
    ],
)
def test_feedback_message_of_each_kind_names_what_was_found(feedback: VerifierFeedback, told_text: str) -> None:
    lines = feedback_message([feedback], feedback_template(Settings())).splitlines()
    assert len(lines) == 3
    assert lines[1].startswith(told_text)


def test_feedback_template_of_user_folder_replaces_built_in_one(tmp_path: Path) -> None:
    (tmp_path / "paged").mkdir()
    (tmp_path / "paged" / "feedback.jinja").write_text("Think again.", encoding="utf-8")
    assert feedback_template(Settings(templates=str(tmp_path))) == "Think again."
