"""The open answer forms: a text, tasks with a reason each, a pair with a reason, yes or no with a reason.

Their law is that of all forms; a reason is one line, and there only where it has text. Strict are the study's rules:
one `Name: why` a line, of which a leading `-` or number and parents before a dot are dropped. The mark before the
reason is one that no known name holds, so that names with colons and commas survive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ...errors import UnparseableError
from ...trial import Json, Parsing
from ..extraction import find_verdict, list_names, unbox_answer
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
from .form import Form, collapse_spaces, show_value

_MARKS = {":": "a colon", "=": "an equals sign", "~": "a tilde", "^": "a caret"}
_WORD = re.compile(r"\w[\w.-]*+")
_QUOTED = re.compile(r"(?<![`'\"*“‘])[`'\"*“‘]++(\w[\w.-]*+)[`'\"*”’]")
_TASK = re.compile(r"(?:the )?task (\w[\w.-]*+)", re.IGNORECASE)
_BREAK = re.compile(r":|\s[-–—]++\s")
_BULLET = re.compile(r"\s*+(?:[-+*•·–—]|\(?\d{1,9}[.)])\s")
_LINK = re.compile(r"\s(?:with|[-=]>|[→↔⇄])\s|[→↔⇄]", re.IGNORECASE)
_LEFT_DECORATION = re.compile(r"[*_`\"']++(?=\s|$)")  # closes what was opened before the name
_VERDICT = re.compile(r"\b_*+(yes|no)\b[*_`\"'”’]*+\s*+[:,.;!–—-]*+", re.IGNORECASE)
_STRICT_VERDICT = re.compile(r"[\"']?(yes|no)[\"']?(?:\s*[:,.;\n]|\s*$)", re.IGNORECASE)
_MOST_BREAKS = 8


def _read_text(text: str, names: Sequence[str], parsing: Parsing) -> Json:
    """The text in one line; one without any letter or digit cannot be read."""
    if not re.search(r"\w", text):
        raise UnparseableError(f"expected a text, found {quote_start(text)}")
    return collapse_spaces(text)


def _write_text(answer: Json, names: Sequence[str]) -> str:
    return collapse_spaces(answer)


def _read_task_reasons(text: str, names: Sequence[str], parsing: Parsing) -> Json:
    """Return the tasks, each once; of several lines about a task the last one counts, as in the study's code.

    Prose before the first task is passed over. Lenient parsing adds a line that names no task to the reason of the
    line before, gives tasks that stand before one reason that reason each, and keeps a reason that a later line without
    one would erase.
    """
    text = text if parsing == "strict" else unbox_answer(text, names)
    if _says_nothing(text, names, parsing):
        return _answer({})
    return _named_or_nothing(_reasons(text, names, parsing), text)


def _reasons(text: str, names: Sequence[str], parsing: Parsing) -> dict[str, list[str]]:
    """Return the tasks of an answer with the lines of their reasons."""
    found: dict[str, list[str]] = {}
    last: list[str] = []
    gap = False
    for line in text.split("\n"):
        if not line.strip():
            gap = True
            continue
        if parsing == "strict":
            name, reason = _strict_line(line, names)
            tasks = [name] if name else []
        else:
            tasks, reason = _line(line, names)
        if tasks:
            last = []
        elif parsing == "lenient" and gap and any(last) and not line[0].isspace():
            last = []  # a closing paragraph is about all of them
        last.append(reason)
        for task in tasks:
            if reason or parsing == "strict" or task not in found:
                found[task] = last
        gap = False
    return found


def _named_or_nothing(found: dict[str, list[str]], text: str) -> Json:
    if not found:
        raise UnparseableError(f"expected one task a line, each with a reason, found {quote_start(text)}")
    return _answer(found)


def _answer(found: dict[str, list[str]]) -> Json:
    joined = {name: collapse_spaces(" ".join(found[name])) for name in sorted(found)}
    return {"tasks": [*joined], "reasons": {name: reason for name, reason in joined.items() if reason}}


def _says_nothing(text: str, names: Sequence[str], parsing: Parsing) -> bool:
    filled = text.strip().rstrip("." if parsing == "strict" else ".*`")
    found = [filled] if parsing == "strict" else list_names(text, names, "\n") or [filled]
    said = is_none_answer(filled, found, names, parsing) or (parsing == "lenient" and states_none(text, names))
    return said or not text.strip()


def _line(line: str, names: Sequence[str]) -> tuple[list[str], str]:
    """Return the tasks that a line names, and their reason; the whole line as a reason, if it names none."""
    whole = list_names(line, names, "\n")
    if _mark(names) not in line and len(whole) == 1 and (whole[0] in names or _WORD.fullmatch(whole[0])):
        return whole, ""
    heads = [(list_names(head, names, "\n"), head, rest) for head, rest in _heads(line, names)]
    known = [(found, rest) for found, _, rest in heads if len(found) == 1 and found[0] in names]
    several = [] if known else _several(heads, line, names)
    told = [(found, rest) for named, head, rest in heads if len(found := _known_or_plain(named, head, names)) == 1]
    if known or several or told:
        return (known or several or told)[0]
    quoted = _QUOTED.search(line) if _BULLET.match(line) else None
    return ([quoted[1]], line) if quoted else ([], line)


def _several(
    heads: Sequence[tuple[list[str], str, str]], line: str, names: Sequence[str]
) -> list[tuple[list[str], str]]:
    """Return what a line says whose names have notes behind them, stand in a list, or are announced by other words."""
    for _, head, rest in heads:
        if (found := _written(head, names)) and (_are_tasks(found, names) or "(" in head):
            return [(found, rest)]
    found = _written(line, names)
    return [(found, "")] if found and _are_tasks(found, names) else []


def _written(text: str, names: Sequence[str], cuts: str = ",\n") -> list[str]:
    try:
        return list(dict.fromkeys(parse_names(text, names, cuts)))
    except UnparseableError:
        return []


def _are_tasks(found: Sequence[str], names: Sequence[str]) -> bool:
    """Return True if all are known, or plain words several of which make a list."""
    return all(name in names for name in found) or (len(found) > 1 and all(_WORD.fullmatch(name) for name in found))


def _heads(line: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What may be the name in a line and what the reason: cut at the mark, then at what models write instead."""
    mark = _mark(names)
    if mark in line:
        head, _, rest = line.partition(mark)
        yield head, _without_decoration(rest)
    for _, cut in zip(range(_MOST_BREAKS), _BREAK.finditer(line), strict=False):
        yield line[: cut.start()], _without_decoration(line[cut.end() :])


