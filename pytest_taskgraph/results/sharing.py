"""Equal texts of many trials held once: prompts of repetitions, names, labels, digests."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

from ..trial import Trial

_T = TypeVar("_T")


class Shared:
    """What was seen so far. Whatever comes out is equal to what went in, and must not be changed by anyone."""

    def __init__(self) -> None:
        self._seen: dict[Any, Any] = {}

    def trial(self, trial: Trial) -> Trial:
        """The trial, of parts that former trials hold too where they are equal."""
        parts = {name: getattr(trial, name) for name in ("question", "reply", "score")}
        made: dict[str, Any] = {name: part and self._object(part, {}) for name, part in parts.items()}
        if len(trial.exchanges) == 1:  # of messages that no other trial has: to remember them takes more than they do
            made["exchanges"] = [self._names(one) for one in trial.exchanges]
        return self._object(trial, made)

    def _names(self, value: Any) -> Any:  # noqa: ANN401
        """The value, with its texts held once, and nothing else of it."""
        if type(value) is list:
            return [self._names(one) for one in value]
        if type(value) is dict:
            return {self._value(name): self._names(one) for name, one in value.items()}
        return self._value(value)

    def _object(self, one: _T, made: dict[str, Any]) -> _T:
        names = (each.name for each in fields(one))  # type: ignore[arg-type]  # every part of a trial is a dataclass
        return type(one)(**{name: made[name] if name in made else self._value(getattr(one, name)) for name in names})

    def _value(self, value: Any) -> Any:  # noqa: ANN401
        if type(value) is str:
            return self._seen.setdefault(value, value)
        if type(value) is list:
            return self._list(value)
        return self._dict(value) if type(value) is dict else value

    def _list(self, value: list[Any]) -> list[Any]:
        held = [self._value(one) for one in value]
        return self._seen.setdefault((list, *held), held) if all(type(one) is str for one in held) else held

    def _dict(self, value: dict[str, Any]) -> dict[str, Any]:
        held = {self._value(name): self._value(one) for name, one in value.items()}
        # Only texts and whole numbers: 1, 1.0 and True are equal, and would be taken for one another.
        plain = all(type(one) is str or type(one) is int for one in held.values())
        return self._seen.setdefault((dict, *held, *held.values()), held) if plain else held
