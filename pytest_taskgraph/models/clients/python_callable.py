"""The user's own application as a model: `python:package.module:name` names a callable, or the project registers it.

An async callable runs in the event loop that asks, any other in a thread of its own. The threads are daemons: a call
that never returns ends with the process. Replies are stored only under the model option `version`, since the answers of
an application change with its code.
"""

from __future__ import annotations

import asyncio
import contextvars
import copy
import difflib
import inspect
import pkgutil
import re
import sys
import sysconfig
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import invalidate_caches
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ...errors import NotAskedError, ProviderError, UsageError, unsupported_kind
from ...redaction import register, scrub
from ...trial import Json, Reply, Request
from ...usage import AMOUNTS, TOKENS
from .openai_protocol import finish_reason_of, is_finite_number, tool_call
from .provider_errors import application_error
from .reasoning import MOST_TOKENS
from .schemes import PYTHON, VERSION
from .transport import LARGEST

if TYPE_CHECKING:
    from ...asking import Model

FORM = f"{PYTHON}:package.module:name"

_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_PATH = re.compile(rf"(?P<module>{_NAME}):(?P<attribute>{_NAME})")
_MOST_NAMES = 12  # names of a module that an error lists
_MOST_FRAMES, _LINE = 3, 100  # frames of an exception that an error lists, and characters of their lines


class PythonModel:
    """A callable of the user, under a name such as `python:my_package.agent:answer`.

    It is called with the messages if it has a parameter of that name, else with the text of the prompt; with the tools
    of the request if it has a parameter `tools`; and with the model options, except `version`, as keyword arguments.
    `storable` states whether its replies may be stored.

    Raises:
        UsageError: if it cannot be called like this, or the version is empty.
    """

    live = True

    def __init__(self, name: str, function: Callable[..., object], settings: Mapping[str, Json] | None = None) -> None:
        self.name, self.settings = name, dict(settings or {})
        self.storable = VERSION in self.settings
        if self.storable and self.settings[VERSION] in ("", None):
            raise UsageError(f"the model {self.name}: the model option {VERSION} is empty; name the code's version")
        register([self.settings])
        self._options = {name: value for name, value in self.settings.items() if name != VERSION}
        self._function = function
        self._parameters = _parameters(self._function, self.name, self._options)

    async def answer(self, request: Request) -> Reply:
        """Return the application's reply, scrubbed.

        Raises:
            ProviderError: if the application raises an exception, or returns neither a text nor a Reply.
            NotAskedError: if no application can answer the request.
        """
        if request.kind != "chat":
            raise unsupported_kind(
                request.kind, f"the model {self.name} cannot {request.kind} texts; an application answers prompts only"
            )
        if request.tools and "tools" not in self._parameters:
            raise NotAskedError(f"the model {self.name} cannot call tools: it has no parameter 'tools'")
        start = time.perf_counter()
        try:
            value = await self._call(request)
        except (Exception, SystemExit, KeyboardInterrupt, asyncio.CancelledError) as exception:
            task = asyncio.current_task()
            if isinstance(exception, asyncio.CancelledError) and task is not None and task.cancelling():
                raise
            failed = self._failure(exception)
        else:
            return _reply(value, self.name, time.perf_counter() - start)
        raise failed  # outside of the handler, so that no traceback leads into the application

    async def _call(self, request: Request) -> object:
        positional, keywords = _arguments(self._parameters, request)

        def call() -> object:
            return self._function(*positional, **keywords, **copy.deepcopy(self._options))

        value = call() if _is_async(self._function) else await _in_thread(call)
        return await value if inspect.isawaitable(value) else value

    def _failure(self, exception: BaseException) -> ProviderError:
        while isinstance(exception, BaseExceptionGroup) and len(exception.exceptions) == 1:
            exception = exception.exceptions[0]
        return application_error(exception, self.settings, _last_frames(exception))


class ModelObject:
    """A model object of the user: any object with `async answer(request)`, under the name that it is registered by.

    Raises:
        UsageError: if there are model options other than `version`.
    """

    live = True

    def __init__(self, name: str, model: Model, settings: Mapping[str, Json] | None = None) -> None:
        self.name, self._model = name, model
        own: Mapping[str, Json] = getattr(model, "settings", {})
        self.settings: dict[str, Json] = {**own, **(settings or {})}
        self.storable = VERSION in self.settings
        if unknown := sorted((settings or {}).keys() - {VERSION}):
            raise UsageError(f"the model {name} is an object: it takes no model option {unknown[0]!r}")

    async def answer(self, request: Request) -> Reply:
        """Return the object's reply, its text and reasoning scrubbed.

        Raises:
            ProviderError: as the object raises it, and for any other exception or a value that is not a Reply.
            NotAskedError: as the object raises it.
        """
        try:
            reply = await self._model.answer(request)
        except (ProviderError, NotAskedError, asyncio.CancelledError):
            raise
        except Exception as exception:
            failed = application_error(exception, self.settings, _last_frames(exception))
        else:
            if isinstance(reply, Reply) and isinstance(reply.text, str):
                _check_numbers(self.name, reply)
                source = scrub(str(reply.source)) or self.name
                return replace(reply, text=scrub(reply.text), source=source, reasoning=scrub(str(reply.reasoning)))
            failed = ProviderError("bad-request", f"{self.name} returned a {type(reply).__name__}; expected a Reply")
        raise failed


