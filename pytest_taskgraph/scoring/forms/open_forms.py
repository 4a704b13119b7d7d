"""The open answer forms: a text, tasks with a reason each, a pair with a reason, yes or no with a reason.

Their law is that of all forms; a reason is one line, and only present if it has text. Strict parsing follows the rules
of Töpfer et al. (2025): one `Name: reason` per line, without a leading `-` or number and without parents before a
dot. The mark before the reason is a character that no known name holds, so that names with colons and commas stay
whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ...errors import UnparseableError
from ...trial import Json, Parsing
from ..answering_sentences import without_reason
from ..explanations.value_differences import explain_pair, explain_reasons, explain_verdict
from ..extraction import list_names, unbox_answer
from ..name_lists import (
    is_none_answer,
    parse_names,
    quote_start,
    separator,
    split_strictly,
    squeeze,
    states_none,
    unknown_name,
    word_for_none,
)
from ..named_answers import names_of_sentences
from ..yes_no_verdicts import find_verdict, reduce_verdict
from .form import Form, collapse_spaces, show_value

_MARKS = {":": "a colon", "=": "an equals sign", "~": "a tilde", "^": "a caret"}
_WORD = re.compile(r"\w[\w.-]*+")
_QUOTED = re.compile(r"(?<![`'\"*“‘])[`'\"*“‘]++(\w[\w.-]*+)[`'\"*”’]")
_TASK = re.compile(r"(?:the )?task (\w[\w.-]*+)", re.IGNORECASE)
_BREAK = re.compile(r":|\s[-–—]++\s")
_BULLET = re.compile(r"\s*+(?:[-+*•·–—]|\(?\d{1,9}[.)])\s")
_LINK = re.compile(r"\s(?:with|[-=]>|[→↔⇄])\s|[→↔⇄]", re.IGNORECASE)
_LEFT_DECORATION = re.compile(r"[*_`\"']++(?=\s|$)")  # closes decoration that begins before the name
_VERDICT = re.compile(r"\b_*+(yes|no)\b[*_`\"'”’]*+\s*+[:,.;!–—-]*+", re.IGNORECASE)
_STRICT_VERDICT = re.compile(r"[\"']?(yes|no)[\"']?(?:\s*[:,.;\n]|\s*$)", re.IGNORECASE)
_FINE = re.compile(
    r"\W*(?:(?:it|this|is|are|seems?|looks?|appears?|also|its|the|name|description|data)\s+)*"
    r"(?:fine|ok(?:ay)?|correct|consistent|corresponds?|match(?:es|ing)?|fits?|plausible|in order"
    r"|no (?:issue|problem|contradiction|mismatch)s?)"
    r"\b(?![^.;]*\b(?:not|but|however|except)\b)"
    r"|[^\n✗✘❌]*+(?<=[✓✔✅])$|[^,;–\n]*+[,;–]\s*+(?:(?:which|that) (?:is )?)?"
    r"(?:fine|ok(?:ay)?|correct|as expected|matches|fits)\W*$",
    re.IGNORECASE,
)
_NO_REASON = re.compile(  # of the instruction, or of two tasks that are in order
    r"\W*(?:(?:the )?reason(?: in one sentence)?\W*$|(?:no (?:problem|issue)|(?:correct|right) order)\b"
    r"|(?:they|both|(?:these|the) two)(?: tasks)?(?: are| stand|['’]re) "
    r"(?:fine|(?:already )?in (?:the )?(?:right|correct) order)\b)",
    re.IGNORECASE,
)
_TASK_LABEL = re.compile(r"\A[\s*_•+–-]*+(?:task|name)[*_]*+:(?=[*_\s])[*_]*+", re.IGNORECASE)
_LABEL_WORDS = "reason reasons explanation why description workflow data reads writes input output issue problem note"
_LABELS = frozenset(_LABEL_WORDS.split())
_NO_DESCRIPTION = re.compile(  # code, or a question back
    r"\s*+(?:task|workflow|package|data|def|class|import)\s++\w++\s*+[({]|\W*+(?:what|which|how|could|can|would|do|shall|please)\b[^.!\n]*\byou\b[^.!\n]*\?\s*$",
    re.IGNORECASE,
)
_MOST_BREAKS = 8


def _parse_text(text: str, names: Sequence[str], parsing: Parsing) -> Json:
    """Return the text in one line.

    Raises:
        UnparseableError: if it holds no letter or digit.
    """
    if not re.search(r"\w", text) or (parsing == "lenient" and _NO_DESCRIPTION.match(text)):
        raise UnparseableError(f"expected a text, found {quote_start(text)}")
    bare = text.strip(" \t\n*_") if parsing == "lenient" else text
    quoted = len(bare) > 1 and bare[0] + bare[-1] in ('""', "''", "“”", "‘’", "``") and bare.count(bare[0]) <= 2
    return collapse_spaces(bare[1:-1] if quoted and parsing == "lenient" else text)


def _write_text(answer: Json, names: Sequence[str]) -> str:
    return collapse_spaces(answer)


def _parse_task_reasons(text: str, names: Sequence[str], parsing: Parsing) -> Json:
    """Return the tasks, each once, with their reasons.

    Of several lines about a task the last counts, as in the code of Töpfer et al. (2025). Prose before the first task
    is ignored. Lenient parsing adds a line that names no task to the reason of the previous line, assigns a reason to
    all tasks before it, and keeps a reason that a later line without reason would erase.
    """
    text = text if parsing == "strict" else unbox_answer(text, names)
    if _answers_none(text, names, parsing):
        return _reasons_answer({})
    return _require_tasks(_parse_reasons(text, names, parsing), text)


def _parse_reasons(text: str, names: Sequence[str], parsing: Parsing) -> dict[str, list[str]]:
    """Return the tasks of an answer with the lines of their reasons."""
    lines_by_task: dict[str, list[str]] = {}
    current_lines: list[str] = []
    after_gap = False
    for line in text.split("\n"):
        if not line.strip():
            after_gap = True
            continue
        if parsing == "strict":
            name, reason = _strict_line(line, names)
            tasks = [name] if name else []
        else:
            tasks, reason = _parse_line(_TASK_LABEL.sub("", line, count=1), names)
            if len(tasks) == 1 and tasks[0] not in names and tasks[0].lower() in _LABELS:
                tasks = []
        if tasks and parsing == "lenient" and _FINE.match(reason):
            continue  # a task of which nothing is said but that it is in order
        if tasks and parsing == "lenient" and _NO_REASON.match(reason):
            raise UnparseableError(f"expected a reason, found {quote_start(reason)}")
        if tasks:
            current_lines = []
        elif parsing == "lenient" and after_gap and any(current_lines) and not line[0].isspace():
            current_lines = []  # a closing paragraph is about all tasks
        current_lines.append(reason)
        for task in tasks:
            if reason or parsing == "strict" or task not in lines_by_task:
                lines_by_task[task] = current_lines
        after_gap = False
    return lines_by_task


def _require_tasks(lines_by_task: dict[str, list[str]], text: str) -> Json:
    if not lines_by_task:
        raise UnparseableError(f"expected one task a line, each with a reason, found {quote_start(text)}")
    return _reasons_answer(lines_by_task)


def _reasons_answer(lines_by_task: dict[str, list[str]]) -> Json:
    reasons = {name: collapse_spaces(" ".join(lines_by_task[name])) for name in sorted(lines_by_task)}
    return {"tasks": [*reasons], "reasons": {name: reason for name, reason in reasons.items() if reason}}


def _answers_none(text: str, names: Sequence[str], parsing: Parsing) -> bool:
    filled = text.strip().rstrip("." if parsing == "strict" else ".*`")
    items = [filled] if parsing == "strict" else list_names(text, names, "\n") or [filled]
    none_stated = is_none_answer(filled, items, names, parsing) or (parsing == "lenient" and states_none(text, names))
    return none_stated or not text.strip()


def _parse_line(line: str, names: Sequence[str]) -> tuple[list[str], str]:
    """Return the tasks that a line names, and their reason; the whole line as a reason, if it names none."""
    line_names = list_names(line, names, "\n")
    if _mark(names) not in line and len(line_names) == 1 and (line_names[0] in names or _WORD.fullmatch(line_names[0])):
        return line_names, ""
    heads = [(list_names(head, names, "\n"), head, rest) for head, rest in _split_heads(line, names)]
    known_heads = [
        (head_names, rest) for head_names, _, rest in heads if len(head_names) == 1 and head_names[0] in names
    ]
    list_heads = [] if known_heads else _tasks_of_list(heads, line, names)
    plain_heads = [
        (plain_names, rest)
        for head_names, head, rest in heads
        if len(plain_names := _known_or_plain(head_names, head, names)) == 1
    ]
    if known_heads or list_heads or plain_heads:
        return (known_heads or list_heads or plain_heads)[0]
    quoted = _QUOTED.search(line) if _BULLET.match(line) else None
    return ([quoted[1]], line) if quoted else ([], line)


def _tasks_of_list(
    heads: Sequence[tuple[list[str], str, str]], line: str, names: Sequence[str]
) -> list[tuple[list[str], str]]:
    """Return the tasks and reason of a line whose names have notes, form a list, or are announced."""
    for _, head, rest in heads:
        if (listed_names := _try_names(head, names)) and (_are_tasks(listed_names, names) or "(" in head):
            return [(listed_names, rest)]
    listed_names = _try_names(line, names)
    return [(listed_names, "")] if listed_names and _are_tasks(listed_names, names) else []


def _try_names(text: str, names: Sequence[str], cuts: str = ",\n") -> list[str]:
    try:
        return list(dict.fromkeys(parse_names(text, names, cuts)))
    except UnparseableError:
        return []


def _are_tasks(candidates: Sequence[str], names: Sequence[str]) -> bool:
    """Return True if all names are known, or several plain words form a list."""
    return all(name in names for name in candidates) or (
        len(candidates) > 1 and all(_WORD.fullmatch(name) for name in candidates)
    )


def _split_heads(line: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield possible splits of a line into name and reason: at the mark, then at other separators of models."""
    mark = _mark(names)
    if mark in line:
        head, _, rest = line.partition(mark)
        yield head, _strip_closing_decoration(rest)
    for _, cut in zip(range(_MOST_BREAKS), _BREAK.finditer(line), strict=False):
        yield line[: cut.start()], _strip_closing_decoration(line[cut.end() :])


