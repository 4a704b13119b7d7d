"""Every provider that litellm knows. litellm (2 s, 150 MB) is imported on the first request, not before."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import threading
import time
import warnings
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from typing import Any, cast

from ...errors import CannotScoreError, ProviderError, UsageError
from ...redaction import RedactingFilter, hide, public_name, register, scrub
from ...trial import Json, Reply, Request
from .openai_compatible import OpenAICompatibleModel
from .openai_protocol import counts, refuse_failed, vectors
from .provider_errors import failure
from .text_scores import read_scores, scoring_settings
from .transport import LARGEST, ReplyTooLargeError, session
from .transport import close as close_sessions

_OURS = {"model", "messages", "tools", "stream"}  # what a request is made of; not for the user to set
_BOTH = ("extra_headers", "extra_body", "timeout")  # settings that litellm and the lean client take for themselves
_THEIRS = (  # settings for litellm and its clients alone, beside those that it lists
    *("api_base", "base_url", "api_version", "organization", "deployment_id", "headers", "max_retries", "num_retries"),
    *("drop_params", "additional_drop_params", "allowed_openai_params", "stream_timeout"),
)
_OPENAI = "https://api.openai.com/v1"
_COMPLETES = "text-completion-openai"  # litellm's provider for OpenAI's models of completions
_LOGGERS = ("LiteLLM", "LiteLLM Proxy", "LiteLLM Router", "litellm")
_LOGGERS_OF_REQUESTS = ("httpx", "openai._base_client")  # whose messages hold addresses
_HIDING = RedactingFilter()
_unpriced: dict[str, int] = {}  # models without a price, which takes litellm long to find out; prices known then
_asking: ContextVar[bool] = ContextVar("_asking", default=False)


class LiteLLMModel:
    """A model that litellm can reach, by its litellm name: `openai/gpt-4o`, `ollama/llama3:8b`, …

    The settings are handed to litellm as they are (`api_base`, `api_key`, `temperature`, `timeout`, …). Nothing is sent
    that was not set. Nothing is sent twice: retries inside the clients are off unless `max_retries` is set.
    """

    live = True

    def __init__(self, name: str, settings: Mapping[str, Json] | None = None) -> None:
        if not name.strip():
            raise UsageError("the model has no name; give one that litellm knows, such as openai/gpt-4o")
        if ours := sorted(_OURS & set(settings or ())):
            raise UsageError(f"the model setting {ours[0]!r} cannot be set: it is part of each request")
        self.name = name
        self.settings = dict(settings or {})
        register([self.settings, name])

    def check_installed(self) -> None:
        """Raise UsageError if litellm, without which nothing is sent, is not installed."""
        if find_spec("litellm") is None:
            raise UsageError(
                f"the model {hide(public_name(self.name))} is asked through litellm, which is not installed; install "
                "it (python -m pip install litellm), or name an endpoint that speaks the OpenAI protocol (http://HOST/v1#NAME)"
            )

    async def ready(self) -> None:
        """Nothing, once litellm is imported, or cannot be, of which the first request tells."""
        if not _litellm.cache_info().currsize:
            await asyncio.wrap_future(_importing())

    async def answer(self, request: Request) -> Reply:
        """The provider's reply, scrubbed. Settings of the request win over those of the model.

        Raises ProviderError where none arrives, NotAskedError for tools or texts to be scored that it does not take.
        """
        settings = self.settings | request.settings
        if request.kind == "score" and not request.messages:
            return await (await self._completions(settings)).answer(replace(request, settings={}))
        ignore_warnings_of_requests()
        _asking.set(True)
        try:
            return await self._ask(request, settings)
        except Exception as exception:
            failed = failure(exception, self.name, request, settings)
        finally:
            _asking.set(False)
        raise failed  # out here, so that no traceback leads back to the keys

    async def _ask(self, request: Request, settings: Mapping[str, Json]) -> Reply:
        litellm = await _loaded()
        arguments = {"max_retries": 0, "shared_session": session(), **settings, **_tools(request)}
        if request.kind == "score":
            arguments = scoring_settings(request, arguments)
        start = time.perf_counter()
        if request.kind == "embed":
            arguments["max_retries"] = _Retries(arguments["max_retries"])
            response = await litellm.aembedding(model=self.name, input=request.texts, **arguments)
        else:
            response = await litellm.acompletion(model=self.name, messages=request.messages, **arguments)
        latency, cost = time.perf_counter() - start, _cost(response, self.name)
        if request.kind == "embed":
            return _vectors(response, len(request.texts), self.name, latency, cost)
        if request.kind == "score":
            return replace(read_scores(response.model_dump(), request, self.name, latency), cost=cost)
        return _reply(response, self.name, latency, cost)

    async def _completions(self, settings: Mapping[str, Json]) -> OpenAICompatibleModel:
        """Return the client of the provider's `/completions`, whose address and key litellm tells.

        The request is sent without litellm, which opens connections of its own for it, unlimited and never closed.

        Raises:
            CannotScoreError: if litellm knows of no such endpoint of the provider.
            ProviderError: if there is no key or no address, or a setting that cannot be sent.
        """
        litellm = await _loaded()
        base, key = settings.get("api_base") or settings.get("base_url"), settings.get("api_key")
        try:
            model, provider, found, address = litellm.get_llm_provider(model=self.name, api_base=base, api_key=key)
            if not _completes(litellm, model, provider):
                raise _NoCompletionsError(provider)
            return _endpoint(model, provider, address, key or found, settings)
        except _NoCompletionsError as error:
            lacks = f"litellm reaches no /completions of {error} for it; give messages in place of a context"
            failed: Exception = CannotScoreError(f"the model {self.name} cannot score texts: {lacks}")
        except Exception as exception:
            failed = failure(exception, self.name, Request(), settings)
        raise failed  # out here, so that no traceback leads back to the keys


class _NoCompletionsError(Exception):
    """A provider whose `/completions` litellm does not reach."""


async def close() -> None:
    """Nothing; the connections that requests left open in the running event loop are closed.

    To be awaited in the loop that asked, before it stops: what is left open shows up as ResourceWarnings in whichever
    test runs when it is collected, and a later loop may be handed it. More can be asked afterwards.
    """
    await close_sessions()
    if not _litellm.cache_info().currsize:  # not imported, or not yet: nobody waits for that to close nothing
        return
    clients = getattr(_litellm().in_memory_llm_clients_cache, "cache_dict", {})
    of_this_loop = f"-{id(asyncio.get_running_loop())}"  # litellm's own mark; other loops may be asking
    for key in [key for key in list(clients) if key.endswith(of_this_loop)]:
        with suppress(Exception):  # a client without `close`, or closed already
            await clients.pop(key).close()


def preload() -> None:
    """Nothing; a thread begins to import litellm, so that the first request need not wait for it.

    To be called as often as one likes: there is one such thread. If the import fails, the first request tells why.
    """
    _importing()


async def _loaded() -> Any:  # noqa: ANN401 - the module, which is not typed
    """The module litellm, imported in another thread where it is not yet: other requests in the loop go on."""
    if not _litellm.cache_info().currsize:
        await asyncio.wrap_future(_importing())
    return _litellm()


_import: Future[None] | None = None
_import_lock = threading.Lock()


def _importing() -> Future[None]:
    """Done when the import has been tried, whatever came of it."""
    global _import
    with _import_lock:
        if _import is None:
            _import = Future()
            _import.set_running_or_notify_cancel()  # whoever waits may be cancelled, the import may not
            threading.Thread(target=_import_quietly, args=(_import,), name="taskgraph-litellm", daemon=True).start()
        return _import


def _import_quietly(done: Future[None]) -> None:
    ignore_warnings_of_requests()
    _asking.set(True)
    collecting = gc.isenabled()
    gc.disable()  # nothing of what an import makes is garbage, and looking for some takes a second
    try:
        with suppress(Exception):
            _litellm()
            _import_for_first_request()
    finally:
        if collecting:
            gc.enable()
        done.set_result(None)


def _import_for_first_request() -> None:
    """Nothing; 0.5 s of imports are done that litellm puts off to its first request. Raises where it has others."""
    import openai.resources.chat  # noqa: F401


def _completes(litellm: Any, model: str, provider: str) -> bool:  # noqa: ANN401 - the module, which is not typed
    """Return True if litellm sends completions of the model to the provider's `/completions`, not as a chat."""
    if provider == "openai":
        return model not in litellm.open_ai_chat_completion_models
    return provider == _COMPLETES or provider in litellm.openai_text_completion_compatible_providers


