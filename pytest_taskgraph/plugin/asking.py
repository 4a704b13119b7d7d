"""Putting one question: drive its episode in the loop, then, in the main thread, mark the reply and make the trial."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from ..errors import BudgetSpentError, NotAskedError, PromptNotUnderstoodError, ProviderError
from ..redaction import redact, redact_all
from ..trial import Outcome, Question, Reply, Trial
from .judging import NOT_UNDERSTOOD

if TYPE_CHECKING:
    from ..asking import Episode, Model, Transcript
    from ..trial import Request
    from .measuring import Measuring


@dataclass(frozen=True, slots=True)
class Came:
    """What came of asking one question: a transcript, an error, or both where the reply could not be measured."""

    transcript: Transcript | None
    error: ProviderError | NotAskedError | None
    requests: int
    retries: int


async def ask(
    question: Question, episode: Episode, model: Model, measuring: Measuring, seconds: float | None = None
) -> Came:
    """What comes of the question's episode and of measuring its reply, within `seconds` in all."""
    from ..models.budget import TIME_LIMIT

    sent: list[Request] = []
    transcript, error, retries = None, None, 0
    try:
        async with asyncio.timeout(seconds) as limit:
            TIME_LIMIT.set(limit)
            transcript = await _asked(question, episode, model, sent)
            if question.judged:
                transcript = await measuring.measured(question, transcript)
    except (ProviderError, NotAskedError) as failure:
        error, retries = failure, getattr(failure, "attempts", 1) - 1
    except TimeoutError:
        error = ProviderError("timeout", f"no answer within {seconds:g} s (--taskgraph-question-timeout)")
    retries += sum(reply.retries for _, reply in transcript.exchanges) if transcript else 0
    # Where measuring failed, each of its requests counts.
    measured = len(transcript.exchanges) if transcript else len(sent)
    return Came(transcript, error, measured + (len(question.judged) if transcript and error else 0), retries)


def trial_of(question: Question, model: str, came: Came) -> tuple[Trial, Exception | None]:
    """The trial; and what stopped it, if there is no reply to mark: ProviderError, NotAskedError, OrderTooWideError.

    A reply that could not be measured, for a judge or an embedder failed, is kept without a score: it is paid for.
    """
    from ..benchmarks.episodes.tail import told
    from ..benchmarks.understanding.agent import marked_agent, said
    from ..scoring.marking import mark

    transcript, error = came.transcript, came.error
    question = redacted(question)
    trial = Trial(question, model, "error", requests=came.requests, retries=came.retries)
    if transcript is not None:
        trial = replace(trial, reply=transcript.reply, exchanges=said(question, transcript))
    if error is not None:
        outcome: Outcome = "error" if isinstance(error, ProviderError) else "skipped"
        requests = trial.requests if transcript or outcome == "error" else 0
        return replace(trial, outcome=outcome, error=_told(error), requests=requests), error
    assert transcript is not None
    made, stopped = mark(question, transcript.reply, model, came.requests, transcript.metrics)
    made = replace(made, retries=came.retries, exchanges=[*trial.exchanges, *told(question, transcript)])
    return marked_agent(made, transcript), stopped


def redacted(question: Question) -> Question:
    """Return the question without secrets, which workflow files of the user may hold."""
    shown = "\n".join([question.prompt, question.text, question.system, *question.specifications.values()])
    if redact(shown) == shown:
        return question
    return Question(**redact_all(asdict(question)))


def _told(error: ProviderError | NotAskedError) -> str:
    """The error in words; the name of the case that judges it goes before, where there is one."""
    if isinstance(error, BudgetSpentError):
        return f"budget::{error.limit}: {error}"
    return f"{NOT_UNDERSTOOD}: {error}" if isinstance(error, PromptNotUnderstoodError) else str(error)


async def _asked(question: Question, episode: Episode, model: Model, sent: list[Request]) -> Transcript:
    """What the question's episode comes to; every request is entered in `sent`, whether it is answered or not."""
    from ..asking import drive

    async def answer(request: Request) -> Reply:
        request = replace(request, repetition=question.repetition) if question.repetition > 1 else request
        sent.append(request)
        return await model.answer(request)

    return await drive(episode(question), answer)
