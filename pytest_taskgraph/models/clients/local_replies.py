"""How a local model writes a reply: greedily, or sampled with a seed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from inspect import signature
from math import isfinite
from threading import Event
from typing import TYPE_CHECKING, Any, Final, cast

from ...errors import UsageError
from ...trial import Json

if TYPE_CHECKING:
    from ...local_weights import LocalWeights

_SPELLINGS: Final = {"max_completion_tokens": "max_tokens"}


@dataclass(frozen=True, slots=True)
class WritingSettings:
    """How a reply is written.

    Args:
        max_tokens: The most tokens of a reply, at least 1.
        temperature: 0 takes the most probable token at each place; above 0, tokens are sampled.
        top_p: Tokens are sampled from the most probable ones that together have this probability, above 0 and up to 1.
        seed: Determines the sample, with the repetition of the request and the prompt.
    """

    max_tokens: int = 256
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0

    @classmethod
    def of(cls, stated: Mapping[str, Json]) -> WritingSettings:
        """Return the stated settings, which `check_setting` has accepted."""
        values = {_SPELLINGS.get(name, name): value for name, value in stated.items() if value is not None}
        return cls(**cast("dict[str, Any]", values))


_EXPECTED: Final = {
    "max_tokens": "a whole number from 1",
    "temperature": "a number from 0 to 100",
    "top_p": "a number above 0 and up to 1",
    "seed": "a whole number",
}


def check_setting(name: str, value: Json, further: Iterable[str] = ()) -> None:
    """Check the name and the value of a setting of writing; None counts as not stated.

    Args:
        name: The name.
        value: The value.
        further: Names that the message lists beside those of `WritingSettings`.

    Raises:
        UsageError: if the name is unknown or the value not allowed.
    """
    own = _SPELLINGS.get(name, name)
    if own not in _EXPECTED:
        known_names = sorted([*(field.name for field in fields(WritingSettings)), *_SPELLINGS, *further])
        raise UsageError(f"unknown model option {name!r} of a local model; known: {', '.join(known_names)}")
    if value is not None and not _fits(own, value):
        raise UsageError(f"the model option {name}: found {value!r}, expected {_EXPECTED[own]}")


def _fits(name: str, value: Json) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return False
    if name in ("max_tokens", "seed"):
        return isinstance(value, int) and (name == "seed" or value >= 1)
    return 0 <= value <= 100 if name == "temperature" else 0 < value <= 1


def write_reply(
    weights: LocalWeights, ids: Sequence[int], settings: WritingSettings, repetition: int, stop: Event
) -> tuple[str, int, str]:
    """Write a reply to a prompt.

    Args:
        weights: The model.
        ids: The tokens of the prompt, at least one, and no more than the model accepts.
        settings: How it is written.
        repetition: Which of several replies to the same prompt it is.
        stop: Once it is set, writing ends.

    Returns:
        The text, the number of tokens written, and "stop" if the model ended it, "length" if it was cut off.
    """
    import torch

    room = settings.max_tokens if weights.longest is None else weights.longest - len(ids) + 1
    draw = _generator(ids, settings.seed, repetition)
    tokens: list[int] = []
    inputs, kept = list(ids), _cache_parameter(weights)
    cache: dict[str, Any] = {}
    finish = "length"
    with torch.inference_mode():
        while len(tokens) < min(settings.max_tokens, room) and not stop.is_set():
            output = weights.model(torch.tensor([inputs], device=weights.device), use_cache=True, **cache)
            token = _next_token(output.logits[0, -1].float().cpu(), settings, draw)
            tokens.append(token)
            if token in weights.ends:
                finish = "stop"
                break
            computed = getattr(output, kept, None)
            cache = {} if computed is None else {kept: computed}
            inputs = [token] if cache else [*ids, *tokens]
    text = weights.tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return str(text), len(tokens), finish


def _cache_parameter(weights: LocalWeights) -> str:
    """Return the name under which the model takes and returns what it computed of the tokens before: newer or older."""
    return "cache" if "cache" in signature(weights.model.forward).parameters else "past_key_values"


def _generator(ids: Sequence[int], seed: int, repetition: int) -> Any:  # noqa: ANN401 - of a package without types here
    """Return a random generator that the prompt, seed and repetition determine."""
    import torch

    digest = hashlib.sha256(f"{seed}|{repetition}|{','.join(map(str, ids))}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8]) >> 1)


def _next_token(logits: Any, settings: WritingSettings, draw: Any) -> int:  # noqa: ANN401
    import torch

    if not settings.temperature:
        return int(logits.argmax())
    probabilities = torch.softmax(logits / settings.temperature, dim=-1)
    if settings.top_p < 1:
        ordered, places = probabilities.sort(descending=True)
        ordered[ordered.cumsum(0) - ordered >= settings.top_p] = 0.0
        probabilities = torch.zeros_like(probabilities).scatter(0, places, ordered)
    return int(torch.multinomial(probabilities, 1, generator=draw))
