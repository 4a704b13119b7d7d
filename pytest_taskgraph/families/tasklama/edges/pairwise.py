"""Dependencies by pairs: for each ordered pair of steps, one request whether the first must come first."""

from __future__ import annotations

from itertools import permutations
from typing import Final

from ....scoring.statements import has_marker
from ....scoring.task_graphs.precedence import Edge
from ....trial import Json, Question, Reply, Request
from .edge_answers import Asking, FoundEdges, GivenSteps, Requests, user_request
from .edge_prompts import pair_text, text_setting
from .edge_replies import read_verdict

MOST_PAIRED_STEPS: Final = 20
"""Generated steps that are asked about by pairs, 380 requests; further steps have no dependencies.

Without it, a model that writes 200 steps would be sent 39,800 requests.
"""


def asking_pairs(rationale: bool, most: int | None = None) -> Asking:
    """Return the way to ask for dependencies that sends a request for each ordered pair, all in one turn.

    A pair whose reply says neither yes nor no is unread, and noted: no dependency on generated steps, wrong on golden
    ones. If none can be read, nothing is found.

    Args:
        rationale: Whether the model is to write its reasons before the answer.
        most: The number of steps that are asked about, the first ones; None for all.
    """

    def ask(question: Question, given: GivenSteps) -> Requests[FoundEdges]:
        steps = given.steps[:most]
        pairs = [*permutations(range(len(steps)), 2)]
        if not pairs:
            return FoundEdges(())
        replies = yield [_pair_request(question, given, pair, rationale) for pair in pairs]
        verdicts = [_verdict(reply, rationale) for reply in replies]
        notes = [_note(pair, verdict) for pair, verdict in zip(pairs, verdicts, strict=True)]
        if left_out := len(given.steps) - len(steps):
            notes[0]["steps_left_out"] = left_out
        if all(verdict is None for verdict in verdicts):
            return FoundEdges(None, replies[0], tuple(notes))
        edges = tuple(pair for pair, verdict in zip(pairs, verdicts, strict=True) if verdict)
        unread = tuple(pair for pair, verdict in zip(pairs, verdicts, strict=True) if verdict is None)
        return FoundEdges(edges, _first_read(replies, verdicts), tuple(notes), unread)

    return ask


def _pair_request(question: Question, given: GivenSteps, pair: Edge, rationale: bool) -> Request:
    first, second = (given.steps[at] for at in pair)
    answer, other = ("yes", "no") if pair in given.dependencies else ("no", "yes")
    if rationale:
        answer, other = f"Final answer: {answer}", f"Final answer: {other}"
    return user_request(
        question, pair_text(text_setting(question.episode_settings, "pair"), first, second), answer, other
    )


def _verdict(reply: Reply, rationale: bool) -> bool | None:
    """Return the verdict of a reply; None also where a rationale was cut off before its answer."""
    if rationale and reply.cut_off and not has_marker(reply.text, "lenient"):
        return None
    return read_verdict(reply.text, rationale)


def _note(pair: Edge, verdict: bool | None) -> dict[str, Json]:
    read = "unparseable" if verdict is None else "yes" if verdict else "no"
    return {"asked": "pair", "pair": [*pair], "read": read}


def _first_read(replies: list[Reply], verdicts: list[bool | None]) -> Reply:
    return next(reply for reply, verdict in zip(replies, verdicts, strict=True) if verdict is not None)