def _without_decoration(rest: str) -> str:
    decoration = _LEFT_DECORATION.match(rest)
    return rest[decoration.end() :] if decoration else rest


def _known_or_plain(found: list[str], head: str, names: Sequence[str]) -> list[str]:
    """The names, if each is known or a plain word; else those in quotes or after the word "task"."""
    if found and all(name in names or _WORD.fullmatch(name) for name in found):
        return found
    told = [match[1] for match in _QUOTED.finditer(head)] or [match[1] for match in _TASK.finditer(head)]
    return [name.rpartition(".")[2] for name in told]


def _strict_line(line: str, names: Sequence[str]) -> tuple[str, str]:
    head, _, reason = line.partition(_mark(names))
    known = {squeeze(name): name for name in names} | {name: name for name in names}
    bare = head.strip().lstrip("-").strip()
    last = bare.rpartition(".")[2] if bare.rstrip(".") == bare else bare.rstrip(".")
    for tried in (head, head.strip(), squeeze(head), squeeze(bare), squeeze(re.sub(r"^\d++\.", "", bare))):
        if tried in known:
            return known[tried], reason
    return last.replace("`", "").strip(), reason


def _read_pair_reason(text: str, names: Sequence[str], parsing: Parsing) -> Json:
    """The names before the mark, however many, and what follows.

    Lenient parsing takes the first line that names two tasks, or a known one, and all that follows.
    """
    text = text if parsing == "strict" else unbox_answer(text, names)
    if _says_nothing(text, names, parsing):
        return _pair([], "")
    lines = [line for line in text.split("\n") if line.strip()]
    if parsing == "strict":
        head, _, reason = lines[0].partition(_mark(names))
        return _pair([name for name in split_strictly(head, names) if name], reason)
    for number, line in enumerate(lines):
        for head, rest in (*_heads(line, names), (line, "")):
            found = _pair_in(head, names)
            if len(found) > 1:
                return _pair(found, " ".join([rest, *lines[number + 1 :]]))
    told = _reasons(text, names, parsing)
    if not told:
        raise UnparseableError(f"expected two tasks and a reason, found {quote_start(text)}")
    return _pair([*told], " ".join(dict.fromkeys(" ".join(reason) for reason in told.values())))


