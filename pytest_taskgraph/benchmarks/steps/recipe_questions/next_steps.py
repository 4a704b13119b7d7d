"""The classification: is a candidate a reasonable next step? Asked without demonstrations, with one, and with several.

What is asked with demonstrations is asked once for each of several draws of them (Wang et al. 2023, section 3.4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from ....scoring.forms.form import collapse_spaces
from ....trial import Question, digest_of
from ...family import QuestionReference
from ..demonstrations import draw_demonstrations
from ..next_step_samples import NextStepSample
from ..prompts import PROMPTS
from ..sample_sets import asked_samples
from ..step_method import StepMethod
from ..steps_options import PromptName, StepsSettings

DEMONSTRATED: Final = ("one_shot", "few_shot")
"""The methods that are asked once for each draw of demonstrations."""
CHANCE: Final = 0.5
WORDS: Final[Mapping[PromptName, tuple[str, str]]] = {"paper": ("Yes", "No"), "question": ("yes", "no")}
"""The words that each prompt asks for, whose log-probabilities are compared."""


def _references(name: str, settings: StepsSettings, count: int) -> list[QuestionReference]:
    seeds: Iterable[int | None] = range(1, settings.seeds + 1) if name in DEMONSTRATED else (None,)
    samples = asked_samples(settings, count).classification
    return [_reference(name, id, sample, seed) for seed in seeds for id, sample in _samples_by_id(samples)]


def _samples_by_id(samples: tuple[NextStepSample, ...]) -> Iterator[tuple[str, NextStepSample]]:
    """Yield the samples with what tells them apart: recipe, place, and which of the candidates it is."""
    seen: Counter[tuple[str, int, bool]] = Counter()
    for sample in samples:
        key = sample.recipe, sample.position, sample.label
        seen[key] += 1
        kind = "yes" if sample.label else "no"
        number = f"-{seen[key]}" if seen[key] > 1 else ""
        yield f"{sample.recipe}-{sample.position}-{kind}{number}", sample


def _reference(name: str, id: str, sample: NextStepSample, seed: int | None) -> QuestionReference:
    expected = "yes" if sample.label else "no"
    labels: dict[str, str | int | None] = {"expected": expected, "previous": len(sample.prefix), "seed": seed}
    payload: dict[str, Any] = {"previous": [*sample.prefix], "candidate": sample.candidate, "recipe": sample.recipe}
    return QuestionReference(
        f"{name}-{id}" + (f"-seed{seed}" if seed is not None else ""),
        name,
        payload=payload,
        labels=labels,
        cluster=f"recipe:{sample.recipe}",
    )


def _examples(reference: QuestionReference, settings: StepsSettings) -> tuple[NextStepSample, ...]:
    """Return the demonstrations of a question."""
    seed = reference.labels["seed"]
    if seed is None:
        return ()
    count = 1 if reference.group == "one_shot" else settings.examples
    return draw_demonstrations(settings, count, int(seed), reference.payload["recipe"])


def _question(reference: QuestionReference, settings: StepsSettings) -> Question:
    payload, examples = reference.payload, _examples(reference, settings)
    previous, candidate = [collapse_spaces(step) for step in payload["previous"]], collapse_spaces(payload["candidate"])
    fields = {"previous": previous, "candidate": candidate, "examples": [_example(example) for example in examples]}
    prompt = PROMPTS.render(settings.prompt_name, fields, settings)
    return Question(
        id=reference.id,
        family="steps",
        group=reference.group,
        section="classification",
        text=f"After {'; '.join(previous)}: is the next step “{candidate}”?",
        prompt=prompt,
        form="yes-no",
        reference=reference.labels["expected"],
        metric="class_accuracy",
        place="whole",
        parsing=settings.parsing,
        episode="next_step_by_text" if settings.answer == "text" else "next_step",
        episode_settings={"answer": settings.answer, "words": [*WORDS[settings.prompt_name]]},
        labels={label: value for label, value in reference.labels.items() if value is not None},
        cluster=reference.cluster,
        digests={"procedure": digest_of(payload["recipe"]), "prompt": digest_of(prompt)},
        chance=CHANCE,
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
