"""Measurement of an answer by models, after its episode: one request for each such metric of the question."""

from __future__ import annotations

from collections.abc import Callable

from ...asking import Transcript, Turns
from ...errors import ProviderError
from ...scoring.grade import read_answer
from ...scoring.metrics.texts import cosine
from ...trial import Question, Reply, Request
from ..llm_judge import judge_prompt, verdict


def measure_answer(question: Question, reply: Reply, template: str, asked: str) -> Turns:
    """Return the reply, with the metrics of `question.judged` that models measured.

    Nothing is sent if there are no such metrics, or no answer can be parsed from the reply. All requests are of one
    turn.

    Args:
        question: The question.
        reply: The reply of the model under test.
        template: The template of the judge's prompt.
        asked: What the answer answers, in the words of that prompt.

    Raises:
        ProviderError: if a judge was cut off before its score.
    """
    given = read_answer(question, reply) if question.judged else None
    if given is None:
        return Transcript(reply)
    texts = str(given), str(question.reference)
    replies = yield [_REQUESTS[name](question.text, *texts, template, asked) for name in question.judged]
    values = {name: _VALUES[name](reply) for name, reply in zip(question.judged, replies, strict=True)}
    return Transcript(reply, values, notes=[{"metric": name, "value": value} for name, value in values.items()])


def _judge_request(question: str, given: str, reference: str, template: str, asked: str) -> Request:
    prompt = judge_prompt(template, question, reference, given, asked)
    return Request(messages=[{"role": "user", "content": prompt}], role="judge")


def _embedding_request(question: str, given: str, reference: str, template: str, asked: str) -> Request:
    return Request(role="embedder", kind="embed", texts=[given, reference])


def _judge_value(reply: Reply) -> float | None:
    value = verdict(reply.text)
    if value is None and reply.cut_off:
        raise ProviderError("truncated", "the judge was cut off at the token limit before its score; allow more tokens")
    return value


def _embedding_value(reply: Reply) -> float | None:
    if [*map(len, reply.embeddings)] != [len(reply.embeddings[0])] * 2 if reply.embeddings else True:
        raise ProviderError("malformed", "expected two vectors of one length from the embedder")
    return cosine(reply.embeddings)


_REQUESTS: dict[str, Callable[[str, str, str, str, str], Request]] = {
    "judge": _judge_request,
    "cosine": _embedding_request,
}
_VALUES: dict[str, Callable[[Reply], float | None]] = {"judge": _judge_value, "cosine": _embedding_value}
