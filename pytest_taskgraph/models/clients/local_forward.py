"""What a local model computes: the logits of given tokens, and of each next token of a reply.

A causal model reads the prompt and what follows it as one text, behind its soft prompt if it has one. The encoder of
an encoder with a decoder reads the prompt, as the tokenizer ends texts, and the decoder what follows.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...local_weights import LocalWeights


def first_scored(weights: LocalWeights, border: int) -> int:
    """Return the place of the first token that has a probability, of a text that begins at the border.

    The very first token of a causal model has none.
    """
    return border if weights.start is not None else max(border, 1)


def logits_before(weights: LocalWeights, ids: Sequence[int], first: int) -> Any:  # noqa: ANN401 - of torch
    """Return the logits of each token from the place `first` on, and of the one that follows the last.

    Args:
        weights: The model.
        ids: The tokens that are read.
        first: A place up to the number of tokens; at least 1 for a causal model.
    """
    import torch

    rows = len(ids) - first + 1
    with torch.inference_mode():
        if weights.start is None:
            kept = {"logits_to_keep": rows} if "logits_to_keep" in signature(weights.model.forward).parameters else {}
            output = weights.model(**_inputs(weights, ids), use_cache=False, **kept)
        else:
            decoder = torch.tensor([[weights.start, *ids[first:]]], device=weights.device)
            prompt = _inputs(weights, ids[:first])
            output = weights.model(**prompt, decoder_input_ids=decoder, use_cache=False)
        return output.logits[0][-rows:].float().cpu()


def reply_logits(weights: LocalWeights, ids: Sequence[int]) -> Generator[Any, int]:
    """Yield the logits of each next token of the reply to a prompt; send the token that was taken.

    It is used in torch's inference mode.

    Args:
        weights: The model.
        ids: The tokens of the prompt.
    """
    import torch

    kept = _cache_parameter(weights)
    encoded: dict[str, Any] = {}
    if weights.start is None:
        name, read, inputs = "input_ids", [*ids], _inputs(weights, ids)
    else:
        name, read = "decoder_input_ids", [weights.start]
        encoded["encoder_outputs"] = weights.model.get_encoder()(**_inputs(weights, ids))
        inputs = {name: torch.tensor([read], device=weights.device)}
    cache: dict[str, Any] = {}
    while True:
        output = weights.model(**inputs, **encoded, use_cache=True, **cache)
        token = yield output.logits[0, -1].float().cpu()
        read.append(token)
        computed = getattr(output, kept, None)
        cache = {} if computed is None else {kept: computed}
        if cache or weights.start is not None:
            inputs = {name: torch.tensor([[token] if cache else read], device=weights.device)}
        else:
            inputs = _inputs(weights, read)


def _inputs(weights: LocalWeights, ids: Sequence[int]) -> dict[str, Any]:
    """Return the inputs of the model, or of its encoder, for a text from its beginning."""
    import torch

    read = [*ids, *text_ending(weights)] if weights.start is not None else [*ids]
    tokens = torch.tensor([read], dtype=torch.long, device=weights.device)
    if weights.prefix is None:
        return {"input_ids": tokens}
    words = weights.model.get_input_embeddings()(tokens)
    return {"inputs_embeds": torch.cat([weights.prefix[None].to(words.dtype), words], dim=1)}


def text_ending(weights: LocalWeights) -> list[int]:
    """Return the tokens that the tokenizer puts behind a text."""
    ids, end = weights.tokenizer("a", verbose=False)["input_ids"], weights.tokenizer.eos_token_id
    return [end] if ids and ids[-1] == end else []


def _cache_parameter(weights: LocalWeights) -> str:
    """Return the name under which the model takes and returns what it computed of the tokens before: newer or older."""
    return "cache" if "cache" in signature(weights.model.forward).parameters else "past_key_values"
