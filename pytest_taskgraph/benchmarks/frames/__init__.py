"""Frames put workflow, question and instruction together, and own where in the reply the answer stands.

A frame is a Jinja file; its first line says where the answer stands: `{# answer: marker #}` (after "Final answer:"),
`{# answer: whole #}` or `{# answer: first-line #}`; `{# answer: marker, shots: 2 #}` says how many solved examples it
shows unless the run says otherwise. What stands before a line `{# user #}` is the system prompt. A frame sees
`workflow` (the text), `notation` (its name, such as "plain English"), `in_notation` (what follows "written", such as
"in plain English" or "as JSON"), `guide`, `question`, `instruction`, `fence` (a code fence that does not stand in the
text), and `examples`, each with `workflow`, `fence`, `question` and `answer`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, cast

from ...errors import UnknownNameError, UsageError
from ...trial import Place
from ..templates import files_of, names_used, render, source_of, template

FRAMES = {
    "direct": "direct.jinja",
    "think-first": "think_first.jinja",
    "answer-first": "answer_first.jinja",
    "few-shot": "few_shot.jinja",
    "guided": "guided.jinja",
}
_WORKFLOW, _QUESTION = "theworkflowstandshere", "thequestionstandshere"  # for check()
NO_FRAMES = {"judge"}  # the prompt of benchmarks/judging, which the folder may hold beside frames
_HEAD = re.compile(r"\{#-?\s*answer:\s*(marker|whole|first-line)\s*(?:,\s*shots:\s*(\d{1,3})\s*)?-?#\}")
_USER = re.compile(r"^[ \t]*\{#-?[ \t]*user[ \t]*-?#\}[ \t]*\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Example:
    """A solved question: the workflow's text, the question, and the answer as a reply in the frame gives it."""

    workflow: str
    question: str
    answer: str

    @property
    def fence(self) -> str:
        """A code fence that does not stand in the workflow."""
        return fence_for(self.workflow)


class Composed(NamedTuple):
    """What the model is told; no system prompt where that is empty."""

    system: str
    prompt: str


@dataclass(frozen=True, slots=True)
class Frame:
    """A way to put a question."""

    name: str
    source: str
    place: Place
    shots: int = 0  # solved examples before the question, unless the run says otherwise

    @property
    def shows_examples(self) -> bool:
        """Whether examples would be seen."""
        return any("examples" in names_used(part) for part in _parts(self.source))

    def check(self) -> None:
        """Render the frame with and without examples. Raises UsageError if that fails or leaves out what is asked."""
        prompts = {
            when: self.compose(
                workflow=_WORKFLOW, notation="", in_notation="", guide="", question=_QUESTION, instruction="",
                examples=examples,
            )
            for when, examples in (("", ()), (" in prompts with examples", (Example("", "", ""),)))
        }  # fmt: skip
        for when, composed in prompts.items():
            text = "".join(composed).casefold()
            for name, value in (("workflow", _WORKFLOW), ("question", _QUESTION)):
                if value not in text:
                    raise UsageError(
                        f"frame {self.name} does not show the {name}{when}; expected {{{{ {name} }}}} in the template"
                    )

    def compose(
        self,
        *,
        workflow: str,
        notation: str,
        in_notation: str,
        guide: str,
        question: str,
        instruction: str,
        examples: Sequence[Example] = (),
        fenced: bool = True,
    ) -> Composed:
        """The system prompt and the prompt. `fenced` is not, where words stand in the place of the workflow.

        Raises UsageError where the template fails.
        """
        fields = {
            "workflow": workflow, "notation": notation, "in_notation": in_notation, "guide": guide,
            "question": question, "instruction": instruction,
            "fence": fence_for(workflow) if fenced else "", "examples": tuple(examples),
        }  # fmt: skip
        system, prompt = (render(part, fields, f"frame {self.name}") for part in _parts(self.source))
        return Composed(system, prompt)


@lru_cache(maxsize=64)
def frame(name: str, templates: str = "") -> Frame:
    """The frame of that name, or of that file; `templates` is a folder whose files stand in for ours, or add to them.

    Raises UnknownNameError, UsageError.
    """
    found = frame_files(templates)
    if name in found:
        return _read(name, found[name])
    path = Path(name)
    if path.suffix not in {".jinja", ".j2"} and not path.is_file():
        raise UnknownNameError("frame", name, [*found, "a file *.jinja"])
    return _read(path.stem, path)


def frame_files(templates: str = "") -> dict[str, Path]:
    """The files of all frames by name, those of the folder before ours. Raises UsageError where it is no folder."""
    own = {name: path for name, path in files_of(templates).items() if name not in NO_FRAMES} if templates else {}
    ours = {name: own.pop(Path(file).stem, Path(__file__).parent / file) for name, file in FRAMES.items()}
    return {**own, **ours}


def _read(name: str, path: Path) -> Frame:
    source = source_of(path, "frame")
    head = _HEAD.match(source)
    if head is None:
        raise UsageError(
            f"{path}:1: a frame begins with a line that says where the answer stands, "
            "such as {# answer: marker #}; the others are whole and first-line, "
            "and {# answer: marker, shots: 2 #} shows examples"
        )
    for part in _parts(source):
        template(part, str(path))
    return Frame(name, source, cast(Place, head[1]), int(head[2] or 0))


def _parts(source: str) -> tuple[str, str]:
    """The templates of the system prompt and of the prompt; lines keep their numbers."""
    found = _USER.search(source)
    if found is None:
        return "", source
    system = source[: found.start()]
    return system, "\n" * system.count("\n") + source[found.end() :]


def fence_for(text: str) -> str:
    """A code fence that does not stand in the text."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)
