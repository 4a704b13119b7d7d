"""The cost of a request: prices of models, stated or from litellm's price list, and the tokens that are billed.

The list is read as JSON; litellm itself (2 s to import) is not imported. An unknown price is None, never 0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Any, Final, Literal, TypeGuard

from ..catalog import is_registered
from ..errors import UsageError
from ..trial import Json, Request
from .clients.schemes import LOCAL, PYTHON

MILLION = 1_000_000
LIST = "model_prices_and_context_window_backup.json"
_SAMPLE = "sample_spec"  # an entry of the list that explains the others
A_MESSAGE = 8  # tokens around a message: 4 to 30
# About one token: letters of English, digits, a letter of another script, signs, ends of lines.
_TOKEN: Final = re.compile(r"[A-Za-z]{1,7}|\d{1,2}|(?:[^\w\s]|_){1,2}|\w|\n+")
A_MESSAGE_AT_MOST = 16
TOOLS_AT_MOST = 1_000  # tokens that a provider writes around the descriptions of tools: Anthropic's are some 300 to 700

EXPECTED_OUT = 250  # expected tokens of a reply, if no reply of the model is known
EXPECTED_OUT_REASONING = 2_000  # including the reasoning before the answer, which is billed as well
ASSUMED_OUT = 32_768  # most tokens of a reply, if neither a setting nor the list states a limit
ASSUMED_OUT_REASONING = 131_072
_REASONS = re.compile(r"(?<![a-z0-9])(?:o[134](?![a-z0-9.])|gpt-5|r1(?![a-z0-9])|qwq|reasoner|reasoning|thinking)")
_SWITCHED = re.compile(r"claude", re.IGNORECASE)  # models that reason only if a setting asks for it

_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
_STATED = re.compile(rf" *({_NUMBER}) */ *({_NUMBER}) *")
_STEP = re.compile(r"input_cost_per_token_above_([0-9]{1,6})k_tokens")
_BESIDE_TOKENS = ("input_cost_per_request", "citation_cost_per_token")
_MODES = ("chat", "completion", "responses", "embedding", None)
_LENGTHS = ("max_tokens", "max_completion_tokens")
_PROMPTED = ("tools", "functions", "response_format")  # settings that are part of what the model reads
_MULTIPLIED = ("n", "best_of")  # settings that request several replies, each of which is billed


@dataclass(frozen=True, slots=True)
class TokenRates:
    """US dollars for an input token and an output token, if a request has more than `above` input tokens."""

    above: int
    input: float
    output: float
    reasoning: float | None = None  # for an output token of reasoning; None: as any output token
    cached: float | None = None  # for an input token that the provider had cached; None: as any input token


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a model.

    Args:
        input: US dollars for an input token.
        output: US dollars for an output token.
        most_out: Most tokens of a reply; None if unknown.
        stated: Whether the user stated the price.
        steps: Higher rates of long prompts, in rising order.
        dearest: The highest possible rates, in the same order from 0 up: the provider may bill cache writes, or more
            for reasoning.
        reasons: Whether the model reasons before it answers, so that its replies are long.
        reasoning: US dollars for an output token of reasoning; None: as for any output token.
        cached: US dollars for an input token that the provider had cached; None: as for any input token.
    """

    input: float
    output: float
    most_out: int | None = None
    stated: bool = False
    steps: tuple[TokenRates, ...] = ()
    dearest: tuple[TokenRates, ...] = ()
    reasons: bool = False
    reasoning: float | None = None
    cached: float | None = None


@dataclass(frozen=True, slots=True)
class ReplyLength:
    """Most tokens of a reply, and the source of that number."""

    tokens: int
    basis: Literal["setting", "model", "assumed"]


def price_of(name: str, stated: Sequence[str] = ()) -> Price | None:
    """Return the price of the model; None if it is unknown.

    The last price stated for this model applies, then the last price stated for no particular model, then litellm's
    list. A listed 0/0 counts as unknown, since the list has 0 for unknown prices. A local model is free unless a price
    is stated.

    Args:
        name: The name of the model.
        stated: Texts "[MODEL=]IN/OUT" in US dollars per million tokens; 0/0 is a free model.

    Raises:
        UsageError: if a text has another form.
    """
    own = name.startswith(f"{PYTHON}:") or is_registered("model", name)
    listed_price = None if own or "://" in name else _find_price(name)
    if name.startswith(f"{LOCAL}:"):
        listed_price = Price(0.0, 0.0)
    prices: dict[str, Price] = {}
    for text in stated:
        model, incoming, outgoing = _read(text)
        most_out, reasons = (
            (listed_price.most_out, listed_price.reasons) if listed_price else (None, _sounds_reasoning(name))
        )
        prices[model] = Price(incoming, outgoing, most_out, stated=True, reasons=reasons)
    return prices.get(name) or prices.get("") or listed_price


