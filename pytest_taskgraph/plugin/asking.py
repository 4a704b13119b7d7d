"""Putting one question: drive its episode, mark the reply, and make the trial, whatever happens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import NotAskedError, OrderTooWideError, ProviderError
from ..trial import Outcome, Question, Reply, Trial

if TYPE_CHECKING:
    from ..asking import Transcript
    from ..benchmarks.family import Family
    from ..trial import Request
    from .loop import Loop
    from .measuring import Measuring
    from .subject import Subject


def put(
    question: Question, subject: Subject, family: Family, loop: Loop, measuring: Measuring | None = None
) -> tuple[Trial, Exception | None]:
    """The trial; and what stopped it, if there is no reply to mark: ProviderError, or NotAskedError.

    A reply that could not be measured, for a judge or an embedder failed, is kept without a score: it is paid for.
    """
    from ..benchmarks.episodes.agent import marked_agent, said
    from ..benchmarks.episodes.tail import told

    subject.meet(question)
    trial, sent = Trial(question, subject.name, "error"), list["Request"]()
    try:
        transcript = loop.run(_asked(question, subject, family, sent))
    except ProviderError as error:
        return replace(trial, error=str(error), requests=len(sent)), error
    except NotAskedError as error:
        return replace(trial, outcome="skipped", error=str(error)), error
    try:
        whole = loop.run(measuring.measured(question, transcript)) if measuring and question.judged else transcript
    except (ProviderError, NotAskedError) as error:
        asked = len(transcript.exchanges) + len(question.judged)
        outcome: Outcome = "error" if isinstance(error, ProviderError) else "skipped"
        kept = replace(trial, reply=transcript.reply, exchanges=said(question, transcript), requests=asked)
        return replace(kept, outcome=outcome, error=str(error)), error
    made, stopped = mark(question, whole.reply, subject.name, len(whole.exchanges), whole.metrics)
    made = replace(made, exchanges=[*said(question, whole), *told(question, whole)])
    return marked_agent(made, transcript), stopped


def mark(
    question: Question,
    reply: Reply,
    model: str,
    requests: int = 1,
    measured: Mapping[str, float | None] | None = None,
) -> tuple[Trial, Exception | None]:
    """The trial of a reply that arrived; with an error if it was cut off before an answer could be read, or if it
    cannot be marked exactly within the bounds of its metric. `measured`: the metrics that models measured.
    """
    from ..scoring.grade import grade

    trial = Trial(question, model, "error", reply, requests=requests)
    try:
        score = grade(question, reply, measured)
    except (ProviderError, OrderTooWideError) as error:
        return replace(trial, error=str(error)), error
    outcome: Outcome = "right" if score.value >= question.pass_mark else "wrong"
    return replace(trial, score=score, outcome=outcome if score.status == "read" else score.status), None


async def _asked(question: Question, subject: Subject, family: Family, sent: list[Request]) -> Transcript:
    """What the question's episode comes to; every request is entered in `sent`, whether it is answered or not."""
    from ..asking import drive
    from ..benchmarks.episodes import episode

    model = subject.model(family)

    async def answer(request: Request) -> Reply:
        sent.append(request)
        return await model.answer(request)

    return await drive(episode(question.episode)(question), answer)
