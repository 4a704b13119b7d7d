"""Episodes and models: an episode asks one question by yielding requests, and a model answers each of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from .errors import NoLogprobsError, NotAskedError, ProviderError, UsageError
from .trial import Json, Question, Reply, Request


class Model(Protocol):
    """Object that answers requests. Store, budget and limits are models that wrap a model.

    The attribute `immediate = True` states that `answer` never waits: such a model is asked without an event loop.
    """

    name: str

    async def answer(self, request: Request) -> Reply:
        """Return the reply to the request.

        Raises:
            ProviderError: if no reply arrives.
            NotAskedError: if the request is not sent.
        """
        ...


@dataclass(slots=True)
class Exchange:
    """A request with its reply or its failure; with neither if the time for the question ran out."""

    request: Request
    reply: Reply | None = None
    failure: ProviderError | NotAskedError | None = None
    note: Mapping[str, Json] = field(default_factory=dict)  # the remark of the episode, for the record

    @property
    def sent(self) -> bool:
        """Return True if the request was sent: neither a limit nor the client refused it beforehand.

        A reply without log-probabilities did arrive, and may be billed.
        """
        return not isinstance(self.failure, NotAskedError) or isinstance(self.failure, NoLogprobsError)


@dataclass(frozen=True, slots=True)
class Transcript:
    """Result of an episode. `drive` collects the exchanges, so that an episode need not.

    Attributes:
        reply: The reply to score: one of the replies, or one that the episode composed of several.
        metrics: The values that the episode measured, by name; None is undefined.
        parts: Numerator and denominator of those values that are ratios, by name.
        notes: Remarks for the record, one for each exchange in the order of asking, failed requests included; the last
            exchanges may be without one.
    """

    reply: Reply
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    parts: Mapping[str, list[float]] = field(default_factory=dict)
    notes: Sequence[Mapping[str, Json]] = ()


Turns = Generator[list[Request], list[Reply], Transcript]
Episode = Callable[[Question], Turns]
_E = TypeVar("_E", bound=Episode)


def one_turn(episode: _E) -> _E:
    """Mark an episode that sends only its first list of requests, so that a dry run can count all of them."""
    vars(episode)["one_turn"] = True
    return episode


def is_one_turn(episode: Episode) -> bool:
    """Return True if `one_turn` marks the episode: its first requests are all that it sends."""
    return bool(getattr(episode, "one_turn", False))


async def drive(
    turns: Turns,
    answer: Callable[[Request], Awaitable[Reply]],
    exchanges: list[Exchange] | None = None,
    waits: bool = True,
) -> Transcript:
    """Send the requests of an episode, and return its result.

    The requests of one turn are sent concurrently. Each is appended to `exchanges` as it is sent, so that the list
    holds everything that was paid for wherever the episode ends. If requests of a turn fail, the first failure, by the
    order of the requests, is raised at the episode's `yield` once all of them have ended; an episode that catches it
    continues.

    Args:
        turns: The running episode of a question.
        answer: Function that sends one request.
        exchanges: A list to append the exchanges to.
        waits: False if `answer` never waits: the requests are sent one after the other, without an event loop.

    Returns:
        The transcript of the episode; its notes are attached to the exchanges.

    Raises:
        ProviderError: if a request fails and the episode does not catch it.
        NotAskedError: if a request is not sent and the episode does not catch it.
        ValueError: if the episode has more notes than exchanges.
        UsageError: if the episode is no generator of lists of requests, or does not return a Transcript with a reply.
    """
    exchanges = [] if exchanges is None else exchanges
    first = len(exchanges)
    _check_generator(turns)
    try:
        requests = next(turns)
        while True:
            turn = [Exchange(request) for request in _check_turn(requests)]
            exchanges += turn
            if waits:
                await asyncio.sleep(0)  # an episode that yields empty lists without end can be cancelled
                await asyncio.gather(*(_complete(exchange, answer) for exchange in turn))
            else:
                for exchange in turn:
                    await _complete(exchange, answer)
            failure = next((exchange.failure for exchange in turn if exchange.failure is not None), None)
            if failure is not None:
                requests = turns.throw(failure)
            else:
                requests = turns.send([exchange.reply for exchange in turn if exchange.reply is not None])
    except StopIteration as stop:
        transcript = _check_transcript(stop.value)
    own = exchanges[first:]
    if len(transcript.notes) > len(own):
        raise ValueError(f"an episode of {len(own)} exchanges has {len(transcript.notes)} notes on them")
    for exchange, note in zip(own, transcript.notes, strict=False):
        exchange.note = note
    return transcript


def first_turn(turns: Turns) -> list[Request]:
    """Return the requests of the first turn of an episode; none if it ends without any.

    Raises:
        UsageError: if the episode is no generator of lists of requests.
    """
    _check_generator(turns)
    return _check_turn(next(turns, []))


def _check_generator(turns: object) -> None:
    if not isinstance(turns, Generator):
        raise UsageError(
            f"an episode returned {type_in_words(turns)}; expected a generator that yields lists of requests"
        )


def _check_turn(requests: object) -> list[Request]:
    if not isinstance(requests, list | tuple):
        raise UsageError(f"an episode yielded {type_in_words(requests)}; expected a list of requests")
    for request in requests:
        if not isinstance(request, Request):
            raise UsageError(f"an episode yielded a list with {type_in_words(request)}; expected a Request")
        if mistake := _message_mistake(request.messages):
            expected = "expected dictionaries with role and content"
            raise UsageError(f"an episode yielded a request with {mistake}; {expected}")
        try:
            json.dumps([request.messages, request.tools, request.settings], allow_nan=False)
        except (TypeError, ValueError) as error:
            raise UsageError(f"an episode yielded a request that JSON cannot hold: {error}") from None
    return list(requests)


def _message_mistake(messages: object) -> str:
    """Return what is wrong with the messages of a request; empty if they are valid."""
    if not isinstance(messages, list | tuple):
        return f"{type_in_words(messages)} as its messages"
    return next((f"the message {message!r}" for message in messages if not _is_message(message)), "")


def _is_message(message: object) -> bool:
    return isinstance(message, dict) and "role" in message and "content" in message


def _check_transcript(returned: object) -> Transcript:
    if not isinstance(returned, Transcript):
        raise UsageError(f"an episode returned {type_in_words(returned)} at its end; expected a Transcript")
    if not isinstance(returned.reply, Reply) or not isinstance(returned.reply.text, str):
        raise UsageError("an episode returned a Transcript without a Reply of text; give it the reply to score")
    for note in returned.notes:
        _check_note(note)
    return returned


def _check_note(note: object) -> None:
    try:
        if not isinstance(note, Mapping):
            raise TypeError(f"{type_in_words(note)}")
        json.dumps(dict(note), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError(f"an episode returned a note that is no JSON object: {error}") from None


def type_in_words(value: object) -> str:
    """Return the type of a value as an error message names it."""
    return "None" if value is None else f"an object of type {type(value).__name__}"


async def _complete(exchange: Exchange, answer: Callable[[Request], Awaitable[Reply]]) -> None:
    """Send the request of an exchange, and store its reply or its failure."""
    try:
        exchange.reply = await answer(exchange.request)
    except (ProviderError, NotAskedError) as failure:
        exchange.failure = failure
