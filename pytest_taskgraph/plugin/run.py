"""One run: who is asked, what came out, and who is told. Made when the first suite is collected or reports arrive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ..errors import UsageError
from ..trial import Trial
from . import options
from .loop import Loop
from .measuring import Measuring
from .outcomes import CARRIED

if TYPE_CHECKING:
    from ..benchmarks.settings import Settings
    from ..results.record import About
    from ..results.tally import Tally
    from .subject import Subject


class Run:
    """The state of a session, kept in `config.stash`; never in a module, for pytest may run twice in a process."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.settings: Settings = options.settings(config)
        self.models = options.values(config, "model")
        self.judge = options.value(config, "judge")
        self.measuring = Measuring(config, self.settings)
        self.loop = Loop()
        self.notices: list[str] = []
        self.questions = 0
        self._tally: Tally | None = None
        self._subjects: dict[str, Subject] = {}

    @property
    def survey(self) -> bool:
        """Whether wrong answers fail nothing."""
        return self.judge == "none" or (self.judge == "auto" and options.given(self.config, "model") is None)

    @property
    def tally(self) -> Tally:
        """What came out so far."""
        if self._tally is None:
            from ..benchmarks import FAMILIES
            from ..results.tally import Tally

            self._tally = Tally([name for family in FAMILIES.values() for name in family.order()])
        return self._tally

    def subject(self, spec: str) -> Subject:
        """Who is asked under that specification, opened once. Raises UsageError."""
        if spec not in self._subjects:
            from .subject import Subject

            self._subjects[spec] = Subject(spec, dict(options.pairs(self.config, "model-option")), self.settings.seed)
        return self._subjects[spec]

    def check(self) -> None:
        """Nothing, if all that was asked for can be had. Raises UsageError before anything is asked."""
        from ..benchmarks import FAMILIES

        for kind, path in options.pairs(self.config, "report"):
            if kind != "json":
                raise UsageError(f"--taskgraph-report: unknown kind {kind!r}; known: json")
            if Path(self.config.invocation_params.dir, path).is_dir():
                raise UsageError(f"--taskgraph-report: {path} is a folder; expected the path of a file")
        if len({self.subject(spec).name for spec in self.models}) < len(self.models):
            raise UsageError(f"--taskgraph-model: the same model twice: {', '.join(self.models)}")
        for family in FAMILIES.values():
            family.check(self.settings)
        self.measuring.check()
        for family in FAMILIES.values():
            for spec in self.models:
                if self.subject(spec).spec.startswith("baseline"):
                    self.subject(spec).model(family)

    def add(self, report: pytest.TestReport) -> None:
        """Tallies the trial that rides on a report."""
        self.tally.add(Trial.from_json(json.loads(getattr(report, CARRIED))))

    def about(self) -> About:
        """What the run was, for the record and the headers."""
        from .. import __version__
        from ..results.record import About
        from .subject import plain

        shown = self.settings
        return About(
            __version__,
            models=tuple(self.subject(spec).name for spec in self.models),
            seed=shown.seed,
            notations=shown.notations if shown.convert or not shown.workflows else ("as written",),
            frame=shown.frame,
            reading=shown.reading,
            judge="none" if self.survey else "questions",
            questions=self.questions or None,
            settings={
                "instances": shown.instances,
                "tasks": list(shown.tasks),
                "phrasing": shown.phrasing,
                "workflow": list(shown.workflows),
                **({"vary": list(shown.vary)} if shown.vary else {}),
                "model_option": {key: plain(text) for key, text in options.pairs(self.config, "model-option")},
                **self.measuring.about(),
            },
        )

    def save(self) -> None:
        """Writes the record where `--taskgraph-report json=PATH` asks for it. Raises UsageError."""
        from ..results.record import build, save

        for _, path in options.pairs(self.config, "report"):
            save(Path(self.config.invocation_params.dir, path), build(self.tally, self.about()))


RUN = pytest.StashKey[Run]()


def run_of(config: pytest.Config) -> Run:
    """The run of this session, made if there is none yet."""
    if RUN not in config.stash:
        config.stash[RUN] = Run(config)
    return config.stash[RUN]
