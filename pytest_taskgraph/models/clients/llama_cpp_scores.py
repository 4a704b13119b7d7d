"""Log-probabilities of given texts by a server of llama.cpp, which does not echo its prompt.

A text is tokenized by the server (`/tokenize`). Then it writes one token at a time behind those before, of which it
keeps what it computed: a bias makes it the next one of the text. The log-probability that comes with it is that of the
model, before the bias applies. A grammar would need one request for all tokens, but some versions of the server end
where it demands a token that holds part of a character.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from ...errors import NoLogprobsError
from ...trial import Json, Reply, Request
from .openai_protocol import expect
from .provider_errors import RefusalError
from .text_scores import counted_tokens, join_replies, place_tokens, read_logprob, text_row

TOKENIZE: Final = "/tokenize"
"""The path that lists the tokens of a text. It stands at the root of the server, not below `/v1`."""
_PART: Final = "\ufffd"  # what `place_tokens` takes for part of a character
_FORCED: Final = 1000.0  # far above the difference of any two logits
Post = Callable[[str, Mapping[str, Json]], Awaitable[Any]]
"""Function that posts a body to a path of the server, and returns the JSON of the response."""


def is_llama_cpp(response: object) -> bool:
    """Return True if a response to a request of completions comes from a server of llama.cpp: it states its timings."""
    return isinstance(response, dict) and isinstance(response.get("timings"), dict)


async def score_by_tokens(request: Request, name: str, post: Post) -> Reply:
    """Return the reply to a request to score texts behind a context, with a row for each text; its cost is unknown.

    The token that opens a text may begin in its context; the first token of all has no probability.

    Args:
        request: The request.
        name: The name of the model there.
        post: How a body is sent; each token of a text takes a request, one after the other.

    Raises:
        NoLogprobsError: if the tokens do not spell the text, or the server does not write them as told.
        ProviderError: of the kind malformed, if a response has another shape.
    """
    prompts = [(request.context + text, len(request.context)) for text in request.texts]
    return join_replies([await _score_text(prompt, border, name, post) for prompt, border in prompts])


async def _score_text(prompt: str, border: int, name: str, post: Post) -> Reply:
    """Return the reply about one text, which begins at the border of its prompt."""
    try:
        listed = await post(TOKENIZE, {"content": prompt, "add_special": True, "with_pieces": True})
    except RefusalError as refusal:
        if refusal.response.status_code != 404:
            raise
        raise NoLogprobsError("the server neither echoes its prompt nor lists its tokens (`/tokenize`)") from None
    ids, pieces = _tokens(listed)
    places = place_tokens(pieces, prompt)
    if places is None:
        raise NoLogprobsError("the tokens that the server states (`/tokenize`) do not spell the text")
    whole = next((token for token, piece in zip(ids, pieces, strict=True) if piece != _PART), ids[0])
    written = []
    for at in counted_tokens(places, border, len(prompt)):
        if at:  # the very first token has no predecessor, thus no probability
            bias = ids[at] if pieces[at] != _PART else whole
            written.append(await _logprobs(name, ids[:at], ids[at], bias, post))
    return Reply("", len(ids) - 1, len(written), None, 0.0, source=name, logprobs=[text_row(written)])


async def _logprobs(name: str, before: list[Json], token: Json, bias: Json, post: Post) -> tuple[float, float]:
    """Return the log-probability of a token behind others, and that of the most probable one.

    A token that holds part of a character is not shown when it is written. It is looked for among the most probable
    ones, in the end among all, where another token is written.

    Args:
        name: The name of the model there.
        before: The tokens before it.
        token: The token.
        bias: The token that is written: the same, or a whole one.
        post: How a body is sent.
    """
    body: dict[str, Json] = {"model": name, "prompt": before, "max_tokens": 1, "temperature": 0}
    for most in (1,) if bias == token else (1_000, 1_000_000):
        response = await post("/completions", {**body, "logprobs": most, "logit_bias": [[bias, _FORCED]]})
        listed, top = _listed(response)
        if token in listed:
            return read_logprob(listed[token]), read_logprob(top)
    raise NoLogprobsError("the server does not write the token that a bias demands (`logit_bias`)")


def _tokens(response: object) -> tuple[list[Any], list[str]]:
    """Return the numbers of the tokens, and their texts; a token that holds part of a character is U+FFFD."""
    listed = expect(expect(response, dict, "an object").get("tokens"), list, "a list of tokens")
    tokens = [expect(token, dict, "a token") for token in listed]
    pieces = [token.get("piece") for token in tokens]
    ids = [expect(token.get("id"), int, "the number of a token") for token in tokens]
    return ids, [piece if isinstance(piece, str) else _PART for piece in pieces]


def _listed(response: Any) -> tuple[dict[Json, Any], Any]:  # noqa: ANN401 - any JSON value
    """Return the log-probabilities of the token written and of those listed with it, and that of the most probable."""
    try:
        written = response["choices"][0]["logprobs"]["content"][0]
        listed = {entry["id"]: entry["logprob"] for entry in [*written["top_logprobs"], written]}
        return listed, written["top_logprobs"][0]["logprob"]
    except (TypeError, LookupError):
        raise NoLogprobsError("the server states no log-probability of a token that it writes") from None
