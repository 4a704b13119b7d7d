from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.reports.escape import columns
from pytest_taskgraph.reports.failure_text import failure_blocks, lay_out, missing_reply_blocks
from pytest_taskgraph.trial import Failure, Json, Outcome, Question, Reply, Score, Trial

anything = st.text(st.characters(), max_size=300) | st.sampled_from(
    ["x" * 5000, "a\n" * 2000, "\x1b[31m" * 50, "a\u0301" * 500, "\u0301" * 3000, "中文 " * 300, "  " * 400 + "::x"]
)
names = st.lists(st.text(st.characters(), max_size=20), max_size=30)
QUESTION = Question(
    "next_tasks-wadl-n012-s0-001", "understanding", "next_tasks", "structure",
    "In 'Shop', which tasks come directly after 'Pick'?", "Here is a shop.\n\n\tPick -> Pack", "task-set",
    ["Pack", "Weigh"], "jaccard", system="Be brief.",
)  # fmt: skip
WRONG = Trial(
    QUESTION, "m", "wrong", Reply("Let me see.\n\nPick leads to Pack.\nFinal answer: Pack, Ship"),
    Score(1 / 3, given=["Pack", "Ship"], missing=["Weigh"], extra=["Ship"]),
)  # fmt: skip
LONG = replace(WRONG, reply=Reply("\n".join(f"line {at}" for at in range(1000))))
VERDICT = [
    "question: In 'Shop', which tasks come directly after 'Pick'?",
    "expected: Pack, Weigh",
    "given: Pack, Ship",
    "missing (1): Weigh",
    "extra (1): Ship",
]
CHAIN: Json = {"tasks": ["Pick", "Pack", "Weigh"], "before": [[0, 1], [1, 2]]}
ORDER = replace(
    WRONG,
    question=replace(QUESTION, form="task-order", reference=CHAIN, metric="order"),
    score=Score(0.0, given=["Weigh", "Pack", "Pick"], remark="the first remark"),
)


def lines(trial: Trial, verbosity: int = 0, width: int | None = 80) -> list[str]:
    return lay_out([block.to_json() for block in failure_blocks(trial, verbosity)], width)


def test_failure_quiet_shows_answers_and_differences() -> None:
    assert lines(WRONG, -1) == lines(WRONG, -2) == VERDICT


def test_failure_shows_short_reply_once() -> None:
    assert lines(WRONG) == [
        *VERDICT,
        "reply:",
        "| Let me see.",
        "| Pick leads to Pack.",
        "| Final answer: Pack, Ship",
    ]


@pytest.mark.parametrize("reply", ["Final answer: Pack, Ship", "Ship, Pack", "\n**Pack, Ship**\n"])
def test_failure_reply_that_is_answer_alone_needs_verbose(reply: str) -> None:
    trial = replace(WRONG, reply=Reply(reply))
    assert lines(trial) == VERDICT
    assert lines(trial, 1)[-2:] == ["reply:", f"| {reply.strip()}"]


def test_failure_long_reply_shows_end_with_size() -> None:
    assert lines(LONG)[5:] == [
        "end of the reply (8,889 characters; -vv shows all):",
        *(f"| line {at}" for at in range(995, 1000)),
    ]
    assert lines(LONG, 1)[-31:] == [
        "end of the reply (8,889 characters; -vv shows all):",
        *(f"| line {at}" for at in range(970, 1000)),
    ]


def test_failure_first_line_answer_shows_begin_of_long_reply() -> None:
    first = replace(LONG, question=replace(QUESTION, place="first-line"))
    assert lines(first)[5:7] == ["begin of the reply (8,889 characters; -vv shows all):", "| line 0"]
    assert len(lines(first)) == 11


def test_failure_end_of_long_line_is_shown() -> None:
    long = replace(WRONG, reply=Reply("word " * 2000 + "Final answer: Pack, Ship"))
    assert lines(long)[-1].endswith("Final answer: Pack, Ship")
    assert len(lines(long)) == 11


def test_failure_verbose_names_every_violation_and_score() -> None:
    output = lines(ORDER, 1)
    at = output.index("why:")
    assert output[at + 1 : at + 5] == [
        "- the first remark",
        "- Weigh stands before Pack, but has to come after it",
        "- Pack stands before Pick, but has to come after it",
        "score: 0.000 (order), passes from 1.000",
    ]
    assert "why: the first remark (and 2 more, with -v)" in lines(ORDER)
    graded = replace(WRONG, question=replace(QUESTION, pass_threshold=0.0))
    assert "score: 0.333 (jaccard), graded" in lines(graded, 1)


