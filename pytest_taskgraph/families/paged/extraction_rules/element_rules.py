"""The rules by which extracted elements become statements, from which `tree_builder` builds a graph.

- A condition is about the activity behind it, and about those that "then" or "and" adds.
- "otherwise" is a condition; one that follows it is about the same branch.
- "at the same time" puts the next activity beside the previous activity.
- "or" makes the activities around it alternatives; "one or more of" all those up to the next cue, of which several may
  be chosen.
- "in any case", "after that" and the like lead behind the branches.
- A constraint is of the activity before it, and does not end what "then" adds to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

from .condition_words import OTHERWISE
from .extracted_element import ExtractedElement
from .mentions import (
    ActionMention,
    ChoiceMention,
    ConditionMention,
    ConstraintMention,
    EndMention,
    Lead,
    Mention,
    StatementMention,
    StepMention,
)

Cue = Literal["otherwise", "parallel", "done", "join", "next", "exclusive", "inclusive", "or", "start", ""]
_WORDS: Final[Mapping[Cue, str]] = {  # the first that is found decides
    "otherwise": "otherwise|else|if not|in (?:the|all) other cases?",
    "parallel": "at the same time|meanwhile|in the meantime|parallel|simultaneously|concurrently|while",
    "inclusive": "one or more|any of|at least one|inclusive",
    "done": "(?:once|when|after) (?:both|all|everything)",
    "join": "(?:any|either|both|all) (?:of these )?cases?|once|after|afterwards|finally|regardless|in the end|next",
    "exclusive": "either|one of|exclusive",
    "or": "and/or|or|alternatively",
    "start": "beginning|first|start|initially",
    "next": "then|and|followed",
}
_CUES: Final = {cue: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for cue, words in _WORDS.items()}


def cue_of(words: str) -> Cue:
    """Return what the cue phrase of a gateway means; nothing if no known word is in it."""
    return next((cue for cue, pattern in _CUES.items() if pattern.search(words)), "")


def mentions_of_elements(elements: Sequence[ExtractedElement]) -> Iterator[Mention]:
    """Yield what the elements say, statement by statement."""
    reader = _ElementReader()
    for element in elements:
        yield from reader.read(element)
    yield from reader.flush()


class _ElementReader:
    """Gathers the elements of a statement until the next one begins."""

    def __init__(self) -> None:
        self._steps: list[StepMention] = []
        self._conditions: list[ConditionMention] = []
        self._lead: Lead = ""
        self._linked = False  # whether a cue adds the next activity to the statement
        self._alternative = False  # whether a cue makes the next activity an alternative to the previous one
        self._choice: Literal["", "exclusive", "inclusive"] = ""  # of which the next activities are alternatives
        self._action = ActionMention("")  # the last one
        self._constraints: list[ConstraintMention] = []  # of the statement

    def read(self, element: ExtractedElement) -> Iterator[Mention]:
        """Yield the statements that are complete before an element."""
        match element.kind:
            case "activity":
                yield from self._activity(ActionMention(element.text, element.actor))
            case "condition":
                yield from self._condition(element.text)
            case "gateway":
                yield from self._gateway(cue_of(element.text))
            case "end":
                self._steps.append(EndMention())
                yield from self.flush()
            case "notice":
                self._constrain("notice", element.text)
            case "needs" | "produces":
                self._constrain("data", element.text, produced=element.kind == "produces")

    def flush(self) -> Iterator[Mention]:
        """Yield the statement so far, if there is one."""
        if self._steps or self._conditions:
            yield StatementMention(tuple(self._steps), tuple(self._conditions), self._lead)
        yield from self._constraints
        self._steps, self._conditions, self._constraints, self._lead = [], [], [], ""
        self._linked, self._alternative, self._choice = False, False, ""

    def _constrain(self, sort: Literal["data", "notice"], text: str, produced: bool = False) -> None:
        """Keep a constraint of the last activity."""
        action = self._action
        self._constraints.append(ConstraintMention(sort, text, action.text, produced, action.actor))

    def _activity(self, action: ActionMention) -> Iterator[Mention]:
        last = self._steps[-1] if self._steps else None
        self._action = action
        if self._choice and not isinstance(last, ChoiceMention):
            self._steps.append(ChoiceMention(self._choice, ((action,),)))
        elif isinstance(last, ChoiceMention) and (self._choice == "inclusive" or self._alternative):
            self._steps[-1] = replace(last, branches=(*last.branches, (action,)))
        elif isinstance(last, ActionMention) and self._alternative:
            self._steps[-1] = ChoiceMention("exclusive", ((last,), (action,)))
        else:
            if self._steps and not self._linked:
                yield from self.flush()
            self._steps.append(action)
        self._linked = self._alternative = False
        self._choice = "" if self._choice == "exclusive" else self._choice

    def _condition(self, text: str) -> Iterator[Mention]:
        if self._steps:
            yield from self.flush()
        if self._conditions and self._conditions[-1].text == OTHERWISE:
            self._conditions[-1] = ConditionMention(text, otherwise=True)
        else:
            self._conditions.append(ConditionMention(text))

    def _gateway(self, cue: Cue) -> Iterator[Mention]:
        match cue:
            case "otherwise":
                yield from self.flush()
                self._conditions.append(ConditionMention(OTHERWISE, otherwise=True))
            case "parallel" | "done" | "join" | "start":
                conditions = self._conditions if not self._steps else []
                self._conditions = [] if conditions else self._conditions
                yield from self.flush()
                self._conditions = conditions
                self._lead = cue
            case "exclusive" | "inclusive":
                if self._steps:
                    yield from self.flush()
                self._choice = cue
            case "or":
                self._alternative = True
            case "next":
                self._linked = bool(self._steps)
                self._choice = ""
