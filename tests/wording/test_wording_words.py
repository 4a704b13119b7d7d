"""Every word that a model under test reads stands in tests/wording/words: a change of words shows in review."""

from __future__ import annotations

import pytest
import wording_pages


def _stored() -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in wording_pages.FOLDER.glob("*.txt")}


@pytest.mark.parametrize("name", sorted(wording_pages.pages()))
def test_words_page_matches_code(name: str) -> None:
    current, stored = wording_pages.pages()[name], _stored().get(name, "")
    assert current.split("\n") == stored.split("\n"), f"words/{name} is out of date; run: {wording_pages.COMMAND}"


def test_words_folder_has_only_current_pages() -> None:
    assert _stored().keys() == wording_pages.pages().keys()
