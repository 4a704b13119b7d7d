"""From a question and a reply to a score and a trial, or from the score that a person entered."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from ..errors import OrderTooWideError, ProviderError, UnmeasuredError, UnparseableError, UsageError
from ..trial import Failure, Json, Outcome, Question, Reply, Score, Trial
from .condition_meaning import condition_text
from .echoes import without_echo
from .forms import form
from .forms.form import Form
from .forms.letter_form import LETTER, option_names
from .measurement import Measurement, measure_answer, measure_unparseable
from .metrics import METRICS, metric
from .name_lists import word_for_none
from .partial_order import task_labels
from .procedural_graphs.answered_graphs import answered_procedure
from .statements import LONGEST, asked_part, ends_answer, find_statement, has_marker, marked_part

_SEPARATORS = frozenset(",;|\t>→:=~^")  # characters at which groups, orders and reasons are cut

# The names of the forms whose answers hold names, by the shape of the answer.
LISTS, ORDERS, REASONS = ("task-set",), ("task-order",), ("task-reasons", "pair-reason")
SCHEDULES = ("schedule",)
NAMING = frozenset({"task", "groups", *LISTS, *ORDERS, *REASONS, *SCHEDULES})


def accepted_names(names: Sequence[str], spellings: Mapping[str, str], form: str) -> Sequence[str]:
    """Return the names that an answer of a form may hold, with their further spellings.

    In groups, orders and reasons no spelling may hold a character that separates names. For letters, further names
    state the text of each option (`forms.letter_form.option_names`); the answer is always the letter.
    """
    if form == LETTER.name:
        return [*names, *option_names(spellings)]
    if not spellings or form not in NAMING:
        return names
    usable = [text for text in spellings if form in ("task", *LISTS) or _SEPARATORS.isdisjoint(text)]
    return [*names, *(text for text in usable if text not in names)]


def resolve_spellings(answer: Json, spellings: Mapping[str, str], form: str) -> Json:
    """Return the answer with each further spelling replaced by its name; sets stay sorted."""
    if not spellings or form not in NAMING:
        return answer
    if isinstance(answer, str):
        return spellings.get(answer, answer)
    if isinstance(answer, dict) and form in SCHEDULES:
        return answer | {"tasks": resolve_spellings(answer.get("tasks"), spellings, ORDERS[0])}
    if isinstance(answer, dict) and isinstance(answer.get("tasks"), list):
        reasons = answer.get("reasons")
        renamed = {spellings.get(name, name): why for name, why in reasons.items()} if isinstance(reasons, dict) else {}
        return answer | {"tasks": resolve_spellings(answer["tasks"], spellings, LISTS[0]), "reasons": renamed}
    if not isinstance(answer, list):
        return answer
    if form == "groups":
        return [resolve_spellings(group, spellings, LISTS[0]) for group in answer]
    names = [spellings.get(name, name) for name in answer if isinstance(name, str)]
    return [*names] if form in ORDERS else [*sorted(set(names))]


_PLAIN_NAME = re.compile(r"[^\W\d]\w*+")
_WITHHELD = "refusal"
_FILTERED = "content_filter"
_CANNOT = r"(?:can['’]?t|can ?not|could ?n[o'’]t|won['’]?t|will not|(?:am|'m|’m) (?:unable|not able) to)"
_DECLINES = re.compile(
    rf"as an? (?:ai|large language model|language model)\b.{{0,80}}?\bi ?{_CANNOT}\b"
    r"|(?:(?:(?:i['’]m|i am|we['’]re) )?(?:very |so |really )?sorry|(?:my )?apologies|i apologi[sz]e|unfortunately)?"
    rf"[\s,.;:!–—-]*(?:but |however,? )?(?:i|we) ?{_CANNOT} (?:be able to )?"
    r"(?:help|assist|answer|comply|fulfil|provide|respond|discuss|engage|continue with|do (?:that|this))"
    r"|(?:(?:i['’]m |i am )?(?:very |so |really )?sorry|(?:my )?apologies|i apologi[sz]e|unfortunately)"
    rf"[\s,.;:!–—-]*(?:but |however,? )?(?:as an? [\w ]{{0,40}}(?:model|ai),? )?(?:i|we) ?{_CANNOT} (?:be able to )?"
    r"(?:describe|determine|analy[sz]e|tell|say|see|access|complete|do|find (?:any |the )?(?:workflow|specification))"
    r"|(?:i['’]m sorry, but )?i (?:must|have to) (?:decline|refuse)\b",
    re.IGNORECASE | re.DOTALL,
)


def grade(question: Question, reply: Reply, model_values: Mapping[str, float | None] | None = None) -> Score:
    """Return the score of the reply, by the form, metrics, place and parsing that the question names.

    An unparseable answer has value 0.0 and status "unparseable"; a text that declines and holds no answer has value 0.0
    and status "refused". `missing` and `extra` are filled for lists: a group is written as its names, and in an order
    names count as often as they occur. An undefined main metric counts 0.0, with a remark. A metric may return named
    values, which become further `metrics`, parts, and a remark (`measurement.Measurement`), also for a reply without
    an answer.

    Args:
        question: The question.
        reply: The reply to score.
        model_values: The values of the metrics that a model measures (`question.judged`), for an answer that parses.

    Raises:
        ProviderError: of the kind truncated, if the reply was cut off at the token limit before an answer could be
            parsed; content-filter, if a filter ended it.
        UnknownNameError: for a form or metric that is not known.
        UnmeasuredError: if the value of a metric that a model measures is missing.
        UsageError: if a metric returns no valid measurement, or two metrics give a value of the same name.
    """
    for name in (question.metric, *question.further):
        if name not in question.judged:
            metric(name)  # an unknown name is an error whatever the reply holds
    answer = _parse_answer(question, reply)
    return answer if isinstance(answer, Score) else _measure_all(question, answer, model_values or {})


def read_answer(question: Question, reply: Reply) -> Json:
    """Return the answer as `grade` parses it; None if it is unparseable, refused or cut off."""
    try:
        answer = _parse_answer(question, reply)
    except ProviderError:
        return None
    return None if isinstance(answer, Score) else answer


def _parse_answer(question: Question, reply: Reply) -> Json | Score:
    """Return the answer, or the score of a reply that holds none."""
    if reply.finish_reason == _FILTERED:  # replies in files have this reason, too
        raise ProviderError("content-filter", "the provider's content filter withheld the reply, or part of it")
    answer_form, text = form(question.form), ""
    lines = answer_form.takes_lines(question.names)
    if reply.cut_off and not ends_answer(reply.text, question.place, lines):
        raise _truncated(reply)
    accepted = accepted_names(question.names, question.spellings, question.form)
    try:
        text = _answer_text(question, reply, answer_form, accepted)
        answer = resolve_spellings(
            answer_form.read(text, accepted, question.parsing), question.spellings, question.form
        )
    except UnparseableError as problem:
        refused = reply.finish_reason == _WITHHELD or _declines(reply.text) or _declines(text)
        return _score_without_answer(question, "refused" if refused else "unparseable", str(problem))
    declines = reply.finish_reason == _WITHHELD or _declines(reply.text) or _declines(text)
    if declines and not _holds_answer(answer, text, question, reply):
        return _score_without_answer(question, "refused", "the reply declines to answer")
    return answer


def _answer_text(question: Question, reply: Reply, answer_form: Form, accepted: Sequence[str]) -> str:
    """Return the answer in a reply, for the form to read.

    Raises:
        UnparseableError: if the reply states no answer.
    """
    place, lines = question.place, answer_form.takes_lines(question.names)
    if question.parsing == "strict":
        return find_statement(reply.text, place, "strict", lines)
    if (
        accepted
        and len(reply.text) <= LONGEST
        and _lists_known(answer_form, asked := asked_part(reply.text, place), accepted)
    ):
        return asked
    echoed = [answer_form.instruct(question.names), *([] if question.form == LETTER.name else [question.text])]
    whole = without_echo(reply.text, *echoed)  # the text of an option, which a question about letters holds, answers it
    if answer_form.self_delimiting and place != "first-line":
        return answer_form.reduce(marked_part(whole, place), question.text, accepted)
    statement = find_statement(whole, place, "lenient", lines, accepted, answer_form.open, answer_form.name in NAMING)
    return answer_form.reduce(statement, question.text, accepted)


def _lists_known(answer_form: Form, text: str, names: Sequence[str]) -> bool:
    """Return True if a text is a list with known names, which may be signs, markers or code, or the word for none.

    The other names of the list have to be plain words: a question does not list these as known names.
    """
    if text.strip() in (*names, word_for_none(names)):
        return True
    try:
        listed = _names_in_answer(answer_form.read(text, names, "lenient")) if answer_form.name in NAMING else []
    except UnparseableError:
        return False
    known = frozenset(names).intersection(listed)
    return bool(known) and all(name in known or _PLAIN_NAME.fullmatch(name) for name in listed)


def _truncated(reply: Reply) -> ProviderError:
    if not reply.text.strip() and (reply.reasoning or reply.tokens_reasoning):
        message = "the reply ended at the token limit within its reasoning; raise max_tokens (or max_completion_tokens)"
    else:
        message = "the reply was cut off at the token limit before its answer was complete; allow more tokens"
    return ProviderError("truncated", message)


def _declines(text: str) -> bool:
    """Return True if the text begins with a refusal. Conservative: "I cannot find a link" is no refusal."""
    return _DECLINES.match(text.lstrip()[:300].lstrip("*_#> \"'")) is not None


def _holds_answer(given: Json, text: str, question: Question, reply: Reply) -> bool:
    """Return True if a text that declines nevertheless answers.

    It answers with the word of the answer itself or with a known name; where a text is asked for, with any other text
    after the marker.
    """
    if form(question.form).open and isinstance(given, str):
        return question.place == "marker" and has_marker(reply.text, question.parsing) and not _declines(text)
    given = _without_reasons(given)
    known_names = {*question.names, *question.spellings.values(), *_names_in_answer(question.reference)}
    first_word = re.search(r"\w+", text)
    is_word = first_word is not None and first_word[0].lower() == given
    return (
        is_word or any(name in known_names for name in _names_in_answer(given)) or (given == [] and bool(text.strip()))
    )


def _without_reasons(answer: Json) -> Json:
    """Return an answer without its reasons: the tasks, or yes or no."""
    if isinstance(answer, dict):
        return answer.get("tasks", []) if "reasons" in answer else answer.get("answer", answer)
    return answer


def _names_in_answer(answer: Json) -> list[str]:
    if isinstance(answer, dict) and ("reasons" in answer or "answer" in answer):
        return _names_in_answer(_without_reasons(answer))
    if isinstance(answer, dict) and "steps" in answer:
        return _names_in_answer(answer["steps"])
    if isinstance(answer, dict) and "flows" in answer:
        return [node.text for node in answered_procedure(answer).nodes if node.text and not node.is_gateway]
    if isinstance(answer, dict):
        return [condition_text(answer)] if "condition" in answer else task_labels(answer)
    if isinstance(answer, list):
        return [name for item in answer for name in ([item] if isinstance(item, str) else _group_names(item))]
    return [answer] if isinstance(answer, str) and answer not in ("yes", "no") else []


def _group_names(group: Json) -> list[str]:
    return [name for name in group if isinstance(name, str)] if isinstance(group, list) else []


def _score_without_answer(question: Question, status: str, remark: str) -> Score:
    """Return the score of a reply without an answer: 0.0, and the result of each further metric."""
    measurements = {
        name: Measurement(0.0) if name in question.judged else _measure_unparseable(name, question)
        for name in (question.metric, *question.further)
    }
    metrics, parts = _further_results(question, measurements)
    return Score(0.0, metrics, parts, status="refused" if status == "refused" else "unparseable", remark=remark)


def _measure_unparseable(name: str, question: Question) -> Measurement:
    return measure_unparseable(name, metric(name), question.reference)


def _measure_all(question: Question, given: Json, model_values: Mapping[str, float | None]) -> Score:
    measurements = {
        name: Measurement(_value_from_model(name, model_values))
        if name in question.judged
        else measure_answer(name, metric(name), given, question.reference)
        for name in (question.metric, *question.further)
    }
    value = measurements[question.metric].value
    metrics, parts = _further_results(question, measurements)
    missing, extra = _differences(given, question.reference)
    cause = ": the model that measures it gave no value" if question.metric in question.judged else ""
    undefined = [f"{question.metric} is undefined for this answer, counted 0{cause}"] if value is None else []
    remarks = dict.fromkeys(
        [*undefined, *(measurement.remark for measurement in measurements.values() if measurement.remark)]
    )
    return Score(value or 0.0, metrics, parts, given=given, missing=missing, extra=extra, remark="; ".join(remarks))


def _further_results(
    question: Question, measurements: Mapping[str, Measurement]
) -> tuple[dict[str, float | None], dict[str, list[float]]]:
    """Return the results besides the main score: further metrics, named values, and parts.

    Raises:
        UsageError: if two metrics give a value or a part of the same name.
    """
    metrics = {name: measurements[name].value for name in question.further}
    parts: dict[str, list[float]] = {}
    if not any(measurement.values or measurement.parts for measurement in measurements.values()):
        return metrics, parts
    values_of = {name: f"the metric {name!r}" for name in (*METRICS, *measurements)}
    parts_of: dict[str, str] = {}
    for metric_name, measurement in measurements.items():
        for name, value in measurement.values.items():
            metrics[name] = value
            _claim_name(values_of, f"the value {name!r}", name, metric_name)
        for name, pair in measurement.parts.items():
            parts[name] = list(pair)
            _claim_name(parts_of, f"the part {name!r}", name, metric_name)
    return metrics, parts


def _claim_name(owners: dict[str, str], subject: str, name: str, metric_name: str) -> None:
    description = f"{subject} of the metric {metric_name!r}"
    if name in owners:
        raise UsageError(f"{description} has the same name as {owners[name]}; rename one of them")
    owners[name] = description


def _value_from_model(name: str, model_values: Mapping[str, float | None]) -> float | None:
    if name not in model_values:
        raise UnmeasuredError(f"metric {name!r}: no value from the model that measures it; the score needs a value")
    return model_values[name]


def _differences(given: Json, reference: Json) -> tuple[list[str], list[str]]:
    """Return the names that only the reference has, and those that only the answer has.

    Both are empty unless both list names.
    """
    if isinstance(given, dict) and isinstance(reference, dict):
        given = given.get("tasks") if "starts" in given else _without_reasons(given)
        reference = _without_reasons(reference)
    if not isinstance(given, list) or not isinstance(reference, list | dict):
        return [], []
    if given == reference and all(isinstance(name, str) for name in given):
        return [], []
    if isinstance(reference, dict):
        ours, theirs = Counter(map(str, given)), Counter(task_labels(reference))
    else:
        ours, theirs = _count_names(given), _count_names(reference)
    return sorted((theirs - ours).elements()), sorted((ours - theirs).elements())


def _count_names(items: list[Json]) -> Counter[str]:
    """Return the counts of the items: 1 for a name, and the number of identical groups for a group."""
    return Counter(_label(item) for item in items if isinstance(item, list)) + Counter(
        {_label(item) for item in items if not isinstance(item, list)}
    )


def _label(item: Json) -> str:
    return ", ".join(sorted(map(str, item))) if isinstance(item, list) else str(item)


def score_reply(
    question: Question,
    reply: Reply,
    model: str,
    requests: int = 1,
    model_values: Mapping[str, float | None] | None = None,
) -> tuple[Trial, Exception | None]:
    """Return the trial of a reply.

    Args:
        question: The question.
        reply: The reply.
        model: The name of the model.
        requests: The number of requests that were sent.
        model_values: The values of the metrics that a model measures.

    Returns:
        The trial; and the error if the reply was cut off before an answer could be parsed, or if it cannot be scored
        exactly within the bounds of its metric.
    """
    try:
        score = grade(question, reply, model_values)
    except (ProviderError, OrderTooWideError) as error:
        failure = Failure(error.kind, error.message)
        return Trial(question, model, "error", reply, failure=failure, requests=requests), error
    return Trial(question, model, outcome_of(question, score), reply, score, requests=requests), None


def outcome_of(question: Question, score: Score) -> Outcome:
    """Return the outcome of an answer with this score, by the pass threshold of its question."""
    if score.status != "read":
        return score.status
    if question.graded:
        return "graded"
    return "right" if score.value >= question.pass_threshold else "wrong"


ANNOTATION_METRIC: Final = "manual"
"""The name of a person's score among the metrics of a trial."""


