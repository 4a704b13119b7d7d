"""Options that the plugin and the benchmark families declare. An idle session imports this module."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

from ..errors import UsageError

if TYPE_CHECKING:
    from ..trial import Json


FAMILY_KIND: Final = "benchmark family"  # the kind of families in the catalog
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


class Option(NamedTuple):
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


Split = Literal["train", "validation", "test"]
SPLITS: Final[tuple[Split, ...]] = get_args(Split)
SPLIT: Final = Option(
    "split", "NAME", "split of a data set that is asked about: train, validation or test", "test", choices=SPLITS
)
"""The option of all families whose data have splits."""
