"""What a run asks for, once read from flags, environment and ini by the plugin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .option import Option, OptionValue

if TYPE_CHECKING:
    from ..trial import Parsing


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that every family reads, and in `own` what the user stated for options of single families."""

    seed: int = 0
    instances: int = 4  # questions of each kind that a family counts
    prompt: str = "chain-of-thought"  # the name of a prompt template, or its file
    shots: int | None = None  # solved examples before the question; None: as many as the prompt template wants
    templates: str = ""  # a folder whose templates stand in for ours of the same name
    parsing: Parsing = "lenient"
    pass_threshold: float | None = None  # instead of the form's
    text_metrics: tuple[str, ...] = ("rouge1",)  # of open answers: the first decides, the others stand beside it
    data: Mapping[str, str] = field(default_factory=dict, hash=False)  # where published data sets lie, by name
    given: frozenset[str] = frozenset()  # names of the options that the user of the run stated; suites only suggest
    own: Mapping[str, OptionValue] = field(default_factory=dict, hash=False)  # by the name of the option

    def data_path(self, name: str) -> Path:
        """Return where a data set lies.

        Raises:
            UsageError: if the user of the run did not state it.
        """
        if name not in self.data:
            stated = f"; stated: {', '.join(sorted(self.data))}" if self.data else ""
            raise UsageError(f"--taskgraph-data: the data set {name!r} is missing; add {name}=PATH{stated}")
        return Path(self.data[name])

    def value_of(self, option: Option, suite: Mapping[str, Any] = MappingProxyType({})) -> Any:  # noqa: ANN401 - the type follows from the option's kind
        """Return the value of an option of a family: what the user stated, else what the suite says, else the default.

        Args:
            option: The option.
            suite: The keyword arguments of the suite; the option's is its name with underscores.
        """
        if option.name in self.own:
            return self.own[option.name]
        keyword = option.name.replace("-", "_")
        return suite[keyword] if keyword in suite else option.read(None)
