"""The multiple choice: which of two steps is the next one? By perplexity, or by the letter of an option.

Both ask about the same samples with the options in the same order, which the seed decides: in the published files the
right option always comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from ....benchmarks.family import QuestionReference
from ....scoring.forms.form import collapse_spaces
from ....scoring.metrics.class_shares import TIE
from ....trial import Question
from ..next_step_samples import ChoiceSample, join_steps
from ..prompts import PROMPTS
from ..sample_sets import asked_samples
from ..step_method import StepMethod
from ..steps_settings import StepsSettings
from .recipe_references import previous_steps, recipe_question, recipe_reference

LETTERS: Final = ("A", "B")


def option_fields(options: Sequence[str]) -> list[dict[str, str]]:
    """Return the letter and the text of each option, as prompt templates see them."""
    return [{"letter": letter, "text": text} for letter, text in zip(LETTERS, options, strict=True)]


def list_options(options: Sequence[str]) -> str:
    """Return the options in one line, each behind its letter."""
    return "; ".join(f"{letter}. {text}" for letter, text in zip(LETTERS, options, strict=True))


def letter_spellings(options: Sequence[str]) -> dict[str, str]:
    """Return the letter of each text of an option that stands for no other one; none for a text that is a letter.

    Args:
        options: The texts, in the order of their letters.
    """
    return {
        text: letter
        for letter, text in zip(LETTERS, options, strict=True)
        if options.count(text) == 1 and text not in (*LETTERS, TIE)
    }


def _references(name: str, settings: StepsSettings, count: int) -> list[QuestionReference]:
    return [_reference(name, sample, settings.seed) for sample in asked_samples(settings, count).choices]


def _reference(name: str, sample: ChoiceSample, seed: int) -> QuestionReference:
    options, right = sample.shuffled(seed)
    return recipe_reference(name, f"{sample.recipe}-{sample.position}", sample, LETTERS[right], {"options": [*options]})


def _by_letter(reference: QuestionReference, settings: StepsSettings) -> Question:
    options = _options(reference)
    fields = {"previous": previous_steps(reference), "options": option_fields(options)}
    return _question(
        reference,
        settings,
        prompt=PROMPTS.render("letter", fields, settings),
        names=[*LETTERS, TIE],
        spellings=letter_spellings(options),
    )


def _by_perplexity(reference: QuestionReference, settings: StepsSettings) -> Question:
    previous = previous_steps(reference)
    queries = [join_steps([*previous, option]) for option in _options(reference)]
    return _question(
        reference,
        settings,
        prompt="\n".join(queries),
        names=[*LETTERS, TIE],
        episode="lowest_perplexity",
        episode_settings={"queries": [[letter, query] for letter, query in zip(LETTERS, queries, strict=True)]},
    )


def _options(reference: QuestionReference) -> list[str]:
    """Return the options, each in one line."""
    return [collapse_spaces(step) for step in reference.payload["options"]]


def _question(
    reference: QuestionReference,
    settings: StepsSettings,
    **further: Any,  # noqa: ANN401 - fields of Question
) -> Question:
    text = f"After {'; '.join(previous_steps(reference))}: which is the next step? {list_options(_options(reference))}"
    return recipe_question(
        reference, settings, "multiple_choice", text=text, form="letter", metric="choice_accuracy", **further
    )


def _method(name: str, title: str, question: Callable[[QuestionReference, StepsSettings], Question]) -> StepMethod:
    return StepMethod(name, title, "multiple_choice", "choice_accuracy", partial(_references, name), question)


METHODS: Final[tuple[StepMethod, ...]] = (
    _method("perplexity", "the lower perplexity of previous steps and option", _by_perplexity),
    _method("letter", "the letter of one of two options", _by_letter),
)
