"""`--taskgraph-shrink`: wrong answers are asked about again with ever smaller questions, once all items have run.

Every call passes the store, the limits and the budget of the run. Each process shrinks the first question of each group
that was answered wrongly there; under xdist, the smallest of all workers is shown.
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
_LAST: Final = 1 << 30  # position among the requests that wait for a slot: behind those of all items
_ANSWER: Final = 2000  # characters of a reply that are shown
_FAILED: Final = ("wrong", "unparseable")
Key = tuple[str, str, str]  # family, group, model


@dataclass(frozen=True, slots=True)
class ShrunkQuestion:
    """What became of one wrong answer, as plain data, which crosses to the controller of xdist.

    Args:
        key: Family, group and model.
        nodeid: The item that was answered wrongly.
        outcome: What the reduction came to, in one line.
        lines: The smallest question with all that shows and repeats it; none if there is no smaller one to tell.
        files: The regression test and its files, by name.
        size: The size of the smallest question; -1 if the failure was not confirmed.
    """

    key: Key
    nodeid: str
    outcome: str
    lines: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    size: int = -1


class _Shrinking:
    """The reduction of one question."""

    def __init__(self, parts: AskingParts, item: pytest.Item, trial: Trial, limits: ReductionLimits) -> None:
        held = params(item)
        self.collected: CollectedQuestion = held["taskgraph_reference"]
        self.subject: ModelUnderTest = parts.models.of_item(held)
        self.nodeid, self.failure = item.nodeid, trial.outcome
        self.so_far: Reduction[Any] | None = None
        self.reason = ""  # why it is not shrunk, where there is no reduction
        self._parts, self._limits = parts, limits
        self._missing = 0
        self._replies: dict[str, tuple[int, str]] = {}  # by prompt, the first reply that errs

    def reducible(self) -> Reducible[Any] | None:
        """Return the question with all that makes it smaller; None, with the reason, if it cannot be made smaller."""
        try:
            found = self.collected.family.reducible(self.collected.reference, self.collected.settings)
        except TaskgraphError as error:
            self.reason = str(error)
            return None
        if found is None:
            self.reason = f"questions of {self.collected.reference.group!r} cannot be made smaller"
        return found

    async def run(self, reducible: Reducible[Any], position: int) -> None:
        """Ask about ever smaller questions. In the loop."""
        from ...models.middleware.limits import POSITION
        from ...soundness.reduction import reduce

        POSITION.set(position)
        try:
            self.so_far = await reduce(reducible, self._errs, self._limits, self._watch)
        except TaskgraphError as error:
            self.reason = str(error)
        except Exception as error:  # of the family's code: the others are shrunk all the same
            self.reason = f"raised {type(error).__name__}: {error}"

    def result(self, key: Key) -> ShrunkQuestion:
        """Return what has come of it so far."""
        from ...soundness.reduction_lines import outcome_line, reduction_lines
        from ...soundness.regression_test import regression_test

        found = self.so_far
        if found is None:
            return ShrunkQuestion(key, self.nodeid, f"not shrunk: {redact(self.reason or 'the run was broken off')}")
        outcome = redact(outcome_line(found, self._limits, self._missing))
        if found.errors < self._limits.needed:
            return ShrunkQuestion(key, self.nodeid, outcome)
        test = regression_test(self.collected.family, found.smallest, self.subject.real_name)
        files = {name: redact(text) for name, text in test.items()}
        _, answered = self._replies.get(found.smallest.question.prompt, (0, ""))
        lines = tuple(map(redact, reduction_lines(found, answered, files)))
        return ShrunkQuestion(key, self.nodeid, outcome, lines, files, found.smallest.size)

    def _watch(self, reduction: Reduction[Any]) -> None:
        self.so_far = reduction

    async def _errs(self, instance: Instance, repetition: int) -> bool | None:
        """Return True if the model fails as it did; None if there is no answer. Raises NotAskedError."""
        question = replace(instance.question, repetition=repetition)
        family, parts = self.collected.family, self._parts
        client = self.subject.model(family)
        if (broken := parts.pipeline.broken(client.name)) is not None:
            raise NotAskedError(str(broken))
        self.subject.learn_answer(question)
        model, episode = parts.pipeline.wrap(client), family.episode(question.episode)
        result = await ask(question, episode, model, parts.measuring, parts.pipeline.seconds)
        if isinstance(result.error, NotAskedError) and not isinstance(result.error, PromptNotUnderstoodError):
            raise result.error
        trial, _ = trial_of(question, self.subject.name, result)
        if trial.reply is None or trial.outcome in ("error", "skipped"):
            self._missing += 1
            return None
        errs = trial.outcome == self.failure
        if errs:
            told = (repetition, trial.reply.text[:_ANSWER])
            self._replies[question.prompt] = min(self._replies.get(question.prompt, told), told)
        return errs


class Shrinker:
    """The wrong answers of a run, and what they were shrunk to.

    Args:
        parts: What it takes to ask.
        tick: Called a few times a second while replies are waited for.
    """

    def __init__(self, parts: AskingParts, tick: Callable[[], None]) -> None:
        self._parts, self._tick = parts, tick
        self._failed: dict[Key, _Shrinking] = {}
        self._shrunk: dict[Key, ShrunkQuestion] = {}
        self._folders: dict[Key, Path] = {}

    @property
    def shrunk(self) -> list[ShrunkQuestion]:
        """Return what the wrong answers came to, in the order of their items."""
        return list(self._shrunk.values())

    @property
    def calls(self) -> int | None:
        """Return the calls for each wrong answer that is shrunk; None without the option."""
        return options.whole(self._parts.config, OPTION)

    def check(self) -> None:
        """Check the options. Raises UsageError."""
        config = self._parts.config
        if self.calls is None:
            for name in ("shrink-votes", "shrink-to"):
                if options.flagged(config, name):
                    raise UsageError(f"{options.OPTIONS[name].flag}: nothing is shrunk; add --taskgraph-shrink=CALLS")
            return
        _ = self._limits
        folder = self._folder
        if folder is not None and folder.exists() and not folder.is_dir():
            raise UsageError(f"--taskgraph-shrink-to: {folder} is no folder; name another one")

    def notices(self, items: Sequence[pytest.Item]) -> list[str]:
        """Return what the plan of a run does not count, a line."""
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
        """Note the answer of an item, if it is the first one of its group and model that fails."""
        if self.calls is not None and trial.outcome in _FAILED:
            key = (trial.question.family, trial.question.group, trial.model)
            if key not in self._failed:
                self._failed[key] = _Shrinking(self._parts, item, trial, self._limits)

    def shrink(self) -> None:
        """Shrink all that was noted, side by side. What is broken off is kept as far as it has come."""
        jobs = [(one, reducible) for one in self._failed.values() if (reducible := one.reducible()) is not None]

        async def run() -> None:
            await asyncio.gather(*(one.run(made, _LAST + at) for at, (one, made) in enumerate(jobs)))

        try:
            if jobs:
                self._parts.loop.wait(self._parts.loop.submit(run()), tick=self._tick)
        except NotAskedError as error:  # the loop has ended
            for one, _ in jobs:
                one.reason = one.reason or str(error)
        finally:
            self._shrunk |= {key: one.result(key) for key, one in self._failed.items()}
            self._failed.clear()

    def pack(self) -> str:
        """Return what was found as text for the controller."""
        return json.dumps([asdict(one) for one in self.shrunk])

    def unpack(self, text: str | None) -> None:
        """Add what a worker found; of two workers' questions of one group, the smaller one is kept."""
        for told in json.loads(text) if text else ():
            told = {**told, "key": tuple(told["key"]), "lines": tuple(told["lines"])}
            one = ShrunkQuestion(**told)
            self._shrunk[one.key] = min(self._shrunk.get(one.key, one), one, key=_order)

    def write(self) -> str:
        """Write regression tests and their files into the folder that the user names; return what prevents it."""
        from ...soundness.regression_test import write_files

        parent = self._folder
        for one in self.shrunk if parent is not None else ():
            if one.files and parent is not None:
                folder = parent / re.sub(r"[^0-9A-Za-z_.-]+", "_", "-".join(self._telling(one.key)))
                try:
                    write_files(one.files, folder)
                except UsageError as error:
                    return f"--taskgraph-shrink-to: {error}"
                self._folders[one.key] = folder
        return ""

    def lines(self) -> Iterable[str]:
        """Yield the lines at the end of the run."""
        from ...reports.escape import disarm_lines, one_line

        for one in self.shrunk:
            yield f"{one_line(one.nodeid)}: {one_line(one.outcome)}"
            yield from map(disarm_lines, one.lines)
            if one.key in self._folders:
                yield ""
                yield f"written to {self._folders[one.key]}"
            yield ""

    def _telling(self, key: Key) -> Key | tuple[str, str]:
        """Return the key, without the model where only one was asked."""
        return key if len({model for _, _, model in self._shrunk}) > 1 else key[:2]

    @property
    def _folder(self) -> Path | None:
        named = options.value(self._parts.config, "shrink-to")
        return Path(self._parts.config.invocation_params.dir, named) if named else None

    @property
    def _limits(self) -> ReductionLimits:
        from ...soundness.reduction import ReductionLimits

        stated = options.value(self._parts.config, "shrink-votes")
        needed, slash, votes = stated.partition("/")
        if not (slash and needed.strip().isdecimal() and votes.strip().isdecimal()):
            raise UsageError(f"--taskgraph-shrink-votes: {stated!r}; expected K/N, such as 3/4")
        try:
            return ReductionLimits(self.calls or 1, int(needed), int(votes))
        except UsageError as error:
            raise UsageError(f"--taskgraph-shrink-votes: {error}") from None


def _order(one: ShrunkQuestion) -> tuple[bool, int, str]:
    return one.size < 0, one.size, one.nodeid