def _strip_closing_decoration(rest: str) -> str:
    decoration = _LEFT_DECORATION.match(rest)
    return rest[decoration.end() :] if decoration else rest


def _known_or_plain(candidates: list[str], head: str, names: Sequence[str]) -> list[str]:
    """Return the names if each is known or a plain word; else those in quotes or after the word "task"."""
    if candidates and all(name in names or _WORD.fullmatch(name) for name in candidates):
        return candidates
    quoted_names = [match[1] for match in _QUOTED.finditer(head)] or [match[1] for match in _TASK.finditer(head)]
    return [name.rpartition(".")[2] for name in quoted_names]


def _strict_line(line: str, names: Sequence[str]) -> tuple[str, str]:
    head, _, reason = line.partition(_mark(names))
    names_by_text = {squeeze(name): name for name in names} | {name: name for name in names}
    plain_head = head.strip().lstrip("-").strip()
    last_part = plain_head.rpartition(".")[2] if plain_head.rstrip(".") == plain_head else plain_head.rstrip(".")
    for candidate in (
        head,
        head.strip(),
        squeeze(head),
        squeeze(plain_head),
        squeeze(re.sub(r"^\d++\.", "", plain_head)),
    ):
        if candidate in names_by_text:
            return names_by_text[candidate], reason
    return last_part.replace("`", "").strip(), reason


