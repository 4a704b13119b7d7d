"""Log-probabilities of given texts in the OpenAI protocol: settings of a score request, and how its response is read.

Offsets differ between servers: vLLM counts the token that opens a text, SGLang gives -1 for each, others count bytes.
So the tokens themselves are aligned with the text, and offsets are used only if that fails.

A context goes to `/completions`, which echoes it and each text with the log-probability of every token. Messages go to
`/chat/completions`, which lists the most probable first tokens of a reply. Either is one request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import exp, fsum, log
from typing import Any

from ...errors import NoLogprobsError, ProviderError
from ...trial import Json, Reply, Request
from ...usage import AMOUNTS
from .openai_protocol import expect, first_choice, is_finite_number, is_withheld, refuse_failed, source_and_tokens

# A token that holds part of a character, as servers show it: U+FFFD, OpenAI's "bytes:\xe2", SentencePiece's "<0xE2>".
_PART = re.compile("\ufffd|^bytes:(?:.*\\\\x[0-9a-f]{2})|^<0x[0-9A-F]{2}>$", re.DOTALL)
_SPACE = re.compile(r"\s*")


def place_tokens(tokens: Sequence[str], text: str, offsets: object = None) -> list[tuple[int, int]] | None:
    """Return where each token begins and ends in the text, in characters; None if that is unknown.

    Adjacent tokens that hold parts of characters share one place. A first token that is not in the text, which marks
    its beginning, has the empty place 0; tokens after the end of the text have the empty place at the end.
    """
    return _align_tokens(tokens, text) or _from_offsets(tokens, text, offsets)


def _align_tokens(tokens: Sequence[str], text: str) -> list[tuple[int, int]] | None:
    places: list[tuple[int, int]] = []
    at, parts, room = (
        0,
        0,
        0,
    )  # parts: tokens that hold parts of characters, placed by the next whole token; room: their length
    for token in tokens:
        if at < len(text) and (not token or _PART.search(token)):
            parts, room = parts + 1, room + len(token)
            continue
        place = _find(token, text, at, room) or _outside(token, text, at, room, len(tokens) - len(places) - parts)
        if place is None:
            return None
        start, end = place
        places += [(at, start if start > at else end)] * parts
        places.append(place)
        at, parts, room = end, 0, 0
    if len(text) - at > room and text[at:].strip():
        return None
    return places + [(at, len(text))] * parts


def _outside(token: str, text: str, at: int, room: int, left: int) -> tuple[int, int] | None:
    """Return the empty place of a token that is not in the text: at its start, or at its end if no token may follow."""
    if at == len(text) or (left == 1 and len(text) - at <= room):
        return len(text), len(text)
    return (0, 0) if at == 0 and not room else None


def _find(token: str, text: str, at: int, room: int) -> tuple[int, int] | None:
    """Return the place of the token, 1 to `room` characters ahead if `room` is not 0; None if it is not there."""
    for spelled in _spellings(token, at == 0):
        start = text.find(spelled, at + bool(room), at + room + len(spelled))
        if start >= 0:
            return start, start + len(spelled)
    space = _SPACE.match(text, at)
    if not room and space and text.startswith(token, space.end()):
        return space.end(), space.end() + len(token)
    return None


def _spellings(token: str, first: bool) -> Iterator[str]:
    """Yield the token, with SentencePiece's sign for a space as a space, and without the space that it puts first."""
    yield token
    spaced = token.replace("\u2581", " ")
    if spaced != token:
        yield spaced
    if first and spaced.startswith(" ") and spaced.strip():
        yield spaced[1:]


def _from_offsets(tokens: Sequence[str], text: str, offsets: object) -> list[tuple[int, int]] | None:
    if not isinstance(offsets, list) or len(offsets) != len(tokens):
        return None
    if not all(isinstance(offset, int) and not isinstance(offset, bool) for offset in offsets):
        return None
    rising = all(left <= right for left, right in pairwise(offsets))
    if not rising or not offsets or offsets[0] != 0 or not 0 < offsets[-1] <= len(text):
        return None
    return list(zip(offsets, [*offsets[1:], len(text)], strict=True))