def _endpoint(
    model: str, provider: str, address: str | None, key: Json, settings: Mapping[str, Json]
) -> OpenAICompatibleModel:
    """Return the client by its address. Raises ProviderError (authentication) where address or key is not known."""
    from litellm.types.utils import all_litellm_params

    if provider in ("openai", _COMPLETES):
        places = (address, os.environ.get("OPENAI_BASE_URL"), os.environ.get("OPENAI_API_BASE"), _OPENAI)
        address, key = next(filter(None, places)), key or os.environ.get("OPENAI_API_KEY")
    if not address or not key:  # without a key the client would take that of the variable for endpoints by address
        raise ProviderError("authentication", f"no key or no address of {provider} is known: set api_key and api_base")
    theirs = {*all_litellm_params, *_THEIRS}
    own = {name: value for name, value in settings.items() if name not in theirs or name in _BOTH}
    return OpenAICompatibleModel(f"{address}#{model}", {**own, "api_key": key})


class _Retries(int):
    """A number that is true even if it is 0: litellm takes a false one for none given when it embeds, and sets 2."""

    def __bool__(self) -> bool:
        return True


class _WhileAsking:
    """Stands where a warnings filter has the expression for a module: matches whatever a request of ours sets off."""

    def match(self, module: str) -> bool:
        return _asking.get()