def _reduce_reasons(statement: str, question: str, names: Sequence[str]) -> str:
    """Return the tasks with which a sentence answers the question, each with the reason; else the statement."""
    try:
        _parse_task_reasons(statement, names, "lenient")
    except UnparseableError:
        reason = statement[len(without_reason(statement)) :].strip(" ,;:–—-")
        found = names_of_sentences(without_reason(statement), question, names)
        return "\n".join(_join_reason(name, collapse_spaces(reason), _mark(names)) for name in found) or statement
    return statement


def _parse_pair_reason(text: str, names: Sequence[str], parsing: Parsing) -> Json:
    """Return the names before the mark, however many, and the text after it.

    Lenient parsing takes the first line that names two tasks, or a known task, and all text after it.
    """
    text = text if parsing == "strict" else unbox_answer(text, names)
    if _answers_none(text, names, parsing):
        return _pair_answer([], "")
    lines = [line for line in text.split("\n") if line.strip()]
    if parsing == "strict":
        head, _, reason = lines[0].partition(_mark(names))
        return _pair_answer([name for name in split_strictly(head, names) if name], reason)
    for index, line in enumerate(lines):
        for head, rest in (*_split_heads(line, names), (line, "")):
            pair_names = _pair_in(head, names)
            if len(pair_names) > 1 and _NO_REASON.match(rest):
                raise UnparseableError(f"expected a reason, found {quote_start(rest)}")
            if len(pair_names) > 1:
                return _pair_answer(pair_names, " ".join([rest, *lines[index + 1 :]]))
    lines_by_task = _parse_reasons(text, names, parsing)
    if not lines_by_task:
        raise UnparseableError(f"expected two tasks and a reason, found {quote_start(text)}")
    return _pair_answer(
        [*lines_by_task], " ".join(dict.fromkeys(" ".join(reason) for reason in lines_by_task.values()))
    )