def open_callable(path: str, settings: Mapping[str, Json]) -> PythonModel:
    """Return the model of the callable that `package.module:name` names.

    Raises:
        UsageError: as `load_callable` and PythonModel do.
    """
    return PythonModel(f"{PYTHON}:{path.strip()}", load_callable(path.strip()), settings)


def open_application(
    name: str, application: object, version: str, rest: str, settings: Mapping[str, Json]
) -> PythonModel | ModelObject:
    """Return the model of an application, a callable or a model object, that is registered under a name.

    Model options extend `version`, if one is stated, and replace it.

    Raises:
        UsageError: if text follows the name after a colon, or the application does not accept the options.
    """
    if rest.strip():
        raise UsageError(f"the model '{name}:{rest}': {name!r} is registered, and takes nothing after a colon")
    stated: dict[str, Json] = {VERSION: version} if version else {}
    stated.update(settings)
    if inspect.iscoroutinefunction(getattr(application, "answer", None)):
        return ModelObject(name, cast("Model", application), stated)
    return PythonModel(name, cast("Callable[..., object]", application), stated)


def load_callable(path: str) -> Callable[..., object]:
    """Import the module and return the callable that `package.module:name` names; the name may have dots.

    Raises:
        UsageError: if there is none; the message lists similar names.
    """
    parts = _PATH.fullmatch(path)
    if parts is None:
        raise UsageError(f"the model '{PYTHON}:{path}' names no callable; expected {FORM}")
    value: Any = _module(parts["module"], path)
    for name in parts["attribute"].split("."):
        try:
            value = getattr(value, name)
        except AttributeError:
            holder = getattr(value, "__name__", type(value).__name__)
            callables = [
                member for member in dir(value) if not member.startswith("_") and callable(getattr(value, member, None))
            ]
            raise UsageError(
                f"the model '{PYTHON}:{path}': {holder!r} has no {name!r}; {_similar(name, callables)}"
            ) from None
    if inspect.isclass(value):
        raise UsageError(f"the model '{PYTHON}:{path}' is a class; name a function, or an instance that can be called")
    if not callable(value):
        raise UsageError(f"the model '{PYTHON}:{path}' is of type {type(value).__name__}; name a callable")
    function: Callable[..., object] = value
    return function


def _module(name: str, path: str) -> object:
    """Import a module of the user.

    Raises:
        UsageError: if the module is unknown or cannot be imported.
    """
    invalidate_caches()
    try:
        return pkgutil.resolve_name(f"{name}:")
    except (Exception, SystemExit) as error:
        unknown = error.name if isinstance(error, ModuleNotFoundError) else None
        if unknown is not None and f"{name}.".startswith(f"{unknown}."):
            package, _, last = unknown.rpartition(".")
            places = getattr(sys.modules.get(package), "__path__", []) if package else sys.path
            modules = [module.name for module in pkgutil.iter_modules(places)]
            where = f"{package!r} has" if package else "there is"
            similar = _similar(last, modules, all_named=bool(package))
            message = f"{where} no module {last if package else unknown!r}; {similar}"
        else:
            reason = " ".join(str(error).split())
            message = f"importing {name!r} failed: {type(error).__name__}: {reason} ({_place(error)})"
    raise UsageError(f"the model '{PYTHON}:{path}': {message}")


def _similar(name: str, names: Iterable[str], all_named: bool = True) -> str:
    names = sorted(set(names))
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.7)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    if not all_named:
        return "it is looked for in the working directory, the root folder and sys.path"
    more = f", and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"it has: {', '.join(names[:_MOST_NAMES]) or 'nothing to call'}{more}"


