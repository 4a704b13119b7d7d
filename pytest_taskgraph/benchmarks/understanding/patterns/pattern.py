"""A question pattern: templates, a form, and a function that enumerates cases with their answers.

    @pattern(
        "In {{ place }}, which tasks come directly after '{{ task }}' in the {{ flow }} flow?",
        "In {{ place }}, to which tasks does the {{ flow }} flow lead directly from '{{ task }}'?",
        form="task-set",
    )
    def next_tasks(workflow: Workflow) -> Cases:
        \"\"\"Can the model follow a link forward?\"\"\"
        for task in workflow.task_names:
            yield case(successors(workflow, task), task=task, flow="control")

The function's name is the pattern's name, its docstring the rationale, its module the topic. It draws nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ....errors import UnknownNameError, UsageError
from ....trial import Json
from ....workflow.features import FEATURES
from ....workflow.model import Workflow


@dataclass(frozen=True, slots=True)
class Case:
    """One question of a pattern about one workflow, with its answer."""

    answer: Json
    fields: dict[str, Any] = field(default_factory=dict)  # what the templates see
    rank: int = 0  # cases of the lowest rank are asked first: hard negatives before easy ones
    stratum: str = ""  # among those, each stratum is as likely to be drawn as any other of the same share
    share: int = 1  # how often its stratum is drawn, beside the others; the same in all cases of a stratum
    labels: dict[str, str | int] = field(default_factory=dict)
    revealing: bool = False  # the question's own words tell the answer: not asked about the user's own workflows


Cases = Iterator[Case]


def case(
    answer: object,
    *,
    rank: int = 0,
    stratum: str = "",
    share: int = 1,
    labels: Mapping[str, str | int] | None = None,
    revealing: bool = False,
    **fields: Any,  # noqa: ANN401 - whatever the templates show
) -> Case:
    """A case. True and False become "yes" and "no"; sets and tuples of names become sorted lists."""
    return Case(_plain(answer), fields, rank, stratum, share, dict(labels or {}), revealing)


def _plain(answer: object) -> Json:
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if isinstance(answer, (set, frozenset, tuple)):
        return sorted(answer)
    if isinstance(answer, list):
        return [_plain(item) if isinstance(item, (list, tuple, set, frozenset)) else item for item in answer]
    return answer  # type: ignore[return-value]


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """A kind of question. `needs` are features that a generated workflow is given and a notation must say.

    `varies` are features that each workflow is given or not by chance, so that the question cannot be answered from
    knowing how workflows are generated; what such a feature implies comes with it, even if it is avoided. A flaw for
    the verdict "" is planted in every workflow; of several flaws for one verdict, each as often. `recipe` holds further
    fields of the recipe of generated workflows.
    """

    name: str
    rationale: str
    templates: tuple[str, ...]  # alternative phrasings
    form: str
    cases: Callable[[Workflow], Iterable[Case]]
    needs: frozenset[str] = frozenset()
    avoids: frozenset[str] = frozenset()  # features a generated workflow is not given
    varies: frozenset[str] = frozenset()
    flaws: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # verdict -> the mutations that make it so
    category: str = "custom"
    topic: str = "custom"
    metric: str = ""  # the form's where empty
    levels: str = "all"  # "all": also inside composite tasks; "workflow": whole workflows only
    planted: bool = False  # its answer is no function of the shown text
    least: int = 0  # tasks that a generated workflow has at least, where its flaws need more room than its features
    domain: bool = False  # generated workflows are always of a domain, everything in them described
    recipe: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Pattern {self.name}>"

    @property
    def yes_no(self) -> bool:
        """Whether its answers are yes and no, and so are to be balanced."""
        return self.form in ("yes-no", "yes-no-reason")


def verdict(answer: Json) -> Json:
    """Yes or no of an answer that may have a reason too; any other answer, as it is."""
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
) -> Callable[[Callable[[Workflow], Iterable[Case]]], Pattern]:
    """A decorator that makes a Pattern of a function from a workflow to cases, and registers it by name.

    Raises UsageError where a pattern of that name stands in another module, or the function has no docstring.
    """

    def register(function: Callable[[Workflow], Iterable[Case]]) -> Pattern:
        name, module = function.__name__, function.__module__
        if not templates or not (function.__doc__ or "").strip():
            raise UsageError(f"pattern {name!r}: a template and a docstring (its rationale) are needed")
        category, topic = _shelf(module)
        made = Pattern(
            name, (function.__doc__ or "").strip(), templates, form, function, _features(name, needs),
            _features(name, avoids), _features(name, varies), _flaws(flaws or {}), category, topic, metric, levels,
            planted, least, domain, dict(recipe or {}),
        )  # fmt: skip
        standing = PATTERNS.get(name)
        if standing is not None and standing.cases.__module__ != module:
            raise UsageError(f"pattern {name!r} of {module} stands already in {standing.cases.__module__}")
        PATTERNS[name] = made
        return made

    return register


def _flaws(flaws: Mapping[str, str | tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {verdict: (names,) if isinstance(names, str) else names for verdict, names in flaws.items()}


def _features(name: str, features: Iterable[str]) -> frozenset[str]:
    chosen = frozenset(features)
    for unknown in sorted(chosen - FEATURES):
        raise UnknownNameError(f"feature (pattern {name!r})", unknown, FEATURES)
    return chosen


def _shelf(module: str) -> tuple[str, str]:
    """Category and topic out of a module's path: our own are understanding.<category>.<topic>."""
    parts = module.split(".")
    return (parts[-2], parts[-1]) if parts[:1] == ["pytest_taskgraph"] else ("custom", parts[-1])


OWN_LEVEL: Final = "{% if nested %} Leave out what lies inside its composite tasks.{% endif %}"
