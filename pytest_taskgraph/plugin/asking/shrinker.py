"""Shrinking of wrong answers (`--taskgraph-shrink`): after all items, ask ever smaller questions of the same group.

Every call passes the store, the limits and the budget of the run. Each process shrinks the first question of each group
that was answered wrongly in it; under xdist, the smallest question of all workers is shown.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from ...errors import NotAskedError, PromptNotUnderstoodError, TaskgraphError, UsageError
from ...redaction import redact
from .. import options
from ..pytest_compat import params
from ..suites import asks
from .ask import ask, trial_of

if TYPE_CHECKING:
    from ...benchmarks.instances import Instance, Reducible
    from ...soundness.reduction import Reduction, ReductionLimits
    from ...trial import Trial
    from ..models_under_test import ModelUnderTest
    from ..suites import CollectedQuestion
    from .prefetch import AskingParts

OPTION: Final = "shrink"
OUTPUT_KEY: Final = "taskgraph_shrunk"  # in the output of a worker
_LAST: Final = 1 << 30  # position in the queue of requests: behind those of all items
_ANSWER: Final = 2000  # maximum number of characters of a reply in the output
_FAILED: Final = ("wrong", "unparseable")
Key = tuple[str, str, str]  # family, group, model


@dataclass(frozen=True, slots=True)
class ShrunkQuestion:
    """Result of shrinking one wrong answer, as plain data that xdist can send to the controller.

    Args:
        key: Family, group and model.
        nodeid: The item that was answered wrongly.
        outcome: The result of the reduction in one line.
        lines: The smallest question, with the reply and how to reproduce it; none if there is no smaller question.
        files: The regression test and its files, by name.
        size: The size of the smallest question; -1 if the failure was not confirmed.
    """

    key: Key
    nodeid: str
    outcome: str
    lines: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    size: int = -1


class _ShrinkJob:
    """The reduction of one question."""

    def __init__(self, parts: AskingParts, item: pytest.Item, trial: Trial, limits: ReductionLimits) -> None:
        held = params(item)
        self.collected: CollectedQuestion = held["taskgraph_reference"]
        self.model: ModelUnderTest = parts.models.of_item(held)
        self.nodeid, self.failure = item.nodeid, trial.outcome
        self.so_far: Reduction[Any] | None = None
        self.reason = ""  # why the question is not shrunk, if there is no reduction
        self._parts, self._limits = parts, limits
        self._missing = 0
        self._replies: dict[str, tuple[int, str]] = {}  # prompt -> repetition and text of the first wrong reply

    def reducible(self) -> Reducible[Any] | None:
        """Return the question with its reductions; None, with `reason` set, if it has none."""
        try:
            reducible = self.collected.family.reducible(self.collected.reference, self.collected.settings)
        except TaskgraphError as error:
            self.reason = str(error)
            return None
        if reducible is None:
            self.reason = f"questions of {self.collected.reference.group!r} cannot be made smaller"
        return reducible

    async def run(self, reducible: Reducible[Any], position: int) -> None:
        """Ask ever smaller questions, in the event loop."""
        from ...models.middleware.limits import POSITION
        from ...soundness.reduction import reduce

        POSITION.set(position)
        try:
            self.so_far = await reduce(reducible, self._fails, self._limits, self._keep)
        except TaskgraphError as error:
            self.reason = str(error)
        except Exception as error:  # of the family's code; the other questions are shrunk all the same
            self.reason = f"raised {type(error).__name__}: {error}"

    def result(self, key: Key) -> ShrunkQuestion:
        """Return the result so far."""
        from ...soundness.reduction import outcome_line, reduction_lines
        from ...soundness.regression_test import regression_test

        reduction = self.so_far
        if reduction is None:
            return ShrunkQuestion(key, self.nodeid, f"not shrunk: {redact(self.reason or 'the run was interrupted')}")
        outcome = redact(outcome_line(reduction, self._limits, self._missing))
        if reduction.errors < self._limits.needed:
            return ShrunkQuestion(key, self.nodeid, outcome)
        test = regression_test(self.collected.family, reduction.smallest, self.model.real_name)
        files = {name: redact(text) for name, text in test.items()}
        _, reply = self._replies.get(reduction.smallest.question.prompt, (0, ""))
        lines = tuple(map(redact, reduction_lines(reduction, reply, files)))
        return ShrunkQuestion(key, self.nodeid, outcome, lines, files, reduction.smallest.size)

    def _keep(self, reduction: Reduction[Any]) -> None:
        self.so_far = reduction

    async def _fails(self, instance: Instance, repetition: int) -> bool | None:
        """Return True if the model fails as before; None if no score is possible. Raises NotAskedError."""
        question = replace(instance.question, repetition=repetition)
        family, parts = self.collected.family, self._parts
        client = self.model.model(family)
        if (broken := parts.pipeline.broken(client.name)) is not None:
            raise NotAskedError(str(broken))
        self.model.learn_answer(question)
        model, episode = parts.pipeline.wrap(client), family.episode(question.episode)
        result = await ask(question, episode, model, parts.measuring, parts.pipeline.seconds)
        if isinstance(result.error, NotAskedError) and not isinstance(result.error, PromptNotUnderstoodError):
            raise result.error
        trial, _ = trial_of(question, self.model.name, result)
        if trial.reply is None or trial.outcome in ("error", "skipped"):
            self._missing += 1
            return None
        fails = trial.outcome == self.failure
        if fails:
            reply = (repetition, trial.reply.text[:_ANSWER])
            self._replies[question.prompt] = min(self._replies.get(question.prompt, reply), reply)
        return fails


class Shrinker:
    """The wrong answers of a run, and the questions that they were shrunk to.

    Args:
        parts: The objects that ask.
        tick: Function that is called a few times a second during the wait for replies.
    """

    def __init__(self, parts: AskingParts, tick: Callable[[], None]) -> None:
        self._parts, self._tick = parts, tick
        self._failed: dict[Key, _ShrinkJob] = {}
        self._shrunk: dict[Key, ShrunkQuestion] = {}
        self._folders: dict[Key, Path] = {}

    @property
    def shrunk(self) -> list[ShrunkQuestion]:
        """Return the results, in the order of the items."""
        return list(self._shrunk.values())

    @property
    def calls(self) -> int | None:
        """Return the maximum number of calls for each wrong answer; None without the option."""
        return options.whole(self._parts.config, OPTION)

    def check(self) -> None:
        """Check the options. Raises UsageError."""
        if self.calls is not None and self._folder.exists() and not self._folder.is_dir():
            raise UsageError(f"--taskgraph-shrink: {self._folder} is no folder; remove it")

    def notices(self, items: Sequence[pytest.Item]) -> list[str]:
        """Return a line on the calls for shrinking, which the plan of a run does not include."""
        if self.calls is None:
            return []
        asking = [params(item) for item in items if asks(item)]
        groups = {
            (held["taskgraph_reference"].family.name, held["taskgraph_reference"].reference.group,
             self._parts.models.of_item(held).name)
            for held in asking
        }  # fmt: skip
        most, workers = self.calls * len(groups), self._parts.pipeline.workers
        of_workers = f" and each of {workers} workers" if workers > 1 else ""
        each = f"{self.calls:,} calls more for each of {len(groups):,} groups{of_workers}"
        return [f"wrong answers are shrunk: up to {each}, {most * workers:,} in all"]

    def note(self, item: pytest.Item, trial: Trial) -> None:
        """Note the answer of an item if it is the first wrong answer of its group and model."""
        if trial.outcome in _FAILED and self.calls is not None:
            key = (trial.question.family, trial.question.group, trial.model)
            if key not in self._failed:
                self._failed[key] = _ShrinkJob(self._parts, item, trial, self._limits)

    def shrink(self) -> None:
        """Shrink all noted answers concurrently. After an interruption, the results so far are kept."""
        jobs = [(job, reducible) for job in self._failed.values() if (reducible := job.reducible()) is not None]

        async def run() -> None:
            await asyncio.gather(*(job.run(reducible, _LAST + k) for k, (job, reducible) in enumerate(jobs)))

        try:
            if jobs:
                self._parts.loop.wait(self._parts.loop.submit(run()), tick=self._tick)
        except NotAskedError as error:  # the loop has ended
            for job, _ in jobs:
                job.reason = job.reason or str(error)
        finally:
            self._shrunk |= {key: job.result(key) for key, job in self._failed.items()}
            self._failed.clear()

    def pack(self) -> str:
        """Return the results as text for the controller."""
        return json.dumps([asdict(question) for question in self.shrunk])

    def unpack(self, text: str | None) -> None:
        """Add the results of a worker; of two questions of one group, keep the smaller."""
        for fields in json.loads(text) if text else ():
            question = ShrunkQuestion(**{**fields, "key": tuple(fields["key"]), "lines": tuple(fields["lines"])})
            self._shrunk[question.key] = min(self._shrunk.get(question.key, question), question, key=_order)

    def write(self) -> str:
        """Write regression tests and their files, in a folder of each group, beside the stored replies.

        Returns:
            The reason if they cannot be written; else the empty text.
        """
        from ...soundness.regression_test import write_files

        for question in self.shrunk:
            if question.files:
                folder = self._folder / re.sub(r"[^0-9A-Za-z_.-]+", "_", "-".join(self._short_key(question.key)))
                try:
                    write_files(question.files, folder)
                except UsageError as error:
                    return f"--taskgraph-shrink: {error}"
                self._folders[question.key] = folder
        return ""

    def lines(self) -> Iterable[str]:
        """Yield the lines at the end of the run."""
        from ...reports.escape import disarm_lines, one_line

        for question in self.shrunk:
            yield f"{one_line(question.nodeid)}: {one_line(question.outcome)}"
            yield from map(disarm_lines, question.lines)
            if question.key in self._folders:
                yield ""
                yield f"written to {self._folders[question.key]}"
            yield ""

    def _short_key(self, key: Key) -> Key | tuple[str, str]:
        """Return the key, without the model if the run asked only one."""
        return key if len({model for _, _, model in self._shrunk}) > 1 else key[:2]

    @property
    def _folder(self) -> Path:
        return options.store_folder(self._parts.config) / "shrunk"

    @property
    def _limits(self) -> ReductionLimits:
        from ...soundness.reduction import ReductionLimits

        return ReductionLimits(self.calls or 1)


def _order(question: ShrunkQuestion) -> tuple[bool, int, str]:
    return question.size < 0, question.size, question.nodeid