def _pair_in(head: str, names: Sequence[str]) -> list[str]:
    cuts = "," + separator(names).strip(",") + "\n"
    for text in (head, _LINK.sub(cuts[-2], head)):
        if (listed_names := _try_names(text, names, cuts)) and _are_tasks(listed_names, names):
            return listed_names
    quoted = [match[1].rpartition(".")[2] for match in _QUOTED.finditer(head)]
    return quoted if len(set(quoted)) > 1 else []


def _pair_answer(task_names: Sequence[str], reason: str) -> Json:
    text = collapse_spaces(reason)
    return {"tasks": [*sorted(set(task_names))], "reasons": {"": text} if text else {}}


def _parse_yes_no_reason(text: str, names: Sequence[str], parsing: Parsing) -> Json:
    """Return the verdict and the text after it.

    The verdict is the first word; leniently, the first such word anywhere.
    """
    word = None if parsing == "strict" else find_verdict(text, reason=True)
    match = _STRICT_VERDICT.match(text.strip()) if word is None else _VERDICT.match(text, word.start())
    if match is None or (word is None and parsing == "lenient"):
        raise UnparseableError(f"expected yes or no and a reason, found {quote_start(text)}")
    rest = _strip_closing_decoration(match.string[match.end() :])
    return {"answer": match[1].lower(), "reason": collapse_spaces(rest)}


def _reduce_verdict(statement: str, question: str, names: Sequence[str]) -> str:
    if not (text := reduce_verdict(statement, question, names, reason=True)):
        raise UnparseableError(f"expected yes or no and a reason, found {quote_start(statement)}")
    return text


def _tasks_and_reasons(answer: Json) -> tuple[list[str], dict[str, str]]:
    tasks = answer.get("tasks") if isinstance(answer, dict) else None
    reasons = answer.get("reasons") if isinstance(answer, dict) else None
    names = sorted({str(name) for name in tasks}) if isinstance(tasks, list) else []
    reason_texts = {name: collapse_spaces(text) for name, text in reasons.items()} if isinstance(reasons, dict) else {}
    return names, reason_texts


def _join_reason(head: str, reason: str, mark: str) -> str:
    return f"{head}{mark} {reason}" if reason else head


def _write_task_reasons(answer: Json, names: Sequence[str]) -> str:
    tasks, reasons = _tasks_and_reasons(answer)
    lines = [_join_reason(name, reasons.get(name, ""), _mark(names)) for name in tasks]
    return "\n".join(lines) or word_for_none(names)


def _write_pair_reason(answer: Json, names: Sequence[str]) -> str:
    tasks, reasons = _tasks_and_reasons(answer)
    if not tasks:
        return word_for_none(names)
    between = separator(names).replace(",", ", ").replace(";", "; ").replace("|", " | ")
    return _join_reason(between.join(tasks), reasons.get("", ""), _mark(names))


def _write_yes_no_reason(answer: Json, names: Sequence[str]) -> str:
    given = answer if isinstance(answer, dict) else {}
    return _join_reason(str(given.get("answer", "")), collapse_spaces(given.get("reason", "")), ":")


def _mark(names: Sequence[str]) -> str:
    """Return the character between a name and its reason: the first that no name holds."""
    return next((mark for mark in _MARKS if not any(mark in name for name in names)), "\t")


def _mark_words(names: Sequence[str]) -> str:
    return _MARKS.get(_mark(names), "a tab")


