from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from posix_tests import posix_only

from pytest_taskgraph.errors import NotAskedError, ReadError, UsageError
from pytest_taskgraph.models import open_model
from pytest_taskgraph.models.clients.recorded import RecordedModel, read_rows
from pytest_taskgraph.trial import MOST_REPETITIONS, Reply, Request


def lines(*rows: Any) -> bytes:  # noqa: ANN401 - any JSON values
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def recorded(*rows: dict[str, Any]) -> RecordedModel:
    return RecordedModel("recorded:x", read_rows(lines(*rows), "x"))


def ask(model: RecordedModel, prompt: str, repetition: int = 1) -> Reply:
    return asyncio.run(model.answer(Request([{"role": "user", "content": prompt}], repetition=repetition)))


def test_recorded_row_gives_all_fields() -> None:
    row = {"prompt": "Which?", "reply": "A", "tokens_in": 3, "tokens_out": 1, "cost": 0.5, "latency": 2}
    assert ask(recorded(row | {"finish_reason": "length", "model": "any"}), "Which?") == Reply(
        "A", 3, 1, 0.5, 2, "length", source="x:1"
    )


def test_recorded_row_without_fields_gives_none() -> None:
    assert ask(recorded({"question": "Which?", "reply": ""}), "Which?") == Reply("", source="x:1")


def test_recorded_prompt_ignores_outer_white_space() -> None:
    assert ask(recorded({"prompt": " Which?\n", "reply": "A"}), "\nWhich? ").text == "A"


def test_recorded_prompt_is_matched_whole() -> None:
    with pytest.raises(NotAskedError, match="no recorded reply"):
        ask(recorded({"prompt": "Which?", "reply": "A"}), "Which? Be short.")


def test_recorded_question_in_prompt_ignores_white_space() -> None:
    model = recorded({"question": "Which task\ncomes first?", "reply": "A"})
    assert ask(model, 'workflow W { … }\n\nQuestion: "Which  task comes\tfirst?" Think.').text == "A"


@pytest.mark.parametrize("prompt", ["Is it AB", "This it A", "Is it", "is it A", "Is, it A"])
def test_recorded_question_is_matched_by_whole_tokens(prompt: str) -> None:
    with pytest.raises(NotAskedError):
        ask(recorded({"question": "Is it A", "reply": "yes"}), prompt)


def test_recorded_longest_question_wins() -> None:
    model = recorded(
        {"question": "List all tasks.", "reply": "short"},
        {"question": "List all tasks. Leave out nested ones.", "reply": "long"},
        {"question": "Leave out nested ones.", "reply": "tail"},
    )
    assert ask(model, "List all tasks. Leave out nested ones. List all tasks.").text == "long"


def test_recorded_last_of_equally_long_questions_wins() -> None:
    model = recorded({"question": "Is it A?", "reply": "a"}, {"question": "Is it B?", "reply": "b"})
    assert [ask(model, "Is it B? Is it A?").text, ask(model, "Is it A? Is it B?").text] == ["a", "b"]


def test_recorded_prompt_overrides_question() -> None:
    model = recorded({"question": "Which?", "reply": "by question"}, {"prompt": "So: Which?", "reply": "by prompt"})
    assert [ask(model, "So: Which?").text, ask(model, "Now: Which?").text] == ["by prompt", "by question"]


def test_recorded_row_with_prompt_and_question_matches_either() -> None:
    model = recorded({"prompt": "Which? Think.", "question": "Which?", "reply": "A"})
    assert [ask(model, "Which? Think.").text, ask(model, "W. Which?").text] == ["A", "A"]


def test_recorded_rows_of_key_are_repetitions_in_order() -> None:
    model = recorded(*({"question": "Which?", "reply": str(i)} for i in (1, 2, 3)))
    assert [ask(model, "Which?", repetition).text for repetition in (3, 1, 2, 1)] == ["3", "1", "2", "1"]
    with pytest.raises(NotAskedError, match="repetition 4 of 3"):
        ask(model, "Which?", 4)


def test_recorded_rows_of_samples_answer_their_sample() -> None:
    model = recorded(
        *({"prompt": "p", "reply": f"{sample}{nth}", "sample": sample} for sample in (2, 1) for nth in "ab"),
        {"prompt": "p", "reply": "1c"},
    )
    repetitions = [1, 2, 3, MOST_REPETITIONS + 1, MOST_REPETITIONS + 2]
    assert [ask(model, "p", repetition).text for repetition in repetitions] == ["1a", "1b", "1c", "2a", "2b"]


@pytest.mark.parametrize(
    ("repetition", "message"),
    [(2 * MOST_REPETITIONS + 1, 'sample 3 of this prompt.*add a row with "sample": 3'), (2, "repetition 2 of 1")],
)
def test_recorded_sample_without_row_error_names_number(repetition: int, message: str) -> None:
    with pytest.raises(NotAskedError, match=message):
        ask(recorded({"prompt": "p", "reply": "r"}), "p", repetition)


def test_recorded_replies_are_scrubbed() -> None:
    assert ask(recorded({"prompt": "p", "reply": "a\x1b\ud800\r\n"}), "p").text == "a\ufffd\ufffd\n"


