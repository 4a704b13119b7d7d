from __future__ import annotations

import json
import logging
import unicodedata
from base64 import b64encode
from collections.abc import Iterator, Mapping
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.redaction import RedactingFilter, hide, is_secret, public_name, redact, register, scrub, variables

ANY_TEXT = st.text(st.characters())  # lone surrogates and control characters included


@pytest.mark.parametrize(
    ("arrived", "kept"),
    [
        ("Final answer: ja, müßte\n\t– 数 😀", "Final answer: ja, müßte\n\t– 数 😀"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("\x1b[31mred\x07", "\ufffd[31mred\ufffd"),
        ("\x00\x7f\x85\x9f\xa0", "\ufffd\ufffd\ufffd\ufffd\xa0"),
        ("high \ud83d low \ude00", "high \ufffd low \ufffd"),
    ],
)
def test_scrub_invalid_characters_become_replacement(arrived: str, kept: str) -> None:
    assert scrub(arrived) == kept


@given(ANY_TEXT)
def test_scrubbed_text_holds_nothing_but_what_utf_8_and_xml_can_bear(text: str) -> None:
    scrubbed = scrub(text)
    assert not [c for c in scrubbed if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cs")]
    assert scrubbed.encode().decode() == scrubbed
    assert scrub(scrubbed) == scrubbed


@given(st.text(st.characters(exclude_categories=("Cc", "Cs"))))
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert scrub(text) == text


@pytest.mark.parametrize(
    "key",
    [
        "sk-abc123DEF456",
        "sk-proj-a_b-c0123456789",
        "sk-abcd**********wxyz",
        "Bearer abc.def/ghi=",
        "AIzaSyA0123456789abcdefghij",
        "AKIAABCDEFGHIJKLMNOP",
        "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl",
        "gsk_0123456789",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----",
    ],
)
def test_hide_likely_keys_are_masked(key: str) -> None:
    assert hide(f"provided: {key}, sorry", {}) == "provided: [key], sorry"


@pytest.mark.parametrize(
    "key", [f"gh{kind}_{'a1' * 18}" for kind in "pousr"] + [f"A{kind}IA{'X1' * 8}" for kind in "KS"]
)
def test_redact_certain_keys_only_at_word_starts(key: str) -> None:
    assert redact(f"({key}), {key}.") == "([key]), [key]."
    assert redact(f"through{key} SPECIA high") == f"through{key} SPECIA high"


def test_keys_in_addresses_are_hidden() -> None:
    assert (
        hide("GET https://user:pass-word@host/v1?a=1&key=abc&b=2", {}) == "GET https://[key]@host/v1?a=1&key=[key]&b=2"
    )


@pytest.mark.parametrize(
    ("settings", "text", "hidden"),
    [
        ({"api_key": "plain-old-key"}, "wrong: plain-old-key.", "wrong: [key]."),
        ({"api_key": "test"}, "test failed, latest", "[key] failed, latest"),
        ({"api_key": 12345678}, "no 12345678", "no [key]"),
        ({"extra_headers": {"Authorization": "open sesame"}}, "open sesame?", "[key]?"),
        ({"vertex_credentials": {"id": ["private-part"]}}, "private-part", "[key]"),
        ({"aws_secret_access_key": "abcd/efgh+ij", "api_key": "abcd/efgh"}, "abcd/efgh+ij", "[key]"),
        ({"max_tokens": 4096, "api_base": "http://host"}, "4096 at http://host", "4096 at http://host"),
        ({"api_key": None, "auth": True, "token": ""}, "None, True", "None, True"),
    ],
)
def test_values_of_settings_with_secret_name_are_hidden(settings: dict[str, object], text: str, hidden: str) -> None:
    assert hide(text, settings) == hidden


def test_keys_of_environment_are_hidden_but_short_words_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_API_KEY", "acme-0123")
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    assert hide("acme-0123 is false", {}) == "[key] is false"


@given(ANY_TEXT, st.text(st.characters(categories=("Lu", "Nd")), min_size=8), ANY_TEXT)
def test_hide_long_keys_are_masked_everywhere(before: str, key: str, after: str) -> None:
    assert key not in hide(before + key + after, {"api_key": key})


SLASHED = "pass/word+1 2%-x"


def test_hide_slash_in_password_of_address_leaves_none_of_it() -> None:
    assert hide("at http://me:pa/ss@host:80/v1#m failed", {}) == "at http://[key]@host:80/v1#m failed"
    assert hide("at http://host:8080/a@b failed", {}) == "at http://host:8080/a@b failed"


@pytest.mark.parametrize(
    ("name", "public"),
    [
        ("openai/gpt-4o", "openai/gpt-4o"),
        ("http://host:8000/v1#@cf/meta/llama", "http://host:8000/v1#@cf/meta/llama"),
        ("http://host:8000/v1@2#m", "http://host:8000/v1@2#m"),
        ("http://me:secret@host/v1#m", "http://host/v1#m"),
        ("http://me:se/cr@et@host:80/v1#m", "http://host:80/v1#m"),
        ("http://token@host/a@b#m", "http://host/a@b#m"),
        ("http://host/v1?version=1&api_key=secret#m", "http://host/v1?version=1#m"),
        ("openai/sk-abcdefghij0123456789", "openai/[key]"),
    ],
)
def test_public_name_cuts_secrets_of_addresses_only(name: str, public: str) -> None:
    assert public_name(name) == public
    assert public_name(public) == public


@pytest.mark.parametrize(
    "spelled",
    [
        SLASHED,
        quote(SLASHED),
        quote(SLASHED, safe=""),
        quote(SLASHED, safe="").lower(),
        quote_plus(SLASHED),
        json.dumps(SLASHED),
        json.dumps(SLASHED).replace("/", "\\/"),
    ],
)
def test_redact_registered_secret_in_every_spelling(spelled: str) -> None:
    register({"api_key": SLASHED})
    assert "word" not in redact(f"It is {spelled}!")


def test_redact_registered_password_as_basic_authorization() -> None:
    register("http://someone:pass%2Fword-98765@host/v1")
    sent = b64encode(b"someone:pass/word-98765").decode()
    assert redact(f"Basic {sent} for pass/word-98765 or pass%2Fword-98765") == "Basic [key] for [key] or [key]"


@pytest.mark.parametrize("value", ["none", "EMPTY", "lm-studio", "not-needed", "secret"])
def test_register_words_and_placeholders_are_not_cut(value: str) -> None:
    register({"api_key": value})
    assert redact(f"Final answer: {value}") == f"Final answer: {value}"


@pytest.mark.parametrize(
    "text",
    [
        "Final answer: rk_compute_total, pk_column_name",
        "task-123456, risk-management-plan",
        "basic understanding",
        "a:b@c",
    ],
)
def test_redact_leaves_names_that_only_resemble_keys(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("ACME_API_KEY", "acme-key-1", True),
        ("GITHUB_TOKEN", "abcdefghij", True),
        ("DB_PASSWORD", "abcdefghij", True),
        ("SIGNING_KEY", "0123456789ab", True),
        ("SIGNING_KEY", "created_at_date", False),
        ("AUTH_MODE", "production", False),
        ("GIT_AUTHOR_NAME", "Some Person 1", False),
        ("PWD", "/home/someone/1", False),
        ("GOOGLE_APPLICATION_CREDENTIALS", __file__, False),
        ("TOKENIZERS_PARALLELISM", "false", False),
    ],
)
def test_variables_only_values_that_can_be_secrets(name: str, value: str, found: bool) -> None:
    assert list(variables({name: value})) == ([value] if found else [])


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("max_tokens", 200, False),
        ("max_tokens", "200", False),
        ("tokens", "abc", True),
        ("stop_token_ids", [1], False),
        ("skip_special_tokens", False, False),
        ("stop_tokens", ["</s>"], False),
        ("access_token", "abc", True),
        ("Cookie", "abc", True),
        ("temperature", 1, False),
    ],
)
def test_is_secret_tells_tokens_of_text_from_keys(name: str, value: object, secret: bool) -> None:
    assert is_secret(name, value) == secret


def test_redacting_filter_cuts_arguments_and_tracebacks(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("tests.redaction")
    logger.addFilter(RedactingFilter())
    try:
        raise ValueError("not sk-abcdef0123456789")
    except ValueError:
        logger.exception("POST %s", "http://me:hush@host/v1")
    assert "POST http://[key]@host/v1" in caplog.text
    assert "ValueError: not [key]" in caplog.text
    assert "hush" not in caplog.text


class LosingEnvironment(Mapping[str, str]):
    """An environment, as os.environ is one, from which another thread removes a variable after its name was listed."""

    def __init__(self, **known: str) -> None:
        self.known = known

    def __iter__(self) -> Iterator[str]:
        return iter(["PYTEST_CURRENT_TEST", *self.known])

    def __len__(self) -> int:
        return len(self.known)

    def __getitem__(self, name: str) -> str:
        return self.known[name]


def test_variables_environment_that_loses_one_meanwhile_yields_others() -> None:
    assert list(variables(LosingEnvironment(MY_API_KEY="sk-abcdef0123456789"))) == ["sk-abcdef0123456789"]
