"""The whole graph in one request: the dependencies of given steps, or steps and dependencies together.

Yuan et al. (2024) name the latter as future work.
"""

from __future__ import annotations

from ....asking import Transcript, Turns, one_turn
from ....scoring.grade import read_answer
from ....scoring.task_graphs.precedence import transitive_reduction
from ....scoring.task_graphs.step_graphs import answered_graph
from ....trial import Question
from ..sequences import compose_answer, unparseable_reply
from .edge_answers import FoundEdges, GivenSteps, Requests, pairs_text, user_request
from .edge_prompts import steps_text, text_setting
from .edge_replies import read_pairs


def ask_graph(question: Question, given: GivenSteps) -> Requests[FoundEdges]:
    """Ask for all dependencies between the given steps; nothing is asked about fewer than two.

    The prompt is that of the settings, with a mark in the place of the steps, else that of the question.
    """
    if len(given.steps) < 2:
        return FoundEdges(())
    count = len(given.steps)
    right = transitive_reduction(count, given.dependencies)
    wrong = [(after, before) for before, after in right] or [(0, 1)]
    prompt = steps_text(text_setting(question.episode_settings, "graph") or question.prompt, given.steps)
    (reply,) = yield [user_request(question, prompt, pairs_text(right), pairs_text(wrong))]
    pairs = None if reply.cut_off else read_pairs(reply.text, given.steps)
    return FoundEdges(None if pairs is None else tuple(pairs), reply, ({"asked": "graph"},))


@one_turn
def entire_graph(question: Question) -> Turns:
    """Ask for steps and dependencies in one reply, which is then freed of cycles and reduced."""
    (reply,) = yield [user_request(question, question.prompt, None, None)]
    given = read_answer(question, reply)
    if given is None or reply.cut_off:
        return Transcript(unparseable_reply([reply]))
    answer = answered_graph(given)
    edges = transitive_reduction(len(answer.steps), answer.dependencies)
    return Transcript((yield from compose_answer(question, reply, answer.steps, edges)))
