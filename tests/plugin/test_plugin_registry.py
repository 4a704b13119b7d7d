"""What a project outside of the repository registers: its own model, prompt, form, metric, notation and report."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import bounded_process
import pytest
from loopback import Loopback
from plugin_project import Project, asking

from pytest_taskgraph import __main__ as command_line
from pytest_taskgraph import catalog
from pytest_taskgraph.catalog import registrations
from pytest_taskgraph.generation import vocabularies
from pytest_taskgraph.notations import notation
from pytest_taskgraph.registry import Registry
from pytest_taskgraph.scoring.metrics import METRICS

HOOK = "def pytest_taskgraph_register(registry):\n"
NO_TRACEBACK = re.compile(r"Traceback|INTERNALERROR|pluggy/|^E  ", re.MULTILINE)
CONFTEST = """
import json
import re
from dataclasses import replace

from pytest_taskgraph import Form
from pytest_taskgraph.errors import UnparseableError
from pytest_taskgraph.notations import notation

PLAIN = notation("json")


def instruct(names):
    return "The answer is a percentage, such as 40%."


def read(text, names, parsing):
    found = re.fullmatch(r"\\s*(\\d{1,3}) ?%\\s*", text)
    if found is None:
        raise UnparseableError(f"expected a percentage, found {text!r}")
    return int(found[1])


def write(answer, names):
    return f"{answer}%"


def compact(workflow):
    return json.dumps(json.loads(PLAIN.render(workflow)), separators=(",", ":"))


def closeness(given, expected):
    return 1 - abs(given - expected) / 100


async def forty(messages):
    assert messages[-1]["content"].startswith("Terse: {")
    return "Final answer: 40%"


def shouted(record, comparison):
    return f"{len(record['trials'])} TRIALS OF {record['models'][0]}"


def pytest_taskgraph_register(registry):
    registry.model("forty", forty, version="1")
    registry.prompt(
        "terse",
        "{# answer: marker #}\\nTerse: {{ workflow }}\\n{{ question }} {{ instruction }} Begin with 'Final answer:'",
    )
    registry.form(Form("percent", instruct, read, write, "closeness", pass_threshold=0.7))
    registry.metric("closeness", closeness)
    registry.notation(
        replace(PLAIN, name="compact-json", title="compact JSON", suffixes=(".cjson",), render=compact)
    )
    registry.report("shouted", shouted)
    registry.report("count", lambda record: str(len(record["trials"])))
