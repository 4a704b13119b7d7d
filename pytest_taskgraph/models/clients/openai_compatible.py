"""Endpoints of the OpenAI protocol, reached without litellm: vLLM, llama.cpp, Ollama, any gateway.

A call costs a tenth of the CPU time that it costs through litellm. aiohttp is imported at the first request.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from ...errors import UsageError
from ...redaction import MASK, USER, cut_addresses, hide, register
from ...trial import Json, Reply, Request
from .openai_protocol import read_chat, read_embeddings, request_body
from .provider_errors import RedirectionError, failure, refusal, refusal_within
from .text_scores import read_scores, scoring_settings
from .transport import session

if TYPE_CHECKING:
    from aiohttp import ClientResponse

KEY_VARIABLE = "TASKGRAPH_API_KEY"  # not OPENAI_API_KEY, which would go to any host
FORM = "http://host/v1#name"

_NO_PORT = re.compile(r"(?<=://)(?!\[)[^\s/:]*:(?!\d+(?:/|$)).*", re.DOTALL)
_RESERVED = {"model", "messages", "input", "tools", "stream"}  # parts of each request, which users cannot set
_ELSEWHERE = {
    "api_base": f"the address stands in the model's name, {FORM}",
    "base_url": f"the address stands in the model's name, {FORM}",
    "max_retries": "no client asks again on its own; see --taskgraph-retries",
    "num_retries": "no client asks again on its own; see --taskgraph-retries",
}
_CLIENT_SETTINGS = ("api_key", "extra_headers", "extra_body", "timeout")  # settings that are not part of the body


class OpenAICompatibleModel:
    """A model behind an endpoint of the OpenAI protocol, by address and name: `http://localhost:8000/v1#llama3`.

    The settings go into the body of each request unchanged, except `api_key`, `extra_headers`, `extra_body` (further
    fields of the body) and `timeout` in seconds. No other settings are sent, no request is sent twice, and redirects
    are not followed.
    """

    live = True

    def __init__(self, spec: str, settings: Mapping[str, Json] | None = None) -> None:
        self.settings = dict(settings or {})
        check_settings(self.settings)
        address, _, self._model = (part.strip() for part in spec.partition("#"))
        if not self._model:
            raise UsageError(f"the model {_masked_address(address)!r} has no name; expected {FORM}")
        register([self.settings, address, {"key": os.environ.get(KEY_VARIABLE)}])
        self._base, self._user, self._proxied = split_address(address)
        self.name = f"{self._base}#{self._model}"

    async def ready(self) -> None:
        """Import aiohttp and open the session."""
        session()

    async def answer(self, request: Request) -> Reply:
        """Return the endpoint's reply, scrubbed; settings of the request override those of the model.

        Raises:
            ProviderError: if no reply arrives.
            NotAskedError: if the model does not accept the tools, or the texts to be scored.
        """
        settings = self.settings | request.settings if request.settings else self.settings
        try:
            return await self._ask(request, settings)
        except Exception as exception:
            passwords = [self._user.partition(":")[2], _basic(self._user)] if self._user else []
            failed = failure(exception, self.name, request, {**settings, "password": passwords})
        raise failed  # outside of the handler: the exception keeps no traceback with the keys

    async def _ask(self, request: Request, settings: Mapping[str, Json]) -> Reply:
        body = self._body(request, settings)
        session()  # opened before the latency is measured, since the first session imports aiohttp
        start = time.perf_counter()
        response = await self._post(_path(request), body, settings)
        return self._read(response, request, time.perf_counter() - start)

    def _body(self, request: Request, settings: Mapping[str, Json]) -> bytes:
        inner = {k: v for k, v in settings.items() if k not in _CLIENT_SETTINGS} | _table(settings, "extra_body")
        if request.kind == "score":
            inner = scoring_settings(request, inner)
        return request_body(self._sent_name(request), request, inner)

    def _sent_name(self, request: Request) -> str:
        """Return the name of the model that the body of the request states."""
        return self._model

    def _read(self, response: Any, request: Request, latency: float) -> Reply:  # noqa: ANN401 - any JSON value
        if request.kind == "score":
            return read_scores(response, request, self._model, latency)
        if request.kind == "embed":
            return read_embeddings(response, len(request.texts), self._model, latency)
        return read_chat(response, self._model, latency)

    def _variable_key(self) -> str | None:
        """Return the key for a request without one of its own; "" or None sends none."""
        return os.environ.get(KEY_VARIABLE)

    async def _post(self, path: str, body: bytes, settings: Mapping[str, Json]) -> Any:  # noqa: ANN401 - JSON
        headers = _headers(settings, self._user, self._variable_key())
        proxy = _proxy(self._base) if self._proxied else None
        async with asyncio.timeout(_seconds(settings)):
            post = session().post(self._base + path, data=body, headers=headers, proxy=proxy, allow_redirects=False)
            async with post as response:
                if response.status // 100 == 3 and (location := response.headers.get("Location")):
                    raise _redirection(response, self._base, path, location)
                return _json(response, await response.read())


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


def _headers(settings: Mapping[str, Json], user: str, variable_key: str | None) -> dict[str, str]:
    """Return the headers of a request; a key that was set overrides a user in the address and the key variable."""
    headers = {"Content-Type": "application/json"}
    if key := settings.get("api_key"):
        headers["Authorization"] = f"Bearer {key}"
    elif user:
        headers["Authorization"] = f"Basic {_basic(user)}"
    elif variable_key:
        headers["Authorization"] = f"Bearer {variable_key}"
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


@cache
def _proxy(base: str) -> str | None:
    """Return the proxy that the environment names for an address; cached, since the look-up is slow."""
    parts = urlsplit(base)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.netloc):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
