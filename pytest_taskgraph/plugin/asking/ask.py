"""Asking one question: its episode runs in the event loop; the main thread scores the reply and builds the trial."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from ...asking import is_one_turn
from ...errors import NotAskedError, ProviderError, UsageError
from ...redaction import redact, redact_all
from ...trial import MOST_REPETITIONS, Failure, Outcome, Question, Trial
from .measuring import SPEC, MeasuringModels

if TYPE_CHECKING:
    from ...asking import Episode, Exchange, Model, Transcript
    from ...trial import Reply, Request, Score


@dataclass(frozen=True, slots=True)
class AskResult:
    """Result of asking one question: a transcript, an error, or both if the reply could not be measured."""

    transcript: Transcript | None
    error: ProviderError | NotAskedError | None
    exchanges: list[Exchange]  # including those before the error

    @property
    def requests(self) -> int:
        """Return the number of requests sent, with or without a reply."""
        return sum(exchange.sent for exchange in self.exchanges)

    @property
    def retries(self) -> int:
        """Return the number of retries of all requests."""
        answered = sum(exchange.reply.retries for exchange in self.exchanges if exchange.reply)
        return answered + sum(getattr(exchange.failure, "attempts", 1) - 1 for exchange in self.exchanges)


def may_wait(question: Question, episode: Episode, model: Model, measuring: MeasuringModels) -> bool:
    """Return False if asking the question is certain to end at once, without an event loop and a time limit.

    That holds for one turn to a model whose attribute `immediate` is True, in a run without judge and embedder.
    """
    immediate = getattr(model, "immediate", False) is True and is_one_turn(episode)
    return not immediate or bool(question.judged) or any(measuring.specs.values())


async def ask(
    question: Question,
    episode: Episode,
    model: Model,
    measuring: MeasuringModels,
    seconds: float | None = None,
    waits: bool = True,
) -> AskResult:
    """Ask a question: run its episode, and have its reply measured.

    Args:
        question: The question.
        episode: Its episode.
        model: The model under test.
        measuring: The models that measure the reply.
        seconds: The time limit of all requests together; None for no limit.
        waits: The result of `may_wait`; if False, no event loop has to run.

    Returns:
        The result; errors of requests are part of it.

    Raises:
        UsageError: if the episode raises SystemExit or KeyboardInterrupt.
    """
    from ...asking import drive
    from ...models.middleware.time_limit import TIME_LIMIT

    of_model: BaseException | None = None

    async def answer(request: Request) -> Reply:
        nonlocal of_model
        sent = repeated_request(request, question)
        try:
            return await (measuring.answer(sent) if sent.role in SPEC else model.answer(sent))
        except (SystemExit, KeyboardInterrupt) as stop:
            of_model = stop
            raise

    exchanges: list[Exchange] = []
    transcript, error = None, None
    try:
        async with asyncio.timeout(seconds) if waits else nullcontext() as limit:
            TIME_LIMIT.set(limit)
            transcript = await drive(episode(question), answer, exchanges, waits=waits)
            if question.judged:
                transcript = await measuring.measure(question, transcript, exchanges)
    except (ProviderError, NotAskedError) as failure:
        error = failure
    except (SystemExit, KeyboardInterrupt) as stop:
        if stop is of_model:  # Ctrl-C while a model answers in the main thread
            raise
        # Of the episode: it would end the loop with all other questions.
        raise UsageError(f"the episode {question.episode!r} raised {stop!r}; let it return a Transcript") from stop
    except TimeoutError:
        error = ProviderError("timeout", f"no answer within {seconds:g} s of all its attempts and turns")
    return AskResult(transcript, error, exchanges)


def trial_of(question: Question, model: str, result: AskResult) -> tuple[Trial, Exception | None]:
    """Build the trial of a question from its result; the reply is scored here.

    A reply that could not be measured because a judge or an embedder failed is kept without a score, for it is paid
    for.

    Args:
        question: The question.
        model: The name of the model.
        result: The result of asking it.

    Returns:
        The trial, and the error that prevented its score (ProviderError, NotAskedError or OrderTooWideError) or None.
    """
    from ...results.record.exchanges import keep_exchanges
    from ...scoring.grade import score_reply

    transcript, error, safe_question = result.transcript, result.error, redact_question(question)
    reply = transcript.reply if transcript else None
    exchanges, texts = keep_exchanges(question, result.exchanges, reply, has_secrets=safe_question is not question)
    if reply is not None:  # an episode may have composed it; no further request needs its fields
        reply = _storable_reply(reply)
    requests, retries = result.requests, result.retries
    score: Score | None = None
    failure: Failure | None
    scoring_error: Exception | None = error
    if error is not None:
        outcome: Outcome = "error" if isinstance(error, ProviderError) else "skipped"
        failure = Failure(error.kind, error.message)
    else:
        assert transcript is not None
        assert reply is not None
        scored, scoring_error = score_reply(safe_question, reply, model, requests, transcript.metrics)
        score = scored.score and _add_episode_metrics(scored.score, safe_question, transcript)
        outcome, failure = scored.outcome, scored.failure
    trial = Trial(
        safe_question, model, outcome, reply, score, failure, requests, retries, exchanges=exchanges, texts=texts
    )
    return trial, scoring_error


def _storable_reply(reply: Reply) -> Reply:
    """Return the reply without secrets and without the fields that only a further request would need."""
    text, reasoning = redact(reply.text), redact(reply.reasoning)
    if (text, reasoning) == (reply.text, reply.reasoning) and not reply.message_fields:
        return reply
    return replace(reply, text=text, reasoning=reasoning, message_fields={})


def _add_episode_metrics(score: Score, question: Question, transcript: Transcript) -> Score:
    """Return the score with the metrics and the parts of the transcript; the question's own metrics have priority."""
    if not transcript.metrics and not transcript.parts:
        return score
    from ...scoring.measurement import episode_measurement

    own = {question.metric, *question.further, *score.metrics}
    measurement = episode_measurement(question.episode, transcript.metrics, transcript.parts)
    metrics = {name: value for name, value in measurement.values.items() if name not in own}
    parts = {name: list(pair) for name, pair in measurement.parts.items()}
    return replace(score, metrics=score.metrics | metrics, parts=parts | score.parts)


def repeated_request(request: Request, question: Question) -> Request:
    """Return the request with a repetition number that is unique among the repetitions of the question.

    Requests of an episode that differ only in their own repetition stay different from each other.
    """
    repetition = question.repetition + (request.repetition - 1) * MOST_REPETITIONS
    return request if repetition == request.repetition else replace(request, repetition=repetition)


def redact_question(question: Question) -> Question:
    """Return the question without secrets, which files of the user may contain."""
    settings = [str(value) for value in question.episode_settings.values()]
    texts = "\n".join([question.prompt, question.text, question.system, *question.specifications.values(), *settings])
    if redact(texts) == texts:
        return question
    return Question(**redact_all(asdict(question)))