"""
SUITE = '''
from pytest_taskgraph import Cases, Workflow, case, pattern, suite, understanding
from pytest_taskgraph.workflow.graph import successors


@pattern("In {{ place }}, which share of the tasks is followed directly by two or more?", form="percent")
def share_of_splits(workflow: Workflow) -> Cases:
    """Check that the model counts what it follows."""
    many = [task for task in workflow.task_names if len(successors(workflow, task)) > 1]
    yield case(round(100 * len(many) / len(workflow.task_names)))


@pattern("In {{ place }}, how many tasks are there?", form="number", metric="closeness")
def number_of_tasks(workflow: Workflow) -> Cases:
    """Check that the model counts."""
    yield case(len(workflow.task_names))


@suite(understanding, patterns=[share_of_splits], instances=4)
def test_share(trial):
    trial.check()
'''
OWN = (
    "--taskgraph-prompt=terse",
    "--taskgraph-notation=compact-json",
    "--taskgraph-report=json=record.json",
    "--taskgraph-report=shouted=shouted.txt",
    "--taskgraph-report=count=count.txt",
    "--taskgraph-gate=share_of_splits.closeness>=0.5",
)
ANSWERING = "--model=forty"


@pytest.fixture
def own(project: Project) -> Iterator[Project]:
    """A project that registers all it needs, and leaves nothing registered."""
    (project.path / "test_graph.py").unlink()
    project.write("conftest.py", CONFTEST)
    project.write("test_share.py", SUITE)
    standing = list(catalog._open)
    yield project
    assert "closeness" not in METRICS
    assert catalog._open == standing


def registering(project: Project, *lines: str, name: str = "conftest.py", head: str = "") -> Path:
    """A file of the project whose hook has these lines."""
    return project.write(name, head + HOOK + "".join(f"    {line}\n" for line in lines))


@pytest.mark.parametrize("spread", [False, True], ids=["one process", "two workers"])
def test_registered_things_work_together(own: Project, spread: bool) -> None:
    ran = (own.spread if spread else own.run)(ANSWERING, *OWN)
    assert (ran.code, ran.counts.get("failed", 0), ran.clean) == (0, 0, True), ran.output
    record = own.record()
    assert [trial["question"]["form"] for trial in record["trials"]] == ["percent"] * 4
    for trial in record["trials"]:
        expected = 1 - abs(40 - trial["question"]["reference"]) / 100
        assert trial["score"]["value"] == pytest.approx(expected)
        assert (trial["score"]["given"], trial["model"], trial["question"]["labels"]["notation"]) == (
            40, "forty", "compact-json"
        )  # fmt: skip
    assert (own.path / "shouted.txt").read_text() == "4 TRIALS OF forty"
    assert (own.path / "count.txt").read_text() == "4"
    assert "passed gates::share_of_splits.closeness: mean closeness" in ran.output


@pytest.mark.parametrize(
    "spread", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["one process", "two workers"]
)
def test_registered_prompt_and_notation_reach_live_model(own: Project, server: Loopback, spread: bool) -> None:
    server.answer = "Final answer: 40%"
    ran = (own.spread if spread else own.run)(*asking(server.url), *OWN)
    assert (ran.code, ran.clean, len(server.requests)) == (0, True, 4), ran.output
    assert all(request.prompt.startswith('Terse: {"') for request in server.requests)


def test_registered_model_with_version_is_asked_once(own: Project) -> None:
    own.run(ANSWERING, *OWN)
    ran = own.run(ANSWERING, *OWN, "--taskgraph-replay")
    assert (ran.code, "not stored" in ran.output) == (0, False), ran.output
    assert "this run sent no request; the store answered 4 requests" in ran.output
    other = own.run(ANSWERING, *OWN, "--taskgraph-replay", "--taskgraph-model-option", "version=2")
    assert "no reply: not-stored" in other.output


@pytest.mark.parametrize(
    ("application", "message"),
    [
        ("lambda prompt: 'Final answer: yes'", ""),
        ("Desk()", ""),
        ("Object()", ""),
        ("None, opener=lambda rest, options: Object(rest, **options)", ""),
        ("Object", "the model 'mine': expected a callable or a model object, found the class Object"),
        ("3", "the model 'mine': expected a callable or a model object, found a value of type int"),
        ("None", "the model 'mine': expected an application or an opener"),
        ("len, opener=len", "the model 'mine': expected an application or an opener"),
        ("None, opener=3", "the model 'mine': expected a function as opener, and no version beside it"),
        ("None, opener=len, version='1'", "the model 'mine': expected a function as opener"),
        ("len, version=1.10", "the model 'mine': expected a text as version, found a value of type float"),
    ],
)
def test_model_is_callable_object_or_opener(project: Project, application: str, message: str) -> None:
    head = """
from pytest_taskgraph import Reply

class Desk:
    def __call__(self, prompt):
        return "Final answer: yes"

class Object:
    name = "object"

    def __init__(self, rest=""):
        self.rest = rest

    async def answer(self, request):
        return Reply("Final answer: yes")

"""
    registering(project, f"registry.model('mine', {application})", head=head)
    ran = project.run("--model=mine", "-k", "parallel_pair", "--taskgraph-report=json=record.json")
    if message:
        assert f"ERROR: conftest.py: {message}" in ran.output
        assert (ran.code, NO_TRACEBACK.search(ran.output)) == (4, None), ran.output
    else:
        assert [trial["reply"]["text"] for trial in project.record()["trials"]] == ["Final answer: yes"] * 2, ran.output


@pytest.mark.parametrize("immediate", ["immediate = True", "def immediate(self): return True"])
def test_model_that_is_immediate_but_waits_is_refused(project: Project, immediate: str) -> None:
    head = f"""
import asyncio
from pytest_taskgraph import Reply

class Object:
    name = "object"
    {immediate}

    async def answer(self, request):
        await asyncio.sleep(0)
        return Reply("Final answer: yes")

