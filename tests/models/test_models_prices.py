from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import bounded_process
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.models import prices
from pytest_taskgraph.models.prices import (
    A_MESSAGE,
    ASSUMED_OUT,
    ASSUMED_OUT_REASONING,
    EXPECTED_OUT_REASONING,
    Price,
    ReplyLength,
    estimate_tokens,
    expected_cost,
    longest_reply,
    price_of,
    token_cost,
    worst_cost,
)
from pytest_taskgraph.trial import Request

LIST: dict[str, dict[str, Any]] = {
    "sample_spec": {"litellm_provider": "one of", "input_cost_per_token": 1.0, "output_cost_per_token": 1.0},
    "plain": {
        "litellm_provider": "openai",
        "mode": "chat",
        "input_cost_per_token": 1e-6,
        "output_cost_per_token": 4e-6,
        "max_output_tokens": 1000,
    },
    "long": {
        "litellm_provider": "gemini",
        "mode": "chat",
        "input_cost_per_token": 1e-6,
        "output_cost_per_token": 4e-6,
        "cache_creation_input_token_cost": 2e-6,
        "input_cost_per_token_above_2k_tokens": 3e-6,
        "output_cost_per_token_above_2k_tokens": 6e-6,
        "max_output_tokens": 10,
    },
    "tiers": {
        "litellm_provider": "dashscope",
        "mode": "chat",
        "tiered_pricing": [
            {"range": [1000.0, 9e9], "input_cost_per_token": 3e-6, "output_cost_per_token": 5e-6},
            {
                "range": [0, 1000.0],
                "input_cost_per_token": 1e-6,
                "output_cost_per_token": 2e-6,
                "output_cost_per_reasoning_token": 8e-6,
            },
        ],
    },
    "embeds": {"litellm_provider": "mistral", "mode": "embedding", "input_cost_per_token": 1e-6},
    "free": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 0, "output_cost_per_token": 0},
    "strange": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": "1", "output_cost_per_token": -1},
    "web-search": {
        "litellm_provider": "openai",
        "mode": "chat",
        "input_cost_per_token": 1e-6,
        "output_cost_per_token": 1e-6,
        "search_context_cost_per_query": {"search_context_size_low": 0.01},
    },
}


@pytest.fixture
def price_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prices, "_price_list", lambda: LIST)


def request(text: str, **settings: Any) -> Request:  # noqa: ANN401
    return Request([{"role": "user", "content": text}], settings=settings)


@pytest.mark.usefixtures("price_list")
class TestPriceOf:
    def test_price_of_listed_model_is_that_of_list(self) -> None:
        price = price_of("plain")
        assert price is not None
        assert (price.input, price.output, price.most_out, price.stated) == (1e-6, 4e-6, 1000, False)

    @pytest.mark.parametrize(("name", "is_known"), [("openai/plain", True), ("groq/plain", False), ("PLAIN", True)])
    def test_price_of_prefixed_name_needs_own_provider(self, name: str, is_known: bool) -> None:
        entries = prices._price_list()
        assert "plain" in entries
        assert (price_of(name) is not None) is is_known

    @pytest.mark.parametrize("name", ["free", "strange", "web-search", "no-such-model", "http://host/v1#plain"])
    def test_price_of_unlisted_model_is_none(self, name: str) -> None:
        assert price_of(name) is None

    def test_price_of_stated_prices_is_last_that_fits(self) -> None:
        stated = ["1/2", "plain=3/4", "other=5/6", "7/8", "plain=0.5 / 1e1"]
        assert price_of("plain", stated) == Price(0.5e-6, 10e-6, 1000, stated=True)
        assert price_of("third", stated) == Price(7e-6, 8e-6, stated=True)

    def test_price_of_address_may_be_stated(self) -> None:
        assert price_of("http://host/v1?a=b#name", ["http://host/v1?a=b#name=0/0"]) == Price(0.0, 0.0, stated=True)

    @pytest.mark.parametrize(
        "text", ["", "1", "1/", "-1/2", "nan/1", "1/inf", "1e999/1", "=1/2", "m=", "$1/$2", "1/2/3"]
    )
    def test_price_of_malformed_statement_is_usage_error(self, text: str) -> None:
        with pytest.raises(UsageError, match=r"--taskgraph-price: found .*expected \[MODEL=\]IN/OUT"):
            price_of("plain", ["plain=1/2", text])

    def test_price_of_embeddings_needs_no_output_price(self) -> None:
        assert token_cost(price_of("embeds"), 1000, 0) == pytest.approx(1e-3)

    @pytest.mark.parametrize(
        ("name", "tokens", "cost"), [("long", 2000, 2.4e-3), ("long", 2001, 6.603e-3), ("tiers", 1001, 3.503e-3)]
    )
    def test_price_of_long_prompts_is_higher(self, name: str, tokens: int, cost: float) -> None:
        assert token_cost(price_of(name), tokens, 100) == pytest.approx(cost)

    def test_price_of_reasoning_applies_to_its_tokens(self) -> None:
        price = price_of("tiers")
        assert token_cost(price, 1000, 100, 60) == pytest.approx(1e-3 + 40 * 2e-6 + 60 * 8e-6)
        assert token_cost(price, 1000, 100, None) == token_cost(price, 1000, 100, 0) == pytest.approx(1.2e-3)
        assert token_cost(price, 1001, 100, 60) == token_cost(price, 1001, 100)
        assert token_cost(price_of("tiers", ["1/2"]), 0, 100, 60) == pytest.approx(2e-4)


