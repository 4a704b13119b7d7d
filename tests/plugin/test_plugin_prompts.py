from __future__ import annotations

import pytest
from loopback import Loopback
from plugin_project import Project, asking, block, right

PROMPT = """{# answer: whole #}
Look at this {{ notation }}:
{{ fence }}
{{ workflow }}
{{ fence }}
{{ question }} {{ instruction }}
"""


def bare(prompt: str) -> str:
    return right(prompt).removeprefix("Final answer: ")


@pytest.mark.parametrize("name", ["direct", "answer-first", "chain-of-thought"])
def test_prompts_parse_answer_at_requested_place(project: Project, server: Loopback, name: str) -> None:
    replies = {
        "direct": bare,
        "answer-first": lambda prompt: f"{bare(prompt)}\nbecause nothing else would do",
        "chain-of-thought": lambda prompt: f"Nothing else would do.\n{right(prompt)}",
    }
    server.answer = replies[name]
    ran = project.run(*asking(server.url), f"--taskgraph-prompt={name}", "-v")
    assert (ran.code, ran.counts) == (0, {"passed": 4})
    assert ("-direct]" in ran.output, "-answer-first]" in ran.output) == (name == "direct", name == "answer-first")


def test_prompt_may_be_file(project: Project, server: Loopback) -> None:
    path = project.write("plain.jinja", PROMPT)
    server.answer = bare
    ran = project.run(*asking(server.url), "--taskgraph-prompt", path, "-v")
    assert (ran.code, ran.counts) == (0, {"passed": 4})
    assert "test_graph[parallel_pair-wadl-n012-s0-000-plain] PASSED" in ran.output
    assert all(request.prompt.startswith("Look at this ") for request in server.requests)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            PROMPT.split("\n", 1)[1],
            "plain.jinja:1: a prompt template begins with a line that says where the answer stands",
        ),
        (PROMPT.replace("whole", "somewhere"), "plain.jinja:1: a prompt template begins with a line"),
        (PROMPT.replace("{{ question }}", "{{ question"), "plain.jinja:6: "),
    ],
)
def test_prompt_that_is_none_is_usage_error(project: Project, text: str, message: str) -> None:
    path = project.write("plain.jinja", text)
    ran = project.run("--taskgraph-prompt", path)
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert message in ran.output
    assert ran.clean


def test_prompt_that_uses_unknown_name_asks_nothing_and_tells_known_ones(project: Project, server: Loopback) -> None:
    path = project.write("plain.jinja", PROMPT.replace("{{ instruction }}", "{{ hint }}"))
    ran = project.run(*asking(server.url), "--taskgraph-prompt", path)
    assert ran.code != 0
    assert (
        "prompt plain: 'hint' is undefined; the template sees: examples, fence, guide, in_notation, instruction, "
        in ran.output
    )
    assert ran.clean
    assert server.requests == []


def test_strictly_only_exact_form_is_read(project: Project, server: Loopback) -> None:
    server.answer = lambda prompt: f"**{right(prompt)}**"
    args = [*asking(server.url), "-k", "parallel_pair"]
    assert project.run(*args).counts["passed"] == 2
    strict = project.run(*args, "--taskgraph-parsing=strict", "-v")
    assert strict.counts["failed"] == 2
    assert "parsing strict" in strict.output


@pytest.mark.parametrize("which", ["first", "second"])
def test_phrasing_option_selects_single_phrasing(project: Project, server: Loopback, which: str) -> None:
    server.answer = right
    project.run(*asking(server.url), f"--taskgraph-phrasing={which}", "-k", "parallel_pair")
    phrasings = {"first": "can tasks '", "second": "Is there a run of workflow"}
    assert [phrasings[which] in request.prompt for request in server.requests] == [True, True]


