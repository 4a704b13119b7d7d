"""From a question and a reply to a score."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from ..errors import ProviderError, UnreadableError, UsageError
from ..trial import Json, Question, Reply, Score
from .conditions import condition_of
from .extract import answer_text, marked
from .forms import form, takes_lines
from .metrics import metric
from .partial_order import labels_of
from .spellings import in_names, known_with

_CUT_OFF = ("length", "max_tokens")
_WITHHELD = "refusal"
_FILTERED = "content_filter"
_CANNOT = r"(?:can['’]?t|can ?not|could ?n[o'’]t|won['’]?t|will not|(?:am|'m|’m) (?:unable|not able) to)"
_DECLINES = re.compile(
    rf"as an? (?:ai|large language model|language model)\b.{{0,80}}?\bi ?{_CANNOT}\b"
    r"|(?:(?:(?:i['’]m|i am|we['’]re) )?(?:very |so |really )?sorry|(?:my )?apologies|i apologi[sz]e|unfortunately)?"
    rf"[\s,.;:!–—-]*(?:but |however,? )?(?:i|we) ?{_CANNOT} (?:be able to )?"
    r"(?:help|assist|answer|comply|fulfil|provide|respond|discuss|engage|continue with|do (?:that|this))"
    r"|(?:i['’]m sorry, but )?i (?:must|have to) (?:decline|refuse)\b",
    re.IGNORECASE | re.DOTALL,
)


def grade(question: Question, reply: Reply, measured: Mapping[str, float | None] | None = None) -> Score:
    """The score of the reply, by the form, metrics, place and reading that the question names.

    An answer that cannot be read has value 0.0 and status "unreadable"; a text that declines and holds no answer has
    value 0.0 and status "refused". `missing` and `extra` are filled for lists (a group is written as its names; in
    an order names count as often as they stand there). A main
    metric that is undefined for the answer counts 0.0, with a remark. `measured` holds the values of the metrics that a
    model measures (`question.judged`), for an answer that can be read.

    Raises:
        ProviderError: of the kind truncated, where the reply was cut off at the token limit before an answer could be
            read; content-filter, where a filter ended it.
        UnknownNameError: for a form or metric that is not known.
        UsageError: where the value of such a metric is missing.
    """
    _ = [metric(name) for name in (question.metric, *question.further) if name not in question.judged]
    given = _read(question, reply)
    return given if isinstance(given, Score) else _measured(question, given, measured or {})


def read_answer(question: Question, reply: Reply) -> Json:
    """The answer as `grade` reads it; None where it is unreadable, refused or cut off."""
    try:
        given = _read(question, reply)
    except ProviderError:
        return None
    return None if isinstance(given, Score) else given


def _read(question: Question, reply: Reply) -> Json | Score:
    """The answer, or the score of a reply that holds none."""
    if reply.finish_reason == _FILTERED:  # of a file of replies, too
        raise ProviderError("content-filter", "the provider's content filter withheld the reply, or part of it")
    shape, text = form(question.form), ""
    try:
        lines = takes_lines(question.form, question.names)
        text = answer_text(reply.text, question.place, question.reading, lines)
        known = known_with(question.names, question.spellings, question.form)
        given = in_names(shape.read(text, known, question.reading), question.spellings, question.form)
    except UnreadableError as problem:
        _demand_whole(reply, False)
        refused = reply.finish_reason == _WITHHELD or _declines(reply.text) or _declines(text)
        return _nought(question, "refused" if refused else "unreadable", str(problem))
    _demand_whole(reply, question.place != "marker" or (marked(reply.text, question.reading) and bool(text.strip())))
    declined = reply.finish_reason == _WITHHELD or _declines(reply.text) or _declines(text)
    if declined and not _holds_answer(given, text, question, reply):
        return _nought(question, "refused", "the reply declines to answer")
    return given


def _demand_whole(reply: Reply, readable: bool) -> None:
    if reply.finish_reason in _CUT_OFF and not readable:
        told = "the reply was cut off at the token limit before an answer could be read; allow more tokens"
        raise ProviderError("truncated", told)


def _declines(text: str) -> bool:
    """Whether the text begins by refusing. Conservative: "I cannot find a link" is no refusal."""
    return _DECLINES.match(text.lstrip()[:300].lstrip("*_#> \"'")) is not None


def _holds_answer(given: Json, text: str, question: Question, reply: Reply) -> bool:
    """Whether a text that declines nevertheless answers: with the word itself, or with a name that is known; with any
    other text, where a text is asked for, if it stands behind the marker.
    """
    if question.form == "text":
        return question.place == "marker" and marked(reply.text, question.reading) and not _declines(text)
    given = _bare(given)
    known = {*question.names, *question.spellings.values(), *_flat(question.reference)}
    first = re.search(r"\w+", text)
    plain = first is not None and first[0].lower() == given
    return plain or any(name in known for name in _flat(given)) or (given == [] and bool(text.strip()))


def _bare(answer: Json) -> Json:
    """An answer without its reasons: the tasks, or yes or no."""
    if isinstance(answer, dict):
        return answer.get("tasks", []) if "reasons" in answer else answer.get("answer", answer)
    return answer


def _flat(answer: Json) -> list[str]:
    if isinstance(answer, dict) and ("reasons" in answer or "answer" in answer):
        return _flat(_bare(answer))
    if isinstance(answer, dict):
        return [condition_of(answer)] if "condition" in answer else labels_of(answer)
    if isinstance(answer, list):
        return [name for item in answer for name in ([item] if isinstance(item, str) else _names_of(item))]
    return [answer] if isinstance(answer, str) and answer not in ("yes", "no") else []


def _names_of(group: Json) -> list[str]:
    return [name for name in group if isinstance(name, str)] if isinstance(group, list) else []


def _nought(question: Question, status: str, remark: str) -> Score:
    metrics: dict[str, float | None] = dict.fromkeys(question.further, 0.0)
    if "reason" in metrics:
        metrics["reason"] = metric("reason")(None, question.reference)  # none was given, which is not a bad one
    return Score(0.0, metrics, status="refused" if status == "refused" else "unreadable", remark=remark)


def _measured(question: Question, given: Json, measured: Mapping[str, float | None]) -> Score:
    value, *others = [
        _of_a_model(name, measured) if name in question.judged else metric(name)(given, question.reference)
        for name in (question.metric, *question.further)
    ]
    further = dict(zip(question.further, others, strict=True))
    missing, extra = _differences(given, question.reference)
    why = ": the model that measures it gave no value" if question.metric in question.judged else ""
    remark = f"{question.metric} is undefined for this answer, counted 0{why}" if value is None else ""
    return Score(value or 0.0, further, given=given, missing=missing, extra=extra, remark=remark)


def _of_a_model(name: str, measured: Mapping[str, float | None]) -> float | None:
    if name not in measured:
        raise UsageError(f"no mark without the metric {name!r}: a model measures it, and its value is not there")
    return measured[name]


def _differences(given: Json, reference: Json) -> tuple[list[str], list[str]]:
    """What the reference has and the answer has not, and the other way round; nothing unless both list names."""
    if isinstance(given, dict) and isinstance(reference, dict):
        given, reference = _bare(given), _bare(reference)
    if not isinstance(given, list) or not isinstance(reference, list | dict):
        return [], []
    if isinstance(reference, dict):
        ours, theirs = Counter(map(str, given)), Counter(labels_of(reference))
    else:
        ours, theirs = _counted(given), _counted(reference)
    return sorted((theirs - ours).elements()), sorted((ours - theirs).elements())


def _counted(items: list[Json]) -> Counter[str]:
    """Names count once; identical groups count as often as they stand there."""
    return Counter(_label(item) for item in items if isinstance(item, list)) + Counter(
        {_label(item) for item in items if not isinstance(item, list)}
    )


def _label(item: Json) -> str:
    return ", ".join(sorted(map(str, item))) if isinstance(item, list) else str(item)
