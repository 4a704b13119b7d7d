"""Models that are asked without litellm: endpoints of the OpenAI protocol, by address or by the name of a provider.

A call costs a tenth of the CPU time that it costs through litellm. aiohttp is imported at the first request.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from ...errors import NoLogprobsError, UnsentError, UsageError
from ...redaction import MASK, USER, cut_addresses, hide, register
from ...trial import Json, Reply, Request
from ..prices import Price, is_amount, price_of, token_cost
from .llama_cpp_scores import TOKENIZE, is_llama_cpp, score_by_tokens
from .openai_protocol import read_chat, read_embeddings, request_body
from .provider_errors import RedirectionError, failure, refusal, refusal_within
from .providers import ADDRESS_OPTIONS, Provider
from .text_scores import read_scores, scoring_settings
from .transport import session

if TYPE_CHECKING:
    from aiohttp import ClientResponse

KEY_VARIABLE = "TASKGRAPH_API_KEY"  # not OPENAI_API_KEY, which would go to any host
FORM = "http://host/v1#name"
LOCAL_MAX_TOKENS = 4096  # tokens of a reply of a local server, unless a model option states another number

_NO_PORT = re.compile(r"(?<=://)(?!\[)[^\s/:]*:(?!\d+(?:/|$)).*", re.DOTALL)
_RESERVED = {"model", "messages", "input", "tools", "stream"}  # parts of each request, which users cannot set
_NO_RETRIES = "no client asks again on its own; see --taskgraph-retries"
_ELSEWHERE = {"max_retries": _NO_RETRIES, "num_retries": _NO_RETRIES}
_IN_NAME = f"the address stands in the model's name, {FORM}"
# Settings that are not part of the body.
_LENGTHS = ("max_tokens", "max_completion_tokens")
_CLIENT_SETTINGS = ("api_key", "extra_headers", "extra_body", "timeout", *ADDRESS_OPTIONS)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a request goes: the address without credentials, `user:password` or "", and whether a proxy may apply."""

    base: str
    user: str
    proxied: bool
    key: str


