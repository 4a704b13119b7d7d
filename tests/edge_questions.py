"""Tasks made by hand, their questions by a dependency method, and the means to drive an episode."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tasklama_episodes import Answering, run_episode

from pytest_taskgraph.asking import Exchange, Transcript
from pytest_taskgraph.families.tasklama.complex_task import ComplexTask
from pytest_taskgraph.families.tasklama.edges import METHODS
from pytest_taskgraph.families.tasklama.method import Method
from pytest_taskgraph.families.tasklama.tasklama_settings import TaskLamaSettings
from pytest_taskgraph.models.clients.simulated import SimulatedModel
from pytest_taskgraph.scoring.forms.task_graph_form import write_graph
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Json, Question, Reply, Request, Score

BREAD = ComplexTask(
    "bread", "Bake bread", ("In an oven",), ("Mix the dough", "Let the dough rise", "Heat the oven", "Bake the dough"),
    ((0, 1), (1, 3), (2, 3)), "bakery",
)  # fmt: skip
TEA = ComplexTask(
    "tea", "Make tea", (), ("Boil water", "Put leaves into the pot", "Pour water on the leaves", "Drink the tea"),
    ((0, 2), (1, 2), (2, 3)), "drinks",
)  # fmt: skip
PACK = ComplexTask("pack", "Pack a bag", ("By train",), ("Fold shirts", "Find the charger"), (), "travel")
EXAMPLES = (TEA, PACK)
SETTINGS = TaskLamaSettings(seed=7)
BY_NAME = {method.name: method for method in METHODS}


def edge_question(
    method: str | Method,
    task: ComplexTask = BREAD,
    settings: TaskLamaSettings = SETTINGS,
    examples: Sequence[ComplexTask] = EXAMPLES,
    similarity: str = "lexical",
) -> Question:
    """Return the question by a method about a task, as the family builds it."""
    method = BY_NAME[method] if isinstance(method, str) else method
    reference: dict[str, Json] = {
        "steps": [*task.steps],
        "dependencies": [[*pair] for pair in task.dependencies],
        "similarity": similarity,
    }
    return Question(
        f"{method.name}-{task.id}", "tasklama", method.name, method.section, task.title,
        method.prompt(task, examples, settings), method.form, reference, method.metric, [*method.further],
        pass_threshold=0.0, place="whole", episode=method.name,
        episode_settings=method.settings(task, examples, settings),
    )  # fmt: skip


def run_method(question: Question, answer: Answering) -> tuple[Transcript, list[Exchange]]:
    """Run the episode of a question's method, and return its transcript and exchanges."""
    return run_episode(BY_NAME[question.episode].episode, question, answer)


def simulate(question: Question, accuracy: float) -> tuple[Score, list[Exchange]]:
    """Let a simulated model answer a question; it knows the reference as the reply to the question's own prompt."""
    right = write_graph(question.reference)
    model = SimulatedModel(lambda digest: (right, "1. Sing a song"), accuracy, seed=3)
    transcript, exchanges = run_method(question, model.answer)
    return grade(question, transcript.reply), exchanges


def in_order(*texts: str) -> Callable[[Request], Reply]:
    """Answer requests with texts in their order, and the last one again."""
    left = [*texts]
    return lambda request: Reply(left.pop(0) if len(left) > 1 else left[0], source="scripted")


def asked_pair(request: Request) -> tuple[str, str]:
    """Return the two steps that a request about a pair asks about."""
    *_, first, second = request.prompt.splitlines()
    return first.removeprefix("First step: "), second.removeprefix("Second step: ")