def test_failure_normal_counts_further_violations(monkeypatch: pytest.MonkeyPatch) -> None:
    reasons = ["A is before B.", "C is before D.", "E is missing."]
    monkeypatch.setattr("pytest_taskgraph.reports.failure_text.explain_trial", lambda _: reasons)
    for verbosity in (-1, 0):
        assert "why: A is before B. (and 2 more, with -v)" in lines(WRONG, verbosity)
    for verbosity in (1, 2):
        at = lines(WRONG, verbosity).index("why:")
        assert lines(WRONG, verbosity)[at + 1 : at + 4] == [f"- {reason}" for reason in reasons]


def test_failure_most_verbose_cuts_nothing() -> None:
    question = replace(QUESTION, text="Which? " * 500, prompt="p\n" + "long prompt " * 500)
    score = Score(0.0, given=[f"g{at}" for at in range(900)], missing=[f"m{at}" for at in range(900)])
    output = "\n".join(lines(replace(LONG, question=question, score=score), 2))
    assert "…" not in output
    assert "g899" in output
    assert "m899" in output
    assert "| line 0\n" in output
    assert output.count("long") == 500
    assert "system prompt (9 characters):\n| Be brief.\nprompt (6,002 characters):\n| p\n| long" in output


def test_failure_most_verbose_keeps_line_breaks_of_texts() -> None:
    output = "\n".join(lines(WRONG, 2))
    assert "prompt (30 characters):\n| Here is a shop.\n|\n|     Pick -> Pack\nreply (57 characters):\n" in output
    assert "| Let me see.\n|\n| Pick leads to Pack.\n" in output


def test_failure_most_verbose_shows_reasoning_before_reply() -> None:
    trial = replace(WRONG, reply=Reply("Final answer: Pack, Ship", reasoning="Hm.\nPick, then?"))
    output = "\n".join(lines(trial, 2))
    assert output.endswith(
        "reasoning (15 characters):\n| Hm.\n| Pick, then?\nreply (24 characters):\n| Final answer: Pack, Ship"
    )
    assert "Hm." not in "\n".join(lines(trial, 1))


def test_failure_most_verbose_shows_exchanges() -> None:
    calls = [{"name": "get_text", "arguments": '{"name": "Shop"}'}]
    exchanges: list[dict[str, Any]] = [
        {"role": "subject", "messages": [{"role": "user", "digest": "1"}], "text": "I look.", "calls": calls},
        {"role": "subject", "messages": [{"role": "tool", "digest": "2"}], "final": True},
    ]
    trial = replace(WRONG, exchanges=exchanges, texts={"1": "Ask.", "2": "Texts\n" * 2000})
    output = "\n".join(lines(trial, 2))
    assert "exchange 1: subject, 1 call\n| user: Ask.\n| I look.\n| → {" in output
    assert "exchange 2: subject\n| tool: Texts\n| Texts\n" in output
    assert output.count("Texts") == 2000
    assert [line for line in lines(trial, 1) if line.startswith("exchange")] == [
        "exchange 1: subject, 1 call",
        "exchange 2: subject",
    ]
    assert not any(line.startswith("exchange") for line in lines(trial))


def test_failure_unparseable_reply_shows_reason_and_reply() -> None:
    unparseable = replace(
        WRONG,
        outcome="unparseable",
        reply=Reply("Perhaps."),
        score=Score(0.0, status="unparseable", remark="no line 'Final answer:'"),
    )
    for verbosity in (-1, 0, 1):
        assert lines(unparseable, verbosity)[2:] == ["unparseable: no line 'Final answer:'", "reply:", "| Perhaps."]


def test_failure_empty_reply_is_stated() -> None:
    for verbosity in (0, 1, 2):
        assert "the reply is empty" in lines(replace(WRONG, reply=Reply(" \n" if verbosity < 2 else "")), verbosity)


def test_failure_without_reply_shows_error() -> None:
    lost = replace(WRONG, outcome="error", reply=None, score=None, failure=Failure("rate-limit", "after 5 attempts"))
    assert lines(lost)[1:] == ["expected: Pack, Weigh", "error: rate-limit: after 5 attempts"]


