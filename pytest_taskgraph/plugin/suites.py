"""`@suite` marks a test function; collection turns it into one item a question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from ..errors import NothingToAskError, UnknownNameError, UsageError
from ..family_description import MEAN
from .options import prompt_name
from .pytest_compat import params

if TYPE_CHECKING:
    from ..benchmarks.family import Family, QuestionReference
    from ..benchmarks.settings import Settings
    from ..trial import Json, Parsing, Question
    from .suite_settings import SuiteSettings

NOTHING = "nothing-to-ask"
_F = TypeVar("_F", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class Collected:
    """What stands behind one item until it is asked."""

    family: Family
    reference: QuestionReference
    settings: Settings
    model_options: Mapping[str, Json] = field(default_factory=dict, hash=False)  # those that the suite states

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


def suite(
    family: Family,
    *,
    prompt: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    shots: int | None = None,
    parsing: Parsing | None = None,
    pass_threshold: float | None = None,
    model_options: Mapping[str, Json] | None = None,
    **options: Any,  # noqa: ANN401 - each family has options of its own
) -> Callable[[_F], _F]:
    """Make one test of each question of a family.

    What the user of the run states by flag, environment, ini or profile goes before what is stated here. Relative paths
    start in the folder of the suite's file.

    Args:
        family: The family.
        prompt: The prompt template, by name or file; of several, each question is asked with each.
        shots: Solved examples before each question.
        parsing: How answers are parsed.
        pass_threshold: The smallest score that passes, 0 to 1; 0: the questions are graded.
        model_options: Settings passed to the model under test, as --taskgraph-model-option states them.
        **options: The options of the family, by keyword (`Family.options`), and those in `Family.suite_options`.

    Raises:
        UnknownNameError: for an option that the family does not take.
    """
    from .suite_settings import MODEL_OPTIONS, check_keywords

    check_keywords(family, list(options))
    named: dict[str, object] = {"prompt": prompt, "shots": shots, "parsing": parsing, "pass_threshold": pass_threshold}
    named |= {MODEL_OPTIONS: model_options}
    stated = {**options, **{name: value for name, value in named.items() if value is not None}}
    read_by_family = {name: value for name, value in stated.items() if name in family.suite_options}
    settings = {name: value for name, value in stated.items() if name not in read_by_family}
    mark: Callable[[_F], _F] = pytest.mark.taskgraph(family=family, options=read_by_family, settings=settings)
    return mark


@dataclass(frozen=True, slots=True)
class GroupOfSuite:
    """What stands behind one item of `--taskgraph-fuzz`: a group of questions, as a suite asks for them."""

    family: Family
    group: str
    settings: Settings
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)


def expand_groups(metafunc: pytest.Metafunc, mark: pytest.Mark) -> None:
    """Parametrise a marked function by the groups of its questions, with each of its prompt templates.

    Raises:
        UsageError: for a function without the fixture `trial`, for unknown names.
    """
    name, family, options = metafunc.function.__name__, mark.kwargs["family"], mark.kwargs["options"]
    _demand_fixture(metafunc)
    _demand_registered(name, family)
    found: dict[str, GroupOfSuite] = {}
    try:
        prompts = _settings(metafunc, family, mark).prompts
        for one in prompts if family.prompt_templates else prompts[:1]:
            for group in family.fuzz_groups(one, options):
                of_prompt = f"-{_shell_safe(prompt_name(one.prompt))}" if len(prompts) > 1 else ""
                found.setdefault(f"{group}{of_prompt}", GroupOfSuite(family, group, one, options))
        if not found:
            raise NothingToAskError(f"the benchmark family {family.name!r} has no question for this suite")
    except NothingToAskError as error:
        _skip(metafunc, f"{name}: {error}")
        return
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from error
    metafunc.parametrize("taskgraph_reference", list(found.values()), ids=list(found), indirect=True)


def expand(
    metafunc: pytest.Metafunc,
    mark: pytest.Mark,
    models: list[str],
    repeats: int = 1,
    declare: Callable[[str, Sequence[Collected], SuiteSettings], None] | None = None,
) -> list[str]:
    """Parametrises a marked function, by question and then by model if there are several; gives notices, a line each.

    The questions are those of each prompt template. One that has the same id with several of them does not depend on
    it, and is asked once. Each question is asked `repeats` times, one after the other. `declare` is told the function,
    its questions and its settings.

    Where the user's own files hold nothing for a suite, one item stands for it that is skipped with the reason.
    Raises UsageError: for a function without the fixture `trial`, for unknown names, where nothing can be asked.
    """
    name = metafunc.function.__name__
    _demand_fixture(metafunc)
    family: Family = mark.kwargs["family"]
    _demand_registered(name, family)
    options = mark.kwargs["options"]
    try:
        settings = _settings(metafunc, family, mark)
        collected = _questions(family, settings, options, repeats)
        if declare is not None and "trial" in metafunc.fixturenames:
            declare(metafunc.definition.nodeid, collected, settings)
    except NothingToAskError as error:
        _skip(metafunc, f"{name}: {error}")
        return []
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from error
    metafunc.parametrize(
        "taskgraph_reference",
        collected,
        ids=[one.reference.id for one in collected],
        indirect=True,
    )
    if len(models) > 1:
        metafunc.parametrize("taskgraph_model", models, ids=[_shell_safe(model) for model in models], indirect=True)
    return _notices(name, family, settings, options)


def _demand_fixture(metafunc: pytest.Metafunc) -> None:
    if "taskgraph_reference" not in metafunc.fixturenames:
        name = metafunc.function.__name__
        raise UsageError(f"{name}: a suite takes the fixture `trial`, or `taskgraph_question`")


def _skip(metafunc: pytest.Metafunc, reason: str) -> None:
    """Let one item, which is skipped, stand for a suite that has nothing to ask."""
    nothing = pytest.param(reason, id=NOTHING, marks=pytest.mark.skip(reason=reason))
    metafunc.parametrize("taskgraph_reference", [nothing], indirect=True)


def _settings(metafunc: pytest.Metafunc, family: Family, mark: pytest.Mark) -> SuiteSettings:
    """Return the settings of a marked function. Raises UsageError."""
    from .suite_settings import check_settings, settings_of_suite

    stated, folder = mark.kwargs.get("settings", {}), metafunc.definition.path.parent
    settings = settings_of_suite(metafunc.config, family, stated, folder)
    check_settings(family, settings)
    return settings


def _notices(name: str, family: Family, settings: SuiteSettings, options: Mapping[str, Any]) -> list[str]:
    """Return what the suite of that name sets, and what the family says of it, a line each."""
    from ..benchmarks.contract import check_notices

    told = [notice for one in settings.prompts for notice in check_notices(family, family.notices(one, options))]
    return list(dict.fromkeys([*([f"{name} sets {settings.notice}"] if settings.notice else []), *told]))


def _questions(family: Family, settings: SuiteSettings, options: Mapping[str, Any], repeats: int) -> list[Collected]:
    """Return the questions of a suite with each prompt template, and each question `repeats` times.

    Raises:
        NothingToAskError: if there is none.
        UsageError: if the options cannot be met.
    """
    from ..benchmarks.contract import check_references

    found: dict[str, Collected] = {}
    for one in settings.prompts:
        for reference in check_references(family, family.references(one, options)):
            found.setdefault(reference.id, Collected(family, reference, one, settings.model_options))
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


def group_of(item: pytest.Item) -> GroupOfSuite | None:
    """Return the group whose questions the item searches; None for any other item."""
    found = params(item).get("taskgraph_reference")
    return found if isinstance(found, GroupOfSuite) else None


def demand_questions(items: Sequence[pytest.Item], worker: bool) -> None:
    """Raise pytest.UsageError if there are suites and none of them has anything to ask.

    An xdist worker cannot end a run in words; there such items fail, instead of being skipped.
    """
    suites = [item for item in items if item.get_closest_marker("taskgraph") is not None]
    if not suites or any(asks(item) or group_of(item) is not None for item in suites):
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
