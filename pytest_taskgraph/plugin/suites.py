"""The decorator `@suite` of test functions, and their expansion into one item for each question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import pytest

from ..errors import NothingToAskError, UnknownNameError, UsageError
from ..family_description import MEAN
from ..trial import SEED
from .options import prompt_name
from .pytest_compat import fixture_place, params

if TYPE_CHECKING:
    from pathlib import Path

    from ..benchmarks.family import Family, QuestionReference
    from ..benchmarks.settings import Settings
    from ..trial import Json, Parsing, Question
    from .suite_settings import SuiteSettings

NOTHING = "nothing-to-ask"
_F = TypeVar("_F", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class CollectedQuestion:
    """The question of one item before it is built and asked."""

    family: Family
    reference: QuestionReference
    settings: Settings
    model_options: Mapping[str, Json] = field(default_factory=dict, hash=False)  # those of the suite

    def __repr__(self) -> str:
        """Return the id of the question: reports show it as a parameter, and know the test of a former run by it."""
        return self.reference.id

    def question(self) -> Question:
        """Build the question. Raises UsageError."""
        from ..benchmarks.contract import check_question

        question = self.family.question(self.reference, self.settings)
        check_question(self.family, self.reference, question)
        if question.aggregate != MEAN:
            self._check_aggregate(question)
        seed = self.reference.labels.get(SEED)
        if seed is not None and SEED not in question.labels:  # of a run with several seeds
            question = replace(question, labels={**question.labels, SEED: seed})
        repetition = self.reference.repetition
        return replace(question, repetition=repetition) if repetition > 1 else question

    def _check_aggregate(self, question: Question) -> None:
        names = [aggregate.name for aggregate in self.family.description(self.settings).aggregates]
        if question.aggregate not in names:
            raise UnknownNameError(f"aggregate of {self.family.name}", question.aggregate, [MEAN, *names])


def unread_settings(config: pytest.Config, path: Path) -> Iterator[str]:
    """Yield a notice if a pytest.ini beside or above a suite sets options of this plugin, and pytest does not read it.

    pytest reads one configuration file, that of the folder that all its arguments share: `pytest` alone reads that of
    the project, although `init` wrote another one into the folder of the suite.
    """
    root = config.invocation_params.dir
    below_root = (parent / "pytest.ini" for parent in path.parents if root in parent.parents)
    nearest = next((settings for settings in below_root if settings.is_file()), None)
    if nearest in (None, config.inipath) or "taskgraph_" not in nearest.read_text(encoding="utf-8", errors="replace"):
        return
    start = nearest.parent.relative_to(root).as_posix()
    yield f"{start}/pytest.ini is not read, so its model and gates do not apply; run pytest {start}"


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

    Options that the user of the run sets by flag, environment or ini override these arguments. Relative paths
    start in the folder of the suite's file.

    Args:
        family: The family.
        prompt: The prompt template, by name or file; with several, each question is asked with each of them.
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
    common: dict[str, object] = {"prompt": prompt, "shots": shots, "parsing": parsing, "pass_threshold": pass_threshold}
    common |= {MODEL_OPTIONS: model_options}
    stated = {**options, **{name: value for name, value in common.items() if value is not None}}
    read_by_family = {name: value for name, value in stated.items() if name in family.suite_options}
    settings = {name: value for name, value in stated.items() if name not in read_by_family}
    mark: Callable[[_F], _F] = pytest.mark.taskgraph(family=family, options=read_by_family, settings=settings)
    return mark


@dataclass(frozen=True, slots=True)
class SuiteGroup:
    """The group of questions of one item of `--taskgraph-fuzz`, with the settings of its suite."""

    family: Family
    group: str
    settings: Settings
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)


def expand_groups(metafunc: pytest.Metafunc, mark: pytest.Mark) -> None:
    """Parametrize a marked function by the groups of its questions, with each of its prompt templates.

    Raises:
        UsageError: for a function without the fixture `trial`, and for unknown names.
    """
    name, family, options = metafunc.function.__name__, mark.kwargs["family"], mark.kwargs["options"]
    _check_fixture(metafunc)
    _check_registered(name, family)
    groups: dict[str, SuiteGroup] = {}
    try:
        grid = _settings(metafunc, family, mark).grid
        prompts = [cell for cell in grid if cell.seed == grid[0].seed]  # a search draws seeds of its own
        for settings in prompts if family.prompt_templates else prompts[:1]:
            for group in family.fuzz_groups(settings, options):
                of_prompt = f"-{_shell_safe(prompt_name(settings.prompt))}" if len(prompts) > 1 else ""
                groups.setdefault(f"{group}{of_prompt}", SuiteGroup(family, group, settings, options))
        if not groups:
            raise NothingToAskError(f"the benchmark family {family.name!r} has no question for this suite")
    except NothingToAskError as error:
        _skip(metafunc, f"{name}: {error}")
        return
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from error
    metafunc.parametrize("taskgraph_reference", list(groups.values()), ids=list(groups), indirect=True)


class SuiteNotices(NamedTuple):
    """Lines about a suite: on the user's own files that it asks about, and on what it sets and leaves out."""

    sources: list[str]
    remarks: list[str]