def test_missing_reply_shows_question_and_prompt_if_verbose() -> None:
    lost = replace(WRONG, outcome="error", reply=None, score=None, failure=Failure("timeout", "after 5 s " * 90))
    outputs = ["\n".join(lay_out([b.to_json() for b in missing_reply_blocks(lost, at)], 80)) for at in (0, 1, 2)]
    assert outputs[0].replace("\n", " ") == f"no reply: timeout: {'after 5 s ' * 90}".rstrip()
    assert outputs[1] == f"{VERDICT[0]}\n{outputs[0]}"
    assert "| Here is a shop." in outputs[2]


def test_reply_cut_off_within_reasoning_is_shown_if_most_verbose() -> None:
    cut = Reply("", finish_reason="length", reasoning="Hm.")
    lost = replace(WRONG, outcome="error", reply=cut, score=None, failure=Failure("truncated", "within its reasoning"))
    outputs = ["\n".join(lay_out([b.to_json() for b in missing_reply_blocks(lost, at)], 80)) for at in (1, 2)]
    assert "Hm." not in outputs[0]
    assert outputs[1].endswith("reasoning (3 characters):\n| Hm.\nthe reply is empty")


def test_failure_lines_fill_width_and_are_whole_without() -> None:
    trial = replace(WRONG, question=replace(QUESTION, text="word " * 60))
    assert max(map(columns, lines(trial, 0, 150))) > 140
    assert max(map(columns, lines(trial, 0, 80))) <= 80
    assert lines(trial, 0, None)[0].startswith("question: word word word")
    assert len(lines(trial, 0, None)[0]) > 200


@given(
    anything, anything, names, names, st.sampled_from(["wrong", "unparseable", "refused", "error"]),
    st.integers(-2, 3), st.sampled_from([20, 41, 80, 150, 600]),
)  # fmt: skip
def test_failure_any_text_is_printable_within_width(
    text: str, reply: str, missing: list[str], extra: list[str], outcome: Outcome, verbosity: int, width: int
) -> None:
    status: Any = outcome if outcome in ("unparseable", "refused") else "read"
    score = Score(0.0, given=reply, status=status, remark=text, missing=missing, extra=extra)
    trial = Trial(replace(QUESTION, text=text), "m", outcome, Reply(reply), score, Failure("skipped", reply))
    trial = replace(trial, reply=None, score=None) if outcome == "error" else trial
    output = lines(trial, verbosity, width)
    assert all(columns(line) <= width for line in output)
    assert all(line.isprintable() for line in [*output, *lines(trial, verbosity, None)])
    assert verbosity > 1 or len(output) <= (90 if verbosity == 1 else 30)


@pytest.mark.parametrize("reply", ["x" * 10**6, "a\n" * 10**5, "\x1b" * 10**5, "\u0301" * 10**5, "中 \u0301a" * 10**4])
def test_failure_megabyte_reply_is_short_unless_all_is_asked_for(reply: str) -> None:
    trial = replace(WRONG, reply=Reply(reply))
    for width in (80, None):
        assert len("\n".join(lines(trial, 0, width))) < 10_000
    assert max(map(columns, lines(trial, 2))) <= 80


COMMANDS = [
    "::error file=app.js,line=1::owned", "::add-mask::secret", "  ::stop-commands::x", "\t::endgroup::",
    "##[add-mask]x", "see ##[error]x", "##vso[task.setvariable variable=a]b", "x ##vso[task.complete]",
    "##teamcity[buildStop comment='x']", "###[group]x", "##[[", "##VSO[a]",
]  # fmt: skip


def is_command(line: str) -> bool:
    """Return True if the runner of a CI service takes the line for a command: GitHub's, Azure's, TeamCity's."""
    return line.lstrip().startswith("::") or re.search(r"##(vso|teamcity)?\[", line, re.IGNORECASE) is not None


@pytest.mark.parametrize("command", COMMANDS)
def test_failure_lines_are_no_command_to_ci_runner(command: str) -> None:
    assert is_command(command)
    reply = f"{command}\nSo:\n{command}\n\n{command}"
    score = Score(0.0, given=command, missing=[command], extra=[command], remark=command)
    texts: dict[str, Any] = {"text": command, "prompt": f"{command} {command}\n{command}", "system": command}
    trial = Trial(replace(QUESTION, **texts), "m", "wrong", Reply(reply), score)
    first = replace(trial, question=replace(trial.question, place="first-line", reference=command))
    lost = replace(trial, outcome="error", reply=None, score=None, failure=Failure("skipped", command))
    for failed in (trial, first, lost):
        for verbosity in (-1, 0, 1, 2):
            for width in (*range(20, 40), 76, None):
                assert not any(map(is_command, lines(failed, verbosity, width)))
