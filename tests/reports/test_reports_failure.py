from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.reports.escape import columns
from pytest_taskgraph.reports.failure import exchange_texts, failure_lines, reply_section, short_reason
from pytest_taskgraph.trial import Failure, Json, Outcome, Question, Reply, Score, Trial

anything = st.text(st.characters(), max_size=300) | st.sampled_from(["x" * 5000, "a\n" * 2000, "\x1b[31m" * 50])
names = st.lists(st.text(st.characters(), max_size=20), max_size=30)
QUESTION = Question(
    "next_tasks-wadl-n012-s0-001", "understanding", "next_tasks", "structure",
    "In 'Shop', which tasks come directly after 'Pick'?", "prompt", "task-set", ["Pack", "Weigh"], "jaccard",
)  # fmt: skip
WRONG = Trial(
    QUESTION, "m", "wrong", Reply("Let me see.\n\nPick leads to Pack.\nFinal answer: Pack, Ship"),
    Score(1 / 3, given=["Pack", "Ship"], missing=["Weigh"], extra=["Ship"]),
)  # fmt: skip


def test_failure_lines_wrong_answer_takes_twelve_lines() -> None:
    assert failure_lines(WRONG) == [
        "question: In 'Shop', which tasks come directly after 'Pick'?",
        "expected: Pack, Weigh",
        "given: Pack, Ship",
        "missing (1): Weigh",
        "extra (1): Ship",
        "the reply ends:",
        "| Let me see.",
        "| Pick leads to Pack.",
        "| Final answer: Pack, Ship",
        'the whole reply (57 characters): section "model reply", and in the record',
    ]


def test_failure_lines_long_reply_shows_end_with_answer() -> None:
    long = replace(WRONG, reply=Reply("\n".join(f"line {at}" for at in range(1000))))
    assert failure_lines(long)[6:11] == [f"| line {at}" for at in range(995, 1000)]
    first = replace(long, question=replace(QUESTION, place="first-line"))
    assert failure_lines(first)[5:8] == ["the reply begins:", "| line 0", "| line 1"]


def test_failure_lines_unparseable_reply_shows_reason() -> None:
    unparseable = replace(
        WRONG, outcome="unparseable", score=Score(0.0, status="unparseable", remark="no line 'Final answer:'")
    )
    assert "unparseable: no line 'Final answer:'" in failure_lines(unparseable)
    assert short_reason(unparseable) == "unparseable: no line 'Final answer:'"


def test_failure_lines_empty_reply_is_stated() -> None:
    assert "the reply is empty" in failure_lines(replace(WRONG, reply=Reply(" \n")))


def test_failure_lines_without_reply_show_error() -> None:
    lost = replace(WRONG, outcome="error", reply=None, score=None, failure=Failure("rate-limit", "after 5 attempts"))
    assert failure_lines(lost)[1:] == ["expected: Pack, Weigh", "error: rate-limit: after 5 attempts"]
    assert short_reason(lost) == "rate-limit: after 5 attempts"


def test_short_reason_holds_expected_and_given() -> None:
    assert short_reason(WRONG) == "wrong (score 0.333): expected Pack, Weigh, given Pack, Ship"
    yes = replace(WRONG, question=replace(QUESTION, reference="yes"), score=Score(0.0, given="no"))
    assert short_reason(yes) == "wrong: expected yes, given no"


@given(
    anything, anything, names, names, st.sampled_from(["wrong", "unparseable", "refused", "error"]), st.integers(1, 14)
)
def test_failure_lines_any_text_keeps_number_and_width(
    text: str, reply: str, missing: list[str], extra: list[str], outcome: Outcome, limit: int
) -> None:
    status: Any = outcome if outcome in ("unparseable", "refused") else "read"
    mark = Score(0.0, given=reply, status=status, remark=text, missing=missing, extra=extra)
    trial = Trial(replace(QUESTION, text=text), "m", outcome, Reply(reply), mark, Failure("skipped", reply))
    trial = replace(trial, reply=None, score=None) if outcome == "error" else trial
    lines = failure_lines(trial, limit)
    assert 1 <= len(lines) <= limit
    assert all(columns(line) <= 76 for line in lines)
    assert all(line.isprintable() for line in [*lines, short_reason(trial)])
    assert columns(short_reason(trial)) <= 120
    assert outcome == "error" or "record" in lines[-1]


