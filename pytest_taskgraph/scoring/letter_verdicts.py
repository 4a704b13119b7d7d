"""Parser for the letter of the option that a reply decides on, among the sentences in which models answer.

Letters, and the texts of the options, become marks first; offers ("A or B") and rejected options ("not A", "A is
wrong") are removed. The first of these that is present decides: a final answer; the letters stated as the answer, or
else suggested, with corrections and the letter at the beginning or end; the only letter that is mentioned, at
the end of a short clause. A contradictory reply has no letter.
Every pattern is linear in the text, of which no more than LONGEST characters are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

LONGEST: Final = 20_000  # half of them at the beginning of the reply, half at its end
_LONGEST_OPTION = 1_000
_MOST_LETTERS = 200
_NEAR = 30  # characters of context around a letter

_LETTERS, _TEXTS, _CONFLICT = 0xE100, 0xE200, "\ue0ff"  # marks: one of these plus the place of the letter
_LETTER, _TEXT, _MARK = "([\ue100-\ue1ff])", "([\ue200-\ue2ff])", "([\ue0ff-\ue2ff])"

# Removed from a text before it is parsed
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_TAG = re.compile(r"</?[A-Za-z]\w{0,20}/?>")
_EMPHASIS = re.compile(r"[*`$\"“”„«»]++|(?<!\w)_++|(?<!_)_++(?![^\W_])|(?<!\w)'|'(?!\w)")
_BULLET = re.compile(r"^ ?(?:[-+•·–—>#]{1,6}+ )++", re.MULTILINE)
_EMPTY_LINES = re.compile(r"\n{3,}+")

# Single letters that stand for an option: neither the article nor the pronoun
_ALONE = re.compile(r" ?(?:$|[^\w '&+%])")
_INTRODUCED = re.compile(
    r"\b(?:option|choice|letter|candidate|alternative|answer|pick|choose|select)s?(?:\sis)?[\s:=#(\[{-]*$",
    re.IGNORECASE,
)
_IN_SENTENCE = re.compile(r"[\w,;]\s$")
_PREDICATE = re.compile(
    r" (?:[&+\ue200-\ue2ff]|[A-Z](?![\w'])|first(?=[,.;])|(?:is|isn't|was|would|wouldn't|should|shouldn't|must|can"
    r"|can't|cannot|could|couldn't|may|might|will|won't|does|doesn't|has|needs|requires|because|since|as|and|or|but|then"
    r"|before|after|over|rather|instead|precedes|leads|happens|seems|looks|appears|comes|makes|fits|follows|describes|assumes"
    r"|involves|contradicts|skips|depends|represents|presupposes|sounds)\b)"
)

# A letter beside the text of its option
_SEPARATOR = r"\s*+[.:)\]}=–—-]{0,3}+\s*+"
_LETTER_TEXT = re.compile(rf"[(\[{{]?{_LETTER}{_SEPARATOR}[(\[{{]?{_TEXT}[)\]}}]?")
_TEXT_LETTER = re.compile(rf"{_TEXT}\s*+[(\[{{]\s*+(?:option\s|choice\s)?+{_LETTER}\s*+[)\]}}]", re.IGNORECASE)
_BRACKETED = re.compile(rf"[(\[{{]\s?{_MARK}\s?[)\]}}]")
_ITEM_ENDS = re.compile(r" ?(?:$|[.,;!?\n])")

_NOUN = r"(?:the\s)?+(?:(?:option|choice|letter|candidate|alternative|answer|step|number)s?[\s:#]{1,3}+)?+(?:to\s)?+"
_NOUN_MARK = _NOUN + _MARK
_ENDS = (
    r"(?= ?(?:$|[.:;)!(\n–—-]|,(?! ?(?:which|though|although|if|while|however|but)\b)|(?:because|since|as)\b))(?!\.\.)"
)
_OFFER = re.compile(
    rf"{_MARK}(?:\.?\s*+(?:/|\||&|,?\s*+\b(?:or|and|nor|vs\.?|versus)\b)\s*+{_NOUN_MARK})++|{_MARK}(?:\s*+,\s*+{_MARK})++{_ENDS}",
    re.IGNORECASE,
)
_RULED_OUT = re.compile(
    r"(?:\b(?:not|never|cannot|nor|neither|than|over|except|instead\sof|rul(?:e|es|ing)\sout|eliminat\w{1,3}|exclud\w{1,3}"
    r"|discard\w{0,3}|reject\w{0,3}|doubt|unlikely|anything\sbut|(?:wrong|incorrect|worse)\s(?:answer|option|choice|one|step))"
    r"|n't)\s(?:(?:to|be|yet|say|think|believe|choose|pick|select|that|it|it's|is|go|with|for|of|as|so|simply|necessarily"
    r"|better|right|correct)\s){0,4}+" + _NOUN_MARK,
    re.IGNORECASE,
)
_WRONG = re.compile(
    rf"{_MARK}\s(?:(?:is|was|would|should|could|can|will|must|does|do|did|has|have|be|may|might|seems?|looks?|comes?"
    r"|appears?|just|simply|clearly|also|to)\s){0,4}+(?:\w{0,7}n't|not|cannot|never|too\s\w|wrong|incorrect|premature"
    r"|impossible|invalid|unlikely|inappropriate|unreasonable|illogical|out\b|the\sdistractor)"
    rf"|{_MARK} ?[.:()–—-]{{0,2}}+ ?(?:no ?(?:[.,:;!\n]|$)|not\s(?:yet|it|right|correct|possible|reasonable)\b|wrong"
    r"|incorrect|false|too\s|✗|✘|❌)",
    re.IGNORECASE,
)

_IS = (
    r"(?:\s*+[:=→>–—-]{1,3}+\s*+|(?:\s(?:is|would|should|must|has|will|to|be|remains|here|then|now|therefore|clearly"
    r"|definitely|simply|most|likely|probably|indeed|still)){1,6}+[:\s,]{1,3}+)(?:it(?:'s|\sis)\s)?+"
)
_FINAL = re.compile(rf"\bfinal\s(?:answer|choice|decision|selection){_IS}{_NOUN_MARK}", re.IGNORECASE)
_STATED = re.compile(
    r"(?<!other )(?<!wrong )(?<!incorrect )\b(?:answer|solution|verdict|conclusion|decision|selection|choice|pick"
    r"|response|correct|(?:correct|right|best|better|my|chosen|selected|logical|appropriate|reasonable|likely|next)\s"
    rf"(?:option|letter|one|candidate|alternative)|^(?:option|letter|choice)){_IS}{_NOUN_MARK}",
    re.IGNORECASE | re.MULTILINE,
)
_ADVERBS = r"(?:(?:now|then|next|also|therefore|definitely|clearly|rather|probably)\s){0,3}+"
_SUGGESTED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:I|we)(?:'d|'ll|\swould|\swill|\smust|\shave\sto|\sshould|'m|\sam)?+\s{_ADVERBS}(?:say|answer|guess"
        r"|think|believe|prefer|recommend|suggest|chose|picked|selected)\s(?:that\s)?+(?:it(?:'s|\sis|\sshould\sbe"
        rf"|\smust\sbe)\s)?+{_NOUN_MARK}",
        r"(?<!if you )(?<!if we )(?<!if I )\b(?:choose|choosing|select|selecting|pick|picking|go(?:ing)?\swith"
        rf"|go(?:ing)?\sfor|opt(?:ing)?\sfor|vote\sfor)\s{_NOUN_MARK}",
        rf"{_MARK}\s(?:is|would\sbe|should\sbe|must\sbe|has\sto\sbe|will\sbe|seems(?:\sto\sbe)?|looks|appears(?:\sto\sbe)?"
        r"|makes|fits|comes|should\scome|must\scome|would\scome|should\sfollow)\s(?:(?:the|clearly|likely|probably"
        r"|definitely|obviously|therefore|then|more|most|much|only|step|one|that|to|come)\s){0,4}(?:correct|right|best"
        r"|better|next|first|proper|logical|reasonable\snext|natural\snext|answer|sense|preferable|plausible|likely|what\s(?:I|comes)"
        r"|(?<=(?:most|more) )(?:reasonable|natural|sensible|suitable|appropriate))\b",
        rf"{_MARK} ?[.:()–—-]{{0,2}}+ ?(?:yes\b|correct|right\b|true|✓|✔|✅)",
        r"\b(?:so|therefore|thus|hence|consequently|overall|ultimately|accordingly|conclusion)[\s,:]{1,3}+"
        rf"(?:it(?:'s|\sis|\smust\sbe|\sshould\sbe|\shas\sto\sbe)\s)?+{_NOUN_MARK}{_ENDS}",
        rf"\bit(?:'s|\sis|\smust\sbe|\sshould\sbe|\shas\sto\sbe|\swould\sbe)\s{_ADVERBS}{_NOUN_MARK}{_ENDS}",
        rf"\bnext(?:\s(?:step|task|one|action))?+{_IS}{_NOUN_MARK}",
        rf"(?:\b(?:you|we|I|one)\s(?:should|would|must|can|need\sto|have\sto)\s|\bnext,?\s){_ADVERBS}{_TEXT}",
    )
)
_CORRECTED = re.compile(
    rf"\b(?:no|wait|actually|correction|rather|oops)[\s,:.…–—-]{{1,5}}+(?:(?:actually|it's|it\sis)[\s,]{{1,2}}+){{0,2}}+{_NOUN_MARK}"
    rf"{_ENDS}",
    re.IGNORECASE,
)
_BEGINS = re.compile(rf"\s?(?:{_NOUN_MARK}{_ENDS})", re.IGNORECASE)
_WHOLE_LINE = re.compile(rf"\s?{_NOUN_MARK}[\s.!?)]*+$", re.IGNORECASE)
_LISTS = re.compile(rf"\s?{_NOUN}{_MARK}\s*+(?:$|[.:)–—-])", re.IGNORECASE)
_ENDS_CLAUSE = re.compile(
    rf"(?:^|[.!?:;,\n])[^.!?:;,\n…\ue0ff-\ue2ff]{{0,25}}{_LETTER}(?= ?(?:$|[.!\n]|(?:rather |instead )?…))"
)
_SENTENCE = re.compile(rf"(?:^|[.!?:\n]\s*+){_TEXT}(?= ?(?:$|[.!?\n]))")


def find_letters(text: str, letters: Sequence[str], options: Sequence[tuple[str, str]]) -> list[str]:
    """Return the letters that a reply decides on: exactly one, or none or several if the reply is not clear.

    Args:
        text: The answer.
        letters: The letters of the options, each of one character.
        options: Text and letter of each option that is known.
    """
    letters = list(dict.fromkeys(letters))[:_MOST_LETTERS]
    half = LONGEST // 2
    shortened = text if len(text) <= LONGEST else f"{text[:half]}\n{text[-half:]}"
    marked_text = _mark_letters(_mark_texts(_strip_decoration(shortened), letters, options), letters)
    marks = _decided_marks(_join_marks(marked_text))
    return [*letters[:2]] if _CONFLICT in marks else [letters[place] for place in sorted(_letter_places(marks))]


def _strip_decoration(text: str) -> str:
    """Return a text without emphasis, quotes, tags and bullets, with single blanks and at most one empty line."""
    bare = _TAG.sub(" ", _PRIVATE.sub("", text.replace("’", "'").replace("‘", "'")))
    bare = _EMPHASIS.sub("", bare)
    bare = _BULLET.sub("", "\n".join(" ".join(line.split()) for line in bare.split("\n")))
    return _EMPTY_LINES.sub("\n\n", bare)


def _mark_texts(text: str, letters: Sequence[str], options: Sequence[tuple[str, str]]) -> str:
    """Return the text with a mark for each text of an option; a text that two options share gets none."""
    marks: dict[str, set[str]] = {}
    for option, letter in options:
        bare = _strip_decoration(option[:_LONGEST_OPTION]).rstrip(" .,;:!?")
        if letter in letters and bare and bare.upper() not in letters and bare not in letters:
            marks.setdefault(_fold(bare), set()).add(chr(_TEXTS + letters.index(letter)))
    own = {option: mark for option, (mark, *others) in ((key, [*value]) for key, value in marks.items()) if not others}
    if not own:
        return text
    longest_first = sorted(own, key=lambda option: (-len(option), option))
    alternatives = "|".join(re.escape(option).replace(r"\ ", r"\s") for option in longest_first)
    return re.sub(
        rf"(?<!\w)(?:{alternatives})(?!\w)", lambda match: own.get(_fold(match[0]), match[0]), text, flags=re.IGNORECASE
    )


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


def _mark_letters(text: str, letters: Sequence[str]) -> str:
    """Return the text with a mark for each letter that stands for an option."""
    places = {letter: place for place, letter in enumerate(letters)}
    for letter, place in [*places.items()]:
        places.setdefault(letter.swapcase(), place)
    single = re.escape("".join(place for place in places if len(place) == 1))
    if not single:
        return text
    return re.sub(
        rf"(?<![\w'])(?<!\w-)[{single}](?![\w'])(?!-\w)",
        lambda match: chr(_LETTERS + places[match[0]]) if _is_mention(match, letters) else match[0],
        text,
    )


def _is_mention(match: re.Match[str], letters: Sequence[str]) -> bool:
    """Return True if a letter that stands alone names an option, and is no article or pronoun."""
    text, letter = match.string, match[0]
    before, after = text[max(0, match.start() - _NEAR) : match.start()], text[match.end() : match.end() + _NEAR]
    alone, introduced = _ALONE.match(after) is not None, _INTRODUCED.search(before) is not None
    if letter not in letters or letter == "I":
        line_before = before.rpartition("\n")[2]
        begins_line = not line_before.strip() and ("\n" in before or match.start() <= _NEAR)
        return alone and (introduced or begins_line or before[-1:] in ("(", "[", "{"))
    if letter != "A" or alone or introduced or _IN_SENTENCE.search(before):
        return True
    return _PREDICATE.match(after) is not None


def _join_marks(marked_text: str) -> str:
    """Return the text with one mark for a letter beside the text of its option, a conflict for another option's."""

    def join(match: re.Match[str]) -> str:
        letter_place, text_place = (ord(mark) & 0xFF for mark in match.groups())
        if letter_place == text_place:
            return chr(_LETTERS + letter_place) + ". "
        return _CONFLICT + ". " if _ITEM_ENDS.match(match.string, match.end()) else match[0]

    for pattern in (_LETTER_TEXT, _TEXT_LETTER):
        marked_text = pattern.sub(join, marked_text)
    return _BRACKETED.sub(r"\1", marked_text)


