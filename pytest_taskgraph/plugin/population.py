"""Which questions the suites of a run hold, and what became of those that nobody answered.

Suites declare their questions while pytest collects, whatever is selected of them afterwards. Workers of xdist collect,
the controller judges: what was declared travels with the last that a worker says. One that died says nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from . import options
from .outcomes import MISTAKE

if TYPE_CHECKING:
    from ..benchmarks.family import Family, QuestionReference
    from ..results.gates import Gate
    from ..results.population import Declared, Whereabouts

TRAVELS = "taskgraph_declared"  # in the output of a worker
NARROWED = "taskgraph_narrowed"  # in the input of a worker: that the user named files
SELECTING = {"keyword": "-k", "markexpr": "-m", "deselect": "--deselect", "lf": "--lf", "stepwise": "--sw"}


class Questions:
    """What was declared, and the items that ended without a trial."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.functions: set[str] = set()  # those with suites, by node id
        self.declared: dict[str, Declared] = {}
        self._untold: dict[str, str] = {}  # items that ended in their set-up, and how

    def declare(self, function: str, family: Family, references: Sequence[QuestionReference]) -> None:
        """Nothing; the questions of a suite are known. Varied ones are in no rate, and so in no population."""
        from ..results.population import Declared

        self.functions.add(function)
        for one in references:
            if not one.relation:
                labels: dict[str, str | int] = {"notation": one.notation}
                if one.tasks:
                    labels["size"] = one.tasks
                category = family.category(one.pattern)
                self.declared[one.id] = Declared(one.id, family.name, one.pattern, category, labels)

    def untold(self, report: pytest.TestReport) -> None:
        """Nothing; an item that ended in its set-up without a trial is noted, with the reason."""
        if report.when == "setup" and not report.passed:
            skipped = str(report.longrepr[2]).removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else ""
            self._untold[report.nodeid] = f"were skipped: {skipped}" if report.skipped else "failed in their set-up"

    def pack(self) -> str:
        """What was declared, as text for the controller."""
        rows = [[one.id, one.family, one.pattern, one.category, one.labels] for one in self.declared.values()]
        return json.dumps([sorted(self.functions), rows])

    def unpack(self, text: str) -> None:
        """Nothing; what another process declared is known."""
        from ..results.population import Declared

        functions, rows = json.loads(text)
        self.functions.update(functions)
        self.declared.update((row[0], Declared(*row)) for row in rows)

    def lost(self, died: Sequence[str]) -> Iterator[str]:
        """The questions that took their worker with them, by id where it is known, else by item; each once, though it
        took several.
        """
        for item in dict.fromkeys(died):
            if item.partition("[")[0] in self.functions:
                yield self._id_of(item) or item

    def whereabouts(self, session: pytest.Session, ended: BaseException | None, died: Sequence[str]) -> Whereabouts:
        """Why questions have no trial. `ended`: what ended the loop before its time."""
        from ..results.population import Whereabouts

        reasons = {self._id_of(item): why for item, why in self._untold.items()}
        reasons = {question: " ".join(why.split())[:200] for question, why in reasons.items() if question}
        lost, chosen = frozenset(self.lost(died)), tuple(selections(session))
        if ended is not None:
            return Whereabouts(reasons, lost, chosen, f"did not run: {' '.join(str(ended).split())[:200]}")
        return Whereabouts(reasons, lost, chosen)

    def mistake(self, gate: Gate) -> str:
        """Why the gate can be about none of the questions; "" where it can."""
        from ..errors import UsageError
        from ..results.gates import demand

        try:
            demand(gate, list(self.declared.values()))
        except UsageError as error:
            return str(error)
        return ""

    def excused(self) -> bool:
        """Whether gates may have no questions: the user named files and not the gates, or asks for the last failed."""
        if self._config.getoption("lf", False):
            return True
        return named_files(self._config) and not self._config.getoption(options.OPTIONS["gate"].dest)

    def _id_of(self, item: str) -> str:
        """The id of the declared question that an item asks; "" for none. Other parameters may stand around it."""
        words = item.partition("[")[2].removesuffix("]").split("-")
        known = {_as_pytest_writes(one): one for one in self.declared} if not item.isascii() or "\\" in item else {}
        for length in range(len(words), 0, -1):
            for at in range(len(words) - length + 1):
                name = "-".join(words[at : at + length])
                if (question := known.get(name, name)) in self.declared:
                    return question
        return ""


def _as_pytest_writes(name: str) -> str:
    return name.encode("unicode_escape").decode("ascii")


def named_files(config: pytest.Config) -> bool:
    """Whether the user named files or folders; told by the controller on a worker."""
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is not None:
        return bool(worker.get(NARROWED, False))
    return getattr(getattr(config, "args_source", None), "name", "") == "ARGS"


def selections(session: pytest.Session) -> Iterator[str]:
    """How the user selected among the items, in the words of the command line."""
    config = session.config
    yield from (flag for name, flag in SELECTING.items() if config.getoption(name, None))
    if any("::" in str(one) for one in config.args):
        yield "node ids"
    most = config.getoption("maxfail", 0)
    if most and session.testsfailed >= most:
        yield "-x" if most == 1 else f"--maxfail={most}"


def refuse(config: pytest.Config, questions: Questions, gates: Sequence[Gate]) -> None:
    """Nothing, if each gate is about some question, or need not be. Raises pytest.UsageError; a worker tells the
    controller, which ends the run before any item is handed out.
    """
    told = [] if questions.excused() else [why for gate in gates if (why := questions.mistake(gate))]
    if not told:
        return
    if not hasattr(config, "workerinput"):
        raise pytest.UsageError("; ".join(told))
    report = pytest.CollectReport("taskgraph gates", "failed", "; ".join(told), [])
    setattr(report, MISTAKE, "; ".join(told))
    config.hook.pytest_collectreport(report=report)
