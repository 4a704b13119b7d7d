"""The classification: is a candidate a reasonable next step? Asked without demonstrations, with one, and with several.

What is asked with demonstrations is asked once for each of several draws of them (Wang et al. 2023, section 3.4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Final

from ....benchmarks.family import QuestionReference
from ....scoring.forms.form import collapse_spaces
from ....trial import Question
from ..demonstrations import check_demonstrations, draw_demonstrations
from ..next_step_samples import NextStepSample
from ..prompts import PROMPTS
from ..sample_sets import asked_samples
from ..step_method import StepMethod
from ..steps_options import PromptName
from ..steps_settings import StepsSettings
from .recipe_references import previous_steps, recipe_question, recipe_reference

DEMONSTRATED: Final = ("one_shot", "few_shot")
"""The methods that are asked once for each draw of demonstrations."""
WORDS: Final[Mapping[PromptName, tuple[str, str]]] = {"paper": ("Yes", "No"), "question": ("yes", "no")}
"""The words that each prompt asks for, whose log-probabilities are compared."""


def _references(name: str, settings: StepsSettings, count: int) -> list[QuestionReference]:
    seeds: Iterable[int | None] = range(1, settings.seeds + 1) if name in DEMONSTRATED else (None,)
    samples = asked_samples(settings, count).classification
    if samples and name in DEMONSTRATED:
        check_demonstrations(settings, _demonstrations(name, settings))
    return [
        _reference(name, question_id, sample, seed) for seed in seeds for question_id, sample in _samples_by_id(samples)
    ]


def _samples_by_id(samples: tuple[NextStepSample, ...]) -> Iterator[tuple[str, NextStepSample]]:
    """Yield the samples with what distinguishes them: recipe, place, and which of the candidates it is."""
    seen: Counter[tuple[str, int, bool]] = Counter()
    for sample in samples:
        key = sample.recipe, sample.position, sample.label
        seen[key] += 1
        kind = "yes" if sample.label else "no"
        number = f"-{seen[key]}" if seen[key] > 1 else ""
        yield f"{sample.recipe}-{sample.position}-{kind}{number}", sample


def _reference(name: str, question_id: str, sample: NextStepSample, seed: int | None) -> QuestionReference:
    return recipe_reference(
        name,
        question_id if seed is None else f"{question_id}-seed{seed}",
        sample,
        "yes" if sample.label else "no",
        {"candidate": sample.candidate},
        {"seed": seed},
    )


def _examples(reference: QuestionReference, settings: StepsSettings) -> tuple[NextStepSample, ...]:
    """Return the demonstrations of a question."""
    seed = reference.labels["seed"]
    if seed is None:
        return ()
    count = _demonstrations(reference.group, settings)
    return draw_demonstrations(settings, count, int(seed), reference.payload["recipe"])


def _demonstrations(name: str, settings: StepsSettings) -> int:
    """Return the number of demonstrations of a method that has any."""
    return 1 if name == "one_shot" else settings.examples


def _question(reference: QuestionReference, settings: StepsSettings) -> Question:
    previous, candidate = previous_steps(reference), collapse_spaces(reference.payload["candidate"])
    examples = [_example(example) for example in _examples(reference, settings)]
    fields = {"previous": previous, "candidate": candidate, "examples": examples}
    return recipe_question(
        reference,
        settings,
        "classification",
        text=f"After {'; '.join(previous)}: is the next step “{candidate}”?",
        prompt=PROMPTS.render(settings.prompt_name, fields, settings),
        form="yes-no",
        metric="class_accuracy",
        episode="next_step_by_text" if settings.answer == "text" else "next_step",
        episode_settings={"answer": settings.answer, "words": [*WORDS[settings.prompt_name]]},
    )


def _example(sample: NextStepSample) -> dict[str, object]:
    """Return a demonstration as prompt templates see it."""
    return {
        "previous": [collapse_spaces(step) for step in sample.prefix],
        "candidate": collapse_spaces(sample.candidate),
        "label": sample.label,
    }


def _method(name: str, title: str) -> StepMethod:
    return StepMethod(name, title, "classification", "class_accuracy", partial(_references, name), _question)


METHODS: Final[tuple[StepMethod, ...]] = (
    _method("zero_shot", "no demonstration"),
    _method("one_shot", "one demonstration, of each draw"),
    _method("few_shot", "several demonstrations, half of them Yes, of each draw"),
)
