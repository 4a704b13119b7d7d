"""What a request costs: prices of models, stated or from litellm's price list, and the tokens that are billed.

The list is read as the JSON that it is; litellm (2 s to import) stays out. An unknown price is None, never 0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from math import ceil, isfinite
from pathlib import Path
from typing import Any, Literal, TypeGuard

from ..catalog import is_registered
from ..errors import UsageError
from ..trial import Json, Request
from .clients.local_model import LOCAL
from .clients.python_callable import SCHEME

MILLION = 1_000_000
LIST = "model_prices_and_context_window_backup.json"
_SAMPLE = "sample_spec"  # an entry of the list that explains the others
A_MESSAGE = 4  # tokens that stand around a message, as a rule
A_MESSAGE_AT_MOST = 16
TOOLS_AT_MOST = 1_000  # tokens that a provider writes around the descriptions of tools: Anthropic's are some 300 to 700

EXPECTED_OUT = 250  # tokens of a reply that is expected, where none of the model is known
EXPECTED_OUT_REASONING = 2_000  # with what a model writes to itself before, which is billed like the rest
ASSUMED_OUT = 32_768  # tokens of a reply at most, where neither a setting nor the list says
ASSUMED_OUT_REASONING = 131_072
_REASONS = re.compile(r"(?<![a-z0-9])(?:o[134](?![a-z0-9.])|gpt-5|r1(?![a-z0-9])|qwq|reasoner|reasoning|thinking)")
_SWITCHED = re.compile(r"claude", re.IGNORECASE)  # models that reason only where a setting says so

_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
_STATED = re.compile(rf" *({_NUMBER}) */ *({_NUMBER}) *")
_STEP = re.compile(r"input_cost_per_token_above_([0-9]{1,6})k_tokens")
_BESIDE_TOKENS = ("input_cost_per_request", "citation_cost_per_token")
_MODES = ("chat", "completion", "responses", "embedding", None)
_LENGTHS = ("max_tokens", "max_completion_tokens")
_PROMPTED = ("tools", "functions", "response_format")  # settings that are part of what the model reads
_MULTIPLIED = ("n", "best_of")  # settings that have several replies written, and billed


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars for a token in and a token out of a request with more than `above` tokens in."""

    above: int
    input: float
    output: float


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a token in and a token out; `most_out`: tokens that a reply has at most, None if not known.

    `reasons`: whether the model writes to itself before it answers, so that its replies are long.

    `steps` are dearer rates of long prompts, in rising order. `dearest` is what a token may cost at worst, in the same
    order from 0 up: where the provider bills for writing its cache, or more for reasoning.
    """

    input: float
    output: float
    most_out: int | None = None
    stated: bool = False
    steps: tuple[Rates, ...] = ()
    dearest: tuple[Rates, ...] = ()
    reasons: bool = False


@dataclass(frozen=True, slots=True)
class ReplyLength:
    """The tokens that a reply has at most, and what says so."""

    tokens: int
    basis: Literal["setting", "model", "assumed"]


def price_of(name: str, stated: Sequence[str] = ()) -> Price | None:
    """The price of the model, or None where it is not known.

    `stated` are texts "[MODEL=]IN/OUT" in US dollars for a million tokens: the last one for this model counts, else
    the last one for no model in particular, else litellm's list. 0/0 is a model that is free; a listed 0/0 is not
    known, since the list says 0 where it does not know. A local model is free unless a price is stated. Raises
    UsageError for any text of another shape.
    """
    own = name.startswith(f"{SCHEME}:") or is_registered("model", name)
    listed = None if own or "://" in name else _listed(name)
    if name.startswith(f"{LOCAL}:"):
        listed = Price(0.0, 0.0)
    found: dict[str, Price] = {}
    for text in stated:
        model, incoming, outgoing = _read(text)
        most_out, reasons = (listed.most_out, listed.reasons) if listed else (None, _sounds_reasoning(name))
        found[model] = Price(incoming, outgoing, most_out, stated=True, reasons=reasons)
    return found.get(name) or found.get("") or listed


def check_prices(stated: Iterable[str]) -> None:
    """Nothing, if all texts are of the shape that `price_of` wants. Raises UsageError."""
    for text in stated:
        _read(text)


def token_cost(price: Price | None, tokens_in: int | None, tokens_out: int | None) -> float | None:
    """US dollars for so many tokens, before discounts for what is cached; None where anything is not known."""
    if price is None or tokens_in is None or tokens_out is None:
        return None
    rates = [Rates(0, price.input, price.output), *(step for step in price.steps if step.above < tokens_in)][-1]
    return tokens_in * rates.input + tokens_out * rates.output


def estimate_tokens(request: Request) -> int:
    """The tokens in that are to be expected: a token for four characters, and four for each message."""
    pieces = _pieces(request)
    return ceil(sum(map(len, [*pieces, *_described(request, {})])) / 4) + A_MESSAGE * len(pieces)


def expected_cost(
    request: Request, price: Price | None, settings: Mapping[str, Json], expected_out: int | None = None
) -> float | None:
    """US dollars that the request is expected to cost; None where the price is not known.

    A reply is taken to have `expected_out` tokens (`expected_reply` where none are given), or as many as it may have if
    they are fewer.
    """
    expected = expected_reply(price, settings) if expected_out is None else expected_out
    return token_cost(price, estimate_tokens(request), min(expected, longest_reply(request, price, settings).tokens))


def expected_reply(price: Price | None, settings: Mapping[str, Json]) -> int:
    """Return the tokens of a reply that are assumed where none of the model is known."""
    return EXPECTED_OUT_REASONING if reasons(price, settings) else EXPECTED_OUT


def reasons(price: Price | None, settings: Mapping[str, Json]) -> bool:
    """Return True if the model reasons before it answers, by itself or as a setting says."""
    effort, thinking = settings.get("reasoning_effort"), settings.get("thinking")
    if effort is not None:
        return effort != "none"
    if isinstance(thinking, Mapping):
        return thinking.get("type") != "disabled"
    return bool(price and price.reasons)


def worst_cost(request: Request, price: Price | None, settings: Mapping[str, Json]) -> float | None:
    """US dollars that one attempt costs at most; None where the price is not known.

    No token has less than a byte of UTF-8, so the bytes bound the tokens in; 16 are added for each message and 1,000
    for tools. The reply is bounded by `longest_reply`, which may be an assumption.
    """
    if price is None:
        return None
    tokens_in = bound_tokens(request, settings)
    reached = [rates for rates in price.dearest or _all_rates(price) if rates.above <= tokens_in]
    incoming, outgoing = max(rates.input for rates in reached), max(rates.output for rates in reached)
    return tokens_in * incoming + longest_reply(request, price, settings).tokens * outgoing


def bound_tokens(request: Request, settings: Mapping[str, Json]) -> int:
    """The tokens in that no request of these texts has more of."""
    pieces = _pieces(request)
    described = _described(request, settings)
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in [*pieces, *described])
    return size + A_MESSAGE_AT_MOST * len(pieces) + (TOOLS_AT_MOST if described else 0)


def longest_reply(request: Request, price: Price | None, settings: Mapping[str, Json]) -> ReplyLength:
    """Return the tokens that are written at most for the request, and what says so.

    max_tokens or max_completion_tokens of the request, else of the settings, the larger where both stand; else what
    the price list says of the model; else an assumption, a larger one for models that reason; times `n` and `best_of`.
    An embedding writes none, scoring one for each text.
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
    """The positive whole numbers among these settings; servers take others, such as -1, for no limit."""
    values = (settings.get(name) for name in names)
    return [value for value in values if isinstance(value, int) and not isinstance(value, bool) and value > 0]


