"""Provider errors: any exception of a provider's client becomes a ProviderError that says why there is no reply.

litellm wraps an exception two or three times, and invents a status where none arrived: a closed port, a missing key and
a reply that is not JSON are all its "InternalServerError 500". So the whole chain of causes is examined. Classes are
recognised by their names, so that litellm, openai, httpx and aiohttp need not be imported here.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

from ...errors import CannotScoreError, NoLogprobsError, NotAskedError, ProviderError, ProviderErrorKind, UnsentError
from ...redaction import hide, scrub
from ...trial import Reply, Request
from .transport import describe_body

LONGEST = 300  # characters of a message
_READ = 20_000  # characters looked at; some messages hold the whole request
_DEEPEST = 20  # causes followed

_POLICY, _WINDOW = ("ContentPolicyViolationError",), ("ContextWindowExceededError",)
_FILTERED = (
    *("content_filter", "content management policy", "content_policy_violation", "responsibleaipolicyviolation"),
    *("violating our usage policy", "rejected as a result of our safety system", "rejected as a result of the safety"),
)
_TOO_LONG = (
    *("context_length_exceeded", "maximum context length", "prompt is too long", "exceed_context_size"),
    *("exceed context limit", "maximum context limit", "longer than the model's context length"),
    *("exceeds the available context size", "exceeds the maximum number of tokens", "exceed the configured limit"),
)
_LONG = (400, 413, 422, 500)  # llama.cpp had 500
_SLOW = re.compile(
    r"rate[ _-]?limit|service tier capacity exceeded"
)  # some providers say this with a status other than 429
_NO_KEY = re.compile(
    r"missing credentials|missing [\w ]{0,40}api[ _]key|api_key client option|unable to locate credentials"
)
_NO_PROVIDER = "llm provider not provided"  # litellm, of a name it cannot place
_NO_REPLY = (
    *("empty or invalid response", "invalid response object", "provider returned 'choices'", "with no 'choices'"),
    "integer string conversion: value has",  # json, of a number with more digits than Python reads
)
_TOO_LARGE, _UNREADABLE = ("ReplyTooLargeError",), ("UnreadableReplyError",)  # of our own transport
_BROKEN = ("ContentEncodingError", "can not decode content-encoding")  # class of aiohttp, or all that is left of it
_NETWORK = ("ConnectionError", "TransportError", "ClientError", "gaierror", "InvalidURL", "SSLError")
_TIMEOUT = ("TimeoutError", "Timeout", "APITimeoutError", "TimeoutException")
_WITH_STATUS = {"ClientResponseError", "HTTPError"}  # of aiohttp and urllib, which hold the status themselves
_NO_JSON = (
    "JSONDecodeError",
    "APIResponseValidationError",
    "ValidationError",
    "UnicodeDecodeError",
    "RecursionError",
    "OverflowError",
)
_MISREAD = ("KeyError", "IndexError", "AttributeError", "TypeError")  # a reply of another shape broke its parser
_MISTAKES = (  # exceptions of Python that the same call raises again
    *(TypeError, LookupError, AttributeError, NameError, ImportError, ArithmeticError, AssertionError, RecursionError),
    *(NotImplementedError, SyntaxError),
)
_REFUSED = ("BadRequestError", "UnprocessableEntityError", "ImportError", "UnicodeEncodeError", "ValueError")

_TOOLS = r"\b(?:tools?|functions?)(?:\b|[ _-]?(?:use|call|choice))"
_LACKING = r"not support|n't support|unsupported|not enabled|not available|not allowed|no endpoints found|requires? -"
_NO_TOOLS = re.compile(rf"(?:{_TOOLS}).{{0,80}}(?:{_LACKING})|(?:{_LACKING}).{{0,80}}(?:{_TOOLS})", re.IGNORECASE)

_SCORES = r"\becho\b|log_?probs?\b|log[- ]probabilit|v1/completions|\btext[ _-]?completions?\b"
_NO_SCORES = re.compile(
    rf"(?:{_SCORES}).{{0,80}}(?:{_LACKING})|(?:{_LACKING}).{{0,80}}(?:{_SCORES})|only no echo|max allowed: 0",
    re.IGNORECASE,
)
_NO_PATH = re.compile(r"(?:HTTP status (?:405|501)\b|method not allowed|not implemented)", re.IGNORECASE)

_WRAPPING = re.compile(
    r"(?:(?:litellm\.)?[A-Za-z_]*(?:Error|Exception|Timeout)(?: Error| APIError| Invalid Authentication)?(?: -|:) )+"
)
_BARE = re.compile(r"Error code: \d{3}$")  # openai's message of a response whose body it could not read
_OF_PYTHON = re.compile(r" ?(?:ssl:)?<[\w.]+ object at 0x[0-9a-f]+>|; use sys\.\w+\(\) to increase the limit")


@dataclass(frozen=True, slots=True)
class _Evidence:
    names: frozenset[str]  # classes in the chain of causes, with their bases; of litellm's wrappers see `_names`
    status: int | None  # the HTTP status that arrived, if one did
    text: str  # all messages, in lower case
    unpaid: bool  # one of litellm's wrappers has the status 402, which litellm never invents

    def has(self, names: tuple[str, ...]) -> bool:
        return not self.names.isdisjoint(names)

    def says(self, phrases: tuple[str, ...]) -> bool:
        return any(phrase in self.text for phrase in phrases)

    def refused(self, *statuses: int | None) -> bool:
        return self.status in statuses


def _lacks_key_or_provider(evidence: _Evidence) -> bool:
    """Return True if the client had no key, or litellm no provider for the name, so that nothing was sent."""
    return evidence.status is None and (bool(_NO_KEY.search(evidence.text)) or _NO_PROVIDER in evidence.text)


_RULES: tuple[tuple[ProviderErrorKind, Callable[[_Evidence], bool]], ...] = (
    ("too-large", lambda e: e.has(_TOO_LARGE)),
    ("malformed", lambda e: e.has((*_UNREADABLE, *_BROKEN)) or e.says(_BROKEN)),
    ("content-filter", lambda e: e.refused(None, 400, 403) and e.has(_POLICY)),
    ("content-filter", lambda e: e.refused(400, 403) and e.says(_FILTERED)),
    ("context-too-long", lambda e: e.refused(None, *_LONG) and e.has(_WINDOW)),
    ("context-too-long", lambda e: e.refused(*_LONG) and e.says(_TOO_LONG)),
    ("rate-limit", lambda e: e.refused(403, 500, 503) and bool(_SLOW.search(e.text))),
    ("payment", lambda e: e.refused(402) or (e.status is None and e.unpaid)),
    ("authentication", lambda e: e.has(("AuthenticationError", "PermissionDeniedError")) or e.refused(401, 403)),
    ("authentication", lambda e: e.status is None and bool(_NO_KEY.search(e.text))),
    ("not-found", lambda e: e.has(("NotFoundError", "RedirectionError")) or e.refused(404)),
    ("not-found", lambda e: e.refused(400) and "model_not_found" in e.text),
    ("not-found", lambda e: _NO_PROVIDER in e.text),
    ("rate-limit", lambda e: e.has(("RateLimitError",)) or e.refused(429)),
    ("timeout", lambda e: e.has(_TIMEOUT) or e.refused(408, 504, 524)),
    ("server", lambda e: e.status is not None and e.status >= 500),
    ("bad-request", lambda e: e.status is not None),
    ("connection", lambda e: e.has(_NETWORK)),
    ("malformed", lambda e: e.has(_NO_JSON) or e.says(_NO_REPLY)),
    ("bad-request", lambda e: e.has(_REFUSED)),
    ("malformed", lambda e: e.has(_MISREAD)),
    ("connection", lambda e: e.has(("APIConnectionError",))),
    ("server", lambda e: e.has(("InternalServerError", "ServiceUnavailableError", "BadGatewayError", "APIError"))),
)


def provider_error(exception: BaseException, settings: Mapping[str, Any]) -> ProviderError:
    """Return the ProviderError for an exception: its kind, and the provider's message on one line without keys.

    A ProviderError is returned unchanged. An unknown exception counts as a bad request, which is not retried.

    Args:
        exception: The exception of a client.
        settings: Those of the call; values that look like keys by their names are kept out of the message.
    """
    if isinstance(exception, ProviderError):
        return exception
    chain = list(_causes(exception))
    evidence = _evidence(chain, _status)
    kind = _kind(evidence)
    error_type = UnsentError if _lacks_key_or_provider(evidence) else ProviderError
    return error_type(kind, _one_line(_words(chain, kind), settings), _retry_after(chain))


def failure(
    exception: BaseException, name: str, request: Request, settings: Mapping[str, Any]
) -> ProviderError | NotAskedError:
    """Return the error that a model raises: the ProviderError, or NotAskedError if it does not accept such requests.

    Args:
        exception: The exception of a client.
        name: The name of the model.
        request: The request.
        settings: Those of the call; values that look like keys by their names are kept out of the message.
    """
    if isinstance(exception, NoLogprobsError):
        return NoLogprobsError(f"the model {name} cannot score texts: {exception}")
    error = provider_error(exception, settings)
    words = error.message
    if request.tools and refuses_tools(error):
        return NotAskedError(f"the model {name} cannot call tools: {words}")
    if request.kind == "score" and refuses_scores(error, path=not request.messages):
        return CannotScoreError(f"the model {name} cannot score texts: {words}")
    return error


def application_error(exception: BaseException, settings: Mapping[str, Any], frames: Sequence[str]) -> ProviderError:
    """Return the ProviderError for an exception of the user's own application: class, message, place and last frames.

    The kind is that of a provider's failure that the application met and did not handle: an HTTP status, a lost
    connection, a time limit. A mistake in the code is of the kind bad-request, which is not retried. Any other
    exception is of the kind server, which is: applications that call models fail at random as well.

    Args:
        exception: The exception.
        settings: The model options; values that look like keys by their names are kept out of the message.
        frames: The innermost frames of the user's code, the innermost last, a line each that begins with its place.
    """
    try:
        chain = list(_causes(exception)) or [exception]
        evidence = _evidence(chain, _status_of_application)
        kind = exception.kind if isinstance(exception, ProviderError) else _kind(evidence)
        if kind in ("bad-request", "not-found", "malformed") and not any(map(_status_of_application, chain)):
            kind = "bad-request" if isinstance(exception, _MISTAKES) else "server"
        message = exception.message if isinstance(exception, ProviderError) else str(exception)
        words, wait = _one_line(message, settings), _retry_after(chain)
    except Exception:  # the exception cannot be printed
        kind, words, wait = "server", "", None
    if isinstance(exception, ProviderError):
        return ProviderError(kind, words, exception.retry_after)
    name = scrub(type(exception).__name__)
    lines = [f"{name}: {words}" if words else name, *(f"  {_one_line(frame, settings)}" for frame in frames)]
    return ProviderError(kind, "\n".join(lines), wait)


class RefusalError(Exception):
    """A response whose status is an error; its attribute `response` is that of httpx's exceptions."""

    def __init__(self, words: str, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(words)
        self.response = _Response(status, headers)


class RedirectionError(RefusalError):
    """A response that redirects. It is not followed: prompt and keys are for the host that the user named."""


@dataclass(frozen=True, slots=True)
class _Response:
    status_code: int
    headers: Mapping[str, str]


def refusal(status: int, body: bytes, headers: Mapping[str, str]) -> RefusalError:
    """Return the exception for the body of an error: its message is the provider's, its cause the whole body."""
    text = body.decode(errors="replace")
    try:
        words = _message_in(json.loads(body))
    except (ValueError, RecursionError):
        words = "" if headers.get("Content-Type", "").startswith("text/html") else text.strip()
    described = f"HTTP status {status}, {describe_body(headers.get('Content-Type', ''), body)}"
    return _refusal(words or described, status, headers, text)


def refusal_within(response: Any) -> RefusalError | None:  # noqa: ANN401 - any JSON value
    """Return the exception for an error in place of a reply, under a status of success; None if there is no error.

    The error's code is taken for the status if it is one; another code, such as OpenRouter's, reports an upstream
    failure.
    """
    error = response.get("error") if isinstance(response, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    if error in (None, "") or (isinstance(error, dict) and not error.get("message") and code is None):
        return None
    words = _message_in(response) or "an error in place of a reply"
    status = code if isinstance(code, int) and 400 <= code < 600 else 500
    if not isinstance(error, dict) or "code" not in error:
        status = 429 if _SLOW.search(words.lower()) else 422
    return _refusal(words, status, {}, "")


def _refusal(words: str, status: int, headers: Mapping[str, str], further: str) -> RefusalError:
    refused = RefusalError(words, status, headers)
    refused.__cause__ = Exception(further)
    return refused


def _message_in(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Return the message in an error's JSON as OpenAI, FastAPI, Anthropic and Ollama write it; "" if there is none."""
    error = value.get("error", value) if isinstance(value, dict) else None
    words = next((error[k] for k in ("message", "detail") if error.get(k)), "") if isinstance(error, dict) else error
    return words if isinstance(words, str) else json.dumps(words) if words else ""


def failure_in(reply: Reply) -> ProviderError | None:
    """Return the error that a reply represents: withheld by a content filter, in part or whole, or empty; else None.

    A reply that calls tools, embeds or scores texts is not empty; nor is one that was cut off before its text began,
    as its finish reason shows.
    """
    if reply.finish_reason == "content_filter":
        return ProviderError("content-filter", "the provider's content filter withheld the reply, or part of it")
    if reply.finish_reason == "error":  # of an application; clients raise it themselves
        return ProviderError("server", "the provider failed while it replied")
    if reply.text.strip() or reply.tool_calls or reply.embeddings or reply.logprobs or reply.cut_off:
        return None
    reasoned = bool(reply.reasoning or reply.tokens_reasoning)
    return ProviderError("empty", f"the reply holds {'reasoning, and no answer' if reasoned else 'no text'}")


def refuses_tools(error: ProviderError) -> bool:
    """Return True if the failure of a request with tools says that the model or its server accepts no tools.

    Recognised by the messages of providers, which have no code for it: Ollama "does not support tools", vLLM "tool
    choice requires --enable-auto-tool-choice", OpenRouter "No endpoints found that support tool use".
    """
    return error.kind in ("bad-request", "not-found", "server") and bool(_NO_TOOLS.search(str(error)))


def refuses_scores(error: ProviderError, path: bool) -> bool:
    """Return True if the failure of a score request says that the endpoint scores no texts.

    Recognised by the messages of providers: OpenAI "This is a chat model and not supported in the v1/completions
    endpoint" and "You are not allowed to request logprobs from this model", llama.cpp "Only no echo is supported". If
    `path` is true, a missing path counts as well: a 404 that does not mention a model.
    """
    words = error.message
    if path and ((error.kind == "not-found" and "model" not in words.lower()) or _NO_PATH.match(words)):
        return True
    return error.kind in ("bad-request", "not-found", "server", "authentication") and bool(_NO_SCORES.search(words))


def _causes(exception: BaseException) -> Iterator[BaseException]:
    """Yield the exception and its causes, outermost first, up to the ProviderError of an earlier request."""
    cause: BaseException | None = exception
    for _ in range(_DEEPEST):
        if cause is None or isinstance(cause, ProviderError):
            return
        yield cause
        cause = cause.__cause__ or cause.__context__


def _wraps(exception: BaseException) -> bool:
    return type(exception).__module__.startswith("litellm")


def _evidence(chain: list[BaseException], status_of: Callable[[BaseException], int | None]) -> _Evidence:
    text = "\n".join(f"{str(e)[:_READ]}\n{_body(e)[:_READ]}" for e in chain).lower()
    status = next(filter(None, map(status_of, chain)), None)
    unpaid = any(getattr(e, "status_code", None) == 402 for e in chain)
    return _Evidence(_names(chain, status), status, text, unpaid)


def _kind(evidence: _Evidence) -> ProviderErrorKind:
    return next((kind for kind, holds in _RULES if holds(evidence)), "bad-request")


def _names(chain: list[BaseException], status: int | None) -> frozenset[str]:
    """Return the names of the classes of the chain with their bases; of litellm's wrappers without their bases.

    A status that arrived overrides litellm's interpretation of the message, which may quote the prompt; litellm's
    classes then count only for what no status expresses.
    """
    own = {c.__name__ for e in chain if not _wraps(e) for c in type(e).__mro__}
    wrapping = {type(e).__name__ for e in chain if _wraps(e)}
    return frozenset(own | (wrapping if status is None else wrapping & {*_POLICY, *_WINDOW}))


def _status(exception: BaseException) -> int | None:
    """Return the HTTP status that arrived; None for litellm's wrappers, which invent one."""
    status = getattr(getattr(exception, "response", None), "status_code", None)
    return status if isinstance(status, int) and not _wraps(exception) else None


def _status_of_application(exception: BaseException) -> int | None:
    """Return the HTTP status that arrived, also of exceptions of aiohttp and urllib, which hold it themselves."""
    status = _status(exception)
    if status is None and exception.__cause__ is None:  # with a cause, aiohttp invents a status for what is not HTTP
        held = not _WITH_STATUS.isdisjoint(c.__name__ for c in type(exception).__mro__)
        status = getattr(exception, "status", None) if held else None
    return status if isinstance(status, int) else None


def _retry_after(chain: list[BaseException]) -> float | None:
    """Return the seconds after which to retry, if the headers of a response state them."""
    response_headers = (getattr(getattr(e, "response", None), "headers", None) for e in chain)
    litellm_headers = (
        getattr(e, "litellm_response_headers", None) for e in chain
    )  # litellm keeps them if the response is lost
    lower_headers = (
        {str(k).lower(): str(v) for k, v in h.items()}
        for h in (*response_headers, *litellm_headers)
        if isinstance(h, Mapping)
    )
    return next((seconds for h in lower_headers if (seconds := retry_after(h)) is not None), None)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds, 0 or more, that Retry-After (a number or an HTTP date, RFC 9110) or retry-after-ms states.

    A date is relative to that of the response, if it has one, since clocks differ. None if there is no such header, or
    its value is malformed.

    Args:
        headers: The headers, with names in lower case.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
        if isfinite(seconds):
            return max(0.0, seconds)
    until, now = _date(headers.get("retry-after", "")), _date(headers.get("date", ""))
    return None if until is None else max(0.0, until - (time.time() if now is None else now))


def _date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _words(chain: list[BaseException], kind: ProviderErrorKind) -> str:
    """Return the message: litellm's outermost one, or of a lost connection the first that names the host.

    An error of our own transport has its own message.
    """
    if own := next((e for e in chain if type(e).__name__ in (*_TOO_LARGE, *_UNREADABLE)), None):
        return str(own)
    if any(name in f"{type(e).__name__} {str(e).lower()}" for e in chain for name in _BROKEN):
        return "the reply cannot be decompressed"
    if half := next(filter(None, map(_half_headers, chain)), ""):
        return half
    chosen = (
        chain if kind != "connection" else [e for e in chain if not _wraps(e) and type(e).__module__[:6] != "openai"]
    )
    said = next((str(e) for e in [*chosen, *chain] if str(e).strip()), type(chain[0]).__name__)
    body = next(filter(None, map(_body, chain)), "") if _BARE.search(said) else ""
    return f"{said}: {body}" if body else said


def _body(exception: BaseException) -> str:
    """Return the body of the response as openai's exceptions hold it, which leave it out of their message; or ""."""
    body = getattr(exception, "body", None)
    return body if isinstance(body, str) else "" if body is None else repr(body)


def _half_headers(exception: BaseException) -> str:
    """Return the message of a connection that ended within the headers of a reply, which aiohttp keeps; else ""."""
    received = getattr(exception, "message", None)
    fields = getattr(received, "raw_headers", None)
    if not isinstance(fields, tuple):
        return ""
    start = b", ".join(b": ".join(field) for field in fields)
    kind = getattr(received, "headers", {}).get("Content-Type", "")
    return f"the connection ended within the headers of the reply: {describe_body(kind, start)}"


def _unwrap(words: str) -> str:
    wrapping = _WRAPPING.match(words)
    return words[wrapping.end() :] if wrapping else words


def _one_line(words: str, settings: Mapping[str, Any]) -> str:
    # Cut only after secrets are hidden: the start of a secret at the cut would remain visible.
    words = hide(_unwrap(words[: 10 * _READ]), settings)[:_READ].partition("Traceback (most recent call last)")[0]
    line = " ".join(scrub(_OF_PYTHON.sub("", words)).split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
