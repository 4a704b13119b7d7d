from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from loopback import Answer, Loopback, as_json, refuse, reply
from plugin_project import OWN, Project, Ran, asking

ANSWER = "Final answer: It makes things ready."
RECORD = "--taskgraph-report=json=record.json"


@pytest.fixture
def server() -> Iterator[Loopback]:
    """The subject, which says the same to every question."""
    with Loopback(ANSWER) as running:
        yield running


@pytest.fixture
def judge() -> Iterator[Loopback]:
    with Loopback("It agrees.\nScore: 4") as running:
        yield running


def judging(url: str, metrics: str = "judge") -> list[str]:
    option = "--taskgraph-model-option"
    return [
        f"--taskgraph-text-metric={metrics}", "--taskgraph-judge-model=openai/wise", option, f"judge.api_base={url}",
        option, "judge.api_key=sk-judge-123456", option, "judge.temperature=0",
    ]  # fmt: skip


def embedding(url: str, metrics: str = "cosine") -> list[str]:
    option = "--taskgraph-model-option"
    return [
        f"--taskgraph-text-metric={metrics}", "--taskgraph-embedder=openai/wise", option, f"embedder.api_base={url}",
        option, "embedder.api_key=sk-judge-123456",
    ]  # fmt: skip


@pytest.fixture
def own(project: Project) -> Project:
    project.write("test_graph.py", OWN)
    return project


def run(project: Project, server: Loopback, *args: str) -> Ran:
    return project.run(*asking(server.url), *args, RECORD)


def trials(project: Project) -> list[dict[str, Any]]:
    trials_: list[dict[str, Any]] = project.record()["trials"]
    return trials_


def test_judge_is_asked_after_each_reply_and_score_is_answer_s(own: Project, server: Loopback, judge: Loopback) -> None:
    ran = run(own, server, *judging(judge.url), "--taskgraph-pass-threshold=0.8")
    assert ran.counts == {"failed": 2}
    assert (len(server.requests), len(judge.requests)) == (2, 2)
    for trial in trials(own):
        assert (trial["outcome"], trial["score"]["value"], trial["requests"]) == ("wrong", 0.75, 2)
        assert set(trial["score"]["metrics"]) == {"rouge1", "rouge1_recall", "rouge2", "rouge_l"}
        assert trial["reply"]["text"] == ANSWER
        subject, of_judge = trial["exchanges"]
        assert (subject["role"], subject["final"]) == ("subject", True)
        assert (of_judge["role"], of_judge["metric"], of_judge["value"]) == ("judge", "judge", 0.75)
        assert (of_judge["text"], of_judge["tokens_in"], of_judge["tokens_out"]) == ("It agrees.\nScore: 4", 3, 2)


def test_judge_has_settings_of_own(own: Project, server: Loopback, judge: Loopback) -> None:
    run(own, server, *judging(judge.url), "--taskgraph-model-option=max_tokens=99")
    assert judge.requests[0].headers["authorization"] == "Bearer sk-judge-123456"
    assert server.requests[0].headers["authorization"] == "Bearer sk-test-123456"
    assert set(judge.requests[0].body) == {"model", "messages", "temperature"}
    assert set(server.requests[0].body) == {"model", "messages", "max_tokens"}


def test_record_tells_who_judged_and_keeps_no_key(own: Project, server: Loopback, judge: Loopback) -> None:
    run(own, server, *judging(judge.url))
    settings = own.record()["settings"]
    assert (settings["text_metric"], settings["judge_model"]) == (["judge"], "openai/wise")
    assert settings["judge_option"] == {"api_base": judge.url, "temperature": 0}
    assert "sk-judge" not in (own.path / "record.json").read_text()


def test_judge_that_says_nothing_of_use_counts_nought_with_remark(
    own: Project, server: Loopback, judge: Loopback
) -> None:
    judge.answer = "Score: five of five! \u202e"
    ran = run(own, server, *judging(judge.url), "--taskgraph-pass-threshold=0.5")
    assert ran.counts == {"failed": 2}
    assert ran.clean
    for trial in trials(own):
        assert (trial["score"]["value"], trial["score"]["status"]) == (0.0, "read")
        assert trial["score"]["remark"].startswith("judge is undefined for this answer, counted 0")
        assert trial["exchanges"][1]["value"] is None


@pytest.mark.parametrize(
    ("answer", "kind"),
    [(refuse(429, "slow down"), "rate-limit"), (reply("Let me", finish_reason="length"), "truncated")],
)
def test_judge_that_fails_is_error_and_paid_reply_is_kept(
    own: Project, server: Loopback, judge: Loopback, answer: Answer, kind: str
) -> None:
    judge.script(answer)
    ran = run(own, server, *judging(judge.url), "--taskgraph-retries=0")
    assert ran.counts == {"passed": 1, "error": 1}
    failed = next(trial for trial in trials(own) if trial["outcome"] == "error")
    assert failed["failure"]["kind"] == kind
    assert (failed["reply"]["text"], failed["score"], failed["requests"]) == (ANSWER, None, 2)
    assert len(judge.requests) == 2