def _parameters(function: Callable[..., object], name: str, options: Mapping[str, Json]) -> dict[str, bool]:
    """Return those of the parameters `messages` and `tools` that the callable has, and whether each may be named.

    Raises:
        UsageError: if it cannot be called with the arguments of a request.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some callables written in C have no signature
        return {}
    takes_keyword = {
        parameter.name: parameter.kind is not inspect.Parameter.POSITIONAL_ONLY
        for parameter in signature.parameters.values()
        if parameter.name in ("messages", "tools")
        and parameter.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    }
    first, further = _arguments(takes_keyword, Request([{"role": "user", "content": ""}]))
    try:
        signature.bind(*first, **further, **options)
    except TypeError as error:
        call = ", ".join(["messages" if "messages" in takes_keyword else "prompt", *(f"{key}=..." for key in options)])
        raise UsageError(
            f"the model {name} cannot be called with ({call}), the prompt or messages and the model options: {error}"
        ) from None
    return takes_keyword


def _arguments(parameters: Mapping[str, bool], request: Request) -> tuple[list[object], dict[str, Any]]:
    """Return the positional and the named arguments of a request, for the parameters that `_parameters` returned."""
    keywords: dict[str, Any] = {"tools": copy.deepcopy(request.tools)} if "tools" in parameters else {}
    if "messages" not in parameters:
        return ["\n\n".join(str(message.get("content") or "") for message in request.messages)], keywords
    messages = copy.deepcopy(request.messages)
    return ([], keywords | {"messages": messages}) if parameters["messages"] else ([messages], keywords)


def _is_async(function: Callable[..., object]) -> bool:
    # An instance is asynchronous if its `__call__` is; that of a function is never a coroutine function.
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


async def _in_thread(call: Callable[[], object]) -> object:
    """Return the value of a call in a daemon thread of its own. A cancelled call continues, and its value is dropped.

    A pool does not suit: at its end Python waits for the threads of `concurrent.futures`, and a call that hangs would
    occupy a thread of the pool.
    """
    loop, context = asyncio.get_running_loop(), contextvars.copy_context()
    future: asyncio.Future[tuple[object, BaseException | None]] = loop.create_future()

    def deliver(value: object, error: BaseException | None) -> None:
        if not future.done():
            future.set_result((value, error))

    def run() -> None:
        value, error = None, None
        try:
            value = context.run(call)
        except BaseException as raised:
            error = raised
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(deliver, value, error)

    threading.Thread(target=run, name="taskgraph-application", daemon=True).start()
    value, error = await future
    if error is not None:
        raise error
    return value


def _reply(value: object, name: str, latency: float) -> Reply:
    """Return the reply that the application's value represents.

    Raises:
        ProviderError: of the kind bad-request or too-large, if it represents none; neither is retried.
    """
    if isinstance(value, str):
        value = Reply(str(value))
    if not isinstance(value, Reply):
        raise ProviderError("bad-request", f"{name} returned a {type(value).__name__}; expected a text or a Reply")
    for field, kind in (("text", str), ("tool_calls", list), ("reasoning", str)):
        if not isinstance(getattr(value, field), kind):
            kind_name = type(getattr(value, field)).__name__
            raise ProviderError(
                "bad-request", f"{name} returned a Reply whose {field} is a {kind_name}; expected a {kind.__name__}"
            )
    characters = len(value.text) + len(value.reasoning)
    if characters > LARGEST:  # as many characters as a provider may send bytes
        raise ProviderError("too-large", f"{name} returned {characters:,} characters; the limit is {LARGEST:,}")
    _check_numbers(name, value)
    try:
        calls = [tool_call(call, number) for number, call in enumerate(value.tool_calls)]
    except ProviderError as error:
        raise ProviderError("bad-request", f"{name}: {error.message}") from None
    return Reply(
        scrub(value.text),
        cost=value.cost,
        latency=latency if value.latency is None else value.latency,
        finish_reason=finish_reason_of(value.finish_reason, bool(calls)),
        tool_calls=calls,
        source=scrub(str(value.source)) or name,
        reasoning=scrub(value.reasoning),
        **{tokens: getattr(value, tokens) for tokens in TOKENS},
    )


def _check_numbers(name: str, reply: Reply) -> None:
    """Check the numbers that the application states.

    Raises:
        ProviderError: of the kind bad-request, if one is of another type or out of range.
    """
    for field in AMOUNTS:
        value, is_count = getattr(reply, field), field.startswith("tokens")
        fits = is_finite_number(value) and not isinstance(value, bool) and value >= 0
        if is_count:
            fits = fits and isinstance(value, int) and value <= MOST_TOKENS
        if value is not None and not fits:
            expected = f"a whole number from 0 to {MOST_TOKENS:,}" if is_count else "a number from 0"
            found = f"a Reply with {field}={str(value)[:40]}"
            raise ProviderError("bad-request", f"{name} returned {found}; expected {expected}")


def _place(exception: BaseException) -> str:
    """Return the file and line of the innermost frame of the user's code that the exception passed."""
    if isinstance(exception, SyntaxError) and exception.filename:
        return f"{Path(exception.filename).name}:{exception.lineno}"
    frames = _own_frames(exception)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"


def _last_frames(exception: BaseException) -> list[str]:
    """Return the innermost frames of the user's code that the exception passed, a line each, the innermost last."""
    return [
        f"{Path(frame.filename).name}:{frame.lineno}, in {frame.name}: {(frame.line or '').strip()[:_LINE]}"
        for frame in _own_frames(exception)[-_MOST_FRAMES:]
    ]


def _own_frames(exception: BaseException) -> list[traceback.FrameSummary]:
    """Return the frames of the user's code; if there are none, those of libraries but not of this package."""
    this_package = str(Path(__file__).parents[2])
    frames = [f for f in traceback.extract_tb(exception.__traceback__) if not f.filename.startswith(this_package)]
    libraries = (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), "<")
    return [frame for frame in frames if not frame.filename.startswith(libraries)] or frames
