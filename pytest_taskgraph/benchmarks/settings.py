"""Options that the plugin and the benchmark families declare, and the settings that result from them."""

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
GENERATED = "generated"
"""The word that `--taskgraph-data` takes instead of a path, for a data set that a family can generate."""
Kind = Literal["text", "path", "list", "whole", "whole-list", "number", "share", "switch", "pairs"]
OptionValue = None | bool | int | float | str | tuple[str, ...] | tuple[int, ...] | tuple[tuple[str, str], ...]


def flag_of(name: str) -> str:
    """Return the command-line flag of an option of that name."""
    return f"--taskgraph-{name}"


def dest_of(name: str) -> str:
    """Return the ini name of an option of that name; in upper case, it names the environment variable."""
    return f"taskgraph_{name.replace('-', '_')}"


def as_json(value: OptionValue) -> Json:
    """Return the value as JSON data."""
    return [as_json(part) for part in value] if isinstance(value, tuple) else value


@dataclass(frozen=True)
class Option:
    """One option: `--taskgraph-NAME`, the ini value `taskgraph_NAME`, the environment variable `TASKGRAPH_NAME`.

    Args:
        name: The name on the command line, in lower case with hyphens.
        metavar: The placeholder of the value in the help.
        help: A noun phrase or an imperative of at most two lines.
        default: The value if the user states none, as typed; empty for none.
        repeatable: Whether it may occur several times on the command line.
        choices: The allowed values; empty for any.
        kind: The kind of the value. "text": any text. "path": a file or folder; a relative one starts where pytest is
            started, or in a suite in the folder of its file. "list": texts, separated by commas or blanks. "whole": an
            integer. "whole-list": several. "number": a number of at least `least`. "share": a number from 0 to 1.
            "switch": no value on the command line, true or false elsewhere. "pairs": a key and a value, separated by =.
        least: The smallest number that is allowed.
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
        """Return the command-line flag."""
        return flag_of(self.name)

    @property
    def dest(self) -> str:
        """Return the name of its value, which is also its ini name."""
        return dest_of(self.name)

    def check(self) -> None:
        """Check the declaration: its name, its kind and its default.

        Raises:
            UsageError: if it is not a valid option.
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
            stated: The texts that the user stated; None if the user stated none.

        Raises:
            UsageError: if one is empty, or is no choice.
        """
        texts = [self.default] if stated is None and self.default else list(stated or ())
        for text in texts:
            if not text.strip():
                raise UsageError(f"{self.flag}: nothing given; expected {self.metavar}")
            if self.choices and text not in self.choices:
                raise UsageError(f"{self.flag}: {text!r}; known: {', '.join(self.choices)}")
        return texts

    def read(self, stated: Sequence[str] | None) -> OptionValue:
        """Return the stated value, or the default, converted according to its kind.

        A repeatable text gives a tuple without duplicates; a number that is not stated and has no default is None.

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
        return self._numbers_or_names(text)

    def _numbers_or_names(self, text: str) -> OptionValue:
        if self.kind in ("number", "share"):
            return self._number(text)
        if self.kind == "whole":
            return self._whole(text)
        parts = tuple(dict.fromkeys(text.replace(",", " ").split()))
        if not parts:
            raise UsageError(f"{self.flag}: nothing given; expected {self.metavar}")
        return parts if self.kind == "list" else tuple(map(self._whole, parts))

    def _whole(self, text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            one = "one whole number, without commas or blanks" if re.search(r"[,\s]", text) else "a whole number"
            raise UsageError(f"{self.flag}: {text!r}; expected {one}") from None
        if self.least is not None and number < self.least:
            raise UsageError(f"{self.flag}: {text}; expected at least {self.least:g}")
        return number

    def _number(self, text: str) -> float:
        share, least = self.kind == "share", self.least or 0.0
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not least <= number < float("inf") or (share and number > 1):
            expected = "a number from 0 to 1" if share else f"a number of at least {least:g}"
            raise UsageError(f"{self.flag}: {text!r}; expected {expected}")
        return number

    def _switch(self, text: str) -> bool:
        if text.lower() not in ("", "true", "false"):
            raise UsageError(f"{self.flag}: {text.lower()!r}; expected true or false")
        return text.lower() == "true"

    def _pair(self, text: str) -> tuple[str, str]:
        key, equals, rest = text.partition("=")
        if not equals or not key.strip():
            quoted = (
                repr(text) if text.isidentifier() and text.islower() else "a value without a name"
            )  # it may be a key
            raise UsageError(f"{self.flag}: {quoted}; expected {self.metavar}")
        return key.strip(), rest


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