def test_judge_beside_deciding_metric(own: Project, server: Loopback, judge: Loopback) -> None:
    run(own, server, *judging(judge.url, "rouge1,judge"))
    for trial in trials(own):
        assert trial["question"]["metric"] == "rouge1"
        assert 0 < trial["score"]["value"] < 1
        assert trial["score"]["metrics"]["judge"] == 0.75


def test_answer_that_cannot_be_read_is_not_judged(own: Project, server: Loopback, judge: Loopback) -> None:
    server.answer = "Final answer:"
    run(own, server, *judging(judge.url))
    assert judge.requests == []
    assert {trial["outcome"] for trial in trials(own)} == {"unparseable"}


def test_questions_with_one_right_answer_are_not_judged(project: Project, judge: Loopback) -> None:
    ran = project.run("--model=simulated:1", *judging(judge.url))
    assert ran.counts == {"passed": 4}
    assert judge.requests == []


def test_cosine_asks_embedder(own: Project, server: Loopback, judge: Loopback) -> None:
    data = [{"object": "embedding", "index": at, "embedding": v} for at, v in enumerate(([1.0, 0.0], [0.6, 0.8]))]
    judge.answer = as_json(
        {"object": "list", "model": "any", "data": data, "usage": {"prompt_tokens": 9, "total_tokens": 9}}
    )
    run(own, server, *embedding(judge.url))
    assert [request.body["input"][0] for request in judge.requests] == ["It makes things ready."] * 2
    for trial in trials(own):
        assert trial["score"]["value"] == pytest.approx(0.6)
        subject, of_judge = trial["exchanges"]
        assert (subject["role"], subject["final"]) == ("subject", True)
        assert (of_judge["role"], of_judge["tokens_in"]) == ("embedder", 9)
    assert '"embedding"' not in (own.path / "record.json").read_text()


def test_template_of_user_is_what_judge_sees(own: Project, server: Loopback, judge: Loopback) -> None:
    own.write("words/judge.jinja", "Mark '{{ answer }}' by '{{ reference }}'.")
    run(own, server, *judging(judge.url), f"--taskgraph-templates={own.path / 'words'}")
    assert judge.requests[0].prompt.startswith("Mark 'It makes things ready.' by 'It makes ")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["judge"], "needs a model in the role of judge: name one with --taskgraph-judge-model=SPEC"),
        (["rouge1,cosine"], "needs a model in the role of embedder: name one with --taskgraph-embedder=SPEC"),
        (["bleu"], "unknown text metric 'bleu'; known: bertscore, cosine, judge, rouge1"),
        (["judge", "--taskgraph-judge-model=recorded:none.jsonl"], "'none.jsonl' cannot be read"),
        (["judge", "--taskgraph-judge-model=openai/any", "--taskgraph-model-option=judge.x"], "expected K=V"),
        (["judge", "--taskgraph-judge-model=openai/any", "--taskgraph-templates=words"], "the template sees: answer"),
    ],
)
def test_mistake_is_reported_before_anything_is_asked(
    own: Project, server: Loopback, args: list[str], message: str
) -> None:
    own.write("words/judge.jinja", "{{ reply }}")
    ran = own.run(*asking(server.url), f"--taskgraph-text-metric={args[0]}", *args[1:])
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert message in ran.output
    assert ran.clean
    assert server.requests == []


def test_bertscore_without_extra_is_reported_before_anything_is_asked(
    own: Project, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pytest_taskgraph.scoring.metrics.texts import require_bertscore

    monkeypatch.setitem(require_bertscore.__globals__, "find_spec", lambda name: None)
    ran = own.run(*asking(server.url), "--taskgraph-text-metric=bertscore")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "pip install pytest-taskgraph-bench[bertscore]" in ran.output
    assert ran.clean
    assert server.requests == []


def test_judging_crosses_to_workers(own: Project, server: Loopback, judge: Loopback) -> None:
    role = (f"--taskgraph-judge-model={judge.url}#wise", "--taskgraph-model-option=judge.temperature=0")
    ran = own.spread(f"--model={server.url}#any", "--taskgraph-text-metric=judge", *role, RECORD, workers=1)
    assert ran.counts == {"passed": 2}
    assert [request.body["temperature"] for request in judge.requests] == [0, 0]
    assert [trial["exchanges"][1]["value"] for trial in trials(own)] == [0.75, 0.75]