def _text(message: Mapping[str, Any]) -> str:
    """What is read of a message: its text alone, or all of it as JSON where it holds more than a text."""
    content = message.get("content")
    return content if isinstance(content, str) and message.keys() <= {"role", "content"} else _json(message)


def _pieces(request: Request) -> list[str]:
    """Return the texts that the model reads: the context once for each text to be scored, of a chat the messages."""
    if request.kind == "score":
        return [*map(_text, request.messages)] or [request.context + text for text in request.texts]
    return [*map(_text, request.messages), *request.texts]


def _described(request: Request, settings: Mapping[str, Json]) -> list[str]:
    """The descriptions of tools and the like, which the model reads beside the messages."""
    whole = {**settings, **request.settings} | ({"tools": request.tools} if request.tools else {})
    return [_json(whole[name]) for name in _PROMPTED if whole.get(name)]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _read(text: str) -> tuple[str, float, float]:
    """Model ("" for any), and US dollars for a token in and out."""
    model, equals, numbers = text.rpartition("=")
    match = _STATED.fullmatch(numbers)
    rates = [float(number) / MILLION for number in match.groups()] if match else []
    if not rates or not all(map(isfinite, rates)) or (equals and not model.strip()):
        raise UsageError(
            f"--taskgraph-price: found {text!r}, expected [MODEL=]IN/OUT, US dollars for a million tokens in and out, "
            "such as gpt-x=0.15/0.60; 0/0 for a model that is free"
        )
    return model.strip(), rates[0], rates[1]


def _listed(name: str) -> Price | None:
    entry = _entry(name)
    if entry is None or entry.get("mode") not in _MODES or _bills_more_than_tokens(name, entry):
        return None
    usual, dearest = _bands(entry), _bands(entry, dearest=True)
    if not any(rates.input or rates.output for rates in usual):
        return None
    # The list knows which models can reason; some do so only where they are told to.
    reasoning = bool(entry.get("supports_reasoning")) and not _SWITCHED.search(name)
    return Price(usual[0].input, usual[0].output, _most_out(entry), steps=usual[1:], dearest=dearest, reasons=reasoning)


