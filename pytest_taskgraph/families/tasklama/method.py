"""A method of TaskLAMA: how the steps of a task are asked for, or the order between them; a row of its tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ...asking import Episode
    from ...trial import Json
    from .complex_task import ComplexTask
    from .tasklama_settings import TaskLamaSettings

Section = Literal["step_generation", "golden_dependencies", "generated_dependencies"]


@dataclass(frozen=True, slots=True)
class Method:
    """One way to ask about a task.

    Args:
        name: The name in options, gates and tables.
        title: What it does, in a few words, for the documentation.
        section: "step_generation": steps are asked for. "golden_dependencies": steps are given, their order is
            asked for. "generated_dependencies": both are the model's.
        episode: How a question is put; its name in questions is that of the method.
        prompt: From the task, the in-context examples and the settings to the text of the first request.
        settings: From the same to what the episode needs beside the prompt.
        metric: The main metric.
        form: The name of the answer form; `composed-task-graph` where its replies are about given steps.
        further: Further metrics.
        episode_metrics: The metrics that its episode measures beside those.
    """

    name: str
    title: str
    section: Section
    episode: Episode
    prompt: Callable[[ComplexTask, Sequence[ComplexTask], TaskLamaSettings], str]
    settings: Callable[[ComplexTask, Sequence[ComplexTask], TaskLamaSettings], dict[str, Json]]
    metric: str
    form: str = "task-graph"
    further: tuple[str, ...] = ()
    episode_metrics: tuple[str, ...] = ()

    @property
    def metrics(self) -> tuple[str, ...]:
        """Return the metrics of its answers, and those that its episode measures."""
        return (self.metric, *self.further, *self.episode_metrics)


def no_settings(task: ComplexTask, examples: Sequence[ComplexTask], settings: TaskLamaSettings) -> dict[str, Json]:
    """Return the settings of an episode that needs nothing beside the prompt."""
    return {}
