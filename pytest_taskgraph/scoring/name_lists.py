"""Parser for lists of names as models write them: with lead-ins, notes, reasons, conjunctions, and "none".

A name is known, or a plain word. Known names are masked first, so that a name that holds a comma, a bracket, a colon
or an "and" stays whole. Text that is then neither a list nor certainly beside it is unparseable, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count

from ..errors import UnparseableError
from ..trial import Parsing
from .answering_sentences import OTHERWISE
from .extraction import LEFT, MASK, RIGHT, list_names, mask_names, unbox_answer
from .statements import is_empty_sign, is_exclusion

_WORDS = re.compile(rf"{MASK}|\w[\w'’-]*+")
_IDENTIFIER = re.compile(r"(?=[^\W\d])\w*(?:\d|_|[a-z][A-Z])\w*")
_DECORATION = r"[*_`\"'“”‘’«»\[\]{}()$]"
_OPENING = re.compile(rf"(?:[ \t]|{_DECORATION}|[-+•·–—](?=\s)|\d{{1,9}}[.)](?=\s|{MASK}|{_DECORATION}))*+")
_TASK = re.compile(rf"(?:(?:both|the)\s++)?+(?:tasks?\s++)?+(?=[*`\"'“‘]*+(?:{MASK}|[A-Za-z]\w*?\d))", re.IGNORECASE)
_CLOSING = r"[*_`\"'”’»\]}]*+"
_QUALIFIER = rf"(?:(?:[`'\"]*+(?:{MASK}|[^\W\d][\w-]*+)[`'\"]*+\.)(?=[^\s.]))*+"
_ITEM = re.compile(rf"({_QUALIFIER}[*`'\"]*+)({MASK}|[^\W\d]\w*+(?:-\w++)*+){_CLOSING}")
_NOTE = re.compile(r"\s*+\(([^()\n]*+)\)" + _CLOSING)
_END = re.compile(rf"(?:[\s.!,;。]|{_DECORATION})*+$")
_WHY = re.compile(r"\s*+:[*_`]*+|\s++[-–—]++\s")
_SENTENCE = re.compile(rf"{_DECORATION}*+[.!]{_DECORATION}*+\s++")
_SENTENCE_END = re.compile(r"[.!?]\s+(?=\S)")
_LEAD = re.compile(r":[*_]*+(?:\s|$)")
_COPULA = re.compile(rf"(?:\b(?:is|are|be|includes?|namely)|\b[Ii]t['’]s)\s++(?=[*_`\"'“‘«\[{{(]*+(?:{MASK}|[A-Z]\w*))")
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
null just more others etc etcetera
one two three four five six seven eight nine ten several many
"""
_FUNCTION_WORDS = _DISCOURSE | frozenset(_FUNCTION.split())
_NO_NAME = re.compile(r"[:;()\n=→⟶⇒]|[-=]>|[.!?]\s|\s[-–—&+/]+\s|[`'\"]\s+[`'\"]")  # in no name that stands alone
_NEVER_NAMES = _FUNCTION_WORDS - {"none", "nothing"}
_ABOUT_ALL = re.compile(r"\W*(?:these|they|both|all|each|this|it|which|since|because|as|so)\b", re.IGNORECASE)
_DENIES = re.compile(
    r"\W*(?:(?:it|this) )?(?:cannot|can['’]t|no|not|never|(?:does|is)(?: not|n['’]t))\b", re.IGNORECASE
)
_ASIDE = re.compile(
    r"\W*(?:(?:but |and )?not|which|that|whose)\b(?!.*\b(?:but|also|too|plus|only|sure|likewise)\b)", re.IGNORECASE
)
_GOES_ON = re.compile(r"\W{0,9}?(?:\.{3}|…)")
_FURTHER = re.compile(r"\b(?:also|too|plus|as well|besides|includ\w+|likewise|additional\w*|not|only)\b", re.IGNORECASE)
_BESIDE = re.compile(
    r"\s*(?:(?:which|it|this|that|is|are|runs?|comes?|directly|immediately|task|nested|part)\s+)*(?:in|inside|within|of|"
    r"from|under|after|before|follows|following|precedes|preceding|(?:and )?not|unlike)\b"
    r"(?!.*(?:\b(?:and|or|also|plus)\b|[,;/&]))",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"[^\w∅\\]*+(?:(?:there (?:is|are)|(?:the )?answer(?: is)?:?|it is|(?:the|this) workflow has)\b[^\w∅\\]*+)?(?:"
    r"(?:none|nothing|n/a|not (?:a single|one|any)\b|keine?|aucune?|ningun[oa]|nessun[oa]|"
    r"(?:an |the )?empty(?: set| list)?|"
    r"no(?: (?:such|other|further|more|\w+))?? (?:tasks?|names?|links?|groups?|blocks?|pairs?|steps?|data|items?))\b"
    r"|∅|\\(?:emptyset|varnothing)\b)|[\s*_`$]*+(?:\{\s*+\}|\[\s*+\]|\(\s*+\))",
    re.IGNORECASE,
)
_EXCEPTION = re.compile(r"\b(?:but|except|other|besides|apart|unless|if|only|however|though|maybe)\b", re.IGNORECASE)
_GROUP_LABEL = re.compile(r"\b(?:group|pair|set)\b|\d", re.IGNORECASE)
_MOST_LEADS = 4