def _text_instruction(names: Sequence[str]) -> str:
    return "The answer is one sentence in plain words, as a description in a specification."


def _task_reasons_instruction(names: Sequence[str]) -> str:
    return (
        f"The answer has one line a task: its name, written as in the specification, {_mark_words(names)}, and the "
        f'reason in one sentence; if there is no such task, "{word_for_none(names)}".'
    )


def _pair_reason_instruction(names: Sequence[str]) -> str:
    between = {",": "a comma", ";": "a semicolon", "|": "a vertical bar"}.get(separator(names), "a tab")
    return (
        f"The answer is one line: the names of the two tasks, with {between} between them, written as in the "
        f"specification, then {_mark_words(names)}, and the reason in one sentence."
    )


def _yes_no_reason_instruction(names: Sequence[str]) -> str:
    return 'The answer is one line: "yes" or "no", a colon, and the reason in one sentence.'


def always_takes_lines(names: Sequence[str]) -> bool:
    """Return True: the ideal answer may take more than one line, whatever the known names are."""
    return True


def _other_words(reference: Json, names: Sequence[str]) -> Json:
    """Return a text that shares no word with the reference."""
    return unknown_name([str(reference)])


def _no_tasks_or_unknown(reference: Json, names: Sequence[str]) -> Json:
    stranger = unknown_name(names)
    return _reasons_answer({}) if _tasks_and_reasons(reference)[0] else _reasons_answer({stranger: ["so it is"]})


def _no_pair_or_unknown(reference: Json, names: Sequence[str]) -> Json:
    return _pair_answer([], "") if _tasks_and_reasons(reference)[0] else _pair_answer([unknown_name(names)], "so it is")


def _other_verdict(reference: Json, names: Sequence[str]) -> Json:
    right = isinstance(reference, dict) and reference.get("answer") == "yes"
    return {"answer": "no" if right else "yes", "reason": ""}


def _show_reasons(answer: Json) -> str:
    """Return the tasks, and after a colon their reasons."""
    match answer:
        case {"tasks": list(tasks), "reasons": dict(reasons)}:
            return _with_reasons(show_value(tasks), reasons.values())
    return show_value(answer)


def _show_verdict(answer: Json) -> str:
    """Return the verdict, and after a colon the reason."""
    match answer:
        case {"answer": str(word), "reason": reason}:
            return _with_reasons(word, [reason])
    return show_value(answer)


def _with_reasons(answer_text: str, reasons: Iterable[Json]) -> str:
    why = " ".join(str(reason) for reason in reasons if reason)
    return f"{answer_text}: {why}" if why else answer_text


def _verdict_of(answer: Json) -> Json:
    return answer.get("answer") if isinstance(answer, dict) else answer


VERDICTS = ("yes", "no")
TEXT = Form(
    "text", _text_instruction, _parse_text, _write_text, "rouge1", ("rouge1_recall", "rouge2", "rouge_l"), 0.0,
    wrong=_other_words, takes_lines=always_takes_lines, open=True,
)  # fmt: skip
TASK_REASONS = Form(
    "task-reasons", _task_reasons_instruction, _parse_task_reasons, _write_task_reasons, "identification",
    ("reason", "explanation"), wrong=_no_tasks_or_unknown, show=_show_reasons, takes_lines=always_takes_lines,
    open=True, explain=explain_reasons, reduce=_reduce_reasons,
)  # fmt: skip
PAIR_REASON = Form(
    "pair-reason", _pair_reason_instruction, _parse_pair_reason, _write_pair_reason, "identification", ("reason",),
    wrong=_no_pair_or_unknown, show=_show_reasons, open=True, explain=explain_pair,
)  # fmt: skip
YES_NO_REASON = Form(
    "yes-no-reason", _yes_no_reason_instruction, _parse_yes_no_reason, _write_yes_no_reason, "verdict", ("reason",),
    wrong=_other_verdict, show=_show_verdict, takes_lines=always_takes_lines, open=True, classes=VERDICTS,
    classify=_verdict_of, explain=explain_verdict, reduce=_reduce_verdict,
)  # fmt: skip

OPEN_FORMS: dict[str, Form] = {form.name: form for form in (TEXT, TASK_REASONS, PAIR_REASON, YES_NO_REASON)}