def test_cost_of_unknown_price_or_tokens_is_none() -> None:
    price = Price(1.0, 1.0)
    assert (token_cost(None, 1, 1), token_cost(price, None, 1), token_cost(price, 1, None)) == (None, None, None)
    assert token_cost(Price(0.0, 0.0), 5, 5) == 0.0


@pytest.mark.parametrize("content", [None, "[]", "{", '{"plain": 3}'])
def test_price_list_missing_or_changed_gives_none(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class FoundPackage:
        submodule_search_locations = (str(tmp_path),)

    if content is not None:
        (tmp_path / prices.LIST).write_text(content, encoding="utf-8")
    monkeypatch.setattr(prices, "find_spec", lambda _: FoundPackage)
    monkeypatch.setattr(prices, "_price_list", prices._price_list.__wrapped__)
    assert price_of("plain") is None


def test_price_list_is_read_without_importing_litellm() -> None:
    code = (
        "import sys; from pytest_taskgraph.models.prices import price_of; "
        "assert price_of('openai/gpt-4o-mini').most_out > 0; assert 'litellm' not in sys.modules"
    )
    done = bounded_process.run([sys.executable, "-W", "error", "-c", code], cwd=Path(__file__).parents[2])
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.filterwarnings("ignore")  # litellm's own
def test_price_of_sampled_models_equals_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over a part of its list, and the same names with and without the prefix of their provider."""
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    litellm = pytest.importorskip("litellm")
    monkeypatch.setattr(litellm, "suppress_debug_info", True)
    compared = 0
    for name in sorted(prices._price_list())[::29]:
        entry = prices._price_list()[name]
        # The clock decides the price of some; litellm leaves out that long prompts are dearer where Perplexity sells.
        if "off_peak_pricing" in entry or entry.get("litellm_provider") == "perplexity":
            continue
        for alias in {name, f"{entry.get('litellm_provider')}/{name}"}:
            compared += sum(_compare(litellm, alias, tokens) for tokens in (1000, 300_000))
    assert compared > 100


def _compare(litellm: Any, name: str, tokens: int) -> bool:  # noqa: ANN401
    """Whether both know the price; they must then agree."""
    price = price_of(name)
    if price is None:
        return False
    try:
        expected = sum(litellm.cost_per_token(model=name, prompt_tokens=tokens, completion_tokens=100))
    except Exception:  # litellm asks for a provider that the name does not tell
        return False
    assert token_cost(price, tokens, 100) == pytest.approx(expected), name
    return True


@pytest.mark.filterwarnings("ignore")
def test_cost_of_reply_equals_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    litellm = pytest.importorskip("litellm")
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    for name in ("gpt-4o-mini", "openai/gpt-4o-mini", "azure/gpt-4o-mini"):
        reply = litellm.ModelResponse(model=name, usage=usage)
        assert token_cost(price_of(name), 1000, 100) == pytest.approx(litellm.completion_cost(reply, model=name))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("bread", 1), ("Preheat ovens", 2), ("vegetables", 2), ("12:30", 3), ("a_b -> c;\n\n", 7), ("月é", 2)],
)
def test_estimate_tokens_takes_seven_letters_two_digits_or_two_signs_for_a_token(text: str, tokens: int) -> None:
    assert estimate_tokens(request(text)) == tokens + A_MESSAGE


def test_estimate_tokens_counts_each_message_and_each_text() -> None:
    both = [{"role": "system", "content": "bread"}, {"role": "user", "content": "12"}]
    assert estimate_tokens(Request(both)) == 2 + 2 * A_MESSAGE
    assert estimate_tokens(Request(kind="embed", texts=["bread", "rice"])) == 2 + 2 * A_MESSAGE
    assert estimate_tokens(Request(kind="score", context="Bake", texts=[" bread", " rice"])) == 4 + 2 * A_MESSAGE
    assert estimate_tokens(Request(both[:1], kind="score", texts=["Yes", "No"])) == 1 + A_MESSAGE


def test_estimate_tokens_counts_tools() -> None:
    tool: dict[str, Any] = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    bare, armed = request("abcd"), Request(request("abcd").messages, tools=[tool])
    more = json.dumps([tool])
    assert estimate_tokens(armed) == estimate_tokens(bare) + estimate_tokens(request(more)) - A_MESSAGE
    price = Price(1.0, 0.0)
    assert worst_cost(armed, price, {}) == (worst_cost(bare, price, {}) or 0) + len(more) + 1000
    assert worst_cost(bare, price, {"tools": [tool]}) == worst_cost(armed, price, {})


@given(st.lists(st.text(), max_size=4), st.integers(0, 50))
def test_bound_tokens_is_above_any_tokenizer(texts: list[str], out: int) -> None:
    price = Price(1.0, 2.0, most_out=50)
    request = Request([{"role": "user", "content": text} for text in texts])
    worst = worst_cost(request, price, {})
    by_bytes = sum(len(text.encode()) for text in texts)  # a tokenizer that knows bytes alone
    assert worst is not None
    assert worst >= by_bytes + 2 * out
    assert worst >= (expected_cost(request, price, {}) or 0)


@pytest.mark.parametrize(
    ("settings", "of_request", "longest"),
    [
        ({}, {}, ReplyLength(1000, "model")),
        ({"max_tokens": 20}, {}, ReplyLength(20, "setting")),
        ({"max_tokens": 20}, {"max_tokens": 30}, ReplyLength(30, "setting")),
        ({"max_completion_tokens": 40}, {"max_tokens": 30}, ReplyLength(30, "setting")),
        ({"max_completion_tokens": 40, "max_tokens": 50}, {}, ReplyLength(50, "setting")),
        ({"max_tokens": -1}, {}, ReplyLength(1000, "model")),
        ({"max_tokens": True}, {}, ReplyLength(1000, "model")),
        ({"max_tokens": 20, "n": 3}, {}, ReplyLength(60, "setting")),
        ({"n": 3}, {}, ReplyLength(3000, "model")),
    ],
)
def test_longest_reply_follows_settings_list_and_assumption(
    settings: dict[str, Any], of_request: dict[str, Any], longest: ReplyLength
) -> None:
    assert longest_reply(request("", **of_request), Price(1.0, 1.0, most_out=1000), settings) == longest


@pytest.mark.parametrize(
    ("name", "settings", "reasons"),
    [
        ("any", {}, False),
        ("any", {"reasoning_effort": "low"}, True),
        ("any", {"thinking": {"type": "enabled", "budget_tokens": 1024}}, True),
        ("any", {"reasoning": {"max_tokens": 1024}}, True),
        ("openai/o3", {"reasoning": {"effort": "none"}}, False),
        ("openai/o3", {"reasoning": {"enabled": False}}, False),
        ("http://host/v1#deepseek-r1-distill", {}, True),
        ("http://host/v1#qwen3-thinking", {}, True),
        ("openai/o3-mini", {}, True),
        ("openai/o3-mini", {"reasoning_effort": "none"}, False),
        ("my-gpt-4o3", {}, False),
        ("http://r1/v1#any", {}, False),
    ],
)
def test_longest_reply_of_reasoning_model_is_longer(name: str, settings: dict[str, Any], reasons: bool) -> None:
    price = price_of(name, [f"{name}=0/1000000"])
    assert price is not None
    free_of_list = Price(price.input, price.output, reasons=price.reasons)
    most = ASSUMED_OUT_REASONING if reasons else ASSUMED_OUT
    assert longest_reply(request("a"), free_of_list, settings) == ReplyLength(most, "assumed")
    assert expected_cost(request("a"), free_of_list, settings) == (EXPECTED_OUT_REASONING if reasons else 250)


@pytest.mark.parametrize(
    ("name", "reasons"), [("o3", True), ("gpt-4o-mini", False), ("anthropic.claude-opus-4-1-20250805-v1:0", False)]
)
def test_reasons_of_listed_model_needs_default_reasoning(name: str, reasons: bool) -> None:
    price = price_of(name)
    assert price is not None
    assert price.reasons is reasons


def test_worst_cost_of_unbounded_reply_uses_assumption() -> None:
    assert worst_cost(request("a"), Price(1.0, 1.0), {}) == 17 + ASSUMED_OUT
    assert worst_cost(request("a"), Price(1.0, 0.0), {}) == 17
    assert worst_cost(request("a"), None, {"max_tokens": 1}) is None
    assert worst_cost(Request(kind="embed", texts=["ab"]), Price(1.0, 1.0), {}) == 18


def test_worst_cost_of_score_request_counts_context_per_text() -> None:
    scored = Request(kind="score", context="abcd", texts=["ab", "cd"])
    assert worst_cost(scored, Price(1.0, 0.0), {"max_tokens": 700}) == 2 * (6 + 16)
    assert worst_cost(scored, Price(0.0, 1.0), {"max_tokens": 700}) == 2


@pytest.mark.usefixtures("price_list")
def test_worst_cost_counts_cache_reasoning_and_long_prompts() -> None:
    assert worst_cost(request("a" * 84), price_of("long"), {}) == pytest.approx(100 * 2e-6 + 10 * 4e-6)
    assert worst_cost(request("a" * 1984), price_of("long"), {}) == pytest.approx(2000 * 3e-6 + 10 * 6e-6)
    assert worst_cost(request("a" * 84), price_of("tiers"), {"max_tokens": 5}) == pytest.approx(100e-6 + 5 * 8e-6)


def test_expected_cost_is_bounded_by_longest_reply() -> None:
    price = Price(0.0, 1.0)
    assert expected_cost(request("a"), price, {}) == 250
    assert expected_cost(request("a"), price, {"max_tokens": 8}) == 8
    assert expected_cost(request("a"), price, {}, expected_out=300) == 300
    assert expected_cost(request("a"), None, {}) is None
