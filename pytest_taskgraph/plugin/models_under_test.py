"""The models under test, by name: models of providers, applications, simulated models and baselines."""

from __future__ import annotations

import difflib
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from .. import redaction
from ..errors import NotAskedError, UnknownNameError, UsageError
from ..models import MODELS, registered_name
from ..models.clients.schemes import BASELINE, PYTHON, SIMULATED, VERSION
from ..redaction import hide, public_name
from .options import MEASURING_ROLES, model_options, settings, value, values

if TYPE_CHECKING:
    from ..asking import Model
    from ..benchmarks.family import Family
    from ..benchmarks.settings import Settings
    from ..trial import Json, Question, Reply, Request


def is_application(spec: str) -> bool:
    """Return True if the specification of a model names a Python callable or a registered model."""
    return spec.strip().startswith(f"{PYTHON}:") or bool(registered_name(spec))


def make_importable(config: pytest.Config, specs: Iterable[str]) -> None:
    """Insert the working directory and the root folder into `sys.path` if a model is a callable to import.

    They are inserted at its start, as by `python -m pytest`; `pytest` alone adds neither.
    """
    if not any(spec.strip().startswith(f"{PYTHON}:") for spec in specs):
        return
    for folder in (config.rootpath, config.invocation_params.dir):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))


def model_settings(specs: Iterable[str], stated: Mapping[str, str]) -> dict[str, Json]:
    """Parse the texts of model options: as JSON if they are JSON, else as they are.

    The version of an application stays a text, for 1.10 and 1.1 are different versions.
    """
    texts = {VERSION} if any(map(is_application, specs)) else set()
    return {name: text if name in texts else parse_option(text) for name, text in stated.items()}


def parse_option(text: str) -> Json:
    """Return the JSON value of the text; the text itself if it is no JSON."""
    try:
        parsed: Json = json.loads(text)
        return parsed
    except ValueError:
        return text


def is_storable(client: Model) -> bool:
    """Return True if the replies of a live model may be stored; an application has to state its version for it."""
    return bool(getattr(client, "storable", True))


def unstored_notices(clients: Iterable[Model]) -> Iterator[str]:
    """Yield a line for each application without a version."""
    for client in clients:
        if not is_storable(client):
            registered = "where it is registered, or " if registered_name(client.name) else ""
            where = f"{registered}as a model option"
            yield f"replies of {client.name} are not stored: it states no version ({VERSION}=... {where})"


def length_notices(clients: Iterable[Model]) -> Iterator[str]:
    """Yield a line for each server on this machine or in a private network whose replies have a limit by default."""
    for client in clients:
        if getattr(client, "limited", False):
            most = client.settings["max_tokens"]  # type: ignore[attr-defined]
            yield (
                f"replies of {client.name}, a local server, have at most {most:,} tokens; another limit: "
                "--taskgraph-model-option max_tokens=N"
            )


def misspelling_notices(specs: Iterable[str]) -> Iterator[str]:
    """Yield a line for each model of no scheme whose name resembles that of a registered one."""
    for spec in specs:
        close = difflib.get_close_matches(spec, MODELS.registered, n=1, cutoff=0.75)
        if close and spec not in MODELS and not {"/", ":"} & set(spec):
            yield f"the model {spec!r} is not registered, and asked through litellm; did you mean {close[0]!r}?"


