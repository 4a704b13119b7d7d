"""Frames put what is asked about, question and instruction together, and own where in the reply the answer stands.

A frame is a Jinja file; its first line says where the answer stands: `{# answer: marker #}` (after "Final answer:"),
`{# answer: whole #}` or `{# answer: first-line #}`; `{# answer: marker, shots: 2 #}` says how many solved examples it
shows unless the run says otherwise. What stands before a line `{# user #}` is the system prompt. What a frame sees
besides, each family says of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

from ..catalog import BUILT_IN, Catalog
from ..errors import UnknownNameError, UsageError
from ..trial import Place
from .templates import files_of, names_used, render, source_of, template

FrameSource = Path | str  # a file, or the text of a template itself
NO_FRAMES = {"judge"}  # the prompt of benchmarks/judging, which a folder of templates may hold beside frames
_HEAD = re.compile(r"\{#-?\s*answer:\s*(marker|whole|first-line)\s*(?:,\s*shots:\s*(\d{1,3})\s*)?-?#\}")
_USER = re.compile(r"^[ \t]*\{#-?[ \t]*user[ \t]*-?#\}[ \t]*\r?$", re.MULTILINE)


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
        """Return True if examples would be seen."""
        return any("examples" in names_used(part) for part in _parts(self.source))

    def render(self, fields: Mapping[str, object]) -> Composed:
        """Return the system prompt and the prompt with the values of these fields.

        Raises:
            UsageError: if the template fails.
        """
        system, prompt = (render(part, dict(fields), f"frame {self.name}") for part in _parts(self.source))
        return Composed(system, prompt)

    def check_shown(self, prompt: Composed, names: Mapping[str, str], when: str = "") -> None:
        """Check that a prompt of the frame shows what it has to.

        Args:
            prompt: The prompt.
            names: The fields that have to be shown, with their value in lower case, which stands nowhere else.
            when: What is said of the prompt in messages, such as " in prompts with examples".

        Raises:
            UsageError: if the prompt does not show one of them.
        """
        text = "".join(prompt).casefold()
        for name, value in names.items():
            if value not in text:
                raise UsageError(
                    f"frame {self.name} does not show the {name}{when}; expected {{{{ {name} }}}} in the template"
                )


_F = TypeVar("_F", bound=Frame)


def built_in_frames(folder: Path) -> dict[str, FrameSource]:
    """Return the frames of a folder by name: a file `think_first.jinja` holds the frame `think-first`."""
    return {path.stem.replace("_", "-"): path for path in sorted(folder.glob("*.jinja"))}


def find_frame(kind: type[_F], frames: Catalog[FrameSource], name: str, templates: str = "") -> _F:
    """Return the frame of that name, or of that file.

    Args:
        kind: The class of frames of the family.
        frames: The frames of the family.
        name: A name of `frames` or of a file in `templates`, or a path.
        templates: A folder whose files stand in for those of the same name, or add to them.

    Raises:
        UnknownNameError: if there is no such frame.
        UsageError: if it is no template of a frame.
    """
    found = frame_sources(frames, templates)
    if name in found:
        return _read(kind, frames, name, found[name])
    path = Path(name)
    if path.suffix not in {".jinja", ".j2"} and not path.is_file():
        raise UnknownNameError("frame", name, [*found, "a file *.jinja"])
    return _read(kind, frames, path.stem, path)


def frame_sources(frames: Catalog[FrameSource], templates: str = "") -> dict[str, FrameSource]:
    """Return the sources of all frames by name, those of the folder before built-in ones.

    Raises:
        UsageError: if the templates are in no folder.
    """
    own = {name: path for name, path in files_of(templates).items() if name not in NO_FRAMES} if templates else {}
    others = {name: own.pop(file_stem(frames, name), source) for name, source in frames.items()}
    return {**own, **others}


def file_stem(frames: Catalog[FrameSource], name: str) -> str:
    """Return the name, without suffix, of a file in a folder of templates that stands in for the frame of that name."""
    source = frames[name]
    return source.stem if isinstance(source, Path) and frames.owner(name) == BUILT_IN else name


def _read(kind: type[_F], frames: Catalog[FrameSource], name: str, found: FrameSource) -> _F:
    if isinstance(found, Path):
        source, where = source_of(found, "frame"), str(found)
    else:
        source, where = found, f"frame {name} of {frames.owner(name)}"
    head = _HEAD.match(source)
    if head is None:
        raise UsageError(
            f"{where}:1: a frame begins with a line that says where the answer stands, "
            "such as {# answer: marker #}; the others are whole and first-line, "
            "and {# answer: marker, shots: 2 #} shows examples"
        )
    for part in _parts(source):
        template(part, where)
    return kind(name, source, cast(Place, head[1]), int(head[2] or 0))


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
