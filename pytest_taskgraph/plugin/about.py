"""What a run was: who was asked what, and what failed it, for the record and the headers of reports."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from ..results.record import REAL_NAMES, About
from ..version import __version__
from . import options
from .application import model_settings

if TYPE_CHECKING:
    from ..trial import Json
    from .run import Run


def _real_names(run: Run) -> dict[str, Json]:
    """Return the own names of the models that have short ones, by these."""
    subjects = run.models.all
    named: dict[str, Json] = {one.name: one.real_name for one in subjects if one.name != one.real_name}
    return {REAL_NAMES: named} if named else {}


def about(run: Run) -> About:
    """What the run was, as far as it has come."""
    shown = run.settings
    described = [one for one in run.descriptions if one.name in run.asked_families]
    return About(
        __version__,
        models=tuple(one.name for one in run.models.all),
        seed=shown.seed,
        prompts=tuple(one.prompt for one in run.settings_of_prompts),
        parsing=shown.parsing,
        fail_on=run.fail_policy.kinds,
        # A quiet controller is not told before; of a run that was broken off, nobody knows then.
        questions=run.questions or (None if run.interrupted else len(run.tally)) or None,
        settings={
            "instances": shown.instances,
            **run.families.options(one.name for one in described),
            **({"repeats": run.repeats} if run.repeats > 1 else {}),
            "model_option": model_settings(
                (one.spec for one in run.models.all), dict(options.pairs(run.config, "model-option"))
            ),
            **_real_names(run),
            **run.measuring.about(),
        },
        gates=tuple(asdict(case) for case in run.verdicts),
        lost=tuple(run.population.lost(run.died)),
        question_sets=run.families.question_sets((one.question.family, one.question.group) for one in run.tally),
        interrupted=run.interrupted,
        usage=run.usage.of_run(run.tally) if run.live else None,
        families=tuple(described),
    )
