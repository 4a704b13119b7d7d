"""Putting one question: drive its episode, mark the reply, and make the trial, whatever happens."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import NotAskedError, OrderTooWideError, ProviderError
from ..trial import Outcome, Question, Reply, Trial

if TYPE_CHECKING:
    from ..asking import Transcript
    from ..benchmarks.family import Family
    from .loop import Loop
    from .subject import Subject


def put(question: Question, subject: Subject, family: Family, loop: Loop) -> tuple[Trial, Exception | None]:
    """The trial; and what stopped it, if there is no reply to mark: ProviderError, or NotAskedError."""
    subject.meet(question)
    trial = Trial(question, subject.name, "error")
    try:
        transcript = loop.run(_asked(question, subject, family))
    except ProviderError as error:
        return replace(trial, error=str(error), requests=1), error
    except NotAskedError as error:
        return replace(trial, outcome="skipped", error=str(error)), error
    return mark(question, transcript.reply, subject.name, len(transcript.exchanges))


def mark(question: Question, reply: Reply, model: str, requests: int = 1) -> tuple[Trial, Exception | None]:
    """The trial of a reply that arrived; with an error if it was cut off before an answer could be read, or if it
    cannot be marked exactly within the bounds of its metric.
    """
    from ..scoring.grade import grade

    trial = Trial(question, model, "error", reply, requests=requests)
    try:
        score = grade(question, reply)
    except (ProviderError, OrderTooWideError) as error:
        return replace(trial, error=str(error)), error
    outcome: Outcome = "right" if score.value >= question.pass_mark else "wrong"
    return replace(trial, score=score, outcome=outcome if score.status == "read" else score.status), None


async def _asked(question: Question, subject: Subject, family: Family) -> Transcript:
    from ..asking import drive
    from ..benchmarks.episodes import episode

    return await drive(episode(question.episode)(question), subject.model(family).answer)
