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

from ...catalog import BUILT_IN, Catalog, catalog_cache
from ...errors import UnknownNameError, UsageError
from ...trial import Place
from ..templates import files_of, names_used, render, source_of, template

_FILES = {
    "direct": "direct.jinja",
    "think-first": "think_first.jinja",
    "answer-first": "answer_first.jinja",
    "few-shot": "few_shot.jinja",
    "guided": "guided.jinja",
}
FrameSource = Path | str  # a file, or the text of a template itself
FRAMES: Catalog[FrameSource] = Catalog("frame", {name: Path(__file__).parent / file for name, file in _FILES.items()})
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


@catalog_cache
@lru_cache(maxsize=64)
def frame(name: str, templates: str = "") -> Frame:
    """The frame of that name, or of that file; `templates` is a folder whose files stand in for ours, or add to them.

    Raises UnknownNameError, UsageError.
    """
    found = frame_sources(templates)
    if name in found:
        return _read(name, found[name])
    path = Path(name)
    if path.suffix not in {".jinja", ".j2"} and not path.is_file():
        raise UnknownNameError("frame", name, [*found, "a file *.jinja"])
    return _read(path.stem, path)


def frame_sources(templates: str = "") -> dict[str, FrameSource]:
    """The sources of all frames by name, the folder's files before ours. Raises UsageError where it is no folder."""
    own = {name: path for name, path in files_of(templates).items() if name not in NO_FRAMES} if templates else {}
    ours = {name: own.pop(file_stem(name), source) for name, source in FRAMES.items()}
    return {**own, **ours}


def file_stem(name: str) -> str:
    """Return the name, without suffix, of a file in a folder of templates that stands in for the frame of that name."""
    source = FRAMES[name]
    return source.stem if isinstance(source, Path) and FRAMES.owner(name) == BUILT_IN else name


def _read(name: str, found: FrameSource) -> Frame:
    if isinstance(found, Path):
        source, where = source_of(found, "frame"), str(found)
    else:
        source, where = found, f"frame {name} of {FRAMES.owner(name)}"
    head = _HEAD.match(source)
    if head is None:
        raise UsageError(
            f"{where}:1: a frame begins with a line that says where the answer stands, "
            "such as {# answer: marker #}; the others are whole and first-line, "
            "and {# answer: marker, shots: 2 #} shows examples"
        )
    for part in _parts(source):
        template(part, where)
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
