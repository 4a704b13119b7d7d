"""The client for every provider that litellm knows; litellm (2 s, 150 MB) is imported at the first request."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from typing import Any

from ...errors import CannotScoreError, ProviderError, UsageError
from ...redaction import RedactingFilter, hide, public_name, register, scrub
from ...trial import Json, Reply, Request
from .openai_protocol import counts, finish_reason_of, refuse_failed, vectors, with_reasoning
from .provider_errors import failure
from .reasoning import SENT_BACK
from .request_warnings import ASKING, ignore_warnings_of_requests
from .text_scores import read_scores, scoring_settings
from .transport import LARGEST, ReplyTooLargeError, session
from .transport import close as close_sessions

_RESERVED = {"model", "messages", "tools", "stream"}  # parts of each request, which users cannot set
_LOGGERS = ("LiteLLM", "LiteLLM Proxy", "LiteLLM Router", "litellm")
_LOGGERS_OF_REQUESTS = ("httpx", "openai._base_client")  # their messages hold addresses
_REDACTING = RedactingFilter()
# Models without a price, which litellm is slow to find out, with the number of prices known at that time.
_unpriced: dict[str, int] = {}


class LiteLLMModel:
    """A model that litellm can reach, by its litellm name, such as `openai/gpt-4o` or `ollama/llama3:8b`.

    The settings are passed to litellm unchanged (`api_base`, `api_key`, `temperature`, `timeout`, …). No other settings
    are sent. No request is sent twice: retries inside the clients are off unless `max_retries` is set.
    """

    live = True
    probes = ("tools",)  # what is checked once before it is relied on

    def __init__(self, name: str, settings: Mapping[str, Json] | None = None) -> None:
        """Check name and settings.

        Raises:
            UsageError: if the name is empty, or a setting cannot be set.
        """
        if not name.strip():
            raise UsageError("the model has no name; give one that litellm knows, such as openai/gpt-4o")
        if ours := sorted(_RESERVED & set(settings or ())):
            raise UsageError(f"the model setting {ours[0]!r} cannot be set: it is part of each request")
        self.name = name
        self.settings = dict(settings or {})
        register([self.settings, name])

    def check_installed(self) -> None:
        """Raise UsageError if litellm, without which nothing is sent, is not installed."""
        if find_spec("litellm") is not None:
            return
        raise UsageError(
            f"the model {hide(public_name(self.name))} is asked through litellm, which is not installed; install it "
            "(python -m pip install litellm), or name an endpoint that speaks the OpenAI protocol (http://HOST/v1#NAME)"
        )

    def preload(self) -> None:
        """Begin to import litellm."""
        preload()

    async def ready(self) -> None:
        """Wait until litellm is imported; if the import fails, the first request reports the failure."""
        if not _litellm.cache_info().currsize:
            await asyncio.wrap_future(_importing())

    async def answer(self, request: Request) -> Reply:
        """Return the provider's reply, scrubbed; settings of the request override those of the model.

        Raises:
            ProviderError: if no reply arrives.
            NotAskedError: if the model does not accept the tools, or the texts to be scored.
        """
        settings = self.settings | request.settings
        if request.kind == "score" and not request.messages:
            lacks = "litellm echoes no context; name the endpoint by its address, or give messages"
            raise CannotScoreError(f"the model {self.name} cannot score texts: {lacks}")
        ignore_warnings_of_requests()
        ASKING.set(True)
        try:
            return await self._ask(request, settings)
        except Exception as exception:
            failed = failure(exception, self.name, request, settings)
        finally:
            ASKING.set(False)
        raise failed  # outside of the handler: the exception keeps no traceback with the keys

    async def _ask(self, request: Request, settings: Mapping[str, Json]) -> Reply:
        litellm = await _load_litellm()
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


async def close() -> None:
    """Close the connections that requests left open in the running event loop.

    Await it in the loop that sent the requests, before the loop stops: connections that are left open raise
    ResourceWarnings in an unrelated test, and a later loop may receive them. Further requests may follow.
    """
    await close_sessions()
    if not _litellm.cache_info().currsize:  # not imported: there is no connection to close
        return
    cache = _litellm().in_memory_llm_clients_cache
    clients, of_this_loop = cache.cache_dict, cache.update_cache_key_with_event_loop("")
    for key in [key for key in list(clients) if key.endswith(of_this_loop)]:  # other loops may be sending
        with suppress(Exception):  # a client without `close`, or closed already
            await clients.pop(key).close()


def preload() -> None:
    """Begin to import litellm in a thread, so that the first request need not wait for it.

    Only the first call starts a thread. If the import fails, the first request reports why.
    """
    _importing()


async def _load_litellm() -> Any:  # noqa: ANN401 - the module, which is not typed
    """Return the module litellm, imported in another thread if needed, so that other requests in the loop proceed."""
    if not _litellm.cache_info().currsize:
        await asyncio.wrap_future(_importing())
    return _litellm()


_import: Future[None] | None = None
_import_lock = threading.Lock()


def _importing() -> Future[None]:
    """Return a future that is done when the import has been tried, whether it succeeded or not."""
    global _import
    with _import_lock:
        if _import is None:
            _import = Future()
            _import.set_running_or_notify_cancel()  # a waiting task may be cancelled, the import may not
            threading.Thread(target=_import_quietly, args=(_import,), name="taskgraph-litellm", daemon=True).start()
        return _import


def _import_quietly(done: Future[None]) -> None:
    ignore_warnings_of_requests()
    ASKING.set(True)
    try:
        with suppress(Exception):
            _litellm()
            _import_for_first_request()
    finally:
        done.set_result(None)


def _import_for_first_request() -> None:
    """Import what litellm would import during its first request (0.5 s). Raises ImportError in versions without it."""
    import openai.resources.chat  # noqa: F401


class _Retries(int):
    """An integer that is true even if it is 0: for embeddings, litellm takes a false value as unset, and sets 2."""

    def __bool__(self) -> bool:
        return True


@cache
def _litellm() -> Any:  # noqa: ANN401 - the module, which is not typed
    """Import litellm, with its messages off and without network access during the import.

    Safe in threads: Python imports a module once, and setting the same values twice is harmless.
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    collects = gc.isenabled()
    gc.disable()  # the import makes a million objects that stay, and searching them for garbage takes a sixth of it
    try:
        import litellm
    finally:
        if collects:
            gc.enable()
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    for name in _LOGGERS_OF_REQUESTS:
        logging.getLogger(name).addFilter(_REDACTING)
    return litellm


