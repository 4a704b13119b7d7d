from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import ProviderError
from pytest_taskgraph.models.clients.provider_errors import LONGEST, application_error, provider_error


def exception_named(name: str, message: str = "said", *bases: type[Exception]) -> Exception:
    """An exception of a class that is known by its name only."""
    kind: type[Exception] = type(name, bases or (Exception,), {})
    return kind(message)


@pytest.mark.parametrize(
    ("exception", "kind"),
    [
        (TimeoutError(), "timeout"),
        (exception_named("ReadTimeout", "late", type("TimeoutException", (Exception,), {})), "timeout"),
        (ConnectionRefusedError(111, "refused"), "connection"),
        (exception_named("RemoteProtocolError", "gone", type("TransportError", (Exception,), {})), "connection"),
        (exception_named("APIConnectionError"), "connection"),
        (json.JSONDecodeError("Expecting value", "", 0), "malformed"),
        (KeyError("choices"), "malformed"),
        (exception_named("RateLimitError"), "rate-limit"),
        (exception_named("NotFoundError"), "not-found"),
        (
            exception_named("BadRequestError", "LLM Provider NOT provided. Pass in the LLM provider you call"),
            "not-found",
        ),
        (exception_named("AuthenticationError"), "authentication"),
        (exception_named("PermissionDeniedError"), "authentication"),
        (
            exception_named("ContentPolicyViolationError", "no", type("BadRequestError", (Exception,), {})),
            "content-filter",
        ),
        (
            exception_named("ContextWindowExceededError", "no", type("BadRequestError", (Exception,), {})),
            "context-too-long",
        ),
        (exception_named("InternalServerError"), "server"),
        (exception_named("ServiceUnavailableError"), "server"),
        (exception_named("BadRequestError"), "bad-request"),
        (ModuleNotFoundError("No module named 'google'"), "bad-request"),
        (ValueError("Missing Gemini API key. Set GEMINI_API_KEY"), "authentication"),
        (exception_named("Unheard", "of"), "bad-request"),
    ],
)
def test_provider_error_kind_follows_class_names(exception: Exception, kind: str) -> None:
    assert provider_error(exception, {}).kind == kind


def test_provider_error_without_message_names_class() -> None:
    assert str(provider_error(TimeoutError(), {})) == "timeout: TimeoutError"


def test_provider_error_of_provider_error_is_itself() -> None:
    error = ProviderError("malformed", "the reply holds no choices")
    assert provider_error(error, {}) is error


def test_provider_error_ignores_cause_of_earlier_request() -> None:
    caught: list[Exception] = []
    try:
        try:
            raise provider_error(exception_named("RateLimitError"), {}) from exception_named("RateLimitError")
        except ProviderError:
            raise ValueError("odd") from None
    except ValueError as error:
        caught.append(error)
    assert provider_error(caught[0], {}).kind == "bad-request"


def test_provider_error_with_circular_causes_ends() -> None:
    first, second = ValueError("one"), ValueError("other")
    first.__cause__, second.__cause__ = second, first
    assert str(provider_error(first, {})) == "bad-request: one"


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("litellm.RateLimitError: RateLimitError: OpenAIException - slow down", "slow down"),
        ("litellm.Timeout: Timeout Error: OpenAIException - late", "late"),
        ("litellm.APIError: AzureException APIError - no key", "no key"),
        ("litellm.BadRequestError: OpenAIException - Error: bad: worse", "bad: worse"),
        ("Invalid response Traceback (most recent call last):\n  File x", "Invalid response"),
        (
            "Cannot connect to host h:1 ssl:<ssl.SSLContext object at 0x7f9> [refused]",
            "Cannot connect to host h:1 [refused]",
        ),
        ("two\r\n\tlines \x1b[1m", "two lines \ufffd[1m"),
    ],
)
def test_provider_error_message_is_that_of_provider(message: str, words: str) -> None:
    assert str(provider_error(exception_named("Unheard", message), {})) == f"bad-request: {words}"


@given(st.text(st.characters(), max_size=400))
def test_provider_error_message_is_one_short_line(words: str) -> None:
    line = str(provider_error(exception_named("Unheard", words), {})).removeprefix("bad-request: ")
    assert len(line) <= LONGEST
    assert "\n" not in line
    line.encode()


@pytest.mark.parametrize("word", ["Error", "<a", "://a:", "Error: ", "missing api "])
def test_provider_error_with_huge_message_is_fast(word: str) -> None:
    start = time.process_time()
    provider_error(exception_named("Unheard", word * 200_000), {"api_key": "abcdefgh"})
    assert time.process_time() - start < 5


def with_status(name: str, status: int, cause: Exception | None = None) -> Exception:
    """An exception as aiohttp and urllib raise it, with the status that arrived."""
    exception = exception_named(name)
    exception.status = status  # type: ignore[attr-defined]
    exception.__cause__ = cause
    return exception


@pytest.mark.parametrize(
    ("exception", "kind"),
    [
        (with_status("ClientResponseError", 401), "authentication"),
        (with_status("HTTPError", 429), "rate-limit"),
        (with_status("HTTPError", 404), "not-found"),
        (with_status("ClientResponseError", 400, exception_named("BadHttpMessage")), "server"),
        (exception_named("NotFoundError"), "server"),
        (exception_named("BadRequestError"), "server"),
        (KeyError("plan"), "bad-request"),
        (TypeError("no call"), "bad-request"),
        (RuntimeError("at random"), "server"),
        (json.JSONDecodeError("no JSON", "", 0), "server"),
        (TimeoutError(), "timeout"),
        (exception_named("APIConnectionError"), "connection"),
        (ProviderError("payment", "empty purse"), "payment"),
    ],
)
def test_application_error_has_kind_of_its_cause(exception: Exception, kind: str) -> None:
    failed = application_error(exception, {}, [])
    assert failed.kind == kind
    assert str(failed).count(kind) == 1
