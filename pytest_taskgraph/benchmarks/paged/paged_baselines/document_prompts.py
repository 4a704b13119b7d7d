"""The document in a prompt of PAGED: what the baselines go by.

The document stands below a line "Document:", the last one of the prompt; worked examples of the same form stand above.
It is what a fence encloses, or else ends before a line such as "Graph:", before a paragraph that tells what to write,
or with the prompt.
"""

from __future__ import annotations

import re
from typing import Final

from ....errors import PromptNotUnderstoodError
from ..extraction_rules.document_sentences import LONGEST_DOCUMENT

LONGEST_PROMPT: Final = 2 * LONGEST_DOCUMENT  # characters behind the last line "Document:" that are read
_DOCUMENT = re.compile(r"^[ \t*#]*(?:the )?(?:procedural )?document:[ \t*]*", re.IGNORECASE | re.MULTILINE)
_HEADING = re.compile(r"[ \t*#]*(?:graph|reasoning|elements?|answer|output|result|feedback):[ \t*]*", re.IGNORECASE)
_INSTRUCTION = re.compile(
    r"(?:please |now |first |then |finally )?"
    r"(?:write|reason|answer|extract|give|list|state|draw|reply|return|think|name)\b"
    r".*\b(?:graph|elements?|flows?|nothing else|step by step|line)\b",
    re.IGNORECASE,
)
_FENCE = re.compile(r"[ \t]*(```|~~~|<document>)", re.IGNORECASE)


def document_of_prompt(prompt: str) -> str:
    """Return the last document of a prompt.

    Raises:
        PromptNotUnderstoodError: if it has no line "Document:" with a document below it.
    """
    last = max((match.end() for match in _DOCUMENT.finditer(prompt)), default=len(prompt))
    lines = prompt[last : last + LONGEST_PROMPT].splitlines()
    found = "\n".join(_document_lines(lines)).strip()
    if not found:
        raise PromptNotUnderstoodError(
            "the baseline finds no document below a line 'Document:' in the prompt; add it to the template"
        )
    return found


def _document_lines(lines: list[str]) -> list[str]:
    """Return the lines of the document of those that follow its heading."""
    start = next((at for at, line in enumerate(lines) if line.strip()), len(lines))
    if start < len(lines) and _FENCE.match(lines[start]):
        close = next((at for at in range(start + 1, len(lines)) if _closes(lines[at])), len(lines))
        return lines[start + 1 : close]
    for at in range(start, len(lines)):
        first_of_paragraph = at > start and not lines[at - 1].strip()
        if _HEADING.fullmatch(lines[at]) or (first_of_paragraph and _INSTRUCTION.match(lines[at])):
            return lines[start:at]
    return lines[start:]


def _closes(line: str) -> bool:
    return line.strip().lower() in ("```", "~~~", "</document>")
