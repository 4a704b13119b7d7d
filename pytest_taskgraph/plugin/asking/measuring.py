"""The models that measure open answers: judge and embedder, each opened once, with its own settings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ...errors import UsageError
from ...redaction import public_name
from .. import options
from ..models_under_test import model_settings

if TYPE_CHECKING:
    from ...asking import Exchange, Model, Transcript
    from ...benchmarks.settings import Settings
    from ...trial import Json, Question, Reply, Request
    from .pipeline import Pipeline

SPEC = {"judge": "judge-model", "embedder": "embedder"}  # role -> the option that names its model


class MeasuringModels:
    """The judge and the embedder, as `--taskgraph-judge-model` and `--taskgraph-embedder` name them."""

    def __init__(self, config: pytest.Config, settings: Settings, pipeline: Pipeline) -> None:
        self.specs = {role: options.value(config, name) for role, name in SPEC.items()}
        self.settings: dict[str, dict[str, Json]] = {
            role: model_settings([self.specs[role]], options.model_options(config, role)) for role in SPEC
        }
        self._text_metrics, self._templates = settings.text_metrics, settings.templates
        self._models: dict[str, Model] = {}
        self._needed: dict[str, str] = {}  # role -> what needs it, for messages
        self._pipeline = pipeline

    def check(self) -> None:
        """Check that each chosen metric has its model, and the judge its template. Raises UsageError."""
        from ...benchmarks.llm_judge import judge_prompt, judge_template

        self._pipeline.check(self.clients)
        if "judge" in self._text_metrics:
            judge_prompt(judge_template(self._templates), "", "", "")

    def need(self, role: str, why: str) -> None:
        """Require a model in this role.

        Args:
            role: "judge" or "embedder".
            why: What needs it, for messages.
        """
        self._needed.setdefault(role, why)

    def model(self, role: str) -> Model:
        """Return the model of a role, opened once. Raises UsageError if no option names it."""
        from ...models import open_model

        if role not in self._models:
            if not self.specs[role]:
                why = self._needed.get(role, f"--taskgraph-text-metric={','.join(self._text_metrics)}")
                remedy = f"needs a model in the role of {role}: name one with --taskgraph-{SPEC[role]}=SPEC"
                raise UsageError(f"{why} {remedy}")
            self._models[role] = open_model(self.specs[role], self.settings[role])
        return self._models[role]

    @property
    def clients(self) -> list[Model]:
        """Return the models that the chosen metrics and the episodes need."""
        from ...scoring.metrics import MODEL_METRICS

        chosen = [MODEL_METRICS[name] for name in self._text_metrics if name in MODEL_METRICS]
        return [self.model(role) for role in dict.fromkeys([*chosen, *self._needed])]

    async def measure(self, question: Question, transcript: Transcript, exchanges: list[Exchange]) -> Transcript:
        """Return the transcript with the metrics that models measure.

        Args:
            question: The question.
            transcript: The transcript of its episode.
            exchanges: A list to append the exchanges with these models to.

        Raises:
            ProviderError: if a model does not reply.
            NotAskedError: if a model is not asked.
            UsageError: if no option names a model that is needed.
        """
        from ...asking import drive
        from ...benchmarks.episodes.answer_measurement import measure_answer
        from ...benchmarks.llm_judge import judge_template
        from ...families import FAMILIES

        template, asked = judge_template(self._templates), FAMILIES[question.family].asked
        turns = measure_answer(question, transcript.reply, template, asked)
        measurement = await drive(turns, self.answer, exchanges)
        return replace(transcript, metrics={**transcript.metrics, **measurement.metrics})

    def about(self) -> dict[str, Json]:
        """Return the settings of the chosen metrics and their models for the record; none if all are the defaults."""
        if self._text_metrics == ("rouge1",) and not self._models:
            return {}
        recorded: dict[str, Json] = {} if self._text_metrics == ("rouge1",) else {"text_metric": [*self._text_metrics]}
        for role in self._models:
            recorded |= {
                SPEC[role].replace("-", "_"): public_name(self.specs[role]),
                f"{role}_option": {**self.settings[role]},
            }
        return recorded

    async def answer(self, request: Request) -> Reply:
        """Return the reply of the model in the role of the request."""
        return await self._pipeline.wrap(self.model(request.role)).answer(request)