def test_both_phrasings_are_asked_in_turn(project: Project, server: Loopback) -> None:
    server.answer = right
    project.run(*asking(server.url), "--taskgraph-instances=4", "-k", "parallel_pair", "--taskgraph-concurrency=1")
    assert ["Is there a run of workflow" in request.prompt for request in server.requests] == [False, False, True, True]


@pytest.mark.parametrize(("mark", "code"), [("0.05", 0), ("0.9", 1)])
def test_pass_threshold_decides_how_right_is_right(project: Project, server: Loopback, mark: str, code: int) -> None:
    server.answer = f"Final answer: {block()[0]}"
    ran = project.run(
        *asking(server.url), f"--taskgraph-pass-threshold={mark}", "-k", "parallel_block-wadl-n012-s0-000"
    )
    assert ran.code == code


def test_reply_that_cannot_be_read_fails_at_any_pass_threshold(project: Project, server: Loopback) -> None:
    server.answer = "Final answer: perhaps"
    ran = project.run(*asking(server.url), "--taskgraph-pass-threshold=0", "-k", "parallel_pair")
    assert ran.counts["failed"] == 2


def test_examples_and_system_prompt_is_reported_to_model(project: Project, server: Loopback) -> None:
    server.answer = lambda prompt: right(prompt)
    ran = project.run(
        *asking(server.url), "--taskgraph-prompt=guided", "--taskgraph-shots=1", "-k", "parallel_pair", "-v"
    )
    assert "test_graph[parallel_pair-wadl-n012-s0-000-guided-k1]" in ran.output
    assert len(server.requests) == 2
    assert all("Here are questions about other workflows" in request.prompt for request in server.requests)


def test_folder_of_templates_stands_in_for_ours(project: Project, server: Loopback) -> None:
    project.write("words/chain_of_thought.jinja", PROMPT)
    project.write("words/patterns/parallel_pair.jinja", "May '{{ a }}' run beside '{{ b }}' in {{ place }}?")
    server.answer = "yes"
    project.run(*asking(server.url), "--taskgraph-templates=words", "-k", "parallel_pair")
    assert all(request.prompt.startswith("Look at this ") for request in server.requests)
    assert [" run beside '" in request.prompt for request in server.requests] == [True, True]


def test_folder_of_templates_that_is_not_there_is_usage_error(project: Project) -> None:
    ran = project.run("--taskgraph-templates=wrods")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "wrods: no such folder; --taskgraph-templates takes a folder of templates NAME.jinja" in ran.output
    assert ran.clean


@pytest.mark.parametrize("name", ["workflow", "question"])
def test_prompt_without_placeholder_is_usage_error(project: Project, server: Loopback, name: str) -> None:
    path = project.write("plain.jinja", PROMPT.replace(f"{{{{ {name} }}}}", f"{{# {{{{ {name} }}}} #}}"))
    ran = project.run(*asking(server.url), "--taskgraph-prompt", path)
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert f"prompt plain does not show the {name}; expected {{{{ {name} }}}} in the template" in ran.output
    assert ran.clean
    assert server.requests == []


def test_prompt_without_question_beside_examples_is_usage_error(project: Project) -> None:
    text = PROMPT.replace("{{ question }}", "{% if not examples %}{{ question }}{% endif %}")
    ran = project.run("--taskgraph-prompt", project.write("plain.jinja", text))
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "prompt plain does not show the question in prompts with examples" in ran.output


def test_prompt_with_filtered_placeholders_is_used(project: Project) -> None:
    text = PROMPT.replace("{{ question }}", "{{ question | upper }}").replace("workflow }}", "workflow | indent(2) }}")
    assert project.run("--model=simulated:1", "--taskgraph-prompt", project.write("plain.jinja", text)).code == 0


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("few-shot.jinja", "unknown prompt (file few-shot.jinja) 'few-shot'"),
        ("fewshot.jinja", "unknown prompt (file fewshot.jinja) 'fewshot'"),
        ("judges.jinja", "unknown prompt (file judges.jinja) 'judges'"),
        ("pattern/parallel_pair.jinja", "unknown folder in own 'pattern'"),
        ("patterns/paralel_pair.jinja", "unknown pattern (file patterns/paralel_pair.jinja) 'paralel_pair'"),
        ("parallel_pair.jinja", "parallel_pair.jinja: the phrasings of a pattern are read from"),
    ],
)
def test_templates_misspelled_name_is_usage_error(project: Project, file: str, message: str) -> None:
    project.write(f"own/{file}", PROMPT)
    ran = project.run("--taskgraph-templates=own")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert message in ran.output
    assert ran.clean