def _decided_marks(marked_text: str) -> set[str]:
    """Return the marks that a reply decides on."""
    for pattern in (_OFFER, _RULED_OUT, _WRONG):
        marked_text = pattern.sub("…,", marked_text)
    if final := [*_find_marks(_FINAL, marked_text)]:
        return {final[-1]}
    decided = {*_find_marks(_STATED, marked_text)} or {
        mark for pattern in _SUGGESTED for mark in _find_marks(pattern, marked_text)
    }
    decided |= {*_find_marks(_CORRECTED, marked_text)}
    return decided | _marks_at_ends(marked_text) or _only_mention(marked_text)


def _find_marks(pattern: re.Pattern[str], marked_text: str) -> Iterator[str]:
    for match in pattern.finditer(marked_text):
        yield next(group for group in match.groups() if group)


def _marks_at_ends(marked_text: str) -> set[str]:
    """Return the marks at the beginning of the first line and on the last line, without lists of the options."""
    lines = _without_option_lists([line for line in marked_text.split("\n") if line.strip()])
    first, last = (_BEGINS.match(lines[0]), _WHOLE_LINE.match(lines[-1])) if lines else (None, None)
    return {match[1] for match in (first, last) if match}


def _without_option_lists(lines: Sequence[str]) -> list[str]:
    """Return the lines without those that list several different options below each other."""
    remaining: list[str] = []
    option_lines: list[tuple[int, str]] = []
    for line in [*lines, ""]:
        match = _LISTS.match(line)
        place = ord(match[1]) & 0xFF if match else -1
        if option_lines and (match is None or place in {earlier_place for earlier_place, _ in option_lines}):
            remaining += [option_line for _, option_line in option_lines] if len(option_lines) == 1 else []
            option_lines = []
        if match:
            option_lines.append((place, line))
        elif line:
            remaining.append(line)
    return remaining


def _only_mention(marked_text: str) -> set[str]:
    """Return the only letter that is mentioned, if it ends a short clause, and sentences that are an option's text."""
    letters = {*re.findall(_LETTER, marked_text)}
    sentences = {*_find_marks(_SENTENCE, marked_text)}
    return (letters if len(letters) != 1 or _ENDS_CLAUSE.search(marked_text) else set()) | sentences


def _letter_places(marks: set[str]) -> set[int]:
    return {ord(mark) & 0xFF for mark in marks}