"""
    registering(project, "registry.model('mine', opener=lambda rest, options: Object())", head=head)
    ran = project.run("--model=mine", "-k", "parallel_pair")
    if immediate.endswith("= True"):
        assert "the model 'object' has the attribute immediate = True, but its answer waits; remove it" in ran.output
        assert (ran.counts["error"], ran.clean) == (2, True), ran.output
    else:  # another attribute of that name
        assert "1 passed" in ran.output, ran.output


def test_model_object_of_project_raises_provider_errors(project: Project) -> None:
    head = """
class Object:
    async def answer(self, request):
        raise RuntimeError("the desk is closed")

"""
    registering(project, "registry.model('mine', Object())", head=head)
    ran = project.run("--model=mine", "--taskgraph-retries=0")
    assert (ran.counts, ran.clean) == ({"error": 4}, True), ran.output
    assert "no reply: server: RuntimeError: the desk is closed" in ran.output
    message = "(version=... where it is registered, or as a model option)"
    assert f"replies of mine are not stored: it states no version {message}" in " ".join(ran.output.split())


def test_model_options_reach_opener_and_callable(project: Project) -> None:
    head = """
import json
from pathlib import Path
from pytest_taskgraph import Reply

def told(**options):
    Path(__file__).with_name("told").write_text(json.dumps(options))

def answer(prompt, warmth):
    told(warmth=warmth)
    return "Final answer: yes"

class Object:
    name = "object"

    async def answer(self, request):
        return Reply("Final answer: yes")

def opened(rest, options):
    told(rest=rest, **options)
    return Object()