def expand(
    metafunc: pytest.Metafunc,
    mark: pytest.Mark,
    models: list[str],
    repeats: int = 1,
    declare: Callable[[str, Sequence[CollectedQuestion], SuiteSettings], None] | None = None,
) -> SuiteNotices:
    """Parametrize a marked function by question, then by model if there are several and it asks them.

    The questions are those of each seed and prompt template. A question with the same id for several templates does not
    depend on the template, and is asked once. If the user's own files hold no question for the suite, one item stands
    for the suite, and is skipped with the reason.

    Args:
        metafunc: The test function.
        mark: Its mark, as `suite` returns it.
        models: The labels of the models.
        repeats: The number of items for each question, one after the other.
        declare: Function that receives the node id, the questions and the settings of the suite.

    Returns:
        Notices about the suite.

    Raises:
        UsageError: for a function without the fixture `trial`, for unknown names, and for a suite without questions.
    """
    name = metafunc.function.__name__
    _check_fixture(metafunc)
    family: Family = mark.kwargs["family"]
    _check_registered(name, family)
    options = mark.kwargs["options"]
    try:
        settings = _settings(metafunc, family, mark)
        collected = _questions(family, settings, options, repeats)
        if declare is not None and "trial" in metafunc.fixturenames:
            declare(metafunc.definition.nodeid, collected, settings)
    except NothingToAskError as error:
        _skip(metafunc, f"{name}: {error}")
        return SuiteNotices([], [])
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from error
    metafunc.parametrize(
        "taskgraph_reference",
        collected,
        ids=[question.reference.id for question in collected],
        indirect=True,
    )
    if len(models) > 1 and "taskgraph_model" in metafunc.fixturenames:
        metafunc.parametrize("taskgraph_model", models, ids=[_shell_safe(model) for model in models], indirect=True)
    return _notices(name, family, settings, options)


def _check_fixture(metafunc: pytest.Metafunc) -> None:
    """Raise UsageError if a marked function does not take the fixtures of this package."""
    if "taskgraph_reference" in metafunc.fixturenames:
        return
    name = metafunc.function.__name__
    if "trial" not in metafunc.fixturenames:
        raise UsageError(f"{name}: a suite takes the fixture `trial`, or `taskgraph_question`")
    place = fixture_place(metafunc.definition, "trial")
    other = f"the fixture `trial` of {place} hides" if place else "an argument `trial` of its own hides"
    raise UsageError(f"{name}: {other} the fixture `trial` that a suite takes; rename it")


def _skip(metafunc: pytest.Metafunc, reason: str) -> None:
    """Parametrize a function without questions with a single item, which is skipped with the reason."""
    placeholder = pytest.param(reason, id=NOTHING, marks=pytest.mark.skip(reason=reason))
    metafunc.parametrize("taskgraph_reference", [placeholder], indirect=True)


def _settings(metafunc: pytest.Metafunc, family: Family, mark: pytest.Mark) -> SuiteSettings:
    """Return the settings of a marked function. Raises UsageError."""
    from .suite_settings import check_settings, settings_of_suite

    stated, folder = mark.kwargs.get("settings", {}), metafunc.definition.path.parent
    settings = settings_of_suite(metafunc.config, family, stated, folder)
    check_settings(family, settings)
    return settings


def _notices(name: str, family: Family, settings: SuiteSettings, options: Mapping[str, Any]) -> SuiteNotices:
    """Return the settings that the suite of that name states, and the notices of its family."""
    from ..benchmarks.contract import check_notices

    sources = [line for cell in settings.grid for line in check_notices(family, family.source_lines(cell, options))]
    of_family = [notice for cell in settings.grid for notice in check_notices(family, family.notices(cell, options))]
    remarks = [*([f"{name} sets {settings.notice}"] if settings.notice else []), *of_family]
    return SuiteNotices(list(dict.fromkeys(sources)), list(dict.fromkeys(remarks)))


