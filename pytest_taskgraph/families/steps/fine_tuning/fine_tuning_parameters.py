"""The parameters of fine-tuning; the defaults are those of Wang et al. (2023), section 3.4."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isfinite

from ....errors import UsageError


@dataclass(frozen=True, slots=True)
class FineTuningParameters:
    """What decides on a fine-tuned model besides the model that it begins with and the data.

    The paper states no schedule of the learning rate, no weight decay and no clipping: there are none. The dropout is
    that of the model's configuration.

    Args:
        updates: The number of updates of the weights.
        batch: The segments of an update.
        segment: The tokens of a segment; a model that takes fewer gets segments of as many as it takes.
        learning_rate: That of Adam.
        beta1: The decay of Adam's mean of the gradients.
        beta2: The decay of Adam's mean of their squares.
        every: A validation follows each so many updates, and the last one.
        dev: The samples of the dev split that a validation compares, drawn by the seed; all if there are no more.
        at_once: The segments computed at a time, 0 for the whole batch; fewer need less memory and change nothing else.
        seed: Decides on the order of the samples, the draws and the dropout.
    """

    updates: int = 6000
    batch: int = 8
    segment: int = 1024
    learning_rate: float = 3e-4
    beta1: float = 0.9
    beta2: float = 0.98
    every: int = 300
    dev: int = 1000
    at_once: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        least = {"updates": 1, "batch": 1, "segment": 2, "every": 1, "dev": 1, "at_once": 0}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in least and value < least[field.name]:
                raise UsageError(f"{field.name}: found {value}, expected at least {least[field.name]}")
        if not (isfinite(self.learning_rate) and self.learning_rate > 0):
            raise UsageError(f"learning_rate: found {self.learning_rate}, expected a number above 0")
        for name in ("beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise UsageError(f"{name}: found {getattr(self, name)}, expected a number from 0 to below 1")