"""
    registering(
        project, "registry.model('mine', answer, version='1')", "registry.model('desk', opener=opened)", head=head
    )
    option = ("--taskgraph-model-option", "warmth=0.5", "-k", "000")
    assert project.run("--model=mine", *option).code in (0, 1)
    assert json.loads((project.path / "told").read_text()) == {"warmth": 0.5}
    assert project.run("--model=desk:north", *option).code in (0, 1)
    assert json.loads((project.path / "told").read_text()) == {"rest": "north", "warmth": 0.5}
    ran = project.run("--model=mine:north", *option)
    assert "ERROR: the model 'mine:north': 'mine' is registered, and takes nothing after a colon" in ran.output
    ran = project.run("--model=mine", "--taskgraph-model-option", "warmth=1", "--taskgraph-model-option", "cold=1")
    assert "ERROR: the model mine cannot be called with (prompt, warmth=..., cold=...)" in ran.output


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--taskgraph-prompt=ters", "unknown prompt 'ters'; known: answer-first, chain-of-thought, "
         "direct, few-shot, guided, terse"),
        ("--taskgraph-notation=cjson", "unknown notation 'cjson'; known: bpmn, compact-json, json, mermaid"),
        ("--taskgraph-report=shout=x", "unknown kind of --taskgraph-report 'shout'; known: count, csv, html, json"),
        ("--taskgraph-gate=share_of_splits.close>=0.5", "closeness"),
    ],
)  # fmt: skip
def test_unknown_name_lists_registered_ones(own: Project, option: str, message: str) -> None:
    ran = own.run(ANSWERING, option)
    assert (ran.code, ran.clean) == (4, True)
    assert message in ran.output


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("registry.metric('closeness', abs)", "the metric 'closeness' is registered twice, first by conftest.py"),
        ("registry.metric('jaccard', abs)", "the metric 'jaccard' is built in; choose another name"),
        ("registry.model('python', abs)", "the model 'python' is built in"),
        ("registry.model('baseline', abs)", "the model 'baseline' is built in"),
        ("registry.report('html', abs)", "the kind of --taskgraph-report 'html' is built in"),
        ("registry.prompt('direct', 'x')", "the prompt 'direct' is built in"),
        ("registry.prompt('own', 'x')", "prompt own of conftest.py:1: a prompt template begins with a line that says"),
        (
            "registry.prompt('own', '{# answer: whole #}{{ x')",
            "prompt own of conftest.py:1: unexpected end of template",
        ),
        ("registry.prompt('own', '{# answer: whole #}')", "prompt own does not show the workflow"),
        ("registry.prompt('own', Path('none.jinja'))", "the prompt 'own': there is no file"),
        ("registry.prompt('own', 3)", "the prompt 'own': expected the text of a template or a Path"),
        ("registry.metric('a b', abs)", "the metric 'a b': expected a name of letters, digits and any of _ . + -"),
        ("registry.metric('own', 3)", "the metric 'own': expected a function of answer and reference"),
        ("registry.form('own')", "an answer form: expected a Form, found a value of type str"),
        ("registry.notation(dict)", "a notation: expected a Notation, found the class dict"),
        ("registry.family('own')", "a benchmark family: expected an instance of Family with a name"),
        ("registry.vocabulary('own', 'own.toml')", "the vocabulary 'own': expected the Path of a file"),
        ("registry.vocabulary('own', Path('pytest.ini'))", "pytest.ini lacks a part"),
        ("registry.vocabulary('own', Path('test_share.py'))", "test_share.py cannot be read"),
        ("registry.reports('own', abs)", "raised AttributeError: 'Registry' object has no attribute 'reports'"),
        ("1 / 0", "pytest_taskgraph_register raised ZeroDivisionError: division by zero (conftest.py:"),
    ],
)
def test_mistake_in_registration_ends_run_in_one_line(own: Project, line: str, message: str) -> None:
    own.write("conftest.py", f"from pathlib import Path\n{CONFTEST}    {line}\n")
    ran = own.run(ANSWERING)
    errors = [part for part in ran.output.splitlines() if "ERROR" in part]
    assert (ran.code, len(errors), NO_TRACEBACK.search(ran.output)) == (4, 1, None), ran.output
    assert errors[0].startswith("ERROR: conftest.py: ")
    assert message in errors[0]


TWICE = ("registry.metric('closeness', abs)", "the metric 'closeness' is registered twice, first by conftest.py")
BUILT_IN = ("registry.metric('jaccard', abs)", "the metric 'jaccard' is built in")
RAISING = ("1 / 0", "pytest_taskgraph_register raised ZeroDivisionError: division by zero (conftest.py:2)")


@pytest.mark.parametrize(
    ("line", "message", "spread"),
    [
        *((*mistake, False) for mistake in (TWICE, BUILT_IN, RAISING)),
        (*TWICE, True),
        *(pytest.param(*mistake, True, marks=pytest.mark.exhaustive) for mistake in (BUILT_IN, RAISING)),
    ],
)
def test_mistake_in_folder_ends_run_in_one_line(own: Project, line: str, message: str, spread: bool) -> None:
    registering(own, line, name="deep/er/conftest.py")
    own.write("deep/er/test_more.py", "from pytest_taskgraph import suite\n")
    ran = (own.spread if spread else own.run)(ANSWERING)
    assert f"deep/er/conftest.py: {message}" in ran.output
    assert (ran.code, NO_TRACEBACK.search(ran.output)) == (4 if not spread else ran.code, None), ran.output
    assert ran.code != 0


def test_conftest_of_folder_registers_for_suites(own: Project) -> None:
    registering(own, "registry.metric('halved', lambda given, expected: 0.5)", name="deep/er/conftest.py")
    suite = SUITE.replace("[share_of_splits]", "[tasks_in_all]").replace("share_of_splits", "share")
    suite = suite.replace("number_of_tasks", "tasks_in_all").replace('metric="closeness"', 'metric="halved"')
    own.write("deep/er/test_more.py", suite)
    own.run("--model=simulated:1", "deep", "--taskgraph-report=json=record.json")
    assert {trial["score"]["value"] for trial in own.record()["trials"]} == {0.5}


def test_pattern_of_project_may_name_registered_metric(own: Project) -> None:
    own.write("test_share.py", SUITE.replace("[share_of_splits]", "[number_of_tasks]"))
    own.run("--model=simulated:1", "--taskgraph-report=json=record.json")
    assert {(trial["question"]["metric"], trial["score"]["value"]) for trial in own.record()["trials"]} == {
        ("closeness", 1)
    }


def test_registered_metric_scores_texts(project: Project) -> None:
    project.write("test_graph.py", TEXTS)
    registering(project, "registry.metric('short', lambda given, expected: 1.0 if len(given) < 20 else 0.25)")
    project.run("--model=simulated:1", "--taskgraph-text-metric=short", "--taskgraph-report=json=record.json")
    trials = project.record()["trials"]
    assert {(part["question"]["metric"], part["score"]["value"]) for part in trials} == {("short", 0.25)}
    ran = project.run("--taskgraph-text-metric=shot")
    assert "unknown text metric 'shot'; known: bertscore, cosine, judge, rouge1, rouge1_recall" in ran.output
    assert "rouge_l, short" in ran.output


def test_registered_model_judges(project: Project) -> None:
    project.write("test_graph.py", TEXTS)
    registering(project, "registry.model('strict-judge', lambda prompt: 'Score: 2')")
    judge = ("--taskgraph-text-metric=judge", "--taskgraph-judge-model=strict-judge")
    ran = project.run("--model=simulated:1", *judge, "--taskgraph-report=json=record.json")
    assert [trial["score"]["value"] for trial in project.record()["trials"]] == [0.25, 0.25], ran.output
    assert "replies of strict-judge are not stored: it states no version" in ran.output


def test_registered_vocabulary_is_generated_from(own: Project) -> None:
    own.write("bakery.toml", (files(vocabularies) / "kitchen.toml").read_text(encoding="utf-8"))
    registering(own, "registry.vocabulary('bakery', Path('bakery.toml'))", head="from pathlib import Path\n")
    own.write("test_share.py", DOMAINS)
    own.run("--model=simulated:1", "--taskgraph-names=domain", "--taskgraph-report=json=record.json")
    prompts = ["".join(part.values()) for part in [own.record()["texts"]]]
    assert "package bakery" in prompts[0]
    assert "package orders" in prompts[0]
    own.write("conftest.py", "")
    own.run("--model=simulated:1", "--taskgraph-names=domain", "--taskgraph-report=json=record.json")
    assert "package bakery" not in "".join(own.record()["texts"].values())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "WashVegetables"', 'name = "Other"', "'WashVegetables' is none of its tasks"),
        ("far = [", 'far = ["moon", ', "far names 'moon'; known: "),
        ("[[goals]]", "[[wishes]]", "has no goals; expected one or more"),
    ],
)
def test_vocabulary_that_lacks_something_is_refused(own: Project, old: str, new: str, message: str) -> None:
    text = (files(vocabularies) / "kitchen.toml").read_text(encoding="utf-8")
    assert old in text
    own.write("bakery.toml", text.replace(old, new, 1) if old != "[[goals]]" else text.partition(old)[0])
    registering(own, "registry.vocabulary('bakery', Path('bakery.toml'))", head="from pathlib import Path\n")
    ran = own.run("--model=simulated:1")
    assert f"ERROR: conftest.py: the vocabulary {own.path / 'bakery.toml'}" in ran.output
    assert message in ran.output


def test_name_that_resembles_registered_model_is_reported(own: Project) -> None:
    ran = own.run("--model=fourty", "--collect-only")
    assert "the model 'fourty' is not registered, and asked through litellm; did you mean 'forty'?" in ran.output


def test_file_is_read_in_registered_notation(own: Project) -> None:
    text = json.dumps(json.loads(notation("json").write(notation("wadl").read(OWN_WORKFLOW))))
    own.write("supper.cjson", text)
    ran = own.run("--model=simulated:1", "--taskgraph-workflow=supper.cjson", "--taskgraph-report=json=record.json")
    assert ran.counts == {"passed": 1}, ran.output
    assert text in "".join(own.record()["texts"].values())


TEXTS = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns="describe_task", instances=2)
def test_texts(trial):
    trial.check()
"""
DOMAINS = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns="next_tasks", instances=16)
def test_domains(trial):
    trial.check()