def _questions(
    family: Family, settings: SuiteSettings, options: Mapping[str, Any], repeats: int
) -> list[CollectedQuestion]:
    """Return the questions of a suite with each seed and prompt template, each of them `repeats` times.

    Raises:
        NothingToAskError: if there is none.
        UsageError: if the options are invalid.
    """
    from ..benchmarks.contract import check_references

    questions: dict[str, CollectedQuestion] = {}
    several = len({cell.seed for cell in settings.grid}) > 1
    for cell in settings.grid:
        for stated in check_references(family, family.references(cell, options)):
            reference = _of_seed(stated, cell.seed, SEED not in family.labels()) if several else stated
            question = CollectedQuestion(family, reference, cell, settings.model_options)
            questions.setdefault(reference.id, question)
    if not questions:
        raise NothingToAskError(f"the benchmark family {family.name!r} has no question for this suite")
    if repeats == 1:
        return list(questions.values())
    return [
        replace(question, reference=repetition)
        for question in questions.values()
        for repetition in _repetitions(question.reference, repeats)
    ]


def _of_seed(reference: QuestionReference, seed: int, labelled: bool) -> QuestionReference:
    """Return the reference of a run with several seeds: its id contains the seed, and its label names it.

    Args:
        reference: The reference.
        seed: The seed that it was drawn with.
        labelled: False for a family whose questions have a label of that name themselves.
    """
    labels = {**reference.labels, SEED: seed} if labelled else reference.labels
    return replace(reference, id=_with_seed(reference.id, seed), twin=_with_seed(reference.twin, seed), labels=labels)


def _with_seed(id_: str, seed: int) -> str:
    return id_ if not id_ or f"-s{seed}-" in f"{id_}-" else f"{id_}-s{seed}"


def _check_registered(name: str, family: Family) -> None:
    from ..families import FAMILIES

    if FAMILIES.get(family.name) is not family:
        raise UsageError(
            f"{name}: the benchmark family {family.name!r} is not registered; call registry.family(...) with it in the "
            "hook pytest_taskgraph_register"
        )


def _repetitions(reference: QuestionReference, repeats: int) -> Iterator[QuestionReference]:
    yield reference
    for k in range(2, repeats + 1):
        twin = reference.twin and f"{reference.twin}-r{k}"
        yield replace(reference, id=f"{reference.id}-r{k}", twin=twin, repetition=k)


def asks(item: pytest.Item) -> bool:
    """Return True if the item asks a question of a model, and does not only build it."""
    return _has_question(item) and "taskgraph_model" in getattr(item, "fixturenames", ())


def beyond_limit(items: Sequence[pytest.Item], limit: int) -> list[pytest.Item]:
    """Return the items whose questions are not among the first of their group.

    Each model, prompt template, seed and repetition has the same number. A varied question stays with its original.

    Args:
        items: The items in the order of collection.
        limit: The number of questions of each group.
    """
    counts: Counter[tuple[object, ...]] = Counter()
    kept: set[tuple[object, str]] = set()
    beyond = []
    for item in items:
        collected = params(item).get("taskgraph_reference")
        if not isinstance(collected, CollectedQuestion):
            continue
        reference, settings = collected.reference, collected.settings
        model = params(item).get("taskgraph_model")
        group = (model, collected.family.name, reference.group, settings.prompt, settings.seed, reference.repetition)
        if (model, reference.twin) in kept if reference.relation else counts[group] < limit:
            kept.add((model, reference.id))
            counts[group] += not reference.relation
        else:
            beyond.append(item)
    return beyond


def group_of(item: pytest.Item) -> SuiteGroup | None:
    """Return the group whose questions the item searches; None for any other item."""
    group = params(item).get("taskgraph_reference")
    return group if isinstance(group, SuiteGroup) else None


def require_questions(items: Sequence[pytest.Item], worker: bool) -> None:
    """Raise pytest.UsageError if there are suites, but none of them has a question.

    An xdist worker cannot end a run with a message; there the items of such suites fail, instead of being skipped.
    """
    suites = [item for item in items if item.get_closest_marker("taskgraph") is not None]
    if not suites or any(_has_question(item) or group_of(item) is not None for item in suites):
        return
    if not worker:
        raise pytest.UsageError("; ".join(dict.fromkeys(map(_skip_reason, suites))))
    for item in suites:
        item.own_markers[:] = [mark for mark in item.own_markers if mark.name != "skip"]


def _has_question(item: pytest.Item) -> bool:
    return isinstance(params(item).get("taskgraph_reference"), CollectedQuestion)


def _skip_reason(item: pytest.Item) -> str:
    """Return the skip reason of an item that stands for a suite without questions."""
    return next(str(mark.kwargs["reason"]) for mark in item.iter_markers("skip"))


def _shell_safe(model: str) -> str:
    return "".join(c if c.isalnum() or c in ".-" else "_" for c in model)
