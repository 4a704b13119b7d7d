"""Prompt templates of questions about workflows: their variables, and the built-in templates.

The variables of a prompt template are `workflow` (the text), `notation` (such as "plain English"), `in_notation` (text
after "written", such as "in plain English" or "as JSON"), `guide`, `question`, `instruction`, `fence` (a code fence
that does not occur in the text), and `examples`, each with `workflow`, `fence`, `question` and `answer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from ....benchmarks.prompts import (
    ComposedPrompt,
    PromptSource,
    PromptTemplate,
    built_in_prompts,
    fence_for,
    find_prompt,
)
from ....catalog import Catalog, catalog_cache

PROMPTS: Final[Catalog[PromptSource]] = Catalog("prompt", built_in_prompts(Path(__file__).parent))
FIELDS: Final = ("workflow", "notation", "in_notation", "guide", "question", "instruction", "fence", "examples")
"""Variables of prompt templates."""
_WORKFLOW, _QUESTION = "theworkflowstandshere", "thequestionstandshere"  # placeholders for check()


@dataclass(frozen=True, slots=True)
class Example:
    """A solved question: the workflow's text, the question, and the answer as the prompt template expects it."""

    workflow: str
    question: str
    answer: str

    @property
    def fence(self) -> str:
        """Return a code fence that does not occur in the workflow."""
        return fence_for(self.workflow)


class WorkflowPrompt(PromptTemplate):
    """A prompt template for questions about workflows."""

    def check(self) -> None:
        """Render the template with and without examples.

        Raises:
            UsageError: if rendering fails, or the prompt does not show workflow and question.
        """
        prompts = {
            when: self.compose(
                workflow=_WORKFLOW, notation="", in_notation="", guide="", question=_QUESTION, instruction="",
                examples=examples,
            )
            for when, examples in (("", ()), (" in prompts with examples", (Example("", "", ""),)))
        }  # fmt: skip
        for when, prompt in prompts.items():
            self.check_fields_shown(prompt, {"workflow": _WORKFLOW, "question": _QUESTION}, when)

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
    ) -> ComposedPrompt:
        """Return the system prompt and the prompt.

        Args:
            workflow: The text of the workflow, or words in its place.
            notation: The name of its notation.
            in_notation: The text after "written".
            guide: The explanation of the notation.
            question: The question.
            instruction: The description of the answer's form.
            examples: Solved examples.
            fenced: False if words stand in the place of the workflow.

        Raises:
            UsageError: if the template fails.
        """
        fields = {
            "workflow": workflow, "notation": notation, "in_notation": in_notation, "guide": guide,
            "question": question, "instruction": instruction,
            "fence": fence_for(workflow) if fenced else "", "examples": tuple(examples),
        }  # fmt: skip
        return self.render(fields)


@catalog_cache
@lru_cache(maxsize=64)
def prompt_template(name: str, templates: str = "") -> WorkflowPrompt:
    """Return the prompt template of a name or file.

    Args:
        name: A name of `PROMPTS` or of a file in `templates`, or a path.
        templates: A folder whose files replace built-in ones.

    Raises:
        UnknownNameError: if there is no such prompt template.
        UsageError: if the file is not a valid template.
    """
    return find_prompt(WorkflowPrompt, PROMPTS, name, templates)
