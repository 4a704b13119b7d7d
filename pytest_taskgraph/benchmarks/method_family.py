"""Families whose groups are *methods*: ways to ask about the items of a data set, each a row of the family's tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Protocol, TypeVar

from ..errors import UnknownNameError
from .family import Command, Family, QuestionReference
from .settings import Settings

if TYPE_CHECKING:
    from ..asking import Model
    from ..family_description import FamilyDescription
    from ..trial import Question

ALL: Final = "all"


class GroupMethod(Protocol):
    """What the frame needs to know of a method."""

    @property
    def name(self) -> str:
        """Return the name in options, gates and tables."""
        ...

    @property
    def section(self) -> str:
        """Return the kind of method: the section of tables that it stands in."""
        ...

    @property
    def metrics(self) -> tuple[str, ...]:
        """Return the metrics of its answers, the main one first."""
        ...


M = TypeVar("M", bound=GroupMethod)
S = TypeVar("S", bound=Settings)
_Own = TypeVar("_Own", bound=Settings, contravariant=True)


class MethodSet(Mapping[str, M], Generic[M]):
    """The methods of a family by name, in the order of reports.

    Args:
        family: The name of the benchmark, for messages.
        methods: The methods.
        kinds: The names that stand for all methods of a section; by default none.
    """

    def __init__(self, family: str, methods: Iterable[M], kinds: Mapping[str, str] | None = None) -> None:
        self._family = family
        self._methods = {method.name: method for method in methods}
        self._kinds = dict(kinds or {})

    def __getitem__(self, name: str) -> M:
        return self._methods[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._methods)

    def __len__(self) -> int:
        return len(self._methods)

    @property
    def sections(self) -> tuple[str, ...]:
        """Return the sections, in the order of reports."""
        return tuple(dict.fromkeys(method.section for method in self._methods.values()))

    def select(self, names: Iterable[str]) -> tuple[M, ...]:
        """Return the methods that are named, each once, in the order of reports.

        Args:
            names: Names of methods, of kinds, or "all".

        Raises:
            UnknownNameError: if there is no method of a name.
        """
        chosen: set[str] = set()
        for name in names:
            matching = [own for own, method in self._methods.items() if name in (ALL, own) or self._is_of(method, name)]
            if not matching:
                raise UnknownNameError(f"method of {self._family}", name, [*self._methods, *self._kinds, ALL])
            chosen.update(matching)
        return tuple(method for name, method in self._methods.items() if name in chosen)

    def _is_of(self, method: M, kind: str) -> bool:
        return self._kinds.get(kind) == method.section


class QuestionModule(Protocol[_Own]):
    """The module of a family that builds its references and questions."""

    @property
    def METHODS(self) -> MethodSet[Any]:  # noqa: N802 - a constant of the module
        """Return the methods."""
        ...

    def check(self, settings: _Own) -> None:
        """Check that methods and settings can be met. Raises UsageError."""

    def references(self, settings: _Own, instances: int | None) -> Sequence[QuestionReference]:
        """Return the questions of each method; `instances`: the number of items that the suite states."""
        ...

    def notices(self, settings: _Own, instances: int | None) -> Iterator[str]:
        """Yield the problems of the data and what is left out, a line each."""
        ...

    def question(self, reference: QuestionReference, settings: _Own) -> Question:
        """Return the question that a reference stands for."""
        ...


class MethodFamily(Family, Generic[S]):
    """A family of methods. What it says of its questions is imported when it is first needed."""

    suite_options = frozenset({"instances"})
    prompt_templates = False
    version: ClassVar[int]
    """The version of its question set; raised whenever the same reference gives another prompt or right answer."""
    cluster: ClassVar[str]
    """The word for what dependent questions share."""

    @abstractmethod
    def own(self, settings: Settings) -> S:
        """Return the settings with the family's own."""

    @abstractmethod
    def questions(self) -> QuestionModule[S]:
        """Return the module of its questions."""

    @abstractmethod
    def baseline_makers(self) -> Mapping[str, Callable[[S], Model]]:
        """Return what makes its baselines, by name."""

    @abstractmethod
    def command_module(self) -> Command:
        """Return the module of its only command."""

    def references(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[QuestionReference]:
        """Return the questions about the items, for each method. Raises UsageError."""
        return self.questions().references(self.own(settings), options.get("instances"))

    def question(self, reference: QuestionReference, settings: Settings) -> Question:
        """Return the question that a reference stands for."""
        return self.questions().question(reference, self.own(settings))

    def check(self, settings: Settings) -> None:
        """Check methods and settings. Raises UsageError."""
        self.questions().check(self.own(settings))

    def notices(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[str]:
        """Return the problems of the data and what is left out, a line each."""
        return list(self.questions().notices(self.own(settings), options.get("instances")))

    def metrics(self, group: str, settings: Settings) -> Sequence[str]:
        """Return the metrics of a method."""
        metrics: tuple[str, ...] = self.questions().METHODS[group].metrics
        return metrics

    def baseline(self, name: str, settings: Settings) -> Model:
        """Return an embedded baseline. Raises UnknownNameError, UsageError."""
        makers = self.baseline_makers()
        if name not in makers:
            raise UnknownNameError("baseline", name, makers)
        return makers[name](self.own(settings))

    def command(self, name: str) -> Command:
        """Return the command of the family. Raises UnknownNameError for any other name."""
        return self.command_module() if name in self.commands else super().command(name)

    def section(self, group: str) -> str:
        """Return what a method asks for."""
        section: str = self.questions().METHODS[group].section
        return section

    def question_set(self, group: str) -> int:
        """Return the version of the question set."""
        return self.version

    def described(self, facts: Mapping[str, str], **further: Any) -> FamilyDescription:  # noqa: ANN401
        """Return the description: methods in the order of reports, facts, and further fields, tables among them."""
        from ..family_description import FamilyDescription

        methods = self.questions().METHODS
        return FamilyDescription(
            self.name,
            group="method",
            section="kind",
            cluster=self.cluster,
            groups=tuple(methods),
            sections=methods.sections,
            facts=dict(facts),
            question_set=self.version,
            **further,
        )
