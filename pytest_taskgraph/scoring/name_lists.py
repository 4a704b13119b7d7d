"""Parse lists of names as models write them: lead-ins, notes, reasons, conjunctions, and "none".

A name is known, or one plain word. Known names are masked first, so that a name which holds a comma, a bracket, a
colon or an "and" stays whole. What then is neither a list nor certainly beside it is unparseable, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count

from ..errors import UnparseableError
from ..trial import Parsing
from .extraction import list_names, mask_names, unbox_answer

_LEFT, _RIGHT = "\ue000", "\ue001"  # a known name is masked as its number between these
_MASKED = rf"{_LEFT}\d++{_RIGHT}"
_WORDS = re.compile(rf"{_MASKED}|\w[\w'’-]*+")
_IDENTIFIER = re.compile(r"(?=[^\W\d])\w*(?:\d|_|[a-z][A-Z])\w*")
_DECORATION = r"[*_`\"'“”‘’«»\[\]{}()$]"
_OPENING = re.compile(rf"(?:[ \t]|{_DECORATION}|[-+•·–—](?=\s)|\d{{1,9}}[.)](?=\s|{_MASKED}|{_DECORATION}))*+")
_TASK = re.compile(rf"(?:(?:both|the)\s++)?+(?:tasks?\s++)?+(?=[*`\"'“‘]*+(?:{_MASKED}|[A-Za-z]\w*?\d))", re.IGNORECASE)
_CLOSING = r"[*_`\"'”’»\]}]*+"
_QUALIFIER = rf"(?:(?:[`'\"]*+(?:{_MASKED}|[^\W\d][\w-]*+)[`'\"]*+\.)(?=[^\s.]))*+"
_ITEM = re.compile(rf"({_QUALIFIER}[*`'\"]*+)({_MASKED}|[^\W\d]\w*+(?:-\w++)*+){_CLOSING}")
_NOTE = re.compile(r"\s*+\(([^()\n]*+)\)" + _CLOSING)
_END = re.compile(rf"(?:[\s.!,;]|{_DECORATION})*+$")
_WHY = re.compile(r"\s*+:[*_`]*+|\s++[-–—]++\s")
_SENTENCE = re.compile(rf"{_DECORATION}*+[.!]{_DECORATION}*+\s++")
_SENTENCE_END = re.compile(r"[.!?]\s+(?=\S)")
_LEAD = re.compile(r":[*_]*+(?:\s|$)")
_COPULA = re.compile(rf"\b(?:is|are|be|includes?|namely)\s++(?=[*_`\"'“‘«\[{{(]*+(?:{_MASKED}|[A-Z]\w*))")
_NEGATIVE = re.compile(r"\W*(?:not|excluded|excluding|except|without|never|neither|wrong|incorrect)\b", re.IGNORECASE)
_NEGATED = re.compile(r"\b(?:not|n['’]t|never|excluding|except|than|without)\W*$", re.IGNORECASE)
_LEADS = "answer answers task tasks name names list result results output set order groups steps"
_LEAD_WORDS = frozenset(f"{_LEADS} next first last final following".split())
_CLAUSE = re.compile(
    r"(?:and\s+)?(?:which|as|since|because|so|both|all|each|where|while|when|respectively|these|they|for|"
    r"in (?:that|this|parallel|any|either))\b",
    re.IGNORECASE,
)
_LINKING = "therefore thus hence so yes okay ok sure well certainly"
_DISCOURSE = frozenset(_LINKING.split())
_DISCOURSE_WORD = re.compile(rf"\W*(?:{'|'.join(sorted(_DISCOURSE))})\s*[,:]\s+", re.IGNORECASE)
_FUNCTION = """
a an the this that these those it its they them there here is are was were be been has have do does can could may might
must will would should which who what when where while as since because after before during until if of in on at to from
with without by for not no nor or and but both all each every any some only also too very i we you he she my our your
their his either neither none nothing respectively however then finally
just more others etc etcetera
"""
_FUNCTION_WORDS = _DISCOURSE | frozenset(_FUNCTION.split())
_OTHERWISE = re.compile(
    r"\b(?:wait|actually|correction|scratch|sorry|oops|instead|except|excluding|unless|however|mistake|rather|forgot)\b|"
    r"(?:^|[.!?]\s)\W{0,9}+(?:but|not|only|or|no|also|additionally|plus|furthermore|moreover|besides|finally|then|and)\b",
    re.IGNORECASE,
)
_ABOUT_ALL = re.compile(r"\W*(?:these|they|both|all|each|this|it|which|since|because|as|so)\b", re.IGNORECASE)
_FURTHER = re.compile(r"\b(?:also|too|plus|as well|besides|includ\w+|likewise|additional\w*|not|only)\b", re.IGNORECASE)
_BESIDE = re.compile(
    r"\s*(?:(?:which|it|this|that|is|are|runs?|comes?|directly|immediately|task|nested|part)\s+)*(?:in|inside|within|of|"
    r"from|under|after|before|follows|following|precedes|preceding|not|unlike)\b(?!.*(?:\b(?:and|or|also|plus)\b|[,;/&]))",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"[^\w∅\\]*+(?:(?:there (?:is|are)|(?:the )?answer(?: is)?:?|it is)\b[^\w∅\\]*+)?(?:"
    r"(?:none|nothing|n/a|(?:an |the )?empty(?: set| list)?|"
    r"no(?: (?:such|other|further|more|\w+))?? (?:tasks?|names?|links?|groups?|pairs?|steps?|data|items?))\b"
    r"|∅|\\(?:emptyset|varnothing)\b)|[\s*_`$]*+(?:\{\s*+\}|\[\s*+\]|\(\s*+\))",
    re.IGNORECASE,
)
_EXCEPTION = re.compile(r"\b(?:but|except|other|besides|apart|unless|if|only|however|though|maybe)\b", re.IGNORECASE)
_GROUP_LABEL = re.compile(r"\b(?:group|pair|set)\b|\d", re.IGNORECASE)
_MOST_LEADS = 4


@dataclass(slots=True)
class _Line:
    """A line of an answer: the names it lists, what follows them, and what it is."""

    names: list[str] = field(default_factory=list)
    tail: str = ""
    explained: bool = False
    led: bool = False  # it begins with words that announce the names, in this line or the next ones


class _Unclear(Exception):
    """A line whose names cannot be told from what is said about them."""


def parse_names(text: str, names: Sequence[str], cuts: str = ",\n") -> list[str]:
    """Return the names that an answer lists, in its order, repetitions included.

    Args:
        text: The answer, cut out of the reply.
        names: The known names. Others are plain words, or unknown names between two cuts.
        cuts: The characters that separate names.

    Raises:
        UnparseableError: If names cannot be told from the words around them.
    """
    return [name for line in _lists(text, names, cuts, groups=False) for name in line]


def parse_groups(text: str, names: Sequence[str], cuts: str) -> list[list[str]]:
    """Return the names of each line that lists any.

    Raises:
        UnparseableError: If names cannot be told from the words around them.
    """
    return list(_lists(text, names, cuts, groups=True))


def states_none(text: str, names: Sequence[str]) -> bool:
    """Return True if the answer says in a word, a sign or a sentence that there are none."""
    words, _ = _mask(unbox_answer(text, names), names)
    if (said := _NOTHING.match(words)) is None:
        return False
    rest = words[said.end() :]
    if _END.match(rest):
        return True
    if _EXCEPTION.search(rest) or re.search(rf"(?:[,;:.\n]|^)[ \t]*+(?:{_DECORATION}|[-+•]\s)*+{_MASKED}", rest):
        return False
    beside = re.match(r"[\W_]*+", rest)
    after = rest[beside.end() :] if beside else rest
    return "," not in (beside[0] if beside else "") or _CLAUSE.match(after) is not None


def _lists(text: str, names: Sequence[str], cuts: str, groups: bool) -> Iterator[list[str]]:
    text = unbox_answer(text, names)
    plain = [list_names(line, names, cuts) for line in (text.split("\n") if groups else [text])]
    plain = [found for found in plain if found]
    if _plainly_listed(text, plain, names, groups):
        yield from plain
        return
    words, found = _mask(text, names)
    try:
        lines = list(_listing(words, cuts, bare=not any("." in name for name in names), groups=groups))
    except _Unclear as problem:
        short = text.strip() if len(text.strip()) <= 60 else text.strip()[:57] + "..."
        raise UnparseableError(f"expected names, found {short!r}: {problem}") from None
    for line in lines:
        yield [_unmasked(name, found) for name in line]


def _plainly_listed(text: str, lines: Sequence[Sequence[str]], names: Sequence[str], groups: bool) -> bool:
    """Return True if all items are known or look like a name, and none hides a known one or a word of a sentence."""
    if (
        groups
        and re.search(r"[)\]}]\s*+(?:[,;]\s*+)?[(\[{]", text)
        and not any(re.search(r"[)\]}]", one) for one in names)
    ):
        return False
    known = frozenset(names)
    longest = max([3, *(len(name.split()) for name in names if len(name) < 1000)])
    return all(name in known or _is_like_a_name(name, names, longest) for line in lines for name in line)


def _is_like_a_name(item: str, names: Sequence[str], longest: int) -> bool:
    if re.search(r"[:;()\n=→⟶⇒]|[-=]>|[.!?]\s|\s[-–—&+/]+\s|[`'\"]\s+[`'\"]", item):
        return False
    words = _WORDS.findall(item)
    if len(words) > longest or (len(words) > 1 and _has_function_word(words)):
        return False
    if is_function_word(item) or item.lower() in _DISCOURSE:
        return False
    return len(words) < 2 or not _mentions(_mask(item, names)[0])


def _mask(text: str, names: Sequence[str]) -> tuple[str, list[str]]:
    return mask_names(text, names, _LEFT, _RIGHT)


def _unmasked(item: str, found: Sequence[str]) -> str:
    return re.sub(_MASKED, lambda match: found[int(match[0][1:-1])], item)


def _listing(text: str, cuts: str, bare: bool, groups: bool) -> Iterator[list[str]]:
    """Yield the names of each line of a masked text that lists some; raise _Unclear where that is not certain."""
    listed: set[str] = set()
    explained = closed = False
    for line in filter(_WORDS.search, text.split("\n")):
        for part in _bracketed(line) if groups else [line]:
            found = _line_beside(part, cuts, bare, listed)
            if found is None:
                _check_beside(part, listed)
                closed = bool(listed) and not explained
                continue
            if found.led and listed and not groups:
                raise _Unclear("a second list follows")
            if groups and found.led and not found.names and (listed or _GROUP_LABEL.search(part)):
                raise _Unclear("a label stands on a line of its own")
            if not found.names:
                continue
            if closed:
                raise _Unclear("names stand behind the end of the list")
            listed |= set(found.names)
            if found.tail:
                _check_beside(found.tail, listed)
                closed = True
            explained = explained or found.explained
            yield found.names
    if not listed:
        raise _Unclear("it lists none")


def _line_beside(line: str, cuts: str, bare: bool, listed: Collection[str]) -> _Line | None:
    """Return what a line lists; a sentence behind a list may begin with a name."""
    try:
        return _line(line, cuts, bare)
    except _Unclear:
        if not listed or re.search(r"\b(?:not|only|or|no)\b", line) or not set(_mentions(line)) <= set(listed):
            raise
        return None


def _bracketed(line: str) -> list[str]:
    """Return the groups in brackets that stand on one line, or the line."""
    parts = re.split(r"(?<=[)\]}])\s*+(?:[,;]|and\b)?\s*+(?=[(\[{])", line)
    return parts if len(parts) > 1 and all(_mentions(part) or "," in part for part in parts) else [line]


def _line(line: str, cuts: str, bare: bool, leads: int = 0) -> _Line | None:
    """Return what a line lists; None if it is a sentence that lists nothing."""
    if discourse := _DISCOURSE_WORD.match(line):
        line = line[discourse.end() :]
    if (found := _items(line, cuts, bare)) is not None:
        return found
    if leads == _MOST_LEADS:
        raise _Unclear("it has too many colons")
    colon = _LEAD.search(line)
    if cut := colon or _COPULA.search(line):
        _check_lead(line[: cut.start()], colon is not None)
        rest = line[cut.end() :]
        found = _line(rest, cuts, bare, leads + 1) if _WORDS.search(rest) else _Line()
        if found is not None:
            found.led = True
        return found
    ends = [end.end() for end in _SENTENCE_END.finditer(line)]
    if ends and (found := _items(line[ends[-1] :], cuts, bare)) is not None:
        before = line[: ends[-1]]
        if _mentions(before) or not _is_prose(before):
            raise _Unclear("names stand in a sentence")
    return found


def _check_lead(lead: str, colon: bool) -> None:
    if _NEGATIVE.match(lead) or _NEGATED.search(lead):
        raise _Unclear("the list is negated")
    named = colon and re.search(rf"{_MASKED}{_CLOSING}\s*+(?:\([^()]*+\))?\s*$", lead)
    if named or re.search(rf"{_MASKED}\s*+[,;]", lead):
        raise _Unclear("a name stands before a colon")


def _items(line: str, cuts: str, bare: bool) -> _Line | None:
    """Return what a line lists from its beginning on; None if it begins with other words."""
    separators, listed, at = _separators(cuts), _Line(), 0
    while True:
        at = _OPENING.match(line, at).end()  # type: ignore[union-attr]  # it may be empty, but it matches
        at = task.end() if (task := _TASK.match(line, at)) else at
        item = _ITEM.match(line, at)
        if item is None or is_function_word(item[0]):
            return _without_item(line, at, listed)
        end = _past_notes(line, item.end())
        name = item[2] if bare else re.sub(r"[*`'\"]", "", item[1]) + item[2]
        if (separator := separators.match(line, end)) and separator.end() < len(line):
            listed.names.append(name)
            at = separator.end()
            continue
        return _ended(line, end, name, listed)


def _without_item(line: str, at: int, listed: _Line) -> _Line | None:
    """Return the list that ends where no further item stands; None if there is no list."""
    if not listed.names:
        return None
    if _CLAUSE.match(line, at):
        listed.tail = line[at:]
    elif not _END.match(line, at):
        raise _Unclear("a sentence stands in the list")
    return listed


def _ended(line: str, end: int, name: str, listed: _Line) -> _Line | None:
    """Return the list that ends with this name; None if the line goes on otherwise and may begin with a lead-in."""
    if _END.match(line, end):
        listed.names.append(name)
        return listed
    if why := _WHY.match(line, end):
        if not listed.names and name.lower() in _LEAD_WORDS:
            return None
        _check_reason(line[why.end() :], name)
        listed.names.append(name)
        listed.explained = True
        return listed
    if sentence := _SENTENCE.match(line, end):
        listed.names.append(name)
        listed.tail = line[sentence.end() :]
        return listed
    if listed.names or _LEFT in name:
        raise _Unclear("words follow a name")
    return None


def _past_notes(line: str, end: int) -> int:
    while note := _NOTE.match(line, end):
        if _mentions(note[1]) and not _BESIDE.match(note[1]):
            raise _Unclear("a name stands in brackets behind another")
        end = note.end()
    return end


def _check_reason(reason: str, name: str) -> None:
    """Raise _Unclear if what follows the colon may be names rather than a reason."""
    bare = reason.strip().strip("*_`\"'.")
    first = _ITEM.match(reason, _OPENING.match(reason).end())  # type: ignore[union-attr]  # as above
    begins = (
        first is not None
        and not is_function_word(first[0])
        and re.match(r"\s*(?:$|[,;:]|and\b)", reason[first.end() :])
    )
    known = first is not None and (_LEFT in first[2] or not first[2].islower() or "," in bare or name.islower())
    if begins and known and bare:
        raise _Unclear("names stand behind a colon")
    if re.search(rf"[,;]\s*+(?:and\s++)?{_DECORATION}*+(?:{_MASKED}){_CLOSING}\s*+(?:[:.]?\s*$|:|[-–—]+\s)", reason):
        raise _Unclear("names stand in a reason")


def _check_beside(words: str, listed: Collection[str]) -> None:
    """Raise _Unclear if a sentence beside the list may change it."""
    mentioned = set(_mentions(words)) - set(listed)
    if not listed:
        if mentioned:
            raise _Unclear("names stand in a sentence")
        return
    if _OTHERWISE.search(words):
        raise _Unclear("a sentence may change the list")
    if not _is_prose(words):
        raise _Unclear("words stand behind the list")
    if mentioned and (not _ABOUT_ALL.match(words) or _FURTHER.search(words)):
        raise _Unclear("a sentence behind the list names others")


def _mentions(words: str) -> list[str]:
    """Return the known names in a masked text, and the words that look like identifiers."""
    return [word for word in _WORDS.findall(words) if word[0] == _LEFT or _IDENTIFIER.fullmatch(word)]


def _is_prose(words: str) -> bool:
    found = _WORDS.findall(words)
    return found == ["respectively"] or (len(found) > 1 and _has_function_word(found))


def _has_function_word(words: Sequence[str]) -> bool:
    """Return True if a word only occurs in sentences; a single capital letter may be a name."""
    return any(word.lower() in _FUNCTION_WORDS and not (len(word) == 1 and word.isupper()) for word in words)


def is_function_word(item: str) -> bool:
    """Return True for one word that is no name; with a capital letter, it may be one."""
    return item.strip("*_`\"'”’»]}") in _FUNCTION_WORDS - {"none", "nothing"}


@lru_cache(maxsize=16)
def _separators(cuts: str) -> re.Pattern[str]:
    marks = re.escape(cuts.replace("\n", "") + (";" if "\n" in cuts else ""))
    conjunction = r"(?:and(?: then| also)?|then|&|as well as|plus)"
    return re.compile(rf"\s*+(?:[{marks}]\s*+(?:{conjunction}\s++)?|{conjunction}\s++)", re.IGNORECASE)


_NO_NAMES = ("none", "empty", "n/a", "[]", "[ ]")


def quote_start(text: str) -> str:
    """The beginning of a text, quoted, for a message."""
    short = text.strip()
    return repr(short if len(short) <= 60 else short[:57] + "...")


def parse_items(text: str, names: Sequence[str], parsing: Parsing) -> list[str]:
    """Return the names in a text, in its order, as the parsing separates them; strictly, at commas alone.

    Raises:
        UnparseableError: If lenient parsing cannot tell names from the words around them.
    """
    return parse_names(text, names) if parsing == "lenient" else split_strictly(text, names)


def parse_list(text: str, names: Sequence[str], parsing: Parsing) -> list[str]:
    """Return the names that a list holds, in its order; none where it says that there are none.

    Raises:
        UnparseableError: If lenient parsing cannot tell names from the words around them.
    """
    if parsing == "lenient" and states_none(text, names):
        return []
    found = parse_items(text, names, parsing)
    return [] if is_none_answer(text, found, names, parsing) else found


def parse_group_list(text: str, names: Sequence[str], parsing: Parsing) -> list[list[str]]:
    """Return the names of each line that holds some; none where the text says that there are none.

    Raises:
        UnparseableError: If lenient parsing cannot tell names from the words around them.
    """
    if parsing == "lenient" and states_none(text, names):
        return []
    if parsing == "lenient":
        groups = parse_groups(text, names, "," + separator(names).strip(","))
    else:
        groups = [line for line in (split_strictly(line, names) for line in text.split("\n") if line.strip()) if line]
    found = [name for group in groups for name in group]
    return [] if is_none_answer(text, found, names, parsing) else groups


def split_strictly(text: str, names: Sequence[str]) -> list[str]:
    """What stands between commas, without final dots, blanks and backticks; empty items stay, as in the study."""
    known = {squeeze(name): name for name in names} | {name: name for name in names}
    cut = squeeze(text.strip().rstrip(".")).split(",")
    return [] if cut == [""] else [known.get(item, item) for item in cut]


def squeeze(text: str) -> str:
    """The text without blanks and backticks."""
    return text.replace(" ", "").replace("`", "")


def is_none_answer(text: str, found: Sequence[str], names: Sequence[str], parsing: Parsing) -> bool:
    """Whether an answer says that there are none: no item, or a word for nothing alone that is no known name."""
    nothing = _NO_NAMES if parsing == "lenient" else _NO_NAMES[:1]
    words = {text.strip(), *found[:1]} if len(set(found)) == 1 else {text.strip()}
    return not found or any(word.lower() in nothing and word not in names for word in words)


def word_for_none(names: Sequence[str]) -> str:
    """The word that says that there are none: the first that is no name in any case; the empty text, if all are."""
    taken = {name.lower() for name in names}
    return next((word for word in _NO_NAMES if word not in taken), "")


def unknown_name(names: Sequence[str]) -> str:
    """Return a word that is no known name, in any case, nor a part of one."""
    taken = "\n".join(names).lower()
    return next(word for times in count(1) if (word := "Nobody" * times).lower() not in taken)


def needs_lines(names: Sequence[str]) -> bool:
    """Whether names must stand on lines of their own, since one holds a comma."""
    return any("," in name for name in names)


def separator(names: Sequence[str]) -> str:
    """The character between the names of a group: the first that no name holds."""
    return next((mark for mark in ",;|" if not any(mark in name for name in names)), "\t")
