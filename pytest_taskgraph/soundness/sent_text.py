r"""The requests to a model as Markdown that can be compared line by line, the same on any machine.

Every text stands in full between fences that are longer than any run of backticks in it, so that no prompt can end
its own. A character that a reviewer cannot see, or that a terminal or Git interprets, is an escape such as \x1b or
\u202e. The fence is then marked `escaped`, and the backslashes of that text are doubled: different texts never look
the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from ..redaction import redact_all
from ..trial import Request

# A fixed list, because the characters that Python considers printable change with its version.
_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f"
    "\u205f-\u206f\u2800\u3000\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U000e0000-\U000e0fff]"
)
_BACKTICKS: Final = re.compile("`{3,}")
_ADDRESSEES: Final = {"judge": "to the judge", "embedder": "to the embedder", "paraphraser": "to the paraphraser"}
_KINDS: Final = {"score": "probabilities of texts", "embed": "embeddings of texts"}
_SHOWN_IN_MESSAGE: Final = {"role", "content"}


def sent_text(requests: Sequence[Request]) -> str:
    """Return the requests that are sent side by side, as Markdown without headings of the first and second level.

    Secrets are removed. Requests that differ only in the repetition occur once.
    """
    counts: dict[str, int] = {}
    for request in requests:
        text = _request(replace(request, repetition=1))
        counts[text] = counts.get(text, 0) + 1
    if not counts:
        return "Nothing is sent.\n"
    if len(requests) == 1 and not _heading(requests[0]):
        return next(iter(counts))
    headings = {_request(replace(request, repetition=1)): _heading(request) for request in requests}
    parts = []
    for number, (text, count) in enumerate(counts.items(), 1):
        title = [f"Request {number}", headings[text], f"sent {count} times" if count > 1 else ""]
        parts.append(f"### {', '.join(filter(None, title))}\n\n{text}")
    return "\n".join(parts)


def escape_hidden(text: str) -> str:
    """Return the text with escapes for characters that cannot be seen, on as many lines."""
    if not _HIDDEN.search(text):
        return text
    return _HIDDEN.sub(lambda match: _escape(match[0]), text.replace("\\", "\\\\"))


def closing_fence(line: str) -> str:
    """Return the line that ends the block which a line opens; empty if it opens none."""
    opening = _BACKTICKS.match(line)
    return opening[0] if opening and "`" not in line[opening.end() :] else ""


def _heading(request: Request) -> str:
    parts = [_ADDRESSEES.get(request.role, ""), _KINDS.get(request.kind, "")]
    return ", ".join(filter(None, parts))


def _request(request: Request) -> str:
    return "\n".join(f"**{title}**\n\n{block}" for title, block in _blocks(request))


def _blocks(request: Request) -> Iterator[tuple[str, str]]:
    if request.context:
        yield "context", _fenced(redact_all(request.context))
    for message in redact_all(request.messages):
        title, content = escape_hidden(str(message["role"])).replace("\n", r"\n"), message["content"]
        yield title, _fenced(content) if isinstance(content, str) else _json(content)
        further = {name: value for name, value in message.items() if name not in _SHOWN_IN_MESSAGE}
        if further:
            yield f"{title}, further", _json(further)
    for number, text in enumerate(redact_all(request.texts), 1):
        yield f"text {number}", _fenced(str(text))
    if request.tools:
        yield "tools", _json(redact_all(request.tools))
    if request.settings:
        yield "settings", _json(redact_all(request.settings))


def _json(value: Any) -> str:  # noqa: ANN401 - any JSON value
    return _fenced(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False), "json")


def _fenced(text: str, kind: str = "text") -> str:
    escaped_text = escape_hidden(text)
    longest = max((len(run) for run in _BACKTICKS.findall(escaped_text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{kind}{' escaped' if escaped_text != text else ''}\n{escaped_text}\n{fence}\n"


def _escape(char: str) -> str:
    code = ord(char)
    if char == "\r":
        return r"\r"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
