"""The number of a statement: boxed or bold, with the noun that the question counts, or the only one that is not given.

Operands, bullets, ordinals and numbers of the question are never the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .answering_sentences import content_words, names_of
from .extraction import mask_names, unbox_answer

_NUMBER = re.compile(r"(?<![\w.])[-−]?\d{1,18}(?:\.0+)?(?![\w]|[.,]\d)")
_NUMBER_WORDS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty
"""
_WORDS = _NUMBER_WORDS.split()
_TIMES = {"once": "1 time", "twice": "2 times", "thrice": "3 times"}
_WORD = re.compile(rf"\b(?:{'|'.join([*_WORDS, *_TIMES])})\b", re.IGNORECASE)
_NEVER = re.compile(r"\bnever\b|\bnot (?:run|executed|once)\b|\bzero times\b", re.IGNORECASE)
_MARKED = re.compile(r"(?:\*\*|__)\s*+([-−]?\d{1,18})(?:\.0+)?(?:\s+[a-z]+)?[.!]?\s*+(?:\*\*|__)")
_DOUBTED = re.compile(
    r"\d\W{0,6}(?:or|to|/|–|and maybe)\W{0,6}\d|\bbetween\b[^.\n]{0,30}\band\b"
    r"|\b(?:at least|at most|about|around|approximately|(?:more|less|fewer|greater) than|up to|maybe|perhaps)\b"
    r"|\bprobably\b|\b(?:not|never)\b[^.;,()\n]{0,40}?\d|n['’]t\b[^.;,()\n]{0,40}?\d|\d\W{0,3}\?|\d[^.;\n]{0,40}, but\b"
    r"|(?<![\d,])\d{1,3}(?:,\d{3})++\b",
    re.IGNORECASE,
)  # a choice, a bound, a denial, a question; digits in groups
_COUNTED = re.compile(
    r"(?<![\w.=<>+*/-])(?<![=<>+*/] )(\d{1,18})(?:\s*[x×])?"
    r"(?:\s+(?:different|separate|distinct|more|such))?\s+([a-z]+)",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"(?:=|\b(?:(?<!there )is|equals?|total(?:s|ing)?(?: of)?|answer|count|result|number|overall|altogether))[\s:*_`]*+"
    r"(?:to |of |therefore |thus |then )?"
    r"([-−]?\d{1,18})(?:\.0+)?(?![\w]|[.,]\d)(?!\s*[-+*/×<>=%])(?! whole)",
    re.IGNORECASE,
)
_TIMES_WORDS = """
times time instances instance executions execution runs rounds iterations repetitions passes
"""
_TIMES_NOUNS = frozenset(_TIMES_WORDS.split())
_BULLET = re.compile(r"^[ \t]*+\(?\d{1,9}[.)][ \t]++(?=\S)", re.MULTILINE)
_ASKED = re.compile(r"\btask '([^'\n]{1,80})'", re.IGNORECASE)
_PARTS = re.compile(
    r"\bper (?:round|iteration|pass|loop|run|cycle)\b"
    r"|\d[^.\n]{0,80}?\b(?:first|second|inner|outer|other|another)\b[^.\n]{0,40}?\band\b[^.\n]{0,30}?\d",
    re.IGNORECASE,
)
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
_TIME = re.compile(
    r"(?<![\w.])(\d{1,12})\s*(second|minute|hour|day)s?\b"
    r"(?:(?:\s*,\s*|\s+and\s+|\s+)(\d{1,12})\s*(second|minute|hour|day)s?\b)?",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(r"\([^()\n]*\)")
_ORDINAL = re.compile(r"\b\d+(?:st|nd|rd|th)\b|\b(?:step|line|round|branch|option|case|iteration) \d+\b", re.IGNORECASE)


def reduce_number(statement: str, question: str, names: Sequence[str]) -> str:
    """Return the number that a statement gives as the answer, in digits; "" if none certainly is.

    Args:
        statement: The statement of a reply.
        question: The text of the question.
        names: The known names; numbers in them do not count.
    """
    named_in_words = [name for name in names if re.search(r"[^\W\d]", name)]
    parts = re.split(r"(?<=[.!?;,\n])|(?= and )", unbox_answer(statement, names))
    text = "".join(part for part in parts if not _is_about_other(part, question, names))
    text = mask_names(text, named_in_words, "\ue000N", "\ue001")[0]
    text = _in_unit(text, question)
    text = _ORDINAL.sub(" ", _WORD.sub(_digits, text))
    text = _BULLET.sub("", text)
    if _PARTS.search(text) or (text.count("=") > 1 and "\n" in text.strip()):
        return ""
    text = _IN_BRACKETS.sub(" ", text) if _NUMBER.search(_IN_BRACKETS.sub(" ", text)) else text
    first_line = text.strip().partition("\n")[0]
    bare = first_line.strip("*_`\"'.,!()$ ")
    others = re.findall(r"^[^\w\n]*+\d++[^\w\n]*+$", text, re.MULTILINE)
    if len(others) > 1 and len({re.sub(r"\D", "", number) for number in others}) > 1:
        return ""
    if alone := re.fullmatch(r"([-−]?\d{1,18})(?:\.0+)?(?:\s*(?:x|×|times?))?", bare):
        return alone[1]
    if _DOUBTED.search(text) or (not _NUMBER.search(text) and "?" in text):
        return ""
    if marked := {match[1] for match in _MARKED.finditer(text)}:
        return marked.pop() if len(marked) == 1 else ""
    return _counted(text, question) or _stated(text, question)


def _in_unit(text: str, question: str) -> str:
    """Return the text with times in the unit that the question counts, where they are whole numbers of it."""
    counted = re.search(r"how many (second|minute|hour|day)s\b", question, re.IGNORECASE)
    if counted is None:
        return text
    size, unit = _SECONDS[counted[1].lower()], counted[1].lower()

    def convert(match: re.Match[str]) -> str:
        parts = [(match[1], match[2]), *([(match[3], match[4])] if match[3] else [])]
        seconds = sum(int(amount) * _SECONDS[name.lower()] for amount, name in parts)
        return match[0] if seconds % size else f"{seconds // size} {unit}s"

    return _TIME.sub(convert, text)


def _is_about_other(sentence: str, question: str, names: Sequence[str]) -> bool:
    """Return True if a sentence names other tasks than the one of which the question asks."""
    asked = _ASKED.findall(question)
    named = names_of(sentence, names) if asked and re.search(r"\w\W", sentence) else []
    return bool(named) and not any(name in sentence for name in asked)


def _digits(match: re.Match[str]) -> str:
    word = match[0].lower()
    return _TIMES.get(word) or str(_WORDS.index(word))


def _counted(text: str, question: str) -> str:
    """Return the number before the noun that the question counts; of several, the last one that is stated in all."""
    how_many = re.search(r"how (?:many|often)\s+(\w+)?", question, re.IGNORECASE)
    nouns = {how_many[1].lower()} if how_many and how_many[1] else set()
    times = not nouns or nouns & _TIMES_NOUNS
    found = [match for match in _COUNTED.finditer(text) if _is_noun(match[2].lower(), nouns, bool(times))]
    exact = [match for match in found if match[2].lower() in {"times", "time"} | nouns]
    numbers = [match[1] for match in exact or found]
    if not numbers:
        return "0" if times and _NEVER.search(text) and not _NUMBER.search(text) else ""
    return numbers[-1]


def _is_noun(word: str, nouns: set[str], times: bool) -> bool:
    return word in nouns or word.rstrip("s") in {noun.rstrip("s") for noun in nouns} or (times and word in _TIMES_NOUNS)


def _stated(text: str, question: str) -> str:
    """Return the only number that is stated as the result, or that stands alone, and is not given in the question."""
    given = {match[0] for match in _NUMBER.finditer(question)}
    stated = [
        match[1]
        for match in _STATES.finditer(text)
        if match[1] not in given and not _is_assigned(text, match, question)
    ]
    if stated:
        return stated[-1] if len(set(stated)) == 1 else ""
    numbers = {match[0] for match in _NUMBER.finditer(text)}
    words = content_words(text, ())
    return numbers.pop() if len(numbers) == 1 and not words and not numbers & given else ""


def _is_assigned(text: str, match: re.Match[str], question: str) -> bool:
    """Return True if the number is the value of a variable, as in `m = 5` or, of one in the question, `m is 5`."""
    before = re.search(r"\b([A-Za-z_]\w*)[\s`'\"]*$", text[max(0, match.start() - 40) : match.start()])
    return before is not None and (match[0].startswith("=") or re.search(rf"\b{before[1]} =", question) is not None)
