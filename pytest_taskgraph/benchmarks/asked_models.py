"""Support for commands of a family that ask a model: their options, and the results of their requests.

A family opens no model itself. The command line passes in `ask_model` with the parsed options, which puts store, limits
and budget around the model, as in a run of pytest (`commands/model_requests.py`).
"""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from ..errors import TaskgraphError, UsageError

if TYPE_CHECKING:
    from ..asking import Model

T = TypeVar("T")
Ask = Callable[["Model"], Awaitable[T]]
"""Asks a model about one of the items of a command, and returns the result."""
STORE: Final = Path(".taskgraph")
_OF_RUNS: Final = "--taskgraph-"


@dataclass(frozen=True, slots=True)
class AskResults(Generic[T]):
    """The results of asking a model about several items.

    Args:
        results: For each item its result, or the reason why there is none: a ProviderError, NotAskedError or
            UnparseableError.
        usage: A line on requests and cost, for the user.
    """

    results: tuple[T | TaskgraphError, ...]
    usage: str


class AskModel(Protocol):
    """Asks the model that the options of a command state."""

    def __call__(self, options: argparse.Namespace, asks: Sequence[Ask[T]]) -> AskResults[T]:
        """Return the result of each ask, in their order; they are asked concurrently.

        Raises:
            UsageError: if the model cannot be opened or does not accept an option; nothing is asked then.
            KeyboardInterrupt: if the user interrupts; replies that arrived are in the store.
        """
        ...


def add_model_arguments(parser: argparse.ArgumentParser, purpose: str) -> None:
    """Add the options that state a model, its store and its limits to a parser.

    Args:
        parser: The parser of the command.
        purpose: What the model does, for the help, such as "that paraphrases documents".
    """
    group = parser.add_argument_group(f"the model {purpose}")
    group.add_argument(
        "--model", metavar="SPEC", help="the model, as --taskgraph-model of a run names it, such as openai/gpt-4o"
    )
    group.add_argument(
        "--model-option",
        metavar="KEY=VALUE",
        action="append",
        type=_pair,
        default=[],
        help="a setting of the model, such as temperature=0. Repeatable",
    )
    group.add_argument(
        "--store",
        metavar="PATH",
        type=Path,
        default=STORE,
        help="the folder in which replies are kept, and not asked for again (default: %(default)s)",
    )
    _add_limits(group)


def _add_limits(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--replay", action="store_true", help="take all replies from the store; send nothing")
    group.add_argument("--refresh", action="store_true", help="send requests again whose replies are stored")
    group.add_argument("--max-calls", metavar="N", type=_whole, help="maximum number of requests sent, with retries")
    group.add_argument("--max-cost", metavar="USD", type=_amount, help="maximum cost in US dollars")
    group.add_argument(
        "--price",
        metavar="[MODEL=]IN/OUT",
        action="append",
        default=[],
        help="US dollars per million tokens in and out, where the price is not known. Repeatable",
    )
    group.add_argument(
        "--concurrency", metavar="N", type=_whole, help="number of requests in flight (default: adaptive, from 20 on)"
    )
    group.add_argument("--rpm", metavar="N", type=_whole, help="maximum number of requests per minute")
    group.add_argument(
        "--retries", metavar="N", type=_count, default=5, help="maximum number of retries of a request (default: 5)"
    )
    group.add_argument(
        "--timeout", metavar="SECONDS", type=_amount, default=300.0, help="time limit of one attempt (default: 300)"
    )


def ask_stated_model(options: argparse.Namespace, asks: Sequence[Ask[T]]) -> AskResults[T]:
    """Ask the model that the options state.

    Raises:
        UsageError: if no model is stated, or it cannot be asked.
    """
    if options.model is None:
        raise UsageError("--model=SPEC is missing; name the model that is to be asked, such as openai/gpt-4o")
    ask: AskModel = options.ask_model
    return ask(options, asks)


def with_command_options(message: str) -> str:
    """Return a message that names options of a run with those of a command, which lack the prefix."""
    return message.replace(_OF_RUNS, "--")


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():  # the text is not repeated: it may be a key
        raise argparse.ArgumentTypeError("a value without a name; expected KEY=VALUE")
    return key.strip(), value


def _whole(text: str) -> int:
    return _number(text, 1)


def _count(text: str) -> int:
    return _number(text, 0)


def _number(text: str, least: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10) or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text[:40]!r}; expected a whole number of at least {least}")
    return int(text)


def _amount(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text[:40]!r}; expected a number above 0")
    return value