def test_failure_lines_megabyte_reply_is_short() -> None:
    for reply in ("x" * 10**6, "a\n" * 10**6, "\x1b" * 10**6):
        lines = failure_lines(replace(WRONG, reply=Reply(reply)))
        assert len(lines) <= 12
        assert all(columns(line) <= 76 for line in lines)


COMMANDS = [
    "::error file=app.js,line=1::owned", "::add-mask::secret", "  ::stop-commands::x", "\t::endgroup::",
    "##[add-mask]x", "see ##[error]x", "##vso[task.setvariable variable=a]b", "x ##vso[task.complete]",
    "##teamcity[buildStop comment='x']", "###[group]x", "##[[", "##VSO[a]",
]  # fmt: skip


def is_command(line: str) -> bool:
    """Whether a runner of CI would take the line for a command: GitHub's, Azure's, TeamCity's."""
    return line.lstrip().startswith("::") or re.search(r"##(vso|teamcity)?\[", line, re.IGNORECASE) is not None


@pytest.mark.parametrize("command", COMMANDS)
def test_failure_reply_lines_are_no_command_to_ci_runner(command: str) -> None:
    assert is_command(command)
    reply = f"{command}\nSo:\n{command}\n\n{command}"
    mark = Score(0.0, given=command, missing=[command], extra=[command], remark=command)
    trial = Trial(replace(QUESTION, text=command), "m", "wrong", Reply(reply), mark)
    first = replace(trial, question=replace(trial.question, place="first-line", reference=command))
    lost = replace(trial, outcome="error", reply=None, score=None, failure=Failure("skipped", command))
    for failed in (trial, first, lost):
        for width in (*range(20, 40), 76):
            assert not any(map(is_command, failure_lines(failed, width=width)))
        assert not is_command(short_reason(failed))
    assert not any(map(is_command, reply_section(reply).split("\n")))


def test_reply_section_quotes_lines_of_reply() -> None:
    assert reply_section("a\n\n  b ::x\n##[x]\x1b") == "| a\n|\n|   b ::x\n| #\\x23[x]\\x1b"
    assert reply_section("a" * 1500 + "b" * 1500) == f"| {'a' * 1000}\n| [… 1000 characters …]\n| {'b' * 1000}"


def test_failure_answer_is_shown_by_form_or_parts() -> None:
    explained: Json = {"tasks": ["Pack"], "reasons": {"Pack": "It weighs\nnothing."}}
    explained_question = replace(QUESTION, form="task-reasons", reference=explained)
    trial = replace(WRONG, question=explained_question, score=Score(0.0, given={"tasks": [], "reasons": {}}))
    assert short_reason(trial) == "wrong: expected Pack: It weighs nothing., given none"
    other = replace(
        trial, question=replace(explained_question, form="of-another-project", reference=["Pack", {"at": 2}])
    )
    assert failure_lines(other)[1:3] == ['expected: Pack, {"at": 2}', 'given: {"tasks": [], "reasons": {}}']


def test_exchange_texts_scored_texts_show_perplexities() -> None:
    question = Question("q", "steps", "perplexity", "choice", "Which?", "p", "letter", "A", "choice_accuracy")
    rows = [[-6.0, 3, None], [None, 2, None]]
    messages = [{"role": "text", "digest": "1"}, {"role": "text", "digest": "2"}]
    exchange = {"role": "subject", "kind": "score", "messages": messages, "text": "", "logprobs": rows}
    texts = {"1": "Boil . Salt", "2": "Boil . Serve"}
    trial = Trial(question, "m", "wrong", Reply("B"), Score(0.0), exchanges=[exchange], texts=texts)
    assert exchange_texts(trial) == [
        "text: Boil . Salt\ntext: Boil . Serve\n"
        "text 1: log-probability -6.000, 3 tokens, perplexity 7.389\ntext 2: no log-probability"
    ]