def _sounds_reasoning(name: str) -> bool:
    """Return True if a model that the list does not know is named like those that reason."""
    return bool(_REASONS.search(name.rpartition("/")[2].rpartition("#")[2].lower()))


def _bands(entry: Mapping[str, Any], dearest: bool = False) -> tuple[Rates, ...]:
    """The rates by length of prompt, from 0 up; none where the entry does not tell the price of tokens.

    `dearest`: as if all that is read were written to the provider's cache, and all that is written were reasoning.
    """
    tiers = entry.get("tiered_pricing")
    if isinstance(tiers, list):
        found = [_rates(tier, _start(tier), dearest) for tier in tiers if isinstance(tier, dict)]
    else:
        steps = sorted(int(match[1]) for match in map(_STEP.fullmatch, entry) if match)
        found = [
            _rates(entry, 0, dearest),
            *(_rates(entry, step * 1000, dearest, f"_above_{step}k_tokens") for step in steps),
        ]
    known = sorted((rates for rates in found if rates is not None), key=lambda rates: rates.above)
    return tuple(known) if known and len(known) == len(found) and known[0].above == 0 else ()


def _rates(entry: Mapping[str, Any], above: int | None, dearest: bool, step: str = "") -> Rates | None:
    embeds = 0.0 if entry.get("mode") == "embedding" else None
    incoming = _amount(entry, "input_cost_per_token", step)
    outgoing = _amount(entry, "output_cost_per_token", step)
    outgoing = embeds if outgoing is None else outgoing
    if above is None or incoming is None or outgoing is None:
        return None
    if dearest:
        incoming = max(incoming, _amount(entry, "cache_creation_input_token_cost", step) or 0.0)
        outgoing = max(outgoing, _amount(entry, "output_cost_per_reasoning_token", step) or 0.0)
    return Rates(above, incoming, outgoing)


def _start(tier: Mapping[str, Any]) -> int | None:
    span = tier.get("range")
    return int(span[0]) if isinstance(span, list) and span and _is_amount(span[0]) else None


def _all_rates(price: Price) -> tuple[Rates, ...]:
    return (Rates(0, price.input, price.output), *price.steps)


def _most_out(entry: Mapping[str, Any]) -> int | None:
    most = entry.get("max_output_tokens")
    if entry.get("mode") == "embedding":
        return 0
    return int(most) if _is_amount(most) and most else None


def _bills_more_than_tokens(name: str, entry: Mapping[str, Any]) -> bool:
    """Whether each request is billed for something beside its tokens, such as a search of the web."""
    searches = "search" in name.lower() or entry.get("litellm_provider") == "perplexity"
    beside = [*_BESIDE_TOKENS, *(["search_context_cost_per_query"] if searches else [])]
    return any(entry.get(key) for key in beside)


def _amount(entry: Mapping[str, Any], key: str, step: str = "") -> float | None:
    """The amount under this key, for long prompts where there is such a one; None for what is no amount."""
    value = entry.get(key + step, entry.get(key))
    return float(value) if _is_amount(value) else None


def _is_amount(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value >= 0


def _entry(name: str) -> Mapping[str, Any] | None:
    """The entry in the list: of the name, in any case of letters; else of the name without its provider's prefix."""
    entries = _price_list()
    entry = entries.get(name) or entries.get(name.lower())
    if entry is not None:
        return entry
    provider, _, rest = name.partition("/")
    entry = entries.get(rest) or entries.get(rest.lower())
    return entry if entry is not None and _fits(provider, entry.get("litellm_provider")) else None


def _fits(provider: str, listed: object) -> bool:
    """Whether an entry of the provider `listed` is meant by the prefix, as `litellm.utils` has it."""
    if provider in ("vertex_ai", "fireworks_ai", "bedrock"):
        return str(listed).startswith(provider)
    return listed == provider or (provider == "azure_ai" and listed in ("azure", "openai"))


@cache
def _price_list() -> Mapping[str, Mapping[str, Any]]:
    """The entries of litellm's price list, by name and by name in small letters; none if it is gone or changed."""
    try:
        found = find_spec("litellm")
        folders = found.submodule_search_locations if found else None
        entries = json.loads((Path(next(iter(folders or ()))) / LIST).read_text(encoding="utf-8"))
    except (OSError, ValueError, StopIteration):  # not there, no JSON, no package
        return {}
    if not isinstance(entries, dict):
        return {}
    known = {name: entry for name, entry in entries.items() if isinstance(entry, dict) and name != _SAMPLE}
    return {name.lower(): entry for name, entry in known.items()} | known