def annotation(trial: Trial) -> float | None:
    """Return the score that a person gave the answer, None if there is none."""
    return None if trial.score is None else trial.score.metrics.get(ANNOTATION_METRIC)


def annotate(trial: Trial, score: float | None) -> Trial:
    """Return the trial with a person's score as its score, and the outcome by the pass threshold.

    The value of the main metric stays among the metrics. An unparseable answer may be right: the person has read the
    reply.

    Args:
        trial: A trial with a reply and a score.
        score: The person's score, 0.0 to 1.0; None removes an earlier score and restores that of the metric.
    """
    bare = without_annotation(trial)
    if score is None or bare.score is None:
        return bare
    metrics = {**bare.score.metrics, trial.question.metric: bare.score.value, ANNOTATION_METRIC: score}
    by_hand = replace(bare.score, value=score, metrics=metrics)
    return replace(bare, score=by_hand, outcome=outcome_of(trial.question, replace(by_hand, status="read")))


def without_annotation(trial: Trial) -> Trial:
    """Return the trial as the main metric scored it."""
    if trial.score is None or ANNOTATION_METRIC not in trial.score.metrics:
        return trial
    metrics = {name: value for name, value in trial.score.metrics.items() if name != ANNOTATION_METRIC}
    value = metrics.pop(trial.question.metric, trial.score.value) or 0.0
    score = replace(trial.score, value=value, metrics=metrics)
    return replace(trial, score=score, outcome=outcome_of(trial.question, score))
