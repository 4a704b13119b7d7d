"""The shelf of answer forms: yes or no, a name, sets, groups and orders of names, a number, a condition.

The letter of an option is in `letter_form`, the open forms are in `open_forms`.

Each form has strict parsing, by the rules of Töpfer et al. (2025), and lenient parsing, which does not measure
formatting (docs/reference/metrics.md). A known name always has precedence over other meanings of a text: a task that
is called `none` is that task. Names keep their case.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from ...catalog import Catalog, Deferred
from ...errors import TaskgraphError, UnparseableError
from ...trial import Json, Parsing
from ...workflow.guards.solver import parse_guard
from ..answering_sentences import is_negated, restates
from ..condition_meaning import condition_text
from ..explanations.collection_differences import explain_groups, explain_order
from ..explanations.value_differences import explain_condition, explain_name, explain_names, explain_number
from ..extraction import mask_names, unbox_answer
from ..name_lists import (
    needs_lines,
    parse_group_list,
    parse_items,
    parse_list,
    quote_start,
    separator,
    states_none,
    unknown_name,
    word_for_none,
)
from ..named_answers import names_others, reduce_names
from ..numbers import reduce_number
from ..partial_order import linear_extension, task_labels
from ..yes_no_verdicts import find_verdict, reduce_verdict
from .form import Form, show_value
from .letter_form import LETTER
from .open_forms import OPEN_FORMS, VERDICTS, always_takes_lines

_ARROW = re.compile(r"(?<![-=])[-=]++>|[→⟶⇒➔➜]")
_NUMBER = re.compile(r"(?<![\w.])[-−]?\d{1,18}(?![\w]|[.,]\d)")
_OR_ANOTHER = re.compile(r"(?:[*_`)(\s,/–+=-]|\.\s|\b(?:and|or|to)\b)++\d")
_SIGNS = {"&&": " and ", "||": " or "}
_BRANCH = re.compile(r"^[^\w\n]*+(?:branch|path)\b[^:\n]{0,30}:", re.IGNORECASE | re.MULTILINE)
_PLACE = re.compile(r", at the place where\b[^.?]*")
_ENDS = ("START", "END")  # of a control flow; no tasks
_LINKS = re.compile(rf"^[^\n]*?(?:{_ARROW.pattern})[^\n]*$", re.MULTILINE)
_COUNTS = re.compile(
    r"\(\W{0,3}\d{1,9} ?(?:times|x|×)|\((?:twice|again|repeated)|[×x] ?\d|\d ?×"
    r"|\b(?:twice|\d{1,9} times)\b\W{0,3}(?:,|$)|\b(?:revers|backward|last to first|alphabetical)\w*",
    re.IGNORECASE,
)  # of a task in an order; or another order
_DECORATION = " \t\r\n*`.$"
_LEAD = re.compile(r"(?:condition:|if|when)\s", re.IGNORECASE)


def form(name: str) -> Form:
    """Return the form of that name.

    Raises:
        UnknownNameError: if there is none; the message lists the known names.
    """
    return FORMS[name]


def find_form(name: str) -> Form | None:
    """Return the form of that name; None for an unknown name, because a record may come from another project."""
    return form(name) if name in FORMS else None


def show_answer(name: str, answer: Json) -> str:
    """Return an answer of the form of that name as a person writes it: one line, never empty.

    An answer of an unknown form, or one that the form cannot show, is shown part by part.
    """
    answer_form = find_form(name)
    show = show_value if answer_form is None else answer_form.show
    try:
        text = show(answer)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):  # of a registered form
        text = show_value(answer)
    lines = [line.strip() for line in text.splitlines()]
    return (" ".join(filter(None, lines)) if len(lines) > 1 else text) or '""'


def explain_answer(form_name: str, reference: Json, given: Json) -> list[str]:
    """Return the sentences that say in words what is wrong with an answer, the most important first.

    An unknown form, a right answer, and values that the form cannot read (of a damaged record) have none.
    """
    answer_form = find_form(form_name)
    if answer_form is None or given is None:
        return []
    try:
        sentences: list[str] | str = answer_form.explain(reference, given)
        return [sentences] if isinstance(sentences, str) else [*map(str, sentences)]  # a form may be registered
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TaskgraphError, TypeError, ValueError):
        return []  # as in show_answer; a damaged reference is a TaskgraphError


def _parse_yes_no(text: str, names: Sequence[str], parsing: Parsing) -> Json:
    if parsing == "strict":
        answer = text.strip().strip("\"'.").lower()
    else:
        word = find_verdict(text)
        answer = word[1].lower() if word else ""
    if answer not in ("yes", "no"):
        raise UnparseableError(f"expected yes or no, found {quote_start(text)}")
    return answer


def _parse_task(text: str, names: Sequence[str], parsing: Parsing) -> Json:
    """Return the known name in the answer; several known names as one text, which is wrong; else the first name."""
    listed_names = list(dict.fromkeys(parse_items(text, names, parsing)))
    all_known = frozenset(names)
    known_names = [name for name in listed_names if name in all_known]
    if not listed_names or not any(listed_names):
        raise UnparseableError(f"expected one name, found {quote_start(text)}")
    if len(listed_names) > 1 and not known_names and parsing == "lenient":
        raise UnparseableError(f"expected one name, found {quote_start(text)}")
    return ", ".join(known_names) if known_names else listed_names[0]


def _parse_set(text: str, names: Sequence[str], parsing: Parsing) -> Json:
    return [*sorted(set(parse_list(text, names, parsing)))]


def _parse_groups(text: str, names: Sequence[str], parsing: Parsing) -> Json:
    return [[*sorted(set(group))] for group in parse_group_list(text, names, parsing)]


def _parse_order(text: str, names: Sequence[str], parsing: Parsing) -> Json:
    """Return the names in the order of the answer, with repetitions; lenient parsing also cuts at arrows."""
    arrows = parsing == "lenient" and not any(_ARROW.search(name) for name in names)
    listed_names = parse_list(_ARROW.sub(",", text) if arrows else text, names, parsing)
    tasks = [name for name in listed_names if name in names or name.upper() not in _ENDS or parsing == "strict"]
    return [*(tasks or listed_names)]


def _parse_number(text: str, names: Sequence[str], parsing: Parsing) -> Json:
    """Return the first whole number in the answer; strict parsing accepts only a number and a final dot.

    In lenient parsing, numbers in known names do not count, and an answer that states several numbers to choose from
    is unparseable.
    """
    bare = text.strip().removesuffix(".")
    named_in_words = [name for name in names if re.search(r"[^\W\d]", name)]
    words = (
        mask_names(unbox_answer(text, names), named_in_words, "\ue000N", "\ue001")[0] if parsing == "lenient" else bare
    )
    number = _NUMBER.fullmatch(bare) if parsing == "strict" else _NUMBER.search(words)
    if number is None or (parsing == "lenient" and _OR_ANOTHER.match(words, number.end())):
        raise UnparseableError(f"expected a whole number, found {quote_start(text)}")
    return int(number[0].replace("−", "-"))


def _parse_condition(text: str, names: Sequence[str], parsing: Parsing) -> Json:
    """Return the text of a guard; lenient parsing also accepts decoration and signs of other languages."""
    text = unbox_answer(text, []) if parsing == "lenient" else text
    filled = [line.strip() for line in text.split("\n") if line.strip()]
    whole = " ".join(filled)
    candidates = [whole] if parsing == "strict" else [whole, _plain_guard(whole), *map(_plain_guard, filled[:1])]
    # What is a condition without its backquotes is set as code; other texts are conditions only in backquotes.
    if "`" in whole and parse_guard(plain := _plain_guard(whole.replace("`", ""))) is not None:
        candidates = [] if parsing == "strict" else [plain]
    for candidate in candidates:
        if parse_guard(candidate) is not None:
            return candidate
    raise UnparseableError(f"expected a condition such as in the specification, found {quote_start(text)}")


_LONGEST_SENTENCE = 2_000  # characters in which a condition is looked for
_UNDER = re.compile(r"\b(?:if|when|once|as soon as|as|condition(?: is)?|is|:)\s*:?\s+(?=[\w(`'\"*])", re.IGNORECASE)


def _reduce_condition(statement: str, question: str, names: Sequence[str]) -> str:
    """Return the condition behind the words of a sentence that restates the question; else the statement."""
    plain = _plain_guard(statement) if len(statement) <= _LONGEST_SENTENCE else ""
    if not plain or (plain.lower() != "otherwise" and parse_guard(plain) is not None):
        return statement
    if statement.strip(_DECORATION).lower() == "otherwise":
        raise UnparseableError("expected a condition, found 'otherwise'")
    for match in _UNDER.finditer(statement):
        rest = statement[match.end() :]
        head = statement[: match.start()]
        if is_negated(head) != is_negated(question) or "loop condition" in statement[: match.end()].lower():
            continue
        if restates(head, _PLACE.sub("", question), names) and parse_guard(_plain_guard(rest)) is not None:
            return rest
    return statement


def _reduce_yes_no(statement: str, question: str, names: Sequence[str]) -> str:
    if not (text := reduce_verdict(statement, question, names)):
        raise UnparseableError(f"expected yes or no, found {quote_start(statement)}")
    return text


def _reduce_number(statement: str, question: str, names: Sequence[str]) -> str:
    if not (text := reduce_number(statement, question, names)):
        raise UnparseableError(f"expected a whole number, found {quote_start(statement)}")
    return text


def _reduce_order(statement: str, question: str, names: Sequence[str]) -> str:
    """Return the names of an order, one a line, or the statement.

    Raises:
        UnparseableError: if it lists links, or states how often a task runs.
    """
    arrows = not any(_ARROW.search(name) or " > " in name for name in names)
    links = [len(_ARROW.findall(line[0])) for line in _LINKS.finditer(statement)] if arrows else []
    if (len(links) > 1 and set(links) == {1}) or _COUNTS.search(statement):
        raise UnparseableError(f"expected an order, found {quote_start(statement)}")
    if arrows and statement.count(" > ") > 1:
        statement = statement.replace(" > ", ", ")
    return reduce_names(_ARROW.sub(",", statement) if arrows else statement, question, names)


def _reduce_groups(statement: str, question: str, names: Sequence[str]) -> str:
    """Return the statement.

    Raises:
        UnparseableError: if it lists branches, which are parts of a group, or denies and names groups.
    """
    denies = states_none(statement, names) and names_others(statement, question, names)
    if denies or _BRANCH.search(statement):
        raise UnparseableError(f"expected a line a group, found {quote_start(statement)}")
    return statement


def _plain_guard(text: str) -> str:
    bare = text.strip(_DECORATION)
    bare = _LEAD.sub("", bare, count=1).strip(_DECORATION) if _LEAD.match(bare) else bare
    quoted = len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'"
    for sign, word in _SIGNS.items():
        bare = bare.replace(sign, word)
    return bare[1:-1].strip() if quoted else bare


def _write_name(answer: Json, names: Sequence[str]) -> str:
    return str(answer)


def _write_condition(answer: Json, names: Sequence[str]) -> str:
    return condition_text(answer)


def _write_set(answer: Json, names: Sequence[str]) -> str:
    task_names = sorted({str(name) for name in answer}) if isinstance(answer, list) else []
    return ("\n" if needs_lines(names) else ", ").join(task_names) or word_for_none(names)


def _write_order(answer: Json, names: Sequence[str]) -> str:
    """Return an answer as it is, or for a reference (see `partial_order`) one order that it allows."""
    task_names = [str(name) for name in answer] if isinstance(answer, list) else linear_extension(answer)
    return ("\n" if needs_lines(names) else ", ").join(task_names) or word_for_none(names)


def _write_groups(answer: Json, names: Sequence[str]) -> str:
    mark = separator(names)
    between = mark if mark == "\t" else mark + " "
    groups = [group for group in answer if isinstance(group, list)] if isinstance(answer, list) else []
    lines = [between.join(sorted({str(name) for name in group})) for group in groups]
    return "\n".join(lines) or word_for_none(names)


def _other_verdict(reference: Json, names: Sequence[str]) -> Json:
    return "no" if reference == "yes" else "yes"


def _unknown_task(reference: Json, names: Sequence[str]) -> Json:
    return unknown_name([*names, str(reference)])


def _no_names_or_unknown(reference: Json, names: Sequence[str]) -> Json:
    return [] if reference else [unknown_name(names)]


def _no_tasks_or_unknown(reference: Json, names: Sequence[str]) -> Json:
    """Return no task; for a reference (see `partial_order`) without tasks, an unknown task."""
    tasks = task_labels(reference) if isinstance(reference, dict) else reference
    return _no_names_or_unknown([*tasks] if isinstance(tasks, list) else [], names)


def _no_groups_or_unknown(reference: Json, names: Sequence[str]) -> Json:
    return [] if reference else [[unknown_name(names)]]


def _next_number(reference: Json, names: Sequence[str]) -> Json:
    return reference + 1 if isinstance(reference, int) else 0


def _opposite(reference: Json, names: Sequence[str]) -> Json:
    return f"not ({condition_text(reference)})"


def _show_order(answer: Json) -> str:
    """Return an answer as a list, or for a reference (see `partial_order`) the tasks and their precedence."""
    match answer:
        case {"tasks": list(tasks), "before": list(pairs)}:
            befores = ", ".join(filter(None, (_show_pair(tasks, pair) for pair in pairs)))
            return f"{show_value(tasks)}, in any order that keeps {befores or 'nothing'}"
    return show_value(answer)


def _show_pair(tasks: list[Json], pair: Json) -> str:
    """Return a pair of indices as "A before B"; "" if it is not a pair of indices of tasks."""
    match pair:
        case [int(first), int(second)] if 0 <= first < len(tasks) and 0 <= second < len(tasks):
            return f"{tasks[first]} before {tasks[second]}"
    return ""


def _show_condition(answer: Json) -> str:
    """Return the text of the condition that an answer or a reference states."""
    text = answer.get("condition") if isinstance(answer, dict) else answer
    return text if isinstance(text, str) else show_value(answer)


def _yes_no_instruction(names: Sequence[str]) -> str:
    return 'The answer is either "yes" or "no".'


def _task_instruction(names: Sequence[str]) -> str:
    return "The answer is exactly one name, written as in the specification."


def _set_instruction(names: Sequence[str]) -> str:
    return (
        f"The answer is a list, {_list_layout(names)}, written as in the specification; "
        f'if it is empty, "{word_for_none(names)}".'
    )


def _order_instruction(names: Sequence[str]) -> str:
    return (
        f"The answer is a list in running order, {_list_layout(names)}, each name as often as it runs, "
        f'written as in the specification; if nothing runs, "{word_for_none(names)}".'
    )


def _list_layout(names: Sequence[str]) -> str:
    return "one name a line" if needs_lines(names) else "names separated by commas"


def _groups_instruction(names: Sequence[str]) -> str:
    mark = {",": "commas", ";": "semicolons", "|": "vertical bars", "\t": "tabs"}[separator(names)]
    return (
        f"The answer has one line a group, with the names in it separated by {mark}, written as in the specification; "
        f'if there is no group, "{word_for_none(names)}".'
    )


def _number_instruction(names: Sequence[str]) -> str:
    return "The answer is one whole number, in digits."


def _condition_instruction(names: Sequence[str]) -> str:
    return (
        "The answer is one condition, in the language of the specification: comparisons of parameters with values, "
        'joined by "and", "or" and "not" where there are several; never "otherwise".'
    )


YES_NO = Form(
    "yes-no",
    _yes_no_instruction,
    _parse_yes_no,
    _write_name,
    "correctness",
    wrong=_other_verdict,
    classes=VERDICTS,
    reduce=_reduce_yes_no,
)
TASK = Form(
    "task",
    _task_instruction,
    _parse_task,
    _write_name,
    "correctness",
    wrong=_unknown_task,
    explain=explain_name,
    reduce=partial(reduce_names, single=True),
)
TASK_SET = Form(
    "task-set", _set_instruction, _parse_set, _write_set, "jaccard", ("precision", "recall"),
    wrong=_no_names_or_unknown, takes_lines=needs_lines, explain=explain_names, reduce=reduce_names,
)  # fmt: skip
GROUPS = Form(
    "groups", _groups_instruction, _parse_groups, _write_groups, "matching", wrong=_no_groups_or_unknown,
    takes_lines=always_takes_lines, explain=explain_groups, reduce=_reduce_groups,
)  # fmt: skip
TASK_ORDER = Form(
    "task-order", _order_instruction, _parse_order, _write_order, "order", wrong=_no_tasks_or_unknown, show=_show_order,
    takes_lines=needs_lines, explain=explain_order, reduce=_reduce_order,
)  # fmt: skip
NUMBER = Form(
    "number",
    _number_instruction,
    _parse_number,
    _write_name,
    "correctness",
    wrong=_next_number,
    explain=explain_number,
    reduce=_reduce_number,
)
CONDITION = Form(
    "condition",
    _condition_instruction,
    _parse_condition,
    _write_condition,
    "equivalence",
    wrong=_opposite,
    show=_show_condition,
    explain=explain_condition,
    reduce=_reduce_condition,
)


def _load_task_graph() -> Form:
    from .task_graph_form import TASK_GRAPH

    return TASK_GRAPH


def _load_composed_task_graph() -> Form:
    from .task_graph_form import COMPOSED_TASK_GRAPH

    return COMPOSED_TASK_GRAPH


def _load_procedural_graph() -> Form:
    from .procedural_graph_form import PROCEDURAL_GRAPH

    return PROCEDURAL_GRAPH


def _load_schedule() -> Form:
    from .schedule_form import SCHEDULE

    return SCHEDULE


_SHELF = (YES_NO, TASK, TASK_SET, GROUPS, TASK_ORDER, NUMBER, CONDITION, LETTER, *OPEN_FORMS.values())
# Those of single families and patterns are loaded when their questions are asked.
_LOADED_LATE = {
    "schedule": Deferred(_load_schedule),
    "task-graph": Deferred(_load_task_graph),
    "composed-task-graph": Deferred(_load_composed_task_graph),
    "procedural-graph": Deferred(_load_procedural_graph),
}
FORMS: Catalog[Form] = Catalog("answer form", {**{each.name: each for each in _SHELF}, **_LOADED_LATE})