def check_prices(stated: Iterable[str]) -> None:
    """Check that all texts have the form that `price_of` takes.

    Raises:
        UsageError: if one has another form.
    """
    for text in stated:
        _read(text)


def token_cost(
    price: Price | None,
    tokens_in: int | None,
    tokens_out: int | None,
    tokens_reasoning: int | None = None,
    tokens_cached: int | None = None,
) -> float | None:
    """Return the US dollars for these numbers of tokens; None if a value is unknown or below 0.

    Args:
        price: The price of the model.
        tokens_in: The input tokens.
        tokens_out: The output tokens, reasoning included.
        tokens_reasoning: How many of them are reasoning; None counts as 0.
        tokens_cached: How many of the input tokens the provider had cached; None counts as 0.
    """
    if price is None or tokens_in is None or tokens_out is None or min(tokens_in, tokens_out) < 0:
        return None
    rates = [rates for rates in _all_rates(price) if not rates.above or rates.above < tokens_in][-1]
    dollars = tokens_in * rates.input + tokens_out * rates.output
    if tokens_reasoning and rates.reasoning is not None:
        dollars += min(tokens_reasoning, tokens_out) * (rates.reasoning - rates.output)
    if tokens_cached and rates.cached is not None:
        dollars += min(tokens_cached, tokens_in) * (rates.cached - rates.input)
    return dollars


def estimate_tokens(request: Request) -> int:
    """Return the expected number of input tokens: the parts of `_TOKEN`, and `A_MESSAGE` for each message.

    Four characters for one, the usual rule, is a sixth too few where a prompt is not all prose.
    """
    pieces = _pieces(request)
    texts = [*pieces, *_prompted_descriptions(request, {})]
    return sum(len(_TOKEN.findall(text)) for text in texts) + A_MESSAGE * len(pieces)


def expected_cost(
    request: Request, price: Price | None, settings: Mapping[str, Json], expected_out: int | None = None
) -> float | None:
    """Return the US dollars that the request is expected to cost; None if the price is unknown.

    Args:
        request: The request.
        price: The price of the model.
        settings: The model options.
        expected_out: Expected tokens of the reply, at most `longest_reply`; None for those of `expected_reply`.
    """
    expected = expected_reply(price, settings) if expected_out is None else expected_out
    return token_cost(price, estimate_tokens(request), min(expected, longest_reply(request, price, settings).tokens))


def expected_reply(price: Price | None, settings: Mapping[str, Json]) -> int:
    """Return the number of reply tokens to expect if no reply of the model is known."""
    return EXPECTED_OUT_REASONING if reasons(price, settings) else EXPECTED_OUT


def reasons(price: Price | None, settings: Mapping[str, Json]) -> bool:
    """Return True if the model reasons before it answers, by itself or because a setting asks for it."""
    effort, thinking = settings.get("reasoning_effort"), settings.get("thinking")
    if effort is not None:
        return effort != "none"
    if isinstance(thinking, Mapping):
        return thinking.get("type") != "disabled"
    if isinstance(reasoning := settings.get("reasoning"), Mapping):  # of OpenRouter
        return reasoning.get("enabled") is not False and reasoning.get("effort") != "none"
    return bool(price and price.reasons)


def worst_cost(request: Request, price: Price | None, settings: Mapping[str, Json]) -> float | None:
    """Return the most US dollars that an attempt can cost; None if the price is unknown.

    A token has at least one byte of UTF-8, so the bytes bound the input tokens; 16 are added for each message and 1,000
    for tools. The reply is bounded by `longest_reply`, which may be an assumption.
    """
    if price is None:
        return None
    tokens_in = bound_tokens(request, settings)
    reached = [rates for rates in price.dearest or _all_rates(price) if rates.above <= tokens_in]
    incoming, outgoing = max(rates.input for rates in reached), max(rates.output for rates in reached)
    return tokens_in * incoming + longest_reply(request, price, settings).tokens * outgoing