ALIAS = "@@"
_SHORT_NAME = re.compile(r"\w[\w.+-]{0,59}")


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model as `--taskgraph-model` states it: its specification, and its short name if it has one."""

    spec: str
    alias: str = ""

    @property
    def label(self) -> str:
        """Return the label of the model in ids: its short name, else its specification without secrets."""
        return self.alias or public_name(self.spec)

    @property
    def kind(self) -> str:
        """Return "baseline" or "simulated" for such a model; empty for any other."""
        kind = self.spec.partition(":")[0]
        return kind if kind in (BASELINE, SIMULATED) else ""

    @property
    def name(self) -> str:
        """Return the name in reports if there is a short name: with its kind, unless it is a model or application."""
        return ":".join(filter(None, (self.kind, self.alias))) if self.alias else ""


def parse_choice(stated: str) -> ModelChoice:
    """Parse `SPEC` or `SPEC@@NAME`.

    Raises:
        UsageError: for an invalid short name.
    """
    spec, separator, alias = stated.strip().rpartition(ALIAS)
    if not separator:
        return ModelChoice(stated.strip())
    if not spec or not _SHORT_NAME.fullmatch(alias):
        if "://" in stated and "@" in stated.rpartition("#")[0]:  # the separator is part of a password
            return ModelChoice(stated.strip())
        raise UsageError(
            f"--taskgraph-model: {hide(public_name(stated))!r}: expected SPEC{ALIAS}NAME, where NAME is letters, "
            "digits and any of _ . + -"
        )
    return ModelChoice(spec.strip(), alias)


def check_distinct(models: Iterable[ModelUnderTest]) -> None:
    """Check that no two models have the same name, and no model has two names. Raises UsageError."""
    seen: dict[str, str] = {}
    for model in models:
        for name in (model.name, model.real_name):
            if name in seen:
                raise UsageError(f"--taskgraph-model: the same model twice: {seen[name]}, {model.name}")
        seen |= dict.fromkeys((model.name, model.real_name), model.name)


class MissingBaseline:
    """Stand-in for a baseline that a family lacks; its questions are skipped, with the reason.

    Args:
        name: The name of the baseline.
        family: The family that lacks it.
    """

    def __init__(self, name: str, family: Family) -> None:
        self.name = f"{BASELINE}:{name}"
        names = ", ".join(family.baselines) or "none"
        self._reason = f"the family {family.name!r} has no baseline {name!r}; its baselines: {names}"

    async def answer(self, request: Request) -> Reply:
        """Raise NotAskedError."""
        raise NotAskedError(self._reason)


class NamedBaseline:
    """A baseline under a short name, which its replies state as well: else they seem to be those of a stand-in."""

    def __init__(self, baseline: Model, name: str) -> None:
        self.name, self._baseline = name, baseline

    async def answer(self, request: Request) -> Reply:
        """Return the reply of the baseline. Raises its errors."""
        return replace(await self._baseline.answer(request), source=self.name)


class ModelUnderTest:
    """A model that a run asks; a baseline is opened separately for each family.

    Args:
        choice: Its specification and short name.
        options: The model options.
        settings: The settings of the run; a simulated model has their seed.
        default: Function that returns the name of the default baseline; empty before a family with a baseline is
            known, and if the families of the run have different default baselines.

    Raises:
        UsageError: for an unknown or empty specification.
    """

    def __init__(
        self, choice: ModelChoice, options: Mapping[str, Json], settings: Settings, default: Callable[[], str] = str
    ) -> None:
        self.spec, self._alias, self._default = choice.spec, choice.name, default
        self._models: dict[str, Model] = {}
        self._answers: dict[str, tuple[str, str]] = {}
        self._settings = settings
        self._kind, rest = choice.kind, self.spec.partition(":")[2]
        self._baseline = rest if self._kind == BASELINE else None
        if self._baseline is None:
            self._models[""] = self._simulated(rest) if self._kind == SIMULATED else _open(self.spec, options)

    @property
    def name(self) -> str:
        """Return the name in reports: the short name if there is one."""
        return self._alias or self.real_name

    @property
    def real_name(self) -> str:
        """Return the model's own name, without secrets."""
        if self._baseline is not None:
            return f"{BASELINE}:{self._baseline or self._default()}".removesuffix(":")
        return public_name(self._models[""].name)

    @property
    def live(self) -> bool:
        """Return True if its requests go to a provider or an application."""
        return self._baseline is None and bool(getattr(self._models[""], "live", False))

    @property
    def client(self) -> Model | None:
        """Return the model that every family asks; None for a baseline, for each family has its own."""
        return self._models.get("") if self._baseline is None else None

    def model(self, family: Family) -> Model:
        """Return the model for questions of a family; a MissingBaseline for a baseline that the family lacks."""
        if self._baseline is None:
            return self._models[""]
        if family.name not in self._models:
            name = self._baseline or next(iter(family.baselines), "")
            if not name:
                raise UsageError(f"the family {family.name!r} has no baseline; name a model with --taskgraph-model")
            known = name in family.baselines
            baseline: Model = family.baseline(name, self._settings) if known else MissingBaseline(name, family)
            self._models[family.name] = NamedBaseline(baseline, self._alias) if self._alias and known else baseline
        return self._models[family.name]

    def check_baseline(self, families: Iterable[Family]) -> None:
        """Check that some family has the baseline that the specification names, if any. Raises UnknownNameError."""
        baselines = {name for family in families for name in family.baselines}
        if self._baseline and self._baseline not in baselines:
            raise UnknownNameError("baseline", self._baseline, baselines)

    def learn_answer(self, question: Question) -> None:
        """Give a simulated model the answer to the question; has no effect on any other model."""
        if self._kind == SIMULATED:
            from ..trial import digest_of

            self._answers[digest_of(question.prompt)] = _right_and_wrong(question)

    def _simulated(self, accuracy: str) -> Model:
        from ..models.clients.simulated import SimulatedModel

        try:
            share = float(accuracy)
        except ValueError:
            raise UsageError(f"the model {self.spec!r}: expected an accuracy, such as simulated:0.8") from None
        return SimulatedModel(self._answers.get, share, self._settings.seed)


