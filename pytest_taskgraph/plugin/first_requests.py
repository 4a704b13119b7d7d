"""The question and the first requests of an item, built without sending them: for dry runs and prompt snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..asking import Episode
    from ..trial import Question, Request
    from .asking.kept_questions import KeptQuestions
    from .suites import CollectedQuestion


def build_question(collected: CollectedQuestion, kept: KeptQuestions | None = None) -> Question:
    """Build the question of an item unless it was kept. Raises UsageError for any exception of its family."""
    from ..benchmarks.contract import report_family_errors

    with report_family_errors(collected.family, f"question({collected.reference.id!r})"):
        return collected.question() if kept is None else kept.question(collected)


def first_requests(collected: CollectedQuestion, question: Question) -> tuple[Episode, list[Request]]:
    """Return the episode of a question and its first requests. Raises UsageError for any exception of its family."""
    from ..asking import first_turn
    from ..benchmarks.contract import report_family_errors
    from .asking.ask import repeated_request

    with report_family_errors(collected.family, f"episode({question.episode!r})"):
        episode = collected.family.episode(question.episode)
        return episode, [repeated_request(request, question) for request in first_turn(episode(question))]
