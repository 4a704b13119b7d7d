"""What a family states about the tuning of local models: samples, how replies are measured, and the paper's parameters.

It is plain data. `tuning/` trains with it, and `python -m pytest_taskgraph tune` names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import isfinite
from random import Random
from typing import Final, Literal, TypeVar, get_args

from ..errors import UsageError
from ..trial import Json
from .settings import Settings

TuningMethod = Literal["full", "lora", "soft-prompt"]
TUNING_METHODS: Final[tuple[TuningMethod, ...]] = get_args(TuningMethod)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TuningSample:
    """A prompt with the reply that is learned.

    Args:
        prompt: The text as a run asks it.
        target: The reply.
        choices: The replies that a validation compares by log-probability, the target among them; empty if a validation
            has the reply written.
        reference: What a written reply is scored by.
    """

    prompt: str
    target: str
    choices: tuple[str, ...] = ()
    reference: Json = None


@dataclass(frozen=True, slots=True)
class TuningData:
    """The samples of a tuning.

    Args:
        train: Those that are learned, in any order; a repeated one counts as often as it stands here.
        dev: Those that a validation measures.
        facts: What `tuning.json` states about the data, such as their source.
        problems: A line each on problems of the data.
    """

    train: tuple[TuningSample, ...]
    dev: tuple[TuningSample, ...]
    facts: Mapping[str, Json]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TuningParameters:
    """What decides on a tuned model besides the model that it begins with, the data and the method.

    The learning rate is constant; there is no weight decay and no clipping of gradients.

    Args:
        updates: The number of updates of the weights; 0 if `epochs` states it.
        epochs: How often each sample is learned; 0 if `updates` states it.
        every: A validation follows each so many updates, and the last one; 0 for once an epoch.
        batch: The samples, or segments, of an update.
        at_once: The samples computed at a time, a divisor of the batch; 0 for the whole batch.
        tokens: The tokens of a segment, or the most of a sample; never more than the model takes.
        learning_rate: That of Adam.
        beta1: The decay of Adam's mean of the gradients.
        beta2: The decay of Adam's mean of their squares.
        train: The most items of the train split that samples are made of; 0 for all.
        dev: The most samples of a validation, drawn by the seed; 0 for all.
        prompt_tokens: The lengths of the soft prompt that are tried; the best on the dev samples is kept.
        rank: The rank of LoRA's matrices.
        alpha: LoRA's scale; the change of a weight counts `alpha / rank`.
        dropout: LoRA's dropout.
        seed: Decides on the order of the samples, what is drawn, the initial adapter and the dropout.
    """

    updates: int = 0
    epochs: int = 0
    every: int = 0
    batch: int = 8
    at_once: int = 0
    tokens: int = 1024
    learning_rate: float = 1e-4
    beta1: float = 0.9
    beta2: float = 0.999
    train: int = 0
    dev: int = 0
    prompt_tokens: tuple[int, ...] = ()
    rank: int = 8
    alpha: int = 16
    dropout: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        least = {"batch": 1, "tokens": 2, "rank": 1, "alpha": 1, "seed": None}
        for stated in fields(self):
            value, bound = getattr(self, stated.name), least.get(stated.name, 0)
            if isinstance(value, int) and bound is not None and value < bound:
                raise UsageError(f"{stated.name}: found {value}, expected at least {bound}")
        if bool(self.updates) == bool(self.epochs):
            raise UsageError(f"updates, epochs: found {self.updates} and {self.epochs}, expected one of them above 0")
        if not (isfinite(self.learning_rate) and self.learning_rate > 0):
            raise UsageError(f"learning_rate: found {self.learning_rate}, expected a number above 0")
        for name in ("beta1", "beta2", "dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise UsageError(f"{name}: found {getattr(self, name)}, expected a number from 0 to below 1")
        if any(length < 1 for length in self.prompt_tokens):
            raise UsageError(f"prompt_tokens: found {min(self.prompt_tokens)}, expected at least 1")
        if self.at_once and self.batch % self.at_once:
            raise UsageError(f"at_once: found {self.at_once}, expected a divisor of the batch, {self.batch}")


@dataclass(frozen=True, slots=True)
class TuningTask:
    """Something that a family lets models be tuned for.

    Args:
        name: Its name behind that of the family.
        title: What is learned, in a few words.
        ask: The arguments of pytest that ask a tuned model about it.
        data: From the settings and parameters to the samples. Raises UsageError.
        score: From dev samples and a reply to each, the chosen or the written one, to named scores from 0 to 1 where
            they are defined. The first decides which result is kept. A tie of choices is the empty text.
        parameters: By method the parameters, the paper's where it states them.
        paired: Those for an encoder with a decoder, where they differ.
        chat: False if the model continues the bare text of the prompt, in no message.
        packed: True if samples are learned one after the other in segments of one length, prompts included. A soft
            prompt stands before each sample in any case, and learns the reply alone.
    """

    name: str
    title: str
    ask: str
    data: Callable[[Settings, TuningParameters], TuningData]
    score: Callable[[Sequence[TuningSample], Sequence[str]], Mapping[str, float | None]]
    parameters: Mapping[TuningMethod, TuningParameters]
    paired: Mapping[TuningMethod, TuningParameters] = field(default_factory=dict)
    chat: bool = True
    packed: bool = False


def draw_samples(items: Sequence[T], most: int, seed: int, of: str) -> list[T]:
    """Return so many of the items, in their order, that the seed draws; all if there are no more, or for 0.

    Args:
        items: What is drawn from.
        most: The number.
        seed: The seed.
        of: What is drawn, so that two draws of one seed differ.
    """
    if not most or most >= len(items):
        return [*items]
    return [items[at] for at in sorted(Random(f"{seed}|tuning|{of}").sample(range(len(items)), most))]


def chosen_share(samples: Iterable[TuningSample], replies: Iterable[str]) -> float | None:
    """Return the share of the samples whose reply is the target; None without samples."""
    right = [reply == sample.target for sample, reply in zip(samples, replies, strict=True)]
    return sum(right) / len(right) if right else None
