"""Registry with which a project adds models, prompts, forms, metrics, notations, vocabularies, families and reports.

The hook `pytest_taskgraph_register` (`hookspec.py`) receives a Registry. It adds to the catalogs of the built-in
objects. The rooms are imported only when a session asks questions, so that registering is cheap in other sessions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from inspect import isclass, iscoroutinefunction, signature
from pathlib import Path
from traceback import extract_tb, walk_tb
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from .catalog import Catalog, Deferred, Registrations
from .errors import RegistrationError, UsageError

if TYPE_CHECKING:
    from .asking import Model
    from .benchmarks.family import Family
    from .generation.vocabularies import Vocabulary
    from .models import Opener
    from .notations.notation import Notation
    from .results.comparison import RunComparison
    from .scoring.forms.form import Form
    from .scoring.measurement import Metric
    from .trial import Json

HOOK = "pytest_taskgraph_register"
_TAKEN = ("baseline", "simulated")  # models that the plugin opens itself


class Registry:
    """Registry of what a project or a plugin adds, until the session ends.

    Names consist of letters, digits and any of `_ . + -`. Every method raises RegistrationError for a name that is
    invalid or taken, and for an object of the wrong kind; the message names the plugin or conftest file.

    Args:
        registrations: The registrations of the session.
        root: The folder to which the paths of conftest files in messages are relative.
        declare: Function that declares the options of a registered family; it may raise UsageError.
    """

    def __init__(
        self,
        registrations: Registrations,
        root: Path | None = None,
        declare: Callable[[Family], None] | None = None,
    ) -> None:
        self._registrations, self._root, self._declare = registrations, root, declare

    def model(self, name: str, application: object = None, *, version: str = "", opener: Opener | None = None) -> None:
        """Register a model: `--model=NAME` then asks it.

        Args:
            name: The name of the model, in options, ids and reports.
            application: A callable, sync or async, from the prompt (or from `messages`, if it has a parameter of that
                name) to a text or a Reply, with the model options as keyword arguments; or a model object, which has
                `async answer(request)`.
            version: The version of the application's code. Replies are stored under it; without a version, replies are
                not stored.
            opener: Instead of an application: a function that returns a model object. Its arguments are the text after
                `NAME:` in the option, empty without a colon, and the model options.

        Example:
            >>> registry.model("support", answer, version="2.1")
        """
        if name in _TAKEN:
            self._fail(f"the model {name!r} is built in; choose another name")
        if (application is None) == (opener is None):
            self._fail(f"the model {name!r}: expected an application or an opener")
        if opener is not None and (version or not callable(opener)):
            self._fail(f"the model {name!r}: expected a function as opener, and no version beside it")
        if not isinstance(version, str):
            self._fail(f"the model {name!r}: expected a text as version, found {_type(version)}")
        is_model = iscoroutinefunction(getattr(application, "answer", None))
        if opener is None and (isclass(application) or not (callable(application) or is_model)):
            self._fail(f"the model {name!r}: expected a callable or a model object, found {_type(application)}")
        self._add("model", name, opener or partial(_open_application, name, application, version))

    def prompt(self, name: str, source: str | Path) -> None:
        r"""Register a prompt template: `--taskgraph-prompt=NAME` then asks the questions with it.

        Args:
            name: The name of the template, in options, labels and reports.
            source: The Jinja template as a text, or the path of its file; a relative path starts in the folder of the
                file that registers it.

        Example:
            >>> registry.prompt("terse", "{# answer: whole #}\n{{ workflow }}\n{{ question }} {{ instruction }}")
        """
        if not isinstance(source, (str, Path)):
            self._fail(f"the prompt {name!r}: expected the text of a template or a Path, found {_type(source)}")
        self._add("prompt", name, self._file(f"the prompt {name!r}", source) if isinstance(source, Path) else source)

    def form(self, form: Form) -> None:
        """Register an answer form: `@pattern(form=NAME)` then asks for answers in it.

        Args:
            form: The form, registered under its `name`.

        Example:
            >>> registry.form(Form("percent", instruct, read, write, "closeness"))
        """
        from .scoring.forms.form import Form

        if not isinstance(form, Form):
            self._fail(f"an answer form: expected a Form, found {_type(form)}")
        self._add("answer form", form.name, form)

    def metric(self, name: str, function: Metric) -> None:
        """Register a metric: forms and `@pattern(metric=NAME)` can then use it, and gates can name it.

        Args:
            name: The name of the metric.
            function: A function from the parsed answer and the reference to a value from 0.0 to 1.0, None for
                undefined, or a Measurement.

        Example:
            >>> registry.metric("closeness", lambda given, expected: 1 - abs(given - expected) / 100)
        """
        if not callable(function) or isclass(function):
            self._fail(f"the metric {name!r}: expected a function of answer and reference, found {_type(function)}")
        self._add("metric", name, function)

    def notation(self, notation: Notation) -> None:
        """Register a notation: `--taskgraph-notation=NAME` then writes workflows in it, and own files may be in it.

        Args:
            notation: The notation, registered under its `name`.

        Example:
            >>> registry.notation(replace(JSON, name="compact-json", suffixes=(), render=compact))
        """
        from .notations.notation import Notation

        if not isinstance(notation, Notation):
            self._fail(f"a notation: expected a Notation, found {_type(notation)}")
        self._add("notation", notation.name, notation)

    def vocabulary(self, name: str, path: Path) -> None:
        """Register a vocabulary: generated workflows then use its words too, so that their questions change.

        Args:
            name: The name of the domain.
            path: A TOML file in the format of the built-in ones; a relative path starts in the folder of the file that
                registers it.

        Example:
            >>> registry.vocabulary("bakery", Path("bakery.toml"))
        """
        if not isinstance(path, Path):
            self._fail(f"the vocabulary {name!r}: expected the Path of a file, found {_type(path)}")
        file = self._file(f"the vocabulary {name!r}", path)
        self._add("vocabulary", name, Deferred(partial(_read_vocabulary, name, file)))

    def family(self, family: Family) -> None:
        """Register a benchmark family: `@suite(family)` then asks its questions, and its options are options of pytest.

        Args:
            family: The family, registered under its `name`.

        Example:
            >>> registry.family(Riddles())
        """
        from .benchmarks.family import Family
        from .benchmarks.option import FAMILY_KIND

        if not isinstance(family, Family) or not hasattr(family, "name"):
            self._fail(f"a benchmark family: expected an instance of Family with a name, found {_type(family)}")
        self._add(FAMILY_KIND, family.name, family)
        try:
            if self._declare is not None:
                self._declare(family)
        except UsageError as error:
            self._fail(str(error))

    def report(
        self,
        name: str,
        function: Callable[[dict[str, Any]], str] | Callable[[dict[str, Any], RunComparison | None], str],
    ) -> None:
        """Register a kind of report: `--taskgraph-report=NAME=PATH` then writes it.

        Args:
            name: The kind.
            function: A function from the record of a run to the text of the report. With a second parameter it also
                receives the comparison with a saved run, None without one.

        Example:
            >>> registry.report("count", lambda record: f"{len(record['trials'])} trials")
        """
        if not callable(function) or isclass(function):
            self._fail(f"the report {name!r}: expected a function of the record, found {_type(function)}")
        takes_two = _takes_two(function)
        self._add("kind of --taskgraph-report", name, function if takes_two else partial(_of_record, function))

    def check(self) -> None:
        """Validate names against the built-in ones, templates and vocabularies, now that the rooms may be imported.

        Raises:
            RegistrationError: if a name is built in, or a template or vocabulary is invalid.
        """
        if not self._registrations.kinds:
            return
        from .families.understanding.prompts import prompt_template

        for catalog in _catalogs():
            for name in self._registrations.of(catalog.kind):
                try:
                    catalog.refuse_built_in(name)
                    if catalog[name] and catalog.kind == "prompt":
                        prompt_template(name).check()
                except RegistrationError:
                    raise
                except UsageError as error:
                    raise RegistrationError(f"{self._registrations.owner(catalog.kind, name)}: {error}") from None

    def name_of(self, frame: FrameType) -> str:
        """Return the name of the plugin whose code a frame runs: the path of a conftest file, or the module."""
        path = Path(frame.f_code.co_filename)
        if path.name != "conftest.py":
            return str(frame.f_globals.get("__name__", path.name))
        inside = self._root is not None and path.is_relative_to(self._root)
        return path.relative_to(self._root).as_posix() if inside and self._root else str(path)

    def _add(self, kind: str, name: str, value: object) -> None:
        caller = _caller()
        try:
            self._registrations.add(kind, name, value, self.name_of(caller))
        except UsageError as error:
            raise RegistrationError(f"{self.name_of(caller)}: {error}") from None

    def _fail(self, message: str) -> NoReturn:
        raise RegistrationError(f"{self.name_of(_caller())}: {message}")

    def _file(self, title: str, path: Path) -> Path:
        file = Path(_caller().f_code.co_filename).parent / path
        if not file.is_file():
            self._fail(f"{title}: there is no file {file}")
        return file


def failure(registry: Registry, error: BaseException) -> RegistrationError | None:
    """Return the error for an exception that a plugin's hook raised; None if it was raised elsewhere."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    hooks = (frame for frame in frames if _is_hook(frame))
    hook = next(hooks, None)
    if hook is None:
        return None
    if isinstance(error, RegistrationError):
        return error
    last = extract_tb(error.__traceback__)[-1]
    message = " ".join(str(error).split())
    place = f"{Path(last.filename).name}:{last.lineno}"
    return RegistrationError(f"{registry.name_of(hook)}: {HOOK} raised {type(error).__name__}: {message} ({place})")