def _pair_in(head: str, names: Sequence[str]) -> list[str]:
    cuts = "," + separator(names).strip(",") + "\n"
    for text in (head, _LINK.sub(cuts[-2], head)):
        if (found := _written(text, names, cuts)) and _are_tasks(found, names):
            return found
    quoted = [match[1].rpartition(".")[2] for match in _QUOTED.finditer(head)]
    return quoted if len(set(quoted)) > 1 else []


def _pair(found: Sequence[str], reason: str) -> Json:
    told = collapse_spaces(reason)
    return {"tasks": [*sorted(set(found))], "reasons": {"": told} if told else {}}


def _read_yes_no_reason(text: str, names: Sequence[str], parsing: Parsing) -> Json:
    """The word at the beginning, leniently the first such word anywhere, and what follows it."""
    word = None if parsing == "strict" else find_verdict(text, reason=True)
    found = _STRICT_VERDICT.match(text.strip()) if word is None else _VERDICT.match(text, word.start())
    if found is None or (word is None and parsing == "lenient"):
        raise UnparseableError(f"expected yes or no and a reason, found {quote_start(text)}")
    rest = _without_decoration(found.string[found.end() :])
    return {"answer": found[1].lower(), "reason": collapse_spaces(rest)}


def _tasks_and_reasons(answer: Json) -> tuple[list[str], dict[str, str]]:
    tasks = answer.get("tasks") if isinstance(answer, dict) else None
    reasons = answer.get("reasons") if isinstance(answer, dict) else None
    names = sorted({str(name) for name in tasks}) if isinstance(tasks, list) else []
    told = {name: collapse_spaces(text) for name, text in reasons.items()} if isinstance(reasons, dict) else {}
    return names, told


def _joined(head: str, reason: str, mark: str) -> str:
    return f"{head}{mark} {reason}" if reason else head


def _write_task_reasons(answer: Json, names: Sequence[str]) -> str:
    tasks, reasons = _tasks_and_reasons(answer)
    lines = [_joined(name, reasons.get(name, ""), _mark(names)) for name in tasks]
    return "\n".join(lines) or word_for_none(names)


def _write_pair_reason(answer: Json, names: Sequence[str]) -> str:
    tasks, reasons = _tasks_and_reasons(answer)
    if not tasks:
        return word_for_none(names)
    between = separator(names).replace(",", ", ").replace(";", "; ").replace("|", " | ")
    return _joined(between.join(tasks), reasons.get("", ""), _mark(names))


def _write_yes_no_reason(answer: Json, names: Sequence[str]) -> str:
    given = answer if isinstance(answer, dict) else {}
    return _joined(str(given.get("answer", "")), collapse_spaces(given.get("reason", "")), ":")


def _mark(names: Sequence[str]) -> str:
    """The character between a name and its reason: the first that no name holds."""
    return next((mark for mark in _MARKS if not any(mark in name for name in names)), "\t")


def _called(names: Sequence[str]) -> str:
    return _MARKS.get(_mark(names), "a tab")