"""
OWN_WORKFLOW = """package kitchen;

workflow Supper {
  define task Cook;
  define task Eat;
  START -> Cook -> Eat -> END;
}
"""


def test_registrations_end_with_session(own: Project) -> None:
    assert own.run(ANSWERING, *OWN).code == 0
    assert own.run(ANSWERING, *OWN).code == 0, "the same names are free again"
    own.write("conftest.py", "")
    own.write("test_share.py", "from pytest_taskgraph import suite, understanding\n")
    ran = own.run("--taskgraph-prompt=terse", "--taskgraph-dry-run")
    assert "unknown prompt 'terse'; known: answer-first, chain-of-thought, direct" in ran.output
    assert own.run("--taskgraph-report=count=x").code == 4


def test_sessions_within_session_see_registrations(own: Project) -> None:
    with registrations() as outer:
        Registry(outer).metric("closeness", lambda given, expected: 0.0)
        assert own.run(ANSWERING, *OWN).code == 0
        assert outer.of("metric").keys() == {"closeness"}


def test_plugin_named_by_p_registers(own: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(own.path)
    own.write("ours.py", CONFTEST)
    own.write("conftest.py", "")
    ran = own.spawn(ANSWERING, *OWN, "-n", "1", plugins=("taskgraph", "ours", "xdist"), fresh=False)
    assert (ran.code, ran.clean) == (0, True), ran.output
    registering(own, "registry.metric('closeness', abs)")
    ran = own.run(plugins=("taskgraph", "ours"))
    assert (ran.code, NO_TRACEBACK.search(ran.output)) == (4, None)
    assert "the metric 'closeness' is registered twice, first by" in ran.output


def test_installed_plugin_registers(own: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    own.write("ours.py", CONFTEST)
    own.write("conftest.py", "")
    own.write("ours-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: ours\nVersion: 1.0\n")
    own.write("ours-1.0.dist-info/entry_points.txt", "[pytest11]\nours = ours\n")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "")
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    ran = own.spawn(ANSWERING, *OWN, plugins=("no:hypothesispytest",), fresh=False)
    assert (ran.code, ran.clean) == (0, True), ran.output


def test_commands_load_registrations_of_named_module(own: Project, capsys: pytest.CaptureFixture[str]) -> None:
    own.run(ANSWERING, *OWN)
    command = [sys.executable, "-m", "pytest_taskgraph"]
    capsys.readouterr()
    command_line.main(["rescore", "record.json"])
    plain = capsys.readouterr().out
    assert "whose form or metric is not known here" in plain
    assert "python -m pytest_taskgraph -p conftest rescore" in plain
    own.write("conftest.py", CONFTEST.replace("/ 100", "/ 50"))
    ran = bounded_process.run([*command, "-p", "conftest", "rescore", "record.json", "--check"], cwd=own.path)
    assert (ran.returncode, "not known here" in ran.stdout) == (1, False), ran.stdout + ran.stderr
    assert command_line.main(["-p", "nowhere", "rescore", "record.json"]) == 4
    assert capsys.readouterr().err.startswith("error: -p nowhere: ")
    own.write("conftest.py", HOOK + "    registry.metric('jaccard', abs)\n")
    wrong = bounded_process.run([*command, "-pconftest", "rescore", "record.json"], cwd=own.path)
    assert wrong.stderr == "error: conftest.py: the metric 'jaccard' is built in; choose another name\n"


def test_report_that_fails_is_reported_and_others_are_written(own: Project) -> None:
    own.write("conftest.py", CONFTEST.replace('str(len(record["trials"]))', 'record["nothing"]'))
    ran = own.run(ANSWERING, *OWN)
    message = "--taskgraph-report: count=count.txt: the report 'count' of conftest.py raised KeyError: 'nothing'"
    assert (ran.code, message in ran.output, (own.path / "shouted.txt").exists()) == (4, True, True), ran.output
    own.write("conftest.py", CONFTEST.replace('str(len(record["trials"]))', "3"))
    assert "returned a int; expected a text" in own.run(ANSWERING, *OWN).output


def test_project_that_only_registers_imports_no_room(own: Project) -> None:
    own.write("conftest.py", HOOK + "    registry.metric('own', abs)\n    registry.model('mine', abs)\n")
    own.write(
        "test_share.py",
        "import sys\nROOMS = ('scoring', 'models', 'notations', 'reports', 'generation', 'results')\n"
        "def test_light():\n"
        "    assert [one for one in sys.modules if one.startswith('pytest_taskgraph.') and one.split('.')[1] in ROOMS] "
        "== []\n",
    )
    ran = own.spawn()
    assert ran.counts == {"passed": 1}, ran.output
