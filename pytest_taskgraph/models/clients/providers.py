"""Providers that speak the OpenAI protocol: where they are, and what they are sent unchanged.

A model is named as litellm names it, `openai/gpt-4o`: the prefix of a provider of `PROVIDERS`, a slash, and the model's
name at the provider. Addresses and environment variables are those of litellm, so that a run finds the same endpoint
and the same key with and without it. `docs/how-to/asking.md` shows this table.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ...trial import Json

ADDRESS_OPTIONS = ("api_base", "base_url")  # model options that state the address

_SHARED = frozenset(
    {
        *("temperature", "top_p", "max_tokens", "stop", "response_format", "parallel_tool_calls"),
        *("top_k", "min_p", "repetition_penalty", "reasoning"),
    }
)
_BODY = frozenset({"extra_body"})
_COUNTED = frozenset({"seed", "n", "presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs"})
_LENGTH = frozenset({"max_completion_tokens"})
_EFFORT = frozenset({"reasoning_effort"})
_FULL = _SHARED | _BODY | _COUNTED | _LENGTH
_OF_OPENROUTER = frozenset({"provider", "models", "route", "transforms", "plugins", "include_reasoning", "top_a"})
_OF_VLLM = frozenset(
    {
        *("chat_template_kwargs", "guided_choice", "guided_json", "guided_regex", "stop_token_ids", "min_tokens"),
        *("length_penalty", "ignore_eos", "skip_special_tokens", "best_of", "include_reasoning"),
    }
)


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider that speaks the OpenAI protocol.

    Args:
        prefix: The prefix of its models' names, as litellm spells it.
        address: The base of its API; empty if only an option or a variable can state it.
        addresses: Environment variables of the address, the first that is set counts.
        keys: Environment variables of the key, the first that is set counts.
        options: Model options that litellm sends to it unchanged, whatever the model.
        differs: What differs from the OpenAI protocol, or from a request through litellm; a phrase for the
            documentation.
        needs_key: Whether a request without a key is pointless.
        versioned: Whether `/v1` is appended to an address that does not end with it.
        embeds: Whether litellm reaches its `/embeddings`.
        completes: Whether litellm reaches its `/completions`, which scores texts behind a context.
        cleans_tools: Whether litellm takes entries out of the schemas of tools for it.
        dropped: Fields of messages that litellm does not send to it.
        fields: Fields of each chat request that are sent unless a model option states them.
        headers: Headers of each request, with the environment variables of their values; without one they are not sent.
        blocks: Whether the content of a reply may be a list of blocks.
        native: Whether litellm speaks another protocol to it, so that replies through litellm are other replies.
    """

    prefix: str
    address: str
    addresses: tuple[str, ...]
    keys: tuple[str, ...]
    options: frozenset[str]
    differs: str = ""
    needs_key: bool = True
    versioned: bool = False
    embeds: bool = True
    completes: bool = False
    cleans_tools: bool = False
    dropped: frozenset[str] = frozenset()
    fields: Mapping[str, Json] = field(default_factory=dict)
    headers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    blocks: bool = False
    native: bool = False

    def address_for(self, settings: Mapping[str, Json]) -> str:
        """Return the base of the API: that of the settings, else of a variable, else the provider's; "" if unknown."""
        stated = next((str(settings[name]) for name in ADDRESS_OPTIONS if settings.get(name)), "")
        base = (stated or _variable(self.addresses) or self.address).strip().rstrip("/")
        base = base.removesuffix("/chat/completions")
        return f"{base}/v1" if self.versioned and base and not base.endswith("/v1") else base

    def key_for(self, settings: Mapping[str, Json]) -> str:
        """Return the key: that of the settings, else of a variable; "" if there is none."""
        return str(settings.get("api_key") or "") or _variable(self.keys)

    def sent_headers(self) -> dict[str, str]:
        """Return the headers whose variables are set."""
        values = {name: _variable(variables) for name, variables in self.headers.items()}
        return {name: value for name, value in values.items() if value}

    def chat_name(self, model: str) -> str:
        """Return the name of a model as a chat request states it; Fireworks knows models by the path of a resource."""
        if self.prefix != "fireworks_ai" or model.startswith(("accounts/", "FW-")) or "#" in model:
            return model
        if model.startswith(("routers/", "models/")):
            return f"accounts/fireworks/{model}"
        routed = model.endswith("-fast") or model in _ROUTERS or model.startswith("firerouter/")
        return f"accounts/fireworks/{'routers' if routed else 'models'}/{model}"


_ROUTERS = ("firerouter", "auto", "auto-instant")  # of Fireworks
_THOUGHTS = frozenset({"thinking_blocks"})