def test_templates_prompt_beside_others_is_used(project: Project) -> None:
    project.write("own/mine.jinja", PROMPT)
    project.write("own/thinking.jinja", PROMPT)
    assert project.run("--model=simulated:1", "--taskgraph-templates=own", "--taskgraph-prompt=mine").code == 0


def test_templates_judge_without_answer_is_usage_error(project: Project) -> None:
    project.write("own/judge.jinja", "How good is it? {{ question }} {{ reference }}")
    ran = project.run("--taskgraph-templates=own")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "judge.jinja: the template does not show {{ answer }} to the judge" in ran.output


GRID = ("--taskgraph-prompt=direct", "--taskgraph-prompt=chain-of-thought")


@pytest.mark.parametrize("workers", [0, 2], ids=["one process", "two workers"])
def test_prompts_and_models_form_grid(project: Project, workers: int) -> None:
    models = ("--model=simulated:1", "--model=simulated:0")
    gate = "--taskgraph-gate=prompt=direct>=0"
    options = (*GRID, *models, gate, "--taskgraph-report=json=r.json")
    ran = (project.spread if workers else project.run)(*options)
    assert ran.code == 0, ran.output
    record = project.record("r.json")
    assert record["prompts"] == ["direct", "chain-of-thought"]
    questions = [
        (trial["question"]["id"], trial["question"]["labels"]["prompt"], trial["model"]) for trial in record["trials"]
    ]
    assert len(set(questions)) == len(questions) == 2 * 2 * 4
    assert {name.endswith("-direct") == (prompt == "direct") for name, prompt, _ in questions} == {True}
    gates = [gate["outcome"] for gate in record["gates"] if "prompt=direct" in gate["name"]]
    assert set(gates) == {"passed"}


def test_header_names_each_prompt(project: Project) -> None:
    ran = project.run(*GRID, "--model=simulated:1", "-v")
    assert "prompts direct, chain-of-thought" in ran.output


def test_prompts_of_one_name_are_usage_error(project: Project) -> None:
    paths = [project.write(f"{folder}/ask.jinja", PROMPT) for folder in ("a", "b")]
    ran = project.run(*(f"--taskgraph-prompt={path}" for path in paths))
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "have the same name; rename one of them" in ran.output


def test_family_without_prompts_is_asked_once_for_several(project: Project) -> None:
    project.write(
        "conftest.py",
        "from pytest_taskgraph.benchmarks.family import Family, QuestionReference\n"
        "from pytest_taskgraph.trial import Question\n"
        "class Sums(Family):\n"
        "    name = 'sums'\n"
        "    def references(self, settings, options):\n"
        "        return [QuestionReference('one-and-one', 'plus')]\n"
        "    def question(self, reference, settings):\n"
        "        return Question(reference.id, 'sums', 'plus', '', '1+1?', '1+1?', 'number', 2, 'correctness')\n"
        "sums = Sums()\n"
        "def pytest_taskgraph_register(registry):\n"
        "    registry.family(sums)\n",
    )
    project.write(
        "test_graph.py",
        "from conftest import sums\nfrom pytest_taskgraph import suite\n"
        "@suite(sums)\ndef test_sums(trial):\n    trial.check()\n",
    )
    ran = project.run(*GRID, "--model=simulated:1", "-v")
    assert ran.counts["passed"] == 1, ran.output
