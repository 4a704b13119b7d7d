"""Questions about one place of a workflow: whether a task can run next, and which of two can."""

from __future__ import annotations

from typing import Any

from ....scoring.metrics.class_shares import TIE
from ....trial import Question
from ...family import QuestionReference
from ...prompts import fence_for
from ...understanding.own_files.interpretations import guide_for, spellings_for
from ...understanding.questions.labels import difficulty
from ..option_letters import LETTERS, letter_spellings, list_options, option_fields
from ..prompts import PROMPTS
from ..question_assembly import assemble_question
from ..steps_options import StepsSettings
from .step_levels import ShownLevel, shown_level
from .workflow_steps import StepPair


def ask_step(reference: QuestionReference, settings: StepsSettings) -> Question:
    """Return the question if a task can run next."""
    level, at = shown_level(reference.payload, settings), reference.payload["place"]
    pair, wrong = level.questions.pairs[at], reference.payload["expected"] == "no"
    sample = level.questions.classification[2 * at + wrong]
    fields = _fields(level, sample.prefix) | {"candidate": sample.candidate}
    return _question(
        reference,
        settings,
        level,
        pair,
        text=f"After {'; '.join(sample.prefix)}: can “{sample.candidate}” run next?",
        prompt=PROMPTS.render(reference.group, fields, settings),
        form="yes-no",
        reference="no" if wrong else "yes",
        metric="class_accuracy",
        wrong=pair.kind if wrong else "",
    )


def ask_choice(reference: QuestionReference, settings: StepsSettings) -> Question:
    """Return the question which of two tasks can run next."""
    level, at = shown_level(reference.payload, settings), reference.payload["place"]
    sample, pair = level.questions.choices[at], level.questions.pairs[at]
    options, right = sample.shuffled(settings.seed)
    tasks = (pair.right, pair.wrong) if right == 0 else (pair.wrong, pair.right)
    fields = _fields(level, sample.prefix) | {"options": option_fields(options)}
    return _question(
        reference,
        settings,
        level,
        pair,
        text=f"After {'; '.join(sample.prefix)}: which can run next? {list_options(options)}",
        prompt=PROMPTS.render(reference.group, fields, settings),
        form="letter",
        reference=LETTERS[right],
        metric="choice_accuracy",
        wrong=pair.kind,
        names=[*LETTERS, TIE],
        spellings=_spellings(level, tasks, options),
    )


def _fields(level: ShownLevel, prefix: tuple[str, ...]) -> dict[str, Any]:
    """Return what the templates of both questions see."""
    return {
        "workflow": level.text,
        "fence": fence_for(level.text),
        "in_notation": level.notation.phrase,
        "guide": guide_for(level.notation, level.text, level.own, examples=False),
        "place": level.place,
        "previous": [*prefix],
    }


def _spellings(level: ShownLevel, tasks: tuple[str, ...], options: tuple[str, ...]) -> dict[str, str]:
    """Return the letters of the texts of options, and of further names that the user's text has for these tasks."""
    letters = dict(zip(tasks, LETTERS, strict=True))
    further = spellings_for(level.notation, level.text, level.source.root) if level.own else {}
    taken = {text.casefold() for text in (*LETTERS, TIE, *options)}
    further_spellings = {
        word: letters[task] for word, task in further.items() if task in letters and word.casefold() not in taken
    }
    return {**letter_spellings(options), **further_spellings}


def _question(
    item: QuestionReference,
    settings: StepsSettings,
    level: ShownLevel,
    pair: StepPair,
    *,
    wrong: str,
    **further: Any,  # noqa: ANN401 - fields of Question
) -> Question:
    labels: dict[str, str | int | None] = {
        **item.labels,
        "previous": len(pair.prefix),
        "expected": further["reference"],
        **({"wrong": wrong} if wrong else {}),
        **({"names": level.source.names} if level.source.names else {}),
        **difficulty(level.source.level),
    }
    return assemble_question(
        item,
        settings,
        "workflows",
        procedure=level.digest,
        cluster=f"workflow:{level.digest}",
        labels=labels,
        **further,
    )
