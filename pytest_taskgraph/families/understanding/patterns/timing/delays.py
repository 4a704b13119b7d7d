"""Patterns about delays: which tasks may be late, by how much, and what follows (docs/reference/patterns.md)."""

from __future__ import annotations

from typing import Final

from .....workflow.model import Workflow
from ..pattern import OWN_LEVEL, Cases, case, pattern
from ..scope import limit_candidates
from ..shortcuts import standing
from ..timed_levels import SITUATION, timed_levels
from .whole_time import NEEDS, VARIES

SPARE_SHARE: Final = 12  # weight of tasks that may be late, among all that the slack is asked of
PARTLY_SHARE: Final = 2  # weight of delays of which a part is made up for


@pattern(
    SITUATION + "By how many {{ unit }} can task '{{ task }}' start later than at its earliest without making "
    "{{ place }} end later?",
    SITUATION
    + "In {{ place }}, all that task '{{ task }}' waits for has just ended. By how many {{ unit }} can it still "
    "be put off without making the end of the whole later?",
    form="number",
    needs=NEEDS,
    varies=VARIES,
    exceptional=True,
)
def slack(workflow: Workflow) -> Cases:
    """Check that the model knows how late a task may be.

    Tasks that must not be late are asked about seldom, since zero would be the most frequent answer. Left out are tasks
    that run several times, and situations in which no task may be late. Tasks come first of which no rule tells the
    answer that does not look at all waiting.
    """
    for timed in timed_levels(workflow):
        asked = list(timed.single.items()) if any(timed.timing.slacks) else []
        for task, place in limit_candidates(asked, len(workflow.tasks)):
            spare = timed.timing.slacks[place]
            stratum, share = ("some", SPARE_SHARE) if spare else ("none", 1)
            yield case(
                timed.amount(spare),
                **standing(timed.rules_of_slack(place), stratum=stratum, share=share),
                task=task,
                labels=timed.labels,
                **timed.fields,
            )


@pattern(
    SITUATION
    + "For which tasks of {{ place }} would any delay of that task's start alone, however small, delay the end of the "
    "whole?" + OWN_LEVEL,
    SITUATION + "Of the tasks of {{ place }} that run, which have no time to spare, so that any delay of one of them "
    "delays the end of the whole?" + OWN_LEVEL,
    form="task-set",
    needs=NEEDS,
    varies=VARIES,
    exceptional=True,
)
def zero_slack_tasks(workflow: Workflow) -> Cases:
    """Check that the model tells tasks that must not be late from those that may.

    Left out are situations in which a task runs several times, and in which no task may be late.
    """
    for timed in timed_levels(workflow):
        slacks = timed.timing.slacks
        if len(timed.single) == len(slacks) and any(slacks):
            answer = {task for task, place in timed.single.items() if not slacks[place]}
            labels = timed.labels | {"answers": len(answer)}
            yield case(answer, labels=labels, **standing(timed.rules_of_critical()), situation=timed.situation)


@pattern(
    SITUATION + "If task '{{ task }}' takes {{ extra }} longer than stated, how many {{ unit }} does {{ place }} take "
    "from its start to its end?",
    SITUATION + "Suppose that all tasks of {{ place }} take as long as stated, except that task '{{ task }}' takes "
    "{{ extra }} longer. After how many {{ unit }} is all of it finished?",
    form="number",
    needs=NEEDS,
    varies=VARIES,
    exceptional=True,
)
def delay_effect(workflow: Workflow) -> Cases:
    """Check that the model knows how much of a delay reaches the end.

    Mostly a part of the delay is made up for by the time to spare, at times all or nothing. Cases come first that
    no rule answers that does not look at all waiting. Left out are composite tasks, and tasks that run several times.
    """
    for timed in timed_levels(workflow):
        for task, place in limit_candidates(list(timed.single.items()), len(workflow.tasks)):
            if workflow.task(task).composite:
                continue
            spare, grain = timed.timing.slacks[place], timed.grain
            more = max(1, timed.timing.lengths[place] // grain // 2) * grain
            extras = {"partly": spare + more, "made up": spare} if spare else {"not": more}
            for stratum, extra in extras.items():
                longer, share = timed.timing.with_longer(place, extra), PARTLY_SHARE if stratum == "partly" else 1
                yield case(
                    timed.amount(longer.makespan),
                    **standing(timed.rules_of_longer(longer, extra), stratum=stratum, share=share),
                    task=task,
                    extra=timed.phrase(extra),
                    labels=timed.labels | {"delay": stratum},
                    **timed.fields,
                )


@pattern(
    SITUATION
    + "If task '{{ task }}' takes {{ extra }} longer than stated, does {{ place }} still end at the same time "
    "as otherwise?",
    SITUATION
    + "In {{ place }}, can task '{{ task }}' take {{ extra }} longer than stated without making the end of the "
    "whole later?",
    form="yes-no",
    needs=NEEDS,
    varies=VARIES,
    exceptional=True,
)
def delay_harmless(workflow: Workflow) -> Cases:
    """Check that the model knows whether a delay reaches the end.

    The delays are as long as the time to spare, or a little shorter or longer. Tasks with no time to spare come last.
    Left out are composite tasks, and tasks that run several times.
    """
    for timed in timed_levels(workflow):
        for task, place in limit_candidates(list(timed.single.items()), len(workflow.tasks)):
            if workflow.task(task).composite:
                continue
            spare, grain = timed.timing.slacks[place], timed.grain
            for extra in (spare - grain, spare, spare + grain, spare + 2 * grain):
                if extra > 0:
                    yield case(
                        extra <= spare,
                        **standing(timed.rules_of_slack(place), later=int(spare < 2 * grain)),
                        task=task,
                        extra=timed.phrase(extra),
                        labels=timed.labels,
                        situation=timed.situation,
                    )