@dataclass(slots=True)
class _Line:
    """A line of an answer: the names it lists, the text after them, and its kind."""

    names: list[str] = field(default_factory=list)
    tail: str = ""
    explained: bool = False
    led: bool = False  # it begins with words that announce the names, in this line or the next


class _UnclearListError(Exception):
    """A line whose names cannot be separated from the text about them."""


def parse_names(text: str, names: Sequence[str], cuts: str = ",\n") -> list[str]:
    """Return the names that an answer lists, in its order, with repetitions.

    Args:
        text: The answer, extracted from the reply.
        names: The known names. Others are plain words, or unknown names between two cuts.
        cuts: The characters that separate names.

    Raises:
        UnparseableError: If names cannot be separated from the words around them.
    """
    return [name for line in _parse_lists(text, names, cuts, groups=False) for name in line]


def parse_groups(text: str, names: Sequence[str], cuts: str) -> list[list[str]]:
    """Return the names of each line that lists any.

    Raises:
        UnparseableError: If names cannot be separated from the words around them.
    """
    return list(_parse_lists(text, names, cuts, groups=True))


def states_none(text: str, names: Sequence[str]) -> bool:
    """Return True if the answer states by a word, a sign or a sentence that there are no names."""
    words, _ = _mask_known(unbox_answer(text, names), names)
    if (match := _NOTHING.match(words)) is None:
        return False
    rest = words[match.end() :]
    if _END.match(rest):
        return True
    if _EXCEPTION.search(rest) or re.search(rf"(?:[,;:.\n]|^)[ \t]*+(?:{_DECORATION}|[-+•]\s)*+{MASK}", rest):
        return False
    punctuation = re.match(r"[\W_]*+", rest)
    after = rest[punctuation.end() :] if punctuation else rest
    return "," not in (punctuation[0] if punctuation else "") or _CLAUSE.match(after) is not None


def _parse_lists(text: str, names: Sequence[str], cuts: str, groups: bool) -> Iterator[list[str]]:
    text = unbox_answer(text, names)
    plain_lists = [list_names(line, names, cuts) for line in (text.split("\n") if groups else [text])]
    plain_lists = [line_names for line_names in plain_lists if line_names]
    if _is_plain_list(text, plain_lists, names, groups):
        yield from plain_lists
        return
    words, numbered_names = _mask_known(text, names)
    try:
        lines = list(_parse_masked(words, cuts, bare=not any("." in name for name in names), groups=groups))
    except _UnclearListError as problem:
        short = text.strip() if len(text.strip()) <= 60 else text.strip()[:57] + "..."
        raise UnparseableError(f"expected names, found {short!r}: {problem}") from None
    for line in lines:
        yield [_unmask(name, numbered_names) for name in line]


def _is_plain_list(text: str, lines: Sequence[Sequence[str]], names: Sequence[str], groups: bool) -> bool:
    """Return True if all items are known or resemble a name, and no item hides a known name or a sentence."""
    if (
        groups
        and re.search(r"[)\]}]\s*+(?:[,;]\s*+)?[(\[{]", text)
        and not any(re.search(r"[)\]}]", name) for name in names)
    ):
        return False
    known_names = frozenset(names)
    longest = max([3, *(len(name.split()) for name in names if len(name) < 1000)])
    return all(name in known_names or _is_like_a_name(name, names, longest) for line in lines for name in line)


def _is_like_a_name(item: str, names: Sequence[str], longest: int) -> bool:
    if _NO_NAME.search(item) or re.match(r"\d+\s+[a-z]", item):
        return False
    words = _WORDS.findall(item)
    if len(words) > longest or (len(words) > 1 and _has_function_word(words)):
        return False
    if is_function_word(item) or item.lower() in _DISCOURSE:
        return False
    return len(words) < 2 or not _mentioned_names(_mask_known(item, names)[0])