_LISTED = (
    Provider(
        "openai",
        "https://api.openai.com/v1",
        ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
        ("OPENAI_API_KEY",),
        _FULL | _EFFORT,
        "models of the `o` and `gpt-5` series with tools, `max_tokens` or `temperature`, and models that only the "
        "Responses API has, go through litellm",
        completes=True,
        headers={
            "OpenAI-Organization": ("OPENAI_ORGANIZATION", "OPENAI_ORG_ID"),
            "OpenAI-Project": ("OPENAI_PROJECT_ID",),
        },
    ),
    Provider(
        "openrouter",
        "https://openrouter.ai/api/v1",
        ("OPENROUTER_API_BASE",),
        ("OPENROUTER_API_KEY", "OR_API_KEY"),
        _FULL | _EFFORT | _OF_OPENROUTER,
        "`usage: {include: true}` is sent, and the cost that a reply states is used; the headers `HTTP-Referer` and "
        "`X-Title` are sent only if `OR_SITE_URL` and `OR_APP_NAME` are set",
        fields={"usage": {"include": True}},
        headers={"HTTP-Referer": ("OR_SITE_URL",), "X-Title": ("OR_APP_NAME",)},
    ),
    Provider(
        "groq",
        "https://api.groq.com/openai/v1",
        ("GROQ_API_BASE",),
        ("GROQ_API_KEY",),
        _SHARED | _BODY | _COUNTED | {"reasoning_format"},
        "a JSON schema goes through litellm, which makes a tool of it for some models",
        embeds=False,
    ),
    Provider(
        "together_ai",
        "https://api.together.ai/v1",
        ("TOGETHER_AI_API_BASE",),
        ("TOGETHER_API_KEY", "TOGETHER_AI_API_KEY", "TOGETHERAI_API_KEY", "TOGETHER_AI_TOKEN"),
        _FULL,
        completes=True,
        dropped=_THOUGHTS,
    ),
    Provider(
        "deepseek",
        "https://api.deepseek.com/beta",
        ("DEEPSEEK_API_BASE",),
        ("DEEPSEEK_API_KEY",),
        _FULL,
        "cached input is read from `prompt_cache_hit_tokens`",
        embeds=False,
    ),
    Provider(
        "mistral",
        "https://api.mistral.ai/v1",
        ("MISTRAL_AZURE_API_BASE",),
        ("MISTRAL_AZURE_API_KEY", "MISTRAL_API_KEY"),
        _SHARED | _BODY | {"random_seed", "safe_prompt"},
        "`seed` goes through litellm, which sends `random_seed`; reasoning is not sent back",
        versioned=True,
        cleans_tools=True,
        dropped=_THOUGHTS | {"reasoning_content"},
        blocks=True,
    ),
    Provider(
        "fireworks_ai",
        "https://api.fireworks.ai/inference/v1",
        ("FIREWORKS_API_BASE",),
        ("FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY", "FIREWORKSAI_API_KEY", "FIREWORKS_AI_TOKEN"),
        _SHARED | _COUNTED,
        "a short name becomes `accounts/fireworks/models/NAME`; `extra_body` goes through litellm",
        completes=True,
        cleans_tools=True,
        dropped=_THOUGHTS,
    ),
    Provider(
        "hosted_vllm",
        "",
        ("HOSTED_VLLM_API_BASE",),
        ("HOSTED_VLLM_API_KEY",),
        _FULL | _EFFORT | _OF_VLLM,
        "the address has no default; without a key, no `Authorization` is sent, where litellm sends a made-up key",
        needs_key=False,
        completes=True,
        cleans_tools=True,
        dropped=_THOUGHTS,
    ),
    Provider(
        "ollama",
        "http://localhost:11434/v1",
        ("OLLAMA_API_BASE",),
        ("OLLAMA_API_KEY",),
        _FULL | _EFFORT,
        "litellm speaks Ollama's own protocol, so its stored replies are others: here the settings in the key hold "
        "`protocol: openai`",
        needs_key=False,
        versioned=True,
        native=True,
    ),
)
PROVIDERS: Mapping[str, Provider] = {provider.prefix: provider for provider in _LISTED}


def find_provider(name: str) -> tuple[Provider, str] | None:
    """Return the provider of a model and the model's name there; None if the name has no prefix of the table."""
    prefix, slash, model = name.strip().partition("/")
    provider = PROVIDERS.get(prefix) if slash and model.strip() else None
    return None if provider is None else (provider, model.strip())


def _variable(names: Iterable[str]) -> str:
    """Return the value of the first of these environment variables that is set; "" if none is."""
    return next((value for name in names if (value := os.environ.get(name, "").strip())), "")
