"""The words of a domain for procedures: how its tasks are phrased, who performs them, and what has to be observed.

The table `[procedure]` of a vocabulary holds `choices` (lists of conditions of which exactly one holds), `notices` (a
task's name and a clause on what to observe) and `actors`: for each actor the tasks that are theirs, with a verb phrase
for each, such as "check the invoice". A vocabulary may lack the table; its tasks are then phrased by their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ProcedureWords:
    """The words of a domain for procedures.

    Args:
        actions: The verb phrase for each task.
        actors: The person or role that performs each task.
        notices: What has to be observed for some tasks, as a clause.
        choices: Conditions of which exactly one holds, three or more at a time.
    """

    actions: Mapping[str, str] = field(default_factory=dict)
    actors: Mapping[str, str] = field(default_factory=dict)
    notices: Mapping[str, str] = field(default_factory=dict)
    choices: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> ProcedureWords:
        """Return the words of a table `[procedure]`."""
        stated = [(actor, *pair) for actor, tasks in table.get("actors", {}).items() for pair in tasks.items()]
        return cls(
            {task: phrase for _, task, phrase in stated},
            {task: actor for actor, task, _ in stated},
            dict(table.get("notices", {}).items()),
            tuple(map(tuple, table.get("choices", ()))),
        )

    def action(self, task: str) -> str:
        """Return the verb phrase for a task; the words of its name if the domain states none."""
        return self.actions.get(task) or name_phrase(task)

    def faults(self, tasks: frozenset[str]) -> Iterator[str]:
        """Yield the problems of the words for a domain with these tasks."""
        for task in sorted({*self.actions, *self.notices} - tasks):
            yield f"[procedure] names {task!r}, which is none of its tasks"
        for text in self._texts():
            if not isinstance(text, str) or not text.strip() or not text.isprintable() or "->" in text:
                yield f"[procedure] holds {text!r:.80}; expected a text on one line without an arrow"
        if len(set(self.actions.values())) < len(self.actions):
            yield "[procedure] holds the same phrase for two tasks; expected one for each"
        for choice in self.choices:
            if len(set(choice)) < max(3, len(choice)):
                yield f"[procedure] holds the choice {choice!r:.80}; expected three different conditions or more"

    def _texts(self) -> Iterator[str]:
        yield from self.actions.values()
        yield from self.actors.values()
        yield from self.notices.values()
        yield from (condition for choice in self.choices for condition in choice)


def name_phrase(name: str) -> str:
    """Return the words of a name, in lower case unless they are abbreviations: "fold napkins" for `FoldNapkins`."""
    parts = re.sub(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_", " ", name).split()
    return " ".join(part if len(part) > 1 and part.isupper() else part.lower() for part in parts)
