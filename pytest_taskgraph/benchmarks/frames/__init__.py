"""Frames put workflow, question and instruction together, and own where in the reply the answer stands.

A frame is a Jinja file; its first line says where the answer stands: `{# answer: marker #}` (after "Final answer:"),
`{# answer: whole #}` or `{# answer: first-line #}`. It sees `workflow` (the text), `notation`, `guide`, `question`,
`instruction` and `fence` (a code fence that does not stand in the text).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import cast

from ...errors import UnknownNameError, UsageError
from ...trial import Place
from ..templates import render, template

FRAMES = {"direct": "direct.jinja", "think-first": "think_first.jinja", "answer-first": "answer_first.jinja"}
_PLACE = re.compile(r"\{#-?\s*answer:\s*(marker|whole|first-line)\s*-?#\}")


@dataclass(frozen=True, slots=True)
class Frame:
    """A way to put a question."""

    name: str
    source: str
    place: Place

    def compose(self, *, workflow: str, notation: str, guide: str, question: str, instruction: str) -> str:
        """The prompt. Raises UsageError where the template fails."""
        fields = {
            "workflow": workflow, "notation": notation, "guide": guide, "question": question,
            "instruction": instruction, "fence": _fence(workflow),
        }  # fmt: skip
        return render(self.source, fields, f"frame {self.name}")


@lru_cache(maxsize=16)
def frame(name: str) -> Frame:
    """The frame of that name, or of that file. Raises UnknownNameError, UsageError."""
    if name in FRAMES:
        return _read(name, Path(__file__).parent / FRAMES[name])
    path = Path(name)
    if path.suffix not in {".jinja", ".j2"} and not path.is_file():
        raise UnknownNameError("frame", name, [*FRAMES, "a file *.jinja"])
    return _read(path.stem, path)


def _read(name: str, path: Path) -> Frame:
    try:
        source = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"frame {path}: {error}") from None
    head = _PLACE.match(source)
    if head is None:
        raise UsageError(
            f"{path}:1: a frame begins with a line that says where the answer stands, "
            "such as {# answer: marker #}; the others are whole and first-line"
        )
    template(source, str(path))
    return Frame(name, source, cast(Place, head[1]))


def _fence(text: str) -> str:
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)