def bound_tokens(request: Request, settings: Mapping[str, Json]) -> int:
    """Return an upper bound on the input tokens of a request with these texts."""
    pieces = _pieces(request)
    described = _prompted_descriptions(request, settings)
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in [*pieces, *described])
    return size + A_MESSAGE_AT_MOST * len(pieces) + (TOOLS_AT_MOST if described else 0)


def longest_reply(request: Request, price: Price | None, settings: Mapping[str, Json]) -> ReplyLength:
    """Return the most tokens that the reply can have, and the source of that number.

    The number is max_tokens or max_completion_tokens of the request, else of the settings, the larger if both are set;
    else the limit in the price list; else an assumption, which is larger for models that reason. It is multiplied by
    `n` and `best_of`. The reply to an embedding request has no tokens, that to a score request one for each text.
    """
    if request.kind != "chat":
        return ReplyLength(0 if request.kind == "embed" else len(request.texts), "model")
    whole = {**settings, **request.settings}
    times = max([1, *_counts(whole, _MULTIPLIED)])
    if lengths := _lengths(request.settings) or _lengths(whole):
        return ReplyLength(max(lengths) * times, "setting")
    if price is not None and price.most_out is not None:
        return ReplyLength(price.most_out * times, "model")
    return ReplyLength((ASSUMED_OUT_REASONING if reasons(price, whole) else ASSUMED_OUT) * times, "assumed")


def _lengths(settings: Mapping[str, Json]) -> list[int]:
    return _counts(settings, _LENGTHS)


def _counts(settings: Mapping[str, Json], names: Iterable[str]) -> list[int]:
    """Return the positive integers among these settings; some servers take others, such as -1, as no limit."""
    values = (settings.get(name) for name in names)
    return [value for value in values if isinstance(value, int) and not isinstance(value, bool) and value > 0]


def _text(message: Mapping[str, Any]) -> str:
    """Return what the model reads of a message: its text alone, or the message as JSON if it holds more than a text."""
    content = message.get("content")
    return content if isinstance(content, str) and message.keys() <= {"role", "content"} else _json(message)


def _pieces(request: Request) -> list[str]:
    """Return the texts that the model reads: of a score request the context with each text, of a chat the messages."""
    if request.kind == "score":
        return [*map(_text, request.messages)] or [request.context + text for text in request.texts]
    return [*map(_text, request.messages), *request.texts]


def _prompted_descriptions(request: Request, settings: Mapping[str, Json]) -> list[str]:
    """Return the descriptions of tools and output formats, which the model reads beside the messages."""
    whole = {**settings, **request.settings} | ({"tools": request.tools} if request.tools else {})
    return [_json(whole[name]) for name in _PROMPTED if whole.get(name)]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _read(text: str) -> tuple[str, float, float]:
    """Parse a stated price into the model ("" for any) and the US dollars for an input token and an output token."""
    model, equals, numbers = text.rpartition("=")
    match = _STATED.fullmatch(numbers)
    rates = [float(number) / MILLION for number in match.groups()] if match else []
    if not rates or not all(map(isfinite, rates)) or (equals and not model.strip()):
        raise UsageError(
            f"--taskgraph-price: found {text!r}, expected [MODEL=]IN/OUT, US dollars for a million tokens in and out, "
            "such as gpt-x=0.15/0.60; 0/0 for a model that is free"
        )
    return model.strip(), rates[0], rates[1]


def _find_price(name: str) -> Price | None:
    entry = listed_entry(name)
    if entry is None or entry.get("mode") not in _MODES or _bills_more_than_tokens(name, entry):
        return None
    usual, dearest = _bands(entry), _bands(entry, dearest=True)
    if not any(rates.input or rates.output for rates in usual):
        return None
    # The list states which models can reason; some do so only if a setting asks for it.
    reasoning = bool(entry.get("supports_reasoning")) and not _SWITCHED.search(name)
    return Price(
        usual[0].input,
        usual[0].output,
        _most_out(entry),
        steps=usual[1:],
        dearest=dearest,
        reasons=reasoning,
        reasoning=usual[0].reasoning,
        cached=usual[0].cached,
    )


def _sounds_reasoning(name: str) -> bool:
    """Return True if the name of a model that the list does not hold resembles those of reasoning models."""
    return bool(_REASONS.search(name.rpartition("/")[2].rpartition("#")[2].lower()))


