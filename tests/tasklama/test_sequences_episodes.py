from __future__ import annotations

from collections.abc import Generator

import pytest
from tasklama_episodes import make_question, numbered, run_episode

from pytest_taskgraph.asking import Episode, Transcript, Turns, is_one_turn
from pytest_taskgraph.errors import ProviderError, UsageError
from pytest_taskgraph.families.tasklama.sequences.multiple_sequences import icl, multseq, step_sequences
from pytest_taskgraph.scoring.forms.task_graph_form import read_steps
from pytest_taskgraph.scoring.grade import read_answer
from pytest_taskgraph.trial import Json, Question, Reply, Request

REFUSAL = "I'm sorry, but I can't help with that."


def listing(question: Question) -> Turns:
    """Run the sub-generator alone as an episode; its reply is what the sub-generator returns, as text."""
    sequences = yield from step_sequences(question)
    return Transcript(Reply(repr(sequences)) if isinstance(sequences, list) else sequences)


def test_icl_reply_with_chatter_is_composed_of_its_steps() -> None:
    transcript, (exchange,) = run_episode(
        icl, make_question(), ["Sure, here you are:\n1. wash rice\n2) cook it\nEnjoy!"]
    )
    assert transcript.reply == Reply(numbered("wash rice", "cook it"), source="scripted")
    assert exchange.request == Request(messages=[{"role": "user", "content": "Task: Cook rice"}])
    assert is_one_turn(icl)


def test_icl_similarity_and_dependencies_that_a_model_writes_are_dropped() -> None:
    reply = numbered("wash rice", "cook it") + "\nDependencies: 1 -> 2\nSimilarity: [[1, 1, 1], [1, 1, 1]]"
    transcript, _ = run_episode(icl, make_question(), [reply])
    assert transcript.reply.text == numbered("wash rice", "cook it")


@pytest.mark.parametrize("text", [REFUSAL, "", "???"])
@pytest.mark.parametrize("method", [icl, multseq, listing])
def test_episode_reply_without_steps_returns_it_as_it_came(method: Episode, text: str) -> None:
    transcript, exchanges = run_episode(method, make_question({"sequences": 1}), [text])
    assert transcript.reply is exchanges[0].reply


def test_icl_strict_parsing_reads_numbered_lines_alone() -> None:
    question = make_question(parsing="strict")
    assert run_episode(icl, question, ["- wash rice"])[0].reply.text == "- wash rice"
    assert run_episode(icl, question, ["1. wash rice"])[0].reply.text == "1. wash rice"


def test_multseq_asks_for_all_sequences_in_one_turn() -> None:
    turns = multseq(make_question({"sequences": 3}))
    requests = next(turns)
    assert [request.repetition for request in requests] == [1, 2, 3]
    assert all(request.settings == {"temperature": 0.5} for request in requests)
    assert len({request.prompt for request in requests}) == 1
    assert is_one_turn(multseq)


def test_multseq_merges_what_can_be_read() -> None:
    texts = [REFUSAL, numbered("wash rice", "cook rice"), numbered("wash the rice", "soak beans", "cook rice")]
    transcript, _ = run_episode(multseq, make_question({"sequences": 3}), texts)
    assert read_steps(transcript.reply.text) == ["wash rice", "soak beans", "cook rice"]
    assert [note["kept"] for note in transcript.notes] == [False, True, True]
    assert [note["steps"] for note in transcript.notes] == [0, 2, 3]


def test_multseq_refused_throughout_stays_a_refusal() -> None:
    question = make_question({"sequences": 2})
    transcript, _ = run_episode(multseq, question, [REFUSAL, "???"])
    assert transcript.reply.text == REFUSAL
    assert read_answer(question, transcript.reply) is None


def test_multseq_sequence_withheld_by_a_filter_is_left_out() -> None:
    def answer(request: Request) -> Reply:
        withheld = request.repetition == 1
        return Reply(numbered(f"do {request.repetition}"), finish_reason="content_filter" if withheld else "stop")

    transcript, _ = run_episode(multseq, make_question({"sequences": 2}), answer)
    assert transcript.reply.text == "1. do 2"


def test_multseq_hostile_replies_are_cut_to_the_limit() -> None:
    text = "\n".join(f"{at}. step {at} of {at * 7}" for at in range(10_000))
    transcript, _ = run_episode(multseq, make_question({"sequences": 8}), [text] * 8)
    assert len(read_steps(transcript.reply.text)) == 200


def test_step_sequences_one_is_asked_for_as_icl_does() -> None:
    turns: Generator[list[Request], list[Reply], list[list[str]] | Reply] = step_sequences(
        make_question({"sequences": 1})
    )
    assert next(turns) == next(icl(make_question()))


def test_step_sequences_two_are_asked_for_as_multseq_does() -> None:
    question = make_question({"sequences": 2})
    assert next(step_sequences(question)) == next(multseq(question))
    sequences, _ = run_episode(listing, question, [numbered("a b"), REFUSAL])
    assert sequences.reply.text == "[['a b']]"


@pytest.mark.parametrize("stated", [None, 0, "2", True])
def test_step_sequences_number_that_is_none_is_refused(stated: Json) -> None:
    with pytest.raises(UsageError, match=r"question q: episode_settings\['sequences'\] is .*; expected a number"):
        next(step_sequences(make_question({"sequences": stated})))


@pytest.mark.parametrize("method", [icl, multseq, listing])
def test_episode_list_cut_off_at_the_token_limit_is_no_answer(method: Episode) -> None:
    with pytest.raises(ProviderError, match="cut off at the token limit before its end; allow more tokens"):
        run_episode(
            method, make_question({"sequences": 2}), lambda _: Reply("1. wash rice\n2. co", finish_reason="length")
        )


def test_multseq_sequence_cut_off_at_the_token_limit_is_left_out() -> None:
    def answer(request: Request) -> Reply:
        return Reply(f"1. do {request.repetition}", finish_reason="length" if request.repetition == 1 else "stop")

    transcript, _ = run_episode(multseq, make_question({"sequences": 2}), answer)
    assert transcript.reply.text == "1. do 2"
    assert [note["kept"] for note in transcript.notes] == [False, True]