class OpenAICompatibleModel:
    """A model of a provider or behind an endpoint that speaks the OpenAI protocol.

    The settings go into the body of each request unchanged, except `api_key`, `api_base`, `extra_headers`, `extra_body`
    (further fields of the body) and `timeout` in seconds. Address and key are those of the settings, else of the
    provider's environment variables at the time of the request. No other settings are sent but those of the provider,
    no request is sent twice, and redirects are not followed.

    A reply of a local server has at most LOCAL_MAX_TOKENS tokens unless a setting states the number (`limited`): some
    models write without an end.

    Args:
        name: The name of the model.
        provider: The provider, or the endpoint.
        model: The name of the model there.
        settings: The model options.

    Raises:
        UsageError: if an option has a wrong type or cannot be set.
    """

    live = True
    probes = ("scores", "tools")  # what is checked once before it is relied on

    def __init__(self, name: str, provider: Provider, model: str, settings: Mapping[str, Json]) -> None:
        self.name, self._provider, self._model = name, provider, model
        self.settings = dict(settings)
        check_settings(self.settings)
        self.local = _is_local(provider.address_for(self.settings))
        self.limited = self.local and not provider.needs_key and not any(name in self.settings for name in _LENGTHS)
        if self.limited:
            self.settings["max_tokens"] = LOCAL_MAX_TOKENS
        if any(self.settings.get(option) for option in ADDRESS_OPTIONS):
            split_address(provider.address_for(self.settings), form="http://host/v1")
        register([self.settings, name, provider.address, {"key": provider.key()}])
        self._opened: tuple[tuple[str, str], _Place] | None = None
        self._by_tokens = False  # True once a server of llama.cpp showed that it does not echo

    async def ready(self) -> None:
        """Import aiohttp and open the session."""
        session()

    async def answer(self, request: Request) -> Reply:
        """Return the endpoint's reply, scrubbed; settings of the request override those of the model.

        Raises:
            ProviderError: if no reply arrives, or the key or the address is unknown.
            NotAskedError: if the model does not accept the tools, or the texts to be scored.
        """
        settings = self.settings | request.settings if request.settings else self.settings
        try:
            return await self._ask(request, settings)
        except Exception as exception:
            user = self._opened[1].user if self._opened else ""
            passwords = [user.partition(":")[2], _basic(user)] if user else []
            failed = failure(exception, self.name, request, {**settings, "password": passwords})
        raise failed  # outside of the handler: the exception keeps no traceback with the keys

    async def _ask(self, request: Request, settings: Mapping[str, Json]) -> Reply:
        place = self._place(settings)
        body = self._body(request, settings)
        session()  # opened before the latency is measured, since the first session imports aiohttp
        start = time.perf_counter()
        if not (self._by_tokens and _path(request) == "/completions"):
            response = await self._post(place, _path(request), body, settings)
            try:
                return self._read(response, request, time.perf_counter() - start)
            except NoLogprobsError:
                if _path(request) != "/completions" or not is_llama_cpp(response):
                    raise
        self._by_tokens = True
        reply = await self._score_by_tokens(request, place, settings)
        return replace(reply, cost=self._cost(reply, {}), latency=time.perf_counter() - start)

    async def _score_by_tokens(self, request: Request, place: _Place, settings: Mapping[str, Json]) -> Reply:
        root = replace(place, base=place.base.removesuffix("/v1"))

        async def post(path: str, body: Mapping[str, Json]) -> Any:  # noqa: ANN401 - any JSON value
            content = json.dumps(body, ensure_ascii=False).encode()
            return await self._post(root if path == TOKENIZE else place, path, content, settings)

        return await score_by_tokens(request, self._model, post)

    def _place(self, settings: Mapping[str, Json]) -> _Place:
        """Return the address and the key that hold now.

        Raises:
            UnsentError: if one of them is unknown.
            UsageError: if the address cannot be read.
        """
        provider = self._provider
        found = provider.address_for(settings), provider.key()
        if self._opened is None or self._opened[0] != found:
            address, key = found
            if not address:
                stated = f"{provider.address_variable} or the model option api_base"
                raise UnsentError("not-found", f"no address of {provider.prefix} is known: set {stated}")
            register([address, {"key": key}])
            self._opened = found, _Place(*split_address(address, form="http://host/v1"), key)
        place = self._opened[1]
        own = "authorization" in {str(header).lower() for header in _table(settings, "extra_headers")}
        if provider.needs_key and not (settings.get("api_key") or place.user or place.key or own):
            stated = f"{provider.key_variable} or the model option api_key"
            raise UnsentError("authentication", f"no key of {provider.prefix} is known: set {stated}")
        return place

    def _body(self, request: Request, settings: Mapping[str, Json]) -> bytes:
        provider = self._provider
        inner = {k: v for k, v in settings.items() if k not in _CLIENT_SETTINGS} | _table(settings, "extra_body")
        if self.limited and request.kind == "embed":
            inner.pop("max_tokens", None)
        if request.kind == "score":
            inner = scoring_settings(request, inner)
        if _path(request) == "/chat/completions":
            inner = {**provider.fields, **inner}
        inner = {provider.renamed.get(name, name): value for name, value in inner.items()}
        return request_body(provider.sent_name(self._model), request, inner)

    def _read(self, response: Any, request: Request, latency: float) -> Reply:  # noqa: ANN401 - any JSON value
        if request.kind == "score":
            reply = read_scores(response, request, self._model, latency)
        elif request.kind == "embed":
            reply = read_embeddings(response, len(request.texts), self._model, latency)
        else:
            reply = read_chat(response, self._model, latency)
        usage = response.get("usage")
        return replace(reply, cost=self._cost(reply, usage if isinstance(usage, dict) else {}))

    def _cost(self, reply: Reply, usage: Mapping[str, Any]) -> float | None:
        """Return the US dollars: those that OpenRouter states, else by the price list; None if the price is unknown."""
        stated = usage.get("cost")
        if self._provider.prefix == "openrouter" and is_amount(stated) and not usage.get("is_byok"):
            return float(stated)
        return token_cost(self._price, reply.tokens_in, reply.tokens_out, reply.tokens_reasoning, _cached(usage))

    @cached_property
    def _price(self) -> Price | None:
        return price_of(self.name)

    async def _post(self, place: _Place, path: str, body: bytes, settings: Mapping[str, Json]) -> Any:  # noqa: ANN401 - JSON
        headers = _headers(settings, place, self._provider.sent_headers())
        proxy = _proxy(place.base) if place.proxied else None
        async with asyncio.timeout(_seconds(settings)):
            post = session().post(place.base + path, data=body, headers=headers, proxy=proxy, allow_redirects=False)
            async with post as response:
                if response.status // 100 == 3 and (location := response.headers.get("Location")):
                    raise _redirection(response, place.base, path, location)
                return _json(response, await response.read())


def open_endpoint(spec: str, settings: Mapping[str, Json]) -> OpenAICompatibleModel:
    """Return the model behind an address, such as `http://localhost:8000/v1#llama3`.

    Raises:
        UsageError: if the address cannot be read, the name is missing, or an option cannot be set.
    """
    address, _, model = (part.strip() for part in spec.partition("#"))
    if not model:
        raise UsageError(f"the model {_masked_address(address)!r} has no name; expected {FORM}")
    if option := next((option for option in ADDRESS_OPTIONS if option in settings), ""):
        raise UsageError(f"the model setting {option!r} cannot be set: {_IN_NAME}")
    base, *_ = split_address(address)
    endpoint = Provider("", address, "", KEY_VARIABLE, needs_key=False)
    return OpenAICompatibleModel(f"{base}#{model}", endpoint, model, settings)


def _path(request: Request) -> str:
    if request.kind == "score" and not request.messages:
        return "/completions"
    return "/embeddings" if request.kind == "embed" else "/chat/completions"


