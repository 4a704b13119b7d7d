"""Prompt templates: how question, instruction and what they are about are put, and where the answer stands.

A prompt template is a Jinja file; its first line says where the answer stands: `{# answer: marker #}` (after "Final
answer:"), `{# answer: whole #}` or `{# answer: first-line #}`; `{# answer: marker, shots: 2 #}` says how many solved
examples it shows unless the run says otherwise. What stands before a line `{# user #}` is the system prompt. What a
prompt template sees besides, each family says of its own.
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
from .templates import files_of, render, source_of, template, undeclared_names

PromptSource = Path | str  # a file, or the text of a template itself
NO_PROMPTS = {"judge"}  # the prompt of benchmarks/llm_judge, which a folder of templates may hold beside them
_HEAD = re.compile(r"\{#-?\s*answer:\s*(marker|whole|first-line)\s*(?:,\s*shots:\s*(\d{1,3})\s*)?-?#\}")
_USER = re.compile(r"^[ \t]*\{#-?[ \t]*user[ \t]*-?#\}[ \t]*\r?$", re.MULTILINE)


class ComposedPrompt(NamedTuple):
    """What the model is told; no system prompt where that is empty."""

    system: str
    prompt: str


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A way to put a question."""

    name: str
    source: str
    place: Place
    shots: int = 0  # solved examples before the question, unless the run says otherwise

    @property
    def shows_examples(self) -> bool:
        """Return True if examples would be seen."""
        return any("examples" in undeclared_names(part) for part in _parts(self.source))

    def render(self, fields: Mapping[str, object]) -> ComposedPrompt:
        """Return the system prompt and the prompt with the values of these fields.

        Raises:
            UsageError: if the template fails.
        """
        system, prompt = (render(part, dict(fields), f"prompt {self.name}") for part in _parts(self.source))
        return ComposedPrompt(system, prompt)

    def check_fields_shown(self, prompt: ComposedPrompt, names: Mapping[str, str], when: str = "") -> None:
        """Check that a prompt made of the template shows what it has to.

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
                    f"prompt {self.name} does not show the {name}{when}; expected {{{{ {name} }}}} in the template"
                )


_F = TypeVar("_F", bound=PromptTemplate)


def built_in_prompts(folder: Path) -> dict[str, PromptSource]:
    """Return the prompt templates of a folder by name: `few_shot.jinja` holds the one named `few-shot`."""
    return {path.stem.replace("_", "-"): path for path in sorted(folder.glob("*.jinja"))}


def find_prompt(kind: type[_F], prompts: Catalog[PromptSource], name: str, templates: str = "") -> _F:
    """Return the prompt template of that name, or of that file.

    Args:
        kind: The class of prompt templates of the family.
        prompts: The prompt templates of the family.
        name: A name of `prompts` or of a file in `templates`, or a path.
        templates: A folder whose files stand in for those of the same name, or add to them.

    Raises:
        UnknownNameError: if there is no such prompt template.
        UsageError: if it is not written as one.
    """
    found = prompt_sources(prompts, templates)
    if name in found:
        return _read(kind, prompts, name, found[name])
    path = Path(name)
    if path.suffix not in {".jinja", ".j2"} and not path.is_file():
        raise UnknownNameError("prompt", name, [*found, "a file *.jinja"])
    return _read(kind, prompts, path.stem, path)


def prompt_sources(prompts: Catalog[PromptSource], templates: str = "") -> dict[str, PromptSource]:
    """Return the sources of all prompt templates by name, those of the folder before built-in ones.

    Raises:
        UsageError: if the templates are in no folder.
    """
    own = {name: path for name, path in files_of(templates).items() if name not in NO_PROMPTS} if templates else {}
    others = {name: own.pop(file_stem(prompts, name), source) for name, source in prompts.items()}
    return {**own, **others}


def file_stem(prompts: Catalog[PromptSource], name: str) -> str:
    """Return the name, without suffix, of a file in a folder of templates that replaces the prompt of that name."""
    source = prompts[name]
    return source.stem if isinstance(source, Path) and prompts.owner(name) == BUILT_IN else name


def _read(kind: type[_F], prompts: Catalog[PromptSource], name: str, found: PromptSource) -> _F:
    if isinstance(found, Path):
        source, where = source_of(found, "prompt"), str(found)
    else:
        source, where = found, f"prompt {name} of {prompts.owner(name)}"
    head = _HEAD.match(source)
    if head is None:
        raise UsageError(
            f"{where}:1: a prompt template begins with a line that says where the answer stands, "
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
