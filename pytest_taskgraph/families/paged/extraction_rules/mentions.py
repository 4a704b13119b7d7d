"""What a text says of a procedure, in the order of the text: actions, conditions, cues and constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Lead = Literal["", "start", "next", "split", "parallel", "within", "also", "join", "done", "exclusive"]
"""How a statement begins: "split" as the first of several that run in parallel, "parallel" beside what stands before,
"within" in the same branch, "also" as a further branch, "join" behind the branches of a choice, "done" behind several
that all are done, "exclusive" as the first of several of which one is chosen."""


@dataclass(frozen=True, slots=True)
class ActionMention:
    """An action.

    Args:
        text: The action as an imperative, without its actor.
        actor: Who does it; empty if that is not stated.
        recalled: Whether it is only recalled, as in "after packing the order".
        by_heading: Whether the actor is that of the heading above, so that no words of the clause name it.
    """

    text: str
    actor: str = ""
    recalled: bool = False
    by_heading: bool = False


@dataclass(frozen=True, slots=True)
class EndMention:
    """The statement that the procedure ends."""


@dataclass(frozen=True, slots=True)
class NothingMention:
    """The statement that nothing is to be done."""


@dataclass(frozen=True, slots=True)
class ReturnMention:
    """The statement that the procedure goes on at an action that was done before.

    Args:
        text: That action.
        action: The words as an action, for a text that names no action before.
    """

    text: str
    action: ActionMention


@dataclass(frozen=True, slots=True)
class ParallelMention:
    """Actions that are done at the same time: the steps of each branch."""

    branches: tuple[tuple[StepMention, ...], ...]


@dataclass(frozen=True, slots=True)
class ChoiceMention:
    """Alternatives without a condition of their own, such as "either sign or reject the form"."""

    sort: Literal["exclusive", "inclusive"]
    branches: tuple[tuple[StepMention, ...], ...]


StepMention = ActionMention | EndMention | NothingMention | ReturnMention | ParallelMention | ChoiceMention


@dataclass(frozen=True, slots=True)
class ConditionMention:
    """A condition.

    Args:
        text: The condition without its cue word; "otherwise" for an alternative to the conditions before.
        otherwise: Whether it is that alternative.
        occasion: What its words are as an action, if its cue is "when": it may be one that was done, not a condition.
        completed: Whether "when" and the verb state what happens before in any case, as in "when the meal is ready".
    """

    text: str
    otherwise: bool = False
    occasion: ActionMention | None = None
    completed: bool = False


@dataclass(frozen=True, slots=True)
class StatementMention:
    """A statement: what is done, in sequence, under which conditions, the outermost first.

    Args:
        steps: What is done; none where a condition stands alone, and the next statement says what follows from it.
        conditions: The conditions.
        lead: How it begins.
        opens_section: Whether a heading stands above it.
    """

    steps: tuple[StepMention, ...] = ()
    conditions: tuple[ConditionMention, ...] = ()
    lead: Lead = ""
    opens_section: bool = False


@dataclass(frozen=True, slots=True)
class ConstraintMention:
    """The data that an action needs or produces, or what is to be noted about it.

    Args:
        sort: "data" or "notice".
        text: The data or the notice.
        about: The action in words; empty for the last one that was mentioned.
        produced: Whether the action produces the data.
        actor: Who does the action, where that is stated.
    """

    sort: Literal["data", "notice"]
    text: str
    about: str = ""
    produced: bool = False
    actor: str = ""


Mention = StatementMention | ConstraintMention