def _mask_known(text: str, names: Sequence[str]) -> tuple[str, list[str]]:
    return mask_names(text, names, LEFT, RIGHT)


def _unmask(item: str, numbered_names: Sequence[str]) -> str:
    return re.sub(MASK, lambda match: numbered_names[int(match[0][1:-1])], item)


def _parse_masked(text: str, cuts: str, bare: bool, groups: bool) -> Iterator[list[str]]:
    """Yield the names of each line of a masked text that lists some.

    Raises:
        _UnclearListError: if a line is not certain.
    """
    seen: set[str] = set()
    explained = closed = False
    for line in filter(_WORDS.search, text.split("\n")):
        for part in _bracketed_groups(line) if groups else [line]:
            line_list = _parse_line_beside(part, cuts, bare, seen)
            if line_list is None:
                _check_beside(part, seen)
                closed = bool(seen) and not explained
                continue
            if line_list.led and seen and not groups:
                raise _UnclearListError("a second list follows")
            if groups and line_list.led and not line_list.names and (seen or _GROUP_LABEL.search(part)):
                raise _UnclearListError("a label stands on a line of its own")
            if not line_list.names:
                continue
            if closed:
                raise _UnclearListError("names stand behind the end of the list")
            seen |= set(line_list.names)
            if line_list.tail:
                _check_beside(line_list.tail, seen)
                closed = True
            explained = explained or line_list.explained
            yield line_list.names
    if not seen:
        raise _UnclearListError("it lists none")


def _parse_line_beside(line: str, cuts: str, bare: bool, seen: Collection[str]) -> _Line | None:
    """Return the list of a line; a sentence after a list may begin with a name."""
    try:
        return _parse_line(line, cuts, bare)
    except _UnclearListError:
        if not seen or re.search(r"\b(?:not|only|or|no)\b", line) or not set(_mentioned_names(line)) <= set(seen):
            raise
        return None


def _bracketed_groups(line: str) -> list[str]:
    """Return the groups in brackets that stand on one line, or the line."""
    parts = re.split(r"(?<=[)\]}])\s*+(?:[,;]|and\b)?\s*+(?=[(\[{])", line)
    return parts if len(parts) > 1 and all(_mentioned_names(part) or "," in part for part in parts) else [line]


def _parse_line(line: str, cuts: str, bare: bool, leads: int = 0) -> _Line | None:
    """Return the list of a line; None if it is a sentence that lists no names."""
    if discourse := _DISCOURSE_WORD.match(line):
        line = line[discourse.end() :]
    if (line_list := _parse_items_of_line(line, cuts, bare)) is not None:
        return line_list
    if leads == _MOST_LEADS:
        raise _UnclearListError("it has too many colons")
    colon = _LEAD.search(line)
    if cut := colon or _COPULA.search(line):
        _check_lead(line[: cut.start()], colon is not None)
        rest = line[cut.end() :]
        line_list = _parse_line(rest, cuts, bare, leads + 1) if _WORDS.search(rest) else _Line()
        if line_list is not None:
            line_list.led = True
        return line_list
    ends = [end.end() for end in _SENTENCE_END.finditer(line)]
    if ends and (line_list := _parse_items_of_line(line[ends[-1] :], cuts, bare)) is not None:
        before = line[: ends[-1]]
        if _mentioned_names(before) or not _is_prose(before):
            raise _UnclearListError("names stand in a sentence")
    return line_list


def _check_lead(lead: str, colon: bool) -> None:
    if _NEGATIVE.match(lead) or _NEGATED.search(lead):
        raise _UnclearListError("the list is negated")
    ends_with_name = colon and re.search(rf"{MASK}{_CLOSING}\s*+(?:\([^()]*+\))?\s*$", lead)
    if ends_with_name or re.search(rf"{MASK}\s*+[,;]", lead):
        raise _UnclearListError("a name stands before a colon")


def _parse_items_of_line(line: str, cuts: str, bare: bool) -> _Line | None:
    """Return the list that a line begins with; None if it begins with other words."""
    separators, line_list, at = _separator_pattern(cuts), _Line(), 0
    while True:
        at = _OPENING.match(line, at).end()  # type: ignore[union-attr]  # the pattern matches the empty text
        at = task.end() if (task := _TASK.match(line, at)) else at
        item = _ITEM.match(line, at)
        if item is None or is_function_word(item[0]):
            return _end_without_item(line, at, line_list)
        end = _past_notes(line, item.end())
        name = item[2] if bare else re.sub(r"[*`'\"]", "", item[1]) + item[2]
        if (separator := separators.match(line, end)) and separator.end() < len(line):
            line_list.names.append(name)
            at = separator.end()
            continue
        return _end_list(line, end, name, line_list)


