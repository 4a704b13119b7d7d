"""Options as the plugin and benchmark families declare them, and the settings that are read from them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from ..errors import UsageError

if TYPE_CHECKING:
    from ..trial import Json, Parsing


_S = TypeVar("_S", bound="Settings")
Kind = Literal["text", "path", "list", "whole", "whole-list", "number", "share", "switch", "pairs"]
OptionValue = None | bool | int | float | str | tuple[str, ...] | tuple[int, ...] | tuple[tuple[str, str], ...]


def flag_of(name: str) -> str:
    """Return what is typed on the command line for an option of that name."""
    return f"--taskgraph-{name}"


def dest_of(name: str) -> str:
    """Return the ini name of an option of that name; in capitals, it is that of its environment variable."""
    return f"taskgraph_{name.replace('-', '_')}"


def as_json(value: OptionValue) -> Json:
    """Return the value as JSON has it."""
    return [as_json(item) for item in value] if isinstance(value, tuple) else value


@dataclass(frozen=True)
class Option:
    """One option: `--taskgraph-NAME`, the ini value `taskgraph_NAME`, the environment variable `TASKGRAPH_NAME`.

    Args:
        name: The name on the command line, in lower case with hyphens.
        metavar: What stands for the value in the help.
        help: A noun phrase or an imperative of at most two lines.
        default: The value if the user states none, as it would be typed; empty for none.
        repeatable: Whether it may stand several times on the command line.
        choices: The values that it takes; any where empty.
        kind: What the value is. "text": any text. "path": a file or folder; a relative one starts where pytest is
            started, or in a suite in the folder of its file. "list": texts, separated by commas or blanks. "whole": a
            whole number. "whole-list": several. "number": a number of at least `least`. "share": a number from 0 to 1.
            "switch": no value on the command line, true or false elsewhere. "pairs": a key and a value, = between.
        least: The smallest number that it takes.
    """

    name: str
    metavar: str
    help: str
    default: str = ""
    repeatable: bool = False
    choices: tuple[str, ...] = ()
    kind: Kind = "text"
    least: float | None = None

    @property
    def flag(self) -> str:
        """Return what is typed on the command line."""
        return flag_of(self.name)

    @property
    def dest(self) -> str:
        """Return the name of its value, also in ini files."""
        return dest_of(self.name)

    def check(self) -> None:
        """Check the declaration: its name, its kind and its default.

        Raises:
            UsageError: if it cannot be an option.
        """
        if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", self.name):
            raise UsageError(f"the option {self.name!r}: expected a name of lower-case letters, digits and hyphens")
        if self.kind not in get_args(Kind):
            raise UsageError(f"the option {self.flag}: unknown kind {self.kind!r}; known: {', '.join(get_args(Kind))}")
        if not isinstance(self.default, str):
            raise UsageError(f"the option {self.flag}: its default is {self.default!r}; expected it as typed")
        self.read(None)

    def texts(self, stated: Sequence[str] | None) -> list[str]:
        """Return the texts that were stated, or the default.

        Args:
            stated: What the user stated; None for nothing.

        Raises:
            UsageError: if one is empty, or is no choice.
        """
        found = [self.default] if stated is None and self.default else list(stated or ())
        for text in found:
            if not text.strip():
                raise UsageError(f"{self.flag}: nothing given; expected {self.metavar}")
            if self.choices and text not in self.choices:
                raise UsageError(f"{self.flag}: {text!r}; known: {', '.join(self.choices)}")
        return found

    def read(self, stated: Sequence[str] | None) -> OptionValue:
        """Return the value that was stated, or the default, as its kind says.

        A repeatable text gives a tuple, without repetitions; a number that is not stated and has no default is None.

        Raises:
            UsageError: if it is not of its kind, or below `least`.
        """
        texts = self.texts(stated)
        if self.kind == "pairs":
            return tuple(map(self._pair, texts))
        if self.repeatable:
            return tuple(dict.fromkeys(texts))
        text = texts[-1] if texts else ""
        if self.kind == "switch":
            return self._switch(text)
        if self.kind in ("text", "path"):
            return text
        if not text:
            return () if self.kind in ("list", "whole-list") else None
        return self._listed(text)

    def _listed(self, text: str) -> OptionValue:
        if self.kind in ("number", "share"):
            return self._number(text)
        parts = tuple(dict.fromkeys(text.replace(",", " ").split()))
        if not parts:
            raise UsageError(f"{self.flag}: nothing given; expected {self.metavar}")
        if self.kind == "list":
            return parts
        numbers = tuple(map(self._whole, parts))
        return numbers if self.kind == "whole-list" else numbers[0]

    def _whole(self, text: str) -> int:
        try:
            found = int(text)
        except ValueError:
            raise UsageError(f"{self.flag}: {text!r}; expected a whole number") from None
        if self.least is not None and found < self.least:
            raise UsageError(f"{self.flag}: {text}; expected at least {self.least:g}")
        return found

    def _number(self, text: str) -> float:
        share, least = self.kind == "share", self.least or 0.0
        try:
            found = float(text)
        except ValueError:
            found = float("nan")
        if not least <= found < float("inf") or (share and found > 1):
            expected = "a number from 0 to 1" if share else f"a number of at least {least:g}"
            raise UsageError(f"{self.flag}: {text!r}; expected {expected}")
        return found

    def _switch(self, text: str) -> bool:
        if text.lower() not in ("", "true", "false"):
            raise UsageError(f"{self.flag}: {text.lower()!r}; expected true or false")
        return text.lower() == "true"

    def _pair(self, text: str) -> tuple[str, str]:
        key, equals, rest = text.partition("=")
        if not equals or not key.strip():
            shown = (
                repr(text) if text.isidentifier() and text.islower() else "a value without a name"
            )  # it may be a key
            raise UsageError(f"{self.flag}: {shown}; expected {self.metavar}")
        return key.strip(), rest


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that every family reads, and in `own` what was stated for options of single families."""

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
    own: Mapping[str, OptionValue] = field(default_factory=dict, hash=False)  # by name; the user's before the suite's

    def instances_of(self, suite: int | None) -> int:
        """Return the number of instances that counts: the user's, else the suite's, else the default.

        Args:
            suite: The number that the suite states; None if it states none.
        """
        return self.instances if suite is None or "instances" in self.given else suite

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

    def extended(self, kind: type[_S], options: Mapping[str, Option], **further: Any) -> _S:  # noqa: ANN401 - of fields
        """Return the settings of a family: these, and what holds for its options.

        Args:
            kind: The class of the settings.
            options: Its options, by the names of the fields that hold their values.
            further: The values of other fields, and of those whose options do not say it all.
        """
        shared = {shared_field.name: getattr(self, shared_field.name) for shared_field in fields(Settings)}
        own = {name: self.value_of(option) for name, option in options.items()}
        return kind(**{**shared, **own, **further})
