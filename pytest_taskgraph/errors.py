"""Every error of the project.

TaskgraphError
├── UsageError                what the user asked for cannot be done as asked
│   ├── UnknownNameError      … because a name is not known; the known ones are told
│   ├── RegistrationError     … because a plugin or a conftest cannot register what it does; it is named
│   ├── ReadError             … because a text is not of its notation; file, line and column are told
│   ├── WorkflowError         … because a workflow is not well-formed
│   ├── CannotSayError        … because a notation has no words for a feature
│   ├── RecipeTooSmallError   … because a recipe demands more than its number of tasks can hold
│   ├── RecipeTooLargeError   … because a recipe demands more tasks than the vocabulary of a domain has
│   ├── NoCaseError           … because there is nothing to ask
│   │   └── NothingToAskError     … about the user's own files: the suite is skipped
│   └── DamagedReplyError     … because a stored reply cannot be read; the others can
├── UnparseableError           a reply holds no answer of the form that was asked for
├── OrderTooWideError         an answer cannot be scored exactly: never a guess
├── ProviderError             no reply: never a wrong answer
└── NotAskedError             the question was not put: nothing recorded, a capability is missing
    ├── PromptNotUnderstoodError  … because a baseline does not find in the prompt what it goes by
    ├── BudgetSpentError      … because what was allowed is spent
    └── CannotScoreError      … because the model scores no texts; other requests it may answer
        └── NoLogprobsError       … because the endpoint replies without log-probabilities; that reply may be billed
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

ProviderErrorKind = Literal[
    "authentication",
    "payment",
    "not-found",
    "rate-limit",
    "timeout",
    "connection",
    "server",
    "content-filter",
    "context-too-long",
    "bad-request",
    "malformed",
    "empty",
    "too-large",
    "truncated",
    "not-stored",
    "store",
]
BUDGET_KINDS: Final = {"budget::calls": "calls", "budget::cost": "cost"}  # of BudgetSpentError, and what each limits


class TaskgraphError(Exception):
    """Anything that goes wrong here on purpose."""


class UsageError(TaskgraphError):
    """The user must change something; shown without a traceback."""


class UnknownNameError(UsageError):
    """A name that is not known, answered with those that are."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        super().__init__(f"unknown {kind} {name!r}; known: {', '.join(known) or 'none'}")
        self.kind, self.name, self.known = kind, name, known


class RegistrationError(UsageError):
    """What a plugin or a conftest registers cannot be; the message names it and the fault, on one line."""


class ReadError(UsageError):
    """A text that is not of its notation: where (file, line, column from 1), what was found, what was expected."""

    def __init__(self, where: str, line: int, column: int, found: str, expected: str) -> None:
        super().__init__(f"{where or 'text'}:{line}:{column}: found {found}, expected {expected}")
        self.where, self.line, self.column, self.found, self.expected = where, line, column, found, expected


class WorkflowError(UsageError):
    """A workflow that breaks a rule of `workflow/check.py`."""


class CannotSayError(UsageError):
    """A notation that has no words for a feature of the workflow."""

    def __init__(self, notation: str, features: Iterable[str]) -> None:
        named = ", ".join(sorted(features))
        super().__init__(f"the notation {notation!r} cannot say {named}; choose another one, or a workflow without")


class RecipeTooSmallError(UsageError):
    """A recipe that demands more than its number of tasks can hold; `least` tasks would do."""

    def __init__(self, tasks: int, least: int, features: Iterable[str]) -> None:
        named = ", ".join(sorted(features)) or "its width and depth"
        super().__init__(f"a workflow of {tasks} tasks is too small for {named}; at least {least} are needed")
        self.tasks, self.least = tasks, least


class RecipeTooLargeError(UsageError):
    """A recipe that demands more tasks than the vocabulary of a domain has; `most` tasks can be had."""

    def __init__(self, tasks: int, most: int) -> None:
        super().__init__(f"a workflow of {tasks} tasks is too large for a domain; at most {most} tasks can be had")
        self.tasks, self.most = tasks, most


class NoCaseError(UsageError):
    """There is nothing to ask about."""


class NothingToAskError(NoCaseError):
    """The user's own files hold nothing that a suite asks about: it is skipped with the reason."""


class DamagedReplyError(UsageError):
    """A stored reply that cannot be read, which says nothing of the others; the message says how to get past it."""


class UnmeasuredError(UsageError):
    """A metric that a model measures has no value."""


class UnparseableError(TaskgraphError):
    """A reply holds no answer of the form that was asked for; the message says what was expected."""


class OrderTooWideError(TaskgraphError):
    """A partial order too wide, or an answer too long, to score exactly: `most` states of a search were not enough."""

    kind = "order-too-wide"

    def __init__(self, tasks: int, most: int) -> None:
        super().__init__(
            f"no exact score: an order of {tasks} tasks needs more than {most} states to search, for so many may run "
            "in any order or the answer is so long; ask about fewer tasks, or about ones with more order among them"
        )
        self.tasks, self.most, self.message = tasks, most, str(self)


class ProviderError(TaskgraphError):
    """There is no reply. `kind` says why; `message` is the provider's own, on one line, without keys.

    `retry_after`: the seconds after which the provider wants to be asked again, where it said so. `attempts`: how often
    it was asked in all.
    """

    def __init__(
        self, kind: ProviderErrorKind, message: str, retry_after: float | None = None, attempts: int = 1
    ) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind, self.message, self.retry_after, self.attempts = kind, message, retry_after, attempts


class NotAskedError(TaskgraphError):
    """The question was not put to the model; `message` says why, and `kind` what kind of reason that is."""

    kind: str = "skipped"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class PromptNotUnderstoodError(NotAskedError):
    """A baseline does not find in the prompt what it goes by: no readable workflow, or no known question."""

    kind = "prompt-not-understood"


class CannotScoreError(NotAskedError):
    """The model scores no texts, or none of this request; a question can then be put in another way."""


class NoLogprobsError(CannotScoreError):
    """The endpoint takes a score request, and replies without log-probabilities; the reply may be billed."""

    kind = "no-logprobs"


class BudgetSpentError(NotAskedError):
    """The question was not put, for `--taskgraph-max-calls` or `--taskgraph-max-cost` allows no more."""

    def __init__(self, limit: Literal["calls", "cost"], message: str) -> None:
        super().__init__(message)
        self.kind, self.limit = f"budget::{limit}", limit


def unsupported_kind(kind: str, message: str) -> NotAskedError:
    """Return the error of a model that takes no requests of the given kind: for "score" a CannotScoreError."""
    return CannotScoreError(message) if kind == "score" else NotAskedError(message)
