"""Questions about next steps whose answer is known exactly: those about a workflow.

A recipe is written down in one order, and another one would often do too: a "No" of STEPS may be wrong. Of a workflow
it is known which orders are valid (`run_beginnings.py`). A step is a reasonable next one after others if and only if
some run of the workflow begins with these and it, in this order. This part is not of Wang et al. (2023).

From a level, runs are drawn, each in one of its orders: N tasks. For places j from 2 to N-1, the first j-1 tasks are
given. The Yes is the j-th task; any other order or run that begins so would do as well. The No is a task that no run
has there. It is of one of three kinds, which take turns as far as there are any:

- "later": some run that begins so has the task later; it still has to wait.
- "excluded": no run that begins so has the task, since it is on a branch that was not taken.
- "done": it is one of the tasks given. Who knows only that no task runs twice finds it, so it is taken a quarter as
  often as the others.

So there are as many Yes as No, and each pair is a multiple choice too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Final, Literal

from ....errors import NoCaseError
from ....scoring.forms.form import collapse_spaces
from ....workflow.model import Workflow
from ..next_step_samples import ChoiceSample, NextStepSample
from .run_beginnings import RunBeginnings
from .workflow_sources import StepSource

Wording = Literal["names", "descriptions"]
WrongKind = Literal["later", "excluded", "done"]

FIRST_PLACE: Final = 2
LEAST_TASKS: Final = 3  # of a run that has a place to ask about
WEIGHTS: Final[dict[WrongKind, int]] = {"later": 4, "excluded": 4, "done": 1}
MOST_TRIED: Final = 12  # tasks that are looked at for one No


@dataclass(frozen=True, slots=True)
class StepPair:
    """A Yes and a No about one prefix, as tasks of the level.

    Args:
        run: The number of the run that it was drawn from.
        prefix: The tasks that have run.
        right: A task that can come next.
        wrong: A task that cannot.
        kind: Why it cannot.
    """

    run: int
    prefix: tuple[str, ...]
    right: str
    wrong: str
    kind: WrongKind

    @property
    def position(self) -> int:
        """The place of the next task, counted from 1."""
        return len(self.prefix) + 1


@dataclass(frozen=True, slots=True)
class WorkflowQuestions:
    """The questions about one level.

    Args:
        source: The level.
        pairs: What is asked, in the order of runs and places.
        classification: A Yes and a No for each pair.
        choices: A multiple choice for each pair.
        left_out: Why there are none; empty if there are.
    """

    source: StepSource
    pairs: tuple[StepPair, ...] = ()
    classification: tuple[NextStepSample, ...] = ()
    choices: tuple[ChoiceSample, ...] = ()
    left_out: str = ""


def workflow_questions(
    sources: Iterable[StepSource],
    seed: int,
    *,
    runs: int = 1,
    places: int | None = None,
    most: int | None = None,
    wording: Wording = "names",
) -> Iterator[WorkflowQuestions]:
    """Yield the questions about each of some levels; also a level about which nothing is asked, with the reason.

    Args:
        sources: The levels.
        seed: Decides on the runs, their orders and the wrong steps.
        runs: The number of runs drawn from each level; a prefix that was asked about before is passed over.
        places: The number of places asked about in each run; None for all.
        most: The number of places asked about in all runs of a level; None for all.
        wording: Whether a step is the name of a task or its description. Where some are missing or the same, names.
    """
    for source in sources:
        try:
            texts = step_texts(source.level, wording)
            pairs = tuple(islice(step_pairs(source.level, f"{seed}|{source.id}", runs=runs, places=places), most))
        except NoCaseError as error:
            yield WorkflowQuestions(source, left_out=str(error))
            continue
        yield _questions_in_words(source, pairs, texts)


def step_pairs(level: Workflow, seed: int | str, *, runs: int = 1, places: int | None = None) -> Iterator[StepPair]:
    """Yield a Yes and a No for the places of runs that are drawn from a level.

    Args:
        level: A level; sub-workflows are not entered.
        seed: Decides on the runs, their orders and the wrong steps.
        runs: The number of runs.
        places: The number of places asked about in each run; None for all.

    Raises:
        NoCaseError: if the runs of the level are not known exactly, or none has enough tasks; the message says
            why.
    """
    beginnings = RunBeginnings(level)
    seen: set[tuple[str, ...]] = set()
    phases = Random(f"{seed}|steps kinds")
    used = {kind: phases.random() for kind in WEIGHTS}
    longest = 0
    for number in range(runs):
        rng = Random(f"{seed}|steps run|{number}")
        order = beginnings.draw(rng)
        longest = max(longest, len(order))
        for place in _places(len(order), places, rng):
            prefix = order[: place - 1]
            if prefix not in seen:
                seen.add(prefix)
                wrong, kind = _wrong_step(beginnings, order, place, used, rng)
                used[kind] += 1
                yield StepPair(number, prefix, order[place - 1], wrong, kind)
    if longest < LEAST_TASKS:
        raise NoCaseError(f"no run with at least {LEAST_TASKS} tasks was found")


def step_texts(level: Workflow, wording: Wording) -> dict[str, str]:
    """Return the text of each task as a step: its name, or its description if all have one and no two the same.

    Each is one line: runs of white space are one space.

    Raises:
        NoCaseError: if two names differ in white space alone.
    """
    if wording == "descriptions":
        texts = {task.name: collapse_spaces(task.description) for task in level.tasks}
        if all(texts.values()) and len({text.casefold().rstrip(".") for text in texts.values()}) == len(texts):
            return texts
    names = {name: collapse_spaces(name) for name in level.task_names}
    if len(set(names.values())) < len(names):
        raise NoCaseError("two names of tasks differ in white space alone")
    return names


def _places(count: int, most: int | None, rng: Random) -> Sequence[int]:
    """Return the places asked about in a run of so many tasks."""
    places = range(FIRST_PLACE, count)
    return places if most is None or len(places) <= most else sorted(rng.sample(places, most))


def _wrong_step(
    beginnings: RunBeginnings, order: Sequence[str], place: int, used: Mapping[WrongKind, float], rng: Random
) -> tuple[str, WrongKind]:
    """Return a task that cannot come next, and why; of the kind that was used least, if there is one."""
    prefix = order[: place - 1]
    candidates: dict[WrongKind, str] = {"done": rng.choice(prefix)}
    later, elsewhere = list(order[place:]), sorted(set(beginnings.level.task_names).difference(order))
    rng.shuffle(later)
    rng.shuffle(elsewhere)
    # Tasks of this run can only be "later"; of the others it has to be found out.
    for tasks, kinds in ((later, {"later"}), (elsewhere, {"excluded", "later"})):
        for task in tasks[:MOST_TRIED]:
            if kinds <= candidates.keys():
                break
            reason = _wrong_kind(beginnings, prefix, task)
            if reason is not None:
                candidates.setdefault(reason, task)
    kind = min(candidates, key=lambda kind: (used[kind] / WEIGHTS[kind], list(WEIGHTS).index(kind)))
    return candidates[kind], kind


def _wrong_kind(beginnings: RunBeginnings, prefix: Sequence[str], task: str) -> WrongKind | None:
    """Return why a task that is not in the prefix cannot come next; None if it can, or that is undecided."""
    if beginnings.allow_next(prefix, task) is not False:
        return None
    later = beginnings.allow_later(prefix, task)
    return None if later is None else "later" if later else "excluded"


def _questions_in_words(source: StepSource, pairs: Sequence[StepPair], texts: dict[str, str]) -> WorkflowQuestions:
    """Return the questions in words."""
    samples: list[NextStepSample] = []
    choices: list[ChoiceSample] = []
    for pair in pairs:
        name, prefix = f"{source.id}-{pair.run}", tuple(texts[task] for task in pair.prefix)
        right, wrong = texts[pair.right], texts[pair.wrong]
        samples.append(NextStepSample(prefix, right, True, name, pair.position))
        samples.append(NextStepSample(prefix, wrong, False, name, pair.position))
        choices.append(ChoiceSample(prefix, right, wrong, name, pair.position))
    return WorkflowQuestions(source, tuple(pairs), tuple(samples), tuple(choices))
