"""Models that score no texts: they raise an error of its own, apart from all other reasons for not asking."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

import pytest

from pytest_taskgraph.asking import Model
from pytest_taskgraph.errors import CannotScoreError, NoLogprobsError, NotAskedError
from pytest_taskgraph.families.tasklama.task_baselines import BASELINES as TASK_BASELINES
from pytest_taskgraph.families.tasklama.tasklama_settings import TaskLamaSettings
from pytest_taskgraph.families.understanding.baselines import BASELINES
from pytest_taskgraph.models.clients.python_callable import PythonModel
from pytest_taskgraph.models.clients.recorded import RecordedModel
from pytest_taskgraph.models.clients.simulated import SimulatedModel
from pytest_taskgraph.trial import Request

CONTEXT = Request(kind="score", context="Boil water.", texts=[" Yes", " No"])
MESSAGES = Request([{"role": "user", "content": "Boil water?"}], kind="score", texts=["Yes", "No"])
MODELS: dict[str, Callable[[], Model]] = {
    "simulated": lambda: SimulatedModel(lambda digest: None, 1.0),
    "recorded": lambda: RecordedModel("replies.jsonl", []),
    "python": lambda: PythonModel("echo", lambda prompt: prompt),
    **{f"understanding {name}": make for name, make in BASELINES.items()},
    "tasklama repeat-task": partial(TASK_BASELINES["repeat-task"], TaskLamaSettings()),
}


@pytest.mark.parametrize("name", MODELS)
def test_score_request_to_model_without_scores_raises_cannot_score(name: str) -> None:
    for request in (CONTEXT, MESSAGES):
        with pytest.raises(CannotScoreError):
            asyncio.run(MODELS[name]().answer(request))
    with pytest.raises(NotAskedError) as raised:
        asyncio.run(MODELS[name]().answer(Request(kind="embed", texts=["Boil water."])))
    assert not isinstance(raised.value, CannotScoreError)


def test_score_reply_without_logprobs_raises_cannot_score() -> None:
    assert issubclass(NoLogprobsError, CannotScoreError)