TOP_TOKENS = 20  # number of most probable tokens that OpenAI lists at most for each place
_HIGHEST = 1e-3  # rounding may raise a log-probability this far above 0
# Settings of the length and number of replies, which do not apply to given texts.
_UNUSED = ("max_completion_tokens", "n", "best_of", "top_logprobs", "stop", "response_format")


def scoring_settings(request: Request, settings: Mapping[str, Json]) -> dict[str, Json]:
    """Return the settings of the body of a score request: the given ones, and those that request log-probabilities.

    `top_logprobs` is kept if it is set, since some endpoints list fewer tokens than OpenAI. One token is written for
    each text, since not every server accepts 0; it is not part of a score.

    Raises:
        ProviderError: of the kind bad-request, if there is no text, an empty text, or both a context and messages.
    """
    if not request.texts or not all(request.texts) or (request.messages and request.context):
        raise ProviderError("bad-request", "a score request holds texts, none empty, and a context or messages")
    body = {name: value for name, value in settings.items() if name not in _UNUSED}
    if request.messages:
        length = "max_completion_tokens" if "max_completion_tokens" in settings else "max_tokens"
        body.pop("max_tokens", None)
        return {**body, "logprobs": True, "top_logprobs": settings.get("top_logprobs", TOP_TOKENS), length: 1}
    return {**body, "echo": True, "logprobs": 1, "max_tokens": 1}


def read_scores(response: Any, request: Request, name: str, latency: float) -> Reply:  # noqa: ANN401 - any JSON value
    """Return the reply to a score request, with a row of `logprobs` for each text; its cost is unknown.

    Raises:
        NoLogprobsError: if the response lacks the echoed text or the log-probabilities.
        RefusalError: if there is an error in place of a choice.
        ProviderError: of the kind malformed, if the response has another shape.
    """
    rows = _score_top_tokens(response, request.texts) if request.messages else _score_echoes(response, request)
    source, tokens_in, tokens_out = source_and_tokens(response, name)
    return Reply("", tokens_in, tokens_out, None, latency, source=source, logprobs=rows)


def _score_echoes(response: Any, request: Request) -> list[list[Any]]:  # noqa: ANN401 - any JSON value
    first_choice(response)
    choices = [expect(choice, dict, "a choice") for choice in response["choices"]]
    for choice in choices:
        _refuse(choice)
    if any(choice.get("logprobs") is None for choice in choices):
        raise NoLogprobsError("the endpoint gives no log-probabilities of given text (`logprobs` with `echo`)")
    if len(choices) != len(request.texts):
        raise ProviderError("malformed", f"{len(choices)} choices for {len(request.texts)} texts")
    places = [choice.get("index", place) for place, choice in enumerate(choices)]
    if sorted(map(repr, places)) != sorted(map(repr, range(len(choices)))):
        raise ProviderError("malformed", "expected a choice for each text, by its index")
    ordered = [choices[places.index(place)] for place in range(len(choices))]
    return [
        _score_echo(choice, len(request.context), request.context + text)
        for choice, text in zip(ordered, request.texts, strict=True)
    ]


def _score_echo(choice: Mapping[str, Any], border: int, prompt: str) -> list[Any]:
    """Return the row of one text, which begins at the border of its prompt."""
    text = expect(choice.get("text"), str, "a text")
    if not text.startswith(prompt):  # llama.cpp then gives log-probabilities in the form of chats
        raise NoLogprobsError("the endpoint does not repeat the text that it is sent (`echo`)")
    logprobs = expect(choice["logprobs"], dict, "an object of log-probabilities")
    tokens, values, tops = _columns(logprobs)
    places = place_tokens(tokens, text, logprobs.get("text_offset"))
    if places is None:
        raise ProviderError("malformed", "the tokens do not spell the text that was sent")
    counted = counted_tokens(places, border, len(prompt))
    while counted and values[counted[0]] is None and not any(value is not None for value in values[: counted[0]]):
        counted.pop(0)  # the very first token has no predecessor, thus no probability
    if any(values[at] is None for at in counted):
        raise ProviderError("malformed", "a token without its log-probability")
    return text_row([(values[at], tops[at]) for at in counted])


def counted_tokens(places: Sequence[tuple[int, int]], border: int, end: int) -> list[int]:
    """Return the indices of the tokens that count to a text from its border to its end: also one that begins before."""
    return [at for at, (start, stop) in enumerate(places) if stop > border and start < end]


