from __future__ import annotations

from dataclasses import replace

from pytest_taskgraph.reports.failure import exchange_texts, expected_answer, given_answer, short_reason
from pytest_taskgraph.trial import Failure, Json, Question, Reply, Score, Trial

QUESTION = Question(
    "next_tasks-wadl-n012-s0-001", "understanding", "next_tasks", "structure",
    "In 'Shop', which tasks come directly after 'Pick'?", "prompt", "task-set", ["Pack", "Weigh"], "jaccard",
)  # fmt: skip
WRONG = Trial(
    QUESTION, "m", "wrong", Reply("Let me see.\n\nPick leads to Pack.\nFinal answer: Pack, Ship"),
    Score(1 / 3, given=["Pack", "Ship"], missing=["Weigh"], extra=["Ship"]),
)  # fmt: skip


def test_short_reason_without_answer_states_why() -> None:
    unparseable = replace(
        WRONG, outcome="unparseable", score=Score(0.0, status="unparseable", remark="no line 'Final answer:'")
    )
    assert short_reason(unparseable) == "unparseable: no line 'Final answer:'"
    lost = replace(WRONG, outcome="error", reply=None, score=None, failure=Failure("rate-limit", "after 5 attempts"))
    assert short_reason(lost) == "rate-limit: after 5 attempts"


def test_short_reason_holds_expected_and_given() -> None:
    assert short_reason(WRONG) == "wrong (score 0.333): expected Pack, Weigh, given Pack, Ship"
    yes = replace(WRONG, question=replace(QUESTION, reference="yes"), score=Score(0.0, given="no"))
    assert short_reason(yes) == "wrong: expected yes, given no"


def test_failure_answer_is_shown_by_form_or_parts() -> None:
    explained: Json = {"tasks": ["Pack"], "reasons": {"Pack": "It weighs\nnothing."}}
    explained_question = replace(QUESTION, form="task-reasons", reference=explained)
    trial = replace(WRONG, question=explained_question, score=Score(0.0, given={"tasks": [], "reasons": {}}))
    assert short_reason(trial) == "wrong: expected Pack: It weighs nothing., given none"
    other = replace(
        trial, question=replace(explained_question, form="of-another-project", reference=["Pack", {"at": 2}])
    )
    assert expected_answer(other) == 'Pack, {"at": 2}'
    assert given_answer(other) == '{"tasks": [], "reasons": {}}'


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
