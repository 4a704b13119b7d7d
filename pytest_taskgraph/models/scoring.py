"""Log-probabilities of given texts in the OpenAI protocol: what is sent for them, and what a response holds.

A context goes to `/completions`, which echoes it and each text with the log-probability of every token. Messages go to
`/chat/completions`, which lists the most probable first tokens of a reply. Either is one request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import exp, fsum, log
from typing import Any

from ..errors import NoLogprobsError, ProviderError
from ..trial import Json, Reply, Request
from .protocol import expect, finite, first_choice, refuse_failed, source_and_tokens, withheld
from .token_places import place_tokens

TOP_TOKENS = 20  # of the most probable tokens, the most that OpenAI lists for each place
_HIGHEST = 1e-3  # a log-probability is rounded at most that far above 0
# Settings that say how much is written, and how often: what is scored is not written, and is one text.
_UNUSED = ("max_completion_tokens", "n", "best_of", "top_logprobs", "stop", "response_format")


def scoring_settings(request: Request, settings: Mapping[str, Json]) -> dict[str, Json]:
    """Return the settings of the body of a score request: those given, and those that ask for log-probabilities.

    `top_logprobs` counts where it is set, as some endpoints list fewer tokens than OpenAI. One token is
    written for each text, as not every server accepts 0; it is not part of a score.

    Raises:
        ProviderError: of the kind bad-request, for a request without a text, with an empty one, or with both a context
            and messages.
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
    """Return the reply to a score request, with a row of `logprobs` for each text; its cost is not known.

    Raises:
        NoLogprobsError: if the response lacks the echoed text or the log-probabilities.
        Refusal: for an error in the place of a choice.
        ProviderError: of the kind malformed, for any other shape.
    """
    rows = _score_top_tokens(response, request.texts) if request.messages else _echoed(response, request)
    source, tokens_in, tokens_out = source_and_tokens(response, name)
    return Reply("", tokens_in, tokens_out, None, latency, source=source, logprobs=rows)


def _echoed(response: Any, request: Request) -> list[list[Any]]:  # noqa: ANN401 - any JSON value
    first_choice(response)
    choices = [expect(choice, dict, "a choice") for choice in response["choices"]]
    for choice in choices:
        _refuse(choice)
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
    found = choice.get("logprobs")
    if found is None:
        raise NoLogprobsError("the endpoint gives no log-probabilities of given text (`logprobs` with `echo`)")
    tokens, values, tops = _columns(expect(found, dict, "an object of log-probabilities"))
    if not text.startswith(prompt):
        raise NoLogprobsError("the endpoint does not repeat the text that it is sent (`echo`)")
    places = place_tokens(tokens, text, found.get("text_offset"))
    if places is None:
        raise ProviderError("malformed", "the tokens do not spell the text that was sent")
    counted = [at for at, (start, end) in enumerate(places) if end > border and start < len(prompt)]
    while counted and values[counted[0]] is None and not any(value is not None for value in values[: counted[0]]):
        counted.pop(0)  # nothing stands before the first token of all, so it has no probability
    if any(values[at] is None for at in counted):
        raise ProviderError("malformed", "a token without its log-probability")
    chosen = [(values[at], tops[at]) for at in counted]
    known = bool(chosen) and all(top is not None for _, top in chosen)
    return [fsum(value for value, _ in chosen), len(chosen), all(v >= top for v, top in chosen) if known else None]


def _columns(found: Mapping[str, Any]) -> tuple[list[str], list[Any], list[Any]]:
    """Return the tokens, their log-probabilities or None, and the highest at each place as far as it is listed."""
    tokens = expect(found.get("tokens"), list, "a list of tokens")
    values = expect(found.get("token_logprobs"), list, "a list of log-probabilities")
    tops = expect(found.get("top_logprobs") or [None] * len(tokens), list, "a list of the most probable tokens")
    if not len(tokens) == len(values) == len(tops) or not all(isinstance(token, str) for token in tokens):
        raise ProviderError("malformed", "expected a log-probability for each token")
    known = [None if value is None else _logprob(value) for value in values]
    highest = [max(map(_logprob, expect(top, dict, "an object of tokens").values()), default=None) if top else None
               for top in tops]  # fmt: skip
    return tokens, known, highest


def _score_top_tokens(response: Any, texts: Sequence[str]) -> list[list[Any]]:  # noqa: ANN401 - any JSON value
    """Return the rows of texts of one token, from the tokens that a chat completion lists for its first place."""
    choice = first_choice(response)
    _refuse(choice)
    found = choice.get("logprobs")
    places = expect(found, dict, "an object of log-probabilities").get("content") if found is not None else None
    if not places:
        raise NoLogprobsError("the endpoint gives no log-probabilities of its reply (`logprobs`, `top_logprobs`)")
    place = expect(expect(places, list, "a list of tokens")[0], dict, "a token")
    if not (tops := expect(place.get("top_logprobs") or [], list, "a list of the most probable tokens")):
        raise NoLogprobsError("the endpoint lists no other tokens beside that of its reply (`top_logprobs`)")
    listed = list(_pairs(tops))
    highest = max(value for _, value in listed)
    return [_score_listed(text.strip(), listed, highest) for text in texts]


def _pairs(tops: Sequence[Any]) -> Iterator[tuple[str, float]]:
    for top in tops:
        entry = expect(top, dict, "a token")
        yield expect(entry.get("token"), str, "the text of a token").strip(), _logprob(entry.get("logprob"))


def _score_listed(text: str, listed: Sequence[tuple[str, float]], highest: float) -> list[Any]:
    """Return the row of a text: the tokens that are it, but for the white space around it, together."""
    values = [value for token, value in listed if token == text]
    if not values:
        return [None, 1, False]
    own = max(values)
    return [min(0.0, own + log(fsum(exp(value - own) for value in values))), 1, own >= highest]


def _logprob(value: object) -> float:
    if isinstance(value, bool) or not finite(value) or not isinstance(value, int | float) or value > _HIGHEST:
        raise ProviderError("malformed", "a log-probability that is no finite number of at most 0")
    return min(0.0, float(value))


def _refuse(choice: Mapping[str, Any]) -> None:
    refuse_failed(choice.get("error"), choice.get("finish_reason"))
    if withheld(choice.get("finish_reason")):
        raise ProviderError("content-filter", "the provider's content filter withheld the reply, or part of it")
