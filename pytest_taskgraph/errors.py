"""Exceptions of the project.

TaskgraphError
├── UsageError                     the user has to change something
│   ├── UnknownNameError           a name is not known; the message lists the known names
│   ├── RegistrationError          a plugin or conftest file registers something invalid; the message names the file
│   ├── RunOptionError             an option of the run does not fit the suites; no mistake of one suite
│   ├── ReadError                  a text breaks its notation; the message has file, line and column
│   ├── WorkflowError              a workflow is not well-formed
│   ├── UnsupportedFeatureError    a notation does not support a feature of the workflow
│   ├── RecipeTooSmallError        a recipe requires more than its number of tasks allows
│   ├── RecipeTooLargeError        a recipe requires more tasks than the vocabulary of a domain has
│   ├── NoCaseError                there is no case to ask about
│   │   └── NothingToAskError      the user's own files hold no case; the suite is skipped
│   ├── DamagedReplyError          a stored reply cannot be read; the other replies can
│   └── UnmeasuredError            a metric that a model measures has no value
├── UnparseableError               a reply holds no answer in the requested form
├── OrderTooWideError              an answer cannot be scored exactly, and is not scored by a guess
├── ProviderError                  no reply arrived; never counted as a wrong answer
│   └── UnsentError                what a request needs is missing, such as a key; nothing was sent
└── NotAskedError                  the question was not asked
    ├── PromptNotUnderstoodError   a baseline does not find in the prompt what it needs
    ├── BudgetSpentError           the budget is spent
    └── CannotScoreError           the model scores no texts; it may answer other requests
        └── NoLogprobsError        the endpoint replies without log-probabilities; the reply may be billed
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
BUDGET_KINDS: Final = {"budget::calls": "calls", "budget::cost": "cost"}  # kind of BudgetSpentError -> what it limits


class TaskgraphError(Exception):
    """Base class of the errors that this package raises on purpose."""


class UsageError(TaskgraphError):
    """Error that the user can correct; shown without a traceback."""


class UnknownNameError(UsageError):
    """Unknown name of a kind of thing; the message lists the known names in alphabetical order, then what else may be.

    Args:
        kind: What has such names.
        name: The unknown name.
        known: The known names.
        further: What may stand in the place of a name, in words.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], further: str = "") -> None:
        known_names = sorted(known)
        listed = ", ".join([*known_names, *filter(None, [further])])
        super().__init__(f"unknown {kind} {name!r}; known: {listed or 'none'}")
        self.kind, self.name, self.known = kind, name, known_names


class RegistrationError(UsageError):
    """Invalid registration by a plugin or conftest file; the message names it and the reason, on one line."""


class RunOptionError(UsageError):
    """Option of the run that does not fit the suites, which is found when the first of them is collected."""


class ReadError(UsageError):
    """Text that breaks its notation.

    Args:
        where: The name of the file; empty for a text without a file.
        line: The line, from 1.
        column: The column, from 1.
        found: What stands there, in words.
        expected: What the notation expects there, in words.
    """

    def __init__(self, where: str, line: int, column: int, found: str, expected: str) -> None:
        super().__init__(f"{where or 'text'}:{line}:{column}: found {found}, expected {expected}")
        self.where, self.line, self.column, self.found, self.expected = where, line, column, found, expected


class WorkflowError(UsageError):
    """Workflow that breaks a rule of `workflow/check.py`."""


class UnsupportedFeatureError(UsageError):
    """Workflow with features that the notation does not support."""

    def __init__(self, notation: str, features: Iterable[str]) -> None:
        names = ", ".join(sorted(features))
        super().__init__(
            f"the notation {notation!r} does not support {names}; choose another one, or a workflow without {names}"
        )


class RecipeTooSmallError(UsageError):
    """Recipe that requires more than its number of tasks allows; `least` tasks are enough."""

    def __init__(self, tasks: int, least: int, features: Iterable[str]) -> None:
        requirements = ", ".join(sorted(features)) or "its width and depth"
        super().__init__(f"a workflow of {tasks} tasks is too small for {requirements}; at least {least} are needed")
        self.tasks, self.least = tasks, least


class RecipeTooLargeError(UsageError):
    """Recipe that requires more tasks than the vocabulary of a domain has; `most` tasks are available."""

    def __init__(self, tasks: int, most: int) -> None:
        super().__init__(f"a workflow of {tasks} tasks is too large for a domain; at most {most} tasks are available")
        self.tasks, self.most = tasks, most


class NoCaseError(UsageError):
    """Absence of any case to ask about."""


class NothingToAskError(NoCaseError):
    """Absence of any case in the user's own files; the suite is skipped with the message as its reason."""


class DamagedReplyError(UsageError):
    """Stored reply that cannot be read, while the others can; the message says how to replace it."""


class UnmeasuredError(UsageError):
    """Missing value of a metric that a model measures."""


class UnparseableError(TaskgraphError):
    """Reply without an answer in the requested form; the message says what was expected."""


class OrderTooWideError(TaskgraphError):
    """Partial order too wide, or answer too long, to score exactly: the search needs more than `most` states."""

    kind = "order-too-wide"

    def __init__(self, tasks: int, most: int) -> None:
        super().__init__(
            f"no exact score: an order of {tasks} tasks needs more than {most} states to search, for so many may run "
            "in any order or the answer is so long; ask about fewer tasks, or about ones with more order among them"
        )
        self.tasks, self.most, self.message = tasks, most, str(self)


class ProviderError(TaskgraphError):
    """Request without a reply.

    Args:
        kind: Why there is no reply.
        message: The provider's own message, on one line, without keys.
        retry_after: The seconds after which the provider allows another attempt; None if it does not state them.
        attempts: The number of attempts in all.
    """

    def __init__(
        self, kind: ProviderErrorKind, message: str, retry_after: float | None = None, attempts: int = 1
    ) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind, self.message, self.retry_after, self.attempts = kind, message, retry_after, attempts


class UnsentError(ProviderError):
    """Request that could not be sent, such as one without a key."""


class NotAskedError(TaskgraphError):
    """Question that was not asked; `message` says why, `kind` is a short name of the reason for counting."""

    kind: str = "skipped"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class PromptNotUnderstoodError(NotAskedError):
    """Prompt in which a baseline finds no workflow that it can parse, or no question that it knows."""

    kind = "prompt-not-understood"


class CannotScoreError(NotAskedError):
    """Model that scores no texts, or not those of this request; a question can then be asked in another way."""


class NoLogprobsError(CannotScoreError):
    """Reply to a score request without log-probabilities; the reply may be billed."""

    kind = "no-logprobs"


class BudgetSpentError(NotAskedError):
    """Question that `--taskgraph-max-calls` or `--taskgraph-max-cost` does not allow to ask."""

    def __init__(self, limit: Literal["calls", "cost"], message: str) -> None:
        super().__init__(message)
        self.kind, self.limit = f"budget::{limit}", limit


def unsupported_kind(kind: str, message: str) -> NotAskedError:
    """Return the error of a model that does not support a kind of request: for "score" a CannotScoreError."""
    return CannotScoreError(message) if kind == "score" else NotAskedError(message)
