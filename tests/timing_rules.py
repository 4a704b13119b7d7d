"""How often questions about times are answered by rules that do not look at all waiting.

Times as such a rule tells them (`shortcuts.py`) give an answer to every pattern, and so do some rules that look at
single numbers or at the order of the text. They stand beside the rules of `surface_rules.py`: of a pattern, the share
of questions that a rule answers. The rules know the run of the situation: so they are stronger than rules of the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from surface_rules import drawn_questions

from pytest_taskgraph.families.understanding.patterns.pattern import Pattern
from pytest_taskgraph.families.understanding.patterns.shortcuts import RuleTimes, longest_first, times_by_rule
from pytest_taskgraph.families.understanding.patterns.timed_levels import TimedLevel, timed_levels
from pytest_taskgraph.families.understanding.questions.sample import DrawnCase
from pytest_taskgraph.notations.phrases import read_duration
from pytest_taskgraph.workflow.model import SECONDS

Answers = Mapping[str, object]  # by rule


def shares(pattern: Pattern, count: int, tasks: int = 12, seed: int = 0) -> dict[str, float]:
    """Return the share of the questions of a pattern that each rule answers."""
    drawn = drawn_questions(pattern, count, tasks, "", seed)
    right: Counter[str] = Counter()
    for question in drawn:
        key = right_answer(question)
        answers = {**answers_by_times(pattern.name, question), **answers_by_numbers(pattern.name, question)}
        right.update(dict.fromkeys(answers, 0))
        right.update([rule for rule, answer in answers.items() if answer == key])
    return {rule: number / len(drawn) for rule, number in right.items()}


def right_answer(question: DrawnCase) -> object:
    """Return the answer in the form in which the rules give theirs: seconds, a set, a tuple, a name, a truth value."""
    answer, fields = question.case.answer, question.case.fields
    if isinstance(answer, int):
        return answer * SECONDS[fields["unit"]]
    if isinstance(answer, list):
        return set(answer)
    if isinstance(answer, dict):
        return tuple(answer["tasks"])  # type: ignore[arg-type]
    return answer == "yes" if answer in ("yes", "no") else answer


def level_of(question: DrawnCase) -> TimedLevel:
    """Return the level that a question is about, in its situation."""
    wanted = question.case.fields["situation"]
    return next(timed for timed in timed_levels(question.scope.workflow) if timed.situation == wanted)


def _seconds(fields: Mapping[str, Any], name: str) -> int:
    duration = read_duration(fields[name]) if name in fields else None
    return duration.seconds if duration else 0


def answers_by_times(pattern: str, question: DrawnCase) -> Answers:
    """Return the answer of each rule about times."""
    timed, fields = level_of(question), question.case.fields
    place = timed.single.get(fields.get("task", ""), -1)
    rules = times_by_rule(timed.timing)
    longer = times_by_rule(timed.timing.with_longer(place, _seconds(fields, "extra"))) if "extra" in fields else rules
    return {
        f"{rule}, {end}" if end else rule: answer
        for rule, times in rules.items()
        for end, answer in _answers(pattern, timed, place, times, longer[rule], fields)
    }


def _answers(
    pattern: str, timed: TimedLevel, place: int, times: RuleTimes, longer: RuleTimes, fields: Mapping[str, Any]
) -> Iterator[tuple[str, object]]:
    """Yield what follows from the times of a rule, read from the start, from the end, or both."""
    lengths, tasks = timed.timing.lengths, timed.timing.run.tasks
    low, high = min(times.spans), max(times.spans)
    if pattern in ("makespan", "makespan_with_workers"):
        yield from {"": low, "other end": high}.items()
    elif pattern == "critical_path":
        chain = [i for i in range(len(lengths)) if times.slack(i) <= 0]
        yield "", tuple(tasks[i] for i in chain)
    elif pattern == "deadline_met":
        yield "", high <= _seconds(fields, "deadline")
    elif pattern == "earliest_start":
        yield "", times.starts[place]
    elif pattern == "latest_start":
        yield from {"": times.latest_starts[place], "at once": times.starts[place]}.items()
    elif pattern == "waits_for":
        if times.waits[place] >= 0:
            yield "", tasks[times.waits[place]]
    elif pattern == "running_at":
        moment = _seconds(fields, "moment")
        yield "", {tasks[i] for i, start in enumerate(times.starts) if start <= moment < start + lengths[i]}
    elif pattern == "slack":
        yield "", times.slack(place)
    elif pattern == "zero_slack_tasks":
        yield "", {tasks[i] for i in range(len(lengths)) if times.slack(i) <= 0}
    elif pattern == "delay_effect":
        yield from {"": min(longer.spans), "other end": max(longer.spans), "and all of the delay": low
                    + _seconds(fields, "extra")}.items()  # fmt: skip
    elif pattern == "delay_harmless":
        yield "", times.slack(place) >= _seconds(fields, "extra")


def answers_by_numbers(pattern: str, question: DrawnCase) -> Answers:
    """Return the answer of each rule about single numbers, or about the order in which tasks are listed."""
    timed, fields = level_of(question), question.case.fields
    timing, place = timed.timing, timed.single.get(fields.get("task", ""), -1)
    key, extra, lengths = right_answer(question), _seconds(fields, "extra"), timed.timing.lengths
    if isinstance(key, bool):
        return {"long": extra >= lengths[place]} if extra else {"sum": _seconds(fields, "deadline") >= sum(lengths)}
    if isinstance(key, str):
        direct = [i for i, j in timing.run.pairs if j == place]
        listed = [name for name in timed.level.task_names if name in {timing.run.tasks[i] for i in direct}]
        by_length = sorted(direct, key=lambda i: lengths[i])
        return {
            "listed first": listed[0],
            "listed last": listed[-1],
            "takes longest": timing.run.tasks[by_length[-1]],
            "takes shortest": timing.run.tasks[by_length[0]],
        }
    if isinstance(key, (set, tuple)):
        return {"all": type(key)(timing.run.tasks)}
    size = SECONDS[timed.unit]
    return {
        "longest task": max(lengths),
        "its own duration": lengths[place],
        "one unit": size,
        "zero": 0,
        "number of tasks": len(timed.level.tasks) * size,
        "longest task and the delay": max(lengths) + extra,
        "sum and the delay": sum(lengths) + extra,
        **_by_workers(timed, int(fields.get("workers", 0))),
        **({"the delay": extra, "whole and the delay": timing.makespan + extra} if extra else {}),
        **{f"gap of {a} and {b}": abs(n - m) for (a, n), (b, m) in pairwise(_spans(timed))},
    }


def _spans(timed: TimedLevel) -> list[tuple[str, int]]:
    return [(name, max(timed.by_rule[name].spans)) for name in ("sum", "most", "fewest")]


def _by_workers(timed: TimedLevel, workers: int) -> Answers:
    if not workers:
        return {}
    return {
        "sum, shared out": -(-sum(timed.timing.lengths) // workers),
        "longest first": longest_first(timed.timing, workers),
        "whole": timed.timing.makespan,
    }
