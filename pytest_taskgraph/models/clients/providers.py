"""Providers that speak the OpenAI protocol: where they are, their keys, and what they document differently.

A model is named `PREFIX/NAME`, such as `openai/gpt-4o`: the prefix of a provider of `PROVIDERS`, and the model's name
at the provider. `docs/how-to/asking.md` shows this table.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...trial import Json

ADDRESS_OPTIONS = ("api_base", "base_url")  # model options that state the address


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider that speaks the OpenAI protocol, or an endpoint that the user names by its address.

    Args:
        prefix: The prefix of its models' names; empty for an endpoint by its address.
        address: The base of its API; empty if only an option or a variable can state it.
        address_variable: The environment variable of another address; empty if there is none.
        key_variable: The environment variable of the key.
        differs: What differs from the OpenAI protocol; a phrase for the documentation.
        needs_key: Whether a request without a key is pointless.
        versioned: Whether `/v1` is appended to an address that does not end with it.
        renamed: The names of model options at the provider, by their names in the protocol.
        fields: Fields of each chat request that are sent unless a model option states them.
        headers: Headers of each request, with the environment variables of their values; without one they are not sent.
        model_path: What precedes a model's name that has no slash.
    """

    prefix: str
    address: str
    address_variable: str
    key_variable: str
    differs: str = ""
    needs_key: bool = True
    versioned: bool = False
    renamed: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, Json] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    model_path: str = ""

    def address_for(self, settings: Mapping[str, Json]) -> str:
        """Return the base of the API: that of the settings, of the variable, or the provider's; "" if unknown."""
        stated = next((str(settings[name]) for name in ADDRESS_OPTIONS if settings.get(name)), "")
        base = (stated or _variable(self.address_variable) or self.address).strip().rstrip("/")
        return f"{base}/v1" if self.versioned and base and not base.endswith("/v1") else base

    def key(self) -> str:
        """Return the key that the environment states; "" if there is none."""
        return _variable(self.key_variable)

    def sent_headers(self) -> dict[str, str]:
        """Return the headers whose variables are set."""
        return {name: value for name, variable in self.headers.items() if (value := _variable(variable))}

    def sent_name(self, model: str) -> str:
        """Return the name of a model as a request states it."""
        return model if "/" in model else f"{self.model_path}{model}"


_LISTED = (
    Provider(
        "openai",
        "https://api.openai.com/v1",
        "OPENAI_BASE_URL",
        "OPENAI_API_KEY",
        "reasoning models take `max_completion_tokens` in place of `max_tokens`; models that only the Responses API "
        "has need `litellm:openai/…`; the headers `OpenAI-Organization` and `OpenAI-Project` are sent if "
        "`OPENAI_ORG_ID` and `OPENAI_PROJECT_ID` are set",
        headers={"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"},
    ),
    Provider(
        "openrouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_BASE",
        "OPENROUTER_API_KEY",
        "`usage: {include: true}` is sent, and the cost that a reply states is used; the headers `HTTP-Referer` and "
        "`X-Title` are sent if `OR_SITE_URL` and `OR_APP_NAME` are set",
        fields={"usage": {"include": True}},
        headers={"HTTP-Referer": "OR_SITE_URL", "X-Title": "OR_APP_NAME"},
    ),
    Provider("groq", "https://api.groq.com/openai/v1", "GROQ_API_BASE", "GROQ_API_KEY"),
    Provider("together_ai", "https://api.together.ai/v1", "TOGETHER_API_BASE", "TOGETHER_API_KEY"),
    Provider(
        "deepseek",
        "https://api.deepseek.com",
        "DEEPSEEK_API_BASE",
        "DEEPSEEK_API_KEY",
        "cached input is read from `prompt_cache_hit_tokens`",
    ),
    Provider(
        "mistral",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_BASE",
        "MISTRAL_API_KEY",
        "`seed` is sent as `random_seed`, `max_completion_tokens` as `max_tokens`; reasoning, which comes in blocks of "
        "the content, is not sent back",
        renamed={"seed": "random_seed", "max_completion_tokens": "max_tokens"},
    ),
    Provider(
        "fireworks_ai",
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_BASE",
        "FIREWORKS_API_KEY",
        "a name without a slash becomes `accounts/fireworks/models/NAME`",
        model_path="accounts/fireworks/models/",
    ),
    Provider(
        "hosted_vllm",
        "",
        "HOSTED_VLLM_API_BASE",
        "HOSTED_VLLM_API_KEY",
        "the address has no default; without a key, no `Authorization` is sent",
        needs_key=False,
    ),
    Provider(
        "ollama",
        "http://localhost:11434/v1",
        "OLLAMA_API_BASE",
        "OLLAMA_API_KEY",
        "`/v1` is appended to an address without it; without a key, no `Authorization` is sent",
        needs_key=False,
        versioned=True,
    ),
)
PROVIDERS: Mapping[str, Provider] = {provider.prefix: provider for provider in _LISTED}


def find_provider(name: str) -> tuple[Provider, str] | None:
    """Return the provider of a model and the model's name there; None if the name has no prefix of the table."""
    prefix, slash, model = name.strip().partition("/")
    provider = PROVIDERS.get(prefix) if slash and model.strip() else None
    return None if provider is None else (provider, model.strip())


def _variable(name: str) -> str:
    """Return the value of an environment variable without white space around it; "" if it is not set."""
    return os.environ.get(name, "").strip()
