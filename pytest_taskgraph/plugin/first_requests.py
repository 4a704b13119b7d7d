"""What an item would send first, built without sending anything: for plans of a run, and for snapshots of prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..asking import Episode
    from ..trial import Question, Request
    from .suites import Collected


def built_question(collected: Collected) -> Question:
    """Return the question of an item. Raises UsageError, whatever its family raises."""
    from ..benchmarks.contract import report_family_errors

    with report_family_errors(collected.family, f"question({collected.reference.id!r})"):
        return collected.question()


def first_requests(collected: Collected, question: Question) -> tuple[Episode, list[Request]]:
    """Return the episode of a question, and what it asks first. Raises UsageError, whatever its family raises."""
    from ..asking import first_turn
    from ..benchmarks.contract import report_family_errors
    from .asking.ask import repeated_request

    with report_family_errors(collected.family, f"episode({question.episode!r})"):
        episode = collected.family.episode(question.episode)
        return episode, [repeated_request(request, question) for request in first_turn(episode(question))]