def _json(response: ClientResponse, body: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """Return the JSON that the response holds.

    Raises:
        RefusalError: if the status is an error, or the body holds an error in place of a reply.
        ValueError: if the body is not JSON.
    """
    if response.status >= 300:
        raise refusal(response.status, body, response.headers)
    value = json.loads(body)
    if refused := refusal_within(value):  # some gateways answer 200 in any case
        raise refused
    return value


def _redirection(response: ClientResponse, base: str, path: str, location: str) -> RedirectionError:
    """Return the error that states where a request for `path` is redirected, as an address of a model, without keys."""
    try:
        to = urlsplit(urljoin(base + path, location))
        place = cut_addresses(f"{to.scheme}://{to.netloc}{to.path}").removesuffix(path)
    except ValueError:
        place = "an address that cannot be read"
    why = f"the server redirects (HTTP status {response.status}), which is not followed"
    return RedirectionError(f"{why}; name that address in --model: {place}", response.status, response.headers)


def _headers(settings: Mapping[str, Json], place: _Place, provider_headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a request; a key that was set overrides a user in the address and the key variable."""
    headers = {"Content-Type": "application/json", **provider_headers}
    if key := settings.get("api_key"):
        headers["Authorization"] = f"Bearer {key}"
    elif place.user:
        headers["Authorization"] = f"Basic {_basic(place.user)}"
    elif place.key:
        headers["Authorization"] = f"Bearer {place.key}"
    further = _table(settings, "extra_headers")
    if further:
        further_names = {str(name).lower() for name in further}
        headers = {name: value for name, value in headers.items() if name.lower() not in further_names}
        headers |= {str(name): str(value) for name, value in further.items()}
    return headers


def _basic(user: str) -> str:
    return b64encode(user.encode()).decode()


def _table(settings: Mapping[str, Json], name: str) -> dict[str, Json]:
    value = settings.get(name) or {}
    if not isinstance(value, dict):
        raise UsageError(f"the model setting {name!r} is a {type(value).__name__}; expected a JSON object")
    return value


def _seconds(settings: Mapping[str, Json]) -> float | None:
    seconds = settings.get("timeout")
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds <= 0):
        raise UsageError(f"the model setting 'timeout' is {seconds!r}; expected a number of seconds")
    return seconds


def check_settings(settings: Mapping[str, Json]) -> None:
    """Check the settings.

    Raises:
        UsageError: if one cannot be set or has a wrong type.
    """
    _seconds(settings)
    _table(settings, "extra_headers")
    inner = _table(settings, "extra_body")
    for name in sorted({*settings, *inner}):
        if name in _RESERVED:
            raise UsageError(f"the model setting {name!r} cannot be set: it is part of each request")
        if name in _ELSEWHERE:
            raise UsageError(f"the model setting {name!r} cannot be set: {_ELSEWHERE[name]}")


def split_address(address: str, form: str = FORM) -> tuple[str, str, bool]:
    """Split an address into the address without credentials, `user:password` or "", and whether a proxy may apply.

    Args:
        address: The address.
        form: The form of a correct one, for the message of an error.

    Raises:
        UsageError: if it is not an address of an endpoint.
    """
    credentials = USER.search(address)  # urlsplit takes a slash in the password for the end of the host
    try:
        parts = urlsplit(USER.sub("", address, count=1))
        host, port = parts.hostname, parts.port
    except ValueError as error:
        why = "" if _NO_PORT.search(address) else f" ({error})"  # the error quotes what it takes for a port
        raise UsageError(
            f"the model's address {_masked_address(address)!r} cannot be read{why}; expected {form}"
        ) from None
    if parts.scheme not in ("http", "https") or not host or parts.query:
        wrong = "holds a question mark" if host and parts.query else "names no host"
        raise UsageError(f"the model's address {_masked_address(address)!r} {wrong}; expected {form}")
    where = f"[{host}]" if ":" in host else host
    name, _, password = credentials[0][:-1].partition(":") if credentials else ("", "", "")
    user = f"{unquote(name)}:{unquote(password)}" if credentials else ""
    base = f"{parts.scheme}://{where}{'' if port is None else f':{port}'}{parts.path.rstrip('/')}"
    return base, user, not _loopback(host)


def _masked_address(address: str) -> str:
    """Return the address for an error message; what may be a password cut off at a "#" is masked entirely."""
    return _NO_PORT.sub(MASK, hide(cut_addresses(address)))


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _is_local(address: str) -> bool:
    """Return True if the address is on this machine or in a private network; False for other names and for none."""
    try:
        host = urlsplit(USER.sub("", address, count=1)).hostname or ""
        return _loopback(host) or ip_address(host).is_private
    except ValueError:
        return False


@cache
def _proxy(base: str) -> str | None:
    """Return the proxy that the environment names for an address; cached, since the look-up is slow."""
    parts = urlsplit(base)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.netloc):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _cached(usage: Mapping[str, Any]) -> int | None:
    """Return the input tokens that the provider had cached; None if it states none."""
    details = usage.get("prompt_tokens_details")
    stated = details.get("cached_tokens") if isinstance(details, Mapping) else None
    count = usage.get("prompt_cache_hit_tokens") if stated is None else stated  # DeepSeek
    return int(count) if is_amount(count) else None
