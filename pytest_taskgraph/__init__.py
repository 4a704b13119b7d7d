"""Benchmarks of workflow understanding, as pytest suites. The names below are loaded when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import __version__ as __version__

if TYPE_CHECKING:
    from .asking import Episode as Episode
    from .asking import Transcript as Transcript
    from .asking import Turns as Turns
    from .asking import one_turn as one_turn
    from .benchmarks.family import Family as Family
    from .benchmarks.family import Label as Label
    from .benchmarks.family import QuestionReference as QuestionReference
    from .benchmarks.option import Option as Option
    from .benchmarks.settings import Settings as Settings
    from .families.paged.paged_family import paged as paged
    from .families.steps.steps_family import steps as steps
    from .families.tasklama.tasklama_family import tasklama as tasklama
    from .families.understanding.patterns.pattern import Case as Case
    from .families.understanding.patterns.pattern import Cases as Cases
    from .families.understanding.patterns.pattern import Pattern as Pattern
    from .families.understanding.patterns.pattern import case as case
    from .families.understanding.patterns.pattern import pattern as pattern
    from .families.understanding.understanding_family import understanding as understanding
    from .family_description import Aggregate as Aggregate
    from .family_description import Column as Column
    from .family_description import FamilyDescription as FamilyDescription
    from .family_description import ReferenceValue as ReferenceValue
    from .family_description import TableSpec as TableSpec
    from .generation.strategies import workflows as workflows
    from .notations.notation import Notation as Notation
    from .plugin.suites import suite as suite
    from .registry import Registry as Registry
    from .scoring.forms.form import Form as Form
    from .scoring.measurement import Measurement as Measurement
    from .scoring.measurement import declares as declares
    from .trial import Question as Question
    from .trial import Reply as Reply
    from .trial import Request as Request
    from .trial import Trial as Trial
    from .workflow.model import Workflow as Workflow

_MODULES = {
    "Aggregate": ".family_description",
    "Case": ".families.understanding.patterns.pattern",
    "Cases": ".families.understanding.patterns.pattern",
    "Column": ".family_description",
    "Episode": ".asking",
    "Family": ".benchmarks.family",
    "FamilyDescription": ".family_description",
    "Form": ".scoring.forms.form",
    "Label": ".benchmarks.family",
    "Measurement": ".scoring.measurement",
    "Notation": ".notations.notation",
    "Option": ".benchmarks.option",
    "Pattern": ".families.understanding.patterns.pattern",
    "Question": ".trial",
    "QuestionReference": ".benchmarks.family",
    "ReferenceValue": ".family_description",
    "Registry": ".registry",
    "Reply": ".trial",
    "Request": ".trial",
    "Settings": ".benchmarks.settings",
    "TableSpec": ".family_description",
    "Transcript": ".asking",
    "Trial": ".trial",
    "Turns": ".asking",
    "Workflow": ".workflow.model",
    "case": ".families.understanding.patterns.pattern",
    "declares": ".scoring.measurement",
    "one_turn": ".asking",
    "paged": ".families.paged.paged_family",
    "pattern": ".families.understanding.patterns.pattern",
    "steps": ".families.steps.steps_family",
    "suite": ".plugin.suites",
    "tasklama": ".families.tasklama.tasklama_family",
    "understanding": ".families.understanding.understanding_family",
    "workflows": ".generation.strategies",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any object of the package
    """Import a public name on first use, for the entry point imports this package in every pytest run of its users."""
    if name in _MODULES:
        return getattr(import_module(_MODULES[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