def _end_without_item(line: str, at: int, line_list: _Line) -> _Line | None:
    """Return the list that ends where no further item stands; None if there is no list."""
    if not line_list.names:
        return None
    if _GOES_ON.match(line, at):
        raise _UnclearListError("the list is not complete")
    if _CLAUSE.match(line, at):
        line_list.tail = line[at:]
    elif not _END.match(line, at):
        raise _UnclearListError("a sentence stands in the list")
    return line_list


def _end_list(line: str, end: int, name: str, line_list: _Line) -> _Line | None:
    """Return the list that ends with this name; None if the line continues and may begin with a lead-in."""
    if _END.match(line, end):
        line_list.names.append(name)
        return line_list
    if why := _WHY.match(line, end):
        if not line_list.names and name.lower() in _LEAD_WORDS:
            return None
        _check_reason(line[why.end() :], name)
        line_list.names.append(name)
        line_list.explained = True
        return line_list
    if sentence := _SENTENCE.match(line, end):
        line_list.names.append(name)
        line_list.tail = line[sentence.end() :]
        return line_list
    if line_list.names or LEFT in name:
        raise _UnclearListError("words follow a name")
    return None


def _past_notes(line: str, end: int) -> int:
    while note := _NOTE.match(line, end):
        beside = _BESIDE.match(note[1]) or _ASIDE.match(note[1])
        if _mentioned_names(note[1]) and not beside and not is_exclusion(note[1], explicit=True):
            raise _UnclearListError("a name stands in brackets behind another")
        end = note.end()
    return end


def _check_reason(reason: str, name: str) -> None:
    """Raise _UnclearListError if the text after the colon may be names rather than a reason."""
    if _DENIES.match(reason):
        raise _UnclearListError("a verdict stands behind a name")
    bare = reason.strip().strip("*_`\"'.")
    first = _ITEM.match(reason, _OPENING.match(reason).end())  # type: ignore[union-attr]  # the pattern matches the empty text
    begins_list = (
        first is not None
        and not is_function_word(first[0])
        and re.match(r"\s*(?:$|[,;:]|and\b)", reason[first.end() :])
    )
    is_known = first is not None and (LEFT in first[2] or not first[2].islower() or "," in bare or name.islower())
    if begins_list and is_known and bare:
        raise _UnclearListError("names stand behind a colon")
    if re.search(rf"[,;]\s*+(?:and\s++)?{_DECORATION}*+(?:{MASK}){_CLOSING}\s*+(?:[:.]?\s*$|:|[-–—]+\s)", reason):
        raise _UnclearListError("names stand in a reason")


def _check_beside(words: str, seen: Collection[str]) -> None:
    """Raise _UnclearListError if a sentence beside the list may change it."""
    if seen:
        words = " ".join(part for part in re.split(r"(?<=[.!?])\s+", words) if not _is_left_out(part))
    mentioned = set(_mentioned_names(words)) - set(seen)
    if not seen:
        if mentioned:
            raise _UnclearListError("names stand in a sentence")
        return
    if OTHERWISE.search(words):
        raise _UnclearListError("a sentence may change the list")
    if words and not _is_prose(words):
        raise _UnclearListError("words stand behind the list")
    if mentioned and (not _ABOUT_ALL.match(words) or _FURTHER.search(words)):
        raise _UnclearListError("a sentence behind the list names others")


def _is_left_out(sentence: str) -> bool:
    return is_exclusion(sentence, explicit=True) and OTHERWISE.search(sentence) is None


def _mentioned_names(words: str) -> list[str]:
    """Return the known names in a masked text, and the words that look like identifiers."""
    return [word for word in _WORDS.findall(words) if word[0] == LEFT or _IDENTIFIER.fullmatch(word)]


def _is_prose(words: str) -> bool:
    word_list = _WORDS.findall(words)
    return word_list == ["respectively"] or (len(word_list) > 1 and _has_function_word(word_list))


def _has_function_word(words: Sequence[str]) -> bool:
    """Return True if a word only occurs in sentences; a single capital letter may be a name."""
    return any(word.lower() in _FUNCTION_WORDS and not (len(word) == 1 and word.isupper()) for word in words)


def is_function_word(item: str) -> bool:
    """Return True for a single word that is no name; with a capital letter, it may be a name."""
    return item.strip("*_`\"'”’»]}") in _NEVER_NAMES


