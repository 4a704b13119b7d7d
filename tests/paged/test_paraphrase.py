"""Paraphrases of documents by a model, and what they lose."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from document_graphs import graph_of

from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.errors import ProviderError, UnparseableError
from pytest_taskgraph.families.paged.document_quality.paraphrase import (
    Paraphrase,
    paraphrase_document,
    paraphrase_request,
    read_paraphrase,
    sentence_groups,
)
from pytest_taskgraph.families.paged.document_quality.quality_metrics import GraphName, graph_names
from pytest_taskgraph.families.paged.documents import write_document
from pytest_taskgraph.trial import Reply, Request
from pytest_taskgraph.workflow.procedural_graph import ProceduralGraph

GROUPS = ("The clerk must inspect the goods.", "The accountant must pay the refund.")
GOOD = "First, the clerk has to inspect the goods. <SEP> Then the accountant can pay the refund."


def return_graph() -> ProceduralGraph:
    return graph_of(
        "Start -> inspect the goods\ninspect the goods -> pay the refund\npay the refund -> End",
        inspect="clerk",
        pay="accountant",
    )


class ScriptedParaphraser:
    """A model that gives these replies in turn, and keeps the requests."""

    name = "scripted"

    def __init__(self, replies: Sequence[str | Exception]) -> None:
        self._replies = list(replies)
        self.requests: list[Request] = []

    async def answer(self, request: Request) -> Reply:
        self.requests.append(request)
        reply = self._replies[len(self.requests) - 1]
        if isinstance(reply, Exception):
            raise reply
        return Reply(reply)


def paraphrase(model: ScriptedParaphraser, groups: Sequence[str] = GROUPS) -> Paraphrase:
    return asyncio.run(paraphrase_document(model, return_graph(), groups, Settings(), {"temperature": 0.0}))


def test_sentence_groups_are_those_of_the_document() -> None:
    document = write_document(return_graph())
    groups = sentence_groups(document)
    assert " ".join(groups) == document.text
    assert len(groups) == len({sentence.group for sentence in document.sentences})


def test_sentence_groups_concatenated_document_is_one_group() -> None:
    document = write_document(return_graph(), "concatenated")
    assert sentence_groups(document) == (document.text,)


def test_paraphrase_request_marks_groups_and_lists_names() -> None:
    request = paraphrase_request(GROUPS, graph_names(return_graph()), Settings(), {"temperature": 0.0})
    assert (request.role, request.kind, request.settings) == ("paraphraser", "chat", {"temperature": 0.0})
    assert f"{GROUPS[0]}\n<SEP>\n{GROUPS[1]}" in request.prompt
    assert "The document has 2 parts." in request.prompt
    assert "- action: inspect the goods\n- action: pay the refund\n- actor: clerk\n- actor: accountant\n" in (
        request.prompt
    )


def test_paraphrase_request_of_one_group_speaks_of_no_parts() -> None:
    prompt = paraphrase_request(GROUPS[:1], (), Settings()).prompt
    assert GROUPS[0] in prompt
    assert not any(word in prompt for word in ("part", "<SEP>"))


@pytest.mark.parametrize(
    ("reply", "parts"),
    [
        ("One. <SEP> Two.", ("One.", "Two.")),
        ("One.\n<sep/>\n\n< SEP >\nTwo\n  words.", ("One.", "Two words.")),
        ("```\nOne.\n<SEP>\nTwo.\n```", ("One.", "Two.")),
        ("Here is the rewritten document:\n\n```text\nOne.\n```\nI kept all names.", ("One.",)),
        ("Sure! Then One.", ("Sure! Then One.",)),
        ("**Rewritten document:**\nOne.", ("One.",)),
        ("For the clerk:\nOne.", ("For the clerk: One.",)),
        ("<think>Two <SEP> groups?</think>\nOne.", ("One.",)),
    ],
)
def test_read_paraphrase_reply_gives_its_parts(reply: str, parts: tuple[str, ...]) -> None:
    assert read_paraphrase(reply).parts == parts


@pytest.mark.parametrize("reply", ["", " \n", "<SEP>", "```\n```", "Here is the document:", "<think>Well.</think>"])
def test_read_paraphrase_reply_without_text_is_unparseable(reply: str) -> None:
    with pytest.raises(UnparseableError, match="expected the rewritten document"):
        read_paraphrase(reply)


@pytest.mark.parametrize("piece", ["<SEP", "< " * 3, "here is ", "the document ", "\n```\n", ": ", "\n", "</think"])
def test_read_paraphrase_long_hostile_reply_is_cut(piece: str) -> None:
    text = read_paraphrase(f"One.{piece * 200_000}").text
    assert text.startswith("One.")
    assert len(text) <= 200_000


def test_paraphrase_document_nothing_lost_asks_once() -> None:
    model = ScriptedParaphraser([GOOD])
    paraphrased = paraphrase(model)
    assert paraphrased.text == GOOD.replace("<SEP> ", "")
    assert (paraphrased.lost, paraphrased.groups, paraphrased.attempts, paraphrased.failure) == ((), (2, 2), 1, "")
    assert paraphrased.coverage.share() == 1.0


def test_paraphrase_document_lost_name_is_told_in_the_retry() -> None:
    bad = "The clerk has to inspect the goods. <SEP> The money is paid back."
    model = ScriptedParaphraser([bad, GOOD])
    paraphrased = paraphrase(model)
    assert (paraphrased.lost, paraphrased.attempts) == ((), 2)
    first, second = model.requests
    assert second.messages[:2] == [*first.messages, {"role": "assistant", "content": bad}]
    assert "- action: pay the refund\n- actor: accountant\n" in second.prompt
    assert "inspect the goods" not in second.prompt
    assert second.settings == {"temperature": 0.0}


def test_paraphrase_document_worse_retry_is_not_kept() -> None:
    model = ScriptedParaphraser(["The clerk has to inspect the goods; the accountant pays.", "It is done."])
    paraphrased = paraphrase(model)
    assert paraphrased.text == "The clerk has to inspect the goods; the accountant pays."
    assert paraphrased.lost == (GraphName("action", "pay the refund"),)
    assert (paraphrased.coverage.ratio(), paraphrased.groups, paraphrased.attempts) == ((3, 4), (2, 1), 2)


def test_paraphrase_document_name_that_original_lacks_is_not_asked_for() -> None:
    model = ScriptedParaphraser(["The clerk has to inspect the goods."])
    paraphrased = paraphrase(model, GROUPS[:1])
    assert (paraphrased.lost, paraphrased.attempts) == ((), 1)
    assert [name.text for name in paraphrased.coverage.lost] == ["pay the refund", "accountant"]
    assert "accountant" not in model.requests[0].prompt


def test_paraphrase_document_failed_retry_keeps_the_first() -> None:
    model = ScriptedParaphraser(["The clerk has to inspect the goods.", ProviderError("server", "gone")])
    paraphrased = paraphrase(model)
    assert (paraphrased.attempts, paraphrased.failure) == (1, "server: gone")
    assert [name.text for name in paraphrased.lost] == ["pay the refund", "accountant"]


def test_paraphrase_document_empty_reply_is_asked_again() -> None:
    model = ScriptedParaphraser(["", GOOD])
    assert (paraphrase(model).attempts, len(model.requests)) == (2, 2)


def test_paraphrase_document_two_empty_replies_are_unparseable() -> None:
    with pytest.raises(UnparseableError, match="2 replies hold no document"):
        paraphrase(ScriptedParaphraser(["", "```\n```"]))


def test_paraphrase_document_first_failure_is_raised() -> None:
    with pytest.raises(ProviderError, match="gone"):
        paraphrase(ScriptedParaphraser([ProviderError("server", "gone")]))
