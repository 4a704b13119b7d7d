"""Questions of TaskLAMA made by hand, and episodes driven with replies made by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from pytest_taskgraph.asking import Episode, Exchange, Transcript, drive
from pytest_taskgraph.families.tasklama.complex_task import ComplexTask
from pytest_taskgraph.trial import Json, Parsing, Question, Reply, Request

Answering = Callable[[Request], Reply | Awaitable[Reply]]
GOLD = ["wash the rice", "boil water", "cook the rice"]


def make_task(number: int, title: str = "", cluster: str = "", context: tuple[str, ...] = ()) -> ComplexTask:
    title = title or f"Build shelf {number}"
    return ComplexTask(f"t{number}", title, context, (f"buy board {number}", f"saw board {number}"), ((0, 1),), cluster)


def make_question(
    settings: dict[str, Json] | None = None, prompt: str = "Task: Cook rice", parsing: Parsing = "lenient"
) -> Question:
    return Question(
        "q", "tasklama", "icl", "steps", "Cook rice", prompt, "task-graph",
        {"steps": [*GOLD], "dependencies": [[0, 2], [1, 2]], "similarity": "lexical"},
        "hungarian_f1", pass_threshold=0.0, place="whole", parsing=parsing, episode_settings=settings or {},
    )  # fmt: skip


def numbered(*steps: str) -> str:
    """Return steps as a model lists them."""
    return "\n".join(f"{at}. {step}" for at, step in enumerate(steps, 1))


def run_episode(
    episode: Episode, question: Question, answer: Answering | Sequence[str]
) -> tuple[Transcript, list[Exchange]]:
    """Run an episode, and return its transcript and exchanges; a list of texts answers the requests in their order."""
    exchanges: list[Exchange] = []
    left = iter(()) if callable(answer) else iter(answer)

    async def reply_to(request: Request) -> Reply:
        answer_or_error = answer(request) if callable(answer) else Reply(next(left), source="scripted")
        return answer_or_error if isinstance(answer_or_error, Reply) else await answer_or_error

    return asyncio.run(drive(episode(question), reply_to, exchanges)), exchanges