def _ask_text(names: Sequence[str]) -> str:
    return "The answer is one sentence in plain words, as a description in a specification."


def _ask_task_reasons(names: Sequence[str]) -> str:
    return (
        f"The answer has one line a task: its name, written as in the specification, {_called(names)}, and the reason "
        f'in one sentence; if there is no such task, "{word_for_none(names)}".'
    )


def _ask_pair_reason(names: Sequence[str]) -> str:
    between = {",": "a comma", ";": "a semicolon", "|": "a vertical bar"}.get(separator(names), "a tab")
    return (
        f"The answer is one line: the names of the two tasks, with {between} between them, written as in the "
        f"specification, then {_called(names)}, and the reason in one sentence."
    )


def _ask_yes_no_reason(names: Sequence[str]) -> str:
    return 'The answer is one line: "yes" or "no", a colon, and the reason in one sentence.'


def always_takes_lines(names: Sequence[str]) -> bool:
    """Return True: the ideal answer may take more than one line, whatever the known names are."""
    return True


def _other_words(reference: Json, names: Sequence[str]) -> Json:
    """Return a text that shares no word with the reference."""
    return unknown_name([str(reference)])


def _no_tasks_or_unknown(reference: Json, names: Sequence[str]) -> Json:
    stranger = unknown_name(names)
    return _answer({}) if _tasks_and_reasons(reference)[0] else _answer({stranger: ["so it is"]})


def _no_pair_or_unknown(reference: Json, names: Sequence[str]) -> Json:
    return _pair([], "") if _tasks_and_reasons(reference)[0] else _pair([unknown_name(names)], "so it is")


def _other_verdict(reference: Json, names: Sequence[str]) -> Json:
    right = isinstance(reference, dict) and reference.get("answer") == "yes"
    return {"answer": "no" if right else "yes", "reason": ""}


def _show_reasons(answer: Json) -> str:
    """Return the tasks, and behind a colon their reasons."""
    match answer:
        case {"tasks": list(tasks), "reasons": dict(reasons)}:
            return _explained(show_value(tasks), reasons.values())
    return show_value(answer)


def _show_verdict(answer: Json) -> str:
    """Return the verdict, and behind a colon the reason."""
    match answer:
        case {"answer": str(word), "reason": reason}:
            return _explained(word, [reason])
    return show_value(answer)


def _explained(told: str, reasons: Iterable[Json]) -> str:
    why = " ".join(str(reason) for reason in reasons if reason)
    return f"{told}: {why}" if why else told


def _verdict_of(answer: Json) -> Json:
    return answer.get("answer") if isinstance(answer, dict) else answer


VERDICTS = ("yes", "no")
TEXT = Form(
    "text", _ask_text, _read_text, _write_text, "rouge1", ("rouge1_recall", "rouge2", "rouge_l"), 0.0,
    wrong=_other_words, takes_lines=always_takes_lines, open=True,
)  # fmt: skip
TASK_REASONS = Form(
    "task-reasons", _ask_task_reasons, _read_task_reasons, _write_task_reasons, "identification",
    ("reason", "explanation"), wrong=_no_tasks_or_unknown, show=_show_reasons, takes_lines=always_takes_lines,
    open=True,
)  # fmt: skip
PAIR_REASON = Form(
    "pair-reason", _ask_pair_reason, _read_pair_reason, _write_pair_reason, "identification", ("reason",),
    wrong=_no_pair_or_unknown, show=_show_reasons, open=True,
)  # fmt: skip
YES_NO_REASON = Form(
    "yes-no-reason", _ask_yes_no_reason, _read_yes_no_reason, _write_yes_no_reason, "verdict", ("reason",),
    wrong=_other_verdict, show=_show_verdict, takes_lines=always_takes_lines, open=True, classes=VERDICTS,
    classify=_verdict_of,
)  # fmt: skip

OPEN_FORMS: dict[str, Form] = {one.name: one for one in (TEXT, TASK_REASONS, PAIR_REASON, YES_NO_REASON)}
