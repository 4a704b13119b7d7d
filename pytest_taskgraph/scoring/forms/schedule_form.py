"""The answer form `schedule`: a line for each task, with the time at which it starts, a whole number of one unit.

Lenient parsing finds the lines in other text, and takes tables, JSON, starts with ends, and times in units, which it
converts into the unit of the question. A start that is no whole number of it, or that may be another number, makes the
answer unparseable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...errors import UnparseableError
from ...trial import Json, Parsing
from ..explanations.value_differences import cut, join_names, spelling_sentences, write_name
from ..name_lists import quote_start, unknown_name
from ..schedule_lines import Start, exact_starts, find_starts, mark_of, unit_of
from ..schedules import Fault, schedule, starts_by_task
from .form import Form, collapse_spaces, show_value

_MARK_WORDS: Final = {":": "a colon", "=": "an equals sign", "~": "a tilde", "^": "a caret"}


def _instruct(names: Sequence[str]) -> str:
    mark = _MARK_WORDS.get(mark_of(names), "a tab")
    return (
        f"The answer has one line a task: its name, written as in the specification, {mark}, and the time at which it "
        "starts, a whole number in the unit of the question."
    )


def _read(text: str, names: Sequence[str], parsing: Parsing) -> Json:
    """Return the starts; strictly, each line is a name, the mark and a whole number."""
    starts = exact_starts(text, names, strict=parsing == "strict")
    if not starts and parsing == "lenient":
        starts = find_starts(text, names, "")
    if not starts:
        raise UnparseableError(f"expected one task a line, each with its start, found {quote_start(text)}")
    return _answer(starts)


def _reduce(statement: str, question: str, names: Sequence[str]) -> str:
    """Return the starts that a text states, one a line, in the unit that the question names."""
    exact = exact_starts(statement, names)
    return _write(_answer(exact or find_starts(statement, names, unit_of(question))), names)


def _answer(starts: Sequence[Start]) -> dict[str, Json]:
    return {"tasks": [name for name, _ in starts], "starts": [time for _, time in starts]}


def _write(answer: Json, names: Sequence[str]) -> str:
    """Return an answer as it is, or the schedule that a reference holds."""
    mark = mark_of(names)
    match answer:
        case {"tasks": list(tasks), "starts": list(starts)}:
            return "\n".join(f"{task}{mark} {start}" for task, start in zip(tasks, starts, strict=False))
    return ""


def _nobody(reference: Json, names: Sequence[str]) -> Json:
    return {"tasks": [unknown_name(names)], "starts": [0]}


def _show(answer: Json) -> str:
    """Return the tasks with their starts; of a reference, that this is one schedule of several."""
    match answer:
        case {"tasks": list(tasks), "starts": list(starts), **rest}:
            text = ", ".join(f"{collapse_spaces(task)} at {time}" for task, time in zip(tasks, starts, strict=False))
            return f"{text} ({rest['unit']}; one of several right answers)" if "unit" in rest else text
    return show_value(answer)


def explain_schedule(reference: Json, given: Json) -> list[str]:
    """Name the constraints that a schedule breaks: order, workers, limit, and tasks with several starts.

    Raises:
        UsageError: if the reference states no constraints.
    """
    expected = schedule(reference)
    faults = expected.faults(given)
    sentences: dict[str, list[str]] = {}
    for fault in faults:
        if fault.times and (sentence := _sentence(fault, expected.workers, expected.limit)):
            kind = "order" if fault.kind == "order" else "other"
            sentences.setdefault(kind, []).append(sentence)
    order, others = (list(dict.fromkeys(sentences.get(kind, ()))) for kind in ("order", "other"))
    spelled = spelling_sentences([*expected.tasks], [*starts_by_task(given)])
    return [*cut(order, "pair"), *cut(others, "constraint"), *spelled]


def _sentence(fault: Fault, workers: int | None, limit: int) -> str:
    """Return what is wrong in words; "" for names that are missing or unknown, which lists of names say."""
    name, times = write_name(fault.tasks[0]), [f"{time:,}" for time in fault.times]
    match fault.kind:
        case "order":
            return f"{name} starts at {times[0]}, before {write_name(fault.tasks[1])} ends at {times[1]}"
        case "workers":
            number, running = len(fault.tasks), join_names(sorted(fault.tasks))
            return f"at {times[0]}, {number} tasks run with {workers} workers: {running}"
        case "late":
            return f"{name} ends at {times[0]}, later than {limit:,}"
        case "early":
            return f"{name} starts at {times[0]}, before the start of the whole"
        case "repeated":
            return f"{name} has {len(times)} starts: {' and '.join(times)}"
    return ""


def _takes_lines(names: Sequence[str]) -> bool:
    return True


SCHEDULE = Form(
    "schedule", _instruct, _read, _write, "constraints", wrong=_nobody, show=_show, takes_lines=_takes_lines,
    reduce=_reduce, self_delimiting=True, names_all=True, explain=explain_schedule,
)  # fmt: skip