@lru_cache(maxsize=16)
def _separator_pattern(cuts: str) -> re.Pattern[str]:
    marks = re.escape(cuts.replace("\n", "") + (";" if "\n" in cuts else ""))
    conjunction = r"(?:and(?: then| also| finally| lastly| last)?|then|finally|lastly|&|as well as|plus)"
    return re.compile(rf"\s*+(?:[{marks}]\s*+(?:{conjunction}\s++)?|{conjunction}\s++)", re.IGNORECASE)


_NO_NAMES = ("none", "empty", "n/a", "[]", "[ ]")


def quote_start(text: str) -> str:
    """Return the beginning of a text, quoted, for a message."""
    short = text.strip()
    return repr(short if len(short) <= 60 else short[:57] + "...")


def parse_items(text: str, names: Sequence[str], parsing: Parsing) -> list[str]:
    """Return the names in a text, in its order, as the parsing separates them; strictly, at commas only.

    Raises:
        UnparseableError: If lenient parsing cannot separate names from the words around them.
    """
    return parse_names(text, names) if parsing == "lenient" else split_strictly(text, names)


def parse_list(text: str, names: Sequence[str], parsing: Parsing) -> list[str]:
    """Return the names that a list holds, in its order; none if it states that there are none.

    Raises:
        UnparseableError: If lenient parsing cannot separate names from the words around them.
    """
    if parsing == "lenient" and (text.strip() == word_for_none(names) or states_none(text, names)):
        return []
    listed_names = parse_items(text, names, parsing)
    return [] if _is_none(text, listed_names, names, parsing) else listed_names


def parse_group_list(text: str, names: Sequence[str], parsing: Parsing) -> list[list[str]]:
    """Return the names of each line that holds some; none if the text states that there are none.

    Raises:
        UnparseableError: If lenient parsing cannot separate names from the words around them.
    """
    if parsing == "lenient" and (text.strip() == word_for_none(names) or states_none(text, names)):
        return []
    if parsing == "lenient":
        groups = parse_groups(text, names, "," + separator(names).strip(","))
    else:
        groups = [line for line in (split_strictly(line, names) for line in text.split("\n") if line.strip()) if line]
    listed_names = [name for group in groups for name in group]
    return [] if _is_none(text, listed_names, names, parsing) else groups


def _is_none(text: str, listed_names: Sequence[str], names: Sequence[str], parsing: Parsing) -> bool:
    """Return True if an answer states that there are none.

    Raises:
        UnparseableError: If it lists none, and does not state it.
    """
    stated = is_none_answer(text, listed_names, names, parsing)
    if not stated and not listed_names:
        raise UnparseableError(f"expected names, found {quote_start(text)}")
    return stated


def split_strictly(text: str, names: Sequence[str]) -> list[str]:
    """Return the texts between commas, without final dots, blanks and backticks.

    Empty items stay, as in the code of Töpfer et al. (2025).
    """
    names_by_text = {squeeze(name): name for name in names} | {name: name for name in names}
    cut = squeeze(text.strip().rstrip(".")).split(",")
    return [] if cut == [""] else [names_by_text.get(item, item) for item in cut]


def squeeze(text: str) -> str:
    """Return the text without blanks and backticks."""
    return text.replace(" ", "").replace("`", "")


def is_none_answer(text: str, answer_names: Sequence[str], names: Sequence[str], parsing: Parsing) -> bool:
    """Return True if an answer states that there are none: no item, or only a word for it that is no known name."""
    nothing = _NO_NAMES if parsing == "lenient" else _NO_NAMES[:1]
    words = {text.strip(), *answer_names[:1]} if len(set(answer_names)) == 1 else {text.strip()}
    if not answer_names:
        return parsing == "strict" or is_empty_sign(text)
    return any(word.lower() in nothing and word not in names for word in words)


def word_for_none(names: Sequence[str]) -> str:
    """Return the first word for "there are none" that is no name in any case; the empty text if all are names."""
    taken = {name.lower() for name in names}
    return next((word for word in _NO_NAMES if word not in taken), "")


def unknown_name(names: Sequence[str]) -> str:
    """Return a word that is no known name, in any case, nor a part of a known name."""
    taken = "\n".join(names).lower()
    return next(word for times in count(1) if (word := "Nobody" * times).lower() not in taken)


def needs_lines(names: Sequence[str]) -> bool:
    """Return True if names must stand on lines of their own because one of them holds a comma."""
    return any("," in name for name in names)


def separator(names: Sequence[str]) -> str:
    """Return the character between the names of a group: the first that no name holds."""
    return next((mark for mark in ",;|" if not any(mark in name for name in names)), "\t")
