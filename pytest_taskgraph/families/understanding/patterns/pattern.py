"""A question pattern: templates, a form, and a function that enumerates cases with their answers.

    @pattern(
        "In {{ place }}, which tasks come directly after '{{ task }}' in the {{ flow }} flow?",
        "In {{ place }}, to which tasks does the {{ flow }} flow lead directly from '{{ task }}'?",
        form="task-set",
    )
    def next_tasks(workflow: Workflow) -> Cases:
        \"\"\"Check that the model follows a link forward.\"\"\"
        for task in workflow.task_names:
            yield case(successors(workflow, task), task=task, flow="control")

The function's name is the pattern's name, its docstring the rationale, its module the topic. The function is
deterministic; the package `questions` draws the cases that are asked. A function with many cases of a rank above 0 has
the keyword-only parameter `hardest: bool = False`: if it is True, the function leaves them out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final, Literal

from ....errors import UnknownNameError, UsageError
from ....trial import Json
from ....workflow.features import FEATURES
from ....workflow.model import Workflow

STRIPPED: Final = "docstrings are left out under python -OO"  # in the place of a rationale, which is one


@dataclass(slots=True)  # not frozen: a hundred are made for a question, and each would take twice as long
class Case:
    """One question of a pattern about one workflow, with its answer."""

    answer: Json
    fields: dict[str, Any] = field(default_factory=dict)  # variables of the templates
    rank: int = 0  # cases of the lowest rank are asked first: hard negatives before easy ones
    stratum: str = ""  # among those, each stratum is as likely to be drawn as any other of the same share
    share: int = 1  # weight with which its stratum is drawn; the same in all cases of a stratum
    profile: str = ""  # what the question shows beside its answer: `Pattern.matched` cases have it in common
    labels: dict[str, str | int] = field(default_factory=dict)
    revealing: bool = False  # the words of the question reveal the answer: not asked about the user's own workflows


Cases = Iterator[Case]


def case(
    answer: object,
    *,
    rank: int = 0,
    stratum: str = "",
    share: int = 1,
    profile: str = "",
    labels: Mapping[str, str | int] | None = None,
    revealing: bool = False,
    **fields: Any,  # noqa: ANN401 - whatever the templates show
) -> Case:
    """Return a case of a pattern.

    Args:
        answer: The right answer. True and False become "yes" and "no"; sets and tuples of names become sorted lists.
        rank: Cases of the lowest rank are asked first.
        stratum: Among cases of one rank, each stratum of the same share is equally likely to be drawn.
        share: Weight with which the stratum is drawn, the same in all its cases.
        profile: What the question shows beside its answer, as far as it could tell the answer (`Pattern.matched`).
        labels: Labels of the question, by which reports group.
        revealing: True if the words of the question reveal the answer.
        fields: Variables of the templates.
    """
    plain = "yes" if answer is True else "no" if answer is False else _plain(answer)  # most answers are yes or no
    return Case(plain, fields, rank, stratum, share, profile, dict(labels) if labels else {}, revealing)


def _plain(answer: object) -> Json:
    """Return the answer as JSON data."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, (set, frozenset, tuple)):
        return sorted(answer)
    if isinstance(answer, list):
        return [_plain(part) if isinstance(part, (list, tuple, set, frozenset)) else part for part in answer]
    return answer  # type: ignore[return-value]


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """A kind of question.

    Each generated workflow has the features in `varies` or not at random, so that knowledge of the generator does not
    answer the question. Features that such a feature implies come with it, even if they are avoided. A flaw for the
    verdict "" is planted in every workflow; of several flaws for one verdict, each is equally likely. `recipe` holds
    further fields of the recipe of generated workflows.
    """

    name: str
    rationale: str
    templates: tuple[str, ...]  # alternative phrasings
    form: str
    cases: Callable[..., Iterable[Case]]  # of a workflow; with `hardest=True` without those of a rank above 0
    needs: frozenset[str] = frozenset()  # features that generated workflows have and the notation must support
    avoids: frozenset[str] = frozenset()  # features that generated workflows do not have
    varies: frozenset[str] = frozenset()
    flaws: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # verdict -> mutations that lead to it
    category: str = "custom"
    topic: str = "custom"
    metric: str = ""  # empty: the main metric of the form
    levels: str = "all"  # "all": also inside composite tasks; "workflow": whole workflows only
    planted: bool = False  # the answer cannot be computed from the text that is shown
    least: int = 0  # least number of tasks of a generated workflow, if its flaws need more than its features
    domain: bool = False  # generated workflows are always of a domain, with all parts described
    recipe: Mapping[str, Any] = field(default_factory=dict)
    without_parameters: tuple[str, ...] = ()  # templates about projects of the user's own that have no parameters
    guess: Literal["all", "none"] = "all"  # the list that is the best guess without reading: all names, or none
    matched: float = 0.0  # share of generated questions whose profile other cases with the other answer have too
    options: int = 0  # number of names that the question states, and of which one is the answer; 0 for any name
    exceptional: bool = False  # the answer is defined for levels with exceptional links

    def __repr__(self) -> str:
        return f"<Pattern {self.name}>"

    @property
    def yes_no(self) -> bool:
        """Return True if its answers are yes and no, which are then balanced."""
        return self.form in ("yes-no", "yes-no-reason")

    @property
    def timed(self) -> bool:
        """Return True if it asks about times, which durations tell."""
        return "durations" in self.needs

    @property
    def selective(self) -> bool:
        """Return True if its function can leave out cases of a rank above 0 (`hardest`)."""
        return "hardest" in (getattr(self.cases, "__kwdefaults__", None) or ())


