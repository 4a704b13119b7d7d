"""The methods that ask for dependencies: on golden steps, and on generated ones of one sequence or of two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from ....asking import Episode, one_turn
from ....scoring.forms.form import Form
from ....scoring.forms.task_graph_form import COMPOSED_TASK_GRAPH, TASK_GRAPH
from ....trial import Json
from ..method import Method, no_settings
from ..sequences import icl_prompt
from .edge_answers import Asking, generated_episode, golden_episode
from .edge_prompts import entire_graph_prompt, pair_prompt, pair_text, shown_order, steps_prompt, steps_text
from .pairwise import MOST_PAIRED_STEPS, asking_pairs
from .step_orders import ask_order, keep_order, score_ordered, score_produced
from .whole_graph import ask_graph, entire_graph

if TYPE_CHECKING:
    from ..complex_task import ComplexTask
    from ..tasklama_options import TaskLamaSettings

Prompt = Callable[["ComplexTask", Sequence["ComplexTask"], "TaskLamaSettings"], str]
EpisodeSettings = Callable[["ComplexTask", Sequence["ComplexTask"], "TaskLamaSettings"], dict[str, Json]]

_PAIRWISE: Final = {"pair": "each pair", "pair_cot": "each pair with a rationale"}


def _golden_pair_method(name: str, template: str) -> Method:
    """Return a method that asks about each ordered pair of golden steps."""

    def prompt(task: ComplexTask, examples: Sequence[ComplexTask], settings: TaskLamaSettings) -> str:
        first, second = _two_steps(task, settings)
        return pair_text(pair_prompt(template, task, examples, settings), first, second)

    def needs(task: ComplexTask, examples: Sequence[ComplexTask], settings: TaskLamaSettings) -> dict[str, Json]:
        order: list[Json] = [*shown_order(task, settings.seed)]
        return {"shown": order, "pair": pair_prompt(template, task, examples, settings)}

    episode = one_turn(golden_episode(asking_pairs(template == "pair_cot"), closed=False))
    return _golden_method(name, _PAIRWISE[template], episode, prompt, needs)


def _golden_list_method(name: str, title: str, template: str, ask: Asking) -> Method:
    """Return a method that asks one question about the list of golden steps."""

    def prompt(task: ComplexTask, examples: Sequence[ComplexTask], settings: TaskLamaSettings) -> str:
        steps = [task.steps[at] for at in shown_order(task, settings.seed)]
        return steps_text(steps_prompt(template, task, examples, settings), steps)

    def needs(task: ComplexTask, examples: Sequence[ComplexTask], settings: TaskLamaSettings) -> dict[str, Json]:
        order: list[Json] = [*shown_order(task, settings.seed)]
        if ask is not score_ordered:
            return {"shown": order}
        context = icl_prompt(task, examples, settings)
        return {"shown": order, "score_context": context, "swap_seed": _swap_seed(task, settings)}

    episode = golden_episode(ask, closed=True)
    return _golden_method(name, title, episode if ask is score_ordered else one_turn(episode), prompt, needs)


def _golden_method(name: str, title: str, episode: Episode, prompt: Prompt, settings: EpisodeSettings) -> Method:
    form = COMPOSED_TASK_GRAPH.name
    return Method(name, title, "golden_dependencies", episode, prompt, settings, "pairwise_accuracy", form)


def _generated_method(name: str, title: str, ask: Asking, template: str = "", sequences: int = 1) -> Method:
    """Return a method that has steps generated, and asks for dependencies between them with the template, if any."""

    def needs(task: ComplexTask, examples: Sequence[ComplexTask], settings: TaskLamaSettings) -> dict[str, Json]:
        needed: dict[str, Json] = {"sequences": sequences}
        if template == "graph":
            needed["graph"] = steps_prompt(template, task, examples, settings)
        elif template:
            needed["pair"] = pair_prompt(template, task, examples, settings)
        elif ask is score_produced:
            needed["swap_seed"] = _swap_seed(task, settings)
        return needed

    episode = generated_episode(ask, reduced=ask is not keep_order)
    alone = ask is keep_order  # no request beside that for the steps
    return _dependency_method(name, title, one_turn(episode) if alone else episode, icl_prompt, needs)


def _dependency_method(
    name: str, title: str, episode: Episode, prompt: Prompt, settings: EpisodeSettings, form: Form = COMPOSED_TASK_GRAPH
) -> Method:
    metric, further = "in_degree_rouge1", ("hungarian_f1", "graph_f1")
    return Method(name, title, "generated_dependencies", episode, prompt, settings, metric, form.name, further)


def _swap_seed(task: ComplexTask, settings: TaskLamaSettings) -> str:
    return f"{settings.seed}|{task.id}|swaps"


def _two_steps(task: ComplexTask, settings: TaskLamaSettings) -> tuple[str, str]:
    """Return the two steps of the first request; of a task of one step, which is not asked about, that step twice."""
    steps = [task.steps[at] for at in shown_order(task, settings.seed)]
    return (steps[0], steps[1]) if len(steps) > 1 else ("".join(steps), "".join(steps))


METHODS: Final[tuple[Method, ...]] = (
    _golden_list_method("golden_linear", "one order", "order", ask_order),
    _golden_pair_method("golden_pairs", "pair"),
    _golden_pair_method("golden_pairs_cot", "pair_cot"),
    _golden_list_method("golden_scoring", "orders scored by log-probability", "order", score_ordered),
    _golden_list_method("golden_whole", "the whole graph in one request", "graph", ask_graph),
    _generated_method("linear", "the produced order", keep_order),
    _generated_method("pairs", "each pair", asking_pairs(False, MOST_PAIRED_STEPS), "pair"),
    _generated_method("pairs_cot", "each pair with a rationale", asking_pairs(True, MOST_PAIRED_STEPS), "pair_cot"),
    _generated_method("scoring", "orders scored by log-probability", score_produced),
    _generated_method("whole", "the whole graph in one request", ask_graph, "graph"),
    _generated_method("pairs_two", "each pair, of two sequences", asking_pairs(False, MOST_PAIRED_STEPS), "pair", 2),
    _generated_method(
        "pairs_cot_two",
        "each pair with a rationale, of two sequences",
        asking_pairs(True, MOST_PAIRED_STEPS),
        "pair_cot",
        2,
    ),
    _generated_method("whole_two", "the whole graph in one request, of two sequences", ask_graph, "graph", 2),
    _dependency_method(
        "entire_graph",
        "steps and dependencies in one request",
        entire_graph,
        entire_graph_prompt,
        no_settings,
        TASK_GRAPH,
    ),
)
