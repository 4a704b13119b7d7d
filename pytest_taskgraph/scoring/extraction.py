"""Extraction of names from an answer. Linear in the length of the text, whatever it holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

_OPENING = re.compile(r"[\s*`\"'“”‘’«»\[{]|[-+•·–—]|\(?\d{1,9}[.)]")  # blanks, decoration, bullets, numbers
_CLOSING = " \t\r\f\v\xa0*`\"'“”‘’«».。]}"
_NO_PATH = re.compile(r"\b(?:and|or|then|plus|but|not|is|are)\b|[&:;→+/(]|[-=]>")  # not in a qualified name
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_IN_LATEX = re.compile(
    r"\\(?:text|textbf|texttt|mathrm|mathbf|mathtt)\s*\{([^{}]*+)\}|\\[()\[\],;! ]|\$|\\(?=[_{}&%#])"
)
LEFT, RIGHT = "\ue000", "\ue001"  # around the number that masks a known name
MASK = rf"{LEFT}\d++{RIGHT}"
_MOST_BOXES = 64
_MOST_OPENINGS = 64  # keeps the search for names linear

_Tree = dict[str, Any]  # character -> subtree; "" -> the name that ends here


class _Segment(NamedTuple):
    """The text between two cuts: [start, stop), of which [core, stop) is closing decoration."""

    start: int
    core: int
    least: int  # earliest end of a known name; a name of decoration alone must reach the end
    stop: int


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
