"""Settings of a run that every benchmark family reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import UsageError
from .option import Option, OptionValue

if TYPE_CHECKING:
    from ..trial import Parsing

_S = TypeVar("_S", bound="Settings")


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that every family reads; `own` holds the stated values of options of single families."""

    seed: int = 0
    instances: int = 4  # questions of each kind that a family counts
    prompt: str = "chain-of-thought"  # the name of a prompt template, or its file
    shots: int | None = None  # in-context examples; None: as many as the prompt template states
    templates: str = ""  # a folder whose templates replace built-in ones of the same name
    parsing: Parsing = "lenient"
    pass_threshold: float | None = None  # instead of the form's
    text_metrics: tuple[str, ...] = ("rouge1",)  # of open answers: the first decides, the others are reported
    data: Mapping[str, str] = field(default_factory=dict, hash=False)  # paths of published data sets, by name
    given: frozenset[str] = frozenset()  # names of the options that the user of the run stated, which override suites
    own: Mapping[str, OptionValue] = field(default_factory=dict, hash=False)  # by name; the user's override the suite's

    def instances_of(self, suite: int | None) -> int:
        """Return the number of instances that applies: the user's, else the suite's, else the default.

        Args:
            suite: The number that the suite states; None if it states none.
        """
        return self.instances if suite is None or "instances" in self.given else suite

    def data_path(self, name: str) -> Path:
        """Return the path of a data set.

        Raises:
            UsageError: if the user of the run did not state it.
        """
        if name not in self.data:
            stated = f"; stated: {', '.join(sorted(self.data))}" if self.data else ""
            raise UsageError(f"--taskgraph-data: the data set {name!r} is missing; add {name}=PATH{stated}")
        return Path(self.data[name])

    def value_of(self, option: Option, suite: Mapping[str, Any] = MappingProxyType({})) -> Any:  # noqa: ANN401 - the type follows from the option's kind
        """Return the value of an option of a family: the user's, else the suite's, else the default.

        Args:
            option: The option.
            suite: The keyword arguments of the suite; the option's is its name with underscores.
        """
        if option.name in self.own:
            return self.own[option.name]
        keyword = option.name.replace("-", "_")
        return suite[keyword] if keyword in suite else option.read(None)

    def extended(self, kind: type[_S], options: Mapping[str, Option], **further: Any) -> _S:  # noqa: ANN401 - of fields
        """Return the settings of a family: these, and the values of its options.

        Args:
            kind: The class of the settings.
            options: Its options, by the names of the fields that hold their values.
            further: The values of other fields, and of options whose values need conversion.
        """
        shared = {shared_field.name: getattr(self, shared_field.name) for shared_field in fields(Settings)}
        own = {name: self.value_of(option) for name, option in options.items()}
        return kind(**{**shared, **own, **further})
