"""What is sent, as Markdown: in full, without what cannot be seen, and different wherever it differs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph import redaction
from pytest_taskgraph.soundness.prompt_snapshots import SnapshotFile, parse_sections
from pytest_taskgraph.soundness.sent_text import escape_hidden, sent_text
from pytest_taskgraph.trial import Request

TEXTS = st.text(st.one_of(st.characters(), st.sampled_from("`\\#\n\r\x1b\u202e> x0"))) | st.text("`\n# a", max_size=30)


def request(*texts: str, **fields: object) -> Request:
    return Request([{"role": "user", "content": text} for text in texts], **fields)  # type: ignore[arg-type]


def test_sent_text_of_messages_shows_each_in_full() -> None:
    sent = Request([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "One\n\ntwo "}])
    assert sent_text([sent]) == "**system**\n\n```text\nBe brief.\n```\n\n**user**\n\n```text\nOne\n\ntwo \n```\n"


def test_sent_text_of_backticks_has_a_longer_fence() -> None:
    assert "\n`````text\na ```` b\n`````\n" in sent_text([request("a ```` b")])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", r"\x1b[31m"),
        ("a\r\nb", "a\\r\nb"),
        ("\u202eabc", r"\u202eabc"),
        ("a\u200bb\xa0c\ufeff", r"a\u200bb\xa0c\ufeff"),
        ("\x00\\n", r"\x00\\n"),
        ("\ud800", r"\ud800"),
        ("\U000e0041", r"\U000e0041"),
        ("grüße ∀ 漢字\t\\d", "grüße ∀ 漢字\t\\d"),
    ],
)
def test_escape_hidden_shows_hidden_characters(text: str, shown: str) -> None:
    assert escape_hidden(text) == shown
    shown.encode("utf-8")


@given(TEXTS, TEXTS)
def test_sent_text_of_different_texts_differs(one: str, other: str) -> None:
    assert (sent_text([request(one)]) == sent_text([request(other)])) == (one == other)


def test_sent_text_of_an_escape_and_of_its_spelling_differ() -> None:
    assert sent_text([request("\x1b")]) != sent_text([request(r"\x1b")])
    assert "text escaped" in sent_text([request("\x1b")])


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_sent_text_of_any_texts_is_read_back_from_a_file(texts: list[str]) -> None:
    sections = {f"q-{number}": sent_text([request(text, text)]) for number, text in enumerate(texts)}
    text = SnapshotFile("test_f", "## group", sections).text()
    assert parse_sections(text, "f.md") == sections
    assert "\r" not in text
    text.encode("utf-8")


def test_sent_text_of_several_requests_numbers_and_counts_them() -> None:
    score = Request(kind="score", context="C", texts=["a", "b"])
    judge = request("Right?", role="judge")
    text = sent_text([request("x"), request("x", repetition=2), score, judge])
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == [
        "### Request 1, sent 2 times",
        "### Request 2, probabilities of texts",
        "### Request 3, to the judge",
    ]
    assert "**context**" in text
    assert "**text 2**\n\n```text\nb\n```" in text


def test_sent_text_of_a_sole_request_to_another_model_names_it() -> None:
    assert sent_text([request("x", role="embedder", kind="embed")]).startswith("### Request 1, to the embedder, embed")


def test_sent_text_of_tools_and_settings_shows_them() -> None:
    text = sent_text([request("x", tools=[{"name": "look", "about": "Ä"}], settings={"max_tokens": 5})])
    assert '"about": "Ä",\n    "name": "look"' in text
    assert '"max_tokens": 5' in text


def test_sent_text_of_a_message_in_parts_shows_them_as_json() -> None:
    text = sent_text([Request([{"role": "user", "content": [{"text": "hi"}], "name": "Ann"}])])
    assert '"text": "hi"' in text
    assert "**user, further**" in text
    assert '"name": "Ann"' in text


def test_sent_text_of_no_request_states_none() -> None:
    assert sent_text([]) == "Nothing is sent.\n"


def test_sent_text_of_a_secret_cuts_it_out() -> None:
    redaction.register({"api_key": "very-secret-value-17"})
    assert "very-secret" not in sent_text([request("the key is very-secret-value-17")])


def test_sent_text_of_replies_for_simulated_models_leaves_them_out() -> None:
    assert "the-answer" not in sent_text([request("x", right="the-answer", wrong="the-answer")])
