from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.models.scrub import hide_keys, scrub

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
def test_what_no_file_can_bear_becomes_the_replacement_character(arrived: str, kept: str) -> None:
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


@pytest.mark.parametrize("text", ["word " * 200_000, "\x00\r" * 500_000, "\ud800é" * 500_000])
def test_a_megabyte_takes_less_than_a_second(text: str) -> None:
    start = time.process_time()
    scrub(text)
    assert time.process_time() - start < 5


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
def test_what_looks_like_a_key_is_hidden(key: str) -> None:
    assert hide_keys(f"provided: {key}, sorry", {}) == "provided: [key], sorry"


def test_keys_in_addresses_are_hidden() -> None:
    assert (
        hide_keys("GET https://user:pass-word@host/v1?a=1&key=abc&b=2", {})
        == "GET https://[key]@host/v1?a=1&key=[key]&b=2"
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
def test_the_values_of_settings_with_a_secret_name_are_hidden(
    settings: dict[str, object], text: str, hidden: str
) -> None:
    assert hide_keys(text, settings) == hidden


def test_keys_of_the_environment_are_hidden_but_its_short_words_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_API_KEY", "acme-0123")
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    assert hide_keys("acme-0123 is false", {}) == "[key] is false"


@given(ANY_TEXT, st.text(st.characters(categories=("Lu", "Nd")), min_size=8), ANY_TEXT)
def test_no_long_key_survives_wherever_it_stands(before: str, key: str, after: str) -> None:
    assert key not in hide_keys(before + key + after, {"api_key": key})
