"""Why there is no reply: any exception of a provider's client, as a ProviderError.

litellm wraps what happened two or three times, and makes up a status where none arrived: a closed port, a missing key
and a reply that is no JSON are all its "InternalServerError 500". So the whole chain of causes is read. Classes are
told by their names, so that litellm, openai, httpx and aiohttp need not be imported here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ProviderError, ProviderErrorKind
from .scrub import hide_keys, scrub

LONGEST = 300  # characters of a message
_READ = 20_000  # characters looked at; some messages hold the whole request
_DEEPEST = 20  # causes followed

_POLICY, _WINDOW = ("ContentPolicyViolationError",), ("ContextWindowExceededError",)
_FILTERED = ("content_filter", "content management policy", "content_policy_violation", "responsibleaipolicyviolation")
_TOO_LONG = ("context_length_exceeded", "maximum context length", "prompt is too long", "exceed_context_size")
_NO_KEY = re.compile(
    r"missing credentials|missing [\w ]{0,40}api[ _]key|api_key client option|unable to locate credentials"
)
_NO_REPLY = ("empty or invalid response", "invalid response object", "provider returned 'choices'")
_NETWORK = ("ConnectionError", "TransportError", "ClientError", "gaierror", "InvalidURL", "SSLError")
_TIMEOUT = ("TimeoutError", "Timeout", "APITimeoutError", "TimeoutException")
_NO_JSON = ("JSONDecodeError", "APIResponseValidationError", "ValidationError", "UnicodeDecodeError")
_MISREAD = ("KeyError", "IndexError", "AttributeError", "TypeError")  # a reply of another shape broke its reader
_REFUSED = ("BadRequestError", "UnprocessableEntityError", "ImportError", "UnicodeEncodeError", "ValueError")

_TOOLS = r"\b(?:tools?|functions?)(?:\b|[ _-]?(?:use|call|choice))"
_LACKING = r"not support|n't support|unsupported|not enabled|not available|not allowed|no endpoints found|requires? -"
_NO_TOOLS = re.compile(rf"(?:{_TOOLS}).{{0,80}}(?:{_LACKING})|(?:{_LACKING}).{{0,80}}(?:{_TOOLS})", re.IGNORECASE)

_WRAPPING = re.compile(
    r"(?:(?:litellm\.)?[A-Za-z_]*(?:Error|Exception|Timeout)(?: Error| APIError| Invalid Authentication)?(?: -|:) )+"
)
_ADDRESS = re.compile(r" ?(?:ssl:)?<[\w.]+ object at 0x[0-9a-f]+>")


@dataclass(frozen=True, slots=True)
class _Evidence:
    names: frozenset[str]  # classes in the chain of causes, with their bases; of litellm's wrappers no bases
    status: int | None  # the HTTP status that arrived, if one did
    text: str  # all messages, in lower case

    def has(self, names: tuple[str, ...]) -> bool:
        return not self.names.isdisjoint(names)

    def says(self, phrases: tuple[str, ...]) -> bool:
        return any(phrase in self.text for phrase in phrases)

    def refused(self, *statuses: int) -> bool:
        return self.status in statuses


_RULES: tuple[tuple[ProviderErrorKind, Callable[[_Evidence], bool]], ...] = (
    ("content-filter", lambda e: e.has(_POLICY) or (e.refused(400, 403) and e.says(_FILTERED))),
    ("context-too-long", lambda e: e.has(_WINDOW) or (e.refused(400, 413) and e.says(_TOO_LONG))),
    ("authentication", lambda e: e.has(("AuthenticationError", "PermissionDeniedError")) or e.refused(401, 403)),
    ("authentication", lambda e: e.status is None and bool(_NO_KEY.search(e.text))),
    ("not-found", lambda e: e.has(("NotFoundError",)) or e.refused(404)),
    ("rate-limit", lambda e: e.has(("RateLimitError",)) or e.refused(429)),
    ("timeout", lambda e: e.has(_TIMEOUT) or e.refused(408, 504)),
    ("server", lambda e: e.status is not None and e.status >= 500),
    ("bad-request", lambda e: e.status is not None and e.status >= 400),
    ("connection", lambda e: e.has(_NETWORK)),
    ("malformed", lambda e: e.has(_NO_JSON) or e.says(_NO_REPLY)),
    ("bad-request", lambda e: e.has(_REFUSED)),
    ("malformed", lambda e: e.has(_MISREAD)),
    ("connection", lambda e: e.has(("APIConnectionError",))),
    ("server", lambda e: e.has(("InternalServerError", "ServiceUnavailableError", "BadGatewayError", "APIError"))),
)


def provider_error(exception: BaseException, settings: Mapping[str, Any]) -> ProviderError:
    """The ProviderError that tells of the exception: its kind, and the provider's words on one line without keys.

    `settings` are those of the call; the values that look like keys by their names are kept out of the message. A
    ProviderError comes back as it is. What is not known at all counts as a bad request, which nobody repeats.
    """
    if isinstance(exception, ProviderError):
        return exception
    chain = list(_causes(exception))
    kind = _kind(chain)
    return ProviderError(kind, _one_line(_words(chain, kind), settings))


def refuses_tools(error: ProviderError) -> bool:
    """Whether the failure of a request with tools says that the model, or its server as it runs, takes no tools.

    Told by the words of providers, which have no code for it: Ollama "does not support tools", vLLM "tool choice
    requires --enable-auto-tool-choice", OpenRouter "No endpoints found that support tool use".
    """
    return error.kind in ("bad-request", "not-found", "server") and bool(_NO_TOOLS.search(str(error)))


def _causes(exception: BaseException) -> Iterator[BaseException]:
    """The exception and its causes, outermost first; what an earlier request failed of is no cause of this one."""
    one: BaseException | None = exception
    for _ in range(_DEEPEST):
        if one is None or isinstance(one, ProviderError):
            return
        yield one
        one = one.__cause__ or one.__context__


def _wraps(exception: BaseException) -> bool:
    return type(exception).__module__.startswith("litellm")


def _kind(chain: list[BaseException]) -> ProviderErrorKind:
    names = {c.__name__ for e in chain for c in (type(e).__mro__ if not _wraps(e) else type(e).__mro__[:1])}
    text = "\n".join(str(e)[:_READ] for e in chain).lower()
    evidence = _Evidence(frozenset(names), next(filter(None, map(_status, chain)), None), text)
    return next((kind for kind, holds in _RULES if holds(evidence)), "bad-request")


def _status(exception: BaseException) -> int | None:
    """The HTTP status that arrived; None for litellm's wrappers, which make one up."""
    status = getattr(getattr(exception, "response", None), "status_code", None)
    return status if isinstance(status, int) and not _wraps(exception) else None


def _words(chain: list[BaseException], kind: ProviderErrorKind) -> str:
    """What was said: litellm's outermost message; of a lost connection the first that names the host."""
    told = chain if kind != "connection" else [e for e in chain if not _wraps(e) and type(e).__module__[:6] != "openai"]
    return next((str(e) for e in [*told, *chain] if str(e).strip()), type(chain[0]).__name__)


def _unwrapped(words: str) -> str:
    wrapping = _WRAPPING.match(words)
    return words[wrapping.end() :] if wrapping else words


def _one_line(words: str, settings: Mapping[str, Any]) -> str:
    words = words[:_READ].partition("Traceback (most recent call last)")[0]
    words = hide_keys(_ADDRESS.sub("", _unwrapped(words)), settings)
    line = " ".join(scrub(words).split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