def _bands(entry: Mapping[str, Any], dearest: bool = False) -> tuple[TokenRates, ...]:
    """Return the rates by length of prompt, from 0 up; empty if the entry does not state the price of tokens.

    Args:
        entry: An entry of the price list.
        dearest: Return the rates as if all input were written to the provider's cache and all output were reasoning.
    """
    tiers = entry.get("tiered_pricing")
    if isinstance(tiers, list):
        bands = [_rates(tier, _start(tier), dearest) for tier in tiers if isinstance(tier, dict)]
    else:
        steps = sorted(int(match[1]) for match in map(_STEP.fullmatch, entry) if match)
        bands = [
            _rates(entry, 0, dearest),
            *(_rates(entry, step * 1000, dearest, f"_above_{step}k_tokens") for step in steps),
        ]
    complete = sorted((rates for rates in bands if rates is not None), key=lambda rates: rates.above)
    return tuple(complete) if complete and len(complete) == len(bands) and complete[0].above == 0 else ()


def _rates(entry: Mapping[str, Any], above: int | None, dearest: bool, step: str = "") -> TokenRates | None:
    embeds = 0.0 if entry.get("mode") == "embedding" else None
    incoming = _amount(entry, "input_cost_per_token", step)
    outgoing = _amount(entry, "output_cost_per_token", step)
    outgoing = embeds if outgoing is None else outgoing
    if above is None or incoming is None or outgoing is None:
        return None
    reasoning = _amount(entry, "output_cost_per_reasoning_token", step)
    cached = _amount(entry, "cache_read_input_token_cost", step)
    if dearest:
        incoming = max(incoming, _amount(entry, "cache_creation_input_token_cost", step) or 0.0)
        outgoing, reasoning, cached = max(outgoing, reasoning or 0.0), None, None
    return TokenRates(above, incoming, outgoing, reasoning, cached)


def _start(tier: Mapping[str, Any]) -> int | None:
    span = tier.get("range")
    return int(span[0]) if isinstance(span, list) and span and is_amount(span[0]) else None


def _all_rates(price: Price) -> tuple[TokenRates, ...]:
    return (TokenRates(0, price.input, price.output, price.reasoning, price.cached), *price.steps)


def _most_out(entry: Mapping[str, Any]) -> int | None:
    most = entry.get("max_output_tokens")
    if entry.get("mode") == "embedding":
        return 0
    return int(most) if is_amount(most) and most else None


def _bills_more_than_tokens(name: str, entry: Mapping[str, Any]) -> bool:
    """Return True if each request is billed for something beside its tokens, such as a web search."""
    searches = "search" in name.lower() or entry.get("litellm_provider") == "perplexity"
    beside = [*_BESIDE_TOKENS, *(["search_context_cost_per_query"] if searches else [])]
    return any(entry.get(key) for key in beside)


def _amount(entry: Mapping[str, Any], key: str, step: str = "") -> float | None:
    """Return the amount under this key, for long prompts if the entry has that; None if the value is not an amount."""
    value = entry.get(key + step, entry.get(key))
    return float(value) if is_amount(value) else None


def is_amount(value: object) -> TypeGuard[int | float]:
    """Return True for a finite number from 0."""
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value >= 0


def listed_entry(name: str) -> Mapping[str, Any] | None:
    """Return the entry of the list for the name, in any letter case, or for the name without its provider's prefix."""
    entries = _price_list()
    entry = entries.get(name) or entries.get(name.lower())
    if entry is not None:
        return entry
    provider, _, rest = name.partition("/")
    entry = entries.get(rest) or entries.get(rest.lower())
    return entry if entry is not None and _fits(provider, entry.get("litellm_provider")) else None


def _fits(provider: str, listed: object) -> bool:
    """Return True if the prefix `provider` covers an entry of the provider `listed`, as `litellm.utils` defines it."""
    if provider in ("vertex_ai", "fireworks_ai", "bedrock"):
        return str(listed).startswith(provider)
    return listed == provider or (provider == "azure_ai" and listed in ("azure", "openai"))


@cache
def _price_list() -> Mapping[str, Mapping[str, Any]]:
    """Return the entries of litellm's price list by name, also in lower case; empty if it is missing or changed."""
    try:
        package = find_spec("litellm")
        folders = package.submodule_search_locations if package else None
        entries = json.loads((Path(next(iter(folders or ()))) / LIST).read_text(encoding="utf-8"))
    except (OSError, ValueError, StopIteration):  # not there, no JSON, no package
        return {}
    if not isinstance(entries, dict):
        return {}
    usable = {name: entry for name, entry in entries.items() if isinstance(entry, dict) and name != _SAMPLE}
    return {name.lower(): entry for name, entry in usable.items()} | usable
