"""Starts of tasks in a text: lines such as "A: 5", "A starts at 5 min", "t = 5: A, B", rows of tables, members of JSON.

A time without a unit is in the unit of the question, or in that of its column; another one is converted. What may be
another number (a duration, a choice, a clock time) makes the text unparseable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from ..errors import UnparseableError
from ..trial import Json
from .extraction import LEFT, MASK, RIGHT, mask_names
from .name_lists import quote_start

Start = tuple[str, int]  # a name, and the time at which it starts

MARKS: Final = ":=~^"
_SECONDS: Final = {"s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hr": 3600,
                   "hour": 3600, "d": 86400, "day": 86400}  # fmt: skip
_UNIT = r"(?:seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![^\W\d_])"
_NUMBER = r"\d{1,12}(?:\.\d{1,6})?(?![\w]*\d|:\d)"
_TIME = rf"{_NUMBER}(?:[ \t]*{_UNIT}\.?(?:(?:,|[ \t]and)?[ \t]*\d{{1,9}}[ \t]*{_UNIT})*)?"
_PART = re.compile(rf"(\d+(?:\.\d+)?)[ \t]*({_UNIT})?", re.IGNORECASE)
_ASKED = re.compile(r"\b(?:how many|in) (second|minute|hour|day)s after\b", re.IGNORECASE)
_EXACT = re.compile(r"\s*([-−]?\d{1,12})\s*")
_WORD = re.compile(r"[^\W\d]\w*")
_DECORATION = r"[ \t*_`\"'”’)\]]*+"
_BULLET = r"(?:[ \t>]|[-+*•·–—][ \t]|\(?\d{1,9}[.)][ \t]|[*_`\"'“‘\[(]|(?:the )?task(?=[ \t*_`\"'“‘]*\ue000))*+"
_AT = r"(?:(?:(?:at|t|time|from|minute|hour|second|day)s?\b|@|=)[ \t]*+[=:]?[ \t]*+)*+"
_STARTS = r"(?:can[ \t]|may[ \t]|should[ \t]|must[ \t])?\b(?:starts?(?:ing)?|begins?)(?:[ \t]+time)?\b[ \t]*+[:=]?"
_SEPARATOR = rf"(?:[ \t]*+(?::|=>|->|=|→|,|\||\t|--?(?=[ \t])|[–—]|@))?{_DECORATION}(?:[ \t]*+{_STARTS})?[ \t]*+{_AT}"
_ENTRY = re.compile(
    rf"{MASK}{_DECORATION}(?P<note>[ \t]*\([^()\n]*\))?{_DECORATION}(?P<mark>{_SEPARATOR}){_DECORATION}"
    rf"(?P<sign>[-−]?)\(?(?P<time>{_TIME})(?P<rest>.*)",
    re.IGNORECASE,
)
_RANGE = re.compile(rf"[ \t]*(?:-|–|—|to|until|till|→|->|\.\.\.?)[ \t]*(?P<end>{_TIME})", re.IGNORECASE)
_OTHERS = re.compile(
    r"\b(?:ends?(?:ing)?|finish\w*|until|complet\w*|durations?|takes?|lasts?|length|runs? for|for|workers?|w|persons?"
    rf"|machines?|slots?)\b[ \t*_]*+(?:at|time|by|is|in|=|:|#)?[ \t*_:=#]*+{_TIME}",
    re.IGNORECASE,
)  # times and numbers beside the start
_PREFIX = re.compile(r"\b(second|minute|hour|day)s?\b", re.IGNORECASE)  # a unit before its number, such as "minute 5"
_LABELLED = re.compile(rf"{_STARTS}[ \t*_]*+{_AT}(?P<time>{_TIME})", re.IGNORECASE)
_DOUBT = re.compile(r"\b(?:or|about|around|approximately|maybe|perhaps|at least|at most|not)\b|\?", re.IGNORECASE)
_TIME_FIRST = re.compile(
    rf"{_BULLET}(?:(?:at|time|t)\b[ \t]*[=:]?[ \t]*(?P<time>{_TIME})|(?P<bare>\d+(?:\.\d+)?[ \t]*{_UNIT}))"
    rf"{_DECORATION}[ \t]*[:,–—-]?{_DECORATION}(?P<rest>[^\d\n]*{MASK}.*)",
    re.IGNORECASE,
)
_BESIDE = re.compile(r"\b(?:starts?|starting|begins?|and|tasks?|run|in parallel)\b", re.IGNORECASE)
_STRANGER = re.compile(
    rf"{_BULLET}(?P<name>[^\W\d][\w .'/&-]{{0,60}}?){_DECORATION}[:=][ \t]*(?P<time>{_TIME})[ \t.*_`]*", re.IGNORECASE
)
_SUMMARY = re.compile(
    r"\W*(?:total|makespan|end|ends|finish\w*|workers?|limit|durations?|time|deadline|schedule|start|unit|sum|the|all"
    r"|note|answer|critical|latest|overall|completion|whole|number|tasks?|step)\b",
    re.IGNORECASE,
)
_RULE = re.compile(r"[\s|:+-]+")
_TASK_COLUMN = re.compile(r"task|name|step|activit|job", re.IGNORECASE)
_START_COLUMN = re.compile(r"\b(?:starts?|begins?)|\bstart_|^t$|^time\b", re.IGNORECASE)
_MOST: Final = 5_000  # lines of a text
_LONGEST: Final = 1_000  # characters of a line that is looked at


def mark_of(names: Sequence[str]) -> str:
    """Return the character between a name and its start: the first that no name holds."""
    return next((mark for mark in MARKS if not any(mark in name for name in names)), "\t")


def unit_of(question: str) -> str:
    """Return the unit in which a question asks for times, such as "minute"; "" if it names none."""
    asked = _ASKED.search(question)
    return asked[1].lower() if asked else ""


def exact_starts(text: str, names: Sequence[str], *, strict: bool = False) -> list[Start]:
    """Return the starts if each line is a name, the mark and a whole number; else none.

    A name is known, or one word; with `strict` any text.
    """
    mark, known, starts = mark_of(names), frozenset(names), list[Start]()
    for line in filter(str.strip, text.split("\n")):
        head, found, tail = line.rpartition(mark)
        name, number = head.strip(), _EXACT.fullmatch(tail.rstrip(" .") if strict else tail)
        name = name if name in known or not strict else name.strip("`* ").removeprefix("- ")
        stranger = strict or (_WORD.fullmatch(name) and not _SUMMARY.match(name))
        if not found or not number or not (name in known or (stranger and name)):
            return []
        starts.append((name, int(number[1].replace("−", "-"))))
    return starts


def find_starts(text: str, names: Sequence[str], unit: str) -> list[Start]:
    """Return the starts that a text states.

    Args:
        text: The text.
        names: The known names.
        unit: The unit of times without one; if empty, times with a unit are not taken.

    Raises:
        UnparseableError: if it states none, or not certainly.
    """
    starts = _from_json(text, names, unit)
    starts = _from_table(text, names, unit) if starts is None else starts
    return _from_lines(text, names, unit) if starts is None else starts


def _seconds(time: str, unit: str) -> Fraction:
    """Return a time in seconds; of a range of parts without a unit in the unit of the text."""
    total = Fraction(0)
    for amount, own in _PART.findall(time):
        name = own.lower().rstrip("s") or own.lower() or unit
        total += Fraction(amount) * (_SECONDS[name] if name else 1)
    return total


def _time(time: str, unit: str, default: str = "") -> int:
    """Return a time as a whole number of the unit.

    Args:
        time: The time.
        unit: The unit of the question.
        default: The unit of a time without one; that of the question if empty.

    Raises:
        UnparseableError: if it is no whole number of the unit, or the unit is not known.
    """
    stated = bool(re.search(r"[^\W\d]", time)) or bool(default)
    if stated and not unit:
        raise UnparseableError(f"expected whole numbers without a unit, found {quote_start(time)}")
    amount = _seconds(time, default or unit) / (_SECONDS[unit] if unit else 1)
    if amount.denominator != 1:
        raise UnparseableError(f"expected a whole number{f' of {unit}s' if unit else ''}, found {quote_start(time)}")
    return int(amount)


def _start(value: str, unit: str, default: str = "") -> int:
    """Return the start that the text beside a name states, such as "0 - 5", "start 0, end 5" or "5 minutes".

    Raises:
        UnparseableError: if it may be another number.
    """
    entry = _entry(f"{LEFT}0{RIGHT}: {value}", unit, default)
    if entry is None:
        raise UnparseableError(f"expected the time at which a task starts, found {quote_start(value)}")
    return entry


def _entry(line: str, unit: str, default: str = "") -> int | None:
    """Return the start of the name that a line begins with; None if the line does not state it certainly."""
    if match := _ENTRY.match(line):
        time, rest = match["time"], match["rest"]
        if until := _RANGE.match(rest):
            rest = rest[until.end() :]
            own = _PART.match(until["end"])
            bare = re.fullmatch(r"[\d.]+", time)
            default = own[2].lower().rstrip("s") if bare and own and own[2] else default
        plain = _OTHERS.sub(" ", rest)
        certain = match["mark"].strip() or not _PART.search(plain)
        if certain and not _DOUBT.search(plain) and not re.search(r"\d", re.sub(MASK, "", plain)):
            negative = match["sign"] and match["mark"].strip()[:1] in (":", "=")
            if (not match["sign"] or negative) and _in_unit(match["mark"], unit):
                return _time(time, unit, default) * (-1 if negative else 1)
            return None
    labelled = {match["time"] for match in _LABELLED.finditer(line) if _in_unit(match[0], unit)}
    begins = re.match(rf"{MASK}{_DECORATION}[ \t]*[:|,(=–—-]", line)
    return _time(labelled.pop(), unit, default) if begins and len(labelled) == 1 and not _DOUBT.search(line) else None


def _in_unit(words: str, unit: str) -> bool:
    """Return True if the words before a number name no other unit than that of the question."""
    return all(prefix.lower() == unit for prefix in _PREFIX.findall(words))


def _from_json(text: str, names: Sequence[str], unit: str) -> list[Start] | None:
    """Return the starts in an object or list of JSON; None if the text holds none."""
    ends = [place for place in (text.find("{"), text.find("[")) if place >= 0]
    if not ends:
        return None
    try:
        value = json.loads(text[min(ends) : max(text.rfind("}"), text.rfind("]")) + 1])
    except (ValueError, RecursionError):
        return None
    starts = list(_json_starts(value, frozenset(names), unit))
    return starts or None


def _json_starts(value: Json, known: frozenset[str], unit: str) -> Iterator[Start]:
    if isinstance(value, list):
        for item in value:
            match item:
                case [str(name), int() | str() as time]:
                    yield name, _json_time(time, unit)
                case dict():
                    yield from _json_starts(item, known, unit)
                case _:
                    raise UnparseableError(f"expected a task with its start, found {quote_start(str(item))}")
    elif isinstance(value, dict):
        named = next((value[key] for key in value if key not in known and _TASK_COLUMN.search(key)), None)
        if isinstance(named, str):
            yield named, _json_time(value, unit)
            return
        nested = [key for key, member in value.items() if isinstance(member, list | dict) and key not in known]
        if len(nested) == 1 and not known.intersection(value):
            yield from _json_starts(value[nested[0]], known, unit)
            return
        for key in value:
            if key in known or not _SUMMARY.match(key):
                yield key, _json_time(value[key], unit)


def _json_time(value: Json, unit: str, default: str = "") -> int:
    if isinstance(value, dict):
        for key, member in value.items():
            if _START_COLUMN.search(key):
                return _json_time(member, unit, _unit_in(key))
    if isinstance(value, int) and not isinstance(value, bool):
        return _time(str(abs(value)), unit, default) * (-1 if value < 0 else 1)
    if isinstance(value, str):
        return _start(value, unit, default)
    raise UnparseableError(f"expected the time at which a task starts, found {quote_start(json.dumps(value))}")


def _unit_in(title: str) -> str:
    """Return the unit that a title names, such as "start (min)" or "start_minutes"; "" for none."""
    found = re.search(rf"(?:[(\[,_]|\bin )[ \t]*({_UNIT})", title, re.IGNORECASE)
    return found[1].lower().rstrip("s") or found[1].lower() if found else ""


def _from_table(text: str, names: Sequence[str], unit: str) -> list[Start] | None:
    """Return the starts in the rows of a table; None if the text has no table with columns of tasks and starts."""
    lines = [line.strip().strip("|") for line in text.split("\n") if line.count("|") > 1]
    rows = [[cell.strip(" \t*_`") for cell in line.split("|")] for line in lines if not _RULE.fullmatch(line)]
    if len(rows) < 2 or any("|" in name for name in names):
        return None
    heading = rows[0]
    task = next((at for at, title in enumerate(heading) if _TASK_COLUMN.search(title)), None)
    starts = [at for at, title in enumerate(heading) if at != task and _START_COLUMN.search(title)]
    if task is None or len(starts) != 1:
        return None
    at, known = starts[0], frozenset(names)
    filled = [row for row in rows[1:] if len(row) > max(task, at)]
    kept = [row for row in filled if row[task] in known or not (_is_end(row[task]) or _SUMMARY.match(row[task]))]
    return [(row[task], _start(row[at], unit, _unit_in(heading[at]))) for row in kept]


def _is_end(name: str) -> bool:
    return name.upper() in ("START", "END")


@dataclass(slots=True)
class _Block:
    """Starts on lines that stand together, and lines that begin with a task and do not certainly state its start."""

    starts: list[Start] = field(default_factory=list)
    unclear: dict[str, str] = field(default_factory=dict)


def _from_lines(text: str, names: Sequence[str], unit: str) -> list[Start]:
    """Return the starts on the lines of a text; of several lists, the last one if it has all tasks of those before it.

    Raises:
        UnparseableError: if there are none, or a line or the choice of a list is not certain.
    """
    masked, numbered = mask_names(text, names, LEFT, RIGHT)
    blocks = [_Block()]
    for line in masked.split("\n")[:_MOST]:
        _add_line(blocks, line, numbered, unit)
    lists = [block for block in blocks if block.starts]
    if not lists:
        raise UnparseableError(f"expected one task a line, each with its start, found {quote_start(text)}")
    chosen = _choose([block.starts for block in lists], text)
    placed, after = {name for name, _ in chosen}, blocks[blocks.index(lists[0]) :]
    for block in after:
        for name, line in block.unclear.items():
            if name not in placed:
                raise UnparseableError(f"expected the time at which {name!r} starts, found {quote_start(line)}")
    return list(dict.fromkeys(chosen))


def _choose(lists: Sequence[list[Start]], text: str) -> list[Start]:
    named = [{name for name, _ in starts} for starts in lists]
    if sum(map(len, named)) == len(set().union(*named)):
        return [start for starts in lists for start in starts]
    if all(names <= named[-1] for names in named):
        return lists[-1]
    raise UnparseableError(f"expected one schedule, found several in {quote_start(text)}")


def _add_line(blocks: list[_Block], line: str, numbered: Sequence[str], unit: str) -> None:
    """Add the starts of a line to the last block; a line of other words begins a new one."""
    block = blocks[-1]
    if not line.strip() or len(line) > _LONGEST:
        return
    if starts := _starts_of_line(line, numbered, unit):
        block.starts += starts
    elif (stranger := _STRANGER.fullmatch(line)) and not _SUMMARY.match(stranger["name"]):
        if block.starts and not _is_end(stranger["name"]):
            block.starts.append((stranger["name"], _time(stranger["time"], unit)))
    elif not (_SUMMARY.match(line) or _is_end(re.split(r"[^A-Za-z]", line.strip(" -*`"))[0])):
        unclear = re.match(rf"{_BULLET}({MASK}){_DECORATION}[ \t]*[:=|]", line, re.IGNORECASE)
        blocks.append(_Block())
        if unclear:
            blocks[-1].unclear[numbered[int(unclear[1][1:-1])]] = _unmasked(line, numbered)


def _starts_of_line(line: str, numbered: Sequence[str], unit: str) -> list[Start]:
    """Return the starts of a line: of the names in it, each behind its name; or the names behind a time."""
    first = _TIME_FIRST.match(line)
    if first and not re.search(r"\w", _BESIDE.sub("", re.sub(MASK, "", first["rest"]))):
        time = _time(first["time"] or first["bare"], unit)
        return [(numbered[int(name[1:-1])], time) for name in re.findall(MASK, first["rest"])]
    opening = re.match(_BULLET, line, re.IGNORECASE)
    begin = opening.end() if opening else 0
    parts = re.split(rf"(?:[,;|]|[ \t]and)[ \t]+(?={_BULLET}{MASK})", line[begin:], flags=re.IGNORECASE)
    starts: list[Start] = []
    for part in parts:
        bare = re.sub(rf"^{_BULLET}", "", part, flags=re.IGNORECASE)
        name = re.match(MASK, bare)
        start = _entry(bare, unit) if name else None
        if name is None or start is None:
            return []
        starts.append((numbered[int(name[0][1:-1])], start))
    return starts


def _unmasked(line: str, numbered: Sequence[str]) -> str:
    return re.sub(MASK, lambda match: numbered[int(match[0][1:-1])], line)