_FILTER = ("ignore", None, Warning, _WhileAsking(), 0)


def ignore_warnings_of_requests() -> None:
    """Nothing; warnings that come up inside a request are ignored from now on, all others stay as they are.

    Under `-W error` a warning of pydantic would otherwise take the place of a reply that is paid for. The filters of
    `warnings` are global and pytest exchanges them for every test, so this is called for every request, and may be
    called for every test. `catch_warnings` around a request would give back the wrong filters: tests run meanwhile.
    """
    filters = cast("list[Any]", warnings.filters)
    if filters[:1] != [_FILTER]:
        filters.insert(0, _FILTER)


@cache
def _litellm() -> Any:  # noqa: ANN401 - the module, which is not typed
    """The module litellm, told to be quiet and to stay off the network while it is imported.

    Safe in threads: Python imports once, and setting the same values twice does no harm.
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    for name in _LOGGERS_OF_REQUESTS:
        logging.getLogger(name).addFilter(_HIDING)
    return litellm


def _tools(request: Request) -> dict[str, Any]:
    """The arguments for the request's tools, if it has any.

    litellm has tools looked through by its gateway for MCP, which needs a package that litellm does not require; where
    that gateway is there, it is told to stay out.
    """
    if not request.tools:
        return {}
    gateway = find_spec("litellm.responses.mcp.chat_completions_handler")
    return {"tools": request.tools} | ({"_skip_mcp_handler": True} if gateway else {})


def _reply(response: Any, name: str, latency: float, cost: float | None) -> Reply:  # noqa: ANN401 - litellm's
    if not response.choices:
        raise ProviderError("malformed", "the reply holds no choices")
    choice = response.choices[0]
    further = getattr(choice, "provider_specific_fields", None) or {}
    refuse_failed(further.get("error"), further.get("native_finish_reason"))
    text = _text(choice.message)
    finish_reason = scrub(str(choice.finish_reason or "stop"))
    tokens_in, tokens_out = _tokens(response)
    return Reply(
        text,
        tokens_in,
        tokens_out,
        cost,
        latency,
        finish_reason,
        [_tool_call(call) for call in choice.message.tool_calls or ()],
        scrub(str(response.model or name)),
    )


def _vectors(response: Any, texts: int, name: str, latency: float, cost: float | None) -> Reply:  # noqa: ANN401
    """A reply without text, with a vector for each text, in their order."""
    found = vectors([item if isinstance(item, Mapping) else vars(item) for item in response.data], texts)
    source = scrub(str(response.model or name))
    tokens_in, tokens_out = _tokens(response)
    return Reply("", tokens_in, tokens_out, cost, latency, source=source, embeddings=found)


def _text(message: Any) -> str:  # noqa: ANN401 - litellm's
    """Return the text, or the words of a refusal, which the OpenAI protocol keeps apart.

    The limit holds here as well, for some of litellm's providers bring a transport of their own.
    """
    refusal = (getattr(message, "provider_specific_fields", None) or {}).get("refusal")
    text = message.content or refusal or ""
    if len(text) > LARGEST:
        raise ReplyTooLargeError
    return scrub(text)


def _tool_call(call: Any) -> dict[str, Any]:  # noqa: ANN401 - litellm's
    function = {"name": scrub(call.function.name or ""), "arguments": scrub(call.function.arguments or "")}
    return {"id": scrub(call.id or ""), "type": "function", "function": function}


def _tokens(response: Any) -> tuple[int, int] | tuple[None, None]:  # noqa: ANN401 - litellm's
    """Tokens in and out; both unknown where litellm puts 0 for a count that did not arrive."""
    usage = getattr(response, "usage", None)
    return counts(usage.prompt_tokens, usage.completion_tokens) if usage else (None, None)


def _cost(response: Any, name: str) -> float | None:  # noqa: ANN401 - litellm's
    """US dollars, or None. litellm says 0 for a model without a price and for a reply without a count of tokens."""
    litellm = _litellm()
    prices = len(litellm.model_cost)  # grows with the prices that settings bring
    if _unpriced.get(name) == prices:
        return None
    try:
        return litellm.completion_cost(completion_response=response, model=name) or None
    except Exception:  # the model is in no price list, and litellm has several classes for that
        _unpriced[name] = prices
        return None
