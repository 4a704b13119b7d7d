"""The multiple choice: which of two steps is the next one? By perplexity, or by the letter of an option.

Both ask about the same samples with the options in the same order, which the seed decides: in the published files the
right option always comes first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from ....scoring.forms.form import collapse_spaces
from ....trial import Question, digest_of
from ...family import QuestionReference
from ..next_step_samples import ChoiceSample
from ..option_letters import LETTERS, TIE, letter_spellings
from ..prompts import PROMPTS
from ..sample_sets import asked_samples
from ..step_method import StepMethod
from ..steps_options import StepsSettings

CHANCE: Final = 0.5
JOINT: Final = " . "
"""What stands between the steps of a query, as in the published files."""


def _references(name: str, settings: StepsSettings, count: int) -> list[QuestionReference]:
    return [_reference(name, sample, settings.seed) for sample in asked_samples(settings, count).choices]


def _reference(name: str, sample: ChoiceSample, seed: int) -> QuestionReference:
    options, right = sample.shuffled(seed)
    labels: dict[str, str | int | None] = {"expected": LETTERS[right], "previous": len(sample.prefix)}
    payload: dict[str, Any] = {"previous": [*sample.prefix], "options": [*options], "recipe": sample.recipe}
    return QuestionReference(
        f"{name}-{sample.recipe}-{sample.position}",
        name,
        payload=payload,
        labels=labels,
        cluster=f"recipe:{sample.recipe}",
    )


def _by_letter(reference: QuestionReference, settings: StepsSettings) -> Question:
    previous, options = _single_lines(reference)
    letters = dict(zip(LETTERS, options, strict=True))
    fields = {
        "previous": previous,
        "options": [{"letter": letter, "text": text} for letter, text in letters.items()],
    }
    return _question(
        reference,
        settings,
        prompt=PROMPTS.render("letter", fields, settings),
        names=[*LETTERS],
        spellings=letter_spellings(options),
    )


def _by_perplexity(reference: QuestionReference, settings: StepsSettings) -> Question:
    previous, options = _single_lines(reference)
    queries = [JOINT.join([*previous, option]) for option in options]
    return _question(
        reference,
        settings,
        prompt="\n".join(queries),
        names=[*LETTERS, TIE],
        episode="lowest_perplexity",
        episode_settings={"queries": [[letter, query] for letter, query in zip(LETTERS, queries, strict=True)]},
    )


def _single_lines(reference: QuestionReference) -> tuple[list[str], list[str]]:
    """Return the previous steps and the options, each in one line."""
    previous, options = reference.payload["previous"], reference.payload["options"]
    return [collapse_spaces(step) for step in previous], [collapse_spaces(step) for step in options]


def _question(
    reference: QuestionReference,
    settings: StepsSettings,
    *,
    prompt: str,
    **further: Any,  # noqa: ANN401 - fields of Question
) -> Question:
    previous, options = _single_lines(reference)
    listed = "; ".join(f"{letter}. {text}" for letter, text in zip(LETTERS, options, strict=True))
    return Question(
        id=reference.id,
        family="steps",
        group=reference.group,
        section="multiple_choice",
        text=f"After {'; '.join(previous)}: which is the next step? {listed}",
        prompt=prompt,
        form="letter",
        reference=reference.labels["expected"],
        metric="choice_accuracy",
        place="whole",
        parsing=settings.parsing,
        labels={label: value for label, value in reference.labels.items() if value is not None},
        cluster=reference.cluster,
        digests={"procedure": digest_of(reference.payload["recipe"]), "prompt": digest_of(prompt)},
        chance=CHANCE,
        **further,
    )


def _method(name: str, title: str, question: Callable[[QuestionReference, StepsSettings], Question]) -> StepMethod:
    return StepMethod(name, title, "multiple_choice", "choice_accuracy", partial(_references, name), question)


METHODS: Final[tuple[StepMethod, ...]] = (
    _method("perplexity", "the lower perplexity of previous steps and option", _by_perplexity),
    _method("letter", "the letter of one of two options", _by_letter),
)