def text_row(chosen: Sequence[tuple[float, float | None]]) -> list[Any]:
    """Return the row of a text from the log-probability of each token, and the highest at its place if it is known."""
    has_tops = bool(chosen) and all(top is not None for _, top in chosen)
    greedy = all(value >= top for value, top in chosen if top is not None) if has_tops else None
    return [fsum(value for value, _ in chosen), len(chosen), greedy]


def join_replies(replies: Sequence[Reply]) -> Reply:
    """Return one reply with the rows of all, in order, and the sums of what they took; None if one is unknown."""
    columns = {name: [getattr(reply, name) for reply in replies] for name in AMOUNTS}
    amounts: dict[str, Any] = {name: None if None in values else sum(values) for name, values in columns.items()}
    return Reply(
        "",
        **amounts,
        source=replies[0].source,
        logprobs=[row for reply in replies for row in reply.logprobs],
        retries=sum(reply.retries for reply in replies),
    )


def _columns(logprobs_object: Mapping[str, Any]) -> tuple[list[str], list[Any], list[Any]]:
    """Return the tokens, their log-probabilities or None, and the highest at each place as far as it is listed."""
    tokens = expect(logprobs_object.get("tokens"), list, "a list of tokens")
    values = expect(logprobs_object.get("token_logprobs"), list, "a list of log-probabilities")
    tops = expect(
        logprobs_object.get("top_logprobs") or [None] * len(tokens), list, "a list of the most probable tokens"
    )
    if not len(tokens) == len(values) == len(tops) or not all(isinstance(token, str) for token in tokens):
        raise ProviderError("malformed", "expected a log-probability for each token")
    logprobs = [None if value is None else read_logprob(value) for value in values]
    highest = [max(map(read_logprob, expect(top, dict, "an object of tokens").values()), default=None) if top else None
               for top in tops]  # fmt: skip
    return tokens, logprobs, highest


def _score_top_tokens(response: Any, texts: Sequence[str]) -> list[list[Any]]:  # noqa: ANN401 - any JSON value
    """Return the rows of texts of one token, from the tokens that a chat completion lists for its first place."""
    choice = first_choice(response)
    _refuse(choice)
    logprobs = choice.get("logprobs")
    places = expect(logprobs, dict, "an object of log-probabilities").get("content") if logprobs is not None else None
    if not places:
        raise NoLogprobsError("the endpoint gives no log-probabilities of its reply (`logprobs`, `top_logprobs`)")
    place = expect(expect(places, list, "a list of tokens")[0], dict, "a token")
    if not (tops := expect(place.get("top_logprobs") or [], list, "a list of the most probable tokens")):
        raise NoLogprobsError("the endpoint lists no other tokens beside that of its reply (`top_logprobs`)")
    pairs = list(_pairs(tops))
    highest = max(value for _, value in pairs)
    return [_score_listed(text.strip(), pairs, highest) for text in texts]


def _pairs(tops: Sequence[Any]) -> Iterator[tuple[str, float]]:
    for top in tops:
        entry = expect(top, dict, "a token")
        yield expect(entry.get("token"), str, "the text of a token").strip(), read_logprob(entry.get("logprob"))


def _score_listed(text: str, pairs: Sequence[tuple[str, float]], highest: float) -> list[Any]:
    """Return the row of a text from all listed tokens that equal it, except for white space around it."""
    values = [value for token, value in pairs if token == text]
    if not values:
        return [None, 1, False]
    own = max(values)
    return [min(0.0, own + log(fsum(exp(value - own) for value in values))), 1, own >= highest]


def read_logprob(value: object) -> float:
    """Return a log-probability, at most 0. Raises ProviderError of the kind malformed."""
    if isinstance(value, bool) or not is_finite_number(value) or not isinstance(value, int | float) or value > _HIGHEST:
        raise ProviderError("malformed", "a log-probability that is no finite number of at most 0")
    return min(0.0, float(value))


def _refuse(choice: Mapping[str, Any]) -> None:
    refuse_failed(choice.get("error"), choice.get("finish_reason"))
    if is_withheld(choice.get("finish_reason")):
        raise ProviderError("content-filter", "the provider's content filter withheld the reply, or part of it")
