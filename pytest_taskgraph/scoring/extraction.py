"""Extraction of the answer from a reply, and of names and verdicts from an answer.

The rules are in docs/explanation/questions.md. Both steps are linear in the length of the text, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ..errors import UnparseableError
from ..trial import Parsing, Place

_STRICT_MARKER = "Final answer:"
_MARKER = re.compile(r"final[ \t]++answer(?:[^\w:]|_)*+:(?:[*_]++(?=\s|\Z))?", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*+(?:`{3,}+|~{3,}+)[\w+.-]*+[ \t]*+$", re.MULTILINE)
_OPENING = re.compile(r"[\s*`\"'“”‘’«»\[{]|[-+•·–—]|\(?\d{1,9}[.)]")  # blanks, decoration, bullets, numbers
_ITEM = re.compile(r"[ \t]*+(?:[-*+•·–—][ \t]|\(?\d{1,9}[.)][ \t])")  # the bullet or number of an item
_CLOSING = " \t\r\f\v\xa0*`\"'“”‘’«».]}"
_NO_PATH = re.compile(r"\b(?:and|or|then|plus|but|not|is|are)\b|[&:;→+/(]|[-=]>")  # not in a qualified name
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_IN_LATEX = re.compile(
    r"\\(?:text|textbf|texttt|mathrm|mathbf|mathtt)\s*\{([^{}]*+)\}|\\[()\[\],;! ]|\$|\\(?=[_{}&%#])"
)
_MOST_BOXES = 64
_MOST_OPENINGS = 64  # keeps the search for names linear

_Tree = dict[str, Any]  # character -> subtree; "" -> the name that ends here


class _Segment(NamedTuple):
    """The text between two cuts: [start, stop), of which [core, stop) is closing decoration."""

    start: int
    core: int
    least: int  # earliest end of a known name; a name of decoration alone must reach the end
    stop: int


def has_marker(reply: str, parsing: Parsing) -> bool:
    """Return True if the reply holds the marker before the final answer, as this parsing defines it."""
    return _STRICT_MARKER in reply if parsing == "strict" else _MARKER.search(reply) is not None


def answer_text(reply: str, place: Place, parsing: Parsing, lines: bool = False) -> str:
    """Return the part of the reply that is the answer, still with its decoration.

    - "marker", lenient: the text after the last `Final answer:` (any case, any decoration), else the last non-empty
      line; with `lines`, if that is an item of a list, all items at the end.
    - "marker", strict: the text after the first `Final answer:` without leading `*`; empty without a marker, as
      in the code of Töpfer et al. (2025).
    - "whole": the reply.
    - "first-line": its first non-empty line; with `lines`, all lines up to the next empty one.

    Lenient parsing drops lines that only open or close a code fence.

    Args:
        reply: The text of the reply.
        place: The place of the answer.
        parsing: The kind of parsing.
        lines: True if the answers of the form may take several lines.

    Raises:
        UnparseableError: if a reply that must hold text holds none; no other error is raised.
    """
    if place == "marker" and parsing == "strict":
        return reply.partition(_STRICT_MARKER)[2].lstrip("*")
    text = reply if parsing == "strict" else _FENCE.sub("", reply.replace("\r\n", "\n").replace("\r", "\n"))
    if place == "marker" and (after := _after_last_marker(text)) is not None:
        return after
    filled = [line for line in text.split("\n") if line.strip()]
    if not filled:
        raise UnparseableError("the reply is empty, expected an answer")
    if place == "whole":
        return text
    if place == "marker":
        return "\n".join(_last_list(filled)) if lines else filled[-1]
    return "\n".join(_first_paragraph(text)) if lines else filled[0]


def _after_last_marker(text: str) -> str | None:
    ends = [marker_match.end() for marker_match in _MARKER.finditer(text)]
    return text[ends[-1] :] if ends else None


def _last_list(lines: Sequence[str]) -> Sequence[str]:
    """Return the items of the list at the end of the lines, else only the last line."""
    start = len(lines)
    while start and _ITEM.match(lines[start - 1]):
        start -= 1
    return lines[min(start, len(lines) - 1) :]


def _first_paragraph(text: str) -> Iterator[str]:
    started = False
    for line in text.split("\n"):
        if line.strip():
            started = True
            yield line
        elif started:
            return


def list_names(text: str, names: Sequence[str], cuts: str = ",\n") -> list[str]:
    """Return the names that an answer lists, in its order, with repetitions, unknown names without decoration.

    Known names are recognized before the text is cut at the characters of `cuts`, the longest first, so they may hold
    commas, dots, quotes or a bullet. Other text is cut; bullets, numbers, `*`, backticks, quotes, brackets and final
    dots are removed. Everything before its last dot is removed too, unless a known name holds a dot.
    """
    segments = _split_segments(text, cuts)
    tree = _name_tree(tuple(names))
    bare = not any("." in name for name in names)
    answer_names, index = [], 0
    while index < len(segments):
        starts = _name_starts(text, segments[index], bare)
        name = _known_name_at(text, starts, segments, index, tree, cuts)
        index += 1 if name is None else 1 + _count_cuts(name, cuts)
        answer_names.append(text[starts[-1] : segments[index - 1].core].strip() if name is None else name)
    return [name for name in answer_names if name]


def _split_segments(text: str, cuts: str) -> list[_Segment]:
    ends = [cut.start() for cut in _cut_pattern(cuts).finditer(text)] + [len(text)]
    starts = [0] + [end + 1 for end in ends[:-1]]
    return [_make_segment(text, start, end) for start, end in zip(starts, ends, strict=True)]


@lru_cache(maxsize=16)
def _cut_pattern(cuts: str) -> re.Pattern[str]:
    return re.compile(f"[{re.escape(cuts)}]")


def _make_segment(text: str, start: int, stop: int) -> _Segment:
    filled = text[start:stop].rstrip()
    core = start + len(filled.rstrip(_CLOSING))
    return _Segment(start, core, core if core > start else start + len(filled), stop)


@lru_cache(maxsize=64)
def _name_tree(names: tuple[str, ...]) -> _Tree:
    root: _Tree = {}
    for name in names:
        node = root
        for character in name:
            node = node.setdefault(character, {})
        node[""] = name
    return root


def _name_starts(text: str, segment: _Segment, bare: bool) -> list[int]:
    """Return the positions where a name may begin: around each piece of decoration, and after the last dot."""
    starts = _positions_past_openings(text, segment.start, segment.stop)
    dot = text.rfind(".", segment.start, segment.core) if bare else -1
    path = dot >= 0 and not text[dot + 1].isspace() and not _NO_PATH.search(text, segment.start, dot)
    return starts if not path else starts + _positions_past_openings(text, dot + 1, segment.stop)


def _positions_past_openings(text: str, start: int, stop: int) -> list[int]:
    starts = [start]
    while len(starts) <= _MOST_OPENINGS and (opening := _OPENING.match(text, starts[-1], stop)):
        starts.append(opening.end())
    return starts


def _known_name_at(
    text: str, starts: Sequence[int], segments: Sequence[_Segment], index: int, tree: _Tree, cuts: str
) -> str | None:
    """Return the longest known name at the first start after which only decoration precedes a cut."""
    for start in starts:
        for name in reversed(list(_names_beginning_at(text, start, tree))):
            if start + len(name) >= segments[index + _count_cuts(name, cuts)].least:
                return name
    return None


def _names_beginning_at(text: str, start: int, tree: _Tree) -> Iterator[str]:
    """Yield the known names at the start of the text, the shortest first."""
    for position in range(start, len(text)):
        if text[position] not in tree:
            return
        tree = tree[text[position]]
        if "" in tree:
            yield tree[""]


def _count_cuts(name: str, cuts: str) -> int:
    return sum(name.count(cut) for cut in cuts)


def mask_names(text: str, names: Sequence[str], left: str, right: str) -> tuple[str, list[str]]:
    """Replace each known name that is not part of a longer word by its number between two marks.

    If several names begin at the same position, the longest is replaced. Marks in the text itself are removed.

    Returns:
        The text, and the names by their numbers.
    """
    marks = str.maketrans("", "", left + right)
    if not any(name in text for name in names):  # the search below looks at each character
        return text.translate(marks), []
    tree, numbers = _name_tree(tuple(names)), dict[str, int]()
    parts, position, copied_to = list[str](), 0, 0
    while position < len(text):
        name = _whole_name(text, position, tree) if text[position] in tree else None
        if name is None:
            position += 1
            continue
        parts += [text[copied_to:position].translate(marks), f"{left}{numbers.setdefault(name, len(numbers))}{right}"]
        position = copied_to = position + len(name)
    return "".join([*parts, text[copied_to:].translate(marks)]), list(numbers)


def _whole_name(text: str, start: int, tree: _Tree) -> str | None:
    for name in reversed(list(_names_beginning_at(text, start, tree))):
        end = start + len(name)
        opens = not start or not (text[start - 1].isalnum() and name[0].isalnum())
        if opens and (end == len(text) or not (text[end].isalnum() and name[-1].isalnum())):
            return name
    return None


def unbox_answer(text: str, names: Sequence[str]) -> str:
    r"""Return the content of the only `\boxed{...}` of an answer, or of several at their places, without LaTeX.

    The text is returned unchanged if it holds no box, or if a known name holds a backslash or a dollar sign.
    """
    if not _BOX.search(text) or any("\\" in name or "$" in name for name in names):
        return text
    boxes = [
        (box.start(), *_box_span(text, box.end()))
        for box, _ in zip(_BOX.finditer(text), range(_MOST_BOXES), strict=False)
    ]
    if any(end < 0 for _, _, end in boxes):
        return text
    inside = {text[start:end] for _, start, end in boxes}
    if len(inside) == 1:
        return _IN_LATEX.sub(r"\1", inside.pop())
    parts, copied_to = [], 0
    for box_start, start, end in boxes:
        parts += [text[copied_to:box_start], text[start:end]]
        copied_to = end + 1
    return _IN_LATEX.sub(r"\1", "".join([*parts, text[copied_to:]]))


def _box_span(text: str, start: int) -> tuple[int, int]:
    """Return the start and the end of the content of a box; the end is -1 if the box is not closed."""
    depth = 1
    for brace in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return start, brace.start()
    return start, -1


_WORD = re.compile(r"\b_*+(yes|no)_*\b", re.IGNORECASE)
_CHOICE = re.compile(r"\byes\W{0,4}(?:/|\bor\b|\|)\W{0,4}no\b|\bno\W{0,4}(?:/|\bor\b|\|)\W{0,4}yes\b", re.IGNORECASE)
_BOTH = re.compile(r"\b(?:yes\W{1,4}and\W{1,4}no|no\W{1,4}and\W{1,4}yes)\b", re.IGNORECASE)
_SUBJECT = re.compile(
    r"[\s*_`]*+(?:$|[^\w\s*_`]|\n|(?:it|its|they|there|this|that|these|the|because|since|as|for|in|if|and|but|not|we|i|a|an"
    r"|every|all|each|you)\b)",
    re.IGNORECASE,
)
_ALONE_BEFORE = re.compile(r"(?:^|[^\w\s*_`\"'“‘({$]|\n)[\s*_`\"'“‘({$]*$")
_ALONE_AFTER = re.compile(r"[*_`\"'”’)}$]*+\s*+(?:$|[.,:;!\n–—-])")
_NEGATED = re.compile(r"\bnot(?: an?)?[\s*_`\"'“‘]*$", re.IGNORECASE)
_NEAR = 40  # characters of context before a word


def find_verdict(text: str, reason: bool = False) -> re.Match[str] | None:
    """Return the match of the word that is the verdict, its group 1.

    A "no" before a noun ("no doubt", "no task") is not a verdict, nor is the choice "yes or no". The first verdict
    counts. It is contradicted if the opposite word stands alone between punctuation after it. None without a verdict,
    or if it is contradicted.

    Args:
        text: The answer.
        reason: True if a reason follows, in which the other word may stand.
    """
    if _BOTH.search(text):
        return None
    text = _CHOICE.sub(lambda choice: " " * len(choice[0]), text)
    verdicts = [word for word in _WORD.finditer(text) if word[1].lower() == "yes" or _SUBJECT.match(text, word.end())]
    if not verdicts or _NEGATED.search(text[max(0, verdicts[0].start() - _NEAR) : verdicts[0].start()]):
        return None
    first = verdicts[0]
    others = [word for word in verdicts if not reason and word[1].lower() != first[1].lower()]
    return None if any(_stands_alone(text, word) for word in others) else first


def _stands_alone(text: str, word: re.Match[str]) -> bool:
    before = text[max(0, word.start() - _NEAR) : word.start()]
    return bool(_ALONE_BEFORE.search(before) and _ALONE_AFTER.match(text, word.end()))
