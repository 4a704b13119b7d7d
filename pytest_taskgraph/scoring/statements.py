"""The statement of a reply that is its answer: wrapping is undone, then the place is chosen, then the rest is left out.

The rules are stated in docs/explanation/answer-parsing.md. Every step is linear in the length of the reply.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, Literal

from ..errors import UnparseableError
from ..trial import Json, Parsing, Place
from .echoes import QUESTION
from .wrapping import parse_json, write_json, write_rows

_STRICT_MARKER = "Final answer:"
_BOLD_END = r"[*_]++(?=\s|\Z)"  # of bold type that began before the marker
_MARKER = re.compile(
    rf"final[ \t]++answer(?:[^\w:：]|_)*+[:：](?:{_BOLD_END})?"  # anywhere, also within a line
    r"|^(?:[^\w\n]|_)*+final[ \t]++answer[ \t*_]*+$"  # a heading
    rf"|^(?:[^\w\n]|_)*+(?:answer|a|antwort|réponse|respuesta|最终答案|答案)[*_]*+[ \t]*+[:：](?:{_BOLD_END})?",
    re.IGNORECASE | re.MULTILINE,
)
_TAGS = r"(?:final[_-]?)?(?:answer|output|response|result)"
_OPENING_TAG = re.compile(rf"<({_TAGS})\b[^<>]{{0,80}}+>", re.IGNORECASE)
_TOKEN = re.compile(r"<\|[\w-]{1,40}+\|>|</?s>|\[/?INST\]|</?(?:br|p|b|i|em|strong|code|pre)[ \t]*+/?>", re.IGNORECASE)
_STRUCK = re.compile(r"~~[^~\n]++~~|^[ \t]*+\[\^\w{1,9}\]:.*$|\[\^\w{1,9}\]", re.MULTILINE)  # or a footnote
_THOUGHT = re.compile(r"\A\s*+<think(?:ing)?>.*?</think(?:ing)?>", re.IGNORECASE | re.DOTALL)
_FENCE = re.compile(r"^[ \t]*+(?:`{3,}+|~{3,}+)([\w+.-]*+)[ \t]*+$")
_ITEM = re.compile(r"[ \t]*+(?:[-*+•·–—][ \t]|\(?\d{1,9}[.)][ \t])")
_RULE = re.compile(r"[ \t]*+(?:[-*_=—–][ \t]*+){3,}+$")
_HEADING = re.compile(r"[ \t]*+#{1,6}+[ \t]")
_ROW = re.compile(r"[ \t]*+\|.*\|[ \t]*+$")
_OFFER = re.compile(
    r"\W*+(?:(?:please )?let me know|would you like|do you (?:want|need|have)|shall i|should i|can i help|feel free"
    r"|is there anything|i(?:['’]m| am) happy to|happy to|i hope|hope (?:this|that|it)"
    r"|if you(?:['’]d)? (?:need|have|want|would|like)"
    r"|thanks?\b|thank you|good luck|you['’]re welcome|best regards)",
    re.IGNORECASE,
)
_NOTE = re.compile(r"\W*+(?:note|remark|explanation)[^\w:]*+:", re.IGNORECASE)
_MAY_CHANGE = re.compile(
    r"\b(?:also|too|but|however|should|forgot|wrong|mistake|actually|first|second|third|last|latter|former|only|except"
    r"|none|no|not|nothing|never|unsure|uncertain|incorrect|ignore|later|earlier|before)\b|n['’]t\b",
    re.IGNORECASE,
)  # a sentence with none of these leaves the list before it as it is
_CONCLUDING = re.compile(r"\W*+(?:(?:the )?(?:final )?(?:answer|result|solution)|conclusion|summary)\b", re.IGNORECASE)
_BEGINS_NAMED = re.compile(r"[\W_]*+(?=[^\W\d])(?:\w*\d|\w*?[a-z][A-Z])\w*+(\W{0,3}:)?")
_PICTURE = r"[\U0001f000-\U0001faff\u2600-\u26ff\u2b00-\u2bff\ufe0f\u200d]"
_LEADING_PICTURE = re.compile(rf"^[ \t]*+{_PICTURE}++[ \t]*+", re.MULTILINE)
_TRAILING_PICTURE = re.compile(rf"(?<!{_PICTURE})(?<![ \t])[ \t]*+(?:{_PICTURE}++[ \t]*+)++$", re.MULTILINE)
_SHORT = 6  # blanks in a cheer such as "Happy cooking!"
_LABEL_LINE = re.compile(r"^[ \t]*+(?:[\w -]{1,40}:|(?:flowchart|graph)[ \t]++\w{2})[ \t]*+$\n?", re.MULTILINE)
_LABELLED = re.compile(
    r"[\W_]*+(?!(?:so|thus|hence|therefore|final|answer|result)\b)[^\W\d_]+(?: [^\W\d_]+){0,2}[*_]*+:[*_]*+[ \t]+\S",
    re.IGNORECASE,
)
_MARKS = (
    re.compile(r"[✅✓✔]|[:(|–-][ \t]*+[*_]{0,3}+(?:yes|true)[\W_]*?$", re.IGNORECASE | re.MULTILINE),
    re.compile(r"[❌✗✘]|[:(|–-][ \t]*+[*_]{0,3}+(?:no|false)[\W_]*?$", re.IGNORECASE | re.MULTILINE),
)
_MARKUP = re.compile(r"<(reason|because|explanation|thinking|rationale)>.*?</\1>|</?[A-Za-z][\w-]{0,30}>", re.DOTALL)
_CODE = re.compile(
    r"[ \t]*+(?:(?:def|package|workflow|import|struct|fn)[ \t]++\w"
    r"|(?:for|while|if|elif)\b[^\n]*:$|print\()"
)  # at the start of a line
_SIGNS = re.compile(r"[-=]>|[{}=()\"]|\w\.\w")  # of a line of code that ends with a semicolon
_BODY = re.compile(r"\w[ \t]*+\{[ \t]*+\}$")
_EMPTY: Final = re.compile(r"[\s*_`$]*+(?:\[\s*+\]|\{\s*+\}|\(\s*+\)|∅|\\(?:emptyset|varnothing)\b)[\s*_`$.]*+")
_CORRECTION = re.compile(
    r"(?:^|[\s.!?(])(?:wait\b|hmm+\b|oops\b|correction\b|actually,|scratch that|on second thought|let me correct"
    r"|hold on\b|my mistake\b|(?<=[.!?)] )sorry\b)",
    re.IGNORECASE,
)
_CORRECTED = re.compile(
    r"\b(?:answer (?:is|should be|must be)|it (?:is|should be|must be)|make that|i meant?|should (?:instead )?be)\b"
    r"[ \t]*+:?|(?:^|[.!?:])[ \t]*+(?:so|thus|therefore|hence)\b[ \t]*+[,:]?",
    re.IGNORECASE | re.MULTILINE,
)
_LEFT_OUT = re.compile(
    r"\b(?:left out|not (?:listed|included|counted|part|in the list|among)|excluded?|omitted|ignored|skipped)\b",
    re.IGNORECASE,
)
_NOT_MEANT = re.compile(r"\b(?:do(?:es)? not|is not|are not|nested|inside)\b|n['’]t\b", re.IGNORECASE)
LONGEST: Final = 50_000  # characters of an answer; parsing a longer one would take seconds
_MOST_LEVELS = 6

Kind = Literal["prose", "list", "table", "code", "heading", "rule"]


@dataclass(slots=True)
class _Block:
    """Lines of one kind that stand together; the language of a fence, or "" for other blocks."""

    kind: Kind
    lines: list[str]
    language: str = ""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def has_marker(reply: str, parsing: Parsing) -> bool:
    """Return True if the reply holds a marker before the final answer, as this parsing defines it."""
    return _STRICT_MARKER in reply if parsing == "strict" else _after_marker(_plain_lines(reply)) is not None


def find_statement(
    reply: str,
    place: Place,
    parsing: Parsing,
    lines: bool = False,
    names: Sequence[str] = (),
    prose: bool = False,
    listed: bool = False,
) -> str:
    """Return the part of the reply that is the answer, still with its decoration.

    Strict parsing follows the code of Töpfer et al. (2025): the text after the first `Final answer:`, or the whole
    reply. Lenient parsing undoes wrapping (a fence, a tag, JSON, a table), then takes, by the place,

    - "marker": what follows the last marker, else the last statement, without rules, offers and closing signs;
    - "whole": what follows the last marker, else the reply;
    - "first-line": its first line that is not empty; with `lines`, all lines up to the next empty one.

    Args:
        reply: The text of the reply.
        place: The place of the answer.
        parsing: The kind of parsing.
        lines: True if the answers of the form may take several lines.
        names: The known names.
        prose: True if the answer is in the model's own words, which may look like code.
        listed: True if the answer consists of names.

    Raises:
        UnparseableError: if the reply states no answer: it is empty, holds signs alone, or ends with code.
    """
    if parsing == "strict":
        return _strict_statement(reply, place, lines)
    text = _plain_lines(reply)
    if not re.sub(r"[`~\s]", "", text):
        raise UnparseableError("the reply is empty, expected an answer")
    if place == "first-line":
        statement = _first_line(text, lines)
    elif (after := _after_marker(text)) is not None:
        statement = _after_corrections(_unwrapped(_without_closing(after)))
    elif place == "whole":
        statement = _after_corrections(_whole(text, prose))
    else:
        statement = _after_corrections(_last_statement(text, names, listed))
    if all(mark.search(statement) for mark in _MARKS):
        raise UnparseableError("expected an answer, found a verdict on each part")
    if len(statement) > LONGEST:
        raise UnparseableError(f"expected an answer of at most {LONGEST:,} characters, found {len(statement):,}")
    if not _says_something(statement, names):
        raise UnparseableError("expected an answer, found none" + (f" in {statement.strip()!r}" if statement else ""))
    return statement


def asked_part(reply: str, place: Place) -> str:
    """Return the part of a reply that follows the instruction to the letter: only bold type around the marker ends."""
    if place == "marker":
        return re.sub(rf"\A{_BOLD_END}", "", reply.rpartition(_STRICT_MARKER)[2]) if _STRICT_MARKER in reply else ""
    return reply if place == "whole" else _first_line(reply, lines=True) if reply.strip() else ""


def ends_answer(reply: str, place: Place, lines: bool) -> bool:
    """Return True if a reply that was cut off holds its answer whole: a line, behind which it went on."""
    if lines:
        return False
    text = reply if place == "first-line" else (_after_marker(_plain_lines(reply)) or "")
    line, newline, _ = text.lstrip().partition("\n")
    return bool(line.strip() and newline)


def is_empty_sign(text: str) -> bool:
    """Return True for a sign that states an empty list: `[]`, `{}` or ∅."""
    return _EMPTY.fullmatch(text) is not None


def is_exclusion(sentence: str, explicit: bool = False) -> bool:
    """Return True if a sentence says what a list leaves out.

    Args:
        sentence: The sentence.
        explicit: True if it has to say that something is left out, not only why.
    """
    return _LEFT_OUT.search(sentence) is not None or (not explicit and _NOT_MEANT.search(sentence) is not None)


def marked_part(reply: str, place: Place = "marker") -> str:
    """Return what follows the last marker, or the whole reply without one; without the lines of fences."""
    text = _plain_lines(reply)
    after = _after_marker(text) if place == "marker" else None
    return "\n".join(line for line in (text if after is None else after).split("\n") if not _FENCE.match(line))


def looks_like_code(text: str) -> bool:
    """Return True if a line of the text is one of a program or a specification."""
    return any(map(_is_code, map(str.rstrip, text.split("\n"))))


def _is_code(line: str) -> bool:
    if "\\" in line:  # LaTeX
        return False
    if _CODE.match(line) or _BODY.search(line):
        return True
    if line.endswith(";") and (_SIGNS.search(line) or line.strip()[:-1].isidentifier()):
        return True
    return line.count("{") != line.count("}")


def _strict_statement(reply: str, place: Place, lines: bool) -> str:
    if place == "marker":
        return reply.partition(_STRICT_MARKER)[2].lstrip("*")
    return reply if place == "whole" and reply.strip() else _first_line(reply, lines)


def _plain_lines(reply: str) -> str:
    """Return the text with one kind of line end, and without the marks of chat templates and markup."""
    text = _STRUCK.sub("", _TOKEN.sub("", reply.replace("\r\n", "\n").replace("\r", "\n")))
    return _TRAILING_PICTURE.sub("", _LEADING_PICTURE.sub("- ", _THOUGHT.sub("", text, count=1)))


def _first_line(text: str, lines: bool) -> str:
    filled = "\n".join(line for line in text.split("\n") if not _FENCE.match(line)).lstrip()
    if not filled:
        raise UnparseableError("the reply is empty, expected an answer")
    return re.split(r"\n[ \t]*+\n" if lines else r"\n", filled, maxsplit=1)[0]


def _after_marker(text: str) -> str | None:
    """Return the text behind the last marker, or in the last tag of an answer; None if there is neither."""
    text = _before_next_question(text)
    quizzed = QUESTION.search(text) is not None
    markers = [
        match.end()
        for match in _MARKER.finditer(text)
        if quizzed or match[0].strip("\t *_`#>").lower() not in ("a:", "a：")
    ]
    tags = list(_OPENING_TAG.finditer(text))
    if tags and (not markers or tags[-1].end() > markers[-1]):
        return _content(text, tags[-1])
    return text[markers[-1] :] if markers else None


def _before_next_question(text: str) -> str:
    """Return the text up to a question that a model goes on with after its answer."""
    first = _MARKER.search(text)
    further = QUESTION.search(text, first.end()) if first else None
    return text[: further.start()] if further else text


def _content(text: str, tag: re.Match[str]) -> str:
    """Return the text between a tag and the one that closes it, or the end."""
    closing = re.compile(rf"</{tag[1]}>", re.IGNORECASE).search(text, tag.end())
    return text[tag.end() : closing.start() if closing else len(text)]


def _without_closing(text: str) -> str:
    """Return the text without the blocks at its end that belong to no answer."""
    blocks = list(_blocks(text))
    while len(blocks) > 1 and _closes(blocks[-1]):
        blocks.pop()
    return "\n\n".join(map(_fenced, blocks))


def _fenced(block: _Block) -> str:
    return f"```{block.language}\n{block.text}\n```" if block.kind == "code" else block.text


def _closes(block: _Block) -> bool:
    """Return True for a rule, an offer, a thank-you, or signs alone."""
    if block.kind in ("rule", "heading") or not block.text.strip():
        return True
    if block.kind == "prose":
        if _NOTE.match(block.text) or (block.text.rstrip(" *_").endswith("!") and block.text.count(" ") < _SHORT):
            return True
        return _OFFER.match(block.text) is not None or not (re.search(r"\w", block.text) or is_empty_sign(block.text))
    return False


def _blocks(text: str) -> Iterator[_Block]:
    """Yield the blocks of a text: fences, tables, lists with the lines that go on, headings, rules, paragraphs."""
    block: _Block | None = None
    fence = False
    for line in text.split("\n"):
        opening = _FENCE.match(line)
        if opening:
            if block is not None and (block.lines or fence):
                yield block
            block = None if fence else _Block("code", [], opening[1])
            fence = not fence
            continue
        if fence and block is not None:
            block.lines.append(line)
            continue
        kind = _kind_of(line, block)
        if block is not None and (kind is None or kind != block.kind or kind in ("heading", "rule")):
            yield block
            block = None
        if kind is not None:
            block = block or _Block(kind, [])
            block.lines.append(line)
    if block is not None and (block.lines or fence):
        yield block


def _kind_of(line: str, block: _Block | None) -> Kind | None:
    """Return the kind of a line, None for an empty one; an indented line goes on with the item before it."""
    if not line.strip():
        return None
    if _RULE.match(line):
        return "rule"
    if _ITEM.match(line):
        return "list"
    if _ROW.match(line):
        return "table"
    if _HEADING.match(line):
        return "heading"
    return "list" if block is not None and block.kind == "list" and line[0] in " \t" else "prose"


def _whole(text: str, prose: bool) -> str:
    blocks = list(_blocks(text))
    if len(blocks) > 1 and _json_of(blocks[-1]) is not None:  # a sentence that announces it stands before
        return _unwrapped(_fenced(blocks[-1]))
    unwrapped = _unwrapped(_without_closing(text))
    if not prose and looks_like_code(unwrapped):
        raise UnparseableError("expected an answer, found code")
    return unwrapped


def _last_statement(text: str, names: Sequence[str], listed: bool) -> str:
    """Return the last statement of a reply without a marker."""
    boxed = [line for line in text.split("\n") if "\\boxed" in line or "\\fbox" in line]
    if boxed and not _CORRECTION.search(text, text.rindex(boxed[-1])):
        return boxed[-1]
    blocks = _merge_lists(_after_last_heading(list(_blocks(text))))
    if not any(block.text.strip() for block in blocks):
        raise UnparseableError("the reply is empty, expected an answer")
    while len(blocks) > 1 and _closes(blocks[-1]):
        blocks.pop()
    if len(blocks) > 1 and blocks[-1].kind == "prose" and _is_beside_list(blocks[-1].text, blocks[-2], listed, names):
        blocks.pop()
    last = blocks[-1]
    if last.kind == "prose":
        return _last_line(last) if not listed else _last_lines(blocks, names)
    if last.kind == "code" and _json_of(last) is None and looks_like_code(last.text):
        raise UnparseableError("expected an answer, found code")
    return _unwrapped(_fenced(last))


def _after_last_heading(blocks: list[_Block]) -> list[_Block]:
    """Return the blocks without headings; only those below a last heading such as "Conclusion".

    Raises:
        UnparseableError: if headings part lists, and none of them announces the answer.
    """
    at = max((at for at, block in enumerate(blocks) if block.kind == "heading"), default=None)
    if at is not None:
        below = [block for block in blocks[at + 1 :] if block.kind != "rule"]
        if below and _CONCLUDING.match(blocks[at].text):
            return below
        if [block.kind for block in below] == ["list"] and any(block.kind == "list" for block in blocks[:at]):
            raise UnparseableError("expected an answer, found several lists below headings")
    return [block for block in blocks if block.kind != "heading"]


def _is_beside_list(text: str, before: _Block, listed: bool, names: Sequence[str]) -> bool:
    """Return True if a paragraph behind a list says what it leaves out, or names nothing and changes nothing."""
    if before.kind != "list":
        return False
    named = any(name in text for name in names) or re.search(r"[^\W\d]\d|[a-z][A-Z]|[`'\"“‘]", text)
    about_all = re.match(r"\W*(?:both|these|all of (?:them|these)|each)\b", text, re.IGNORECASE)
    return is_exclusion(text) or (
        listed and (about_all or not named) and not _MAY_CHANGE.search(text) and text.count(" ") > 1
    )


def _last_lines(blocks: Sequence[_Block], names: Sequence[str]) -> str:
    """Return the last line, with those before it if all of them begin with a name, as lines of a list do."""
    last = _last_line(blocks[-1])
    if last != blocks[-1].lines[-1]:
        return last
    lines = [line for block in takewhile(_is_prose, reversed(blocks)) for line in reversed(block.lines)]
    if len(lines) > 1 and all(_LABELLED.match(line) and not _is_listed(line, names) for line in lines[:2]):
        return "\n".join(reversed(lines[:2]))  # two lists, of which none is certainly the answer
    return "\n".join(reversed([*takewhile(lambda line: _is_listed(line, names), lines)])) or last


def _is_prose(block: _Block) -> bool:
    return block.kind == "prose"


def _is_listed(line: str, names: Sequence[str]) -> bool:
    """Return True for a line that begins with a name, and is no sentence or has a colon behind the name."""
    bare = line.strip(" \t*_`\"'“”")
    named = _BEGINS_NAMED.match(bare)
    known = next((name for name in names if bare.startswith(name)), None)
    if not named and known is None:
        return False
    return not bare.endswith((".", "!", "?")) or bool(named and named[1]) or bare[len(known or "") :][:1] == ":"


def _merge_lists(blocks: Iterable[_Block]) -> list[_Block]:
    """Return the blocks, with one for items that only empty lines part."""
    merged: list[_Block] = []
    for block in blocks:
        if merged and block.kind == "list" == merged[-1].kind:
            merged[-1].lines += block.lines
        else:
            merged.append(block)
    return merged


def _last_line(block: _Block) -> str:
    if _json_of(block) is not None:
        return _unwrapped(block.text)
    if looks_like_code(block.text):
        raise UnparseableError("expected an answer, found code")
    filled = [line for line in block.lines if line.strip()]
    is_trace = len(filled) > 1 and all("=" in line for line in filled)
    return block.text if is_trace else filled[-1]


def _unwrapped(text: str) -> str:
    """Return the content of a fence, a tag, a value of JSON or a table that a text consists of."""
    for _ in range(_MOST_LEVELS):
        inner = _unwrap_once(text)
        if inner == text:
            break
        text = inner
    return text


def _unwrap_once(text: str) -> str:
    bare = text.strip()
    tag = _OPENING_TAG.match(bare)
    if tag and bare.lower().endswith(f"</{tag[1].lower()}>"):
        return _content(bare, tag).strip()
    if (value := parse_json(bare)) is not None:
        return write_json(value)
    blocks = list(_blocks(bare))
    if bare[:1] == "<" and bare[-1:] == ">" and (inner := _MARKUP.sub("\n", bare).strip()) != bare:
        return inner
    if len(blocks) == 1 and blocks[0].kind == "code":
        return _LABEL_LINE.sub("", blocks[0].text) if len(blocks[0].lines) > 1 else blocks[0].text
    if blocks and blocks[-1].kind == "table" and all(block.kind == "prose" for block in blocks[:-1]):
        return write_rows(blocks[-1].lines)
    fences = [block for block in blocks if block.kind == "code"]
    if len(fences) == 1 and _json_of(fences[0]) is not None:
        return fences[0].text
    return text


def _json_of(block: _Block) -> Json:
    return parse_json(block.text) if block.kind in ("code", "prose") else None


def _after_corrections(statement: str) -> str:
    """Return what the last correction within a statement states; the statement if it corrects nothing.

    Raises:
        UnparseableError: if it takes an answer back, and states no other.
    """
    corrections = list(_CORRECTION.finditer(statement))
    if not corrections:
        return statement
    last = corrections[-1]
    rest = statement[last.end() :]
    corrected = [match.end() for match in _CORRECTED.finditer(rest)]
    if corrected and re.search(r"\w", rest[corrected[-1] :]):
        return rest[corrected[-1] :]
    if not re.search(r"\w", statement[: last.start()]) or re.match(r"\W*correction\b", last[0], re.IGNORECASE):
        return rest.lstrip(" ,:")
    raise UnparseableError("expected an answer, found one that is taken back")


def _says_something(statement: str, names: Sequence[str]) -> bool:
    """Return True if the statement holds a letter, a digit, a sign of an empty list, or a known name of signs."""
    if re.search(r"[^\W_]", statement) or is_empty_sign(statement):
        return True
    return any(name and name in statement and not re.search(r"\w", name) for name in names)
