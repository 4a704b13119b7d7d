"""Models of providers that speak the OpenAI protocol, by their litellm names and without litellm.

A request that litellm would translate goes through litellm, if it is installed; every other is sent directly. Name and
settings are those of the litellm client, so each finds the replies that the other stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from importlib.util import find_spec
from typing import Any

from ...errors import CannotScoreError, ProviderError, UsageError
from ...redaction import USER, register
from ...trial import Json, Reply, Request
from ..prices import Price, is_amount, price_of, token_cost
from .direct_requests import completes, is_proxied, is_unchanged, translated_option
from .litellm_client import LiteLLMModel
from .openai_compatible import OpenAICompatibleModel, check_settings, split_address
from .providers import ADDRESS_OPTIONS, Provider, find_provider
from .reasoning import join_blocks
from .transport import session


def open_named(name: str, settings: Mapping[str, Json]) -> LiteLLMModel | ProviderModel:
    """Return the model of a litellm name: without litellm if its provider and all its options allow it.

    Raises:
        UsageError: if the name is empty, or an option has a wrong type or cannot be set.
    """
    found = None if is_proxied() else find_provider(name)
    if found is None:
        return LiteLLMModel(name, settings)
    if option := translated_option(found[0], settings):
        return LiteLLMModel(name, settings, translated=option)
    return ProviderModel(name.strip(), *found, settings)


class ProviderModel:
    """A model of a provider that speaks the OpenAI protocol, such as `openai/gpt-4o` or `groq/llama-3.1-8b-instant`.

    Address and key are those of the model options `api_base` and `api_key`, else of the provider's environment
    variables at the time of the request. No request is sent twice, and redirects are not followed.
    """

    live = True

    def __init__(self, name: str, provider: Provider, model: str, settings: Mapping[str, Json]) -> None:
        self.name, self._provider, self._model = name, provider, model
        self._stated = dict(settings)
        self.settings = {**self._stated, "protocol": "openai"} if provider.native else self._stated
        check_settings({option: value for option, value in settings.items() if option not in ADDRESS_OPTIONS})
        if any(self._stated.get(option) for option in ADDRESS_OPTIONS):
            split_address(provider.address_for(self._stated), form="http://host/v1")
        register([self._stated, name])
        self._opened: tuple[tuple[str, str], _Endpoint] | None = None

    async def ready(self) -> None:
        """Import aiohttp and open the session."""
        session()

    async def answer(self, request: Request) -> Reply:
        """Return the provider's reply, scrubbed; settings of the request override those of the model.

        Raises:
            ProviderError: if no reply arrives, or the key or the address is unknown.
            NotAskedError: if the model does not accept the tools, or the texts to be scored.
        """
        settings = self._stated | request.settings if request.settings else self._stated
        if request.kind == "score" and not request.messages:
            if not completes(self._provider, self.name):
                lacks = f"{self._provider.prefix} has no /completions for it; give messages in place of a context"
                raise CannotScoreError(f"the model {self.name} cannot score texts: {lacks}")
        elif not self._is_direct(request, settings):
            return await self._litellm.answer(request)
        return await self._endpoint(settings).answer(request)

    def _is_direct(self, request: Request, settings: Mapping[str, Json]) -> bool:
        """Return True if the request need not go through litellm, or cannot, since litellm is not installed."""
        if self._provider.native or is_unchanged(self._provider, self.name, request, settings):
            return True
        return find_spec("litellm") is None

    @cached_property
    def _litellm(self) -> LiteLLMModel:
        return LiteLLMModel(self.name, self._stated)

    def _endpoint(self, settings: Mapping[str, Json]) -> _Endpoint:
        """Return the endpoint, with the address and the key that hold now.

        Raises:
            ProviderError: if one of them is unknown, or the address cannot be read.
        """
        provider = self._provider
        place = (provider.address_for(settings), provider.key_for(settings))
        if self._opened is None or self._opened[0] != place:
            self._check(*place, settings)
            try:
                self._opened = place, _Endpoint(self.name, provider, self._model, *place, self._stated)
            except UsageError as error:
                raise ProviderError("bad-request", str(error)) from None
        return self._opened[1]

    def _check(self, address: str, key: str, settings: Mapping[str, Json]) -> None:
        provider = self._provider
        if not address:
            stated = " or ".join([*provider.addresses, "the model option api_base"])
            raise ProviderError("not-found", f"no address of {provider.prefix} is known: set {stated}")
        headers = settings.get("extra_headers") or {}
        has_own = isinstance(headers, dict) and "authorization" in {str(header).lower() for header in headers}
        if provider.needs_key and not (key or has_own or USER.search(address)):
            stated = " or ".join([*provider.keys, "the model option api_key"])
            raise ProviderError("authentication", f"no key of {provider.prefix} is known: set {stated}")


class _Endpoint(OpenAICompatibleModel):
    """The endpoint of a provider: an address whose replies have a price."""

    def __init__(
        self, name: str, provider: Provider, model: str, address: str, key: str, settings: Mapping[str, Json]
    ) -> None:
        self._provider = provider
        own = {option: value for option, value in settings.items() if option not in ADDRESS_OPTIONS}
        headers = {**provider.sent_headers(), **(own.get("extra_headers") or {})}  # type: ignore[dict-item]
        further: dict[str, Json] = {"extra_headers": headers} if headers else {}
        authorization: dict[str, Json] = {"api_key": key} if key else {}
        super().__init__(f"{address}#{model}", {**own, **further, **authorization})
        self.name = name

    def _variable_key(self) -> str | None:
        return None  # a key for endpoints by address is not for this host

    def _body(self, request: Request, settings: Mapping[str, Json]) -> bytes:
        shown = {name: value for name, value in settings.items() if name not in ADDRESS_OPTIONS}
        if not _is_chat(request):
            return super()._body(request, shown)
        return super()._body(replace(request, messages=self._messages(request)), {**self._provider.fields, **shown})

    def _sent_name(self, request: Request) -> str:
        return self._provider.chat_name(self._model) if _is_chat(request) else self._model

    def _messages(self, request: Request) -> list[dict[str, Any]]:
        """Return the messages without empty fields and those that the provider refuses."""
        dropped = self._provider.dropped
        return [
            {name: value for name, value in message.items() if value is not None and name not in dropped}
            for message in request.messages
        ]

    def _read(self, response: Any, request: Request, latency: float) -> Reply:  # noqa: ANN401 - any JSON value
        if self._provider.blocks:
            response = _without_blocks(response)
        reply = super()._read(response, request, latency)
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


def _is_chat(request: Request) -> bool:
    return request.kind == "chat" or (request.kind == "score" and bool(request.messages))


def _without_blocks(response: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return the response, whose first choice holds a text in place of blocks."""
    choices = response.get("choices") if isinstance(response, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or not isinstance(message := choice.get("message"), dict):
        return response
    if not isinstance(message.get("content"), list):
        return response
    return {**response, "choices": [{**choice, "message": join_blocks(message)}]}


def _cached(usage: Mapping[str, Any]) -> int | None:
    """Return the input tokens that the provider had cached; None if it states none."""
    details = usage.get("prompt_tokens_details")
    stated = details.get("cached_tokens") if isinstance(details, Mapping) else None
    count = usage.get("prompt_cache_hit_tokens") if stated is None else stated  # DeepSeek
    return int(count) if is_amount(count) else None