class ModelsUnderTest:
    """The models that a run asks, by their labels in ids; each is opened once for each set of options.

    Args:
        config: The configuration of the session.
        default: Function that returns the name of the default baseline, as in `ModelUnderTest`.

    Raises:
        pytest.UsageError: for an invalid short name.
    """

    def __init__(self, config: pytest.Config, default: Callable[[], str] = str) -> None:
        self._config, self._default = config, default
        self._choices = _choices(config)
        self.labels = [choice.label for choice in self._choices]
        self._opened: dict[tuple[str, str], ModelUnderTest] = {}  # by label and options

    def of(self, label: str, suite: Mapping[str, Json] = MappingProxyType({})) -> ModelUnderTest:
        """Return the model of a label.

        Args:
            label: The label.
            suite: The model options that the suite states; each is overridden by the same option of the run.

        Raises:
            UsageError: for a specification that cannot be opened.
        """
        key = label, json.dumps(suite, sort_keys=True) if suite else ""  # called for every item
        if key not in self._opened:
            choice = next(choice for choice in self._choices if choice.label == label)
            self._opened[key] = self._open(choice, suite) if not (choice.kind and suite) else self.of(label)
        return self._opened[key]

    def _open(self, choice: ModelChoice, suite: Mapping[str, Json]) -> ModelUnderTest:
        _check_version(choice.spec, suite)
        given = model_settings([choice.spec], model_options(self._config))
        return ModelUnderTest(choice, {**suite, **given}, settings(self._config), self._default)

    def of_item(self, params: Mapping[str, Any]) -> ModelUnderTest:
        """Return the model that an item with these parameters asks."""
        suite = getattr(params.get("taskgraph_reference"), "model_options", {})
        return self.of(params.get("taskgraph_model", self.labels[0]), suite)

    @property
    def all(self) -> list[ModelUnderTest]:
        """Return all models in the order of the command line."""
        return [self.of(label) for label in self.labels]

    @property
    def clients(self) -> list[Model]:
        """Return the models that every family asks, with the options of each suite so far, without baselines."""
        opened = dict.fromkeys([*self.all, *self._opened.values()])
        return [model.client for model in opened if model.client is not None]

    @property
    def live(self) -> bool:
        """Return True if any model is live."""
        return any(model.live for model in self.all)

    @property
    def storable(self) -> bool:
        """Return True if the store may keep the replies of every model."""
        return all(map(is_storable, self.clients))


def _choices(config: pytest.Config) -> list[ModelChoice]:
    """Return the models of the options, after registering all secrets in options and environment."""
    stated = values(config, "model")
    of_roles = (model_options(config, role) for role in ("", *MEASURING_ROLES))
    settings_of_roles = [{key: parse_option(text) for key, text in given.items()} for given in of_roles]
    specs = [value(config, name) for name in ("judge-model", "embedder")]
    redaction.register([*stated, *settings_of_roles, *specs])
    redaction.register_environment()
    make_importable(config, [*stated, *specs])
    try:
        return [parse_choice(text) for text in stated]
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


def _open(spec: str, options: Mapping[str, Json]) -> Model:
    from ..models import open_model

    return open_model(spec, options)


def _check_version(spec: str, options: Mapping[str, Json]) -> None:
    """Check that the version of an application is a text, for 1.10 and 1.1 are different. Raises UsageError."""
    if is_application(spec) and not isinstance(options.get(VERSION, ""), str):
        raise UsageError(f"@suite(..., model_options=...): {VERSION}: expected a text, such as '1.10'")


def _right_and_wrong(question: Question) -> tuple[str, str]:
    """Return a right and a wrong reply to the question, in its form and at the place that its prompt asks for.

    The wrong reply is empty if the form has no answer that is certainly wrong.
    """
    from ..scoring.forms import form

    answer_form, head = form(question.form), "Final answer: " if question.place == "marker" else ""
    right = head + answer_form.write(question.reference, question.names)
    if answer_form.wrong is None:
        return right, ""
    return right, head + answer_form.write(answer_form.wrong(question.reference, question.names), question.names)
