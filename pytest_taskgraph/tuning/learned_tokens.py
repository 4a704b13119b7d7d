"""The tokens that are learned: of each sample by itself, or of all samples one after the other, cut into segments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any, Final

from ..errors import UsageError
from ..models.clients.local_forward import text_ending
from ..models.clients.local_model import prompt_tokens, split_at

if TYPE_CHECKING:
    from ..benchmarks.tuning_task import TuningSample, TuningTask
    from ..local_weights import LocalWeights

_IGNORED: Final = -100  # the label of a token that is not learned, as transformers has it


@dataclass(frozen=True, slots=True)
class SampleTokens:
    """The tokens of a prompt and of a text behind it.

    Args:
        ids: All of them.
        border: The place where the text begins.
        cut: True if tokens were left out to keep within the most that the model takes.
    """

    ids: tuple[int, ...]
    border: int
    cut: bool


@dataclass(frozen=True, slots=True)
class LearnedTokens:
    """What the Trainer learns from.

    Args:
        examples: The inputs and labels of each sample or segment.
        tokens: All tokens that the model reads in one round.
        cut: The samples of which tokens were left out.
    """

    examples: list[dict[str, list[int]]]
    tokens: int
    cut: int


def sample_tokens(weights: LocalWeights, task: TuningTask, prompt: str, text: str, most: int) -> SampleTokens:
    """Return the tokens of a prompt as a run asks it, and of a text behind it.

    Where they are too many, the first ones of the prompt are left out, then the last ones of the text.

    Args:
        weights: The model.
        task: What the prompt is of.
        prompt: The prompt.
        text: The text.
        most: The most tokens; of an encoder with a decoder, of each.
    """
    if task.chat:
        before = prompt_tokens(replace(weights, longest=None), [{"role": "user", "content": prompt}])
        after = list(weights.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])
    else:
        ids, border = split_at(weights, prompt, text)
        before, after = ids[:border], ids[border:]
    least = 0 if weights.start is not None else 1  # token that a causal model needs before the text
    room = most if weights.start is not None else max(least, most - len(after))
    shown = before[len(before) - room :] if len(before) > room else before
    kept = after[: most if weights.start is not None else most - least]
    return SampleTokens((*shown, *kept), len(shown), len(shown) + len(kept) < len(before) + len(after))


def learn_samples(weights: LocalWeights, task: TuningTask, samples: Iterable[TuningSample], most: int) -> LearnedTokens:
    """Return the samples by themselves: their replies are learned, and their prompts are read."""
    end = separator(weights.tokenizer)
    ending = text_ending(weights)
    examples, cut = [], 0
    for sample in samples:
        tokens = sample_tokens(weights, task, sample.prompt, sample.target, most - len(end))
        cut += tokens.cut
        before, after = [*tokens.ids[: tokens.border]], [*tokens.ids[tokens.border :], *end]
        if weights.start is not None:
            examples.append({"input_ids": [*before, *ending], "labels": after})
        else:
            examples.append({"input_ids": before + after, "labels": [_IGNORED] * len(before) + after})
    tokens_read = sum(len(example["input_ids"]) for example in examples)
    return LearnedTokens(examples, tokens_read, cut)


def learn_segments(
    weights: LocalWeights, samples: Sequence[TuningSample], length: int, most: int, seed: int
) -> LearnedTokens:
    """Return the samples one after the other in segments, prompts included; what is left at the end is not learned.

    The end token stands behind each sample, or a line break where the tokenizer has none. The seed decides on order.

    Args:
        weights: The model.
        samples: The samples.
        length: The tokens of a segment.
        most: The segments that are needed at most: no further samples are split into tokens then.
        seed: The seed.

    Raises:
        UsageError: if the samples are too short for one segment.
    """
    end, ids = separator(weights.tokenizer), list[int]()
    order = [*samples]
    Random(f"{seed}|tuning order").shuffle(order)
    for sample in order:
        ids += weights.tokenizer(sample.prompt + sample.target, verbose=False)["input_ids"]
        if ids[-len(end) :] != end:
            ids += end
        if len(ids) >= most * length:
            break
    if len(ids) < length:
        raise UsageError(f"tokens: found {length} for a segment, but all samples have {len(ids)}; state fewer")
    segments = [ids[start : start + length] for start in range(0, len(ids) - length + 1, length)][:most]
    return LearnedTokens([{"input_ids": part, "labels": part} for part in segments], len(segments) * length, 0)


def separator(tokenizer: Any) -> list[int]:  # noqa: ANN401 - of a package without types here
    """Return the tokens that stand behind each reply."""
    if tokenizer.eos_token_id is not None:
        return [int(tokenizer.eos_token_id)]
    return [int(token) for token in tokenizer("\n", add_special_tokens=False, verbose=False)["input_ids"]]


def batch_examples(examples: Sequence[dict[str, list[int]]]) -> dict[str, Any]:
    """Return the tensors of some examples, filled up behind to one length; the filling is neither read nor learned."""
    import torch

    def fill(name: str, filling: int) -> Any:  # noqa: ANN401
        width = max(len(example[name]) for example in examples)
        return torch.tensor([example[name] + [filling] * (width - len(example[name])) for example in examples])

    lengths = [len(example["input_ids"]) for example in examples]
    mask = [[1] * length + [0] * (max(lengths) - length) for length in lengths]
    return {
        "input_ids": fill("input_ids", 0),
        "attention_mask": torch.tensor(mask),
        "labels": fill("labels", _IGNORED),
    }
