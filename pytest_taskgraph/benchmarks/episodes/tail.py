"""What follows an episode: models are asked to measure its reply, one request for each such metric of the question."""

from __future__ import annotations

from collections.abc import Callable

from ...asking import Transcript, Turns
from ...errors import ProviderError
from ...scoring.cosine import cosine
from ...scoring.grade import read_answer
from ...trial import Question, Reply, Request
from .. import FAMILIES
from ..family import Family
from ..llm_judge import judge_prompt, verdict


def tail(question: Question, reply: Reply, template: str) -> Turns:
    """The reply, with the metrics of `question.judged` that it was measured by.

    Asks nothing where there is none, and where no answer can be read from the reply. All requests are of one turn.
    `template` is that of the judge's prompt. Raises ProviderError where a judge was cut off before its score.
    """
    given = read_answer(question, reply) if question.judged else None
    if given is None:
        return Transcript(reply)
    texts = str(given), str(question.reference)
    replies = yield [_REQUESTS[name](question, *texts, template) for name in question.judged]
    values = {name: _VALUES[name](reply) for name, reply in zip(question.judged, replies, strict=True)}
    return Transcript(reply, values, notes=[{"metric": name, "value": value} for name, value in values.items()])


def _judge(question: Question, given: str, reference: str, template: str) -> Request:
    asked = FAMILIES[question.family].asked if question.family in FAMILIES else Family.asked
    prompt = judge_prompt(template, question.text, reference, given, asked)
    return Request(messages=[{"role": "user", "content": prompt}], role="judge")


def _embed(question: Question, given: str, reference: str, template: str) -> Request:
    return Request(role="embedder", kind="embed", texts=[given, reference])


def _judged(reply: Reply) -> float | None:
    value = verdict(reply.text)
    if value is None and reply.cut_off:
        raise ProviderError("truncated", "the judge was cut off at the token limit before its score; allow more tokens")
    return value


def _embedded(reply: Reply) -> float | None:
    if [*map(len, reply.embeddings)] != [len(reply.embeddings[0])] * 2 if reply.embeddings else True:
        raise ProviderError("malformed", "expected two vectors of one length from the embedder")
    return cosine(reply.embeddings)


_REQUESTS: dict[str, Callable[[Question, str, str, str], Request]] = {"judge": _judge, "cosine": _embed}
_VALUES: dict[str, Callable[[Reply], float | None]] = {"judge": _judged, "cosine": _embedded}
