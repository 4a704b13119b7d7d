"""`@suite` marks a test function; collection turns it into one item a question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from ..errors import NothingToAskError, UnknownNameError, UsageError
from ..family_description import MEAN
from ..retired import check_keyword
from .pytest_compat import params

if TYPE_CHECKING:
    from ..benchmarks.family import Family, QuestionReference
    from ..benchmarks.settings import Settings
    from ..trial import Question

NOTHING = "nothing-to-ask"
_F = TypeVar("_F", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class Collected:
    """What stands behind one item until it is asked."""

    family: Family
    reference: QuestionReference
    settings: Settings

    def question(self) -> Question:
        """The question, built now. Raises UsageError."""
        from ..benchmarks.contract import check_question

        made = self.family.question(self.reference, self.settings)
        check_question(self.family, self.reference, made)
        if made.aggregate != MEAN:
            self._check_aggregate(made)
        return replace(made, repetition=self.reference.repetition) if self.reference.repetition > 1 else made

    def _check_aggregate(self, question: Question) -> None:
        known = [one.name for one in self.family.description(self.settings).aggregates]
        if question.aggregate not in known:
            raise UnknownNameError(f"aggregate of {self.family.name}", question.aggregate, [MEAN, *known])


def suite(family: Family, **options: Any) -> Callable[[_F], _F]:  # noqa: ANN401 - each family has options of its own
    """Make one test of each question of a family.

    Args:
        family: The family.
        **options: Those that the family takes (`Family.suite_options`); the same options on the command line win.

    Raises:
        UnknownNameError: for an option that the family does not take.
    """
    for name in options:
        if name not in family.suite_options:
            check_keyword(name)
            raise UnknownNameError(f"option of @suite({family.name}, ...)", name, family.suite_options)
    mark: Callable[[_F], _F] = pytest.mark.taskgraph(family=family, options=options)
    return mark


def expand(
    metafunc: pytest.Metafunc,
    mark: pytest.Mark,
    settings: Sequence[Settings],
    models: list[str],
    repeats: int = 1,
    declare: Callable[[str, Family, Sequence[QuestionReference]], None] | None = None,
) -> list[str]:
    """Parametrises a marked function, by question and then by model if there are several; gives notices, a line each.

    The questions are those of each of the settings, which differ in the prompt template. One that has the same id with
    several of them does not depend on it, and is asked once.
    Each question is asked `repeats` times, one after the other. `declare` is told the function and its questions.

    Where the user's own files hold nothing for a suite, one item stands for it that is skipped with the reason.
    Raises UsageError: for a function without the fixture `trial`, for unknown names, where nothing can be asked.
    """
    name = metafunc.function.__name__
    if "taskgraph_reference" not in metafunc.fixturenames:
        raise UsageError(f"{name}: a suite takes the fixture `trial`, or `taskgraph_question`")
    family: Family = mark.kwargs["family"]
    _demand_registered(name, family)
    options = mark.kwargs["options"]
    from ..benchmarks.contract import check_notices

    try:
        collected = _questions(family, settings, options, repeats)
    except NothingToAskError as error:
        why = pytest.mark.skip(reason=f"{name}: {error}")
        nothing = pytest.param(f"{name}: {error}", id=NOTHING, marks=why)
        metafunc.parametrize("taskgraph_reference", [nothing], indirect=True)
        return []
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from error
    if declare is not None and "trial" in metafunc.fixturenames:
        declare(metafunc.definition.nodeid, family, [one.reference for one in collected])
    metafunc.parametrize(
        "taskgraph_reference",
        collected,
        ids=[one.reference.id for one in collected],
        indirect=True,
    )
    if len(models) > 1:
        metafunc.parametrize("taskgraph_model", models, ids=[_shell_safe(model) for model in models], indirect=True)
    told = [notice for one in settings for notice in check_notices(family, family.notices(one, options))]
    return list(dict.fromkeys(told))


def _questions(
    family: Family, settings: Sequence[Settings], options: Mapping[str, Any], repeats: int
) -> list[Collected]:
    """Return the questions of a suite with each of the settings, and each question `repeats` times.

    Raises:
        NothingToAskError: if there is none.
        UsageError: if the options cannot be met.
    """
    from ..benchmarks.contract import check_references

    found: dict[str, Collected] = {}
    for one in settings:
        for reference in check_references(family, family.references(one, options)):
            found.setdefault(reference.id, Collected(family, reference, one))
    if not found:
        raise NothingToAskError(f"the benchmark family {family.name!r} has no question for this suite")
    return [replace(one, reference=again) for one in found.values() for again in _repeated(one.reference, repeats)]


def _demand_registered(name: str, family: Family) -> None:
    from ..benchmarks import FAMILIES

    if FAMILIES.get(family.name) is not family:
        raise UsageError(
            f"{name}: the benchmark family {family.name!r} is not registered; call registry.family(...) with it in the "
            "hook pytest_taskgraph_register"
        )


def _repeated(one: QuestionReference, repeats: int) -> Iterator[QuestionReference]:
    yield one
    for k in range(2, repeats + 1):
        yield replace(one, id=f"{one.id}-r{k}", twin=one.twin and f"{one.twin}-r{k}", repetition=k)


def asks(item: pytest.Item) -> bool:
    """Whether the item puts a question."""
    return isinstance(params(item).get("taskgraph_reference"), Collected)


def demand_questions(items: Sequence[pytest.Item], worker: bool) -> None:
    """Nothing, unless there are suites and none of them has anything to ask: then raises pytest.UsageError.

    An xdist worker cannot end a run in words; there such items fail, instead of being skipped.
    """
    suites = [item for item in items if item.get_closest_marker("taskgraph") is not None]
    if not suites or any(map(asks, suites)):
        return
    if not worker:
        raise pytest.UsageError("; ".join(dict.fromkeys(map(why_nothing, suites))))
    for item in suites:
        item.own_markers[:] = [mark for mark in item.own_markers if mark.name != "skip"]


def why_nothing(item: pytest.Item) -> str:
    """The reason of an item that stands for a suite without questions."""
    return next(str(mark.kwargs["reason"]) for mark in item.iter_markers("skip"))


def _shell_safe(model: str) -> str:
    return "".join(c if c.isalnum() or c in ".-" else "_" for c in model)