@pytest.mark.parametrize("kind", ["score", "embed"])
def test_recorded_model_refuses_scores_embeddings_and_tools(kind: Any) -> None:  # noqa: ANN401 - two literals
    with pytest.raises(NotAskedError, match=f"cannot {kind}"):
        asyncio.run(recorded({"prompt": "p", "reply": "r"}).answer(Request(kind=kind)))


GOOD = b'{"prompt": "p", "reply": "r"}\n'


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        (GOOD + b'{"prompt": "p", "reply": }', 2, 26, "Expecting value"),
        (b"\n\n  nothing", 3, 3, "Expecting value"),
        (GOOD + b'{"prompt": "\xc3\xa4\xff"}', 2, 14, "byte 0xff"),
        (b"[" * 100_000, 1, 1, "no usable JSON"),
        (b'{"reply": ' + b"9" * 5000 + b"}", 1, 1, "no usable JSON"),
        (b'["prompt", "reply"]', 1, 1, "no object"),
        (b'{"prompt": "p"}', 1, 1, "'prompt'"),
        (b'{"reply": "r", "id": 4}', 1, 1, "'reply', 'id'"),
        (b'{"prompt": "  ", "reply": "r"}', 1, 1, "'prompt', 'reply'"),
        (b'{"question": ["q"], "reply": "r"}', 1, 1, "'question'"),
        (b'{"prompt": "p", "reply": 5}', 1, 1, "'reply'"),
        (b'{"prompt": "p", "reply": "r", "tokens_in": 1.5}', 1, 1, "'tokens_in'"),
        (b'{"prompt": "p", "reply": "r", "tokens_out": true}', 1, 1, "'tokens_out'"),
        (b'{"prompt": "p", "reply": "r", "sample": 0}', 1, 1, "'sample'"),
        (b'{"prompt": "p", "reply": "r", "sample": "a"}', 1, 1, "'sample'"),
        (b'{"prompt": "p", "reply": "r", "cost": NaN}', 1, 1, "'cost'"),
        (b'{"prompt": "p", "reply": "r", "cost": -1}', 1, 1, "'cost'"),
        (b'{"prompt": "p", "reply": "r", "latency": Infinity}', 1, 1, "'latency'"),
        (b'{"prompt": "p", "reply": "r", "finish_reason": 1}', 1, 1, "'finish_reason'"),
    ],
)
def test_recorded_malformed_file_is_read_error_at_place(
    tmp_path: Path, text: bytes, line: int, column: int, problem: str
) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_bytes(text)
    with pytest.raises(ReadError, match=re.escape(f"{path}:{line}:{column}: found")) as refused:
        open_model(f"recorded:{path}", {})
    assert problem in str(refused.value)


def test_recorded_file_allows_empty_lines_crlf_and_bom() -> None:
    data = b'\xef\xbb\xbf{"prompt": "p", "reply": "a\xe2\x80\xa8b"}\r\n\r\n\n' + GOOD
    assert [(keys["prompt"], reply.text, reply.source) for keys, reply, _ in read_rows(data, "x")] == [
        ("p", "a\u2028b", "x:1"),
        ("p", "r", "x:4"),
    ]


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_recorded_file_that_cannot_be_opened_is_usage_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        open_model(f"recorded:{tmp_path / name}", {})


@posix_only
@pytest.mark.parametrize("name", ["/dev/zero", "pipe"])
def test_recorded_file_without_end_is_usage_error(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="this is no regular file; expected a file of JSON lines"):
        open_model(f"recorded:{tmp_path / name}", {})


def plain_search(questions: list[str], prompt: str) -> set[str]:
    """All questions of the greatest length that stand in the prompt between borders of words."""
    squeezed = " ".join(re.findall(r"\w+|[^\w\s]", prompt))
    inside = [q for q in questions if f" {' '.join(re.findall(r'[a-z]+|[?.]', q))} " in f" {squeezed} "]
    return {q for q in inside if len(q) == max(map(len, inside))}


WORDS = st.lists(st.sampled_from(["a", "b", "ab", "?", "."]), min_size=1, max_size=4).map(" ".join)


@given(st.lists(WORDS, min_size=1, max_size=6), st.lists(WORDS, max_size=6).map("\n".join))
def test_recorded_search_equals_plain_search(questions: list[str], prompt: str) -> None:
    model = recorded(*({"question": q, "reply": q} for q in questions))
    expected = plain_search(questions, prompt)
    try:
        got = ask(model, prompt).text
    except NotAskedError:
        assert not expected
    else:
        assert got in expected


@pytest.fixture
def thousands() -> Callable[[str], str]:
    rows = [
        {"question": f"Does task T{i} come directly after task T{i + 1} in W?", "reply": str(i)} for i in range(5000)
    ]
    model = recorded(*rows)
    return lambda prompt: ask(model, prompt).text


def test_recorded_search_of_thousands_is_fast(thousands: Callable[[str], str]) -> None:
    workflow = "task T1 { reads D; } link T1 -> T2; Does task T1 come directly " * 400
    start = time.process_time()
    assert thousands(f"{workflow}\nDoes task T777 come directly after task T778 in W?\nThink.") == "777"
    assert time.process_time() - start < 3
