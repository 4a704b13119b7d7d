"""The YAML parser: texts stay texts, positions are kept, hostile documents are refused."""

from __future__ import annotations

import pytest

from pytest_taskgraph.errors import ReadError
from pytest_taskgraph.positioned_json import Node
from pytest_taskgraph.positioned_yaml import MAX_DEPTH, MAX_NODES, documents
from pytest_taskgraph.source import Source


def plain(node: Node) -> object:
    """Return the value of a node without positions."""
    if isinstance(node.value, list):
        return [plain(each) for each in node.value]
    return {key: plain(each) for key, each in node.value.items()} if isinstance(node.value, dict) else node.value


def read(text: str) -> list[object]:
    return [plain(document) for document in documents(Source(text, "ci.yml"))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on: push\nversion: 1.10\nok: yes\nage: 0o7\n", {"on": "push", "version": "1.10", "ok": "yes", "age": "0o7"}),
        ("a:\nb: null\nc: ~\nd: 'null'\ne: ''\n", {"a": None, "b": None, "c": None, "d": "null", "e": ""}),
        ("a: {b: [c, 'd: e']}\nf: |\n  g\n  h\n", {"a": {"b": ["c", "d: e"]}, "f": "g\nh\n"}),
        ("a: &x [1, {b: c}]\nd: *x\n", {"a": ["1", {"b": "c"}], "d": ["1", {"b": "c"}]}),
        ("a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n", {"a": {"b": "1", "c": "2"}, "d": {"b": "1", "c": "3"}}),
        ("x: &x {b: 1}\ny: &y {b: 2, c: 3}\nd: {<<: [*x, *y]}\n", {"b": "1", "c": "3"}),
        ("!!map {a: !!str 1}\n", {"a": "1"}),
    ],
)
def test_yaml_values_stay_texts(text: str, expected: object) -> None:
    (document,) = read(text)
    assert (document["d"] if isinstance(document, dict) and "<<: [" in text else document) == expected


def test_yaml_of_several_documents_skips_empty_ones() -> None:
    assert read("---\na: b\n---\n# nothing\n---\n- c\n") == [{"a": "b"}, ["c"]]
    assert read("") == []


def test_yaml_keeps_positions() -> None:
    text = "jobs:\n  build: é\n  test: &t [x]\n  pack: *t\n"
    (document,) = documents(Source(text))
    assert isinstance(document.value, dict)
    jobs = document.value["jobs"]
    assert isinstance(jobs.value, dict)
    assert {key: text[offset:].split(":")[0] for key, offset in jobs.keys.items()} == {
        "build": "build",
        "test": "test",
        "pack": "pack",
    }
    assert text[jobs.value["build"].start :].startswith("é")
    assert text[jobs.value["pack"].start :].startswith("*t")


DEEP = f"at most {MAX_DEPTH} lists and mappings inside one another"
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a:\n\t- b", "ci.yml:2:1: found invalid YAML: while scanning"),
        ("a: b: c", "ci.yml:1:5: found invalid YAML: mapping values are not allowed"),
        ("a: 'b", "found invalid YAML: while scanning a quoted scalar"),
        ("a: 1\nb: 2\na: 3\n", "ci.yml:3:1: found the key 'a' a second time, expected each key once"),
        ("? [a]\n: b", "ci.yml:1:3: found a list as a key, expected a text as a key"),
        ("a: *b", "ci.yml:1:4: found the alias *b"),
        ("a: &a [*a]", "ci.yml:1:8: found the alias *a"),
        ("a: !!python/object:os.system x", "ci.yml:1:4: found the tag 'tag:yaml.org,2002:python/object:os.system'"),
        ("a: !Ref x", "ci.yml:1:4: found the tag '!Ref'"),
        ("a: {<<: b}", "ci.yml:1:9: found \"b\", expected a mapping, or a list of mappings, behind '<<'"),
        ("a: \x01", "ci.yml:1:4: found a character that YAML does not allow"),
        ("a: \ud800", "ci.yml:1:4: found a character that YAML does not allow"),
        ("".join(f"{' ' * i}a:\n" for i in range(200)), f"expected {DEEP}"),
        ("[" * 10_000, "ci.yml:1:"),
        (BOMB, f"found more than {MAX_NODES:,} values"),
        ("- a\n" * (MAX_NODES + 1), f"found more than {MAX_NODES:,} values"),
    ],
)
def test_yaml_invalid_or_hostile_refused_with_place(text: str, message: str) -> None:
    with pytest.raises(ReadError) as caught:
        read(text)
    assert message in str(caught.value)