def _tools(request: Request) -> dict[str, Any]:
    """Return the arguments for the request's tools, if it has any.

    litellm passes tools through its gateway for MCP, which needs a package that litellm does not require; where the
    gateway exists, it is switched off.
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
    reason = (
        further.get("native_finish_reason") or choice.finish_reason
    )  # litellm takes words that it does not know for stop
    refuse_failed(further.get("error"), reason)
    text = _text(choice.message)
    tokens_in, tokens_out = _tokens(response)
    calls = [_tool_call(call) for call in choice.message.tool_calls or ()]
    finish_reason = finish_reason_of(reason, bool(calls))
    source = scrub(str(response.model or name))
    reply = Reply(text, tokens_in, tokens_out, cost, latency, finish_reason, calls, source)
    return with_reasoning(reply, _reasoning_fields(choice.message), _usage(response))


def _vectors(response: Any, texts: int, name: str, latency: float, cost: float | None) -> Reply:  # noqa: ANN401
    """Return a reply without text, with a vector for each text, in their order."""
    embeddings = vectors([item if isinstance(item, Mapping) else vars(item) for item in response.data], texts)
    source = scrub(str(response.model or name))
    tokens_in, tokens_out = _tokens(response)
    return Reply("", tokens_in, tokens_out, cost, latency, source=source, embeddings=embeddings)


def _text(message: Any) -> str:  # noqa: ANN401 - litellm's
    """Return the text, or the text of a refusal, which the OpenAI protocol keeps in a field of its own.

    The size limit applies here as well, since some of litellm's providers use a transport of their own.
    """
    theirs = getattr(message, "provider_specific_fields", None) or {}
    text = message.content or getattr(message, "refusal", None) or theirs.get("refusal") or ""
    if len(text) + len(getattr(message, "reasoning_content", None) or "") > LARGEST:
        raise ReplyTooLargeError
    return scrub(text)


def _reasoning_fields(message: Any) -> dict[str, Any]:  # noqa: ANN401 - litellm's
    """Return the fields of reasoning as the provider sent them.

    litellm adds `reasoning_content` to every message with reasoning. Where it keeps the provider's own field, that
    field replaces it, for an endpoint may refuse a field that it does not know.
    """
    stated = {name: getattr(message, name, None) for name in SENT_BACK}
    theirs = getattr(message, "provider_specific_fields", None) or {}
    own = {name: theirs[name] for name in SENT_BACK if theirs.get(name)}
    if "reasoning" in own:
        del stated["reasoning_content"]
    return stated | own


def _usage(response: Any) -> dict[str, Any]:  # noqa: ANN401 - litellm's
    usage = getattr(response, "usage", None)
    return usage.model_dump() if usage else {}


def _tool_call(call: Any) -> dict[str, Any]:  # noqa: ANN401 - litellm's
    function = {"name": scrub(call.function.name or ""), "arguments": scrub(call.function.arguments or "")}
    return {"id": scrub(call.id or ""), "type": "function", "function": function}


def _tokens(response: Any) -> tuple[int, int] | tuple[None, None]:  # noqa: ANN401 - litellm's
    """Return the numbers of input and output tokens; both None where litellm reports 0 for a missing count."""
    usage = getattr(response, "usage", None)
    return counts(usage.prompt_tokens, usage.completion_tokens) if usage else (None, None)


def _cost(response: Any, name: str) -> float | None:  # noqa: ANN401 - litellm's
    """Return US dollars, or None: litellm reports 0 for an unpriced model and for a reply without token counts."""
    litellm = _litellm()
    prices = len(litellm.model_cost)  # grows with the prices that settings bring
    if _unpriced.get(name) == prices:
        return None
    try:
        return litellm.completion_cost(completion_response=response, model=name) or None
    except Exception:  # the model is in no price list, and litellm has several classes for that
        _unpriced[name] = prices
        return None
