"""Putting one question: drive its episode in the loop, then, in the main thread, score the reply and make the trial."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from ...errors import NotAskedError, ProviderError, UsageError
from ...redaction import redact, redact_all
from ...trial import MOST_REPETITIONS, Failure, Outcome, Question, Trial
from .measuring import SPEC, MeasuringModels

if TYPE_CHECKING:
    from ...asking import Episode, Exchange, Model, Transcript
    from ...trial import Reply, Request, Score


@dataclass(frozen=True, slots=True)
class AskResult:
    """Result of asking one question: a transcript, an error, or both where the reply could not be measured."""

    transcript: Transcript | None
    error: ProviderError | NotAskedError | None
    exchanges: list[Exchange]  # all of them, also those before the error

    @property
    def requests(self) -> int:
        """How many requests were sent, whether a reply came or not."""
        return sum(exchange.sent for exchange in self.exchanges)

    @property
    def retries(self) -> int:
        """How often requests were repeated."""
        answered = sum(exchange.reply.retries for exchange in self.exchanges if exchange.reply)
        return answered + sum(getattr(exchange.failure, "attempts", 1) - 1 for exchange in self.exchanges)


async def ask(
    question: Question, episode: Episode, model: Model, measuring: MeasuringModels, seconds: float | None = None
) -> AskResult:
    """Drive the question's episode, have its reply measured, and return the result, within `seconds` in all."""
    from ...asking import drive
    from ...models.middleware.budget import TIME_LIMIT

    async def answer(request: Request) -> Reply:
        sent = repeated_request(request, question)
        return await (measuring.answer(sent) if sent.role in SPEC else model.answer(sent))

    exchanges: list[Exchange] = []
    transcript, error = None, None
    try:
        async with asyncio.timeout(seconds) as limit:
            TIME_LIMIT.set(limit)
            transcript = await drive(episode(question), answer, exchanges)
            if question.judged:
                transcript = await measuring.measure(question, transcript, exchanges)
    except (ProviderError, NotAskedError) as failure:
        error = failure
    except (SystemExit, KeyboardInterrupt) as stop:  # of the episode: it would end the loop, and all other questions
        raise UsageError(f"the episode {question.episode!r} raised {stop!r}; let it return a Transcript") from stop
    except TimeoutError:
        error = ProviderError("timeout", f"no answer within {seconds:g} s (--taskgraph-question-timeout)")
    return AskResult(transcript, error, exchanges)


def trial_of(question: Question, model: str, result: AskResult) -> tuple[Trial, Exception | None]:
    """The trial; and what stopped it, if there is no reply to score: ProviderError, NotAskedError, OrderTooWideError.

    A reply that could not be measured, for a judge or an embedder failed, is kept without a score: it is paid for.
    """
    from ...results.record.exchanges import keep_exchanges
    from ...scoring.grade import score_reply

    transcript, error, shown = result.transcript, result.error, redacted(question)
    reply = transcript.reply if transcript else None
    exchanges, texts = keep_exchanges(question, result.exchanges, reply)
    if reply is not None and (text := redact(reply.text)) != reply.text:  # one that the episode composed
        reply = replace(reply, text=text)
    trial = Trial(shown, model, "error", reply, requests=result.requests, retries=result.retries)
    trial = replace(trial, exchanges=exchanges, texts=texts)
    if error is not None:
        outcome: Outcome = "error" if isinstance(error, ProviderError) else "skipped"
        return replace(trial, outcome=outcome, failure=Failure(error.kind, error.message)), error
    assert transcript is not None
    assert reply is not None
    made, stopped = score_reply(shown, reply, model, result.requests, transcript.metrics)
    score = made.score and _with_measured(made.score, shown, transcript)
    return replace(trial, outcome=made.outcome, score=score, failure=made.failure), stopped


def _with_measured(score: Score, question: Question, transcript: Transcript) -> Score:
    """Return the score with the metrics and the parts of the transcript; what the question's own metrics say stays."""
    from ...scoring.measurement import episode_measurement

    own = {question.metric, *question.further, *score.metrics}
    found = episode_measurement(question.episode, transcript.metrics, transcript.parts)
    metrics = {name: value for name, value in found.values.items() if name not in own}
    parts = {name: list(pair) for name, pair in found.parts.items()}
    return replace(score, metrics=score.metrics | metrics, parts=parts | score.parts)


def repeated_request(request: Request, question: Question) -> Request:
    """Return the request as one of this repetition of the question, whose reply is another one than in any other.

    Requests of an episode that are alike but for their own repetition stay different from each other, too.
    """
    repetition = question.repetition + (request.repetition - 1) * MOST_REPETITIONS
    return request if repetition == request.repetition else replace(request, repetition=repetition)


def redacted(question: Question) -> Question:
    """Return the question without secrets, which files of the user may hold."""
    settings = [str(value) for value in question.episode_settings.values()]
    shown = "\n".join([question.prompt, question.text, question.system, *question.specifications.values(), *settings])
    if redact(shown) == shown:
        return question
    return Question(**redact_all(asdict(question)))
