"""Prompt templates: the text around question and instruction, and the place of the answer.

A prompt template is a Jinja file; its first line states the place of the answer: `{# answer: marker #}` (after "Final
answer:"), `{# answer: whole #}` or `{# answer: first-line #}`; `{# answer: marker, shots: 2 #}` adds how many
in-context examples it shows unless the run states another number. Text before a line `{# user #}` is the system prompt.
The further variables of a template depend on the family.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

from ..catalog import BUILT_IN, Catalog
from ..errors import UnknownNameError, UsageError
from ..trial import Place
from .templates import files_of, render, source_of, template, undeclared_names

PromptSource = Path | str  # a file, or the text of a template itself
NO_PROMPTS = {"judge"}  # the prompt of benchmarks/llm_judge, which a folder of templates may hold beside them
_HEAD = re.compile(r"\{#-?\s*answer:\s*(marker|whole|first-line)\s*(?:,\s*shots:\s*(\d{1,3})\s*)?-?#\}")
_USER = re.compile(r"^[ \t]*\{#-?[ \t]*user[ \t]*-?#\}[ \t]*\r?$", re.MULTILINE)


class ComposedPrompt(NamedTuple):
    """The texts that are sent to the model; `system` is empty if there is no system prompt."""

    system: str
    prompt: str


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A template that presents a question."""

    name: str
    source: str
    place: Place
    shots: int = 0  # in-context examples, unless the run states another number

    @property
    def shows_examples(self) -> bool:
        """Return True if the template shows in-context examples."""
        return any("examples" in undeclared_names(part) for part in _parts(self.source))

    def render(self, fields: Mapping[str, object]) -> ComposedPrompt:
        """Return the system prompt and the prompt with the values of these fields.

        Raises:
            UsageError: if the template fails.
        """
        where = f"prompt {self.name}"
        system, prompt = (render(part, dict(fields), where) if part else "" for part in _parts(self.source))
        return ComposedPrompt(system, prompt)

    def check_fields_shown(self, prompt: ComposedPrompt, names: Mapping[str, str], when: str = "") -> None:
        """Check that a prompt made of the template shows the required fields.

        Args:
            prompt: The prompt.
            names: The required fields, with their value in lower case, which occurs nowhere else.
            when: A condition for messages, such as " in prompts with examples".

        Raises:
            UsageError: if the prompt does not show one of them.
        """
        text = "".join(prompt).casefold()
        for name, value in names.items():
            if value not in text:
                raise UsageError(
                    f"prompt {self.name} does not show the {name}{when}; expected {{{{ {name} }}}} in the template"
                )


_F = TypeVar("_F", bound=PromptTemplate)


def built_in_prompts(folder: Path) -> dict[str, PromptSource]:
    """Return the prompt templates of a folder by name: `few_shot.jinja` holds the template `few-shot`."""
    return {path.stem.replace("_", "-"): path for path in sorted(folder.glob("*.jinja"))}


def find_prompt(kind: type[_F], prompts: Catalog[PromptSource], name: str, templates: str = "") -> _F:
    """Return the prompt template of that name, or of that file.

    Args:
        kind: The class of prompt templates of the family.
        prompts: The prompt templates of the family.
        name: A name of `prompts` or of a file in `templates`, or a path.
        templates: A folder whose files replace those of the same name, or add to them.

    Raises:
        UnknownNameError: if there is no such prompt template.
        UsageError: if it is malformed.
    """
    sources = prompt_sources(prompts, templates)
    if name in sources:
        return _read(kind, prompts, name, sources[name])
    path = Path(name)
    if path.suffix not in {".jinja", ".j2"} and not path.is_file():
        raise UnknownNameError("prompt", name, sources, "or a file *.jinja")
    return _read(kind, prompts, path.stem, path)


def prompt_sources(prompts: Catalog[PromptSource], templates: str = "") -> dict[str, PromptSource]:
    """Return the sources of all prompt templates by name; files of the folder override built-in templates.

    Raises:
        UsageError: if the folder does not exist or holds other files.
    """
    own = {name: path for name, path in files_of(templates).items() if name not in NO_PROMPTS} if templates else {}
    others = {name: own.pop(file_stem(prompts, name), source) for name, source in prompts.items()}
    return {**own, **others}


def file_stem(prompts: Catalog[PromptSource], name: str) -> str:
    """Return the name, without suffix, of the file in a folder of templates that replaces the prompt of that name."""
    source = prompts[name]
    return source.stem if isinstance(source, Path) and prompts.owner(name) == BUILT_IN else name


def _read(kind: type[_F], prompts: Catalog[PromptSource], name: str, source_or_path: PromptSource) -> _F:
    if isinstance(source_or_path, Path):
        source, where = source_of(source_or_path, "prompt"), str(source_or_path)
    else:
        source, where = source_or_path, f"prompt {name} of {prompts.owner(name)}"
    head = _HEAD.match(source)
    if head is None:
        raise UsageError(
            f"{where}:1: a prompt template begins with a line that says where the answer stands, "
            "such as {# answer: marker #}; the others are whole and first-line, "
            "and {# answer: marker, shots: 2 #} shows examples"
        )
    if not prompts.is_built_in(name) or source_or_path is not prompts[name]:
        for part in _parts(source):
            template(part, where)
    return kind(name, source, cast(Place, head[1]), int(head[2] or 0))


@lru_cache(maxsize=64)
def _parts(source: str) -> tuple[str, str]:
    """Return the templates of the system prompt and of the prompt; lines keep their numbers."""
    border = _USER.search(source)
    if border is None:
        return "", source
    system = source[: border.start()]
    return system, "\n" * system.count("\n") + source[border.end() :]


def fence_for(text: str) -> str:
    """Return a code fence that does not occur in the text."""
    longest = max(map(len, re.findall("`+", text))) if "`" in text else 0
    return "`" * max(3, longest + 1)