@lru_cache(maxsize=256)
def worded_without_parameters(pattern: Pattern) -> Pattern:
    """Return the pattern with its templates about workflows without parameters."""
    return replace(pattern, templates=pattern.without_parameters) if pattern.without_parameters else pattern


def verdict(answer: Json) -> Json:
    """Return the yes or no of an answer that may carry a reason; return any other answer unchanged."""
    return answer.get("answer", answer) if isinstance(answer, dict) else answer


PATTERNS: dict[str, Pattern] = {}


def pattern(
    *templates: str,
    form: str,
    needs: Iterable[str] = (),
    avoids: Iterable[str] = (),
    varies: Iterable[str] = (),
    flaws: Mapping[str, str | tuple[str, ...]] | None = None,
    metric: str = "",
    levels: str = "all",
    planted: bool = False,
    least: int = 0,
    domain: bool = False,
    recipe: Mapping[str, bool] | None = None,
    without_parameters: Iterable[str] = (),
    guess: Literal["all", "none"] = "all",
    matched: float = 0.0,
    options: int = 0,
    exceptional: bool = False,
) -> Callable[[Callable[[Workflow], Iterable[Case]]], Pattern]:
    """Return a decorator that turns a function from workflow to cases into a Pattern and registers it by name.

    Args:
        templates: Alternative phrasings of the question, as Jinja templates.
        form: Name of the form of answer.
        needs: Features that generated workflows have and the notation must support.
        avoids: Features that generated workflows do not have.
        varies: Features that generated workflows have or not at random.
        flaws: The flaws to plant, by the verdict that they lead to.
        metric: Name of the main metric; that of the form by default.
        levels: "all" to ask also inside composite tasks, "workflow" to ask about whole workflows only.
        planted: True if the answer cannot be computed from the text that is shown.
        least: Least number of tasks of a generated workflow.
        domain: True if generated workflows are always of a domain, with all parts described.
        recipe: Further fields of the recipe of generated workflows.
        without_parameters: Templates in place of those that speak of the values of parameters, in the same order, about
            workflows of the user's own that have no parameters.
        guess: The list that earns most if it is always given, "all" names or "none"; its score is the chance level.
        matched: Share of the questions about generated workflows, 0.0 to 1.0, whose case is drawn from those that have
            stratum and profile in common with a case of the other answer. So profiles are as likely with yes as with
            no.
        options: Number of names that the question states, and of which one is the answer; 0 if it is any name.
        exceptional: True to ask about levels with exceptional links, too. `Workflow.links` does not hold these: the
            question must be about nothing that they change.

    Raises:
        UsageError: if another module has registered a pattern of that name, or the function has no docstring or
            template.
    """

    def register(function: Callable[[Workflow], Iterable[Case]]) -> Pattern:
        name, module = function.__name__, function.__module__
        rationale = (function.__doc__ or "").strip() or (STRIPPED if sys.flags.optimize > 1 else "")
        if not templates or not rationale:
            raise UsageError(f"pattern {name!r}: a template or the docstring (its rationale) is missing; add it")
        new = Pattern(
            name, rationale, templates, form, function, _checked_features(name, needs),
            _checked_features(name, avoids), _checked_features(name, varies), _flaw_tuples(flaws or {}),
            *_category_and_topic(module), metric, levels, planted, least, domain, dict(recipe or {}),
            tuple(without_parameters), guess, matched, options, exceptional,
        )  # fmt: skip
        registered = PATTERNS.get(name)
        if registered is not None and registered.cases.__module__ != module:
            raise UsageError(
                f"pattern {name!r} of {module} is defined in {registered.cases.__module__} already; rename one of them"
            )
        PATTERNS[name] = new
        return new

    return register


def _flaw_tuples(flaws: Mapping[str, str | tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {verdict: (names,) if isinstance(names, str) else names for verdict, names in flaws.items()}


def _checked_features(name: str, features: Iterable[str]) -> frozenset[str]:
    chosen = frozenset(features)
    for unknown in sorted(chosen - FEATURES):
        raise UnknownNameError(f"feature (pattern {name!r})", unknown, FEATURES)
    return chosen


def _category_and_topic(module: str) -> tuple[str, str]:
    """Return category and topic from a module's path; a built-in one ends in <category>.<topic>."""
    parts = module.split(".")
    return (parts[-2], parts[-1]) if parts[:1] == ["pytest_taskgraph"] else ("custom", parts[-1])


OWN_LEVEL: Final = "{% if nested %} Leave out what lies inside its composite tasks.{% endif %}"