def _is_hook(frame: FrameType) -> bool:
    """Return True if the frame is that of a plugin's hook."""
    if _package(frame) in ("pluggy", "_pytest", __package__):
        return False
    return frame.f_code.co_name == HOOK or any(isinstance(value, Registry) for value in frame.f_locals.values())


def _caller() -> FrameType:
    """Return the frame of the plugin's hook; without one, of the innermost code outside of this module."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    assert frame is not None
    innermost = outer = frame
    while (above := outer.f_back) is not None:
        if _package(above) == "pluggy":
            return innermost if _package(outer) == "_pytest" else outer
        outer = above
    return innermost


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _type(value: object) -> str:
    return f"the class {value.__name__}" if isclass(value) else f"a value of type {type(value).__name__}"


def _takes_two(function: Callable[..., object]) -> bool:
    try:
        signature(function).bind({}, None)
    except TypeError:
        return False
    except ValueError:  # of some callables written in C
        return True
    return True


def _of_record(function: Callable[..., str], record: dict[str, Any], comparison: RunComparison | None) -> str:
    return function(record)


def _open_application(name: str, application: object, version: str, rest: str, settings: Mapping[str, Json]) -> Model:
    from .models.clients.python_callable import open_application

    return open_application(name, application, version, rest, settings)


def _read_vocabulary(name: str, path: Path) -> Vocabulary:
    from .generation.vocabularies import read_vocabulary

    return read_vocabulary(name, path)


def _catalogs() -> tuple[Catalog[Any], ...]:
    """Return every catalog that accepts registrations."""
    from .families import FAMILIES
    from .families.understanding.prompts import PROMPTS
    from .generation.vocabularies import VOCABULARIES
    from .models import MODELS
    from .notations import NOTATIONS
    from .reports import REPORTS
    from .scoring.forms import FORMS
    from .scoring.metrics import METRICS

    return MODELS, PROMPTS, FORMS, METRICS, NOTATIONS, VOCABULARIES, FAMILIES, REPORTS
